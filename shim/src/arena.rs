//! The shim's own heap, which serves all Rust allocations of this library. The shim never calls the program's `malloc`:
//! the program may have replaced it, may be inside it, or may count its calls. One lock is held for one allocation and
//! never across a call of the program or the driver. While a snapshot copies contents, large allocations come from
//! `copies.rs`. A `fork` takes the lock, so that the child finds the heap whole.
//! It gives up after `FORK_WAIT` (100 ms), as when a signal handler forks in the middle of an allocation; then the
//! child starts an empty heap and never reuses memory that it frees.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::UnsafeCell;
use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::time::{Duration, Instant};

use crossbeam_utils::Backoff;
use dlmalloc::Dlmalloc;

use crate::copies::COPIES;

#[cfg_attr(not(test), global_allocator)]
static ARENA: Arena = Arena {
    taken: AtomicBool::new(false),
    heap: UnsafeCell::new(Dlmalloc::new()),
    is_left_over: AtomicBool::new(false),
};

/// The longest wait of a `fork` for the heap. It is reached only if the fork comes from a signal handler that has
/// interrupted an allocation of its own thread.
const FORK_WAIT: Duration = Duration::from_millis(100);

struct Arena {
    taken: AtomicBool,
    heap: UnsafeCell<Dlmalloc>,
    /// Set in a forked child that started a new heap because the parent's was in the middle of a change. Memory that
    /// is freed may belong to the old heap, so it is not reused.
    is_left_over: AtomicBool,
}

// SAFETY: the heap is used by the thread that has set `taken`, and by no other.
unsafe impl Sync for Arena {}

impl Arena {
    fn with<R>(&self, act: impl FnOnce(&mut Dlmalloc) -> R) -> R {
        let backoff = Backoff::new();
        // HEAP: pairs with the release below.
        while self.taken.swap(true, Acquire) {
            backoff.snooze();
        }
        // SAFETY: `taken` was ours to set.
        let result = act(unsafe { &mut *self.heap.get() });
        // HEAP: pairs with the acquire above.
        self.taken.store(false, Release);
        result
    }

    fn take_for_fork(&self) -> bool {
        let (backoff, started) = (Backoff::new(), Instant::now());
        // HEAP: as in `with`.
        while self.taken.swap(true, Acquire) {
            if started.elapsed() > FORK_WAIT {
                return false;
            }
            backoff.snooze();
        }
        true
    }
}

// SAFETY: dlmalloc gives memory of the size and alignment asked for, to one caller at a time.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if let Some(at) = COPIES.take(layout) {
            return at;
        }
        // SAFETY: the layout is one that the caller may ask for.
        self.with(|heap| unsafe { heap.malloc(layout.size(), layout.align()) })
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if let Some(at) = COPIES.take(layout) {
            return at;
        }
        // SAFETY: as for `alloc`.
        self.with(|heap| unsafe { heap.calloc(layout.size(), layout.align()) })
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        if COPIES.has(at) {
            // SAFETY: as the caller says.
            return unsafe { COPIES.free(at, layout) };
        }
        // Relaxed: set before the child has a second thread.
        if self.is_left_over.load(Relaxed) {
            return;
        }
        // SAFETY: `at` came from this heap with this layout, as the caller says.
        self.with(|heap| unsafe { heap.free(at, layout.size(), layout.align()) });
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        // Relaxed: as above.
        if !self.is_left_over.load(Relaxed) && !COPIES.has(at) {
            // SAFETY: `at` came from this heap with this layout, as the caller says.
            return self
                .with(|heap| unsafe { heap.realloc(at, layout.size(), layout.align(), new_size) });
        }
        // SAFETY: the alignment was valid, and the caller says that the new size is.
        let wanted = unsafe { Layout::from_size_align_unchecked(new_size, layout.align()) };
        // SAFETY: as for `alloc`.
        let moved = unsafe { self.alloc(wanted) };
        if !moved.is_null() {
            #[expect(clippy::disallowed_methods, reason = "both ranges are the heap's")]
            // SAFETY: both hold as many bytes, and the new memory overlaps nothing.
            unsafe {
                ptr::copy_nonoverlapping(at, moved, layout.size().min(new_size))
            };
            // SAFETY: `at` has this layout, as the caller says, and its bytes have moved.
            unsafe { self.dealloc(at, layout) };
        }
        moved
    }
}

/// Has every `fork` of the C library find the heap whole. Once a process.
pub fn guard_forks() {
    // SAFETY: the handlers take and give back a lock, and stay mapped: a library that is unloaded
    // takes its handlers with it.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

/// The thread that holds the heap for its `fork`; 0: none does.
static FORKING: AtomicUsize = AtomicUsize::new(0);

/// Returns a number that is never 0, and the same in a forked child as in the parent.
fn this_thread() -> usize {
    // SAFETY: has no failure.
    unsafe { libc::pthread_self() as usize }
}

extern "C" fn before() {
    if ARENA.take_for_fork() {
        // Relaxed: compared by the same thread, or by the child's only one.
        FORKING.store(this_thread(), Relaxed);
    }
}

extern "C" fn in_parent() {
    // Relaxed: as above.
    if FORKING.load(Relaxed) == this_thread() {
        FORKING.store(0, Relaxed);
        ARENA.taken.store(false, Release);
    }
}

extern "C" fn in_child() {
    // Relaxed: this is the child's only thread.
    if FORKING.swap(0, Relaxed) != this_thread() {
        // SAFETY: the child's only thread; the thread that held the heap is not in this process.
        unsafe { ARENA.heap.get().write(Dlmalloc::new()) };
        // Relaxed: as above.
        ARENA.is_left_over.store(true, Relaxed);
    }
    ARENA.taken.store(false, Release);
    COPIES.forget();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Allocates, writes, grows and frees in four threads at once.
    #[test]
    fn heap_keeps_the_threads_apart() {
        let work = |mark: u8| {
            for size in (1..400).cycle().take(20_000) {
                let layout = Layout::from_size_align(size, 16).unwrap();
                // SAFETY: the layout has a size.
                let at = unsafe { ARENA.alloc(layout) };
                assert!(!at.is_null() && (at as usize).is_multiple_of(16));
                // SAFETY: `size` bytes were allocated.
                unsafe { at.write_bytes(mark, size) };
                // SAFETY: allocated above with this layout.
                let at = unsafe { ARENA.realloc(at, layout, size * 2) };
                // SAFETY: the first `size` bytes were written before the memory moved.
                let seen = unsafe { core::slice::from_raw_parts(at, size) };
                assert!(seen.iter().all(|byte| *byte == mark));
                let grown = Layout::from_size_align(size * 2, 16).unwrap();
                // SAFETY: reallocated to this layout.
                unsafe { ARENA.dealloc(at, grown) };
            }
        };
        std::thread::scope(|scope| {
            for mark in 1..=4 {
                scope.spawn(move || work(mark));
            }
        });
    }
}
