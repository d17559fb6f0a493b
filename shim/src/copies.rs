//! Memory for the copies of a snapshot. The kernel needs as long to make new memory as a copy takes, so a thread of the
//! shim's own (`populate`) has it made in huge pages, ahead of the copies. While a region is open, all large allocations
//! of the shim (`LARGE_BYTES`, 64 KiB, or more) come from it. One that is freed gives its pages back at once; the region is
//! unmapped when it is closed and all of them are freed. A forked child does not have it.
//!
//! There is one region at a time. The states of [`Region::state`], which only these functions change:
//!
//! | state | meaning | entered from | by |
//! |---|---|---|---|
//! | `CLOSED` | there is none | `CLOSING` | whoever counts the last user out |
//! | `OPENING` | it is being mapped | `CLOSED` | [`Region::open`] |
//! | `OPEN` | allocations come from it | `OPENING` | [`Region::open`] |
//! | `CLOSING` | it is used, and gives nothing any more | `OPEN` | [`Region::close`] |

use core::alloc::Layout;
use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicU32, AtomicUsize};
use std::time::Duration;

/// Smaller allocations come from the heap.
const LARGE_BYTES: usize = 64 << 10;
/// Bytes of a huge page.
const HUGE_BYTES: usize = 2 << 20;
/// The kernel is asked for as much as was taken so far, and at most for this much ahead.
const AHEAD_BYTES: usize = 64 << 20;
/// How often the thread that asks looks whether more was taken.
const LOOK_AGAIN: Duration = Duration::from_micros(50);
const PAGE_BYTES: usize = 4096;

const CLOSED: u32 = 0;
const OPENING: u32 = 1;
const OPEN: u32 = 2;
const CLOSING: u32 = 3;

/// The region of this process.
pub static COPIES: Region = Region {
    state: AtomicU32::new(CLOSED),
    begin: AtomicUsize::new(0),
    end: AtomicUsize::new(0),
    next: AtomicUsize::new(0),
    users: AtomicUsize::new(0),
};

/// A range of the shim's own memory that is given out from the beginning to the end, once.
pub struct Region {
    state: AtomicU32,
    /// Addresses. Both are 0 while there is no region.
    begin: AtomicUsize,
    end: AtomicUsize,
    /// Address of the first byte that was not given out.
    next: AtomicUsize,
    /// Allocations that live, and one for the region as long as it is open.
    users: AtomicUsize,
}

impl Region {
    /// Maps a region of `bytes` bytes, or somewhat less, of which none takes memory so far. Does nothing if there is one, or
    /// no address space. Returns whether the caller must close it.
    pub fn open(&self, bytes: usize) -> bool {
        let bytes = bytes & !(HUGE_BYTES - 1);
        // COPIES: pairs with the release in `leave`, so that the former region is unmapped.
        if self.state.compare_exchange(CLOSED, OPENING, Acquire, Relaxed).is_err() {
            return false;
        }
        let Some(begin) = map(bytes) else {
            // COPIES: as in `leave`.
            self.state.store(CLOSED, Release);
            return false;
        };
        // Relaxed, all: the release below orders them.
        self.begin.store(begin, Relaxed);
        self.end.store(begin + bytes, Relaxed);
        self.next.store(begin, Relaxed);
        self.users.store(1, Relaxed);
        // COPIES: pairs with the acquire in `take`.
        self.state.store(OPEN, Release);
        true
    }

    /// Gives nothing out any more. After [`Self::open`] has returned true.
    pub fn close(&self) {
        // Relaxed: an allocation that comes meanwhile is one user more.
        self.state.store(CLOSING, Relaxed);
        self.leave();
    }

    /// Has the kernel make memory ahead of what is given out, until the region is closed.
    pub fn populate(&self) {
        let mut made = 0;
        while self.enter() {
            // Relaxed, all: ordered by `enter`. If this is a later region, the kernel makes some memory of it in vain.
            let [begin, end, next] =
                [&self.begin, &self.end, &self.next].map(|word| word.load(Relaxed));
            let wanted = (next - begin).clamp(HUGE_BYTES, AHEAD_BYTES) + next;
            made = made.clamp(next & !(HUGE_BYTES - 1), end);
            if made < wanted.min(end) {
                advise(made, HUGE_BYTES.min(end - made), libc::MADV_POPULATE_WRITE);
                made += HUGE_BYTES;
                self.leave();
            } else {
                self.leave();
                std::thread::sleep(LOOK_AGAIN);
            }
        }
    }

    /// Returns zeros for a large allocation. `None`: it comes from the heap.
    #[inline]
    pub fn take(&self, layout: Layout) -> Option<*mut u8> {
        if layout.size() < LARGE_BYTES || layout.align() > PAGE_BYTES || !self.enter() {
            return None;
        }
        let bytes = layout.size().next_multiple_of(PAGE_BYTES);
        let end = self.end.load(Relaxed);
        let after = |next: usize| next.checked_add(bytes).filter(|after| *after <= end);
        // Relaxed: each caller gets another range.
        match self.next.fetch_update(Relaxed, Relaxed, after) {
            Ok(at) => Some(ptr::with_exposed_provenance_mut(at)),
            Err(_) => {
                self.leave();
                None
            }
        }
    }

    /// Whether an allocation came from the region.
    #[inline]
    pub fn has(&self, at: *mut u8) -> bool {
        // Relaxed: an allocation of the region is freed by a thread that knows of the region by it.
        let (begin, end) = (self.begin.load(Relaxed), self.end.load(Relaxed));
        (begin..end).contains(&at.addr())
    }

    /// Frees an allocation that came from the region.
    ///
    /// # Safety
    /// `at` came from [`Self::take`] with this layout, and nothing uses it any more.
    pub unsafe fn free(&self, at: *mut u8, layout: Layout) {
        // Relaxed: in a forked child, where there are none.
        if self.users.load(Relaxed) == 0 {
            return;
        }
        advise(at.addr(), layout.size().next_multiple_of(PAGE_BYTES), libc::MADV_DONTNEED);
        self.leave();
    }

    /// For a forked child, in which the region is zeros that stay mapped.
    pub fn forget(&self) {
        // Relaxed, both: the child's only thread.
        self.users.store(0, Relaxed);
        self.state.store(CLOSED, Relaxed);
    }

    /// Counts a user in. Returns false if the region is not open.
    fn enter(&self) -> bool {
        // COPIES: pairs with the release in `open`.
        if self.state.load(Acquire) != OPEN {
            return false;
        }
        let one_more = |users: usize| (users > 0).then_some(users + 1);
        // Relaxed: the region cannot be unmapped from here on.
        self.users.fetch_update(Relaxed, Relaxed, one_more).is_ok()
    }

    /// Counts a user out. The last one unmaps the region.
    fn leave(&self) {
        // COPIES: what the users have done comes before the region is unmapped.
        if self.users.fetch_sub(1, AcqRel) > 1 {
            return;
        }
        let (begin, end) = (self.begin.swap(0, Relaxed), self.end.swap(0, Relaxed));
        unmap(begin, end - begin);
        // COPIES: pairs with the acquire in `open`.
        self.state.store(CLOSED, Release);
    }
}

/// Maps memory for huge pages, which a forked child gets as zeros. Returns its address.
fn map(bytes: usize) -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    let whole = bytes.checked_add(HUGE_BYTES).filter(|_| bytes > 0)?;
    // SAFETY: a new mapping of our own.
    let at = unsafe { libc::mmap(ptr::null_mut(), whole, protection, flags, -1, 0) };
    if at == libc::MAP_FAILED {
        return None;
    }
    let begin = at.expose_provenance();
    let at = begin.next_multiple_of(HUGE_BYTES);
    unmap(begin, at - begin);
    unmap(at + bytes, begin + HUGE_BYTES - at);
    advise(at, bytes, libc::MADV_WIPEONFORK);
    advise(at, bytes, libc::MADV_HUGEPAGE);
    Some(at)
}

/// Unmaps pages that [`map`] mapped and nobody uses.
fn unmap(at: usize, bytes: usize) {
    if bytes > 0 {
        // SAFETY: as the caller says.
        unsafe { libc::munmap(ptr::with_exposed_provenance_mut(at), bytes) };
    }
}

/// Advises the kernel about pages of the region. What it refuses is slower, or given back later.
fn advise(at: usize, bytes: usize, advice: libc::c_int) {
    // SAFETY: pages of the region that no allocation has, or that one has whose bytes nobody needs, or advice that
    // changes no byte.
    unsafe { libc::madvise(ptr::with_exposed_provenance_mut(at), bytes, advice) };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region() -> Region {
        let word = || AtomicUsize::new(0);
        let state = AtomicU32::new(CLOSED);
        Region { state, begin: word(), end: word(), next: word(), users: word() }
    }

    fn large(bytes: usize) -> Layout {
        Layout::from_size_align(bytes, 1).unwrap()
    }

    #[test]
    fn large_allocations_come_from_an_open_region_until_it_is_full() {
        let region = region();
        assert!(region.take(large(LARGE_BYTES)).is_none(), "it is closed");
        assert!(region.open(4 * HUGE_BYTES));
        assert!(!region.open(HUGE_BYTES), "there is one");
        assert!(region.take(large(LARGE_BYTES - 1)).is_none(), "too small");
        let taken = [3, 1].map(|huge| region.take(large(huge * HUGE_BYTES)).unwrap());
        assert!(region.take(large(LARGE_BYTES)).is_none(), "full");
        for (at, mark) in taken.into_iter().zip([1, 2]) {
            assert!(region.has(at));
            // SAFETY: as many bytes are the test's.
            let bytes = unsafe { core::slice::from_raw_parts_mut(at, HUGE_BYTES) };
            assert!(bytes.iter().all(|byte| *byte == 0));
            bytes.fill(mark);
        }
        region.close();
        assert!(region.take(large(LARGE_BYTES)).is_none(), "closed again");
        // SAFETY: taken with this layout.
        unsafe { region.free(taken[0], large(3 * HUGE_BYTES)) };
        // SAFETY: as above, and not freed.
        assert_eq!(unsafe { *taken[1] }, 2, "the other one lives");
        // SAFETY: taken with this layout.
        unsafe { region.free(taken[1], large(HUGE_BYTES)) };
        assert!(!region.has(taken[0]) && region.state.load(Relaxed) == CLOSED);
        assert!(region.open(HUGE_BYTES), "the next one");
        region.close();
    }

    #[test]
    fn memory_is_made_ahead_while_threads_take_and_free() {
        const EACH: usize = 64;
        let region = region();
        assert!(region.open(2 * EACH * LARGE_BYTES));
        let work = |mark: u8| {
            for _ in 0..EACH {
                let at = region.take(large(LARGE_BYTES)).unwrap();
                // SAFETY: as many bytes are this thread's.
                let bytes = unsafe { core::slice::from_raw_parts_mut(at, LARGE_BYTES) };
                bytes.fill(mark);
                assert!(bytes.iter().all(|byte| *byte == mark));
                // SAFETY: taken with this layout.
                unsafe { region.free(at, large(LARGE_BYTES)) };
            }
        };
        std::thread::scope(|scope| {
            scope.spawn(|| region.populate());
            let workers = [1, 2].map(|mark| scope.spawn(move || work(mark)));
            workers.into_iter().for_each(|worker| worker.join().unwrap());
            region.close();
        });
        assert_eq!(region.state.load(Relaxed), CLOSED);
    }
}
