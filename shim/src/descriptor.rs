//! Descriptors of ours among the program's: high, and used only while they are still the same file. The
//! program may close or replace what it did not open.

use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// Our descriptors live from here on, away from those a program may count on or close.
const DESCRIPTOR_FLOOR: [RawFd; 2] = [900, 200];
/// What stands for none.
const NONE: RawFd = -1;

/// A descriptor that is kept for the life of a connection, or replaced meanwhile.
pub struct Kept {
    descriptor: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

impl Kept {
    /// None yet.
    pub const fn none() -> Kept {
        Kept {
            descriptor: AtomicI32::new(NONE),
            device: AtomicU64::new(0),
            inode: AtomicU64::new(0),
        }
    }

    /// Moves a descriptor up, and keeps it.
    pub fn keep(descriptor: OwnedFd) -> Option<Kept> {
        let kept = Kept::none();
        kept.set(descriptor).then_some(kept)
    }

    /// Keeps another in its place; where that fails, none. One thread at a time; others may look meanwhile,
    /// and find neither.
    pub fn replace(&self, descriptor: OwnedFd) -> bool {
        self.close();
        self.set(descriptor)
    }

    /// Closes it, unless the program has done so.
    pub fn close(&self) {
        drop(self.take());
    }

    /// Gives it away, unless the program has closed it.
    pub fn take(&self) -> Option<OwnedFd> {
        let ours = self.get();
        let descriptor = self.descriptor.swap(NONE, Relaxed);
        // SAFETY: ours, and nobody else takes it: its number was here until now.
        ours.filter(|ours| *ours == descriptor).map(|raw| unsafe { OwnedFd::from_raw_fd(raw) })
    }

    /// The descriptor, as long as it is ours.
    pub fn get(&self) -> Option<RawFd> {
        let descriptor = self.descriptor.load(Relaxed);
        let file = (self.device.load(Relaxed), self.inode.load(Relaxed));
        (descriptor != NONE && file_of(descriptor) == Some(file)).then_some(descriptor)
    }

    /// Whether it was closed here; the program's closing it is not that.
    pub fn is_closed(&self) -> bool {
        self.descriptor.load(Relaxed) == NONE
    }

    fn set(&self, descriptor: OwnedFd) -> bool {
        let raw = raise(&descriptor).unwrap_or_else(|| descriptor.into_raw_fd());
        let Some((device, inode)) = file_of(raw) else { return false };
        self.device.store(device, Relaxed);
        self.inode.store(inode, Relaxed);
        self.descriptor.store(raw, Relaxed);
        true
    }
}

/// A copy of it up high.
fn raise(descriptor: &OwnedFd) -> Option<RawFd> {
    DESCRIPTOR_FLOOR.iter().find_map(|&floor| {
        // SAFETY: duplicates a descriptor that we own.
        let raw = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, floor) };
        (raw >= 0).then_some(raw)
    })
}

fn file_of(descriptor: RawFd) -> Option<(u64, u64)> {
    // SAFETY: stat is plain data for which zero is valid.
    let mut stat: libc::stat = unsafe { core::mem::zeroed() };
    // SAFETY: `stat` is writable; a closed descriptor is an error.
    let failed = unsafe { libc::fstat(descriptor, &raw mut stat) } != 0;
    (!failed).then_some((stat.st_dev, stat.st_ino))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;

    fn file() -> OwnedFd {
        File::open("/dev/null").unwrap().into()
    }

    fn other_file() -> OwnedFd {
        File::open("/proc/self/stat").unwrap().into()
    }

    #[test]
    fn descriptor_is_high_and_ours_until_the_program_takes_its_number() {
        let kept = Kept::keep(file()).unwrap();
        let raw = kept.get().unwrap();
        assert!(raw >= DESCRIPTOR_FLOOR[1], "{raw}");
        let other = other_file();
        // SAFETY: a number that is this test's.
        assert_eq!(unsafe { libc::dup2(other.as_raw_fd(), raw) }, raw);
        assert_eq!(kept.get(), None);
        assert!(!kept.is_closed());
        kept.close();
        // SAFETY: still open: it is not ours to close.
        assert_eq!(unsafe { libc::close(raw) }, 0);
    }

    #[test]
    fn descriptor_that_is_replaced_is_the_other_file() {
        let kept = Kept::keep(file()).unwrap();
        assert!(kept.replace(other_file()));
        assert_eq!(file_of(kept.get().unwrap()), file_of(other_file().as_raw_fd()));
        kept.close();
        assert!(kept.is_closed() && kept.get().is_none());
    }
}
