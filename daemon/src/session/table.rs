//! The connected processes and running captures, and the selection of those that a target means. A target that fits no
//! application, or several without `all`, is refused with their names; so is a second capture of a launch, and a
//! capture of processes from two drains. A request to stop or pause goes by number, else by name, else by target; a
//! target means kept frames only if it names their application.

use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use gapii_abi::app::Launch;
use gapii_control::{ControlError, StopRequest, Target, Totals, code};
use tokio::sync::oneshot;

use crate::kept_app::KeptApp;
use crate::session::waiting::Waiting;
use crate::session::wishes::Wishes;
use gapii_capture::capture::Capture;
use gapii_capture::drain::DrainHandle;
use gapii_capture::end::Departure;
use gapii_capture::process::Process;
use gapii_ringbuf::ModeSettings;

/// Largest number of launches that are remembered after their capture has ended, so that their late processes do not
/// wait for one: those of many days, of 16 bytes each.
const ENDED_LAUNCHES: usize = 4096;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) processes: BTreeMap<u32, Arc<Process>>,
    /// For each connection of a process in `processes`: dropped when the process leaves the table.
    pub(super) connections: BTreeMap<u32, oneshot::Sender<Infallible>>,
    pub(super) captures: BTreeMap<u64, Arc<Capture>>,
    pub(super) ended_launches: VecDeque<Launch>,
    /// Requests to keep the frames of processes that a launch will have.
    pub(super) wishes: Wishes,
    /// Applications whose frames are kept, including ended ones, oldest first.
    pub(super) keeps: Vec<Arc<KeptApp>>,
    /// Number of connected clients that have sent their hello.
    pub(super) clients: usize,
    pub(super) next_process: u32,
    pub(super) last_capture: u64,
    /// Sums over the captures that have ended.
    pub(super) ended: Totals,
    pub(super) ended_refused_rings: u64,
    /// Number of captures that have ended, by end reason, without captures into memory.
    pub(super) ended_by_reason: BTreeMap<String, u64>,
    /// The capture that was last told to end because of its memory.
    pub(super) ends_for_memory: Option<u64>,
    pub(super) ending: bool,
    /// Processes that have handed their rings over for captures that no client has continued yet.
    pub(super) orphans: Vec<Waiting>,
}

impl Table {
    pub(super) fn unregister(&mut self, index: u32, how: Departure) {
        self.connections.remove(&index);
        let Some(process) = self.processes.remove(&index) else { return };
        let (pid, name, whom) = (process.pid, &process.name, process.described());
        match how {
            Departure::Died | Departure::Ended(_) => tracing::info!(pid, %name, "{whom} is gone"),
            Departure::Exec => tracing::info!(pid, %name, "{whom} has become another program"),
        }
        if let Some(drain) = process.drain()
            && let Some(capture) = self.captures_of(drain).next()
        {
            capture.gone(index, how);
        }
    }

    /// Lets applications go on unrecorded that wait for a capture, if the target names them. No later process of a
    /// launch that is let go waits. Returns their number.
    pub(super) fn let_go(&mut self, target: &Target) -> u64 {
        if let Target::Launch(launch) = target {
            self.end_launch(*launch);
        }
        let is_meant = |process: &&Arc<Process>| match target {
            Target::App(name) => process.is_called(name),
            Target::Launch(launch) => process.launch == Some(*launch),
            Target::Only | Target::All => false,
        };
        let mut number = 0;
        for process in self.processes.values().filter(is_meant).filter(|process| process.waits()) {
            let (pid, name, whom) = (process.pid, &process.name, process.described());
            tracing::info!(pid, %name, "{whom} goes on without a capture");
            process.set_mode(ModeSettings::default());
            number += 1;
        }
        number
    }

    /// Notes that no process of this launch waits for a capture from now on.
    pub(super) fn end_launch(&mut self, launch: Launch) {
        self.ended_launches.push_back(launch);
        if self.ended_launches.len() > ENDED_LAUNCHES {
            self.ended_launches.pop_front();
        }
    }

    /// Returns the captures of a drain.
    fn captures_of(&self, drain: u64) -> impl Iterator<Item = &Arc<Capture>> {
        let is_of =
            move |capture: &&Arc<Capture>| capture.drain().is_some_and(|handle| handle.id == drain);
        self.captures.values().filter(is_of)
    }

    /// Returns the drain of these processes, if one has some of them.
    pub(super) fn drain_of(
        &self,
        processes: &[Arc<Process>],
    ) -> Result<Option<Arc<DrainHandle>>, ControlError> {
        let mut drains = processes.iter().filter_map(|process| Some((process.drain()?, process)));
        let Some((drain, first)) = drains.next() else { return Ok(None) };
        if let Some((_, other)) = drains.find(|(other, _)| *other != drain) {
            return Err(busy(&format!(
                "{} and {} are in two captures without a common process, so one more capture can have only one of them",
                first.described(),
                other.described()
            )));
        }
        // A drain whose captures have all ended is about to give the processes back.
        Ok(self.captures_of(drain).find_map(|capture| capture.drain().cloned()))
    }

    /// Returns the capture that waits for processes with this token.
    pub(super) fn launched(&self, launch: Launch) -> Option<&Arc<Capture>> {
        self.captures.values().find(|capture| capture.plan.launch == Some(launch))
    }

    /// Returns the applications that a new capture of `target` begins with.
    pub(super) fn candidates(&self, target: &Target) -> Result<Vec<Arc<Process>>, ControlError> {
        let all = || self.processes.values();
        let found: Vec<_> = match target {
            // Applications of a launch may also connect later.
            Target::Launch(launch) => {
                return match self.launched(*launch) {
                    None => Ok(all().filter(|it| it.launch == Some(*launch)).cloned().collect()),
                    Some(_) => Err(busy("the programs of this run are in a capture already")),
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
                format!("several applications match: {}", list(&found)),
                "choose one with `--app PID`, or all with `--all`",
            )),
        }
    }

    /// Returns those of the target's applications that another daemon had in a capture and that are in a capture now.
    pub(super) fn taken_over(&self, target: &Target) -> Vec<Arc<Process>> {
        let mut found = self.candidates(target).unwrap_or_default();
        found.retain(|process| process.takers_before() > 0 && process.drain().is_some());
        found
    }

    /// Returns the running capture with this name.
    pub(super) fn called(&self, name: &str) -> Option<&Arc<Capture>> {
        self.captures.values().find(|capture| capture.plan.name.as_deref() == Some(name))
    }

    /// Returns the running captures that a request means.
    pub(super) fn targeted(
        &self,
        StopRequest { target, capture, name }: &StopRequest,
    ) -> Result<Vec<Arc<Capture>>, ControlError> {
        let none = |what: String| ControlError::new(code::NO_CAPTURE, what, CAPTURES_ARE_LISTED);
        if let Some(id) = capture {
            let found = self.captures.get(id).cloned();
            return found.map(|found| vec![found]).ok_or_else(|| {
                none(match (1..=self.last_capture).contains(id) {
                    true => format!("capture {id} has ended"),
                    false => format!("there is no capture {id}"),
                })
            });
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
            // Captures into memory are stopped only by application.
            Target::Only | Target::All => capture.kept.is_none(),
            Target::App(name) => has_app(capture, name),
            Target::Launch(launch) => capture.plan.launch == Some(*launch),
        };
        let found: Vec<_> = self.captures.values().filter(|c| fits(c)).cloned().collect();
        match (found.len(), target) {
            (0, Target::All) => Ok(found),
            // The name may be as long as a message.
            (0, Target::App(_)) => Err(none("no running capture has this application".to_owned())),
            (0, _) => Err(none("no capture is running".to_owned())),
            (2.., Target::Only) => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("{} captures are running", found.len()),
                "choose one by its number or name, which `gapii-ctl list` shows, or by a program with `--app PID`",
            )),
            _ => Ok(found),
        }
    }
}

/// What to type if there is no capture as the client wants it.
const CAPTURES_ARE_LISTED: &str = "`gapii-ctl list` shows those that run";

pub(super) fn no_app(message: String) -> ControlError {
    ControlError::new(code::NO_APP, message, "`gapii-ctl apps` lists the programs")
}

pub(super) fn busy(message: &str) -> ControlError {
    ControlError::new(code::BUSY, message, "`gapii-ctl list` shows what is captured")
}

fn list(processes: &[Arc<Process>]) -> String {
    let names: Vec<_> = processes.iter().map(|process| process.described()).collect();
    names.join(", ")
}
