//! Rates of programs per second: the difference between two answers of the daemon; of a new program since it connected.
//! The time comes from the daemon, too, so a slow answer has no influence. A count that fell shows as 0; counts that an
//! older daemon lacks stay unknown.

use gapii_control::{AppCounts, AppInfo};
use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::Serialize;

/// Smallest divisor, in seconds.
const SECONDS_MIN: f64 = 0.001;

/// A program and its counts since the previous answer, or since it connected.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Rates {
    /// Process id.
    pub pid: u32,
    /// The kernel's name for the process.
    pub name: Untrusted,
    /// APIs that the program has called: `egl`, `gl`, `glx`, `level_zero`.
    pub apis: Vec<String>,
    /// What the program is doing: `idle`, `asleep`, `capturing` or `waiting`.
    pub mode: String,
    /// Index of the program in the session; unique.
    pub process: u32,
    /// Length of the time span, in seconds.
    pub seconds: f64,
    /// Frames that ended, per second.
    pub frames_per_s: f64,
    /// Commands that captures took from the program's rings, per second; `None`, like the other optional counts, if the
    /// daemon is too old to report it.
    pub calls_per_s: Option<f64>,
    /// Bytes that were written into the program's rings, per second.
    pub ring_bytes_per_s: Option<f64>,
    /// Counts within the time span.
    pub since: Option<AppCounts>,
    /// Counts since the program connected.
    pub total: Option<AppCounts>,
}

impl Rates {
    /// Computes the rates of the programs in `now`; `before` is the previous answer, if there is one.
    pub fn between(before: &[AppInfo], now: &[AppInfo]) -> Vec<Rates> {
        let unknown = AppInfo::default();
        let earlier = |app: &AppInfo| before.iter().find(|other| other.process == app.process);
        now.iter().map(|app| Rates::of(earlier(app).unwrap_or(&unknown), app)).collect()
    }

    fn of(before: &AppInfo, app: &AppInfo) -> Rates {
        let ns = app.connected_ns.saturating_sub(before.connected_ns);
        let seconds = ns as f64 / 1e9;
        let per_s = |amount: u64| amount as f64 / seconds.max(SECONDS_MIN);
        let since = app.counts.map(|counts| minus(counts, before.counts.unwrap_or_default()));
        Rates {
            pid: app.pid,
            name: app.name.clone(),
            apis: app.apis.clone(),
            mode: app.mode.clone(),
            process: app.process,
            seconds,
            frames_per_s: per_s(app.frames.saturating_sub(before.frames)),
            calls_per_s: since.map(|since| per_s(since.calls)),
            ring_bytes_per_s: since.map(|since| per_s(since.ring_bytes)),
            since,
            total: app.counts,
        }
    }
}

/// Returns the increase; 0 if a program has corrected its count downwards.
fn minus(now: AppCounts, before: AppCounts) -> AppCounts {
    AppCounts {
        calls: now.calls.saturating_sub(before.calls),
        ring_bytes: now.ring_bytes.saturating_sub(before.ring_bytes),
        waits: now.waits.saturating_sub(before.waits),
        wait_ns: now.wait_ns.saturating_sub(before.wait_ns),
        lost_calls: now.lost_calls.saturating_sub(before.lost_calls),
        lost_bytes: now.lost_bytes.saturating_sub(before.lost_bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(process: u32, seconds: u64, frames: u64, calls: u64) -> AppInfo {
        AppInfo {
            process,
            frames,
            connected_ns: seconds * 1_000_000_000,
            counts: Some(AppCounts {
                calls,
                ring_bytes: calls.saturating_mul(100),
                ..AppCounts::default()
            }),
            ..AppInfo::default()
        }
    }

    #[test]
    fn first_rates_are_those_since_the_program_connected() {
        let [rates] = &Rates::between(&[], &[app(3, 10, 600, 5000)])[..] else { panic!() };
        assert_eq!((rates.seconds, rates.frames_per_s), (10.0, 60.0));
        assert_eq!((rates.calls_per_s, rates.ring_bytes_per_s), (Some(500.0), Some(50_000.0)));
    }

    #[test]
    fn later_rates_are_those_since_the_answer_before() {
        let before = [app(3, 10, 600, 5000), app(4, 2, 0, 0)];
        let now = [app(4, 4, 1, 7), app(3, 12, 660, 5010), app(5, 1, 30, 0)];
        let rates = Rates::between(&before, &now);
        let found: Vec<_> = rates
            .iter()
            .map(|rates| (rates.process, rates.frames_per_s, rates.calls_per_s))
            .collect();
        assert_eq!(found, [(4, 0.5, Some(3.5)), (3, 30.0, Some(5.0)), (5, 30.0, Some(0.0))]);
    }

    #[test]
    fn program_that_counts_backwards_has_done_nothing() {
        let [rates] = &Rates::between(&[app(3, 10, 600, 50)], &[app(3, 10, 0, 0)])[..] else {
            panic!()
        };
        assert_eq!((rates.frames_per_s, rates.calls_per_s), (0.0, Some(0.0)));
        assert!(Rates::between(&[], &[app(3, 0, u64::MAX, u64::MAX)])[0].frames_per_s.is_finite());
    }

    #[test]
    fn daemon_that_does_not_count_has_frames_alone() {
        let older = AppInfo { counts: None, ..app(3, 10, 600, 0) };
        let [rates] = &Rates::between(&[], &[older])[..] else { panic!() };
        assert_eq!((rates.frames_per_s, rates.calls_per_s, rates.since), (60.0, None, None));
    }
}
