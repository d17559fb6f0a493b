//! Questions to the kernel about the program's memory. Each call changes `errno`.

use core::ptr;

use super::PAGE_BYTES;
use crate::errno::errno;

/// Has the kernel read every page of `len` bytes at `address`. True if all could be read. False if not, or if the kernel
/// is too old, a sandbox forbids it, or the memory is a device's.
pub(super) fn populate(address: u64, len: u64) -> bool {
    let start = address & !(PAGE_BYTES - 1);
    let bytes = address - start + len;
    // SAFETY: changes no content and no right of access.
    let result = unsafe {
        libc::madvise(start as *mut libc::c_void, bytes as usize, libc::MADV_POPULATE_READ)
    };
    result == 0
}

/// Whether the page at address `page` is readable. Makes a system call that reads a word of the page and is then
/// refused.
pub(super) fn is_page_readable(page: u64) -> bool {
    /// No valid way to change a signal mask.
    const NONSENSE: libc::c_int = -1;
    /// Size of the kernel's signal mask in bytes.
    const MASK_BYTES: usize = 8;
    let null = ptr::null_mut::<libc::c_void>();
    // SAFETY: changes nothing, because the kernel refuses the first argument after it has read the second.
    let refused =
        unsafe { libc::syscall(libc::SYS_rt_sigprocmask, NONSENSE, page, null, MASK_BYTES) };
    refused == -1 && errno() == libc::EINVAL
}

/// Returns the address behind the program's heap.
pub(super) fn heap_end() -> u64 {
    // SAFETY: moves nothing.
    unsafe { libc::sbrk(0) as u64 }
}
