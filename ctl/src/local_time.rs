//! Formats times in the user's time zone, for file names and for people. A time out of range is shown as seconds since the
//! Unix epoch.
//!
//! It does not parse times.

use std::time::{SystemTime, UNIX_EPOCH};

/// Formats as `20260102-150405`, in local time.
pub fn compact_now() -> String {
    let seconds =
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs());
    compact(seconds)
}

/// Formats as `2026-01-02`, in local time.
pub fn day(unix_seconds: u64) -> String {
    parts(unix_seconds).map_or_else(
        || unix_seconds.to_string(),
        |day| {
            format!("{:04}-{:02}-{:02}", i64::from(day.tm_year) + 1900, day.tm_mon + 1, day.tm_mday)
        },
    )
}

/// Formats as `2026-01-02 15:04:05`, in local time.
pub fn day_and_time(unix_seconds: u64) -> String {
    let Some(parts) = parts(unix_seconds) else { return unix_seconds.to_string() };
    format!("{} {:02}:{:02}:{:02}", day(unix_seconds), parts.tm_hour, parts.tm_min, parts.tm_sec)
}

fn compact(unix_seconds: u64) -> String {
    let Some(parts) = parts(unix_seconds) else { return unix_seconds.to_string() };
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

/// Converts to calendar fields in local time; `None` if the time is out of range.
fn parts(unix_seconds: u64) -> Option<libc::tm> {
    let time = libc::time_t::try_from(unix_seconds).unwrap_or(libc::time_t::MAX);
    // SAFETY: `tm` is a plain C struct for which all zeros is a valid value.
    let mut parts: libc::tm = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers are to live locals; localtime_r writes `parts` only.
    let converted = unsafe { libc::localtime_r(&raw const time, &raw mut parts) };
    (!converted.is_null()).then_some(parts)
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
        assert!(day(1_767_366_245).starts_with("2026-01-0"), "{}", day(1_767_366_245));
        let whole = day_and_time(1_767_366_245);
        assert_eq!(whole.replace(['-', ':'], "").replace(' ', "-"), text);
    }
}
