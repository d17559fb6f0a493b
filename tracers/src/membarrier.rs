//! A sequentially consistent fence in two halves: the half that every call passes costs nothing where
//! the kernel puts the barrier there, when the other half asks for it.
//!
//! A thread that calls is at one place of its order when the kernel's barrier reaches it. What it did
//! before is seen by whoever asked, and what it does afterwards sees what was done before asking.

use std::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};
use std::thread;
use std::time::Duration;

/// How long is waited where the kernel no longer helps.
const FOR_SURE: Duration = Duration::from_millis(10);

/// The kernel knows of this process' wish.
static IS_REGISTERED: AtomicBool = AtomicBool::new(false);

/// The half of threads that call.
#[inline]
pub fn frequent_fence() {
    // Relaxed: who finds it not set makes a full fence, which is right at all times.
    if IS_REGISTERED.load(Ordering::Relaxed) {
        compiler_fence(Ordering::SeqCst);
    } else {
        fence(Ordering::SeqCst);
    }
}

/// The other half, of one thread at a time.
pub fn rare_fence() {
    if !IS_REGISTERED.load(Ordering::Relaxed) {
        // From the next fence on: who made this one in full is met by the ones below.
        let registered = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        IS_REGISTERED.store(registered, Ordering::Relaxed);
    }
    fence(Ordering::SeqCst);
    let asked = IS_REGISTERED.load(Ordering::Relaxed);
    if asked && !membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED) {
        // A filter of system calls came since. No store stays in a processor's buffer for so long, and
        // who is interrupted before it is out passes a barrier then.
        IS_REGISTERED.store(false, Ordering::Relaxed);
        thread::sleep(FOR_SURE);
    }
    fence(Ordering::SeqCst);
}

fn membarrier(command: i32) -> bool {
    // SAFETY: takes no memory of ours.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}
