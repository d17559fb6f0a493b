//! `Partition`: the folder of a trace's rows in each table, in the form that Hive gave such folders and DuckDB, Polars and Spark
//! read: `day=2026-11-30/host=lab-7`.

use std::fmt::Write;

use gapii_trace::TraceHeader;

/// The value for what a trace does not tell.
const UNKNOWN: &str = "unknown";
/// Longest name of a machine, in bytes (Linux: 64).
const HOST_BYTES_MAX: usize = 64;

const DAY_SECONDS: u64 = 24 * 60 * 60;

/// When and where a trace was recorded.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Day on which the capture began, in UTC: `2026-11-30`.
    day: String,
    /// Name of the machine.
    host: String,
}

impl Partition {
    /// Returns the partition of a trace.
    pub fn of(header: &TraceHeader) -> Self {
        let day = match header.started_unix_ns / 1_000_000_000 {
            0 => UNKNOWN.to_owned(),
            unix_seconds => day(unix_seconds),
        };
        let host = header.host.clone().cut(HOST_BYTES_MAX);
        let host = if host.is_empty() { UNKNOWN } else { host.raw() };
        Self { day, host: host.to_owned() }
    }

    /// Returns the path of a table's file below the output.
    pub fn path(&self, table: &str, trace: &str) -> String {
        let Self { day, host } = self;
        format!("table={table}/day={day}/host={}/{trace}.parquet", escaped(host))
    }
}

/// Returns the day of a moment, after the proleptic Gregorian calendar.
fn day(unix_seconds: u64) -> String {
    let mut days = unix_seconds / DAY_SECONDS;
    let mut year = 1970;
    let is_leap = |year: u64| {
        let divides = |by| year.is_multiple_of(by);
        divides(4) && (!divides(100) || divides(400))
    };
    let days_of = |year| if is_leap(year) { 366 } else { 365 };
    while days >= days_of(year) {
        days -= days_of(year);
        year += 1;
    }
    let february = if is_leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days_of_month in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < days_of_month {
            break;
        }
        days -= days_of_month;
        month += 1;
    }
    format!("{year:04}-{month:02}-{:02}", days + 1)
}

/// Escapes a value for a path: each byte that is not a letter, a digit, `-`, `_` or an inner `.` becomes `%` and two digits.
fn escaped(value: &str) -> String {
    let mut path = String::new();
    for (at, byte) in value.bytes().enumerate() {
        let is_plain = byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        match is_plain || (byte == b'.' && at > 0) {
            true => path.push(char::from(byte)),
            false => _ = write!(path, "%{byte:02X}"),
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partition_has_the_day_and_the_machine() {
        let check = |unix_seconds: u64, host: &str, expected: &str| {
            let mut header = TraceHeader::new("test", [0; 16], unix_seconds * 1_000_000_000, 0);
            header.host = host.into();
            let path = Partition::of(&header).path("frames", "ab");
            assert_eq!(path, format!("table=frames/{expected}/ab.parquet"));
        };
        check(1, "lab-7", "day=1970-01-01/host=lab-7");
        check(0, "", "day=unknown/host=unknown");
        check(951_782_399, "a.b", "day=2000-02-28/host=a.b");
        check(951_782_400, "a", "day=2000-02-29/host=a");
        check(951_868_800, "a", "day=2000-03-01/host=a");
        check(1_796_083_199, "a", "day=2026-11-30/host=a");
        check(1_798_761_600, "a", "day=2027-01-01/host=a");
        check(1, "../x y=ä", "day=1970-01-01/host=%2E.%2Fx%20y%3D%C3%A4");
    }

    #[test]
    fn any_moment_has_a_day() {
        assert_eq!(day(u64::MAX / 1_000_000_000), "2554-07-21");
    }
}
