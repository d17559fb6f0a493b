//! What the process' environment tells the shim. Read once.

use core::sync::atomic::{AtomicU8, Ordering::Relaxed};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::sync::OnceLock;

/// Whether the shim tracks state while nothing is recorded. Yes, unless `GAPII_MONITOR` is 0.
pub fn monitors() -> bool {
    static MONITORS: OnceLock<bool> = OnceLock::new();
    *MONITORS.get_or_init(|| std::env::var_os("GAPII_MONITOR").is_none_or(|value| value != "0"))
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
