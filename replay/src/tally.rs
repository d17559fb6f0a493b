//! What was played so far, and what was not.

use std::collections::BTreeMap;

use serde::Serialize;

/// Counts of a replay, the first of the skipped commands, and notes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Commands handed to the driver, or answered by the player where only it can.
    pub played: u64,
    /// Commands that were not played.
    pub skipped: u64,
    /// The first of the skipped commands.
    pub skips: Vec<SkippedCommand>,
    /// Skipped commands by function.
    pub skips_by_function: BTreeMap<String, u64>,
    /// What is worth knowing, once each.
    pub notes: Vec<String>,
}

/// A command that was not played.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedCommand {
    pub seq: Option<u64>,
    pub function: String,
    pub why: String,
}

impl Tally {
    pub(crate) fn skip(&mut self, most: usize, seq: Option<u64>, function: &str, why: String) {
        self.skipped += 1;
        match self.skips_by_function.get_mut(function) {
            Some(count) => *count += 1,
            None => {
                self.skips_by_function.insert(function.to_owned(), 1);
            }
        }
        if self.skips.len() < most {
            self.skips.push(SkippedCommand { seq, function: function.to_owned(), why });
        }
    }

    /// Something that is said once.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if self.notes.len() < 64 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
