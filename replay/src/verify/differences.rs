//! Result of comparisons: counts, and the first 100 differences (`LISTED`). A property of the driver is a difference
//! only if the driver names itself as in the recording. An output that was not written, and a skipped command, are
//! tolerated if the program's next `glGetError` returned an error in the recording; if it never asks, pixels and
//! skipped commands count as different. Of the doubts at most 4,096 wait (`WAITING`); beyond, a driver's property is
//! tolerated and any other doubt is a difference.
//!
//! Some differences can be judged only later: properties of a driver when it is known whether the
//! driver is the recording's, and outputs that were not written when the program asks for errors.

use std::collections::{BTreeMap, BTreeSet};

use gapii_commands::Api;
use gapii_trace::Command;
use schemars::JsonSchema;
use serde::Serialize;

use super::why::Why;

/// Largest number of differences that are listed; all are counted.
const LISTED: usize = 100;
/// Largest number of differences that wait for judgement. Beyond it, a driver's property is
/// tolerated, and any other doubt counts as a difference.
const WAITING: usize = 4096;

/// Result of a verification.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Verified {
    /// Number of answers and frames that were compared: equal, tolerated and different ones.
    pub compared: u64,
    /// Number of equal answers and frames.
    pub equal: u64,
    /// Number of answers that differ and may differ.
    pub tolerated: u64,
    /// Number of answers and frames that differ and must not.
    pub different: u64,
    /// Number of equal observed frames, which `equal` includes.
    pub frames: u64,
    /// Number of observed frames that differ, which `different` includes.
    pub different_frames: u64,
    /// Number of tolerated answers by reason.
    pub reasons: BTreeMap<&'static str, u64>,
    /// The first differences, in the order of the trace.
    pub differences: Vec<Difference>,
}

impl Verified {
    /// Number of observed frames that were compared.
    pub fn compared_frames(&self) -> u64 {
        self.frames + self.different_frames
    }
}

/// An answer that differs from the recording.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Difference {
    /// `seq` of the command.
    pub seq: Option<u64>,
    /// Name of the function, or `frame`.
    pub function: String,
    /// Name of the output parameter, or `result`.
    pub part: String,
    /// Recorded value, as text.
    pub expected: String,
    /// Value of the replay, as text.
    pub seen: String,
}

/// Identifies an answer.
pub(super) struct Place {
    maker: Maker,
    seq: Option<u64>,
    function: String,
    part: String,
}

/// A difference that is tolerated if the command failed in the recording.
struct Doubt {
    difference: Difference,
    why: Why,
    /// Whether it is a difference if the program never asks for errors.
    is_grave: bool,
}

/// The kind of driver: of EGL and OpenGL ES, or of Level Zero.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Maker {
    Graphics,
    LevelZero,
}

impl Maker {
    /// The kind of driver that executes a command; that of EGL and OpenGL ES if the command's API is
    /// unknown.
    pub(super) fn of(command: &Command<'_>) -> Self {
        match command.function.and_then(|function| Api::named(&function.api)) {
            Some(Api::LevelZero) => Self::LevelZero,
            Some(Api::Egl | Api::Gl | Api::Glx) | None => Self::Graphics,
        }
    }
}

/// Differences found so far.
#[derive(Default)]
pub(super) struct Differences {
    so_far: Verified,
    /// Whether a driver is that of the recording, as far as its answers tell.
    is_same_driver: BTreeMap<Maker, bool>,
    /// Properties of drivers that differ.
    of_driver: Vec<(Maker, Difference)>,
    /// Doubts that the next query for errors resolves, by process and context.
    doubts: BTreeMap<(u32, u64), Vec<Doubt>>,
    /// Memory that a running command may have been changing, by process and address.
    unsettled: BTreeMap<(u32, u64), Difference>,
    /// Number of entries in `of_driver` and `doubts`.
    waiting: usize,
    /// Queries that began before the recording: process, context, name.
    older_queries: BTreeSet<(u32, u64, u64)>,
}

impl Place {
    pub(super) fn of(command: &Command<'_>, part: &str) -> Self {
        let (function, part) = (command.name().to_owned(), part.to_owned());
        Self { maker: Maker::of(command), seq: command.seq, function, part }
    }

    pub(super) fn of_frame(seq: Option<u64>) -> Self {
        let (function, part) = ("frame".to_owned(), "pixels".to_owned());
        Self { maker: Maker::Graphics, seq, function, part }
    }

    fn difference(self, expected: String, seen: String) -> Difference {
        let Self { seq, function, part, .. } = self;
        Difference { seq, function, part, expected, seen }
    }
}

impl Differences {
    /// Notes that a query begins; with `is_setup`, a snapshot began it, so it counted before the
    /// recording.
    pub(super) fn query_begins(
        &mut self,
        (process, context): (u32, u64),
        name: u64,
        is_setup: bool,
    ) {
        let query = (process, context, name);
        if !is_setup {
            self.older_queries.remove(&query);
        } else if self.older_queries.len() < WAITING {
            self.older_queries.insert(query);
        }
    }

    pub(super) fn query_began_before(&self, (process, context): (u32, u64), name: u64) -> bool {
        self.older_queries.contains(&(process, context, name))
    }

    pub(super) fn equal(&mut self) {
        self.so_far.equal += 1;
    }

    pub(super) fn equal_frame(&mut self) {
        self.so_far.equal += 1;
        self.so_far.frames += 1;
    }

    pub(super) fn different_frame(&mut self, place: Place, expected: String, seen: String) {
        self.so_far.different_frames += 1;
        self.differs(place, expected, seen);
    }

    pub(super) fn tolerated(&mut self, why: Why) {
        self.so_far.tolerated += 1;
        *self.so_far.reasons.entry(why.sentence()).or_default() += 1;
    }

    pub(super) fn differs(&mut self, place: Place, expected: String, seen: String) {
        self.list(place.difference(expected, seen));
    }

    /// Notes whether the driver identifies itself as in the recording.
    pub(super) fn driver_said(&mut self, maker: Maker, is_same: bool) {
        *self.is_same_driver.entry(maker).or_insert(true) &= is_same;
    }

    /// Notes a property of the driver that differs.
    pub(super) fn of_driver(&mut self, place: Place, expected: String, seen: String) {
        let maker = place.maker;
        if self.is_same_driver.get(&maker) == Some(&false) || self.waiting >= WAITING {
            return self.tolerated(Why::AnotherDriver);
        }
        self.waiting += 1;
        self.of_driver.push((maker, place.difference(expected, seen)));
    }

    /// Notes that the driver wrote nothing where the recording has output.
    pub(super) fn unwritten(
        &mut self,
        context: (u32, u64),
        place: Place,
        expected: String,
        is_pixels: bool,
    ) {
        let difference = place.difference(expected, "nothing was written".to_owned());
        let why = Why::NothingWritten;
        self.doubt(context, Doubt { difference, why, is_grave: is_pixels });
    }

    /// Notes a command that was not played.
    pub(super) fn skipped(&mut self, context: (u32, u64), place: Place, seen: String) {
        let difference = place.difference("played".to_owned(), seen);
        self.doubt(context, Doubt { difference, why: Why::NotPlayed, is_grave: true });
    }

    fn doubt(&mut self, context: (u32, u64), doubt: Doubt) {
        if self.waiting >= WAITING {
            return self.list(doubt.difference);
        }
        self.waiting += 1;
        self.doubts.entry(context).or_default().push(doubt);
    }

    /// Notes memory that differs while a command may have been running, in the recording or here.
    /// The content at the next comparison of this memory counts.
    pub(super) fn unsettled(
        &mut self,
        memory: (u32, u64),
        place: Place,
        expected: String,
        seen: String,
    ) {
        let difference = place.difference(expected, seen);
        match self.unsettled.len() < WAITING {
            true => drop(self.unsettled.insert(memory, difference)),
            false => self.list(difference),
        }
    }

    /// Tolerates an earlier difference of this memory, which is compared again.
    pub(super) fn is_looked_at_again(&mut self, memory: (u32, u64)) {
        if self.unsettled.remove(&memory).is_some() {
            self.tolerated(Why::Time);
        }
    }

    /// Judges the doubts of a context when the program asks for errors; `was_one` says whether the
    /// recorded answer was an error. Returns whether commands that were not played are among the
    /// doubts, so that the error may be theirs.
    pub(super) fn error_asked(&mut self, context: (u32, u64), was_one: bool) -> bool {
        let mut is_of_skipped = false;
        for Doubt { difference, why, .. } in self.doubts.remove(&context).unwrap_or_default() {
            self.waiting -= 1;
            is_of_skipped |= why == Why::NotPlayed;
            match was_one {
                true => self.tolerated(why),
                false => self.list(difference),
            }
        }
        is_of_skipped
    }

    pub(super) fn finish(mut self) -> Verified {
        for (maker, difference) in std::mem::take(&mut self.of_driver) {
            match self.is_same_driver.get(&maker) {
                Some(true) => self.list(difference),
                _ => self.tolerated(Why::AnotherDriver),
            }
        }
        for doubt in std::mem::take(&mut self.doubts).into_values().flatten() {
            match doubt.is_grave {
                true => self.list(doubt.difference),
                false => self.tolerated(doubt.why),
            }
        }
        for difference in std::mem::take(&mut self.unsettled).into_values() {
            self.list(difference);
        }
        let mut found = self.so_far;
        found.differences.sort_by_key(|difference| difference.seq.unwrap_or(u64::MAX));
        found.compared = found.equal + found.tolerated + found.different;
        found
    }

    fn list(&mut self, difference: Difference) {
        self.so_far.different += 1;
        if self.so_far.differences.len() < LISTED {
            self.so_far.differences.push(difference);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        let (function, part) = ("glGetIntegerv".to_owned(), "data".to_owned());
        Place { maker: Maker::Graphics, seq: Some(7), function, part }
    }

    fn found(what: impl FnOnce(&mut Differences)) -> (u64, u64, u64) {
        let mut found = Differences::default();
        what(&mut found);
        let found = found.finish();
        assert_eq!(found.compared, found.equal + found.tolerated + found.different);
        assert_eq!(found.differences.len() as u64, found.different);
        (found.equal, found.tolerated, found.different)
    }

    fn limit(found: &mut Differences) {
        found.of_driver(place(), "1".to_owned(), "2".to_owned());
    }

    #[test]
    fn limits_must_be_equal_where_the_driver_is_the_same() {
        assert_eq!(found(limit), (0, 1, 0));
        let same = |found: &mut Differences| {
            limit(found);
            found.driver_said(Maker::Graphics, true);
            limit(found);
        };
        assert_eq!(found(same), (0, 0, 2));
        let other = |found: &mut Differences| {
            found.driver_said(Maker::Graphics, true);
            limit(found);
            found.driver_said(Maker::Graphics, false);
            found.driver_said(Maker::Graphics, true);
            limit(found);
        };
        assert_eq!(found(other), (0, 2, 0));
    }

    #[test]
    fn outputs_that_were_not_written_are_excused_by_a_recorded_error_alone() {
        let (one, two) = ((0, 1), (0, 2));
        let unwritten = |found: &mut Differences, is_pixels| {
            found.unwritten(one, place(), "1".to_owned(), is_pixels);
        };
        let asked = |context, was_one| {
            found(|found| {
                unwritten(found, false);
                unwritten(found, true);
                found.error_asked(context, was_one);
            })
        };
        assert_eq!(asked(one, true), (0, 2, 0));
        assert_eq!(asked(one, false), (0, 0, 2));
        // The program never asked: only pixels count as a difference.
        assert_eq!(asked(two, true), (0, 1, 1));
    }

    #[test]
    fn command_that_was_not_played_is_excused_by_a_recorded_error_alone() {
        let skipped = |was_one: Option<bool>| {
            found(|found| {
                found.skipped((0, 1), place(), "not played".to_owned());
                if let Some(was_one) = was_one {
                    assert!(found.error_asked((0, 1), was_one));
                    assert!(!found.error_asked((0, 1), was_one));
                }
            })
        };
        assert_eq!(skipped(Some(true)), (0, 1, 0));
        assert_eq!(skipped(Some(false)), (0, 0, 1));
        assert_eq!(skipped(None), (0, 0, 1));
    }

    #[test]
    fn all_are_counted_and_some_are_listed() {
        let mut found = Differences::default();
        for _ in 0..LISTED + 5 {
            found.differs(place(), "1".to_owned(), "2".to_owned());
        }
        let found = found.finish();
        assert_eq!((found.different, found.differences.len()), (LISTED as u64 + 5, LISTED));
    }

    #[test]
    fn memory_that_was_not_settled_counts_as_it_is_in_the_end() {
        let unsettled = |found: &mut Differences| {
            found.unsettled((0, 0x1000), place(), "1".to_owned(), "2".to_owned());
        };
        assert_eq!(found(unsettled), (0, 0, 1));
        let looked_at_again = |found: &mut Differences| {
            unsettled(found);
            found.is_looked_at_again((0, 0x2000));
            found.is_looked_at_again((0, 0x1000));
            found.is_looked_at_again((0, 0x1000));
        };
        assert_eq!(found(looked_at_again), (0, 1, 0));
    }
}
