//! An asymmetric sequentially consistent fence on top of `membarrier(2)`. Without it every traced call executes a full
//! fence. If it stops working, as in a program that has confined itself by a seccomp filter, the rare side sleeps for 10 ms once (`FOR_SURE`) and full
//! fences are used from then on.
//!
//! The frequent half, which every traced call executes, is only a compiler fence. The rare half asks the kernel to
//! execute a barrier in all running threads of the process. When that barrier interrupts a thread, everything that
//! the thread did before is visible to the rare half's caller, and everything that it does afterwards sees what the
//! caller did before.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
use std::thread;
use std::time::Duration;

/// Duration of the sleep that replaces the kernel's barrier if `membarrier` starts to fail.
const FOR_SURE: Duration = Duration::from_millis(10);

/// Whether the process is registered for expedited private barriers.
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// The frequent half of the fence, executed by each traced call.
#[inline]
pub fn frequent_fence() {
    // Relaxed: a thread that sees it unset executes a full fence, which is always correct.
    if IS_REGISTERED.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The rare half of the fence. Called by one thread at a time.
pub fn rare_fence() {
    if !IS_REGISTERED.load(Ordering::Relaxed) {
        // Applies from the next fence on: threads that executed a full fence so far pair with the fences below.
        let registered = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        IS_REGISTERED.store(registered, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
    let asked = IS_REGISTERED.load(Ordering::Relaxed);
    if asked && !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
        // The program has confined itself since. No store stays in a processor's store buffer for 10 ms, and a thread
        // that is interrupted meanwhile executes a barrier.
        IS_REGISTERED.store(false, Ordering::Relaxed);
        thread::sleep(FOR_SURE);
    }
    fence(Ordering::SeqCst);
}

fn membarrier(command: i32) -> bool {
    // SAFETY: the system call accesses no memory of this process.
    !gapii_edges::is_confined()
        && unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
