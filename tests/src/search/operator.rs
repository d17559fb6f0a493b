//! The process that starts and stops captures and plays traces: `tests/operator`, running.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::artifacts::artifact;
use crate::search::dialogue::{Dialogue, Died};
use crate::search::driver::{Driver, PERTURB};

/// Longest time for one request.
const LIMIT: Duration = Duration::from_secs(120);

pub struct Operator {
    driver: Driver,
    /// `None` before the first request, and after a crash.
    dialogue: Option<Dialogue>,
}

impl Operator {
    /// One that plays on this driver.
    pub fn new(driver: Driver) -> Operator {
        Operator { driver, dialogue: None }
    }

    /// Starts a capture of the only application of a daemon into `file`, and waits until it has a command.
    pub fn start(&mut self, socket: &Path, file: &Path) -> Result<(), Died> {
        self.ask(&format!("start {} {}", socket.display(), file.display())).map(drop)
    }

    /// Waits until the daemon's capture gets nothing more.
    pub fn settle(&mut self, socket: &Path) -> Result<(), Died> {
        self.ask(&format!("settle {}", socket.display())).map(drop)
    }

    /// Ends the daemon's capture.
    pub fn stop(&mut self, socket: &Path) -> Result<(), Died> {
        self.ask(&format!("stop {}", socket.display())).map(drop)
    }

    /// `gapii-ctl info --json` of a trace.
    pub fn info(&mut self, trace: &Path) -> Result<Value, Died> {
        Ok(self.ask(&format!("info {}", trace.display()))?["info"].take())
    }

    /// `gapii-ctl replay --verify --json` of a trace.
    pub fn play(&mut self, trace: &Path) -> Result<Value, Died> {
        let mut answer = self.ask(&format!("play {}", trace.display()))?;
        match answer["tail"].as_str() {
            Some(tail) => Err(Died(format!("the trace is not whole: {tail}"))),
            None => Ok(answer["report"].take()),
        }
    }

    /// Ends the process: the next request starts another one.
    pub fn end(&mut self) {
        self.dialogue = None;
    }

    /// After an error, the next request is for another process.
    fn ask(&mut self, request: &str) -> Result<Value, Died> {
        let driver = self.driver;
        let dialogue = self.dialogue.get_or_insert_with(|| {
            let mut command = Command::new(artifact("gapii-test-operator"));
            driver.use_in(&mut command);
            command.env(PERTURB, "165");
            Dialogue::start(&mut command, LIMIT)
        });
        let answer = dialogue.say(&format!("{request}\n")).and_then(|()| dialogue.hear());
        let answer = answer.and_then(|line| match serde_json::from_str::<Value>(&line) {
            Ok(answer) => match answer["error"].as_str() {
                Some(error) => Err(Died(error.to_owned())),
                None => Ok(answer),
            },
            Err(error) => Err(Died(format!("{error}: {line}"))),
        });
        if answer.is_err() {
            self.end();
        }
        answer
    }
}
