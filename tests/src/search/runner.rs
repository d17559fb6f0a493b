//! The process that runs programs of the search, one after the other.

use std::process::Command;
use std::time::Duration;

use crate::search::dialogue::{Dialogue, Died};
use crate::search::program::{Program, is_beginning};

/// Longest time without a word from the runner, which runs a program in a fraction of a second. Mesa 22.3 waits for ever
/// for locks in freed memory when some programs end.
const LIMIT: Duration = Duration::from_secs(10);

/// `tests/programs/steps.c`, running.
pub struct Runner {
    dialogue: Dialogue,
}

/// What the runner does while its last capture ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// It calls a command again and again, which puts the hooks of a capture back at once.
    Calls,
    /// It rests, so that a capture that goes on gets nothing more.
    Rests,
}

impl Runner {
    pub fn start(command: &mut Command) -> Runner {
        Runner { dialogue: Dialogue::start(command, LIMIT) }
    }

    /// Runs a program and returns its answers. `attach` is called where a capture begins, `detach` when the last step
    /// was made. While the program waits for `attach` it calls a command of EGL again and again.
    pub fn run(
        &mut self,
        program: &Program,
        ending: Ending,
        mut attach: impl FnMut() -> Result<(), Died>,
        mut detach: impl FnMut() -> Result<(), Died>,
    ) -> Result<Vec<String>, Died> {
        let (mut answers, mut text) = (Vec::new(), String::new());
        for step in &program.steps {
            if is_beginning(step) {
                text.push_str("@pause\n");
                self.dialogue.say(&text)?;
                self.hear_until("pause", &mut answers)?;
                attach().map_err(|failure| self.cause(failure))?;
                text.clear();
                text.push_str("go\n");
            } else {
                Program::add_runner_line(step, &mut text);
            }
        }
        text.push_str(match ending {
            Ending::Calls => "@end\n",
            Ending::Rests => "@rest\n",
        });
        self.dialogue.say(&text)?;
        self.hear_until("end", &mut answers)?;
        detach().map_err(|failure| self.cause(failure))?;
        self.dialogue.say("go\n")?;
        self.hear_until("gone", &mut answers)?;
        Ok(answers)
    }

    fn hear_until(&mut self, word: &str, answers: &mut Vec<String>) -> Result<(), Died> {
        loop {
            match self.dialogue.hear()? {
                line if line == word => return Ok(()),
                line => answers.push(line),
            }
        }
    }

    /// A capture that failed because the runner has died.
    fn cause(&mut self, failure: Died) -> Died {
        if self.dialogue.has_ended() { self.dialogue.died() } else { failure }
    }
}
