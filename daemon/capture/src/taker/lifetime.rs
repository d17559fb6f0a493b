//! The end of a capture: its time, and its reason. The seconds run from the first process on (with `--when` from the
//! keyframe behind the trigger on), also through pauses and a daemon's death. While the first snapshot is written, they do not
//! run, for `SNAPSHOT_PATIENCE_NS` (60 s) at most. A capture of a launch waits for further
//! processes until the program's end, unless its frames are complete.

use gapii_abi::atom::EndReason;

use crate::end::{self, Cause, Departure, Exited, MemberEnd};

/// How long the first snapshot may keep the capture's time from running.
const SNAPSHOT_PATIENCE_NS: u64 = 60_000_000_000;

/// The end of a capture: its time, and its reason.
pub(super) struct Lifetime {
    /// Why the capture was told to end, if it was.
    pub(super) cause: Option<Cause>,
    /// How the launched program ended, if it has.
    pub(super) exited: Option<Exited>,
    /// Process id of the launched program, once it has ended and if its parent says it.
    pub(super) launched: Option<u32>,
    /// Whether more processes may join.
    pub(super) awaits_more: bool,
    /// Monotonic time at which the capture's time is up.
    deadline_ns: Option<u64>,
    /// Since when the first snapshot has kept the capture's time from running.
    waits_since_ns: Option<u64>,
    /// The ends of the memberships that are over.
    pub(super) ends: Vec<MemberEnd>,
    /// The end of the stream was handed to the writer.
    pub(super) is_finished: bool,
}

impl Lifetime {
    pub(super) fn new() -> Self {
        Self {
            cause: None,
            exited: None,
            launched: None,
            awaits_more: true,
            deadline_ns: None,
            waits_since_ns: None,
            ends: Vec::new(),
            is_finished: false,
        }
    }

    /// Lets the capture's time of `seconds` run from `began_ns` on, unless it runs already.
    pub(super) fn run_from(&mut self, began_ns: u64, seconds: Option<f64>) {
        if let (None, Some(seconds)) = (self.deadline_ns, seconds) {
            self.deadline_ns = Some(began_ns.saturating_add((seconds * 1e9) as u64));
        }
    }

    /// Lets the capture's time of `seconds` run from now on, because the first snapshot is being written.
    pub(super) fn wait_for_snapshot(&mut self, now_ns: u64, seconds: Option<f64>) {
        let since_ns = *self.waits_since_ns.get_or_insert(now_ns);
        if now_ns.saturating_sub(since_ns) < SNAPSHOT_PATIENCE_NS {
            self.deadline_ns = None;
            self.run_from(now_ns, seconds);
        }
    }

    /// Returns whether the capture is to end with the records that exist by now.
    pub(super) fn is_stopping(&self) -> bool {
        self.cause.is_some() || self.exited.is_some()
    }

    /// Returns whether the capture's time is up.
    pub(super) fn is_late(&self, now_ns: u64) -> bool {
        self.deadline_ns.is_some_and(|deadline_ns| now_ns >= deadline_ns)
    }

    /// Returns whether the capture may continue in processes that have not joined yet: a launch does, unless its frames
    /// are complete.
    pub(super) fn may_continue(&self) -> bool {
        self.awaits_more && end::reason(None, None, None, &self.ends) != EndReason::Frames
    }

    /// Returns the signal that ended the program, as far as it is known: of several processes only their parent's account is.
    pub(super) fn signal(&self) -> Option<i32> {
        let of_kernel = || match &self.ends[..] {
            [MemberEnd { left: Some(Departure::Ended(exited)), .. }] => Some(*exited),
            _ => None,
        };
        self.exited.or_else(of_kernel)?.signal
    }

    /// Returns the reason for the stream's END record.
    pub(super) fn reason(&self) -> EndReason {
        end::reason(self.cause, self.exited, self.launched, &self.ends)
    }
}
