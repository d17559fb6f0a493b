//! Memory of the shim's own that the kernel turns into zeros in a forked child.

use core::ptr::{self, NonNull};

/// Maps `bytes` zeros. `None`: there is no memory, or the kernel can't wipe it.
///
/// Pages that are never touched take no room.
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
        // SAFETY: as above; nobody knows of it.
        unsafe { libc::munmap(memory, bytes) };
        return None;
    }
    NonNull::new(memory.cast())
}

/// Gives memory back.
///
/// # Safety
/// [`map`] gave it with this size, and nobody uses it any more.
pub unsafe fn unmap(memory: *mut u8, bytes: usize) {
    // SAFETY: the caller says so.
    unsafe { libc::munmap(memory.cast(), bytes) };
}
