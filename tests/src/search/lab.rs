//! Runs programs natively and captured, plays the captures, and compares.
//!
//! One process runs many programs, natively; two others do so with the shim and a daemon each. Each program has contexts
//! of its own.

use std::process::Command;

use rustix::process::Signal;
use serde_json::Value;

use crate::display::surfaceless;
use crate::gapii::{Daemon, Session, Trace, append};
use crate::process::{LIMIT, Running, run};
use crate::programs;
use crate::replays::replay;
use crate::search::fault::{Fault, is_seen_if_missing};
use crate::search::program::{KEYFRAME, Program};
use crate::search::runner::{Died, Runner};
use crate::wait;

/// Processes that run programs, and sessions to capture two of them.
pub struct Lab {
    native: Option<Runner>,
    /// Nothing else captures the program.
    attached: Desk,
    /// The program is recorded all the time, so a capture begins with a keyframe.
    recorded: Desk,
    /// Parts of commands, whose differences in a replay are passed over, and of sentences about what is missing.
    known: Vec<String>,
}

/// A process that is captured.
struct Desk {
    // Before the daemon: fields are dropped in this order.
    runner: Option<Runner>,
    session: Session,
    _daemon: Daemon,
    /// How the process is run.
    run: &'static [&'static str],
}

impl Desk {
    fn new(run: &'static [&'static str]) -> Self {
        let session = Session::new();
        let daemon = session.daemon(&[]);
        Self { runner: None, session, _daemon: daemon, run }
    }
}

impl Lab {
    pub fn new() -> Self {
        Self::passing_over(&[])
    }

    /// A lab that passes over replays' differences in commands, and missing things, whose text contains one of these.
    pub fn passing_over(known: &[String]) -> Self {
        let keep = &["run", "--keep-frames", "1", "--keyframe-every", "1000"];
        let (attached, recorded) = (Desk::new(&["run", "--idle"]), Desk::new(keep));
        Self { native: None, attached, recorded, known: known.to_vec() }
    }

    /// Answers of the program without the shim. An error if it crashes by itself, which says nothing about the shim.
    pub fn native(&mut self, program: &Program) -> Result<Vec<String>, Died> {
        let runner = self.native.get_or_insert_with(|| Runner::start(&mut steps()));
        let answers = runner.run(&program.plain(), || {}, || {});
        if answers.is_err() {
            self.native = None;
        }
        answers
    }

    /// Captures the program from the step on at which a capture begins, and plays the capture. `native` are its native
    /// answers.
    pub fn check(&mut self, program: &Program, native: &[String]) -> Result<(), Fault> {
        let trace = self.trace();
        let desk = match program.beginning() {
            Some(KEYFRAME) => &mut self.recorded,
            _ => &mut self.attached,
        };
        let answers = desk.capture(program, &trace).map_err(|died| {
            desk.runner = None;
            Fault::Crashed(died.0)
        })?;
        compare(program, native, &answers)?;
        match self.judge(&trace, program)? {
            Judged::Whole => self.play(&trace),
            // A replay without it differs in other commands, too.
            Judged::LacksSeen => Ok(()),
        }
    }

    /// Plays a capture; its answers and pixels must be the recorded ones.
    fn play(&self, trace: &Trace) -> Result<(), Fault> {
        let mut command = replay(&self.attached.session, &trace.path, &["--verify", "--json"]);
        let played = run(command.env("LP_NUM_THREADS", "0"));
        let report: Value = serde_json::from_str(&played.stdout).unwrap_or_default();
        let differences = ["/verified/differences", "/skips"].map(|list| report.pointer(list));
        let mut differences =
            differences.into_iter().flatten().filter_map(Value::as_array).flatten();
        let pending = differences.clone().filter(|difference| is_of_before(difference)).count();
        let is_known = |difference: &&Value| {
            let is_passed_over =
                difference["function"].as_str().is_some_and(|function| self.is_known(function));
            is_passed_over || (pending == 1 && is_of_before(difference))
        };
        match differences.clone().find(|difference| !is_known(difference)) {
            Some(difference) if !played.status.success() => {
                let function = difference["function"].as_str().unwrap_or_default();
                Err(Fault::Replay(format!("{function} {difference}")))
            }
            None if !played.status.success() && differences.next().is_none() => {
                Err(Fault::Replay(format!("replay {}", played.stderr.trim())))
            }
            _ => Ok(()),
        }
    }

    /// Whether a capture is whole and lacks only what it may lack.
    fn judge(&self, trace: &Trace, program: &Program) -> Result<Judged, Fault> {
        let info = run(Command::new(crate::artifacts::artifact("gapii-ctl"))
            .arg("info")
            .arg(&trace.path)
            .arg("--json"));
        let info: Value = serde_json::from_str(&info.stdout)
            .map_err(|error| Fault::Trace(format!("{error}: {info}")))?;
        if info["lost"]["calls"] != 0 || info["snapshot"] != true {
            return Err(Fault::Trace(info.to_string()));
        }
        let missing = info["missing"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let mut judged = Judged::Whole;
        for sentence in missing {
            match is_seen_if_missing(sentence, program) {
                Some(false) => {}
                Some(true) => judged = Judged::LacksSeen,
                None if self.is_known(sentence) => judged = Judged::LacksSeen,
                None => return Err(Fault::Missing(sentence.to_owned())),
            }
        }
        Ok(judged)
    }

    fn is_known(&self, text: &str) -> bool {
        self.known.iter().any(|known| text.contains(known))
    }

    /// The last capture.
    pub fn trace(&self) -> Trace {
        Trace::new(self.attached.session.path("captured.gapii"))
    }
}

impl Desk {
    fn capture(&mut self, program: &Program, trace: &Trace) -> Result<Vec<String>, Died> {
        let session = &self.session;
        let runner = self.runner.get_or_insert_with(|| {
            let mut command = session.ctl(self.run);
            append(&mut command, &steps());
            Runner::start(&mut command)
        });
        let is_recorded = program.beginning() == Some(KEYFRAME);
        let client = std::cell::RefCell::new(None);
        let attach = || {
            let mut start = session.ctl(["start", "-o"]);
            let running = Running::start(start.arg(&trace.path));
            wait::until("the first record of a capture", LIMIT, || {
                (commands(session) > 0).then_some(())
            });
            *client.borrow_mut() = Some(running);
        };
        let detach = || {
            if let Some(running) = client.borrow_mut().take() {
                // A capture beside another one ends with what the daemon has read by then.
                let mut before = 0;
                wait::until("the last record of a capture", LIMIT, || {
                    let last = std::mem::replace(&mut before, commands(session));
                    (!is_recorded || last == before).then_some(())
                });
                running.signal(Signal::INT);
                running.finish(LIMIT);
                if !is_recorded {
                    session.app_in_mode("idle");
                }
            }
        };
        runner.run(program, attach, detach)
    }
}

/// Commands that the running captures have, of which there is at most one.
fn commands(session: &Session) -> u64 {
    let listed = run(&mut session.ctl(["list", "--json"])).ok();
    let captures: Value = serde_json::from_str(&listed.stdout).unwrap_or_default();
    let captures = captures.as_array().into_iter().flatten();
    captures.filter_map(|capture| capture["progress"]["calls"].as_u64()).sum()
}

impl Default for Lab {
    fn default() -> Self {
        Self::new()
    }
}

/// Verdict on the `missing` list of a capture.
enum Judged {
    Whole,
    /// What is passed over, or what draws show.
    LacksSeen,
}

/// The runner, on llvmpipe and without threads of its driver, which would take the other processes' cores. Memory that
/// it frees is overwritten, so that a use of freed memory shows.
fn steps() -> Command {
    let mut command = Command::new(programs::program("steps"));
    surfaceless(&mut command);
    command.env("LP_NUM_THREADS", "0").env("MALLOC_PERTURB_", "165");
    command
}

fn compare(program: &Program, native: &[String], captured: &[String]) -> Result<(), Fault> {
    let differs =
        (0..native.len().max(captured.len())).find(|at| native.get(*at) != captured.get(*at));
    let Some(at) = differs else { return Ok(()) };
    let said = |answers: &[String]| answers.get(at).cloned().unwrap_or_default();
    let (native, captured) = (said(native), said(captured));
    let number = [&native, &captured]
        .iter()
        .filter_map(|line| line.split(':').next()?.parse::<usize>().ok())
        .min();
    let step =
        number.and_then(|number| program.plain().steps.get(number).cloned()).unwrap_or_default();
    Err(Fault::Disturbed { step, native, captured })
}

/// True for an error that may have been pending when the capture began: the shim must not ask for it, since asking clears
/// it. There can be one.
fn is_of_before(difference: &Value) -> bool {
    difference["function"] == "glGetError" && difference["seen"] == "0"
}
