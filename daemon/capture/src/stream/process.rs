//! A process in the stream.

use std::sync::Arc;

use gapii_abi::atom::CaptureEnd;

use crate::selection::{Owner, Selection};
use crate::store::Store;

/// A process, by the order in which the stream was told of it; not its index in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessKey(pub u32);

/// What the stream knows of a process.
#[derive(Default)]
pub struct StreamProcess {
    /// Index of the process in the trace. `None`: the stream has no record of the process yet.
    pub index: Option<u32>,
    pub pid: u32,
    pub start_ns: u64,
    pub name: Vec<u8>,
    /// Frames that ended in the stream.
    pub frames: u64,
    /// What its CAPTURE_END record says.
    pub ended: Option<CaptureEnd>,
    /// What holds its blobs from one capture to the next.
    pub(super) store: Option<Arc<Store>>,
    /// What of it belongs to the stream; all does without one.
    pub(super) selection: Option<Selection>,
    /// Frames after which no more of it does.
    pub(super) frame_limit: Option<u64>,
    /// What it does is missing, up to the next keyframe.
    pub(super) is_missing: bool,
    /// Bytes of it that its records have named since the capture or its keyframe began.
    pub(super) named_bytes: u64,
    pub(super) stated_in: u64,
}

impl StreamProcess {
    /// Returns the owner of a ring from now on.
    pub(super) fn owner(&mut self) -> Owner {
        self.selection.as_mut().map(Selection::owner).unwrap_or_default()
    }
}
