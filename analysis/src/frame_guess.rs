//! A guess at the commands that end the frames of a program which never swaps, for `--frame-end`. Candidates are, in this
//! order, `eglCreateSyncKHR`, `eglCreateSync`, `glFlush`, `glFinish`, `glFenceSync` and `glReadPixels` ([`CANDIDATES`]). The
//! guess is the first of them that was called at least twice behind a draw, clear, blit or dispatch of its thread, and not more
//! often without one since its last call.
//!
//! It ends no frame itself: a trace has the frames that were recorded.

use std::collections::BTreeMap;
use std::fmt;

use gapii_commands::CommandId;
use gapii_trace::Command;
use schemars::JsonSchema;
use serde::Serialize;

use crate::role::Role;

/// Commands at which a frame may end, the likeliest first.
pub const CANDIDATES: [CommandId; 6] = [
    CommandId::EGL_CREATE_SYNC_KHR,
    CommandId::EGL_CREATE_SYNC,
    CommandId::GL_FLUSH,
    CommandId::GL_FINISH,
    CommandId::GL_FENCE_SYNC,
    CommandId::GL_READ_PIXELS,
];
/// Fewest calls behind a draw from which a candidate is taken for the end of a frame.
const CALLS_MIN: u64 = 2;

/// Counts the commands from which a guess is made.
#[derive(Clone, Debug, Default)]
pub struct Guesser {
    /// Of each candidate, its calls, and those behind a draw.
    calls: [[u64; 2]; CANDIDATES.len()],
    /// Of each thread, whether it has drawn since its last call of each candidate.
    has_drawn: BTreeMap<u32, [bool; CANDIDATES.len()]>,
}

/// A command at which the frames of a program may end.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct FrameGuess {
    /// Name of the function, as `--frame-end` takes it.
    pub function: String,
    /// Its calls among the commands that were looked at: so many frames they would have ended.
    pub frames: u64,
    /// False if not all commands of the trace were looked at, so that there may be more.
    pub is_of_whole_trace: bool,
}

impl Guesser {
    /// Looks at the next command. Commands of a snapshot count for nothing.
    pub fn look(&mut self, command: &Command<'_>) {
        if !command.is_setup {
            self.count(command.known(), command.thread);
        }
    }

    fn count(&mut self, command: Option<CommandId>, thread: u32) {
        const DRAWS: u64 = Role::Draw.bit() | Role::Dispatch.bit() | Role::Clears.bit();
        if Role::is_any_of(DRAWS, command) {
            self.has_drawn.insert(thread, [true; CANDIDATES.len()]);
        } else if let Some(at) = CANDIDATES.iter().position(|it| Some(*it) == command) {
            let drawn = self.has_drawn.entry(thread).or_default();
            let [calls, behind_draws] = &mut self.calls[at];
            *calls += 1;
            *behind_draws += u64::from(std::mem::take(&mut drawn[at]));
        }
    }

    /// Returns the guess; `None` if no candidate ended frames. `is_whole`: all commands of the trace were looked at.
    pub fn guess(&self, is_whole: bool) -> Option<FrameGuess> {
        let ends = |[calls, behind_draws]: [u64; 2]| {
            behind_draws >= CALLS_MIN && behind_draws >= calls - behind_draws
        };
        let (command, [frames, _]) =
            CANDIDATES.into_iter().zip(self.calls).find(|(_, calls)| ends(*calls))?;
        let function = command.name().to_owned();
        Some(FrameGuess { function, frames, is_of_whole_trace: is_whole })
    }
}

/// A sentence, with what to type.
impl fmt::Display for FrameGuess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { function, frames, is_of_whole_trace } = self;
        let at_least = if *is_of_whole_trace { "" } else { "at least " };
        write!(
            f,
            "frames that end at {function} would be {at_least}{frames}: record with `--frame-end {function}`"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAR: CommandId = CommandId::GL_CLEAR;
    const DRAW: CommandId = CommandId::GL_DRAW_ARRAYS;
    const FLUSH: CommandId = CommandId::GL_FLUSH;
    const FINISH: CommandId = CommandId::GL_FINISH;
    const SYNC: CommandId = CommandId::EGL_CREATE_SYNC_KHR;

    fn check(commands: &[(CommandId, u32)], expected: Option<(CommandId, u64)>) {
        let mut guesser = Guesser::default();
        for (command, thread) in commands {
            guesser.count(Some(*command), *thread);
        }
        let guess = guesser.guess(true).map(|guess| (guess.function, guess.frames));
        let expected = expected.map(|(command, frames)| (command.name().to_owned(), frames));
        assert_eq!(guess, expected, "{commands:?}");
    }

    #[test]
    fn frames_end_where_the_program_hands_its_work_on() {
        let frame = [(CLEAR, 0), (DRAW, 0), (SYNC, 0), (FLUSH, 0)];
        check(&frame.repeat(3), Some((SYNC, 3)));
        check(&[(DRAW, 0), (FLUSH, 0)].repeat(5), Some((FLUSH, 5)));
        check(&[(CLEAR, 0), (FINISH, 0)].repeat(2), Some((FINISH, 2)));
    }

    #[test]
    fn one_call_and_calls_without_draws_end_no_frame() {
        check(&[], None);
        check(&[(DRAW, 0), (FLUSH, 0)], None);
        check(&[(FLUSH, 0); 9], None);
        // The thread that flushes has drawn nothing.
        check(&[(DRAW, 0), (FLUSH, 1)].repeat(5), None);
        // Fences for uploads: three of four follow no draw.
        check(
            &[(DRAW, 0), (SYNC, 0), (SYNC, 0), (SYNC, 0), (FLUSH, 0)].repeat(4),
            Some((FLUSH, 4)),
        );
    }

    #[test]
    fn guess_says_what_to_type_and_whether_it_is_of_the_whole_trace() {
        let mut guess =
            FrameGuess { function: "glFlush".to_owned(), frames: 60, is_of_whole_trace: true };
        let all = "frames that end at glFlush would be 60: record with `--frame-end glFlush`";
        assert_eq!(guess.to_string(), all);
        guess.is_of_whole_trace = false;
        assert_eq!(guess.to_string(), all.replace("be 60", "be at least 60"));
    }
}
