//! `Source`: the shim's own descriptor of memory that the program imported, and how its bytes are read. A dma-buf is mapped
//! once, and its writer is waited for as long as the caller says, before the kernel makes its bytes visible
//! (`DMA_BUF_IOCTL_SYNC`). Any other file is read with `pread`: it may shrink at any time, and a mapping would fault then.
//! Changes no file offset of the program. Never writes.

use core::ptr;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use crate::descriptor::OwnDescriptor;
use crate::system;

/// Type of the file system of dma-bufs (`DMA_BUF_MAGIC`), since Linux 5.3.
const DMA_BUF_MAGIC: u64 = 0x444d_4142;
/// `DMA_BUF_IOCTL_SYNC`, whose argument is one `u64` of flags.
const DMA_BUF_IOCTL_SYNC: u64 = 0x4008_6200;
const DMA_BUF_SYNC_READ: u64 = 1;
const DMA_BUF_SYNC_END: u64 = 4;

/// Memory behind a descriptor.
pub struct Source {
    descriptor: OwnDescriptor,
    /// Bytes that it had when it was opened.
    size: u64,
    /// The mapping of a dma-buf; `None` for another file.
    mapped: Option<Mapping>,
}

impl Source {
    /// Duplicates a descriptor of the program, which it may close afterwards. `None` if it cannot be duplicated, or if it is a
    /// dma-buf that cannot be mapped for reading.
    pub fn open(descriptor: RawFd) -> Option<Self> {
        // SAFETY: duplicates a descriptor, or fails.
        let own = unsafe { libc::fcntl(descriptor, libc::F_DUPFD_CLOEXEC, 0) };
        if own < 0 {
            return None;
        }
        // SAFETY: just made, and nobody else's.
        let own = OwnDescriptor::keep(unsafe { OwnedFd::from_raw_fd(own) })?;
        let opened = Self::of(&own);
        let Some((size, mapped)) = opened else {
            own.close();
            return None;
        };
        Some(Self { descriptor: own, size, mapped })
    }

    /// The size of a file, and the mapping if it is a dma-buf.
    fn of(own: &OwnDescriptor) -> Option<(u64, Option<Mapping>)> {
        let raw = own.get()?;
        // SAFETY: stat is plain data for which zero is valid.
        let mut stat: libc::stat = unsafe { core::mem::zeroed() };
        // SAFETY: `stat` is writable.
        let size = match unsafe { libc::fstat(raw, &raw mut stat) } {
            0 => u64::try_from(stat.st_size).ok()?,
            _ => return None,
        };
        // SAFETY: statfs is plain data for which zero is valid.
        let mut system: libc::statfs = unsafe { core::mem::zeroed() };
        // SAFETY: `system` is writable.
        let is_known = unsafe { libc::fstatfs(raw, &raw mut system) } == 0;
        let is_dma_buf = is_known && system.f_type as u64 == DMA_BUF_MAGIC;
        let mapped = match is_dma_buf {
            true => Some(Mapping::of(raw, size)?),
            false => None,
        };
        Some((size, mapped))
    }

    /// Whether `bytes` bytes from `offset` on are inside the memory.
    pub fn has(&self, offset: u64, bytes: u64) -> bool {
        offset.checked_add(bytes).is_some_and(|end| end <= self.size)
    }

    /// Begins to read. `None` if the program has closed the descriptor, or if whoever writes the memory is not done within
    /// `limit`.
    pub fn begin(&self, limit: Duration) -> Option<Reading<'_>> {
        let raw = self.descriptor.get()?;
        if self.mapped.is_some() {
            // Without this, the ioctl would wait for as long as the writer takes.
            if system::poll_really(raw, libc::POLLIN, limit) & libc::POLLIN == 0 {
                return None;
            }
            sync(raw, DMA_BUF_SYNC_READ);
        }
        Some(Reading { source: self, raw })
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        self.descriptor.close();
    }
}

/// The memory of a source while it is read.
pub struct Reading<'s> {
    source: &'s Source,
    raw: RawFd,
}

impl Reading<'_> {
    /// Copies the bytes from `offset` on. Returns false if they are not there, or cannot be read.
    pub fn copy(&self, offset: u64, into: &mut [u8]) -> bool {
        match &self.source.mapped {
            Some(mapped) => mapped.copy(offset, into),
            None => read_at(self.raw, offset, into),
        }
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        if self.source.mapped.is_some() {
            sync(self.raw, DMA_BUF_SYNC_READ | DMA_BUF_SYNC_END);
        }
    }
}

/// A dma-buf in the shim's address space.
struct Mapping {
    at: *const u8,
    bytes: usize,
}

// SAFETY: memory that any thread may read.
unsafe impl Send for Mapping {}

impl Mapping {
    fn of(descriptor: RawFd, size: u64) -> Option<Self> {
        let bytes = usize::try_from(size).ok().filter(|bytes| *bytes > 0)?;
        // SAFETY: a new mapping of our own.
        let at = unsafe {
            libc::mmap(ptr::null_mut(), bytes, libc::PROT_READ, libc::MAP_SHARED, descriptor, 0)
        };
        (at != libc::MAP_FAILED).then_some(Self { at: at.cast(), bytes })
    }

    fn copy(&self, offset: u64, into: &mut [u8]) -> bool {
        let end = usize::try_from(offset).ok().and_then(|from| from.checked_add(into.len()));
        if end.is_none_or(|end| end > self.bytes) {
            return false;
        }
        // SAFETY: the range is inside the mapping.
        let from = unsafe { self.at.add(offset as usize) };
        #[expect(
            clippy::disallowed_methods,
            reason = "a dma-buf keeps its size, so all pages are there"
        )]
        // SAFETY: a dma-buf cannot shrink, and the mapping lives as long as `self`. Another writer may change bytes meanwhile.
        unsafe {
            ptr::copy_nonoverlapping(from, into.as_mut_ptr(), into.len());
        }
        true
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped by `of`, and nobody else knows it.
        unsafe { libc::munmap(self.at.cast_mut().cast(), self.bytes) };
    }
}

/// Tells the kernel that the processor begins or ends to read a dma-buf.
fn sync(descriptor: RawFd, flags: u64) {
    // SAFETY: the request reads one u64. If it fails, bytes may be old.
    unsafe { libc::ioctl(descriptor, DMA_BUF_IOCTL_SYNC as _, &raw const flags) };
}

/// Reads a file, without its offset.
fn read_at(descriptor: RawFd, mut offset: u64, mut into: &mut [u8]) -> bool {
    while !into.is_empty() {
        let Ok(at) = libc::off_t::try_from(offset) else { return false };
        // SAFETY: `into` has as many writable bytes.
        let done = unsafe { libc::pread(descriptor, into.as_mut_ptr().cast(), into.len(), at) };
        match usize::try_from(done) {
            Ok(done) if done > 0 => {
                offset += done as u64;
                into = into.get_mut(done..).unwrap_or_default();
            }
            _ => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::io::{Seek, SeekFrom, Write};
    use std::os::fd::AsRawFd;

    /// A file of memory with these bytes.
    fn memory(bytes: &[u8]) -> File {
        // SAFETY: a name; the descriptor is new.
        let raw = unsafe { libc::memfd_create(c"memory".as_ptr(), libc::MFD_CLOEXEC) };
        // SAFETY: just made.
        let mut file = File::from(unsafe { OwnedFd::from_raw_fd(raw) });
        file.write_all(bytes).unwrap();
        file
    }

    #[test]
    fn memory_is_read_after_the_program_has_closed_its_descriptor() {
        let mut file = memory(b"0123456789");
        file.seek(SeekFrom::Start(3)).unwrap();
        let source = Source::open(file.as_raw_fd()).unwrap();
        assert!(source.has(4, 6) && !source.has(4, 7) && !source.has(u64::MAX, 2));
        let mut into = [0; 4];
        assert!(source.begin(Duration::ZERO).unwrap().copy(2, &mut into));
        assert_eq!(&into, b"2345");
        assert_eq!(file.stream_position().unwrap(), 3, "the program's offset");
        drop(file);
        assert!(source.begin(Duration::ZERO).unwrap().copy(6, &mut into));
        assert_eq!(&into, b"6789");
    }

    #[test]
    fn file_that_has_shrunk_or_is_not_readable_is_said_so() {
        let file = memory(&[7; 8192]);
        let source = Source::open(file.as_raw_fd()).unwrap();
        let mut into = [0; 8];
        assert!(source.begin(Duration::ZERO).unwrap().copy(8184, &mut into));
        file.set_len(100).unwrap();
        assert!(!source.begin(Duration::ZERO).unwrap().copy(96, &mut into));
        let path = format!("/proc/self/fd/{}", file.as_raw_fd());
        let written = File::options().write(true).open(path).unwrap();
        let source = Source::open(written.as_raw_fd()).unwrap();
        assert!(!source.begin(Duration::ZERO).unwrap().copy(0, &mut into));
        assert!(Source::open(-1).is_none());
    }
}
