//! The shim's own memory that the kernel turns into zeros in a forked child (`MADV_WIPEONFORK`). A kernel that cannot
//! do so gives no memory, and the process does not connect.
//!
//! A sandbox that the program closes after that, like Chromium's, refuses the advice. Memory is then a part of the reserve:
//! `RESERVE_BYTES` (256 MiB) of addresses that had the advice when the process connected.

use core::ptr::{self, NonNull};
use core::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::Relaxed};

const RESERVE_BYTES: usize = 256 << 20;
/// Parts begin at multiples of this: no machine has larger pages.
const PART_BYTES: usize = 64 << 10;
/// Addresses without access, which take no memory; null until they are mapped.
static RESERVE: AtomicPtr<u8> = AtomicPtr::new(ptr::null_mut());
/// Bytes of the reserve that were given out. They are never given out again.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

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
        return take(RESERVE.load(Relaxed), bytes);
    }
    NonNull::new(memory.cast())
}

/// Maps the reserve, unless there is one. For the time before the program closes a sandbox.
pub fn reserve() {
    if cfg!(miri) || !RESERVE.load(Relaxed).is_null() {
        return;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | NO_RESERVE;
    // SAFETY: a new mapping of our own.
    let memory =
        unsafe { libc::mmap(ptr::null_mut(), RESERVE_BYTES, libc::PROT_NONE, flags, -1, 0) };
    if memory == libc::MAP_FAILED {
        return;
    }
    let is_kept = wipe_on_fork(memory, RESERVE_BYTES)
        // Relaxed: the addresses are not read through the pointer before they are given out.
        && RESERVE.compare_exchange(ptr::null_mut(), memory.cast(), Relaxed, Relaxed).is_ok();
    if !is_kept {
        // SAFETY: as above; no pointer to it was given out.
        unsafe { libc::munmap(memory, RESERVE_BYTES) };
    }
}

/// Gives out a part of the reserve. `None` if there is none, or not enough of it.
fn take(reserve: *mut u8, bytes: usize) -> Option<NonNull<u8>> {
    let len = bytes.checked_next_multiple_of(PART_BYTES)?;
    let with = |taken: usize| taken.checked_add(len).filter(|all| *all <= RESERVE_BYTES);
    let reserve = NonNull::new(reserve)?;
    // Relaxed: every part is given out once.
    let at = TAKEN.fetch_update(Relaxed, Relaxed, with).ok()?;
    // SAFETY: below the reserve's length.
    let memory = unsafe { reserve.add(at) };
    let access = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: pages of the reserve that nobody else has.
    let failed = unsafe { libc::mprotect(memory.as_ptr().cast(), len, access) } != 0;
    (!failed).then_some(memory)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri does not protect memory")]
    fn part_of_the_reserve_is_zeros_of_its_own() {
        reserve();
        reserve();
        let reserve = RESERVE.load(Relaxed);
        let [first, second] = [100, 70_000].map(|bytes| take(reserve, bytes).expect("room"));
        assert_eq!(first.as_ptr().wrapping_add(PART_BYTES), second.as_ptr());
        let parts = PART_BYTES + 70_000;
        // SAFETY: the two parts lie side by side, and are this test's.
        let both = unsafe { core::slice::from_raw_parts_mut(first.as_ptr(), parts) };
        assert!(both.iter().all(|byte| *byte == 0));
        both.fill(7);
        assert_eq!(take(reserve, RESERVE_BYTES), None);
        assert_eq!(take(ptr::null_mut(), 1), None);
    }
}
