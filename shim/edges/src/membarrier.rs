//! The half of a fence that pays for both: the kernel executes a memory barrier in every thread of the process. Without
//! `membarrier` in the kernel there is no barrier, and the caller does not look at other threads' gates.
//!
//! Another thread is at one place of its order when the barrier reaches it. What it stored before that place
//! is visible to the caller afterwards; what it loads after that place shows what the caller stored before.

/// Registers the process for [`barrier_in_all_threads`], which then takes microseconds. Idempotent.
#[cfg(not(loom))]
pub fn register_barrier() {
    membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
}

/// Executes a full barrier in every thread of the process. False, and no barrier, if the kernel has no
/// `membarrier` or the process is not registered.
#[cfg(not(loom))]
pub fn barrier_in_all_threads() -> bool {
    membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

#[cfg(not(loom))]
fn membarrier(command: i32) -> bool {
    // SAFETY: takes no memory.
    unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
}

/// Models need no registration.
#[cfg(loom)]
pub fn register_barrier() {}

/// Models have a full fence on both sides: loom does not know `membarrier`.
#[cfg(loom)]
pub fn barrier_in_all_threads() -> bool {
    crate::sync::fence(crate::sync::Ordering::SeqCst);
    true
}
