//! The process as a whole: its connection to a daemon, and what it tells the daemon about itself. A process without a
//! daemon tries to connect at its first command, then at safe points, at most once per second (`RETRY_NS`). A process
//! that records nothing looks at most once per second whether its daemon is alive. A connection inherited through
//! `fork` does not count.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64};

use gapii_recorder::clock_ns;

use crate::connection::Connection;
use crate::contexts;
use crate::orphan;

/// How long after an attempt, in nanoseconds, the shim looks for a daemon again, or checks that it is alive.
const RETRY_NS: u64 = 1_000_000_000;

/// Bits of the APIs that the process has called.
static APIS: AtomicU32 = AtomicU32::new(0);
static CONNECTION: AtomicPtr<Connection> = AtomicPtr::new(ptr::null_mut());
static LAST_TRY_NS: AtomicU64 = AtomicU64::new(0);

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

/// Connects to a daemon, unless the last attempt was less than a second ago.
pub fn connect_again() {
    let now = clock_ns();
    let last = LAST_TRY_NS.load(Relaxed);
    if now.saturating_sub(last) >= RETRY_NS {
        connect();
    }
}

/// Whether the connection was inherited from the parent through `fork`.
pub fn is_forked_child() -> bool {
    // SAFETY: connections are leaked, never freed.
    let connection = unsafe { CONNECTION.load(Acquire).as_ref() };
    connection.is_some_and(Connection::is_inherited)
}

/// Gives up a connection whose daemon is gone.
pub fn disconnect() {
    let old = CONNECTION.swap(ptr::null_mut(), AcqRel);
    // SAFETY: connections are leaked, never freed.
    if let Some(connection) = unsafe { old.as_ref() } {
        orphan::forget();
        connection.give_up();
    }
}

/// Whether the daemon is gone. For a process that records nothing: it checks once a second at most, and answers no in
/// between.
pub fn has_lost_daemon(connection: &Connection) -> bool {
    let now = clock_ns();
    if now.saturating_sub(LAST_TRY_NS.load(Relaxed)) < RETRY_NS {
        return false;
    }
    LAST_TRY_NS.store(now, Relaxed);
    connection.is_daemon_gone()
}

/// Connects to a daemon now, if there is one.
pub fn connect() {
    LAST_TRY_NS.store(clock_ns(), Relaxed);
    if let Some(connection) = Connection::open(apis()) {
        let connection: &'static Connection = Box::leak(Box::new(connection));
        connection.shared.set_host(connection);
        CONNECTION.store(ptr::from_ref(connection).cast_mut(), Release);
        tell_contexts();
        tell_apis();
    }
}

/// Forgets the connection that a forked child has inherited.
pub fn forget_inherited() {
    CONNECTION.store(ptr::null_mut(), Release);
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
