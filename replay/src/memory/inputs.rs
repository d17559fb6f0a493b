//! Memory that the driver reads. It holds what commands of the trace read, and nothing else; everything else reads as
//! zeros, or cannot be read ([`Unknown`]). A command is skipped if it reads more than `Limits::input_bytes` (1 GiB), or at
//! two addresses that fold to one place of the window: 8 TiB (`Plan::LARGEST`), or less, down to 4 GiB, where a process may
//! not reserve that much ([`Plan`]).
//!
//! ```text
//! +-----------------+--------------------------+-------------------+-----------------+-------+
//! | void, read-only | window: the program's    | arena, read-write | void, read-only | guard |
//! | zeros           | memory, folded           |                   | zeros           |       |
//! +-----------------+--------------------------+-------------------+-----------------+-------+
//! ```
//!
//! Memory that a command read is in the window, at its address in the program without the upper
//! bits. So an address is always at the same place, distances are kept, and a vertex array can be
//! set long before a draw reads it. Parts of the window become writable when they are needed. Where
//! nothing was observed the window holds zeros, or what an earlier command read there. A command
//! that reads at two addresses which fold to one place is skipped. The arena holds arrays and
//! strings that the player builds.
//!
//! A pointer to memory that was not observed leads into the void, and so does reading past either
//! end of the window. The void is so large that no 32-bit index passes its end at the strides that
//! `arrays` admits. It occupies no memory.

use std::collections::{HashMap, HashSet};

use gapii_trace::Bytes;

use super::plan::Plan;
use super::region::Region;
use crate::skip::Skip;

/// Pieces at most this many bytes apart belong to one cluster.
const NEAR: u64 = 16 << 20;
/// Largest distance in bytes of a pointer before observed memory that it still belongs to.
const REACH: u64 = 1 << 40;
/// Unit in which the window is made writable.
const GRANULE_BYTES: usize = 256 << 10;
/// Number of writable granules that are kept between commands.
const KEPT_GRANULES: usize = 1024;
/// Bytes of the arena that are kept between commands.
const KEPT_BYTES: usize = 64 << 20;

/// Memory of the program that a trace does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Unknown {
    /// It reads as zeros, so a driver that reads too far does not end the replay.
    #[default]
    Zeros,
    /// It cannot be read, so what records the replay notices where the program's memory ended.
    Unreadable,
}

/// Memory that commands read.
pub struct Memory {
    region: Region,
    /// Offset of the window in the region.
    start: usize,
    /// A power of two.
    window_bytes: usize,
    /// End of the readable part of the region.
    readable: usize,
    arena_bytes: usize,
    /// Bytes of the arena that are in use.
    used: usize,
    /// Observed memory of the present command.
    clusters: Vec<Cluster>,
    /// First address and end of each piece, while they are loaded.
    pieces: Vec<(u64, u64)>,
    /// Granules of the window that can be written.
    writable: HashSet<usize>,
    /// Number of granules that one command may use, and that may be held.
    most_granules: usize,
    /// Granules that are never released, with the upper bits of the program's addresses in them.
    held: HashMap<usize, u64>,
    /// Access to memory that the trace does not have.
    unknown: i32,
}

/// Observed memory that lies together, in addresses of the program.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Cluster {
    first: u64,
    end: u64,
}

impl Memory {
    /// Memory with an arena of `arena_bytes`, and the largest window for which the process finds addresses. A command may
    /// read `arena_bytes` in the window, too.
    ///
    /// # Errors
    /// If the process has no addresses for the smallest window; the error says how many it needs.
    pub fn new(arena_bytes: usize, unknown: Unknown) -> std::io::Result<Self> {
        let unknown = match unknown {
            Unknown::Zeros => libc::PROT_READ,
            Unknown::Unreadable => libc::PROT_NONE,
        };
        let (plan, region) = Plan::reserve(arena_bytes)?;
        region.protect(0, plan.readable(arena_bytes), unknown)?;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        region.protect(plan.before + plan.window, arena_bytes, access)?;
        Ok(Self {
            region,
            start: plan.before,
            window_bytes: plan.window,
            readable: plan.readable(arena_bytes),
            arena_bytes,
            used: 0,
            clusters: Vec::new(),
            pieces: Vec::new(),
            writable: HashSet::new(),
            most_granules: arena_bytes.div_ceil(GRANULE_BYTES) + 2,
            held: HashMap::new(),
            unknown,
        })
    }

    /// Forgets what the previous command read.
    pub(crate) fn reset(&mut self) {
        if self.used > KEPT_BYTES {
            self.region.release(self.arena(), self.used);
        }
        if self.writable.len() > KEPT_GRANULES + self.held.len() {
            for granule in std::mem::take(&mut self.writable) {
                if self.held.contains_key(&granule) {
                    self.writable.insert(granule);
                    continue;
                }
                let at = self.start + granule * GRANULE_BYTES;
                self.region.release(at, GRANULE_BYTES);
                // If this fails, the granule stays writable, which is harmless.
                let _ = self.region.protect(at, GRANULE_BYTES, self.unknown);
            }
        }
        self.used = 0;
        self.clusters.clear();
    }

    /// Copies observed memory to where the driver may read it. Where pieces overlap the first one
    /// counts, since a command's slots come before its ranges.
    pub(crate) fn load(&mut self, pieces: &[(u64, Bytes<'_>)]) -> Result<(), Skip> {
        self.pieces.clear();
        for (address, bytes) in pieces {
            // One byte more: a string is recorded without its NUL.
            let Some(end) = address.checked_add(bytes.len() as u64 + 1) else {
                return Err(Skip::from("it reads memory at addresses that no program has"));
            };
            self.pieces.push((*address, end));
        }
        self.make_writable()?;
        self.pieces.sort_unstable();
        for (first, end) in self.pieces.iter().copied() {
            match self.clusters.last_mut() {
                Some(last) if first.saturating_sub(last.end) < NEAR => last.end = last.end.max(end),
                _ => self.clusters.push(Cluster { first, end }),
            }
        }
        for (address, bytes) in pieces {
            let end = address + bytes.len() as u64;
            // Held memory keeps the program's byte there.
            if !self.is_held(end) {
                self.put(end, &[0]);
            }
        }
        for (address, bytes) in pieces.iter().rev() {
            self.put(*address, bytes);
        }
        Ok(())
    }

    /// Makes the window writable for all pieces. Skips the command if two pieces fold to one place.
    fn make_writable(&mut self) -> Result<(), Skip> {
        let mask = self.window_bytes - 1;
        let fold = |address: u64| (address as usize) & mask;
        self.pieces.sort_unstable_by_key(|(first, _)| fold(*first));
        // End in the window and upper bits of the piece that reaches furthest.
        let mut last = (0, 0);
        let (mut bytes, mut granules, mut next_granule) = (0usize, 0, 0);
        for piece in 0..self.pieces.len() {
            let (first, end) = self.pieces[piece];
            let (at, above) = (fold(first), first - fold(first) as u64);
            let len = usize::try_from(end - first).unwrap_or(usize::MAX);
            let next = at.checked_add(len).filter(|next| *next <= self.window_bytes);
            let is_others = |granule| self.held.get(&granule).is_some_and(|held| *held != above);
            let is_alone = |next: &usize| {
                let mut granules = at / GRANULE_BYTES..next.div_ceil(GRANULE_BYTES);
                (at >= last.0 || above == last.1)
                    && (self.held.is_empty() || !granules.any(is_others))
            };
            let Some(next) = next.filter(is_alone) else {
                return Err(Skip::from(
                    "it reads memory at addresses that replay can't tell apart",
                ));
            };
            last = last.max((next, above));
            let of_piece = (at / GRANULE_BYTES).max(next_granule)..next.div_ceil(GRANULE_BYTES);
            next_granule = next_granule.max(of_piece.end);
            granules += of_piece.len();
            bytes = bytes.saturating_add(len);
            if bytes > self.arena_bytes || granules > self.most_granules {
                return Err(Skip::from("it reads more memory than replay takes"));
            }
            for granule in of_piece {
                self.make_granule_writable(granule)?;
            }
        }
        Ok(())
    }

    fn make_granule_writable(&mut self, granule: usize) -> Result<(), Skip> {
        if !self.writable.contains(&granule) {
            let access = libc::PROT_READ | libc::PROT_WRITE;
            let at = self.start + granule * GRANULE_BYTES;
            self.region
                .protect(at, GRANULE_BYTES, access)
                .map_err(|_| Skip::from("it uses memory in more places than replay takes"))?;
            self.writable.insert(granule);
        }
        Ok(())
    }

    /// Holds memory of the program that later commands read and write, too. Returns its place in
    /// the window.
    pub(crate) fn hold(&mut self, address: u64, len: u64) -> Result<*mut u8, Skip> {
        let (at, above) = self.folded(address);
        let end = usize::try_from(len).ok().and_then(|len| at.checked_add(len));
        let Some(end) = end.filter(|end| *end <= self.window_bytes) else {
            return Err(Skip::from("it uses memory at addresses that no program has"));
        };
        let granules = at / GRANULE_BYTES..end.div_ceil(GRANULE_BYTES);
        let others = granules.clone().filter_map(|granule| self.held.get(&granule));
        if others.clone().any(|other| *other != above) {
            return Err(Skip::from("it uses memory at addresses that replay can't tell apart"));
        }
        let more = granules.len() - others.count();
        if self.held.len() + more > self.most_granules {
            return Err(Skip::from("lists use more of the program's memory than replay takes"));
        }
        for granule in granules {
            self.make_granule_writable(granule)?;
            self.held.insert(granule, above);
        }
        Ok(self.home(address).cast_mut())
    }

    /// Place of an address in the window, and the upper bits that it loses there.
    fn folded(&self, address: u64) -> (usize, u64) {
        let at = (address as usize) & (self.window_bytes - 1);
        (at, address - at as u64)
    }

    fn is_held(&self, address: u64) -> bool {
        self.held.contains_key(&(self.folded(address).0 / GRANULE_BYTES))
    }

    /// Bytes held at an address of the program; `None` if not all of them are held.
    pub(crate) fn held(&self, address: u64, len: usize) -> Option<&[u8]> {
        let (at, above) = self.folded(address);
        let mut granules = at / GRANULE_BYTES..at.checked_add(len)?.div_ceil(GRANULE_BYTES);
        if !granules.all(|granule| self.held.get(&granule) == Some(&above)) {
            return None;
        }
        // SAFETY: within granules that stay readable; a device may write there until the program
        // has waited for it, after which only a mistake of the program's lets it write.
        Some(unsafe { std::slice::from_raw_parts(self.home(address), len) })
    }

    /// Copies bytes to a piece that `make_writable` has made writable.
    fn put(&mut self, address: u64, bytes: &[u8]) {
        let at = self.home(address).cast_mut();
        // SAFETY: a part of a piece, which lies in writable granules of the window into which no
        // reference exists; `bytes` is memory of a record or a blob.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
    }

    /// Place in the window of an address of the program, whether or not memory was observed there.
    pub fn home(&self, address: u64) -> *const u8 {
        self.region.at(self.start + self.folded(address).0).cast_const()
    }

    fn offset(&self, address: u64) -> Option<usize> {
        let cluster = self.clusters.iter().find(|cluster| address < cluster.end)?;
        let first = self.start + self.folded(cluster.first).0;
        match address.checked_sub(cluster.first) {
            Some(behind) => Some(first + behind as usize),
            None => {
                let before = Some(cluster.first - address).filter(|before| *before <= REACH)?;
                first.checked_sub(before as usize)
            }
        }
    }

    /// Address here for an address of the program. Null stays null; an address where nothing was
    /// observed leads into the void.
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

    /// Number of bytes that can be read from an address of the program on, zeros included.
    pub fn readable_from(&self, address: u64) -> u64 {
        let from = self.offset(address).unwrap_or(self.arena() + self.arena_bytes);
        self.readable.saturating_sub(from) as u64
    }

    /// Copies bytes of the player's own to the arena, aligned to 16 and followed by a zero. Valid
    /// until the command is over.
    pub fn place(&mut self, bytes: &[u8]) -> Result<*const u8, Skip> {
        let start = self.used.next_multiple_of(16);
        let end = start.checked_add(bytes.len() + 1).filter(|end| *end <= self.arena_bytes);
        let Some(end) = end else {
            return Err(Skip::from("it reads more memory than replay takes"));
        };
        self.used = end;
        let at = self.region.at(self.arena() + start);
        // SAFETY: checked to lie in the arena, into which no reference exists.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        // SAFETY: as above: `end` counts one byte more, and is within the arena.
        unsafe { at.wrapping_add(bytes.len()).write(0) };
        Ok(at)
    }

    /// Address from which zeros can be read, as far as any index reaches.
    pub fn void(&self) -> *const u8 {
        self.region.at(self.arena() + self.arena_bytes)
    }

    /// Offset of the arena in the region.
    fn arena(&self) -> usize {
        self.start + self.window_bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::*;

    /// One test at a time: a process may not have addresses for two.
    static TURN: Mutex<()> = Mutex::new(());

    fn memory() -> (MutexGuard<'static, ()>, Memory) {
        let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
        (turn, Memory::new(1 << 20, Unknown::Zeros).unwrap())
    }

    fn read(at: *const u8, len: usize) -> Vec<u8> {
        // SAFETY: tests read what they put into the arena, or the void behind it.
        unsafe { std::slice::from_raw_parts(at, len) }.to_vec()
    }

    #[test]
    fn observations_keep_their_distances() {
        let (_turn, mut memory) = memory();
        let pieces = [(0x7000_0100, Bytes::Record(&[1, 2])), (0x7000_0200, Bytes::Record(&[3]))];
        memory.load(&pieces).unwrap();
        let first = memory.translate(0x7000_0100);
        assert_eq!(read(first, 2), [1, 2]);
        assert_eq!(read(first.wrapping_add(0x100), 1), [3]);
        assert_eq!(memory.translate(0x7000_0180), first.wrapping_add(0x80));
    }

    #[test]
    fn pointer_that_nothing_was_observed_at_leads_into_the_void() {
        let (_turn, mut memory) = memory();
        memory.load(&[(0x7000_0100, Bytes::Record(&[1, 2]))]).unwrap();
        assert!(memory.translate(0).is_null());
        assert_eq!(memory.translate(0x9000_0000_0000), memory.void());
        assert_eq!(read(memory.translate(0x10), 64), [0; 64]);
        assert_eq!(read(memory.translate(u64::MAX), 64), [0; 64]);
    }

    #[test]
    fn array_pointer_may_precede_observed_memory() {
        let (_turn, mut memory) = memory();
        memory.load(&[(0x7000_0000, Bytes::Record(&[5, 6]))]).unwrap();
        let array = memory.translate(0x1000_0000);
        assert_eq!(read(array.wrapping_add(0x6000_0000), 2), [5, 6]);
        assert!(memory.readable_from(0x1000_0000) > memory.window_bytes as u64);
    }

    #[test]
    fn observations_of_one_address_are_those_of_the_slot() {
        let (_turn, mut memory) = memory();
        memory
            .load(&[(0x1000, Bytes::Record(&[1, 2])), (0x1000, Bytes::Record(&[9, 9, 3]))])
            .unwrap();
        assert_eq!(read(memory.translate(0x1000), 3), [1, 2, 3]);
    }

    #[test]
    fn address_stays_where_it_is_from_command_to_command() {
        let (_turn, mut memory) = memory();
        memory.load(&[(0x5555_0000_0100, Bytes::Record(&[1]))]).unwrap();
        let before = memory.translate(0x5555_0000_0100);
        memory.reset();
        let both =
            [(0x7FFF_0000_0000, Bytes::Record(&[3])), (0x5555_0000_0100, Bytes::Record(&[2]))];
        memory.load(&both).unwrap();
        assert_eq!(memory.translate(0x5555_0000_0100), before);
        assert_eq!(memory.home(0x5555_0000_0100), before);
        assert_eq!(
            (read(before, 1), read(memory.translate(0x7FFF_0000_0000), 1)),
            (vec![2], vec![3])
        );
    }

    #[test]
    fn addresses_that_are_one_place_are_told_apart_or_skipped() {
        let (_turn, mut memory) = memory();
        let far = 0x1000 + Plan::LARGEST.window as u64;
        let pieces = [(0x1000, Bytes::Record(&[1])), (far, Bytes::Record(&[1]))];
        assert!(memory.load(&pieces).is_err());
        memory.reset();
        memory.load(&[(0x1000, Bytes::Record(&[1])), (far + 2, Bytes::Record(&[2]))]).unwrap();
        memory.reset();
        let over = [(Plan::LARGEST.window as u64 - 1, Bytes::Record(&[1, 2]))];
        assert!(memory.load(&over).is_err());
    }

    #[test]
    fn window_that_was_written_in_many_places_is_released() {
        let (_turn, mut memory) = memory();
        for granule in 0..2 * KEPT_GRANULES as u64 {
            memory.reset();
            memory.load(&[(granule * GRANULE_BYTES as u64, Bytes::Record(&[7]))]).unwrap();
        }
        assert!(memory.writable.len() <= KEPT_GRANULES + 1);
        assert_eq!(read(memory.home(0), 1), [0]);
    }

    #[test]
    fn held_memory_survives_the_release_of_the_window() {
        let (_turn, mut memory) = memory();
        memory.hold(0x7000_0000_0100, 2).unwrap();
        memory.load(&[(0x7000_0000_0100, Bytes::Record(&[4, 5]))]).unwrap();
        for granule in 1..2 * KEPT_GRANULES as u64 {
            memory.reset();
            memory.load(&[(granule * GRANULE_BYTES as u64, Bytes::Record(&[7]))]).unwrap();
        }
        assert_eq!(memory.held(0x7000_0000_0100, 2), Some(&[4u8, 5][..]));
        assert_eq!(memory.held(0x7100_0000_0100, 2), None);
        assert!(memory.hold(0x7000_0000_0100 + Plan::LARGEST.window as u64, 1).is_err());
        assert!(memory.hold(u64::MAX, 2).is_err());
        assert!(memory.hold(0x1000, 2 << 20).is_err());
    }

    #[test]
    fn held_memory_is_not_overwritten_by_one_commands_memory() {
        let (_turn, mut memory) = memory();
        memory.hold(0x7000_0000_0100, 2).unwrap();
        memory.load(&[(0x7000_0000_0100, Bytes::Record(&[4, 5]))]).unwrap();
        memory.reset();
        // No zero behind a text where something else is.
        memory.load(&[(0x7000_0000_00FE, Bytes::Record(&[1, 2]))]).unwrap();
        assert_eq!(memory.held(0x7000_0000_00FE, 4), Some(&[1u8, 2, 4, 5][..]));
        memory.reset();
        let folded = 0x7000_0000_0200 + Plan::LARGEST.window as u64;
        assert!(memory.load(&[(folded, Bytes::Record(&[7]))]).is_err());
    }

    #[test]
    fn more_than_the_arena_holds_is_skipped() {
        let (_turn, mut memory) = memory();
        let many = vec![7; 1 << 20];
        assert!(memory.load(&[(0x1000, Bytes::Record(&many))]).is_err());
        memory.reset();
        assert!(memory.load(&[(u64::MAX, Bytes::Record(&[1]))]).is_err());
        memory.reset();
        let scattered: Vec<_> = (0..64)
            .map(|at| (at * GRANULE_BYTES as u64 * 2 - at, Bytes::Record(&[1, 2])))
            .collect();
        assert!(memory.load(&scattered).is_err());
        assert!(memory.place(&many).is_err());
    }
}
