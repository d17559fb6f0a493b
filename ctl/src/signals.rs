//! `Signals`: the requests to stop (SIGINT, SIGTERM, SIGHUP), as a descriptor to poll.
//!
//! Interrupts nothing: from `block` on these signals wait until they are read. Programs started
//! by the standard library begin with an empty mask, so they do not inherit the block.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd};

use rustix::process::Signal;

/// One request to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    pub signal: Signal,
    /// Sent to this process with `kill`, so others of the terminal's foreground group may not
    /// have got it.
    pub by_kill: bool,
}

pub struct Signals {
    descriptor: OwnedFd,
}

impl Signals {
    /// Blocks the signals in the calling thread, which must be the only one.
    pub fn block() -> io::Result<Signals> {
        let set = stop_set();
        // SAFETY: `set` is a live, initialised signal set; the old mask is not asked for.
        let rc =
            unsafe { libc::sigprocmask(libc::SIG_BLOCK, &raw const set, std::ptr::null_mut()) };
        if rc != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `set` is a live, initialised signal set; -1 asks for a new descriptor.
        let fd =
            unsafe { libc::signalfd(-1, &raw const set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: signalfd just returned `fd` and nobody else owns it.
        Ok(Signals { descriptor: unsafe { OwnedFd::from_raw_fd(fd) } })
    }

    /// The next request, or None when none is pending.
    pub fn next(&self) -> Option<Request> {
        let mut bytes = [0u8; size_of::<libc::signalfd_siginfo>()];
        let read = rustix::io::read(&self.descriptor, &mut bytes).ok()?;
        if read != bytes.len() {
            return None;
        }
        // SAFETY: signalfd_siginfo is plain integers, any bytes are a value of it, and `bytes`
        // has its size.
        let info: libc::signalfd_siginfo = unsafe { std::mem::transmute(bytes) };
        let signal = Signal::from_named_raw(i32::try_from(info.ssi_signo).ok()?)?;
        Some(Request { signal, by_kill: info.ssi_code == libc::SI_USER })
    }
}

impl AsFd for Signals {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn stop_set() -> libc::sigset_t {
    // SAFETY: sigset_t is a plain array of integers for which all zeros is a valid value.
    let mut set: libc::sigset_t = unsafe { std::mem::zeroed() };
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: `set` is a live local and `signal` a valid number, so this can't fail.
        unsafe { libc::sigaddset(&raw mut set, signal) };
    }
    set
}
