//! A reservation of addresses with readable and writable parts. It ends with a guard of 1 MiB that can't be accessed.
//! Memory is allocated only as it is used.

use std::ffi::c_void;
use std::ptr::NonNull;

const GUARD_BYTES: usize = 1 << 20;

/// A mapping. Dropping it unmaps it.
pub(crate) struct Region {
    base: NonNull<u8>,
    len: usize,
}

// SAFETY: a mapping belongs to the process; only `Region` unmaps it.
unsafe impl Send for Region {}

impl Region {
    /// `writable` bytes and a guard. Memory is allocated only as it is used.
    pub(crate) fn new(writable: usize) -> std::io::Result<Self> {
        let region = Self::reserve(writable)?;
        region.protect(0, writable, libc::PROT_READ | libc::PROT_WRITE)?;
        Ok(region)
    }

    /// `bytes` that can't be accessed until they are [protected](Self::protect) otherwise, and a guard.
    pub(crate) fn reserve(bytes: usize) -> std::io::Result<Self> {
        let len = bytes + GUARD_BYTES;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: a new mapping at an address of the kernel's choice touches no other memory.
        let base = unsafe { libc::mmap(std::ptr::null_mut(), len, libc::PROT_NONE, flags, -1, 0) };
        if base == libc::MAP_FAILED {
            return Err(std::io::Error::last_os_error());
        }
        let base = NonNull::new(base.cast::<u8>()).ok_or_else(std::io::Error::last_os_error)?;
        Ok(Self { base, len })
    }

    pub(crate) fn protect(&self, at: usize, len: usize, access: i32) -> std::io::Result<()> {
        if len == 0 {
            return Ok(());
        }
        // SAFETY: callers stay within the bytes that they reserved.
        let rc = unsafe { libc::mprotect(self.at(at).cast::<c_void>(), len, access) };
        if rc == 0 { Ok(()) } else { Err(std::io::Error::last_os_error()) }
    }

    /// The address of byte `offset`, which is within the mapping.
    pub(crate) fn at(&self, offset: usize) -> *mut u8 {
        debug_assert!(offset <= self.len);
        self.base.as_ptr().wrapping_add(offset)
    }

    /// Releases the memory of `len` bytes from `offset` on; they read as zeros afterwards.
    pub(crate) fn release(&self, offset: usize, len: usize) {
        // SAFETY: private memory of the mapping; no reference into it exists between commands.
        unsafe { libc::madvise(self.at(offset).cast::<c_void>(), len, libc::MADV_DONTNEED) };
    }
}

impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`, unmapped once.
        unsafe { libc::munmap(self.base.as_ptr().cast::<c_void>(), self.len) };
    }
}
