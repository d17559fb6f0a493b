//! The shim's own memory that the kernel turns into zeros in a forked child.

use core::ptr::{self, NonNull};

/// Maps `bytes` zeros. `None` if there is no memory, or if the kernel cannot wipe it on `fork`.
///
/// Pages that are never touched take no memory.
pub fn map(bytes: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new mapping of our own.
    let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return None;
    }
    // SAFETY: the whole mapping just made.
    if unsafe { libc::madvise(memory, bytes, libc::MADV_WIPEONFORK) } != 0 {
        // SAFETY: as above; no pointer to it was given out.
        unsafe { libc::munmap(memory, bytes) };
        return None;
    }
    NonNull::new(memory.cast())
}

/// Unmaps memory.
///
/// # Safety
/// `memory` came from [`map`] with this size, and nothing uses it any more.
pub unsafe fn unmap(memory: *mut u8, bytes: usize) {
    // SAFETY: passed on.
    unsafe { libc::munmap(memory.cast(), bytes) };
}
