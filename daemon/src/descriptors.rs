//! How many descriptors the daemon may have open, several for each application; and what it says when there
//! are no more.

use std::io;
use std::os::fd::{AsFd, OwnedFd};

use gapii_protocol::control::{ControlError, code};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More than all bounds together come to, and few enough to count in a loop.
const WANTED: u64 = 1 << 16;

/// A descriptor that is kept back: with it who connects when there is no other is told so.
#[derive(Debug)]
pub struct Reserve(Option<OwnedFd>);

/// Raises the limit as far as the system lets it be, which for most is far above what programs begin
/// with.
pub fn allow_many() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = WANTED.min(maximum.unwrap_or(WANTED));
    if current.is_some_and(|current| current < wanted) {
        let limit = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            tracing::warn!("the limit of open descriptors stays at {current:?}: {error}");
        }
    }
}

/// What a client hears when there are no more.
pub fn exhausted() -> ControlError {
    let message = "the daemon has as many descriptors open as it may; raise its limit (LimitNOFILE= of its unit, \
                   ulimit -n), or end captures and programs";
    ControlError::new(code::TOO_MANY, message)
}

/// Whether there are no more.
pub fn are_exhausted() -> bool {
    any().is_err_and(is_want)
}

impl Reserve {
    pub fn new() -> Self {
        Self(any().ok())
    }

    /// Answers who has connected with `words` and no more, where `error` of accepting them is the want of
    /// descriptors. False: nobody was answered.
    pub fn turn_away(&mut self, error: &io::Error, listener: impl AsFd, words: &[u8]) -> bool {
        if !Errno::from_io_error(error).is_some_and(is_want) || self.0.take().is_none() {
            return false;
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let answered = rustix::net::accept_with(listener, flags).is_ok_and(|socket| {
            rustix::net::send(socket, words, SendFlags::NOSIGNAL | SendFlags::DONTWAIT).is_ok()
        });
        self.0 = any().ok();
        answered
    }
}

fn any() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn is_want(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE)
}
