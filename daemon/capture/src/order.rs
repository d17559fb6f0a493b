//! Orders of the daemon to a drain: join, want, claim, pause, resume, stop, flush and others. They wait in an unbounded
//! queue, and the drain carries them out between its two readings of the heads.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::end::{Cause, Departure};
use crate::member::Joining;
use crate::process::Process;
use crate::taker::Taker;

/// An order to a drain. `capture` is the number of a capture.
pub enum Order {
    /// Another capture takes part in the drain.
    Take(Box<Taker>),
    /// A process joins the drain, for this capture.
    Join { capture: u64, joining: Joining },
    /// The capture is to have this process, which other captures of the drain may have.
    Want { capture: u64, process: Arc<Process> },
    /// The capture continues with a process that has handed its rings over.
    Claim { capture: u64, process: Arc<Process> },
    /// No further process joins the capture.
    AllJoined { capture: u64 },
    /// The process with this index in the session writes no more.
    Gone { index: u32, how: Departure },
    /// The capture ends.
    Stop { capture: u64, cause: Cause },
    /// The capture pauses: records from now on are left out.
    Pause { capture: u64 },
    /// The capture continues at the next keyframe.
    Resume { capture: u64 },
    /// Write all records that are published by now. The drain drops `reached` once they are written.
    Flush { capture: u64, reached: Sender<()> },
    /// The launched program has ended, by this signal if a signal ended it. Older clients do not say which process it was.
    Exited { capture: u64, pid: Option<u32>, signal: Option<i32> },
}
