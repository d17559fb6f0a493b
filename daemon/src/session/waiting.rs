//! Processes that have handed their rings over and that no capture has claimed yet.

use std::sync::Arc;

use gapii_capture::process::Process;
use gapii_ringbuf::CaptureId;
use tokio::sync::oneshot;

/// A process that waits for a client to continue its capture.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) process: Arc<Process>,
    /// The capture for which the process began to record. It may be in others, too.
    pub(super) capture: CaptureId,
    pub(super) lost_ns: u64,
    pub(super) claimed: oneshot::Sender<()>,
}
