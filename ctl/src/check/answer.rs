//! What `check` found, in the form of `--json`, and as lines for people.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::list::{Expected, Frame};
use super::played::Played;
use crate::text::counted;

/// Number of digits of a digest in a line.
const DIGITS: usize = 12;

/// Traces that were checked.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// The traces, in the order of the list.
    pub traces: Vec<CheckedTrace>,
    /// Number of traces that passed.
    pub passed: usize,
    /// Number of traces that failed.
    pub failed: usize,
    /// Number of traces that were not played to their end, because a stop was requested.
    pub stopped: usize,
    /// Time that the check took, in seconds.
    pub seconds: f64,
}

/// A trace that was checked.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedTrace {
    /// File of the trace, as the list names it.
    pub trace: PathBuf,
    /// Result of the check.
    pub verdict: Verdict,
    /// `GL_RENDERER` of the driver; null if the trace could not be played.
    pub renderer: Option<String>,
    /// Frames that were compared, those that differ among them.
    pub frames: Vec<CheckedFrame>,
    /// Why the trace failed, if it is not a frame that differs.
    pub error: Option<String>,
    /// Time that playing took, in seconds.
    pub seconds: f64,
}

/// Whether a trace passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Every frame is as expected.
    Pass,
    /// A frame differs, is missing, or has no expected digest.
    Different,
    /// The list has no expected digests for this driver.
    UnknownDriver,
    /// The trace could not be played.
    Unplayable,
    /// The expected digests were written to the list.
    Updated,
    /// A stop was requested before the trace was played.
    Stopped,
}

/// A frame that was compared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CheckedFrame {
    /// Index of the process in the trace.
    pub process: u32,
    /// Number of the frame within its process, from 0.
    pub frame: u64,
    /// The expected digest; null if the list has none.
    pub expected: Option<String>,
    /// The digest of what was drawn; null if the frame was not drawn.
    pub drawn: Option<String>,
    /// File with what was drawn, if it was written.
    pub picture: Option<PathBuf>,
}

impl Verdict {
    /// Whether the trace did what the list expects.
    pub fn is_good(self) -> bool {
        matches!(self, Verdict::Pass | Verdict::Updated)
    }
}

impl CheckedFrame {
    /// Whether the frame was drawn as expected.
    pub fn is_good(&self) -> bool {
        self.expected.is_some() && self.expected == self.drawn
    }

    /// Returns the fault of the frame, as a sentence.
    pub fn sentence(&self) -> String {
        let short = |digest: &str| format!("{}…", digest.get(..DIGITS).unwrap_or(digest));
        let frame = match self.process {
            0 => format!("frame {}", self.frame),
            process => format!("frame {} of process {process}", self.frame),
        };
        let what = match (&self.expected, &self.drawn) {
            (Some(expected), Some(drawn)) => {
                format!("expected {}, drawn {}", short(expected), short(drawn))
            }
            (Some(_), None) => "was not drawn".to_owned(),
            (None, drawn) => {
                let drawn = drawn.as_deref().map_or("nothing".to_owned(), short);
                format!("has no expected digest; drawn {drawn}")
            }
        };
        let picture = self.picture.as_deref().map(Path::display);
        let picture = picture.map(|picture| format!("; picture: {picture}")).unwrap_or_default();
        format!("{frame}: {what}{picture}")
    }
}

impl CheckedTrace {
    /// Compares what was drawn with what the driver is expected to draw; `None` if the list does not have the driver.
    pub fn of(trace: &Path, played: &Played, expected: Option<&Expected>) -> CheckedTrace {
        let mut frames: Vec<CheckedFrame> = played
            .digests
            .iter()
            .map(|(frame, digest)| CheckedFrame {
                process: frame.0.0,
                frame: frame.0.1,
                expected: expected.and_then(|it| it.frames.get(frame).cloned()),
                drawn: Some(digest.clone()),
                picture: None,
            })
            .collect();
        for (Frame((process, frame)), digest) in expected.iter().flat_map(|it| &it.frames) {
            if !played.digests.contains_key(&Frame((*process, *frame))) {
                let (process, frame, expected) = (*process, *frame, Some(digest.clone()));
                frames.push(CheckedFrame { process, frame, expected, drawn: None, picture: None });
            }
        }
        let verdict = match expected {
            None => Verdict::UnknownDriver,
            Some(_) if frames.iter().all(CheckedFrame::is_good) => Verdict::Pass,
            Some(_) => Verdict::Different,
        };
        let error = (verdict == Verdict::UnknownDriver)
            .then(|| format!("the list has no driver for the renderer {}", played.renderer));
        CheckedTrace {
            trace: trace.to_owned(),
            verdict,
            renderer: Some(played.renderer.clone()),
            frames,
            error,
            seconds: played.seconds,
        }
    }

    /// A trace that was not played to its end.
    pub fn without_frames(trace: &Path, verdict: Verdict, error: Option<String>) -> CheckedTrace {
        let (trace, frames) = (trace.to_owned(), Vec::new());
        CheckedTrace { trace, verdict, renderer: None, frames, error, seconds: 0.0 }
    }

    /// Why the trace failed: a sentence for each reason.
    pub fn reasons(&self) -> Vec<String> {
        let bad = self.frames.iter().filter(|frame| !frame.is_good());
        let frames = bad.filter(|_| self.verdict == Verdict::Different).map(CheckedFrame::sentence);
        self.error.iter().cloned().chain(frames).collect()
    }

    /// The lines for people.
    pub fn lines(&self) -> String {
        let word = match self.verdict {
            Verdict::Pass => "pass",
            Verdict::Updated => "updated",
            Verdict::Stopped => "stopped",
            Verdict::Different | Verdict::UnknownDriver | Verdict::Unplayable => "FAIL",
        };
        let frames = match self.verdict {
            Verdict::Stopped | Verdict::Unplayable => String::new(),
            _ => format!(": {}, {:.2} s", counted(self.frames.len() as u64, "frame"), self.seconds),
        };
        let mut lines = format!("{word} {}{frames}\n", self.trace.display());
        for reason in self.reasons() {
            lines.push_str(&format!("  {reason}\n"));
        }
        lines
    }
}

impl Checked {
    /// Counts the traces.
    pub fn of(traces: Vec<CheckedTrace>, seconds: f64) -> Checked {
        let count = |is: fn(Verdict) -> bool| traces.iter().filter(|it| is(it.verdict)).count();
        let (passed, stopped) =
            (count(Verdict::is_good), count(|verdict| verdict == Verdict::Stopped));
        Checked { passed, failed: traces.len() - passed - stopped, stopped, traces, seconds }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn digests(pairs: &[(u64, &str)]) -> BTreeMap<Frame, String> {
        pairs.iter().map(|(frame, digest)| (Frame((0, *frame)), digest.repeat(32))).collect()
    }

    fn checked(drawn: &[(u64, &str)], expected: Option<&[(u64, &str)]>) -> CheckedTrace {
        let played = Played { renderer: "r".to_owned(), digests: digests(drawn), seconds: 0.5 };
        let expected =
            expected.map(|frames| Expected { renderer: "*".to_owned(), frames: digests(frames) });
        CheckedTrace::of(Path::new("a.gapii"), &played, expected.as_ref())
    }

    #[test]
    fn trace_passes_if_every_frame_is_as_expected() {
        let passed = checked(&[(0, "aa"), (1, "bb")], Some(&[(0, "aa"), (1, "bb")]));
        assert_eq!(passed.verdict, Verdict::Pass);
        assert_eq!(passed.lines(), "pass a.gapii: 2 frames, 0.50 s\n");
    }

    #[test]
    fn frame_that_differs_is_missing_or_new_is_named() {
        let check = |drawn: &[(u64, &str)], expected: &[(u64, &str)], sentence: &str| {
            let failed = checked(drawn, Some(expected));
            assert_eq!(
                (failed.verdict, failed.reasons()),
                (Verdict::Different, vec![sentence.to_owned()])
            );
        };
        check(&[(3, "ab")], &[(3, "cd")], "frame 3: expected cdcdcdcdcdcd…, drawn abababababab…");
        check(&[], &[(3, "cd")], "frame 3: was not drawn");
        check(&[(3, "ab")], &[], "frame 3: has no expected digest; drawn abababababab…");
    }

    #[test]
    fn driver_that_the_list_does_not_have_fails_the_trace() {
        let failed = checked(&[(0, "aa")], None);
        assert_eq!(failed.verdict, Verdict::UnknownDriver);
        assert_eq!(failed.reasons(), ["the list has no driver for the renderer r"]);
        let stopped = CheckedTrace::without_frames(Path::new("b"), Verdict::Stopped, None);
        let all = Checked::of(vec![failed, stopped, checked(&[], Some(&[]))], 1.0);
        assert_eq!((all.passed, all.failed, all.stopped), (1, 1, 1));
    }
}
