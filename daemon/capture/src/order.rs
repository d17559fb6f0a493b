//! What the rest of the daemon tells a drain.

use std::sync::Arc;
use std::sync::mpsc::Sender;

use crate::end::{Cause, Departure};
use crate::member::Joining;
use crate::process::Process;
use crate::taker::Taker;

/// What a drain is told. `capture` is the number of a capture.
pub enum Order {
    /// Another capture takes part.
    Take(Box<Taker>),
    /// A process joins the drain, for this capture.
    Join { capture: u64, joining: Joining },
    /// The capture is to have this process, too.
    Want { capture: u64, process: Arc<Process> },
    /// The capture goes on with a process that another daemon handed over.
    Claim { capture: u64, process: Arc<Process> },
    /// No further process joins the capture.
    AllJoined { capture: u64 },
    /// The process with this index in the session writes no more.
    Gone { index: u32, how: Departure },
    /// The capture ends.
    Stop { capture: u64, cause: Cause },
    /// The capture leaves out what is recorded from now on.
    Pause { capture: u64 },
    /// The capture goes on at the next keyframe.
    Resume { capture: u64 },
    /// Give out all that was published by now. The drain drops `reached` once that is done.
    Flush { capture: u64, reached: Sender<()> },
    /// The launched program has ended, by this signal if by any.
    Exited { capture: u64, signal: Option<i32> },
}
