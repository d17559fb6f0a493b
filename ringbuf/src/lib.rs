//! Lock-free rings of stamped records in shared memory, one per producing thread, and the merge of
//! many rings into one order.
//!
//! Knows nothing of what a record says. Never trusts memory that another process can write: see
//! docs/threat-model.md and docs/memory-model.md.

#[cfg(not(target_endian = "little"))]
compile_error!("rings and traces are little-endian, and nobody has needed the swaps yet");

pub mod batch;
pub mod consumer;
pub mod futex;
pub mod layout;
#[cfg(not(loom))]
mod memfd;
pub mod merge;
#[cfg(loom)]
pub mod model;
pub mod pages;
pub mod producer;
pub mod record;
pub mod refusal;
#[cfg(not(loom))]
pub mod segment;
pub mod storage;
pub mod sync;

pub use batch::{Batch, Reading};
pub use consumer::{Consumer, Standing};
pub use layout::{Joined, SegmentHeader, SegmentLayout, Slot, SlotCounts, SlotState};
pub use merge::{Emitted, LaneId, Merged, Merger};
pub use pages::{CaptureId, CounterPage, Mode, ModePage, ModeSettings, Overflow, StoreTerms};
#[cfg(not(loom))]
pub use pages::{CounterMap, ModeMap, ModeWriter};
pub use producer::{Producer, Reservation, Room};
pub use record::Header;
pub use refusal::{Refusal, RefusalCounts};
#[cfg(not(loom))]
pub use segment::{MapError, Segment, SegmentRing};
