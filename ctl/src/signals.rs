//! `Signals`: the stop requests SIGINT, SIGTERM and SIGHUP, as a descriptor to poll. Once blocked, they interrupt
//! nothing and stay pending until they are read; child processes get the original mask.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Signal;

/// Whether [`Signals::block`] was called.
static ARE_HEARD: AtomicBool = AtomicBool::new(false);

/// One stop request, or another signal that was blocked with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub signal: Signal,
    /// Whether it was sent to this process with `kill`, so that other processes of the terminal's foreground group
    /// may not have received it.
    pub by_kill: bool,
}

pub struct Signals {
    descriptor: OwnedFd,
    mask_before: libc::sigset_t,
}

impl Signals {
    /// Blocks the signals in the calling thread, which must be the only thread.
    pub fn block() -> io::Result<Signals> {
        Signals::block_also(&[])
    }

    /// Blocks the stop requests and these other signals; [`Signals::next`] returns all of them.
    pub fn block_also(others: &[Signal]) -> io::Result<Signals> {
        // Relaxed: the flag publishes no other data.
        ARE_HEARD.store(true, Ordering::Relaxed);
        let set = stop_set_and(others);
        let mut mask_before = empty_set();
        set_mask(libc::SIG_BLOCK, &set, Some(&mut mask_before))?;
        // SAFETY: `set` is a live, initialised signal set; -1 asks for a new descriptor.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: signalfd just returned `fd`, and no other value owns it.
        let descriptor = unsafe { OwnedFd::from_raw_fd(fd) };
        Ok(Signals { descriptor, mask_before })
    }

    /// Makes `command` start with the signal mask that this process started with.
    pub fn leave_out(&self, command: &mut Command) {
        let mask = self.mask_before;
        // SAFETY: between fork and exec the closure makes one system call on data of its own.
        unsafe { command.pre_exec(move || set_mask(libc::SIG_SETMASK, &mask, None)) };
    }

    /// Returns the next request; `None` if none is pending.
    pub fn next(&self) -> Option<Request> {
        let mut bytes = [0u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.descriptor, &mut bytes).ok()?;
        if read != bytes.len() {
            return None;
        }
        // SAFETY: signalfd_siginfo consists of plain integers, for which any bytes are valid, and `bytes` has its
        // size.
        let info: libc::signalfd_siginfo = unsafe { std::mem::transmute(bytes) };
        let signal = Signal::from_named_raw(i32::try_from(info.ssi_signo).ok()?)?;
        Some(Request { signal, by_kill: info.ssi_code == libc::SI_USER })
    }
}

/// Whether the process hears stop requests, which then end it no longer by themselves.
pub fn are_heard() -> bool {
    // Relaxed: the flag publishes no other data.
    ARE_HEARD.load(Ordering::Relaxed)
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn stop_set_and(others: &[Signal]) -> libc::sigset_t {
    let mut set = empty_set();
    let others = others.iter().map(|signal| signal.as_raw());
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP].into_iter().chain(others) {
        // SAFETY: `set` is a live local and `signal` a valid number, so this can't fail.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}

fn empty_set() -> libc::sigset_t {
    // SAFETY: sigset_t is a plain array of integers for which all zeros is a valid value.
    unsafe { std::mem::zeroed() }
}

fn set_mask(
    how: libc::c_int,
    set: &libc::sigset_t,
    before: Option<&mut libc::sigset_t>,
) -> io::Result<()> {
    let before = before.map_or(std::ptr::null_mut(), |before| before as *mut libc::sigset_t);
    // SAFETY: `set` is a live signal set, and `before` is null or exclusively borrowed.
    let rc = unsafe { libc::sigprocmask(how, set, before) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
