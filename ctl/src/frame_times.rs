//! `FrameTimes`: how long a program's frames took before it was recorded and while it was, from the counts in the daemon's
//! reports. Counts the process that ended most frames before. Its first second of frames (`WARM_UP`) is left out, because
//! programs load and compile then. Fewer than 10 frames (`FRAMES_MIN`) on a side are no measurement.
//!
//! Reads no report itself.

use std::fmt;
use std::time::Duration;

use gapii_control::{AppInfo, mode};
use schemars::JsonSchema;
use serde::Serialize;

use crate::text::counted;

/// Time from a process' first frame that is not measured.
const WARM_UP: Duration = Duration::from_secs(1);
/// Smallest number of frames whose mean time is told.
const FRAMES_MIN: u64 = 10;

/// Counts of frames, before the program was recorded and while it was.
#[derive(Default)]
pub struct FrameTimes {
    before: Vec<Count>,
    during: Option<Count>,
}

/// Frames of a process between two reports.
#[derive(Clone, Copy)]
struct Count {
    process: u32,
    pid: u32,
    is_warm: bool,
    first: Moment,
    last: Moment,
}

/// Frames that a process had ended, and the nanoseconds that it had been connected then.
#[derive(Clone, Copy)]
struct Moment {
    frames: u64,
    ns: u64,
}

/// How much slower the program was while it was recorded.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Slowdown {
    /// Process id of the program whose frames were counted: the one that ended most frames before recording began; null if none ended a
    /// frame.
    pub pid: Option<u32>,
    /// Frames before recording began.
    pub before: Option<FrameTime>,
    /// Frames while the program was recorded.
    pub during: Option<FrameTime>,
    /// Mean frame time while the program was recorded, divided by that before; null if one of them is not known.
    pub factor: Option<f64>,
    /// Why the factor is not known; null if it is.
    pub unknown: Option<String>,
}

/// Mean time of some frames.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct FrameTime {
    /// Number of frames.
    pub frames: u64,
    /// Time in which they ended, in seconds.
    pub seconds: f64,
    /// Mean time of a frame, in milliseconds; null without a frame.
    pub frame_ms: Option<f64>,
}

impl FrameTimes {
    /// Counts the frames of processes that are not recorded yet.
    pub fn look_before<'a>(&mut self, apps: impl Iterator<Item = &'a AppInfo>) {
        // Another client may record the program.
        for app in apps.filter(|app| app.frames > 0 && app.mode != mode::CAPTURING) {
            let known = self.before.iter_mut().find(|count| count.process == app.process);
            match known {
                Some(count) => count.see(app),
                None => self.before.push(Count::new(app)),
            }
        }
    }

    /// Counts the frames of the measured process while it is recorded.
    pub fn look_during<'a>(&mut self, mut apps: impl Iterator<Item = &'a AppInfo>) {
        let Some(Count { process, .. }) = self.measured() else { return };
        let Some(app) = apps.find(|app| app.process == process && app.mode == mode::CAPTURING)
        else {
            return;
        };
        match &mut self.during {
            Some(count) => count.last = Moment::of(app),
            None => self.during = Some(Count::new(app)),
        }
    }

    /// Whether a process was measured for this time without being recorded.
    pub fn are_known(&self, time: Duration) -> bool {
        self.before.iter().any(|count| count.is_warm && count.time() >= time)
    }

    /// Compares the counts so far.
    pub fn compare(&self) -> Slowdown {
        let before = self.measured().map(|count| count.frame_time());
        let during = self.during.map(|count| count.frame_time());
        let unknown = why_unknown(before, during);
        let factor = match (&unknown, before, during) {
            (None, Some(before), Some(during)) => {
                during.frame_ms.zip(before.frame_ms).map(|(during, before)| during / before)
            }
            _ => None,
        };
        Slowdown { pid: self.measured().map(|count| count.pid), before, during, factor, unknown }
    }

    /// The process with the most frames.
    fn measured(&self) -> Option<Count> {
        let counts = self.before.iter().rev();
        counts.max_by_key(|count| (count.is_warm, count.frames())).copied()
    }
}

impl Count {
    fn new(app: &AppInfo) -> Count {
        let now = Moment::of(app);
        Count { process: app.process, pid: app.pid, is_warm: false, first: now, last: now }
    }

    fn see(&mut self, app: &AppInfo) {
        self.last = Moment::of(app);
        if !self.is_warm && self.time() >= WARM_UP {
            (self.is_warm, self.first) = (true, self.last);
        }
    }

    fn frames(&self) -> u64 {
        self.last.frames.saturating_sub(self.first.frames)
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(self.last.ns.saturating_sub(self.first.ns))
    }

    fn frame_time(&self) -> FrameTime {
        let (frames, seconds) = (self.frames(), self.time().as_secs_f64());
        let frame_ms = (frames > 0).then(|| seconds * 1e3 / frames as f64);
        FrameTime { frames, seconds, frame_ms }
    }
}

impl Moment {
    fn of(app: &AppInfo) -> Moment {
        Moment { frames: app.frames, ns: app.connected_ns }
    }
}

impl Slowdown {
    /// Nothing was compared, for this reason.
    pub fn unknown(self, why: String) -> Slowdown {
        Slowdown { factor: None, unknown: Some(why), ..self }
    }
}

/// Says what is missing for a comparison; `None` if nothing is.
fn why_unknown(before: Option<FrameTime>, during: Option<FrameTime>) -> Option<String> {
    let too_few = |side: Option<FrameTime>| match side {
        Some(FrameTime { frames: FRAMES_MIN.., .. }) => None,
        side => Some(side.map_or(0, |side| side.frames)),
    };
    let Some(FrameTime { seconds, .. }) = before else {
        return Some(
            "it ended no frame before recording began; without --measure it is recorded from its first command on"
                .to_owned(),
        );
    };
    if let Some(frames) = too_few(before) {
        return Some(format!(
            "it ended {} in {seconds:.1} s before recording began, and {FRAMES_MIN} are needed; measure for longer with \
             --measure=S",
            counted(frames, "frame"),
        ));
    }
    too_few(during).map(|frames| {
        format!(
            "{} of it could be timed while it was recorded, and {FRAMES_MIN} are needed; record for a second or longer",
            counted(frames, "frame"),
        )
    })
}

impl fmt::Display for Slowdown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = [self.before, self.during].map(|side| side.and_then(|side| side.frame_ms));
        match (times, self.factor, &self.unknown) {
            ([Some(before), Some(during)], Some(factor), _) => write!(
                f,
                "frame time {before:.2} ms before recording began, {during:.2} ms while recording: {factor:.2} times as long"
            ),
            (_, _, why) => {
                let why = why.as_deref().unwrap_or("nothing was compared");
                write!(f, "how much slower the program was is not known: {why}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn app(process: u32, frames: u64, ms: u64) -> AppInfo {
        AppInfo {
            process,
            pid: 100 + process,
            frames,
            connected_ns: ms * 1_000_000,
            mode: mode::IDLE.to_owned(),
            ..AppInfo::default()
        }
    }

    fn recorded(app: AppInfo) -> AppInfo {
        AppInfo { mode: mode::CAPTURING.to_owned(), ..app }
    }

    fn looked(before: &[&[AppInfo]], during: &[&[AppInfo]]) -> FrameTimes {
        let mut times = FrameTimes::default();
        before.iter().for_each(|apps| times.look_before(apps.iter()));
        during.iter().for_each(|apps| times.look_during(apps.iter()));
        times
    }

    #[test]
    fn frame_times_of_both_sides_are_compared_without_the_first_second() {
        // 100 slow frames in the first second, then 100 of 10 ms, then 50 of 15 ms.
        let before = [app(1, 0, 50), app(1, 1, 100), app(1, 101, 1200), app(1, 201, 2200)];
        let before: Vec<_> = before.chunks(1).collect();
        let during = [recorded(app(1, 220, 2500)), recorded(app(1, 270, 3250))];
        let during: Vec<_> = during.chunks(1).collect();
        let times = looked(&before, &during);
        assert!(
            times.are_known(Duration::from_secs(1)) && !times.are_known(Duration::from_secs(2))
        );
        let slowdown = times.compare();
        let expected = "frame time 10.00 ms before recording began, 15.00 ms while recording: 1.50 times as long";
        assert_eq!(slowdown.to_string(), expected);
        assert_eq!((slowdown.pid, slowdown.factor), (Some(101), Some(1.5)));
        assert!(!looked(&before[..3], &[]).are_known(Duration::from_millis(1)), "it warms up");
    }

    #[test]
    fn process_with_the_most_frames_is_measured() {
        let launcher = |ms| app(1, 5, ms);
        let before = [
            [launcher(0), app(2, 1, 0)],
            [launcher(1000), app(2, 50, 1000)],
            [launcher(2000), app(2, 100, 2000)],
        ];
        let during =
            [[launcher(2100), recorded(app(2, 105, 2100))], [launcher(3100), app(2, 155, 3100)]];
        let last = [recorded(app(1, 90, 3100)), recorded(app(2, 130, 3100))];
        let before: Vec<_> = before.iter().map(|apps| &apps[..]).collect();
        let slowdown = looked(&before, &[&during[0], &during[1], &last]).compare();
        assert_eq!(slowdown.pid, Some(102));
        // The process that was not recorded any more is not counted.
        assert_eq!(slowdown.during.map(|it| it.frames), Some(25));
    }

    #[test]
    fn what_is_not_enough_is_said() {
        let check = |times: FrameTimes, expected: &str| {
            let slowdown = times.compare();
            assert_eq!(slowdown.factor, None);
            let text = slowdown.to_string();
            assert!(text.starts_with("how much slower the program was is not known: "), "{text}");
            assert!(text.contains(expected), "{text}");
        };
        check(looked(&[], &[]), "it ended no frame before");
        check(looked(&[&[recorded(app(1, 50, 10))]], &[]), "it ended no frame before");
        let slow = [[app(1, 1, 0)], [app(1, 2, 1000)], [app(1, 6, 5000)]];
        let slow: Vec<_> = slow.iter().map(|apps| &apps[..]).collect();
        check(looked(&slow, &[]), "it ended 4 frames in 4.0 s before");
        let fast = [[app(1, 1, 0)], [app(1, 60, 1000)], [app(1, 120, 2000)]];
        let fast: Vec<_> = fast.iter().map(|apps| &apps[..]).collect();
        check(looked(&fast, &[]), "0 frames of it could be timed");
        let during = [[recorded(app(1, 121, 2100))], [recorded(app(1, 122, 2200))]];
        let during: Vec<_> = during.iter().map(|apps| &apps[..]).collect();
        check(looked(&fast, &during), "1 frame of it could be timed");
    }
}
