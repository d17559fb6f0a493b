//! `Comeback`: a capture whose daemon is gone, for as long as another may take it up.
//!
//! Looks a bounded time, and never sleeps. Gives up at once where the other daemon says that it does not go on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use gapii_abi::app::{CLAIM_MS, LOOK_MS};
use gapii_protocol::control::{StartRequest, Started, TAKING_UP_VERSION, TakeUpRequest};
use rustix::event::EventfdFlags;

use crate::connection::{ConnectError, Connection};
use crate::failure::Failure;

/// How often a daemon is looked for.
const RETRY: Duration = Duration::from_millis(10);

/// Starts a daemon in the place of one that is gone.
pub type Revive<'a> = Box<dyn FnMut() -> Result<(), Failure> + 'a>;

/// What another daemon must know of a capture to go on with it.
pub struct Comeback<'a> {
    request: TakeUpRequest,
    socket: PathBuf,
    /// The output, where a capture can go on in it, or why not.
    output: Result<OwnedFd, &'static str>,
    revive: Option<Revive<'a>>,
    away: Option<Away>,
}

/// While there is no daemon.
struct Away {
    began: Instant,
    deadline: Instant,
    next: Instant,
    quiet: OwnedFd,
    /// Why there is none yet.
    last: String,
}

/// A capture that goes on.
pub struct Back {
    pub connection: Connection,
    /// Its number there.
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
                Err("a capture on another machine does not go on")
            }
            None => Err("a capture goes on in a file that -o names, and nowhere else"),
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

    /// There is nobody else who would start a daemon again.
    pub fn revive_with(&mut self, revive: Revive<'a>) {
        self.revive = Some(revive);
    }

    /// Whether the daemon is gone, and another is looked for.
    pub fn is_away(&self) -> bool {
        self.away.is_some()
    }

    /// From here on another daemon is looked for.
    pub fn begin(&mut self) -> io::Result<()> {
        let quiet = rustix::event::eventfd(0, EventfdFlags::CLOEXEC)?;
        let began = Instant::now();
        let deadline = began + Duration::from_millis(LOOK_MS);
        let last = "no daemon has come in its place".to_owned();
        self.away = Some(Away { began, deadline, next: began, quiet, last });
        Ok(())
    }

    /// The program has ended: who could hand anything over has little time left.
    pub fn hurry(&mut self) {
        if let Some(away) = &mut self.away {
            away.deadline = away.deadline.min(Instant::now() + Duration::from_millis(CLAIM_MS));
        }
    }

    /// When to look again.
    pub fn next(&self) -> Option<Instant> {
        self.away.as_ref().map(|away| away.next)
    }

    /// Something to wait for that never comes, in the place of a connection.
    pub fn quiet(&self) -> Option<BorrowedFd<'_>> {
        self.away.as_ref().map(|away| away.quiet.as_fd())
    }

    /// Looks once; has the capture go on, or says why it does not. `None`: not yet.
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
                return Err("the one in its place is older and goes on with nothing".to_owned());
            }
            Ok(mut connection) => {
                match connection.take_up(self.request.clone(), output.as_fd()) {
                    Ok(Ok(Started { capture, .. })) => {
                        let after = away.began.elapsed();
                        return Ok(Some(Back { connection, capture, after }));
                    }
                    Ok(Err(refusal)) => return Err(refusal.message),
                    // It is gone, too.
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
