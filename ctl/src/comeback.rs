//! `Comeback`: the search for a daemon that continues a capture whose daemon has died. Tries every 10 ms for `LOOK_MS`,
//! 10 s, once the program has ended for at most 1 s more; a private daemon is started anew. Ends at once if a daemon
//! refuses or is too old, if the capture is on another machine, or if its output is no regular file.
//!
//! It never sleeps: its caller polls.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gapii_abi::app::{CLAIM_MS, LOOK_MS};
use gapii_control::{StartRequest, Started, TAKING_UP_VERSION, TakeUpRequest};
use rustix::event::EventfdFlags;

use crate::connection::{ConnectError, Connection};
use crate::failure::Failure;

/// Interval between two attempts.
const RETRY: Duration = Duration::from_millis(10);

/// Starts a daemon in place of one that has died.
pub type Revive<'a> = Box<dyn FnMut() -> Result<(), Failure> + 'a>;

/// The data with which a successor continues a capture.
pub struct Comeback<'a> {
    request: TakeUpRequest,
    socket: PathBuf,
    /// The output, if a capture can continue in it; otherwise the reason why not.
    output: Result<OwnedFd, &'static str>,
    revive: Option<Revive<'a>>,
    away: Option<Away>,
}

/// State while there is no daemon.
struct Away {
    began: Instant,
    deadline: Instant,
    next: Instant,
    quiet: OwnedFd,
    /// Why the last attempt failed.
    last: String,
}

/// A capture that a successor continues.
pub struct Back {
    pub connection: Connection,
    /// The capture's number in the successor.
    pub capture: u64,
    pub after: Duration,
}

impl<'a> Comeback<'a> {
    pub fn new(
        connection: &Connection,
        capture: u64,
        start: StartRequest,
        output: Option<OwnedFd>,
    ) -> Comeback<'a> {
        let session = connection.server.session.clone();
        let output = match output {
            _ if connection.is_of_another_machine() => {
                Err("a capture on another machine cannot be continued")
            }
            None => Err("only a capture into a regular file can be continued"),
            Some(output) => Ok(output),
        };
        Comeback {
            request: TakeUpRequest { session, capture, start },
            socket: connection.path().to_owned(),
            output,
            revive: None,
            away: None,
        }
    }

    /// Declares that no other process restarts the daemon.
    pub fn revive_with(&mut self, revive: Revive<'a>) {
        self.revive = Some(revive);
    }

    /// Whether the daemon has died and a successor is being looked for.
    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// Begins the search for a successor.
    pub fn begin(&mut self) -> io::Result<()> {
        let quiet = rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?;
        let began = Instant::now();
        let deadline = began + Duration::from_millis(LOOK_MS);
        let last = "no other daemon was started".to_owned();
        self.away = Some(Away { began, deadline, next: began, quiet, last });
        Ok(())
    }

    /// Shortens the search: the program has ended, so its rings will not be available for long.
    pub fn hurry(&mut self) {
        if let Some(away) = &mut self.away {
            away.deadline = away.deadline.min(Instant::now() + Duration::from_millis(CLAIM_MS));
        }
    }

    /// Time of the next attempt.
    pub fn next(&self) -> Option<Instant> {
        self.away.as_ref().map(|away| away.next)
    }

    /// A descriptor that never becomes ready, to poll in place of a connection.
    pub fn quiet(&self) -> Option<BorrowedFd<'_>> {
        self.away.as_ref().map(|away| away.quiet.as_fd())
    }

    /// Makes one attempt. Returns the continued capture, or why it cannot continue; `None` means that the search goes
    /// on.
    pub fn look(&mut self) -> Option<Result<Back, String>> {
        let result = self.try_once().transpose()?;
        self.away = None;
        Some(result)
    }

    fn try_once(&mut self) -> Result<Option<Back>, String> {
        let output = self.output.as_ref().map_err(|why| (*why).to_owned())?;
        let Some(away) = &mut self.away else { return Ok(None) };
        let now = Instant::now();
        if now < away.next {
            return Ok(None);
        }
        away.next = now + RETRY;
        match Connection::to_path(&self.socket) {
            Ok(connection) if connection.server.version < TAKING_UP_VERSION => {
                return Err("the next daemon is too old to continue a capture".to_owned());
            }
            Ok(mut connection) => {
                match connection.take_up(self.request.clone(), output.as_fd()) {
                    Ok(Ok(Started { capture, .. })) => {
                        let after = away.began.elapsed();
                        return Ok(Some(Back { connection, capture, after }));
                    }
                    Ok(Err(refusal)) => return Err(refusal.message.to_string()),
                    // The successor has died as well.
                    Err(failure) => away.last = failure.sentence,
                }
            }
            Err(ConnectError::Absent(_)) => {
                if let Some(revive) = &mut self.revive {
                    revive().map_err(|failure| failure.sentence)?;
                }
            }
            Err(ConnectError::Unusable(failure)) => away.last = failure.sentence,
        }
        if now < away.deadline { Ok(None) } else { Err(away.last.clone()) }
    }
}
