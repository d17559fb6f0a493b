//! The process that runs programs of the search, one after the other.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use crate::search::program::{Program, is_beginning};

/// Longest time without a word from the runner.
const LIMIT: Duration = Duration::from_secs(30);

/// `tests/programs/steps.c`, running.
pub struct Runner {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
}

/// The runner ended or hung; how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Died(pub String);

impl Runner {
    pub fn start(command: &mut Command) -> Runner {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let output = child.stdout.take().expect("stdout is a pipe");
        let (to, lines) = channel();
        std::thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| to.send(line))
        });
        Runner { input: child.stdin.take().expect("stdin is a pipe"), child, lines }
    }

    /// Runs a program and returns its answers. `attach` is called where a capture begins, `detach` when the last step
    /// was made. While the program waits for `attach` it calls a command of EGL again and again.
    pub fn run(
        &mut self,
        program: &Program,
        mut attach: impl FnMut(),
        mut detach: impl FnMut(),
    ) -> Result<Vec<String>, Died> {
        let (mut answers, mut text) = (Vec::new(), String::new());
        for step in &program.steps {
            if is_beginning(step) {
                text.push_str("@pause\n");
                self.say(&mut text)?;
                self.hear_until("pause", &mut answers)?;
                attach();
                text.push_str("go\n");
            } else {
                text.push_str(&Program::runner_line(step));
                text.push('\n');
            }
        }
        text.push_str("@end\n");
        self.say(&mut text)?;
        self.hear_until("end", &mut answers)?;
        detach();
        text.push_str("go\n");
        self.say(&mut text)?;
        self.hear_until("gone", &mut answers)?;
        Ok(answers)
    }

    fn say(&mut self, text: &mut String) -> Result<(), Died> {
        let said = self.input.write_all(text.as_bytes());
        text.clear();
        said.map_err(|_| self.died())
    }

    fn hear_until(&mut self, word: &str, answers: &mut Vec<String>) -> Result<(), Died> {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) if line == word => return Ok(()),
                Ok(line) => answers.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    return Err(Died(format!("no word for {LIMIT:?}")));
                }
                Err(RecvTimeoutError::Disconnected) => return Err(self.died()),
            }
        }
    }

    fn died(&mut self) -> Died {
        // Its output has ended, so it ends.
        Died(self.child.wait().map_or_else(|error| error.to_string(), |status| status.to_string()))
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        // Ends at the end of its input, unless it hangs; killed below gapii-ctl it would go on.
        let _ = self.input.write_all(b"");
        crate::process::send_signal(self.child.id(), rustix::process::Signal::TERM);
        if !crate::process::ended_within(self.child.id(), Duration::from_secs(2)) {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}
