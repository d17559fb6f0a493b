//! Who is connected and what runs, and which of them a target means.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use gapii_abi::app::Launch;
use gapii_control::{ControlError, StopRequest, Target, Totals, code};

use crate::kept_app::KeptApp;
use crate::session::waiting::Waiting;
use crate::session::wishes::Wishes;
use gapii_capture::capture::Capture;
use gapii_capture::drain::DrainHandle;
use gapii_capture::end::Departure;
use gapii_capture::process::Process;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) processes: BTreeMap<u32, Arc<Process>>,
    pub(super) captures: BTreeMap<u64, Arc<Capture>>,
    pub(super) ended_launches: VecDeque<Launch>,
    /// Launches whose processes are to be kept.
    pub(super) wishes: Wishes,
    /// Applications that are kept, and those that were and have ended, oldest first.
    pub(super) keeps: Vec<Arc<KeptApp>>,
    /// Clients that have said hello and are there.
    pub(super) clients: usize,
    pub(super) next_process: u32,
    pub(super) last_capture: u64,
    /// Sums over the captures that have ended.
    pub(super) ended: Totals,
    pub(super) ended_refused_rings: u64,
    /// Captures that have ended, by the reason; what was kept is none.
    pub(super) ended_by_reason: BTreeMap<String, u64>,
    /// The capture that was told last to end because of the memory that it held.
    pub(super) ends_for_memory: Option<u64>,
    pub(super) ending: bool,
    /// Processes that have handed their rings over, for captures that nobody wants to go on yet.
    pub(super) orphans: Vec<Waiting>,
}

impl Table {
    pub(super) fn unregister(&mut self, index: u32, how: Departure) {
        let Some(process) = self.processes.remove(&index) else { return };
        let (pid, name, whom) = (process.pid, &process.name, process.described());
        match how {
            Departure::Died => tracing::info!(pid, name, "{whom} is gone"),
            Departure::Exec => tracing::info!(pid, name, "{whom} has become another program"),
        }
        if let Some(drain) = process.drain()
            && let Some(capture) = self.captures_of(drain).next()
        {
            capture.gone(index, how);
        }
    }

    /// The captures that a drain serves.
    fn captures_of(&self, drain: u64) -> impl Iterator<Item = &Arc<Capture>> {
        let is_of =
            move |capture: &&Arc<Capture>| capture.drain().is_some_and(|handle| handle.id == drain);
        self.captures.values().filter(is_of)
    }

    /// The drain that serves some of these processes, if one does.
    pub(super) fn drain_of(
        &self,
        processes: &[Arc<Process>],
    ) -> Result<Option<Arc<DrainHandle>>, ControlError> {
        let mut drains = processes.iter().filter_map(|process| Some((process.drain()?, process)));
        let Some((drain, first)) = drains.next() else { return Ok(None) };
        if let Some((_, other)) = drains.find(|(other, _)| *other != drain) {
            return Err(busy(&format!(
                "{} and {} are in two captures that have nothing in common, and can't be in a third \
                 together: capture each by itself",
                first.described(),
                other.described()
            )));
        }
        // One whose captures have all ended is about to give the processes back.
        Ok(self.captures_of(drain).find_map(|capture| capture.drain().cloned()))
    }

    /// The capture that waits for processes with this token.
    pub(super) fn launched(&self, launch: Launch) -> Option<&Arc<Capture>> {
        self.captures.values().find(|capture| capture.plan.launch == Some(launch))
    }

    /// The applications that a new capture of `target` begins with.
    pub(super) fn candidates(&self, target: &Target) -> Result<Vec<Arc<Process>>, ControlError> {
        let all = || self.processes.values();
        let found: Vec<_> = match target {
            Target::Launch(launch) => {
                return match self.launched(*launch) {
                    None => Ok(Vec::new()),
                    Some(_) => Err(busy("this launch has a capture already")),
                };
            }
            Target::Only | Target::All => all().cloned().collect(),
            Target::App(name) => all().filter(|process| process.is_called(name)).cloned().collect(),
        };
        match (&found[..], target) {
            ([], Target::App(name)) => Err(no_app(format!("no application {name:?} is connected"))),
            ([], _) => Err(no_app("no application is connected".to_owned())),
            ([_], _) | (_, Target::All) => Ok(found),
            _ => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("several applications are connected, name one: {}", list(&found)),
            )),
        }
    }

    /// Those that `target` means, of the applications that another daemon had in a capture and that are in one.
    pub(super) fn taken_over(&self, target: &Target) -> Vec<Arc<Process>> {
        let mut found = self.candidates(target).unwrap_or_default();
        found.retain(|process| process.takers_before() > 0 && process.drain().is_some());
        found
    }

    /// The capture that is called so.
    pub(super) fn called(&self, name: &str) -> Option<&Arc<Capture>> {
        self.captures.values().find(|capture| capture.plan.name.as_deref() == Some(name))
    }

    /// The running captures that are meant.
    pub(super) fn targeted(
        &self,
        StopRequest { target, capture, name }: &StopRequest,
    ) -> Result<Vec<Arc<Capture>>, ControlError> {
        let none = |what: String| ControlError::new(code::NO_CAPTURE, what);
        if let Some(id) = capture {
            let found = self.captures.get(id).cloned();
            return found
                .map(|found| vec![found])
                .ok_or_else(|| none(format!("capture {id} has ended")));
        }
        if let Some(name) = name {
            let found = self.called(name).cloned();
            return found
                .map(|found| vec![found])
                .ok_or_else(|| none(format!("no capture called {name:?} is running")));
        }
        let has_app = |capture: &Capture, name: &str| {
            self.processes.values().any(|p| capture.has(p.index) && p.is_called(name))
        };
        let fits = |capture: &Capture| match target {
            // What is kept is stopped by name alone.
            Target::Only | Target::All => capture.kept.is_none(),
            Target::App(name) => has_app(capture, name),
            Target::Launch(launch) => capture.plan.launch == Some(*launch),
        };
        let found: Vec<_> = self.captures.values().filter(|c| fits(c)).cloned().collect();
        match (found.len(), target) {
            (0, Target::All) => Ok(found),
            (0, _) => Err(ControlError::new(code::NO_CAPTURE, "no such capture is running")),
            (2.., Target::Only) => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("{} captures are running, say which application's", found.len()),
            )),
            _ => Ok(found),
        }
    }
}

pub(super) fn no_app(message: String) -> ControlError {
    ControlError::new(code::NO_APP, message)
}

pub(super) fn busy(message: &str) -> ControlError {
    ControlError::new(code::BUSY, message)
}

fn list(processes: &[Arc<Process>]) -> String {
    let names: Vec<_> = processes.iter().map(|process| process.described()).collect();
    names.join(", ")
}
