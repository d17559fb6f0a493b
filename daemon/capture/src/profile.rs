//! A capture's plan and progress: the part that its handle and its threads share.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_trace::clock::Moment;

use crate::clock::Clock;
use crate::kept_frames::KeptFrames;
use crate::plan::Plan;
use crate::progress::Progress;

/// A capture's plan and progress.
#[derive(Debug)]
pub struct Profile {
    /// The client's request.
    pub plan: Plan,
    /// When the capture began. For a continued capture, when the first daemon began it.
    pub started: Moment,
    /// Another daemon began the capture.
    pub was_begun_elsewhere: bool,
    /// Another daemon could continue the capture, because its output is a file.
    pub can_continue: bool,
    /// Counters for people.
    pub progress: Arc<Progress>,
    /// The memory that the capture goes to, if it goes to memory.
    pub kept: Option<Arc<KeptFrames>>,
    /// Where the capture's threads read the time.
    pub clock: Clock,
    /// The processes in the capture, by their indices in the session.
    pub(crate) processes: Mutex<BTreeSet<u32>>,
}

impl Profile {
    /// Returns whether the process with this index in the session is in the capture.
    pub fn has(&self, process: u32) -> bool {
        self.processes().contains(&process)
    }

    /// Removes a process, by its index in the session.
    pub fn leave(&self, process: u32) {
        self.processes().remove(&process);
    }

    /// Locks the set of processes.
    pub(crate) fn processes(&self) -> MutexGuard<'_, BTreeSet<u32>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
