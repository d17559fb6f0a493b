//! `Plan`: how many addresses the memory that the driver reads may take: 57 TiB where the process has them, or the largest
//! half, quarter and so on that it has, down to 13 GiB ([`Plan::SMALLEST`] and an arena of 1 GiB). An eighth of what is
//! reserved must be left for the driver.
//!
//! A reservation takes no memory. Only emulators such as qemu-user can keep a table with an entry for each page; the least
//! is reserved there.

use std::io;

use super::region::Region;

/// Sizes of the parts of [`Memory`](super::Memory), in bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Plan {
    /// Readable bytes before the window.
    pub before: usize,
    /// Size of the window, a power of two. Addresses that differ by a multiple of it fold to one place.
    pub window: usize,
    /// Readable bytes behind the arena.
    pub behind: usize,
}

/// A reservation is too dear if it takes more than this part of its size as memory.
const DEAR_PART: usize = 1024;

impl Plan {
    /// Bits below the window's size tell the program, its heap and its libraries apart. The voids have room for a signed or
    /// unsigned 32-bit index times the largest stride, and as much again for a base vertex.
    pub(crate) const LARGEST: Self = Self { before: 16 << 40, window: 8 << 40, behind: 32 << 40 };
    /// The voids have room for a 32-bit index of bytes.
    pub(crate) const SMALLEST: Self = Self { before: 4 << 30, window: 4 << 30, behind: 4 << 30 };

    /// All plans, the largest first.
    fn all() -> impl Iterator<Item = Self> {
        let half = |Self { before, window, behind }: &Self| {
            let half = Self { before: before / 2, window: window / 2, behind: behind / 2 };
            (half.window >= Self::SMALLEST.window).then_some(half)
        };
        std::iter::successors(Some(Self::LARGEST), half).chain([Self::SMALLEST])
    }

    /// Number of bytes from the beginning on that may be read, with an arena of `arena_bytes`.
    pub(crate) fn readable(self, arena_bytes: usize) -> usize {
        self.before + self.window + arena_bytes + self.behind
    }

    /// Reserves the addresses of the largest plan that the process has room for.
    ///
    /// # Errors
    /// If there is no room for the smallest plan.
    pub(crate) fn reserve(arena_bytes: usize) -> io::Result<(Self, Region)> {
        choose(arena_bytes, Region::reserve, resident_bytes)
    }
}

/// Reserves with `reserve` the addresses of the largest plan that fits. `resident` returns the memory that the process
/// uses, in bytes.
fn choose<R>(
    arena_bytes: usize,
    reserve: impl Fn(usize) -> io::Result<R>,
    resident: impl Fn() -> Option<usize>,
) -> io::Result<(Plan, R)> {
    let with_room = |plan: Plan| {
        let bytes = plan.readable(arena_bytes);
        let reserved = reserve(bytes)?;
        // Released at once.
        reserve(bytes / 8)?;
        Ok((plan, reserved))
    };
    let before = resident();
    let least = with_room(Plan::SMALLEST).map_err(|error| too_few(arena_bytes, &error))?;
    let taken = before.zip(resident()).map_or(0, |(before, now)| now.saturating_sub(before));
    if taken > Plan::SMALLEST.readable(arena_bytes) / DEAR_PART {
        return Ok(least);
    }
    drop(least);
    let found = Plan::all().find_map(|plan| with_room(plan).ok());
    found.ok_or_else(|| too_few(arena_bytes, &io::ErrorKind::OutOfMemory.into()))
}

/// The error of a process without addresses for the smallest plan.
fn too_few(arena_bytes: usize, error: &io::Error) -> io::Error {
    let bytes = Plan::SMALLEST.readable(arena_bytes);
    let gib = (bytes + bytes / 8).div_ceil(1 << 30);
    io::Error::new(error.kind(), format!("{gib} GiB of address space are needed: {error}"))
}

/// Memory that this process uses, in bytes, if Linux tells.
fn resident_bytes() -> Option<usize> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = pages.split(' ').nth(1)?.parse().ok()?;
    // SAFETY: reads a number.
    let page_bytes = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.checked_mul(usize::try_from(page_bytes).ok()?)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    const ARENA_BYTES: usize = 1 << 30;

    /// The plan for a process that may reserve `limit` bytes, each reservation of which takes `dear` of its bytes.
    fn chosen(limit: usize, dear: usize) -> io::Result<Plan> {
        struct Reserved<'a>(&'a Cell<usize>, usize);
        impl Drop for Reserved<'_> {
            fn drop(&mut self) {
                self.0.set(self.0.get() - self.1);
            }
        }
        let reserved = Cell::new(0);
        let reserve = |bytes| {
            if reserved.get() + bytes > limit {
                return Err(io::Error::from_raw_os_error(libc::ENOMEM));
            }
            reserved.set(reserved.get() + bytes);
            Ok(Reserved(&reserved, bytes))
        };
        let resident = || Some(reserved.get() * dear);
        choose(ARENA_BYTES, reserve, resident).map(|(plan, _)| plan)
    }

    #[test]
    fn plan_is_the_largest_that_leaves_an_eighth() {
        let check = |limit: usize, expected: Plan| {
            let plan = chosen(limit, 0).unwrap();
            assert_eq!(plan, expected, "{limit}");
            assert!(plan.window.is_power_of_two());
            assert!(plan.readable(ARENA_BYTES) / 8 * 9 <= limit);
        };
        let halved = |times: u32| Plan {
            before: Plan::LARGEST.before >> times,
            window: Plan::LARGEST.window >> times,
            behind: Plan::LARGEST.behind >> times,
        };
        check(usize::MAX / 2, Plan::LARGEST);
        check(64 << 40, Plan::LARGEST);
        check(60 << 40, halved(1));
        // 39 bits for addresses, as some kernels for arm64 have.
        check(1 << 39, halved(7));
        check(33 << 30, halved(11));
        check(32 << 30, Plan::SMALLEST);
        check(15 << 30, Plan::SMALLEST);
    }

    #[test]
    fn reservation_that_takes_memory_is_the_smallest() {
        assert_eq!(chosen(usize::MAX / 2, 1).unwrap(), Plan::SMALLEST);
    }

    #[test]
    fn process_without_room_is_told_how_much_it_needs() {
        let error = chosen(14 << 30, 0).unwrap_err().to_string();
        assert!(error.starts_with("15 GiB of address space are needed: "), "{error}");
    }

    #[test]
    fn this_process_has_room_for_a_plan_and_a_reservation_takes_no_memory() {
        let before = resident_bytes().unwrap();
        assert!(before > 0);
        let (plan, _region) = Plan::reserve(ARENA_BYTES).unwrap();
        assert!(Plan::all().any(|known| known == plan));
    }
}
