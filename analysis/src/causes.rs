//! Groups of differences that have one cause: the same function differs in the same way. Groups are in the order in which
//! the first trace, and then the second, comes to them.

use std::collections::{BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::Serialize;

use crate::sides::Sides;

/// How commands differ.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// Both traces have the command, and it read something else.
    Changed,
    /// Only the first trace has the command.
    OnlyInA,
    /// Only the second trace has the command.
    OnlyInB,
    /// The driver answered something else.
    Answered,
}

/// Differences of one cause: commands of one function that differ in one way.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Cause {
    /// Name of the function.
    pub function: String,
    /// How the commands differ.
    pub way: Way,
    /// Parameters whose value or memory differs, by name; `result` is the result, and `memory` is memory that belongs to
    /// no parameter. Empty for a command that only one trace has.
    pub parts: Vec<String>,
    /// Those of `parts` in which another object is used.
    pub objects: Vec<String>,
    /// Number of commands.
    pub commands: u64,
    /// Number of frames with such commands.
    pub frames: u64,
    /// Number of the first of these frames, from 0.
    pub first_frame: u64,
    /// The first of the commands, as `seq` in each trace; a side is `None` where its trace does not have the command.
    pub first: Sides<Option<u64>>,
}

/// What makes differences one cause.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    pub function: String,
    pub way: Way,
    pub parts: Vec<String>,
    pub objects: Vec<String>,
}

/// The causes that were found.
#[derive(Default)]
pub struct Causes {
    found: HashMap<Key, Found>,
}

struct Found {
    commands: u64,
    frames: BTreeSet<(u32, u64)>,
    first: Sides<Option<u64>>,
}

impl Causes {
    /// Counts a difference. `frame` is the index of the process and the number of the frame.
    pub fn add(&mut self, key: Key, frame: (u32, u64), at: Sides<Option<u64>>) {
        let new = || Found { commands: 0, frames: BTreeSet::new(), first: at };
        let found = self.found.entry(key).or_insert_with(new);
        found.commands += 1;
        found.frames.insert(frame);
        if place(&at) < place(&found.first) {
            found.first = at;
        }
    }

    /// Returns the causes, those with the earliest differences first.
    pub fn finish(self) -> Vec<Cause> {
        let mut causes: Vec<Cause> =
            self.found.into_iter().map(|(key, found)| found.of(key)).collect();
        causes.sort_by(|a, b| (place(&a.first), &a.function).cmp(&(place(&b.first), &b.function)));
        causes
    }
}

impl Found {
    fn of(self, key: Key) -> Cause {
        let Key { function, way, parts, objects } = key;
        let Self { commands, frames, first } = self;
        let first_frame = frames.iter().map(|(_, frame)| *frame).min().unwrap_or(0);
        let frames = frames.len() as u64;
        Cause { function, way, parts, objects, commands, frames, first_frame, first }
    }
}

/// Orders differences: by the place in the first trace, or in the second where the first has none.
pub fn place(at: &Sides<Option<u64>>) -> (Option<u64>, Option<u64>) {
    (at.a.or(at.b), at.b)
}
