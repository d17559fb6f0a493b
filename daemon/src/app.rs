//! One application's connection: hello, reply, and then only the wait for its end. Accepts only processes of the
//! daemon's user or root. The hello must arrive complete within `HELLO_TIMEOUT_MS`, 2 s, with at most 3 descriptors;
//! otherwise the socket is closed, without an answer after a timeout. Refusals are counted and answered with a status:
//! wrong user or damaged hello, other version, `--max-apps` reached or no descriptor left. A process that only closes
//! its socket stays connected until it dies, unless it has become another program or says hello again.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

use gapii_abi::app::{
    APP_VERSION_MAX, APP_VERSION_MIN, AppHello, BadMessage, DESCRIPTORS, FLAG_TAKE_OVER, HELLO_LEN,
    HELLO_TIMEOUT_MS, HelloReply, common_version, reply_status,
};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncReadExt, Interest};
use tokio::net::UnixStream;

use crate::death;
use crate::door::Guest;
use crate::peer::{Peer, PeerError};
use crate::session::take_up::TakeOverError;
use crate::session::{RegisterError, Session};
use gapii_capture::end::Departure;
use gapii_capture::process::{Descriptors, HandedOver, Process};
use gapii_remote::rights;

/// Why an application is refused.
#[derive(Debug, thiserror::Error)]
enum HelloError {
    #[error(transparent)]
    Peer(#[from] PeerError),
    #[error("no hello within {HELLO_TIMEOUT_MS} ms")]
    Timeout,
    #[error("too many connections without a hello")]
    Crowded,
    #[error("the hello is truncated")]
    Short(#[source] io::Error),
    #[error(transparent)]
    Bad(#[from] BadMessage),
    #[error(
        "the application speaks versions {min} to {max}, which this daemon does not: it needs libgapii.so and gapiid of one \
         release"
    )]
    Version { min: u16, max: u16 },
    #[error(transparent)]
    Register(#[from] RegisterError),
    #[error("an application of another daemon is not taken over: {0}")]
    TakeOver(#[from] TakeOverError),
    #[error("the application hands over {0} descriptors instead of {DESCRIPTORS}")]
    Descriptors(usize),
    #[error("the reply cannot be sent: {0}")]
    Reply(#[source] io::Error),
}

/// Serves an application until it is gone.
pub async fn serve(session: Arc<Session>, mut socket: UnixStream, guest: Guest) {
    match welcome(&session, &mut socket, guest).await {
        Ok(process) => {
            let (pid, name, exe) = (process.pid, &process.name, &process.exe);
            tracing::info!(pid, %name, %exe, "{} is connected", process.described());
            let left = session.until_unregistered(process.index);
            let how = tokio::select! {
                how = gone(&process, &mut socket) => how,
                // Its socket, its pidfd and its memory are not needed any more: a process that says hello again and
                // again has those of one connection.
                _ = left => return,
            };
            session.unregister(process.index, how);
        }
        Err(error) => {
            count(&session, &error);
            session.refusals.say(format_args!("an application is refused: {error}"));
            if let Some(status) = refusal_status(&error) {
                let reply = HelloReply::refusal(status, std::process::id()).to_bytes();
                // An application that does not wait for the answer needs none.
                let _ = rights::send(&socket, &reply, &[]).await;
            }
        }
    }
}

async fn welcome(
    session: &Arc<Session>,
    socket: &mut UnixStream,
    guest: Guest,
) -> Result<Arc<Process>, HelloError> {
    let peer = Peer::of(socket)?;
    let (hello, fds) = receive_hello(socket).await?;
    if !guest.enter() {
        return Err(HelloError::Crowded);
    }
    let theirs = (hello.version_min, hello.version_max);
    let Some(version) = common_version((APP_VERSION_MIN, APP_VERSION_MAX), theirs) else {
        return Err(HelloError::Version { min: theirs.0, max: theirs.1 });
    };
    if hello.flags & FLAG_TAKE_OVER != 0 {
        return take_over(session, socket, (peer, version), &hello, fds).await;
    }
    let (process, Descriptors { mode, segment }) = session.register(peer.pid, &hello)?;
    let reply = HelloReply { version, ..reply_to(&process, session) };
    let counter = Arc::clone(&process.counter().fd);
    let fds: [_; DESCRIPTORS] = [counter.as_fd(), mode.as_fd(), segment.as_fd()];
    send_reply(session, socket, process, &reply, &fds).await
}

/// Takes over a process that another daemon had in a capture.
async fn take_over(
    session: &Arc<Session>,
    socket: &UnixStream,
    (peer, version): (Peer, u16),
    hello: &AppHello,
    fds: Vec<OwnedFd>,
) -> Result<Arc<Process>, HelloError> {
    let count = fds.len();
    let [counter, mode, segment]: [OwnedFd; DESCRIPTORS] =
        fds.try_into().map_err(|_| HelloError::Descriptors(count))?;
    let handed_over = HandedOver { counter, mode, segment };
    let (process, mode) = session.take_over(peer.pid, hello, handed_over).await?;
    let status = reply_status::TAKEN_OVER;
    let reply = HelloReply { version, status, ..reply_to(&process, session) };
    send_reply(session, socket, process, &reply, &[mode.as_fd()]).await
}

fn reply_to(process: &Process, session: &Session) -> HelloReply {
    let layout = process.layout();
    HelloReply {
        slot_count: layout.slot_count(),
        ring_bytes: layout.ring_bytes(),
        segment_bytes: layout.segment_bytes(),
        session: session.id,
        process: process.index,
        ..HelloReply::refusal(reply_status::OK, std::process::id())
    }
}

async fn send_reply(
    session: &Session,
    socket: &UnixStream,
    process: Arc<Process>,
    reply: &HelloReply,
    fds: &[BorrowedFd<'_>],
) -> Result<Arc<Process>, HelloError> {
    if let Err(error) = rights::send(socket, &reply.to_bytes(), fds).await {
        session.unregister(process.index, Departure::Died);
        return Err(HelloError::Reply(error));
    }
    Ok(process)
}

/// Receives the hello, and the descriptors that come with it.
async fn receive_hello(socket: &UnixStream) -> Result<(AppHello, Vec<OwnedFd>), HelloError> {
    let mut bytes = [0; HELLO_LEN];
    let mut fds = Vec::new();
    let limit = Duration::from_millis(HELLO_TIMEOUT_MS);
    match tokio::time::timeout(limit, receive_all(socket, &mut bytes, &mut fds)).await {
        Err(_) => Err(HelloError::Timeout),
        Ok(Err(error)) => Err(HelloError::Short(error)),
        Ok(Ok(())) => Ok((AppHello::from_bytes(&bytes)?, fds)),
    }
}

async fn receive_all(
    socket: &UnixStream,
    bytes: &mut [u8],
    fds: &mut Vec<OwnedFd>,
) -> io::Result<()> {
    let mut filled = 0;
    while filled < bytes.len() {
        match rights::receive(socket, &mut bytes[filled..], fds).await? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => filled += count,
        }
        if fds.len() > DESCRIPTORS {
            return Err(io::Error::other("it comes with more descriptors than it needs"));
        }
    }
    Ok(())
}

/// Waits until the process writes no more.
async fn gone(process: &Process, socket: &mut UnixStream) -> Departure {
    // Without the pidfd, only the socket tells.
    // SAFETY: the descriptor stays open as long as `process`, which outlives the registration.
    let death = unsafe { AsyncFd::register_with_interest(process.pidfd(), Interest::READABLE) };
    let death = death.ok();
    let died = async {
        match &death {
            Some(death) => drop(death.readable().await),
            None => std::future::pending().await,
        }
    };
    tokio::pin!(died);
    let mut byte = [0];
    tokio::select! {
        () = &mut died => return death_of(process),
        // The application never sends anything: whatever this returns, the application has broken the protocol or
        // closed the socket.
        _ = socket.read(&mut byte) => {}
    }
    if !process.is_gone() && process.lacks_segment() {
        return Departure::Exec;
    }
    // Some programs close descriptors that they did not open, and the memory is still shared. A process that has
    // become another program unnoticed sends another hello, or ends some day.
    let (pid, name) = (process.pid, &process.name);
    tracing::debug!(pid, %name, "{} has closed its socket", process.described());
    died.await;
    death_of(process)
}

/// Returns how a process has died.
fn death_of(process: &Process) -> Departure {
    let account = death::account(process.pidfd(), process.pid);
    account.map_or(Departure::Died, Departure::Ended)
}

fn count(session: &Session, error: &HelloError) {
    if let HelloError::TakeOver(TakeOverError::Unwanted | TakeOverError::NoCapture) = error {
        // The process' daemon has ended, and its client with it.
        return;
    }
    session.reject(|counters| match error {
        HelloError::Timeout | HelloError::Crowded | HelloError::Short(_) | HelloError::Reply(_) => {
            &counters.app_timeouts
        }
        HelloError::Version { .. } => &counters.app_versions,
        HelloError::Peer(_)
        | HelloError::Bad(_)
        | HelloError::Register(_)
        | HelloError::TakeOver(_)
        | HelloError::Descriptors(_) => &counters.app_hellos,
    });
}

/// Returns the status of the reply, or `None` if no peer would read it.
fn refusal_status(error: &HelloError) -> Option<u16> {
    match error {
        HelloError::Peer(_) | HelloError::Bad(_) => Some(reply_status::NOT_ALLOWED),
        HelloError::Version { .. } => Some(reply_status::VERSION),
        HelloError::Register(_) => Some(reply_status::TOO_MANY),
        HelloError::TakeOver(_) | HelloError::Descriptors(_) => Some(reply_status::NO_CAPTURE),
        HelloError::Timeout | HelloError::Crowded | HelloError::Short(_) | HelloError::Reply(_) => {
            None
        }
    }
}
