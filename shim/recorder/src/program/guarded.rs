//! Reads the program's memory where it may be unreadable: the answer is then "no" instead of a signal. Memory in at most
//! `PROBED_PAGES_MAX` (2) pages is looked up page by page ([`pages`](super::pages)), other memory by one
//! `madvise(MADV_POPULATE_READ)`, which reads every page; then the memory is copied. Where the kernel has no such advice
//! (before Linux 5.14), or a sandbox forbids it, or the memory is a device's, the kernel copies, with
//! `process_vm_readv` on this very process, or memory is looked up page by page where the kernel cannot copy it but loads
//! can read it. Where `process_vm_readv` is refused, too (`ENOSYS`, `EPERM`), memory is read directly, as the driver would
//! read it.

use core::ptr;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

use super::{Copied, PAGE_BYTES, kernel, pages};
use crate::errno::ErrnoGuard;

/// Most pages that are looked up one by one: up to here that is cheaper than an advice.
const PROBED_PAGES_MAX: u64 = 2;
/// Bytes that [`each`] hands out at once: they stay in the processor's nearest cache.
const CHUNK_BYTES: usize = 4096;

/// Whether a range of memory is readable, as far as that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Access {
    /// Every page was readable a moment ago. A correct program keeps memory mapped while a command that it was passed
    /// to runs.
    Readable,
    Unreadable,
    /// Only reading it tells.
    Unknown,
}

/// Copies `len` bytes at `address` to `into`. False if some of them are not readable; the content of `into` is then
/// undefined.
///
/// # Safety
/// `into` has `len` writable bytes in the shim's own memory. Where the kernel answers no question
/// ([`is_available`]), memory of more than two pages at `address` must be readable.
#[inline]
pub unsafe fn read(address: u64, into: *mut u8, len: usize) -> bool {
    match look(address, len as u64) {
        Access::Readable => {
            // SAFETY: readable, and `into` is writable.
            unsafe { copy(address as *const u8, into, len) };
            true
        }
        Access::Unreadable => false,
        // SAFETY: passed on.
        Access::Unknown => unsafe { read_by_kernel(address, into, len) },
    }
}

/// Calls `take` with the `len` bytes at `address`, in order and in chunks. False if some of them are not readable; `take`
/// may then have been called. `buffer` is overwritten.
///
/// # Safety
/// As for [`read`]. `buffer` has `len` bytes.
pub unsafe fn each(
    address: u64,
    len: usize,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> bool {
    match look(address, len as u64) {
        Access::Readable => {}
        Access::Unreadable => return false,
        Access::Unknown => {
            // SAFETY: passed on.
            let is_read = unsafe { read_by_kernel(address, buffer.as_mut_ptr(), len) };
            if let (true, Some(bytes)) = (is_read, buffer.get(..len)) {
                take(bytes);
            }
            return is_read;
        }
    }
    let mut done = 0;
    while done < len {
        let Some(chunk) = buffer.get_mut(..CHUNK_BYTES.min(len - done)) else { return false };
        // SAFETY: readable, and as long as the chunk.
        unsafe { copy((address + done as u64) as *const u8, chunk.as_mut_ptr(), chunk.len()) };
        take(chunk);
        done += chunk.len();
    }
    true
}

/// Finds out whether memory is readable, with at most one system call for memory of more than two pages.
#[inline]
fn look(address: u64, len: u64) -> Access {
    let pages = (address % PAGE_BYTES + len).div_ceil(PAGE_BYTES);
    if pages > PROBED_PAGES_MAX {
        return look_by_advice(address, len);
    }
    match pages::are_readable(address, len) {
        true => Access::Readable,
        false => Access::Unreadable,
    }
}

#[inline(never)]
fn look_by_advice(address: u64, len: u64) -> Access {
    let _errno = ErrnoGuard::save();
    match kernel::populate(address, len) {
        true => Access::Readable,
        false => Access::Unknown,
    }
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
            let (mut buffer, mut seen) = (vec![0; len], Vec::new());
            let take = |bytes: &[u8]| seen.extend_from_slice(bytes);
            // SAFETY: the buffer has the length.
            assert_eq!(unsafe { each(memory + from, len, &mut buffer, take) }, expected);
            assert!(!expected || seen == vec![7; len], "{len} bytes at {from}");
            assert!(!read || out[..len].iter().all(|byte| *byte == 7));
        };
        assert!(is_available());
        check(0, 4096, true);
        check(8191, 1, false);
        check(8192, 4096, true);
        check(1, 4096, false);
        check(0, 12288, false);
        check(100, 12000, false);
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
