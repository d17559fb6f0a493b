//! Lock-free rings of stamped records in shared memory, one per producing thread, and the merge of many rings
//! into one order.
//!
//! Does not know what a record says. Never trusts memory that another process can write: see
//! docs/threat-model.md. [`layout`] specifies the shared memory, and docs/memory-model.md argues why the
//! order is right.
//!
//! A daemon and an application, here in one process: the application writes a record, the daemon reads and
//! merges it.
//!
//! ```
//! use std::os::fd::AsFd;
//! use std::sync::Arc;
//!
//! use gapii_ringbuf::{
//!     Consumer, CounterMap, Header, Merger, ModeMap, ModeWriter, Producer, Reading, Room, Segment,
//!     SegmentLayout, SegmentRing,
//! };
//!
//! // The daemon makes the shared memory and passes the descriptors to the application.
//! let layout = SegmentLayout::new(2, 4096).ok_or("sizes are out of range")?;
//! let (segment, segment_fd) = Segment::create(layout)?;
//! let (counter, counter_fd) = CounterMap::create()?;
//! let (_mode, mode_fd) = ModeWriter::create()?;
//!
//! // A thread of the application claims a slot and writes a record with a payload of 8 bytes.
//! let mapped = Segment::map_for_producers(segment_fd.as_fd(), layout)?;
//! let (stamps, mode) = (CounterMap::map(counter_fd.as_fd())?, ModeMap::map(mode_fd.as_fd())?);
//! let slot = mapped.claim(1, *b"main\0\0\0\0\0\0\0\0\0\0\0\0").ok_or("no slot is free")?;
//! let mut producer = Producer::detached();
//! // SAFETY: this thread has claimed the slot, and the mappings outlive the producer.
//! assert!(unsafe { producer.attach(&mapped, slot, &stamps, &mode) });
//! assert_eq!(producer.make_room(16), Room::Ready);
//! // SAFETY: still attached, and the header says more than 8 bytes.
//! let record = unsafe { producer.reserve(Header::new(7, 0, 16)) }.ok_or("there is room")?;
//! // SAFETY: the payload is 8 bytes long and aligned to 8.
//! unsafe { record.payload.cast::<u64>().write(42) };
//! // SAFETY: the last reservation, and its payload is written.
//! assert!(unsafe { producer.publish(record) });
//!
//! // The daemon reads all heads twice, and merges.
//! let ring = SegmentRing::new(&Arc::new(segment), slot).ok_or("the slot exists")?;
//! let mut consumer = Consumer::new(ring);
//! let mut merger = Merger::new();
//! let lane = merger.add(slot);
//! for reading in [Reading::First, Reading::Second] {
//!     let head = consumer.head_untrusted();
//!     let batch = merger.batch_mut(lane).ok_or("the lane was added")?;
//!     consumer.drain_into(head, reading, batch)?;
//! }
//! let merged = merger.merge(|emitted| {
//!     // Header, stamp, payload.
//!     assert_eq!(emitted.bytes[16..], 42_u64.to_le_bytes());
//!     consumer.release(emitted.end_index);
//! });
//! assert_eq!(merged.emitted, 1);
//! # drop(counter);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(target_endian = "little"))]
compile_error!("rings and traces are little-endian: no code swaps bytes");

pub mod batch;
pub mod consumer;
pub mod counter_page;
pub mod futex;
pub mod layout;
#[cfg(not(loom))]
mod map_error;
#[cfg(not(loom))]
mod memfd;
pub mod merge;
pub mod mode_page;
#[cfg(loom)]
pub mod model;
#[cfg(not(loom))]
pub mod page_maps;
pub mod producer;
pub mod record;
pub mod refusal;
#[cfg(not(loom))]
pub mod segment;
#[cfg(not(loom))]
mod segment_map;
mod sent;
mod slot;
pub mod slot_use;
pub mod storage;
pub mod sync;

pub use batch::{Batch, Reading};
pub use consumer::{Consumer, Standing};
pub use layout::{
    CounterPage, FRAME_RULE_BYTES, Joined, Mode, ModePage, Overflow, SegmentHeader, SegmentLayout,
    Slot, SlotCounts, SlotState,
};
#[cfg(not(loom))]
pub use map_error::MapError;
pub use merge::{Emitted, LaneId, Merged, Merger};
pub use mode_page::{CaptureId, ModeSettings, StoreTerms};
#[cfg(not(loom))]
pub use page_maps::{CounterMap, ModeMap, ModeWriter};
pub use producer::{Producer, Reservation, Room};
pub use record::Header;
pub use refusal::{Refusal, RefusalCounts};
#[cfg(not(loom))]
pub use segment::{Segment, SegmentRing};
