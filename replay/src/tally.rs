//! Counts of what was played and skipped.

use std::collections::BTreeMap;

use serde::Serialize;

/// Counts of a replay, the first skipped commands, and notes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of commands that were played, including those that needed no call of the driver.
    pub played: u64,
    /// Number of commands that were skipped.
    pub skipped: u64,
    /// The first skipped commands.
    pub skips: Vec<SkippedCommand>,
    /// Number of skipped commands by function.
    pub skips_by_function: BTreeMap<String, u64>,
    /// Remarks, each once, at most 64.
    pub notes: Vec<String>,
}

/// A command that was skipped.
#[derive(Clone, Debug, Serialize)]
pub struct SkippedCommand {
    /// `seq` of the command; `None` if it took no effect.
    pub seq: Option<u64>,
    /// Name of the command.
    pub function: String,
    /// Reason, as a clause.
    pub why: String,
}

impl Tally {
    /// Counts a skipped command, and lists it if fewer than `most` are listed.
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

    /// Adds a remark, unless it was made before.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if self.notes.len() < 64 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
