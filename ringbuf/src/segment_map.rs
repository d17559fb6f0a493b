//! The mapping of a segment. An application maps the rings without access and opens each before its first use: a program
//! that locks its memory (`mlockall`) then gives memory to the rings that its threads use, and to no other.

use std::io;
use std::os::fd::AsRawFd;
use std::ptr::NonNull;

use crate::layout::{RINGS_ALIGN, SegmentLayout};
use crate::sync::{AtomicU64, Ordering};

/// A mapped segment, unmapped on drop.
#[derive(Debug)]
pub(crate) struct SegmentMap {
    at: NonNull<u8>,
    len: u64,
    /// Offset in bytes up to which the memory can be accessed.
    open_to: AtomicU64,
}

// SAFETY: the mapping lives as long as the value, wherever that is. Its bytes are accessed through raw pointers and
// atomics alone.
unsafe impl Send for SegmentMap {}
// SAFETY: as above.
unsafe impl Sync for SegmentMap {}

impl SegmentMap {
    /// Maps all of a memory file, which has the length of `layout`.
    pub(crate) fn whole(fd: &impl AsRawFd, layout: SegmentLayout) -> io::Result<Self> {
        let map = map(fd, layout.segment_bytes(), libc::PROT_READ | libc::PROT_WRITE)?;
        map.leave_out_of_core_dumps();
        Ok(map)
    }

    /// Maps a memory file of the length of `layout`: header and slots with access, rings without.
    #[cfg(not(miri))]
    pub(crate) fn without_rings(fd: &impl AsRawFd, layout: SegmentLayout) -> io::Result<Self> {
        let map = map(fd, layout.segment_bytes(), libc::PROT_NONE)?;
        map.leave_out_of_core_dumps();
        // SAFETY: the whole mapping. After mlockall(MCL_FUTURE) it is locked; unlocking it does not touch the program's own
        // memory. If the call fails, used rings stay locked.
        unsafe { libc::munlock(map.at.as_ptr().cast(), map.len as usize) };
        map.open_to.store(0, Ordering::Relaxed);
        match map.open(layout.ring_at(0)) {
            true => Ok(map),
            false => Err(io::Error::last_os_error()),
        }
    }

    /// Maps everything: Miri knows no protection of memory.
    #[cfg(miri)]
    pub(crate) fn without_rings(fd: &impl AsRawFd, layout: SegmentLayout) -> io::Result<Self> {
        Self::whole(fd, layout)
    }

    /// Makes the memory below offset `to` accessible. Returns false if the system refuses.
    pub(crate) fn open(&self, to: u64) -> bool {
        // Relaxed, here and below: memory is open before the offset is stored, by a system call.
        let open_to = self.open_to.load(Ordering::Relaxed);
        if to <= open_to {
            return true;
        }
        let from = open_to / RINGS_ALIGN * RINGS_ALIGN;
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: the offsets are in the mapping, and the first is a multiple of the page size.
        let at = unsafe { self.at.add(from as usize) };
        // SAFETY: as above; access is added, never taken away.
        let done = unsafe { libc::mprotect(at.as_ptr().cast(), (to - from) as usize, access) } == 0;
        if done {
            self.open_to.fetch_max(to, Ordering::Relaxed);
        }
        done
    }

    /// Offset in bytes up to which the memory can be accessed.
    pub(crate) fn open_to(&self) -> u64 {
        self.open_to.load(Ordering::Relaxed)
    }

    pub(crate) fn as_ptr(&self) -> *mut u8 {
        self.at.as_ptr()
    }

    /// A dump would give memory to every page that was never written. If the call fails, the mapping stays in dumps.
    #[cfg(not(miri))]
    fn leave_out_of_core_dumps(&self) {
        // SAFETY: the whole mapping.
        unsafe {
            libc::madvise(self.at.as_ptr().cast(), self.len as usize, libc::MADV_DONTDUMP);
        }
    }

    /// Does nothing: Miri makes no core dumps.
    #[cfg(miri)]
    fn leave_out_of_core_dumps(&self) {}
}

impl Drop for SegmentMap {
    fn drop(&mut self) {
        // SAFETY: the whole mapping, which nobody uses any more.
        unsafe { libc::munmap(self.at.as_ptr().cast(), self.len as usize) };
    }
}

/// Maps a memory file of `len` bytes. Miri has no shared mappings: there only the first mapping of a file is the file.
fn map(fd: &impl AsRawFd, len: u64, access: i32) -> io::Result<SegmentMap> {
    let (flags, fd) = match cfg!(miri) {
        true => (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1),
        false => (libc::MAP_SHARED, fd.as_raw_fd()),
    };
    let bytes = usize::try_from(len).map_err(io::Error::other)?;
    // SAFETY: a new mapping at an address that the system chooses.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), bytes, access, flags, fd, 0) };
    if at == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    let at = NonNull::new(at.cast()).ok_or_else(|| io::Error::other("a mapping at address 0"))?;
    Ok(SegmentMap { at, len, open_to: AtomicU64::new(len) })
}

#[cfg(all(test, not(miri), not(loom)))]
mod tests {
    use super::*;
    use crate::memfd;

    /// Flags of the mapping at this address, from proc_pid_smaps(5).
    fn flags(at: *const u8) -> Vec<String> {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("proc is mounted");
        let begin = format!("{:x}-", at.addr());
        let mut lines = maps.lines().skip_while(|line| !line.starts_with(&begin));
        let flags = lines.find_map(|line| line.strip_prefix("VmFlags:")).expect("it is mapped");
        flags.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn mapped_segment_is_left_out_of_core_dumps() {
        let layout = SegmentLayout::default();
        let fd = memfd::create(c"gapii-test", layout.segment_bytes()).expect("a memory file");
        let maps = [SegmentMap::whole(&fd, layout), SegmentMap::without_rings(&fd, layout)];
        for map in maps {
            let map = map.expect("it is mapped");
            assert!(flags(map.as_ptr()).contains(&"dd".to_owned()), "{:?}", flags(map.as_ptr()));
        }
    }
}
