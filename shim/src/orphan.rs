//! A process whose daemon has died in the middle of a capture. It keeps recording into its rings, tries every
//! `RETRY_NS` (5 ms) to reach a daemon on the same socket, and hands that daemon the shared memory. Threads with full
//! rings wait for 0.5 s from when the daemon was first missed (`PATIENCE_NS`), then drop records. The capture ends
//! after `LOOK_MS` (10 s), if the new daemon does not take over, or if the program has closed one of the shim's
//! descriptors.
//!
//! Nothing here waits: each look is a few system calls by whichever thread comes along. Nothing here allocates,
//! because some looks happen in the middle of a command.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicBool, AtomicU64};
use std::os::fd::{AsRawFd, RawFd};
use std::time::Duration;

use gapii_abi::app::{
    AppHello, FLAG_TAKE_OVER, FLAG_WAIT, HelloReply, LOOK_MS, REPLY_LEN, reply_status,
};
use gapii_recorder::ErrnoGuard;

use crate::connection::{Connection, receive_with_descriptors, send_with_descriptors};
use crate::descriptor::OwnDescriptor;
use crate::dial;
use crate::fault::{self, Fault};
use crate::system;

/// How long threads wait for room, in nanoseconds, counted from when the daemon was first missed. Afterwards they
/// drop records.
const PATIENCE_NS: u64 = 500_000_000;
/// How often the process tries to reach a daemon, in nanoseconds.
const RETRY_NS: u64 = 5_000_000;
/// How often a thread that waits for room meanwhile looks for a daemon.
pub const LOOK_AROUND: Duration = Duration::from_millis(5);
/// A time so long ago that looking on is pointless.
const LONG_AGO: u64 = 1;

static BUSY: AtomicBool = AtomicBool::new(false);
/// When the daemon was first missed, in nanoseconds; 0 while there is one.
static SINCE_NS: AtomicU64 = AtomicU64::new(0);
static TRIED_NS: AtomicU64 = AtomicU64::new(0);
/// The socket on which another daemon was asked.
static ASKED: OwnDescriptor = OwnDescriptor::none();

/// What becomes of a capture whose daemon is gone.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Another daemon may come: keep recording.
    Open,
    /// Another daemon has come and continues to read.
    GoesOn,
    /// No daemon has come in time, or one that does not continue the capture.
    Over,
}

/// Looks once for another daemon, without waiting.
pub fn look(connection: &Connection) -> Fate {
    if BUSY.swap(true, Acquire) {
        return Fate::Open;
    }
    let _errno = ErrnoGuard::save();
    let outlook = step(connection);
    BUSY.store(false, Release);
    outlook
}

/// Whether the daemon is gone and another one is being looked for.
pub fn is_one() -> bool {
    SINCE_NS.load(Relaxed) != 0
}

/// Whether the daemon has been gone for so long that threads no longer wait for room.
pub fn is_out_of_patience() -> bool {
    match SINCE_NS.load(Relaxed) {
        0 => false,
        since => system::now_ns().saturating_sub(since) >= PATIENCE_NS,
    }
}

/// Stops looking: no capture is left to continue, or this is a forked child and the capture is its parent's.
pub fn forget() {
    ASKED.close();
    SINCE_NS.store(0, Relaxed);
    TRIED_NS.store(0, Relaxed);
    BUSY.store(false, Relaxed);
}

fn step(connection: &Connection) -> Fate {
    if !connection.is_daemon_gone() {
        // Another thread has connected already.
        return Fate::GoesOn;
    }
    let now = system::now_ns();
    let since = match SINCE_NS.load(Relaxed) {
        0 => now,
        since => since,
    };
    SINCE_NS.store(since, Relaxed);
    let looks_on = fault::is_put_in(Fault::LooksForEver);
    if now.saturating_sub(since) >= LOOK_MS * 1_000_000 && !looks_on {
        return Fate::Over;
    }
    match ASKED.get() {
        Some(socket) => hear(connection, socket),
        None if now.saturating_sub(TRIED_NS.load(Relaxed)) < RETRY_NS => Fate::Open,
        None => {
            TRIED_NS.store(now, Relaxed);
            ask(connection, since)
        }
    }
}

/// Sends the hello to the daemon that listens now, with the shared descriptors.
fn ask(connection: &Connection, since_ns: u64) -> Fate {
    let Some(shared) = connection.descriptors() else { return over() };
    let layout = connection.shared.segment.layout();
    let hello = AppHello {
        flags: (connection.hello.flags & !FLAG_WAIT) | FLAG_TAKE_OVER,
        slot_count: layout.slot_count(),
        ring_bytes: layout.ring_bytes(),
        lost_ns: since_ns,
        ..connection.hello
    };
    if let Some(socket) = dial::connect(&connection.address)
        && send_with_descriptors(socket.as_raw_fd(), &hello.to_bytes(), shared)
    {
        ASKED.replace(socket);
    }
    Fate::Open
}

/// Reads the answer, if it has arrived.
fn hear(connection: &Connection, socket: RawFd) -> Fate {
    let mut bytes = [0; REPLY_LEN];
    if system::poll(socket, libc::POLLIN, Duration::ZERO) == 0 {
        return Fate::Open;
    }
    let Some((received, [mode, ..])) = receive_with_descriptors(socket, &mut bytes) else {
        // That daemon is gone, too.
        ASKED.close();
        return Fate::Open;
    };
    let reply = HelloReply::from_bytes(&bytes).ok().filter(|_| received == REPLY_LEN);
    let goes_on = reply.is_some_and(|reply| reply.status == reply_status::TAKEN_OVER);
    let (Some(socket), Some(mode), true) = (ASKED.take(), mode, goes_on) else { return over() };
    if !connection.go_on(socket, mode) {
        return over();
    }
    SINCE_NS.store(0, Relaxed);
    Fate::GoesOn
}

fn over() -> Fate {
    ASKED.close();
    SINCE_NS.store(LONG_AGO, Relaxed);
    Fate::Over
}
