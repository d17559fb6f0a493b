//! The shim's descriptors among the program's. They have the lowest free number from 900 on, else from 200 on, else the
//! number that they came with. The shim uses or closes one only while its device and inode are still the same, because
//! the program may close or replace any descriptor; such a descriptor counts as gone, and the shim leaves the program's
//! file alone.

use core::sync::atomic::{AtomicI32, AtomicU64, Ordering::Relaxed};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd, OwnedFd, RawFd};

/// The lowest numbers for the shim's descriptors, tried in this order. Programs seldom count on numbers this high, or
/// close them.
const DESCRIPTOR_FLOOR: [RawFd; 2] = [900, 200];
/// Value for "no descriptor".
const NONE: RawFd = -1;

/// A descriptor that is kept for the life of a connection, or until it is replaced.
pub struct OwnDescriptor {
    descriptor: AtomicI32,
    device: AtomicU64,
    inode: AtomicU64,
}

impl OwnDescriptor {
    /// Holds no descriptor.
    pub const fn none() -> OwnDescriptor {
        OwnDescriptor {
            descriptor: AtomicI32::new(NONE),
            device: AtomicU64::new(0),
            inode: AtomicU64::new(0),
        }
    }

    /// Moves a descriptor to a high number, and keeps it.
    pub fn keep(descriptor: OwnedFd) -> Option<OwnDescriptor> {
        let kept = OwnDescriptor::none();
        kept.set(descriptor).then_some(kept)
    }

    /// Keeps another descriptor in place of this one; if that fails, keeps none and returns false. One thread at a
    /// time may call this. Other threads may call [`OwnDescriptor::get`] meanwhile, and find none.
    pub fn replace(&self, descriptor: OwnedFd) -> bool {
        self.close();
        self.set(descriptor)
    }

    /// Closes the descriptor, unless the program has closed it.
    pub fn close(&self) {
        drop(self.take());
    }

    /// Gives the descriptor away, unless the program has closed it.
    pub fn take(&self) -> Option<OwnedFd> {
        let ours = self.get();
        let descriptor = self.descriptor.swap(NONE, Relaxed);
        // SAFETY: the shim's own, and no other thread takes it: its number was here until now.
        ours.filter(|ours| *ours == descriptor).map(|raw| unsafe { OwnedFd::from_raw_fd(raw) })
    }

    /// Returns the descriptor if it still refers to the same file.
    pub fn get(&self) -> Option<RawFd> {
        let descriptor = self.descriptor.load(Relaxed);
        let file = (self.device.load(Relaxed), self.inode.load(Relaxed));
        (descriptor != NONE && file_of(descriptor) == Some(file)).then_some(descriptor)
    }

    /// Whether the shim has closed the descriptor. False if the program has.
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

/// Duplicates a descriptor to a high number.
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

    /// The same file each time, which one of /proc is not under an emulator.
    fn other_file() -> OwnedFd {
        File::open("/dev/zero").unwrap().into()
    }

    #[test]
    fn descriptor_is_high_and_ours_until_the_program_takes_its_number() {
        let kept = OwnDescriptor::keep(file()).unwrap();
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
        let kept = OwnDescriptor::keep(file()).unwrap();
        assert!(kept.replace(other_file()));
        assert_eq!(file_of(kept.get().unwrap()), file_of(other_file().as_raw_fd()));
        kept.close();
        assert!(kept.is_closed() && kept.get().is_none());
    }
}
