//! The process as a whole: set-up at the first command, the connection to the daemon, and forked children.

use core::ptr;
use core::sync::atomic::Ordering::{AcqRel, Release};
use core::sync::atomic::{
    AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering::Acquire, Ordering::Relaxed,
};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::sync::{Once, OnceLock};

use gapii_abi::app::API_EGL_GLES;

use crate::arena;
use crate::capture::{self, Moment};
use crate::connection::Connection;
use crate::driver;
use crate::errno::ErrnoGuard;
use crate::generated::names::{EXPORTED, NAMES};
use crate::hooks;
use crate::orphan;
use crate::pages;
use crate::table::{self, Hooks};
use crate::tracking;

/// How long after an attempt, in nanoseconds, the shim looks for a daemon again, or checks that it is alive.
const RETRY_NS: u64 = 1_000_000_000;

/// Bits of the APIs that the process has called.
static APIS: AtomicU32 = AtomicU32::new(0);
static CONNECTION: AtomicPtr<Connection> = AtomicPtr::new(ptr::null_mut());
static LAST_TRY_NS: AtomicU64 = AtomicU64::new(0);

/// Runs once, at the process' first command of EGL or OpenGL ES: finds the driver's functions, and [`wake`]s.
pub fn set_up() {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::new();
    ONCE.call_once(|| {
        note_api(API_EGL_GLES);
        for (id, name) in NAMES.iter().enumerate() {
            if EXPORTED.get(id) == Some(&true) {
                table::set_driver(id, driver::symbol(name));
            }
        }
        table::note_set_up();
        wake();
    });
}

/// Runs once, at the process' first command of any API: connects to a daemon, and waits for a capture if the daemon
/// says so.
pub fn wake() {
    static ONCE: Once = Once::new();
    let _errno = ErrnoGuard::new();
    ONCE.call_once(|| {
        arena::guard_forks();
        tracking::guard_forks();
        let hooks = if wanted() { hooks_at_rest() } else { Hooks::None };
        table::switch(hooks);
        if hooks != Hooks::None {
            pages::set_up();
            connect();
            capture::safe_point(Moment::FirstCommand);
        }
    });
}

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
        connection.segment.header().apis.store(u64::from(apis()), Relaxed);
    }
}

/// Whether the shim tracks state while nothing is recorded. Yes, unless `GAPII_MONITOR` is 0.
pub fn monitors() -> bool {
    static MONITORS: OnceLock<bool> = OnceLock::new();
    *MONITORS.get_or_init(|| std::env::var_os("GAPII_MONITOR").is_none_or(|value| value != "0"))
}

/// What the table holds while nothing is recorded.
pub fn hooks_at_rest() -> Hooks {
    if monitors() { Hooks::Monitoring } else { Hooks::Asleep }
}

/// Whether `GAPII_PROCESS` lets the shim connect in this process.
pub fn wanted() -> bool {
    const UNKNOWN: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match WANTED.load(Relaxed) {
        UNKNOWN => {
            let wanted = matches_process_pattern();
            WANTED.store(u8::from(wanted), Relaxed);
            wanted
        }
        known => known == 1,
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

/// Makes a forked child a process of its own: forgets the parent's connection and capture, and connects for itself.
pub fn become_own_process() {
    capture::forget();
    CONNECTION.store(ptr::null_mut(), Release);
    connect();
    capture::safe_point(Moment::FirstCommand);
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

/// Returns the time of `CLOCK_MONOTONIC` in nanoseconds.
pub fn clock_ns() -> u64 {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is writable.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn connect() {
    LAST_TRY_NS.store(clock_ns(), Relaxed);
    if let Some(connection) = Connection::open() {
        CONNECTION.store(Box::into_raw(Box::new(connection)), Release);
        hooks::tell_contexts();
        tell_apis();
    }
}

/// Whether `GAPII_PROCESS`, a shell pattern or a plain name, matches the executable's file name or the process' name.
/// If it is not set or empty, it matches.
fn matches_process_pattern() -> bool {
    let Some(pattern) = std::env::var_os("GAPII_PROCESS").filter(|text| !text.is_empty()) else {
        return true;
    };
    let Ok(pattern) = CString::new(pattern.as_bytes()) else { return false };
    let exe = std::env::current_exe().unwrap_or_default();
    let exe = exe.file_name().unwrap_or_default().as_bytes().to_vec();
    let name = std::fs::read("/proc/self/comm").unwrap_or_default();
    [exe, name.trim_ascii_end().to_vec()]
        .into_iter()
        .filter_map(|name| CString::new(name).ok())
        .any(|name| matches(&pattern, &name))
}

fn matches(pattern: &CStr, name: &CStr) -> bool {
    // SAFETY: two terminated strings.
    unsafe { libc::fnmatch(pattern.as_ptr(), name.as_ptr(), 0) == 0 }
}
