//! One process' rings, mapped: made by the daemon, mapped again by the application.
//!
//! Sizes come from the caller, never from the memory; an application that finds another size there
//! does not map it. Nothing here reads a record.

use std::fmt;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::sync::Arc;

use memmap2::{MmapOptions, MmapRaw};

use crate::layout::{SEGMENT_MAGIC, SEGMENT_VERSION, SegmentHeader, SegmentLayout, Slot};
use crate::memfd;
use crate::pages::{CounterPage, ModePage};
use crate::producer::Producer;
use crate::storage::{MappedBytes, Ring};
use crate::sync::Ordering;

/// A mapped segment.
#[derive(Debug)]
pub struct Segment {
    map: MmapRaw,
    layout: SegmentLayout,
}

/// Why shared memory was not mapped.
#[derive(Debug)]
pub enum MapError {
    /// The system refused.
    Io(io::Error),
    /// Not a memory file, or one that could shrink under us.
    NotSealed,
    /// Not as long as was agreed.
    Length {
        /// Bytes it has.
        found: u64,
        /// Bytes it should have.
        expected: u64,
    },
    /// Does not begin like a segment.
    Magic(u64),
    /// A segment of another version.
    Version(u32),
    /// Slots or rings are not what was agreed.
    Sizes {
        /// Slots it says it has.
        slot_count: u32,
        /// Bytes it says a ring has.
        ring_bytes: u64,
    },
}

impl fmt::Display for MapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot map shared memory: {error}"),
            Self::NotSealed => write!(f, "shared memory is not sealed against shrinking"),
            Self::Length { found, expected } => {
                write!(f, "shared memory has {found} bytes where {expected} were agreed")
            }
            Self::Magic(found) => write!(f, "segment begins with {found:#018x}"),
            Self::Version(found) => {
                write!(f, "segment has version {found}, not {SEGMENT_VERSION}")
            }
            Self::Sizes { slot_count, ring_bytes } => {
                write!(f, "segment says {slot_count} slots of {ring_bytes} bytes, as nobody agreed")
            }
        }
    }
}

impl std::error::Error for MapError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for MapError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

impl Segment {
    /// Makes a segment: sparse, zero, sealed. The descriptor is for the application.
    pub fn create(layout: SegmentLayout) -> io::Result<(Self, OwnedFd)> {
        let fd = memfd::create(c"gapii-rings", layout.segment_bytes())?;
        memfd::seal(&fd, memfd::SEALS_SIZE)?;
        let segment = Self::map_checked(fd.as_raw_fd(), layout)?;
        let header = segment.header();
        // Relaxed: the descriptor goes out after this, by a system call.
        header.magic.store(SEGMENT_MAGIC, Ordering::Relaxed);
        header.version.store(SEGMENT_VERSION, Ordering::Relaxed);
        header.slot_count.store(layout.slot_count(), Ordering::Relaxed);
        header.ring_bytes.store(layout.ring_bytes(), Ordering::Relaxed);
        Ok((segment, fd))
    }

    /// Maps the segment that a daemon sent, if it is what was agreed in `layout`.
    pub fn map(fd: BorrowedFd<'_>, layout: SegmentLayout) -> Result<Self, MapError> {
        memfd::check(fd, layout.segment_bytes())?;
        let segment = Self::map_checked(fd.as_raw_fd(), layout)?;
        let header = segment.header();
        // Relaxed: written before the descriptor came, by a system call.
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

    /// The sizes, as agreed.
    pub fn layout(&self) -> SegmentLayout {
        self.layout
    }

    /// The first page.
    pub fn header(&self) -> &SegmentHeader {
        // SAFETY: the mapping is as long as the layout says, begins at a page, and lives as long as
        // `self`; all words that anyone touches are atomics.
        unsafe { &*self.map.as_ptr().cast() }
    }

    /// One slot's words; `None` past the last.
    pub fn slot(&self, index: u32) -> Option<&Slot> {
        if index >= self.layout.slot_count() {
            return None;
        }
        // SAFETY: `index` is below the slot count, so the slot is in the mapping.
        let slot = unsafe { self.map.as_ptr().add(self.layout.slot_at(index) as usize) };
        // SAFETY: in the mapping, which lives as long as `self`; 64-aligned, because slots start at
        // a page and are 256 bytes long; all words that anyone touches are atomics.
        Some(unsafe { &*slot.cast::<Slot>() })
    }

    /// All slots' words.
    pub fn slots(&self) -> impl Iterator<Item = &Slot> {
        (0..self.layout.slot_count()).filter_map(|index| self.slot(index))
    }

    /// Takes the first free slot for the calling thread; `None` if there is none.
    pub fn claim(&self, tid: u32, name: [u8; 16]) -> Option<u32> {
        (0..self.layout.slot_count())
            .find(|&index| self.slot(index).is_some_and(|slot| slot.claim(tid, name)))
    }

    /// Gives back the memory of all rings, whose content nobody will read any more. A producer that is
    /// still at it writes into new memory.
    pub fn discard_rings(&self) {
        let at = self.layout.ring_at(0) as usize;
        let len = self.layout.segment_bytes() as usize - at;
        // SAFETY: the rings begin inside the mapping.
        let rings = unsafe { self.map.as_mut_ptr().add(at) };
        // SAFETY: in the mapping, whose pages read as zero afterwards; no reference leads into rings.
        // Where it fails, the memory stays.
        unsafe { libc::madvise(rings.cast(), len, libc::MADV_REMOVE) };
    }

    fn map_checked(fd: i32, layout: SegmentLayout) -> io::Result<Self> {
        let map = MmapOptions::new().len(layout.segment_bytes() as usize).map_raw(fd)?;
        Ok(Self { map, layout })
    }

    fn ring_bytes(&self, index: u32) -> MappedBytes {
        // SAFETY: callers have checked `index` against the slot count, so the ring is in the
        // mapping.
        MappedBytes(unsafe { self.map.as_mut_ptr().add(self.layout.ring_at(index) as usize) })
    }
}

/// A ring of a segment, which it keeps mapped.
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

    /// Its place in the slot table.
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
}

impl Producer {
    /// Goes on where the last owner of slot `index` stopped; the first record will be stamped.
    /// False, and detached as before, if there is no such slot or its indices are nonsense.
    ///
    /// # Safety
    ///
    /// The caller has claimed the slot and is its only producer; segment and pages stay mapped until
    /// the producer is detached or never used again.
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
