//! Creates, seals, maps and checks memory files. A descriptor of a peer is accepted only if it is a memory file of
//! normal pages (no huge pages), sealed against shrinking, and of exactly the agreed length, so that no access can
//! fault. Does not interpret the contents.

use std::ffi::CStr;
use std::io;
#[cfg(not(miri))]
use std::os::fd::FromRawFd;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use memmap2::{MmapOptions, MmapRaw};

use crate::map_error::MapError;

/// Seals that fix the length for ever, so that a mapping of the file cannot fault.
pub(crate) const SEALS_SIZE: i32 = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;

/// An empty memory file of `len_bytes`, all zero, not yet sealed.
#[cfg(not(miri))]
pub(crate) fn create(name: &CStr, len_bytes: u64) -> io::Result<OwnedFd> {
    let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
    // SAFETY: the name is a C string that outlives the call.
    let fd = unsafe { libc::memfd_create(name.as_ptr(), flags) };
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call above created the descriptor, and no other code knows it.
    let fd = unsafe { OwnedFd::from_raw_fd(fd) };
    let len = libc::off_t::try_from(len_bytes).map_err(io::Error::other)?;
    // SAFETY: a system call on a descriptor that this function owns or borrows.
    match unsafe { libc::ftruncate(fd.as_raw_fd(), len) } {
        0 => Ok(fd),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Adds `seals`.
#[cfg(not(miri))]
pub(crate) fn seal(fd: &OwnedFd, seals: i32) -> io::Result<()> {
    // SAFETY: a system call on a descriptor that this function owns or borrows.
    match unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_ADD_SEALS, seals) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Maps a memory file of `len_bytes` for reading and writing.
#[cfg(not(miri))]
pub(crate) fn map(fd: &impl AsRawFd, len_bytes: u64) -> io::Result<MmapRaw> {
    MmapOptions::new().len(len_bytes as usize).map_raw(fd.as_raw_fd())
}

/// Any descriptor: Miri has no memory files.
#[cfg(miri)]
pub(crate) fn create(_name: &CStr, _len_bytes: u64) -> io::Result<OwnedFd> {
    Ok(io::pipe()?.0.into())
}

/// Seals nothing: Miri has no memory files.
#[cfg(miri)]
pub(crate) fn seal(_fd: &OwnedFd, _seals: i32) -> io::Result<()> {
    Ok(())
}

/// Maps new memory: Miri has no shared mappings. So only the first mapping of a file is the file.
#[cfg(miri)]
pub(crate) fn map(_fd: &impl AsRawFd, len_bytes: u64) -> io::Result<MmapRaw> {
    Ok(MmapOptions::new().len(len_bytes as usize).map_anon()?.into())
}

/// Checks that a descriptor is a memory file of exactly `len_bytes`, sealed against shrinking.
pub(crate) fn check(fd: BorrowedFd<'_>, len_bytes: u64) -> Result<(), MapError> {
    // SAFETY: a system call on a descriptor that the caller keeps open.
    let seals = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 || seals & libc::F_SEAL_SHRINK == 0 {
        return Err(MapError::NotSealed);
    }
    if !is_of_plain_pages(fd)? {
        return Err(MapError::NotSealed);
    }
    let found = len_of(fd.as_fd())?;
    if found != len_bytes {
        return Err(MapError::Length { found, expected: len_bytes });
    }
    Ok(())
}

/// Whether the file consists of normal pages. Huge pages may run out, and touching one would then fault.
fn is_of_plain_pages(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let mut stat = std::mem::MaybeUninit::<libc::statfs>::uninit();
    // SAFETY: the kernel fills in the structure, which is as large as it expects.
    if unsafe { libc::fstatfs(fd.as_raw_fd(), stat.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the whole structure is written.
    let stat = unsafe { stat.assume_init() };
    Ok(stat.f_type == libc::TMPFS_MAGIC)
}

fn len_of(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let mut stat = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the kernel fills in the structure, which is as large as it expects.
    if unsafe { libc::fstat(fd.as_raw_fd(), stat.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call succeeded, so the whole structure is written.
    let stat = unsafe { stat.assume_init() };
    Ok(stat.st_size as u64)
}
