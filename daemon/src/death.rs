//! How a process ended, by the kernel's account: the exit status of a process that its parent has waited for
//! (`PIDFD_GET_INFO`, Linux 6.15), and that of a process that still waits to be waited for (`/proc/PID/stat`). `None` where
//! the kernel does not tell; nothing is guessed.

use std::ffi::{c_int, c_ulong};
use std::fs;
use std::os::fd::{AsRawFd, BorrowedFd};

use gapii_capture::end::Exited;

/// `struct pidfd_info` of Linux, in its first form of 64 bytes.
#[repr(C)]
#[derive(Default)]
struct PidfdInfo {
    /// `PIDFD_INFO_*`: the caller sets the flags of the fields that it asks for, the kernel those of the fields that it
    /// filled in.
    mask: u64,
    cgroup: u64,
    ids: [u32; 11],
    /// As `waitpid` gives it.
    exit_code: c_int,
}

const _: () = assert!(size_of::<PidfdInfo>() == 64);

/// `PIDFD_GET_INFO`: `_IOWR(0xFF, 11, struct pidfd_info)`.
const PIDFD_GET_INFO: c_ulong = 3 << 30 | 64 << 16 | 0xFF << 8 | 11;
/// `PIDFD_INFO_EXIT`
const EXIT: u64 = 1 << 3;
/// Position of the exit status behind the name in `/proc/PID/stat` (proc_pid_stat(5), field 52).
const STAT_EXIT: usize = 49;

/// Returns how the process ended that `pidfd` refers to; `None` if it runs, or if the kernel does not tell.
pub fn account(pidfd: BorrowedFd<'_>, pid: u32) -> Option<Exited> {
    let status = waited_for(pidfd).or_else(|| {
        let status = waiting(pid);
        // Meanwhile the parent may have waited for it, and its number may be another process'.
        waited_for(pidfd).or(status)
    })?;
    let signal = libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status));
    Some(Exited { signal })
}

fn waited_for(pidfd: BorrowedFd<'_>) -> Option<c_int> {
    let mut info = PidfdInfo { mask: EXIT, ..PidfdInfo::default() };
    // SAFETY: the kernel writes no more than the size in the request, which is that of the structure.
    let answer = unsafe { libc::ioctl(pidfd.as_raw_fd(), PIDFD_GET_INFO as _, &raw mut info) };
    (answer == 0 && info.mask & EXIT != 0).then_some(info.exit_code)
}

fn waiting(pid: u32) -> Option<c_int> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(") ")?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    let status = fields.get(STAT_EXIT)?.parse().ok().filter(|_| fields.first() == Some(&"Z"))?;
    // Whom the kernel does not trust with it reads 0.
    (status != 0 || is_ours(pid)).then_some(status)
}

/// Whether the process belongs to this one's user, or this one is root's.
fn is_ours(pid: u32) -> bool {
    let own = rustix::process::geteuid();
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let uid = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let uid = uid.and_then(|ids| ids.split_whitespace().next()?.parse::<u32>().ok());
    own.is_root() || uid == Some(own.as_raw())
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;
    use std::process::Command;

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{Pid, PidfdFlags, pidfd_open};

    use super::*;

    #[test]
    fn end_is_known_before_and_after_the_parent_waits() {
        for (script, signal) in [("exit 0", None), ("exit 3", None), ("kill -TERM $$", Some(15))] {
            let mut child = Command::new("sh").args(["-c", script]).spawn().expect("a shell");
            let pid = Pid::from_child(&child);
            let pidfd = pidfd_open(pid, PidfdFlags::empty()).expect("it is our child");
            poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], None).expect("it ends");
            let account = || account(pidfd.as_fd(), child.id()).map(|exited| exited.signal);
            assert_eq!(account(), Some(signal), "{script}");
            let pid = child.id();
            child.wait().expect("it has ended");
            let known = super::account(pidfd.as_fd(), pid).map(|exited| exited.signal);
            // Kernels before 6.15 have forgotten it.
            assert!(known == Some(signal) || known.is_none(), "{script}: {known:?}");
        }
    }

    #[test]
    fn running_process_has_no_end() {
        let own = rustix::process::getpid();
        let pidfd = pidfd_open(own, PidfdFlags::empty()).expect("this process");
        assert!(account(pidfd.as_fd(), std::process::id()).is_none());
    }
}
