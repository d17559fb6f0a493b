//! Counts of what was played and skipped. A skipped command of OpenGL ES waits for the program's next `glGetError` in
//! its context: if that returned an error in the recording, the command counts as refused, not as skipped. At most
//! `WAITING_MAX` (4,096) commands wait; further ones, and those whose errors the program never asks for, count as
//! skipped. Of remarks the first 64 are kept.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

/// Largest number of skipped commands that wait for judgement; further ones count as skipped at once.
const WAITING_MAX: usize = 4096;

/// Counts of a replay, the first skipped commands, and notes.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Number of commands that were played, including those that needed no call of the driver.
    pub played: u64,
    /// Number of skipped commands, without those of `refused`.
    pub skipped: u64,
    /// Number of skipped commands that had failed in the recording.
    pub refused: u64,
    /// The first skipped commands.
    pub skips: Vec<SkippedCommand>,
    /// Number of skipped commands by function.
    pub skips_by_function: BTreeMap<String, u64>,
    /// Remarks, each once, at most 64.
    pub notes: Vec<String>,
    /// Skipped commands that may have failed in the recording, by process and context.
    doubtful: BTreeMap<(u32, u64), Vec<SkippedCommand>>,
    waiting: usize,
}

/// A command that was skipped.
#[derive(Clone, Debug, Serialize, JsonSchema)]
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
    pub(crate) fn skip(&mut self, most: usize, command: SkippedCommand) {
        self.skipped += 1;
        match self.skips_by_function.get_mut(&command.function) {
            Some(count) => *count += 1,
            None => {
                self.skips_by_function.insert(command.function.clone(), 1);
            }
        }
        if self.skips.len() < most {
            self.skips.push(command);
        }
    }

    /// Counts a skipped command when the program asks for errors in `context`, or at the end.
    pub(crate) fn skip_unless_refused(
        &mut self,
        most: usize,
        context: (u32, u64),
        command: SkippedCommand,
    ) {
        if self.waiting >= WAITING_MAX {
            return self.skip(most, command);
        }
        self.waiting += 1;
        self.doubtful.entry(context).or_default().push(command);
    }

    /// Judges the skipped commands of a context when the program asks for errors; `was_one` says whether the
    /// recorded answer was an error.
    pub(crate) fn error_asked(&mut self, most: usize, context: (u32, u64), was_one: bool) {
        if self.waiting == 0 {
            return;
        }
        let commands = self.doubtful.remove(&context).unwrap_or_default();
        self.waiting -= commands.len();
        if was_one {
            self.refused += commands.len() as u64;
            return;
        }
        for command in commands {
            self.skip(most, command);
        }
    }

    /// The counts at the end, with all skipped commands whose errors the program never asked for. The list is
    /// in the order of the trace.
    pub(crate) fn finished(mut self, most: usize) -> Self {
        for command in std::mem::take(&mut self.doubtful).into_values().flatten() {
            self.skip(most, command);
        }
        self.waiting = 0;
        self.skips.sort_by_key(|command| command.seq.unwrap_or(u64::MAX));
        self
    }

    /// Adds a remark, unless it was made before.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if self.notes.len() < 64 && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(seq: u64) -> SkippedCommand {
        SkippedCommand { seq: Some(seq), function: "glFoo".to_owned(), why: "so".to_owned() }
    }

    #[test]
    fn skipped_command_is_excused_by_a_recorded_error_of_its_context_alone() {
        let (one, two) = ((0, 1), (0, 2));
        let mut tally = Tally::default();
        tally.skip_unless_refused(64, one, command(1));
        tally.skip_unless_refused(64, two, command(2));
        tally.error_asked(64, one, true);
        assert_eq!((tally.refused, tally.skipped), (1, 0));
        tally.skip_unless_refused(64, one, command(3));
        tally.error_asked(64, one, false);
        assert_eq!((tally.refused, tally.skipped), (1, 1));
        // The program never asked in the second context.
        let tally = tally.finished(64);
        assert_eq!((tally.refused, tally.skipped), (1, 2));
        let listed: Vec<_> = tally.skips.iter().map(|command| command.seq).collect();
        assert_eq!(listed, [Some(2), Some(3)]);
        assert_eq!(tally.skips_by_function["glFoo"], 2);
    }

    #[test]
    fn only_so_many_skipped_commands_wait() {
        let mut tally = Tally::default();
        for seq in 0..WAITING_MAX as u64 + 2 {
            tally.skip_unless_refused(8, (0, 1), command(seq));
        }
        assert_eq!((tally.skipped, tally.skips.len()), (2, 2));
    }
}
