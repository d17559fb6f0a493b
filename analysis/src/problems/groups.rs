//! `Groups`: the problems found so far. Occurrences with one kind, process and sentence are one problem. At most
//! `GROUPS_MAX`; occurrences of further ones are counted only.

use gapii_trace::Untrusted;

use super::problem::{Problem, ProblemKind, Problems, Severity};
use super::seen::Place;
use crate::digest::Map;

/// Most problems that are kept.
const GROUPS_MAX: usize = 1000;
/// Most numbers of commands that are kept of a problem.
const EXAMPLES_MAX: usize = 16;
/// Longest text of a driver that is kept, in bytes.
const DETAIL_BYTES_MAX: usize = 4096;

/// An occurrence of a problem, or several.
pub struct Found {
    pub kind: ProblemKind,
    pub severity: Severity,
    pub sentence: String,
    pub detail: Option<String>,
    pub since: Option<u64>,
    pub count: u64,
    /// Number of frames; `None` for one occurrence, which is in one frame.
    pub frames: Option<u64>,
    pub last_frame: Option<u64>,
    pub bytes: Option<u64>,
}

impl Found {
    /// One occurrence.
    pub fn one(kind: ProblemKind, severity: Severity, sentence: String) -> Self {
        let (detail, since, frames, last_frame, bytes) = (None, None, None, None, None);
        Self { kind, severity, sentence, detail, since, count: 1, frames, last_frame, bytes }
    }
}

type Key = (ProblemKind, Option<u32>, String);

/// The problems found so far.
#[derive(Default)]
pub struct Groups {
    problems: Vec<Problem>,
    /// Positions in `problems`.
    positions: Map<Key, usize>,
    left_out: u64,
}

impl Groups {
    /// Adds an occurrence. Returns the position of the problem; `None` if it was left out.
    pub fn add(&mut self, found: Found, place: Place) -> Option<usize> {
        self.add_at(found, Some(place))
    }

    /// Adds a problem of the whole trace.
    pub fn add_to_trace(&mut self, found: Found) {
        self.add_at(found, None);
    }

    fn add_at(&mut self, found: Found, place: Option<Place>) -> Option<usize> {
        let key = (found.kind, place.map(|place| place.process), found.sentence);
        let at = match self.positions.get(&key) {
            Some(at) => *at,
            None if self.problems.len() >= GROUPS_MAX => {
                self.left_out = self.left_out.saturating_add(found.count);
                return None;
            }
            None => {
                let detail = found.detail.map(cut);
                self.problems.push(Problem {
                    kind: found.kind,
                    severity: found.severity,
                    sentence: Untrusted::from(key.2.as_str()),
                    detail,
                    seq: place.and_then(|place| place.seq),
                    since: found.since,
                    process: key.1,
                    frame: place.map(|place| place.frame),
                    last_frame: None,
                    thread: place.and_then(|place| Some(place.thread?.0)),
                    tid: place.and_then(|place| Some(place.thread?.1)),
                    count: 0,
                    frames: 0,
                    bytes: None,
                    examples: Vec::new(),
                });
                self.positions.insert(key, self.problems.len() - 1);
                self.problems.len() - 1
            }
        };
        let problem = &mut self.problems[at];
        problem.count = problem.count.saturating_add(found.count);
        if let Some(bytes) = found.bytes {
            problem.bytes = Some(problem.bytes.unwrap_or(0).saturating_add(bytes));
        }
        if let Some(place) = place {
            let last_frame = found.last_frame.unwrap_or(place.frame);
            match found.frames {
                Some(frames) => problem.frames = problem.frames.max(frames),
                // The frames of a process come in order.
                None if problem.last_frame != Some(place.frame) => problem.frames += 1,
                None => {}
            }
            problem.last_frame = problem.last_frame.max(Some(last_frame));
            if problem.examples.len() < EXAMPLES_MAX {
                problem.examples.extend(place.seq);
            }
        }
        Some(at)
    }

    /// Gives a problem the text of a driver, if it has none.
    pub fn explain(&mut self, at: usize, detail: String) {
        if let Some(problem) = self.problems.get_mut(at).filter(|it| it.detail.is_none()) {
            problem.detail = Some(cut(detail));
        }
    }

    /// Returns the problems, the worst first.
    pub fn finish(self) -> Problems {
        let Self { mut problems, left_out, .. } = self;
        problems.sort_by_key(|problem| (problem.severity, problem.seq, problem.frame));
        let count = |severity| problems.iter().filter(|it| it.severity == severity).count() as u64;
        let [errors, warnings, notes] =
            [Severity::Error, Severity::Warning, Severity::Note].map(count);
        Problems { errors, warnings, notes, problems, left_out }
    }
}

fn cut(detail: String) -> Untrusted {
    Untrusted::from(detail.as_str()).cut(DETAIL_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(frame: u64, seq: u64) -> Place {
        Place { seq: Some(seq), process: 0, frame, thread: Some((0, 7)) }
    }

    fn stall(sentence: String) -> Found {
        Found::one(ProblemKind::Stall, Severity::Warning, sentence)
    }

    #[test]
    fn ten_thousand_equal_ones_are_one_problem() {
        let mut groups = Groups::default();
        for seq in 0..10_000 {
            groups.add(stall("it waits".into()), at(seq / 10, seq));
        }
        let found = groups.finish();
        assert_eq!(found.problems.len(), 1);
        let problem = &found.problems[0];
        assert_eq!((problem.count, problem.frames), (10_000, 1000));
        assert_eq!((problem.frame, problem.last_frame, problem.seq), (Some(0), Some(999), Some(0)));
        assert_eq!(problem.examples, Vec::from_iter(0..16));
    }

    #[test]
    fn problems_beyond_the_limit_are_counted() {
        let mut groups = Groups::default();
        for seq in 0..GROUPS_MAX as u64 + 3 {
            groups.add(stall(format!("command {seq} waits")), at(0, seq));
        }
        let found = groups.finish();
        assert_eq!((found.problems.len(), found.left_out), (GROUPS_MAX, 3));
    }

    #[test]
    fn worst_problems_stand_first() {
        let mut groups = Groups::default();
        for (seq, severity) in [(5, Severity::Note), (6, Severity::Error), (4, Severity::Warning)] {
            let found = Found::one(ProblemKind::Stall, severity, format!("{severity}"));
            groups.add(found, at(0, seq));
        }
        groups.add(Found::one(ProblemKind::Stall, Severity::Error, "first".into()), at(0, 2));
        let found = groups.finish();
        let seqs: Vec<_> = found.problems.iter().filter_map(|problem| problem.seq).collect();
        assert_eq!(seqs, [2, 6, 4, 5]);
        assert_eq!((found.errors, found.warnings, found.notes), (2, 1, 1));
    }
}
