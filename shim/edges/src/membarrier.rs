//! The half of a fence that pays for both: the kernel executes a memory barrier in every thread of the process. Without
//! `membarrier` in the kernel, and in a program that has confined itself, there is no barrier, and the
//! caller does not look at other threads' gates.
//!
//! Another thread is at one place of its order when the barrier reaches it. What it stored before that place
//! is visible to the caller afterwards; what it loads after that place shows what the caller stored before.

/// Set once the process is registered: [`barrier_in_all_threads`] works.
#[cfg(not(loom))]
static IS_REGISTERED: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// Registers the process for [`barrier_in_all_threads`], which then takes microseconds. Idempotent.
#[cfg(not(loom))]
pub fn register_barrier() {
    let is_registered = membarrier(libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    // Relaxed: a thread that misses it executes a fence of its own.
    IS_REGISTERED.store(is_registered, core::sync::atomic::Ordering::Relaxed);
}

/// The half of a fence that a frequent command passes where the other half cannot do without a barrier: it only keeps
/// the compiler from reordering if [`barrier_in_all_threads`] works, and is a full fence otherwise.
#[cfg(not(loom))]
#[inline(always)]
pub fn frequent_fence_or_full() {
    // Relaxed: once registered, the process stays so.
    if IS_REGISTERED.load(core::sync::atomic::Ordering::Relaxed) {
        crate::sync::frequent_fence();
    } else {
        full_fence();
    }
}

#[cfg(not(loom))]
#[cold]
fn full_fence() {
    crate::sync::fence(crate::sync::Ordering::SeqCst);
}

/// Models have a full fence on both sides.
#[cfg(loom)]
pub fn frequent_fence_or_full() {
    crate::sync::frequent_fence();
}

/// Executes a full barrier in every thread of the process. False, and no barrier, if the kernel has no
/// `membarrier`, if the process is not registered, or if it has [confined](crate::is_confined) itself.
#[cfg(not(loom))]
pub fn barrier_in_all_threads() -> bool {
    membarrier(libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED)
}

#[cfg(not(loom))]
fn membarrier(command: i32) -> bool {
    // SAFETY: takes no memory.
    !crate::is_confined() && unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) == 0 }
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
