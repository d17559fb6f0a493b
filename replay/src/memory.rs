//! Memory that the driver reads: what commands of the trace read, and nothing besides.
//!
//! ```text
//! +--------------------------+--------------------+--------------------------+-------+
//! | void, read-only zeros    | arena, read-write  | void, read-only zeros    | guard |
//! +--------------------------+--------------------+--------------------------+-------+
//! ```
//!
//! Observations of one command that lay near each other keep their distances in the arena, so that
//! one translation holds for every pointer into them. A pointer to what was not observed leads into
//! the void. So does reading on behind the arena's end or before its start: the void is so large that
//! no index of 32 bits gets past it, at the strides that `arrays` admits. None of it takes memory.

use std::ffi::c_void;
use std::ptr::NonNull;

use gapii_protocol::trace::Bytes;

use crate::call::Skip;

/// Addresses that are no further apart belong to one cluster.
const NEAR: u64 = 16 << 20;
/// Readable before the arena, and behind it: an index, signed or not, times the largest stride, and
/// as much again for a base vertex.
const VOID_BEFORE: usize = 16 << 40;
const VOID_BEHIND: usize = 32 << 40;
/// Where a process may not reserve so much.
const VOID_LEAST: usize = 4 << 30;
/// How far before observed memory a pointer may be that belongs to it.
const REACH: u64 = 1 << 40;
const GUARD_BYTES: usize = 1 << 20;
/// Where what was observed begins, counted from a multiple of this: as it was in the program.
const ALIGNMENT: u64 = 4096;
/// Pages that are given back after a command that used more.
const KEPT_BYTES: usize = 64 << 20;

/// A mapping that is given back when it is dropped.
pub(crate) struct Region {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process; `Region` alone gives it back.
unsafe impl Send for Region {}

impl Region {
    /// `before` bytes that are zero and can be read, `writable` bytes, `behind` bytes like the first
    /// ones, and a guard. None of it is held before it is used.
    pub(crate) fn new(before: usize, writable: usize, behind: usize) -> std::io::Result<Self> {
        let len = before + writable + behind + GUARD_BYTES;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(std::io::Error::last_os_error)?;
        let region = Self { base, len };
        region.protect(0, before, libc::PROT_READ)?;
        region.protect(before, writable, libc::PROT_READ | libc::PROT_WRITE)?;
        region.protect(before + writable, behind, libc::PROT_READ)?;
        Ok(region)
    }

    fn protect(&self, at: usize, len: usize, access: i32) -> std::io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: `new` adds up the mapping's length from the parts that it protects.
        let rc = unsafe { libc::mprotect(self.at(at).cast::<c_void>(), len, access) };
        if rc == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    }

    /// The address of byte `offset`, which is within the mapping.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        self.base.as_ptr().wrapping_add(offset)
    }

    /// Gives back what `len` bytes from `offset` on hold; they are zero then.
    pub(crate) fn release(&self, offset: usize, len: usize) {
        // SAFETY: private memory of the mapping; nobody has a reference into it between commands.
        unsafe { libc::madvise(self.at(offset).cast::<c_void>(), len, libc::MADV_DONTNEED) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, once.
        unsafe { libc::munmap(self.base.as_ptr().cast::<c_void>(), self.len) };
    }
}

/// What commands read.
pub struct Memory {
    region: Region,
    /// Of the arena in the region.
    start: usize,
    /// Of what can be read of the region.
    readable: usize,
    arena_bytes: usize,
    used: usize,
    clusters: Vec<Cluster>,
    pieces: Vec<(u64, u64)>,
}

/// Observed memory that lay together: addresses of the program and where they are now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cluster {
    first: u64,
    end: u64,
    /// Of `first`, in the arena.
    at: usize,
}

impl Memory {
    /// An arena of so many bytes.
    pub fn new(arena_bytes: usize) -> std::io::Result<Self> {
        let most = Region::new(VOID_BEFORE, arena_bytes, VOID_BEHIND);
        let (region, start, behind) = match most {
            Ok(region) => (region, VOID_BEFORE, VOID_BEHIND),
            Err(_) => (Region::new(VOID_LEAST, arena_bytes, VOID_LEAST)?, VOID_LEAST, VOID_LEAST),
        };
        Ok(Self {
            region,
            start,
            readable: start + arena_bytes + behind,
            arena_bytes,
            used: 0,
            clusters: Vec::new(),
            pieces: Vec::new(),
        })
    }

    /// Forgets what the command before read.
    pub(crate) fn reset(&mut self) {
        if self.used > KEPT_BYTES {
            self.region.release(self.start, self.used);
        }
        self.used = 0;
        self.clusters.clear();
    }

    /// Puts observed memory where the driver may read it. Where pieces overlap the first ones count,
    /// since a command's slots come before its ranges.
    pub(crate) fn load(&mut self, pieces: &[(u64, Bytes<'_>)]) -> Result<(), Skip> {
        self.pieces.clear();
        for (address, bytes) in pieces {
            // A text is recorded without the zero at its end.
            let Some(end) = address.checked_add(bytes.len() as u64 + 1) else {
                return Err(Skip::from("it reads memory at addresses that no program has"));
            };
            self.pieces.push((*address, end));
        }
        self.pieces.sort_unstable();
        for at in 0..self.pieces.len() {
            let (first, end) = self.pieces[at];
            match self.clusters.last_mut() {
                Some(last) if first.saturating_sub(last.end) < NEAR => last.end = last.end.max(end),
                _ => self.clusters.push(Cluster { first, end, at: 0 }),
            }
        }
        for at in 0..self.clusters.len() {
            let Cluster { first, end, .. } = self.clusters[at];
            let start =
                self.used.next_multiple_of(ALIGNMENT as usize) + (first % ALIGNMENT) as usize;
            let len = usize::try_from(end - first).ok();
            let next = len.and_then(|len| start.checked_add(len));
            let Some(next) = next.filter(|next| *next <= self.arena_bytes) else {
                self.clusters.truncate(at);
                return Err(Skip::from("it reads more memory than replay takes"));
            };
            self.clusters[at].at = start;
            self.used = next;
        }
        for (address, bytes) in pieces {
            self.put(address + bytes.len() as u64, &[0]);
        }
        for (address, bytes) in pieces.iter().rev() {
            self.put(*address, bytes);
        }
        Ok(())
    }

    fn put(&mut self, address: u64, bytes: &[u8]) {
        let Some(at) = self.offset(address) else { return };
        if at < self.start || at + bytes.len() > self.start + self.arena_bytes {
            return;
        }
        // SAFETY: checked to lie in the arena, which nobody has a reference into; `bytes` is memory
        // of a record or a blob.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.region.at(at), bytes.len()) };
    }

    fn offset(&self, address: u64) -> Option<usize> {
        let cluster = self.clusters.iter().find(|cluster| address < cluster.end)?;
        match address.checked_sub(cluster.first) {
            Some(behind) => Some(self.start + cluster.at + behind as usize),
            None => {
                let before = Some(cluster.first - address).filter(|before| *before <= REACH)?;
                (self.start + cluster.at).checked_sub(before as usize)
            }
        }
    }

    /// Where an address of the program is now: null stays null, what was not observed is the void.
    pub fn translate(&self, address: u64) -> *const u8 {
        match address {
            0 => std::ptr::null(),
            _ => self
                .offset(address)
                .map_or_else(|| self.void(), |at| self.region.at(at).cast_const()),
        }
    }

    /// Whether memory was observed at this address.
    pub fn is_observed(&self, address: u64) -> bool {
        self.clusters.iter().any(|cluster| (cluster.first..cluster.end).contains(&address))
    }

    /// Bytes that can be read behind an address of the program, zeros included.
    pub fn readable_from(&self, address: u64) -> u64 {
        let from = self.offset(address).unwrap_or(self.start + self.arena_bytes);
        self.readable.saturating_sub(from) as u64
    }

    /// Room in the arena for bytes of the player's own, aligned to 16, until the command is over.
    pub fn place(&mut self, bytes: &[u8]) -> Result<*const u8, Skip> {
        let start = self.used.next_multiple_of(16);
        let end = start.checked_add(bytes.len() + 1).filter(|end| *end <= self.arena_bytes);
        let Some(end) = end else {
            return Err(Skip::from("it reads more memory than replay takes"));
        };
        self.used = end;
        let at = self.region.at(self.start + start);
        // SAFETY: checked to lie in the arena, which nobody has a reference into.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        // SAFETY: as above: `end` counts one byte more, and is within the arena.
        unsafe { at.wrapping_add(bytes.len()).write(0) };
        Ok(at)
    }

    /// Zeros, for as far as one can read.
    pub fn void(&self) -> *const u8 {
        self.region.at(self.start + self.arena_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory() -> Memory {
        Memory::new(1 << 20).unwrap()
    }

    fn read(at: *const u8, len: usize) -> Vec<u8> {
        // SAFETY: tests read what they put into the arena, or the void behind it.
        unsafe { std::slice::from_raw_parts(at, len) }.to_vec()
    }

    #[test]
    fn observations_keep_their_distances() {
        let mut memory = memory();
        let pieces = [(0x7000_0100, Bytes::Record(&[1, 2])), (0x7000_0200, Bytes::Record(&[3]))];
        memory.load(&pieces).unwrap();
        let first = memory.translate(0x7000_0100);
        assert_eq!(read(first, 2), [1, 2]);
        assert_eq!(read(first.wrapping_add(0x100), 1), [3]);
        assert_eq!(memory.translate(0x7000_0180), first.wrapping_add(0x80));
    }

    #[test]
    fn pointer_that_nothing_was_observed_at_leads_into_the_void() {
        let mut memory = memory();
        memory.load(&[(0x7000_0100, Bytes::Record(&[1, 2]))]).unwrap();
        assert!(memory.translate(0).is_null());
        assert_eq!(memory.translate(0x9000_0000_0000), memory.void());
        assert_eq!(read(memory.translate(0x10), 64), [0; 64]);
        assert_eq!(read(memory.translate(u64::MAX), 64), [0; 64]);
    }

    #[test]
    fn array_may_begin_long_before_what_was_observed_of_it() {
        let mut memory = memory();
        memory.load(&[(0x7000_0000, Bytes::Record(&[5, 6]))]).unwrap();
        let array = memory.translate(0x1000_0000);
        assert_eq!(read(array.wrapping_add(0x6000_0000), 2), [5, 6]);
        assert!(memory.readable_from(0x1000_0000) > 1 << 44);
    }

    #[test]
    fn observations_of_one_address_are_those_of_the_slot() {
        let mut memory = memory();
        memory
            .load(&[(0x1000, Bytes::Record(&[1, 2])), (0x1000, Bytes::Record(&[9, 9, 3]))])
            .unwrap();
        assert_eq!(read(memory.translate(0x1000), 3), [1, 2, 3]);
    }

    #[test]
    fn more_than_the_arena_holds_is_skipped() {
        let mut memory = memory();
        let many = vec![7; 1 << 20];
        assert!(memory.load(&[(0x1000, Bytes::Record(&many))]).is_err());
        memory.reset();
        assert!(memory.load(&[(u64::MAX, Bytes::Record(&[1]))]).is_err());
        memory.reset();
        // So near to each other that they are one cluster, and too far to fit.
        let far = [(0x1000, Bytes::Record(&[1])), (0x1000 + (2 << 20), Bytes::Record(&[1]))];
        assert!(memory.load(&far).is_err());
        assert!(memory.place(&many).is_err());
    }
}
