//! The memory file with the rings of one process: the daemon creates and maps it, the application maps it, too. Sizes
//! come from the caller, never from the memory; an application that finds another magic, version or other sizes there
//! does not map the segment. A thread gets a free slot, or none if all are in use. Core dumps leave the segment out.
//! The memory of the ring of a slot without an owner can be returned to the system.
//!
//! Nothing here reads a record.

use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Arc;

use crate::layout::{
    CounterPage, ModePage, RINGS_ALIGN, SEGMENT_MAGIC, SEGMENT_VERSION, SegmentHeader,
    SegmentLayout, Slot,
};
use crate::map_error::MapError;
use crate::memfd;
use crate::producer::Producer;
use crate::segment_map::SegmentMap;
use crate::storage::{MappedBytes, Ring};
use crate::sync::Ordering;

/// Bytes that the owners of a ring may have written since its memory was last returned, before the memory is returned
/// when the slot is freed: 256 KiB.
const KEPT_BYTES: u64 = 256 << 10;
/// The same for the slots from [`MANY_SLOTS`] on: 16 KiB.
const KEPT_BYTES_OF_MANY: u64 = 16 << 10;
/// Number of slots whose rings may keep [`KEPT_BYTES`]: 256, so 64 MiB in all.
const MANY_SLOTS: u32 = 256;

/// A mapped segment.
#[derive(Debug)]
pub struct Segment {
    map: SegmentMap,
    layout: SegmentLayout,
}

impl Segment {
    /// Creates a segment: sparse, zero, sealed. The descriptor is for the application.
    pub fn create(layout: SegmentLayout) -> io::Result<(Self, OwnedFd)> {
        let fd = memfd::create(c"gapii-rings", layout.segment_bytes())?;
        memfd::seal(&fd, memfd::SEALS_SIZE)?;
        let segment = Self { map: SegmentMap::whole(&fd, layout)?, layout };
        let header = segment.header();
        // Relaxed: the descriptor is sent after this, by a system call.
        header.magic.store(SEGMENT_MAGIC, Ordering::Relaxed);
        header.version.store(SEGMENT_VERSION, Ordering::Relaxed);
        header.slot_count.store(layout.slot_count(), Ordering::Relaxed);
        header.ring_bytes.store(layout.ring_bytes(), Ordering::Relaxed);
        Ok((segment, fd))
    }

    /// Maps a segment with all of its rings, if its sizes are those of `layout`.
    pub fn map(fd: BorrowedFd<'_>, layout: SegmentLayout) -> Result<Self, MapError> {
        memfd::check(fd, layout.segment_bytes())?;
        Self::checked(SegmentMap::whole(&fd, layout)?, layout)
    }

    /// Maps the segment that a daemon sent, if its sizes are those of `layout`. A ring can be accessed once a thread has
    /// claimed its slot through this mapping.
    pub fn map_for_producers(fd: BorrowedFd<'_>, layout: SegmentLayout) -> Result<Self, MapError> {
        memfd::check(fd, layout.segment_bytes())?;
        Self::checked(SegmentMap::without_rings(&fd, layout)?, layout)
    }

    fn checked(map: SegmentMap, layout: SegmentLayout) -> Result<Self, MapError> {
        let segment = Self { map, layout };
        let header = segment.header();
        // Relaxed: written before the descriptor was sent, by a system call.
        let magic = header.magic.load(Ordering::Relaxed);
        if magic != SEGMENT_MAGIC {
            return Err(MapError::Magic(magic));
        }
        let version = header.version.load(Ordering::Relaxed);
        if version != SEGMENT_VERSION {
            return Err(MapError::Version(version));
        }
        let slot_count = header.slot_count.load(Ordering::Relaxed);
        let ring_bytes = header.ring_bytes.load(Ordering::Relaxed);
        if (slot_count, ring_bytes) != (layout.slot_count(), layout.ring_bytes()) {
            return Err(MapError::Sizes { slot_count, ring_bytes });
        }
        Ok(segment)
    }

    /// The agreed sizes.
    pub fn layout(&self) -> SegmentLayout {
        self.layout
    }

    /// The first page.
    pub fn header(&self) -> &SegmentHeader {
        // SAFETY: the mapping is as long as the layout says, begins at a page, and lives as long as `self`;
        // all words that anyone touches are atomics.
        unsafe { &*self.map.as_ptr().cast() }
    }

    /// One slot's words; `None` past the last.
    pub fn slot(&self, index: u32) -> Option<&Slot> {
        if index >= self.layout.slot_count() {
            return None;
        }
        // SAFETY: `index` is below the slot count, so the slot is in the mapping.
        let slot = unsafe { self.map.as_ptr().add(self.layout.slot_at(index) as usize) };
        // SAFETY: in the mapping, which lives as long as `self`; 64-aligned, because slots start at a page
        // and are 256 bytes long; all words that anyone touches are atomics.
        Some(unsafe { &*slot.cast::<Slot>() })
    }

    /// Returns how many slots, from the first one on, may have been used: no thread ever claimed one behind them. By the
    /// application's own account, but at most the slot count.
    pub fn slots_used(&self) -> u32 {
        self.header().slots_used(self.layout.slot_count())
    }

    /// Words of the slots that may have been used.
    pub fn used_slots(&self) -> impl Iterator<Item = &Slot> {
        (0..self.slots_used()).filter_map(|index| self.slot(index))
    }

    /// Returns whether no slot was free when a thread last searched, and none was freed since.
    pub fn is_full(&self) -> bool {
        self.header().is_full(self.layout.slot_count())
    }

    /// Claims a free slot for the calling thread, the first one if no slot is freed meanwhile, and returns its index.
    /// `None` if no slot is free, or if the system does not give access to its ring.
    pub fn claim(&self, tid: u32, name: [u8; 16]) -> Option<u32> {
        let claim = |index| {
            let is_open = || self.map.open(self.layout.ring_at(index + 1));
            self.slot(index).is_some_and(|slot| is_open() && slot.claim(tid, name))
        };
        self.header().claim(self.layout.slot_count(), claim)
    }

    /// Returns the memory of all rings to the system. Call it when their content will not be read any more. A
    /// producer that still writes gets new pages.
    pub fn discard_rings(&self) {
        let at = self.layout.ring_at(0) as usize;
        // Rings without access were never used.
        let len = (self.map.open_to() as usize).saturating_sub(at);
        // SAFETY: the rings begin inside the mapping.
        let rings = unsafe { self.map.as_ptr().add(at) };
        // SAFETY: in the mapping, whose pages read as zero afterwards; no Rust reference points into rings.
        // If the call fails, the memory stays.
        unsafe { libc::madvise(rings.cast(), len, libc::MADV_REMOVE) };
    }

    /// Returns the memory of one ring to the system, unless the ring is smaller than a page of some machine.
    fn discard_ring(&self, index: u32) {
        let len = self.layout.ring_bytes();
        // The system would round a shorter length up, and take the next ring's memory, too.
        if len < RINGS_ALIGN {
            return;
        }
        let MappedBytes(ring) = self.ring_bytes(index);
        // SAFETY: the ring is in the mapping, and its pages read as zero afterwards; no Rust reference points into
        // rings. If the call fails, the memory stays.
        unsafe { libc::madvise(ring.cast(), len as usize, libc::MADV_REMOVE) };
    }

    fn ring_bytes(&self, index: u32) -> MappedBytes {
        // SAFETY: callers have checked `index` against the slot count, so the ring is in the mapping.
        MappedBytes(unsafe { self.map.as_ptr().add(self.layout.ring_at(index) as usize) })
    }
}

/// A ring of a segment. Keeps the segment mapped.
#[derive(Clone, Debug)]
pub struct SegmentRing {
    segment: Arc<Segment>,
    index: u32,
}

impl SegmentRing {
    /// Ring `index`; `None` past the last.
    pub fn new(segment: &Arc<Segment>, index: u32) -> Option<Self> {
        let exists = index < segment.layout.slot_count();
        exists.then(|| Self { segment: Arc::clone(segment), index })
    }

    /// Index of its slot.
    pub fn index(&self) -> u32 {
        self.index
    }
}

impl Ring for SegmentRing {
    type Bytes = MappedBytes;

    fn slot(&self) -> &Slot {
        self.segment.slot(self.index).expect("the index was checked in `new`")
    }

    fn bytes(&self) -> MappedBytes {
        self.segment.ring_bytes(self.index)
    }

    fn capacity_bytes(&self) -> u64 {
        self.segment.layout.ring_bytes()
    }

    fn memory_kept_bytes(&self) -> u64 {
        if self.index < MANY_SLOTS { KEPT_BYTES } else { KEPT_BYTES_OF_MANY }
    }

    fn discard(&self) {
        self.segment.discard_ring(self.index);
    }

    fn note_freed(&self) {
        self.segment.header().note_freed(self.index);
    }
}

impl Producer {
    /// Attaches to the ring of slot `index` where its last owner stopped; the first record will carry a
    /// stamp. False, and nothing changed, if the slot does not exist or its head is misaligned or out of
    /// range.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot and is its only producer; segment and pages stay mapped until the
    /// producer is detached or never used again.
    pub unsafe fn attach(
        &mut self,
        segment: &Segment,
        index: u32,
        counter: &CounterPage,
        mode: &ModePage,
    ) -> bool {
        let Some(slot) = segment.slot(index) else { return false };
        let (bytes, capacity) = (segment.ring_bytes(index), segment.layout.ring_bytes());
        // SAFETY: the ring belongs to the slot, `capacity` is its size; the rest is our caller's.
        unsafe { self.attach_at(bytes, capacity, slot, counter, mode) }
    }
}
