//! Columns of tables of rates: the programs that `watch` shows, and what it shows of each.

use std::time::Duration;

use gapii_control::AppCounts;
use indicatif::{DecimalBytes, HumanCount};

use crate::rates::Rates;

/// A column of the table.
pub struct Column {
    pub head: &'static str,
    pub cell: fn(&Rates) -> String,
    /// Columns with a higher number are left out first where the terminal is too narrow; those with 0 never.
    pub spare: u8,
}

pub const COLUMNS: [Column; 9] = [
    Column { head: "PID", cell: |rates| rates.pid.to_string(), spare: 0 },
    Column { head: "NAME", cell: |rates| rates.name.to_string(), spare: 0 },
    Column { head: "APIS", cell: |rates| rates.apis.join(","), spare: 4 },
    Column { head: "MODE", cell: |rates| rates.mode.clone(), spare: 2 },
    Column { head: "FRAMES/S", cell: |rates| format!("{:.1}", rates.frames_per_s), spare: 0 },
    Column { head: "COMMANDS/S", cell: |rates| per_s(rates.calls_per_s), spare: 3 },
    Column { head: "RINGS/S", cell: |rates| bytes(rates.ring_bytes_per_s), spare: 5 },
    Column {
        head: "WAITS",
        cell: |rates| rates.since.as_ref().map_or_else(unknown, waits),
        spare: 6,
    },
    Column {
        head: "LOST",
        cell: |rates| rates.total.map_or_else(unknown, |total| lost(&total)),
        spare: 1,
    },
];

/// Formats how often threads waited for ring space, and for how long.
pub fn waits(since: &AppCounts) -> String {
    match since.waits {
        0 => "0".to_owned(),
        waits => format!("{} ({:.1?})", HumanCount(waits), Duration::from_nanos(since.wait_ns)),
    }
}

/// Formats a rate of commands.
pub fn per_s(calls: Option<f64>) -> String {
    calls.map_or_else(unknown, |calls| HumanCount(calls as u64).to_string())
}

fn bytes(bytes: Option<f64>) -> String {
    bytes.map_or_else(unknown, |bytes| DecimalBytes(bytes as u64).to_string())
}

fn lost(total: &AppCounts) -> String {
    HumanCount(total.lost_calls).to_string()
}

fn unknown() -> String {
    "-".to_owned()
}
