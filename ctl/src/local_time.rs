//! The wall clock in the user's time zone, as it appears in file names.
//!
//! Formats the one shape that is needed and parses nothing.

use std::time::{SystemTime, UNIX_EPOCH};

/// `20260102-150405`, in local time.
pub fn compact_now() -> String {
    let seconds =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    compact(seconds)
}

fn compact(unix_seconds: u64) -> String {
    let time = libc::time_t::try_from(unix_seconds).unwrap_or(libc::time_t::MAX);
    // SAFETY: `tm` is a plain C struct for which all zeros is a valid value.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals; localtime_r writes `parts` only.
    let converted = unsafe { libc::localtime_r(&raw const time, &raw mut parts) };
    if converted.is_null() {
        return unix_seconds.to_string();
    }
    format!(
        "{:04}{:02}{:02}-{:02}{:02}{:02}",
        i64::from(parts.tm_year) + 1900,
        parts.tm_mon + 1,
        parts.tm_mday,
        parts.tm_hour,
        parts.tm_min,
        parts.tm_sec
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compact_time_has_date_dash_time() {
        let text = compact(1_767_366_245);
        assert_eq!(text.len(), 15, "{text}");
        assert_eq!(text.as_bytes()[8], b'-');
        assert!(text.starts_with("202601"), "{text}");
    }
}
