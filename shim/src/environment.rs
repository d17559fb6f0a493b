//! What the process' environment tells the shim; read once. `GAPII_PROCESS`, a shell pattern, is matched with the
//! executable's file name and with the process' name: if neither matches, the shim does not connect and the tables hold
//! the driver's functions alone. Unset or empty, it matches every process. `GAPII_MONITOR=0`: no state is tracked while
//! nothing is recorded.
//!
//! In secure execution (`AT_SECURE`, getauxval(3)) the environment belongs to another user than the process' rights: no
//! variable counts, and the shim sleeps as in a process that `GAPII_PROCESS` excludes.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::ffi::{CStr, CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;
use std::time::Duration;

use gapii_abi::app::{self, Launch};

/// Whether the kernel has started the process with other rights than its caller has: a set-uid or set-gid program, or
/// one with file capabilities. Makes no system call.
pub fn is_secure() -> bool {
    // SAFETY: reads the vector that the kernel gave the process at its start.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Returns a variable of the environment that is set and not empty. `None` for every variable if the process
/// [`is_secure`].
pub fn variable(name: &str) -> Option<OsString> {
    if is_secure() {
        return None;
    }
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// Whether the shim tracks state while nothing is recorded. Yes, unless `GAPII_MONITOR` is 0.
pub fn monitors() -> bool {
    static MONITORS: OnceLock<bool> = OnceLock::new();
    *MONITORS.get_or_init(|| variable("GAPII_MONITOR").is_none_or(|value| value != "0"))
}

/// Returns how long the process' first command waits for a capture: `GAPII_WAIT_SECONDS`, or 600 s, if `GAPII_WAIT` is
/// 1. `None`: it does not wait.
pub fn wait_limit() -> Option<Duration> {
    static LIMIT: OnceLock<Option<Duration>> = OnceLock::new();
    *LIMIT.get_or_init(|| {
        let waits = variable("GAPII_WAIT").is_some_and(|value| value == "1");
        let wanted = || variable("GAPII_WAIT_SECONDS").and_then(|text| seconds(text.to_str()?));
        waits.then(|| wanted().unwrap_or(Duration::from_secs(app::WAIT_SECONDS)))
    })
}

/// Returns the token of the launch that the process belongs to (`GAPII_LAUNCH`). `None` without a valid one.
pub fn launch() -> Option<Launch> {
    app::launch_from_hex(variable("GAPII_LAUNCH")?.as_bytes())
}

/// Parses a time above 0 and of at most 100 years.
fn seconds(text: &str) -> Option<Duration> {
    const MOST: f64 = 100.0 * 365.0 * 86_400.0;
    let seconds: f64 = text.parse().ok()?;
    (seconds > 0.0).then(|| Duration::from_secs_f64(seconds.min(MOST)))
}

/// Whether the shim may connect in this process: `GAPII_PROCESS` lets it, and the process is not [secure](is_secure).
pub fn wanted() -> bool {
    const UNKNOWN: u8 = 2;
    static WANTED: AtomicU8 = AtomicU8::new(UNKNOWN);
    match WANTED.load(Relaxed) {
        UNKNOWN => {
            let wanted = !is_secure() && matches_process_pattern();
            WANTED.store(u8::from(wanted), Relaxed);
            wanted
        }
        known => known == 1,
    }
}

/// Whether `GAPII_PROCESS`, a shell pattern or a plain name, matches the executable's file name or the process' name.
/// If it is not set or empty, it matches.
fn matches_process_pattern() -> bool {
    let Some(pattern) = variable("GAPII_PROCESS") else { return true };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_to_wait_is_positive_and_bounded() {
        assert_eq!(seconds("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(seconds("1e99"), seconds("inf"));
        for text in ["", "0", "-1", "nan", "10s"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
