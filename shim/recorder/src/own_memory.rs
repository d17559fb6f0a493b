//! The shim's own memory that the kernel turns into zeros in a forked child (`MADV_WIPEONFORK`). A kernel that cannot
//! do so gives no memory, and the process does not connect.

use core::ptr::{self, NonNull};

/// Maps `bytes` zeros, aligned to pages. `None` if there is no memory, or if the kernel cannot wipe it on `fork`.
///
/// Pages that are never touched take no memory.
pub fn map(bytes: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | NO_RESERVE;
    // SAFETY: a new mapping of our own.
    let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    if !wipe_on_fork(memory, bytes) {
        // SAFETY: as above; no pointer to it was given out.
        unsafe { libc::munmap(memory, bytes) };
        return None;
    }
    NonNull::new(memory.cast())
}

/// Pages that are never touched do not count against the system's limit.
const NO_RESERVE: libc::c_int = if cfg!(miri) { 0 } else { libc::MAP_NORESERVE };

/// Asks the kernel to fill a whole mapping with zeros in a forked child. Miri has no `fork`.
fn wipe_on_fork(memory: *mut libc::c_void, bytes: usize) -> bool {
    // SAFETY: the caller's own mapping.
    cfg!(miri) || unsafe { libc::madvise(memory, bytes, libc::MADV_WIPEONFORK) } == 0
}

/// Unmaps memory.
///
/// # Safety
/// `memory` came from [`map`] with this size, and nothing uses it any more.
pub unsafe fn unmap(memory: *mut u8, bytes: usize) {
    // SAFETY: passed on.
    unsafe { libc::munmap(memory.cast(), bytes) };
}
