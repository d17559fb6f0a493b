//! Frames that took much longer than the median of their process: more than twice as long, and at least 2 ms longer. At
//! least 10 frames must have times.

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::{Place, Seen};

/// Most frames whose times are kept.
const FRAMES_MAX: usize = 1 << 20;
/// Fewest frames of a process that have a median.
const FRAMES_MIN: usize = 10;
/// Fewest nanoseconds by which a slow frame is longer than the median.
const LONGER_NS: u64 = 2_000_000;

/// The times of the frames.
#[derive(Default)]
pub struct FrameTimes {
    frames: Vec<Timed>,
}

#[derive(Clone, Copy)]
struct Timed {
    place: Place,
    time_ns: u64,
}

impl FrameTimes {
    /// Notes how long the frame took that a command ended.
    pub fn add(&mut self, seen: &Seen<'_>, time_ns: u64) {
        self.add_at(seen.place(), time_ns);
    }

    fn add_at(&mut self, place: Place, time_ns: u64) {
        if self.frames.len() < FRAMES_MAX {
            self.frames.push(Timed { place, time_ns });
        }
    }

    /// Adds the frames that are slow.
    pub fn finish(mut self, groups: &mut Groups) {
        self.frames.sort_by_key(|timed| (timed.place.process, timed.place.frame));
        for frames in self.frames.chunk_by(|a, b| a.place.process == b.place.process) {
            slow_ones(frames, groups);
        }
    }
}

fn slow_ones(frames: &[Timed], groups: &mut Groups) {
    let mut times: Vec<u64> = frames.iter().map(|timed| timed.time_ns).collect();
    times.sort_unstable();
    let Some(median_ns) = times.get(times.len() / 2).filter(|_| times.len() >= FRAMES_MIN) else {
        return;
    };
    let limit_ns = median_ns.saturating_mul(2).max(median_ns.saturating_add(LONGER_NS));
    let slow = || frames.iter().filter(|timed| timed.time_ns > limit_ns);
    let Some(slowest) = slow().max_by_key(|timed| timed.time_ns) else { return };
    let ms = |ns: u64| format!("{:.1} ms", ns as f64 / 1e6);
    let sentence = format!("frames took more than twice the median of {}", ms(*median_ns));
    let detail =
        format!("the slowest is frame {} with {}", slowest.place.frame, ms(slowest.time_ns));
    for timed in slow() {
        let found = Found {
            detail: Some(detail.clone()),
            ..Found::one(ProblemKind::SlowFrame, Severity::Warning, sentence.clone())
        };
        groups.add(found, timed.place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(frame: u64) -> Place {
        Place { seq: Some(frame * 10), process: 3, frame, thread: Some((0, 7)) }
    }

    fn check(times_ms: &[u64], expected: &[u64]) {
        let mut times = FrameTimes::default();
        for (frame, ms) in (0..).zip(times_ms) {
            times.add_at(at(frame), ms * 1_000_000);
        }
        let mut groups = Groups::default();
        times.finish(&mut groups);
        let found = groups.finish();
        let seqs = found.problems.iter().flat_map(|problem| problem.examples.clone());
        let frames: Vec<_> = seqs.map(|seq| seq / 10).collect();
        assert_eq!(frames, expected, "{found:?}");
    }

    #[test]
    fn frames_are_slow_against_the_median() {
        check(&[16, 16, 40, 16, 16, 16, 90, 16, 16, 16], &[2, 6]);
        check(&[16, 16, 30, 16, 16, 16, 31, 16, 16, 16], &[]);
        // Short frames differ much.
        check(&[1, 1, 1, 1, 1, 1, 3, 1, 1, 4], &[9]);
        // Too few for a median.
        check(&[16, 16, 16, 90], &[]);
        check(&[], &[]);
    }

    #[test]
    fn slowest_frame_is_named() {
        let mut times = FrameTimes::default();
        for frame in 0..20 {
            times.add_at(at(frame), if frame % 7 == 6 { 40_000_000 + frame } else { 8_000_000 });
        }
        let mut groups = Groups::default();
        times.finish(&mut groups);
        let found = groups.finish();
        let detail = found.problems[0].detail.as_ref().map(ToString::to_string);
        assert_eq!(detail.as_deref(), Some("the slowest is frame 13 with 40.0 ms"));
        assert_eq!((found.problems[0].count, found.problems[0].frames), (2, 2));
    }
}
