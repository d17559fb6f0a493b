//! The limit of open descriptors: raised at the start as far as the system allows, up to `WANTED`, 65,536. When no
//! descriptor is left, one in reserve accepts the connecting application or client, answers it with an error, and is
//! opened again. If even that fails, the daemon accepts nothing for `ACCEPT_PAUSE`, 100 ms, and then tries again.

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

/// More than the sum of the daemon's limits, and few enough for loops over all descriptors.
const WANTED: u64 = 1 << 16;
/// Pause after an accept that failed, if the peer could not be told: 100 ms.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A descriptor in reserve. When no other is left, it serves to tell a connecting peer.
#[derive(Debug)]
pub struct Reserve {
    kept: Option<OwnedFd>,
    /// The kind of peer that connects.
    who: &'static str,
    /// The answer.
    words: Vec<u8>,
}

/// Raises the limit of open descriptors as far as the system allows, up to 65,536.
pub fn allow_many() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = WANTED.min(maximum.unwrap_or(WANTED));
    if current.is_some_and(|current| current < wanted) {
        let limit = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, limit) {
            let current = current.unwrap_or_default();
            tracing::warn!(
                "the limit of open descriptors stays at {current}, and {wanted} are wanted: {error}; `ulimit -n {wanted}` \
                 before `gapiid` raises it"
            );
        }
    }
}

/// Returns the error for a client when no descriptor is left.
pub fn exhausted() -> ControlError {
    ControlError::new(
        code::TOO_MANY,
        "the daemon has no file descriptor left",
        "`gapii-ctl stop` ends the captures; for more descriptors, restart the daemon after `ulimit -n 65536`, or with \
         `LimitNOFILE=65536` in its unit",
    )
}

/// Returns whether no descriptor is left.
pub fn are_exhausted() -> bool {
    any().is_err_and(is_want)
}

impl Reserve {
    /// Opens the descriptor in reserve. `who` is the kind of peer, and `words` the answer.
    pub fn new(who: &'static str, words: Vec<u8>) -> Self {
        Self { kept: any().ok(), who, words }
    }

    /// Handles a failed accept. Tells the peer, if no descriptor is left.
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

    /// Accepts a connection with the reserved descriptor and answers it. Returns false if no peer was answered.
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
