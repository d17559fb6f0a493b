//! The processes that a capture begins with if another daemon began the capture: those that wait with their rings,
//! those that another capture has brought to its drain already, those of its launch that no capture has, and, if its
//! file names no process yet, those of its target that are in a capture again.

use std::sync::Arc;

use gapii_abi::app::Launch;
use gapii_control::{AppInfo, Target};
use gapii_ringbuf::CaptureId;

use crate::session::table::Table;
use crate::session::waiting::Waiting;
use gapii_capture::capture::Capture;
use gapii_capture::process::Process;
use gapii_capture::recover::Recovered;

/// The processes that a continued capture begins with.
pub(super) struct Comers {
    /// Processes that have handed their rings over and wait for this capture.
    waiting: Vec<Waiting>,
    /// Processes of the capture that another capture of theirs has already brought to its drain.
    here: Vec<Arc<Process>>,
    /// The target's processes, if the capture had not begun with any process.
    wanted: Vec<Arc<Process>>,
}

impl Comers {
    /// Takes those of the table's processes that the capture `origin` continues with. `recovered` is its file.
    pub(super) fn take(
        table: &mut Table,
        origin: CaptureId,
        recovered: &Recovered,
        target: &Target,
    ) -> Self {
        let segments = recovered.segments();
        let is_over = |process: &Process| segments.get(&process.segment()).copied();
        let (waiting, others) =
            std::mem::take(&mut table.orphans).into_iter().partition::<Vec<_>, _>(|orphan| {
                is_over(&orphan.process).map_or(orphan.capture == origin, |is_over| !is_over)
            });
        table.orphans = others;
        let is_here =
            |process: &&Arc<Process>| process.drain().is_some() && is_over(process) == Some(false);
        let here = table.processes.values().filter(is_here).cloned().collect();
        let wanted = match segments.is_empty() && waiting.is_empty() {
            true => table.taken_over(target),
            false => Vec::new(),
        };
        Self { waiting, here, wanted }
    }

    /// Returns the processes that a drain has already.
    pub(super) fn in_drain(&self) -> Vec<Arc<Process>> {
        self.here.iter().chain(&self.wanted).cloned().collect()
    }

    /// Returns one of the processes, if there is any.
    pub(super) fn first(&self) -> Option<&Arc<Process>> {
        let in_drain = self.here.iter().chain(&self.wanted);
        in_drain.chain(self.waiting.iter().map(|waiting| &waiting.process)).next()
    }

    /// Adds the processes to the capture, and those of its launch that no capture has. Returns those that joined.
    pub(super) fn join(
        self,
        capture: &Capture,
        table: &mut Table,
        launch: Option<Launch>,
    ) -> Vec<AppInfo> {
        let mut apps = Vec::new();
        let here = self.here.iter().filter(|process| capture.take_over(process, 0));
        apps.extend(here.map(|process| process.info()));
        let wanted = self.wanted.iter().filter(|process| capture.want(process));
        apps.extend(wanted.map(|process| process.info()));
        for Waiting { process, lost_ns, claimed, .. } in self.waiting {
            if capture.take_over(&process, lost_ns) {
                apps.push(process.info());
                table.processes.insert(process.index, process);
                // The socket tells if the process is gone meanwhile.
                let _ = claimed.send(());
            }
        }
        let launched = table.processes.values().filter(|process| {
            launch.is_some() && process.launch == launch && process.drain().is_none()
        });
        apps.extend(launched.filter(|it| capture.join(it)).map(|process| process.info()));
        apps
    }
}
