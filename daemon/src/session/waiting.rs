//! Processes that have handed their rings over, before somebody has claimed them.

use std::sync::Arc;

use gapii_capture::process::Process;
use gapii_ringbuf::CaptureId;
use tokio::sync::oneshot;

/// A process that waits for somebody who wants its capture to go on.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) process: Arc<Process>,
    /// The capture for which it began to record; it may be in others, too.
    pub(super) capture: CaptureId,
    pub(super) lost_ns: u64,
    pub(super) claimed: oneshot::Sender<()>,
}
