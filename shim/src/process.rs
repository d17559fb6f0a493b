//! The process as a whole: its connection to a daemon, and what it tells the daemon about itself. A process without a
//! daemon tries to connect at its first command, then at safe points, at most once per second (`RETRY_NS`). It waits
//! 20 ms (`ANSWER`) for the answer, or 2 s if it waits for a capture; a later answer is taken at the command or safe
//! point after it. A process that records nothing looks at most once per second whether its daemon is alive. A
//! connection inherited through `fork` does not count.
//!
//! A connection stays mapped for the life of the process, so daemons that accept it and die must not cost one each second:
//! `pause_ns` grows from the fifth connection on that was lost within 10 s, and `CONNECTIONS_MAX` is the end.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use std::time::Duration;

use gapii_abi::app::HELLO_TIMEOUT_MS;

use crate::connection::Connection;
use crate::contexts;
use crate::dial::{Answer, Dialled};
use crate::environment;
use crate::fault::{self, Fault};
use crate::orders;
use crate::orphan;
use crate::system;

/// How long after an attempt, in nanoseconds, the shim looks for a daemon again, or checks that it is alive.
const RETRY_NS: u64 = 1_000_000_000;

/// A connection that is lost earlier has died young, in nanoseconds.
const YOUNG_NS: u64 = 10_000_000_000;
/// As many connections may die young, one after the other, before the pause grows: a developer restarts a daemon now and
/// then.
const YOUNG_FREE: u32 = 4;
/// Doublings of the pause at most: to 64 s.
const DOUBLINGS_MAX: u32 = 6;
/// Most connections of a process. Each takes some of its mappings, of which Linux allows 65,530, and address space.
pub const CONNECTIONS_MAX: u32 = 1_024;

/// How long the process waits for the answer to a hello.
const ANSWER: Duration = Duration::from_millis(20);
/// For how long every command looks for an answer that is late. Later, safe points do.
const LATE: Duration = Duration::from_secs(1);

/// Bits of the APIs that the process has called.
static APIS: AtomicU32 = AtomicU32::new(0);
static CONNECTION: AtomicPtr<Connection> = AtomicPtr::new(ptr::null_mut());
static LAST_TRY_NS: AtomicU64 = AtomicU64::new(0);
/// Number of connections that the process has made, with those of its parent before a `fork`.
static MADE: AtomicU32 = AtomicU32::new(0);
/// When the newest of them began.
static BEGAN_NS: AtomicU64 = AtomicU64::new(0);
/// How many of the newest ones, one after the other, have died young.
static DIED_YOUNG: AtomicU32 = AtomicU32::new(0);
/// The hello that has no answer yet; null if there is none. The thread that takes it owns it.
static DIALLED: AtomicPtr<Dialled> = AtomicPtr::new(ptr::null_mut());

/// Notes that the process uses an API, and tells the daemon.
pub fn note_api(bit: u32) {
    APIS.fetch_or(bit, Relaxed);
    tell_apis();
}

/// Bits of the APIs that the process has called.
pub fn apis() -> u32 {
    APIS.load(Relaxed)
}

/// Writes the bits of the APIs into the segment's header, where the daemon reads them.
fn tell_apis() {
    if let Some(connection) = connection() {
        connection.shared.segment.header().apis.store(u64::from(apis()), Relaxed);
    }
}

/// Returns the connection that this process has made. One that was inherited through `fork` does not count.
pub fn connection() -> Option<&'static Connection> {
    // SAFETY: connections are leaked, never freed.
    let connection = unsafe { CONNECTION.load(Acquire).as_ref() }?;
    (!connection.is_inherited()).then_some(connection)
}

/// Takes the answer to an earlier hello if it has come by now; without one, connects to a daemon, unless the last attempt
/// was less than a second ago.
pub fn connect_again() {
    if let Some(dialled) = take_dialled() {
        let waits = fault::is_put_in(Fault::WaitsAgain);
        hear(dialled, if waits { ANSWER } else { Duration::ZERO });
        return;
    }
    let now = system::now_ns();
    let last = LAST_TRY_NS.load(Relaxed);
    if now.saturating_sub(last) >= pause_ns() || fault::is_put_in(Fault::NoPause) {
        connect();
    }
}

/// Returns how long after an attempt the process looks for a daemon again, in nanoseconds.
pub fn pause_ns() -> u64 {
    // Relaxed: a number on its own.
    let died_young = DIED_YOUNG.load(Relaxed);
    let doublings = match fault::is_put_in(Fault::NoGrowingPause) {
        true => 0,
        false => died_young.saturating_sub(YOUNG_FREE).min(DOUBLINGS_MAX),
    };
    RETRY_NS << doublings
}

/// Whether the connection was inherited from the parent through `fork`.
pub fn is_forked_child() -> bool {
    // SAFETY: connections are leaked, never freed.
    let connection = unsafe { CONNECTION.load(Acquire).as_ref() };
    connection.is_some_and(Connection::is_inherited)
}

/// Gives up a connection whose daemon is gone.
pub fn disconnect() {
    orders::listen_to(None);
    let old = CONNECTION.swap(ptr::null_mut(), AcqRel);
    // SAFETY: connections are leaked, never freed.
    if let Some(connection) = unsafe { old.as_ref() } {
        orphan::forget();
        connection.give_up();
        let lived_ns = system::now_ns().saturating_sub(BEGAN_NS.load(Relaxed));
        // Relaxed, here and below: numbers on their own. A thread that sees old ones tries a little too early.
        match lived_ns < YOUNG_NS {
            true => DIED_YOUNG.fetch_add(1, Relaxed),
            false => DIED_YOUNG.swap(0, Relaxed),
        };
    }
}

/// Whether the daemon is gone. For a process that records nothing: it checks once a second at most, and answers no in
/// between.
pub fn has_lost_daemon(connection: &Connection) -> bool {
    let now = system::now_ns();
    if now.saturating_sub(LAST_TRY_NS.load(Relaxed)) < RETRY_NS {
        return false;
    }
    LAST_TRY_NS.store(now, Relaxed);
    connection.is_daemon_gone()
}

/// Connects to a daemon now, if there is one, and if the process has not made all its connections. Returns false if the
/// daemon refuses this process.
pub fn connect() -> bool {
    LAST_TRY_NS.store(system::now_ns(), Relaxed);
    if MADE.load(Relaxed) >= CONNECTIONS_MAX {
        return true;
    }
    let limit = match environment::wait_limit() {
        Some(_) => Duration::from_millis(HELLO_TIMEOUT_MS),
        None => ANSWER,
    };
    match take_dialled().or_else(|| Dialled::new(apis()).map(Box::new)) {
        Some(dialled) => hear(dialled, limit),
        None => true,
    }
}

/// Takes the hello that has no answer yet, unless it is that of a parent process.
fn take_dialled() -> Option<Box<Dialled>> {
    // DIALLED: pairs with the release in `hear`.
    let dialled = DIALLED.swap(ptr::null_mut(), Acquire);
    if dialled.is_null() {
        return None;
    }
    // SAFETY: made by Box::into_raw, and no other thread has it any more.
    Some(unsafe { Box::from_raw(dialled) }).filter(|dialled| dialled.is_own())
}

/// Waits for the answer to a hello, for `limit` at most. Returns false if the answer is a refusal.
fn hear(dialled: Box<Dialled>, limit: Duration) -> bool {
    match dialled.answer(limit) {
        Answer::Accepted(connection) => begin(connection),
        Answer::Gone => orders::listen_to(None),
        Answer::Refused => {
            orders::listen_to(None);
            return false;
        }
        Answer::None(dialled) => {
            match dialled.age() < LATE {
                true => orders::look_at_every_command(),
                false => orders::listen_to(None),
            }
            if fault::is_put_in(Fault::LateAnswerLost) {
                Box::leak(dialled.into());
                return true;
            }
            // DIALLED: pairs with the acquire in `take_dialled`.
            DIALLED.store(Box::into_raw(Box::new(dialled)), Release);
        }
    }
    true
}

fn begin(connection: Connection) {
    let connection: &'static Connection = Box::leak(Box::new(connection));
    MADE.fetch_add(1, Relaxed);
    BEGAN_NS.store(system::now_ns(), Relaxed);
    connection.shared.set_host(connection);
    CONNECTION.store(ptr::from_ref(connection).cast_mut(), Release);
    orders::listen_to(Some(&connection.shared.mode));
    tell_contexts();
    tell_apis();
}

/// Forgets the connection that a forked child has inherited.
pub fn forget_inherited() {
    orders::listen_to(None);
    CONNECTION.store(ptr::null_mut(), Release);
}

/// Makes the process one that has never looked for a daemon.
#[cfg(test)]
pub fn forget() {
    drop(take_dialled());
    disconnect();
    LAST_TRY_NS.store(0, Relaxed);
    MADE.store(0, Relaxed);
    DIED_YOUNG.store(0, Relaxed);
}

/// Writes the number of contexts of the process into the segment's header, where the daemon reads it.
pub fn tell_contexts() {
    if let Some(connection) = connection() {
        connection.shared.segment.header().contexts.store(contexts::alive(), Relaxed);
    }
}

/// Counts a command that was called from inside another command and therefore not recorded.
pub fn count_reentrant() {
    if let Some(connection) = connection() {
        connection.shared.segment.header().reentrant_calls.fetch_add(1, Relaxed);
    }
}
