//! Who is connected and what runs, and which of them a target means.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use gapii_protocol::app::Launch;
use gapii_protocol::control::{ControlError, Target, Totals, code};

use crate::capture::{Capture, Departure, Order};
use crate::keep::Keep;
use crate::process::Process;
use crate::session::keeping::Wishes;

#[derive(Debug, Default)]
pub(super) struct Table {
    pub(super) processes: BTreeMap<u32, Arc<Process>>,
    pub(super) captures: BTreeMap<u64, Arc<Capture>>,
    pub(super) ended_launches: VecDeque<Launch>,
    /// Launches whose processes are to be kept.
    pub(super) wishes: Wishes,
    /// Applications that are kept, and those that were and have ended, oldest first.
    pub(super) keeps: Vec<Arc<Keep>>,
    pub(super) next_process: u32,
    pub(super) last_capture: u64,
    /// Sums over the captures that have ended.
    pub(super) ended: Totals,
    pub(super) ended_refused_rings: u64,
    /// Captures that have ended, by the reason; what was kept is none.
    pub(super) ended_by_reason: BTreeMap<String, u64>,
    pub(super) ending: bool,
}

impl Table {
    pub(super) fn unregister(&mut self, index: u32, how: Departure) {
        let Some(process) = self.processes.remove(&index) else { return };
        let (pid, name, whom) = (process.pid, &process.name, process.described());
        match how {
            Departure::Died => tracing::info!(pid, name, "{whom} is gone"),
            Departure::Exec => tracing::info!(pid, name, "{whom} has become another program"),
        }
        let capture = process.capture().and_then(|id| self.captures.get(&id));
        if let Some(capture) = capture {
            // A capture that takes no orders has ended, for this process too.
            let _ = capture.order(Order::Gone { index, how });
        }
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
            ([_], _) | (_, Target::All) => match found.iter().find(|p| p.capture().is_some()) {
                None => Ok(found),
                Some(process)
                    if self.keeps.iter().any(|k| process.capture() == Some(k.capture_id)) =>
                {
                    Err(busy(&format!(
                        "{} is being kept; `gapii-ctl save --app {}` writes its last frames",
                        process.described(),
                        process.pid
                    )))
                }
                Some(process) => {
                    Err(busy(&format!("{} is being captured already", process.described())))
                }
            },
            _ => Err(ControlError::new(
                code::AMBIGUOUS,
                format!("several applications are connected, name one: {}", list(&found)),
            )),
        }
    }

    /// The running captures that `target` means.
    pub(super) fn targeted(&self, target: &Target) -> Result<Vec<Arc<Capture>>, ControlError> {
        let has_app = |capture: &Capture, name: &str| {
            let id = Some(capture.plan.id);
            self.processes.values().any(|p| p.capture() == id && p.is_called(name))
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
