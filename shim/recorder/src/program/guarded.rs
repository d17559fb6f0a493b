//! Reads the program's memory where it may be unreadable: the answer is then "no" instead of a signal. Memory in at most
//! `PROBED_PAGES_MAX` (2) pages is looked up page by page ([`pages`](super::pages)), other memory by one
//! `madvise(MADV_POPULATE_READ)`, which reads every page; then the memory is copied. Where the kernel has no such advice
//! (before Linux 5.14), or a sandbox forbids it, or an emulator answers it without reading, or the memory is a device's or
//! unreadable, every page is looked up.
//!
//! Makes no system call that a sandbox could answer by ending the program, such as `process_vm_readv`.

use core::ptr;
use core::sync::atomic::{AtomicU8, Ordering::Relaxed};

use super::{PAGE_BYTES, kernel, pages};
use crate::errno::ErrnoGuard;

/// Most pages that are looked up one by one: up to here that is cheaper than an advice.
const PROBED_PAGES_MAX: u64 = 2;
/// Bytes that [`each`] hands out at once: they stay in the processor's nearest cache.
const CHUNK_BYTES: usize = 4096;

/// Copies `len` bytes at `address` to `into`. False if some of them are not readable; the content of `into` is then
/// undefined.
///
/// # Safety
/// `into` has `len` writable bytes in the shim's own memory.
#[inline]
pub unsafe fn read(address: u64, into: *mut u8, len: usize) -> bool {
    if !is_readable(address, len as u64) {
        return false;
    }
    // SAFETY: readable, and `into` is writable.
    unsafe { copy(address as *const u8, into, len) };
    true
}

/// Calls `take` with the `len` bytes at `address`, in order and in chunks. False if some of them are not readable; `take`
/// is not called then. `buffer` is overwritten.
///
/// # Safety
/// `buffer` has `len` bytes.
pub unsafe fn each(
    address: u64,
    len: usize,
    buffer: &mut [u8],
    mut take: impl FnMut(&[u8]),
) -> bool {
    if !is_readable(address, len as u64) {
        return false;
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

/// Whether every page was readable a moment ago. A correct program keeps memory mapped while a command that it was passed
/// to runs.
#[inline]
fn is_readable(address: u64, len: u64) -> bool {
    let pages = (address % PAGE_BYTES + len).div_ceil(PAGE_BYTES);
    match pages > PROBED_PAGES_MAX {
        true => are_readable(address, len),
        false => pages::are_readable(address, len),
    }
}

/// As [`is_readable`], for memory of many pages: mostly with one system call.
#[inline(never)]
fn are_readable(address: u64, len: u64) -> bool {
    let _errno = ErrnoGuard::save();
    kernel::populate(address, len) && is_advice_honest() || is_each_page_readable(address, len)
}

/// Whether the advice is refused for memory that is not readable. qemu-user answers every advice with success.
fn is_advice_honest() -> bool {
    const HONEST: u8 = 1;
    const OTHERWISE: u8 = 2;
    static KNOWN: AtomicU8 = AtomicU8::new(0);
    // Relaxed: a number on its own, which every thread finds out alike.
    let mut known = KNOWN.load(Relaxed);
    if known == 0 {
        // No program has memory at address 0.
        known = if kernel::populate(0, 1) { OTHERWISE } else { HONEST };
        KNOWN.store(known, Relaxed);
    }
    known == HONEST
}

/// Looks up every page up to the first unreadable one. Changes `errno`.
fn is_each_page_readable(address: u64, len: u64) -> bool {
    let Some(last) = address.checked_add(len - 1) else { return false };
    let mut page = address & !(PAGE_BYTES - 1);
    while page <= last {
        if !kernel::is_page_readable(page) {
            return false;
        }
        let Some(next) = page.checked_add(PAGE_BYTES) else { return false };
        page = next;
    }
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
            let by_page = is_each_page_readable(memory + from, len as u64);
            assert_eq!((read, by_page), (expected, expected), "{len} bytes at {from}");
            let (mut buffer, mut seen) = (vec![0; len], Vec::new());
            let take = |bytes: &[u8]| seen.extend_from_slice(bytes);
            // SAFETY: the buffer has the length.
            assert_eq!(unsafe { each(memory + from, len, &mut buffer, take) }, expected);
            assert!(!expected || seen == vec![7; len], "{len} bytes at {from}");
            assert!(!read || out[..len].iter().all(|byte| *byte == 7));
        };
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
    }

    #[test]
    #[cfg_attr(miri, ignore = "asks the kernel which pages are readable")]
    fn errno_stays() {
        let memory = holed();
        // SAFETY: has no failure.
        let location = unsafe { libc::__errno_location() };
        // SAFETY: this thread's errno.
        unsafe { *location = libc::EXDEV };
        let mut out = [0; 12288];
        for len in [8, 2000, 12288] {
            // SAFETY: `out` has the bytes.
            assert!(!unsafe { read(memory + 4096, out.as_mut_ptr(), len) });
            assert_eq!(errno(), libc::EXDEV);
        }
    }
}
