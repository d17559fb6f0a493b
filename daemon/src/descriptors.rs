//! How many descriptors the daemon may have open, several for each application; and what it says when there
//! are no more.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use gapii_control::{ControlError, code};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::net::{SendFlags, SocketFlags};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::UnixListener;

use crate::refusals::Refusals;

/// More than all bounds together come to, and few enough to count in a loop.
const WANTED: u64 = 1 << 16;
/// A pause after an accept that failed, where nobody could be told.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A descriptor that is kept back: with it who connects when there is no other is told so.
#[derive(Debug)]
pub struct Reserve {
    kept: Option<OwnedFd>,
    /// Who connects.
    who: &'static str,
    /// What is said.
    words: Vec<u8>,
}

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
    pub fn new(who: &'static str, words: Vec<u8>) -> Self {
        Self { kept: any().ok(), who, words }
    }

    /// Somebody cannot be accepted. They are told so where that is for want of descriptors.
    pub async fn refuse(
        &mut self,
        error: &io::Error,
        listener: &UnixListener,
        refusals: &Refusals,
    ) {
        refusals.say(format_args!("{} cannot be accepted: {error}", self.who));
        if !Errno::from_io_error(error).is_some_and(is_want) || !self.turn_away(listener) {
            tokio::time::sleep(ACCEPT_PAUSE).await;
        }
    }

    /// False: nobody was answered.
    fn turn_away(&mut self, listener: impl AsFd) -> bool {
        if self.kept.take().is_none() {
            return false;
        }
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let answered = rustix::net::accept_with(listener, flags).is_ok_and(|socket| {
            rustix::net::send(socket, &self.words, SendFlags::NOSIGNAL | SendFlags::DONTWAIT)
                .is_ok()
        });
        self.kept = any().ok();
        answered
    }
}

fn any() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
}

fn is_want(error: Errno) -> bool {
    matches!(error, Errno::MFILE | Errno::NFILE)
}
