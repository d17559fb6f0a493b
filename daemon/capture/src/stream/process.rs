//! A process in the stream.

use std::sync::Arc;

use gapii_abi::atom::CaptureEnd;

use crate::selection::{Owner, Selection};
use crate::store::Store;

/// A process, by the order in which it was added to the stream. This is not its index in the trace.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProcessKey(pub u32);

/// The stream's data about a process.
#[derive(Default)]
pub struct StreamProcess {
    /// Index of the process in the trace. `None`: the stream has no record of the process yet.
    pub index: Option<u32>,
    pub pid: u32,
    pub start_ns: u64,
    pub name: Vec<u8>,
    /// Number of frames that ended in the stream.
    pub frames: u64,
    /// The process' CAPTURE_END record, if it has come.
    pub ended: Option<CaptureEnd>,
    /// The store that holds the process' blobs from one capture to the next.
    pub(super) store: Option<Arc<Store>>,
    /// Selects the process' records that belong to the stream. `None`: all.
    pub(super) selection: Option<Selection>,
    /// Number of frames after which the process' part ends.
    pub(super) frame_limit: Option<u64>,
    /// The process' records are missing, up to the next keyframe.
    pub(super) is_missing: bool,
    /// Bytes of the store that the process' records have named since the capture or its keyframe began.
    pub(super) named_bytes: u64,
    pub(super) stated_in: u64,
}

impl StreamProcess {
    /// Returns the owner of a ring from now on.
    pub(super) fn owner(&mut self) -> Owner {
        self.selection.as_mut().map(Selection::owner).unwrap_or_default()
    }
}
