//! Reads the program's memory where it may be unreadable: the answer is then "no" instead of a signal. For less than 1
//! KiB (`KERNEL_MIN_BYTES`), the pages are looked up first ([`pages`](super::pages)). Larger memory is copied by the
//! kernel, with `process_vm_readv` on this very process, or page by page where the kernel cannot copy it but loads can
//! read it. Where a sandbox or an old kernel refuses `process_vm_readv` (`ENOSYS`, `EPERM`), larger memory is read
//! directly, as the driver would read it.

use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Copied, PAGE_BYTES, kernel, pages};
use crate::errno::ErrnoGuard;

/// From this size on the kernel copies, in bytes.
const KERNEL_MIN_BYTES: usize = 1024;

/// Copies `len` bytes at `address` to `into`. False if some of them are not readable; the content of `into` is then
/// undefined.
///
/// # Safety
/// `into` has `len` writable bytes in the shim's own memory. Where the kernel copies nothing ([`is_available`]),
/// memory of 1 KiB or more at `address` must be readable.
#[inline]
pub unsafe fn read(address: u64, into: *mut u8, len: usize) -> bool {
    if len >= KERNEL_MIN_BYTES {
        // SAFETY: passed on.
        return unsafe { read_by_kernel(address, into, len) };
    }
    let readable = pages::are_readable(address, len as u64);
    if readable {
        // SAFETY: readable, and `into` is writable.
        unsafe { copy(address as *const u8, into, len) };
    }
    readable
}

#[inline(never)]
unsafe fn read_by_kernel(address: u64, into: *mut u8, len: usize) -> bool {
    let mut done = 0;
    while done < len {
        // SAFETY: `done` is below `len`.
        let out = unsafe { into.add(done) };
        let (at, left) = (address + done as u64, len - done);
        // SAFETY: `left` bytes are writable there.
        match unsafe { read_some(at, out, left) } {
            Copied::Bytes(read) => done += read,
            // SAFETY: as above.
            Copied::Fault => return unsafe { read_probed(at, out, left) },
            Copied::Unavailable => {
                // SAFETY: the caller states that it is readable, and `out` is writable.
                unsafe { copy(at as *const u8, out, left) };
                return true;
            }
        }
    }
    true
}

/// Set once the kernel has refused to copy at all: it is too old, or a sandbox forbids it.
static UNAVAILABLE: AtomicBool = AtomicBool::new(false);

/// Whether the kernel copies memory here.
#[cfg(test)]
pub fn is_available() -> bool {
    !UNAVAILABLE.load(Relaxed)
}

unsafe fn read_some(address: u64, into: *mut u8, len: usize) -> Copied {
    if UNAVAILABLE.load(Relaxed) {
        return Copied::Unavailable;
    }
    let _errno = ErrnoGuard::save();
    // SAFETY: passed on.
    let copied = unsafe { kernel::copy(address, into, len) };
    if matches!(copied, Copied::Unavailable) {
        UNAVAILABLE.store(true, Relaxed);
    }
    copied
}

/// Copies memory if an ordinary load can read every page of it. Memory that a device has mapped is readable in this
/// way, though the kernel does not copy it for [`read_some`].
unsafe fn read_probed(address: u64, into: *mut u8, len: usize) -> bool {
    let _errno = ErrnoGuard::save();
    let Some(last) = address.checked_add(len as u64 - 1) else { return false };
    let mut page = address & !(PAGE_BYTES - 1);
    while page <= last {
        if !kernel::is_page_readable(page) {
            return false;
        }
        let Some(next) = page.checked_add(PAGE_BYTES) else { return false };
        page = next;
    }
    // SAFETY: every page was readable a moment ago, and a correct program keeps memory mapped while a command that it
    // was passed to runs.
    unsafe { copy(address as *const u8, into, len) };
    true
}

/// Copies `len` bytes of the program's memory to the shim's own memory; the two may overlap.
///
/// Memory at an address that the program passed is copied by this function alone. A program's wild
/// pointer can lead to the shim's own stack or buffers, where `copy_nonoverlapping` is undefined.
///
/// # Safety
/// `from` has `len` readable bytes, `into` has `len` writable bytes.
#[inline(always)]
pub unsafe fn copy(from: *const u8, into: *mut u8, len: usize) {
    // SAFETY: passed on; the two may overlap.
    unsafe { ptr::copy(from, into, len) };
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::errno::errno;
    use crate::program::kernel::is_page_readable;

    /// Maps three pages, the middle one of which cannot be read.
    pub fn holed() -> u64 {
        let (bytes, flags) = (3 * PAGE_BYTES as usize, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping.
        let memory = unsafe { libc::mmap(ptr::null_mut(), bytes, protection, flags, -1, 0) };
        assert_ne!(memory, libc::MAP_FAILED);
        // SAFETY: the mapping just made.
        unsafe { memory.cast::<u8>().write_bytes(7, bytes) };
        let hole = memory.wrapping_byte_add(PAGE_BYTES as usize);
        // SAFETY: a page of it.
        assert_eq!(unsafe { libc::mprotect(hole, PAGE_BYTES as usize, libc::PROT_NONE) }, 0);
        memory as u64
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn memory_with_a_hole_is_not_read() {
        let memory = holed();
        let mut out = vec![0_u8; 3 * PAGE_BYTES as usize];
        let mut check = |from: u64, len: usize, expected: bool| {
            // SAFETY: `out` is long enough.
            let read = unsafe { read(memory + from, out.as_mut_ptr(), len) };
            // SAFETY: as above.
            let by_kernel = unsafe { read_by_kernel(memory + from, out.as_mut_ptr(), len) };
            assert_eq!((read, by_kernel), (expected, expected), "{len} bytes at {from}");
            assert!(!read || out[..len].iter().all(|byte| *byte == 7));
        };
        assert!(is_available());
        check(0, 4096, true);
        check(8191, 1, false);
        check(8192, 4096, true);
        check(1, 4096, false);
        check(0, 12288, false);
        check(4096, 1, false);
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn pages_are_probed_without_a_trace() {
        let memory = holed();
        assert!(is_page_readable(memory) && is_page_readable(memory + 8192));
        assert!(!is_page_readable(memory + 4096) && !is_page_readable(0));
        let mut out = [0; 8];
        // SAFETY: `out` has the bytes.
        assert!(unsafe { read_probed(memory + 4088, out.as_mut_ptr(), 8) });
        assert_eq!(out, [7; 8]);
        // SAFETY: as above.
        assert!(!unsafe { read_probed(memory + 4089, out.as_mut_ptr(), 8) });
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn errno_stays() {
        let memory = holed();
        // SAFETY: has no failure.
        let location = unsafe { libc::__errno_location() };
        // SAFETY: this thread's errno.
        unsafe { *location = libc::EXDEV };
        let mut out = [0; 2000];
        for len in [8, 2000] {
            // SAFETY: `out` has the bytes.
            assert!(!unsafe { read(memory + 4096, out.as_mut_ptr(), len) });
            assert_eq!(errno(), libc::EXDEV);
        }
    }
}
