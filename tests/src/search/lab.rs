//! Runs programs natively and captured, plays the captures, and compares.
//!
//! One process runs many programs, natively; others do so with the shim and a daemon each. Each program has contexts of
//! its own. One more process starts and stops the captures and plays them.

use std::cell::RefCell;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::gapii::{Daemon, Session, Trace, append};
use crate::programs;
use crate::search::dialogue::Died;
use crate::search::driver::{Driver, PERTURB};
use crate::search::fault::{Fault, is_seen_if_missing};
use crate::search::operator::Operator;
use crate::search::pending::Asking;
use crate::search::program::{KEYFRAME, Program, command_of};
use crate::search::runner::{Ending, Runner};

/// Processes that run programs, and sessions to capture them.
pub struct Lab {
    driver: Driver,
    native: Option<Runner>,
    desks: Vec<Desk>,
    operator: Operator,
    /// Folder of the last capture.
    folder: Session,
    /// Parts of commands, whose differences in a replay are passed over, and of sentences about what is missing.
    known: Vec<String>,
}

/// A process that is captured, and its daemon.
struct Desk {
    way: Way,
    // Before the daemon: fields are dropped in this order.
    runner: Option<Runner>,
    session: Session,
    _daemon: Daemon,
}

/// How a program is captured.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Way {
    /// The program is recorded all the time, so a capture begins with a keyframe. Otherwise nothing else captures it.
    is_recorded: bool,
    /// The program ends frames. A process that has ended one delays captures by a second, in vain in programs that do not.
    ends_frames: bool,
}

impl Way {
    fn of(program: &Program) -> Way {
        Way {
            is_recorded: program.beginning() == Some(KEYFRAME),
            ends_frames: program.steps.iter().any(|step| step.contains("eglSwapBuffers")),
        }
    }

    /// How the process is run.
    fn arguments(self) -> &'static [&'static str] {
        match self.is_recorded {
            true => &["run", "--keep-frames", "1", "--keyframe-every", "1000"],
            false => &["run", "--idle"],
        }
    }
}

impl Desk {
    fn new(way: Way) -> Self {
        let session = Session::new();
        let daemon = session.daemon(&[]);
        Self { way, runner: None, session, _daemon: daemon }
    }
}

impl Lab {
    /// A lab that passes over replays' differences in commands, and missing things, whose text contains one of `known`.
    pub fn new(driver: Driver, known: &[String]) -> Self {
        Self {
            driver,
            native: None,
            desks: Vec::new(),
            operator: Operator::new(driver),
            folder: Session::new(),
            known: known.to_vec(),
        }
    }

    /// Ends the processes. Others take their place with the next program.
    pub fn renew(&mut self) {
        self.native = None;
        self.desks.iter_mut().for_each(|desk| desk.runner = None);
        self.operator.end();
    }

    /// Answers of the program without the shim. An error if it crashes by itself, which says nothing about the shim.
    pub fn native(&mut self, program: &Program) -> Result<Vec<String>, Died> {
        let runner = self.native.get_or_insert_with(|| Runner::start(&mut steps(self.driver)));
        let answers = run_natively(runner, program);
        if answers.is_err() {
            self.native = None;
        }
        answers
    }

    /// Answers of the program in a process of its own, whose memory has other contents.
    pub fn native_elsewhere(&self, program: &Program) -> Result<Vec<String>, Died> {
        let mut steps = steps(self.driver);
        steps.env(PERTURB, "90");
        run_natively(&mut Runner::start(&mut steps), program)
    }

    /// Answers of the program on softpipe, where new images and buffers have what their memory held before: `fill`, a byte. It
    /// has OpenGL ES 3.1.
    pub fn native_on_softpipe(&self, program: &Program, fill: u8) -> Result<Vec<String>, Died> {
        let mut steps = steps(Driver::Llvmpipe);
        // The C library fills memory with the complement.
        steps.env("GALLIUM_DRIVER", "softpipe").env(PERTURB, (!fill).to_string());
        run_natively(&mut Runner::start(&mut steps), program)
    }

    /// Captures the program from the step on at which a capture begins, and plays the capture. `native` are its native
    /// answers.
    pub fn check(&mut self, program: &Program, native: &[String]) -> Result<(), Fault> {
        let answers = self.capture(program).map_err(|died| Fault::Crashed(died.0))?;
        compare(program, native, &answers, self.driver)?;
        match self.judge(program)? {
            Judged::Whole => self.play(program, native),
            // A replay without it differs in other commands, too.
            Judged::LacksSeen => Ok(()),
        }
    }

    fn capture(&mut self, program: &Program) -> Result<Vec<String>, Died> {
        let (way, trace) = (Way::of(program), self.trace().path);
        let at = self.desks.iter().position(|desk| desk.way == way).unwrap_or_else(|| {
            self.desks.push(Desk::new(way));
            self.desks.len() - 1
        });
        let driver = self.driver;
        let (desk, operator) = (&mut self.desks[at], RefCell::new(&mut self.operator));
        let session = &desk.session;
        let runner = desk.runner.get_or_insert_with(|| {
            let mut command = session.ctl(way.arguments());
            let mut steps = steps(driver);
            if way.is_recorded {
                // It takes long, and one capture of each program is enough.
                steps.env(PERTURB, "165");
            }
            append(&mut command, &steps);
            Runner::start(&mut command)
        });
        let socket = session.path("gapii/ctl.sock");
        let attach = || operator.borrow_mut().start(&socket, &trace);
        let detach = || {
            let mut operator = operator.borrow_mut();
            if way.is_recorded {
                // A capture beside another one ends with what the daemon has read by then.
                operator.settle(&socket)?;
            }
            operator.stop(&socket)
        };
        let ending = if way.is_recorded { Ending::Rests } else { Ending::Calls };
        let answers = runner.run(program, ending, attach, detach);
        if answers.is_err() {
            desk.runner = None;
            // It may have a capture.
            self.operator.end();
        }
        answers
    }

    /// Plays the last capture; its answers and pixels must be the recorded ones.
    fn play(&mut self, program: &Program, native: &[String]) -> Result<(), Fault> {
        let trace = self.trace().path;
        let Err(fault) = self.play_once(&trace, program, native) else { return Ok(()) };
        // A process that has played other traces before may show their traces.
        self.operator.end();
        match self.play_once(&trace, program, native) {
            Ok(()) => Err(Fault::Replay(format!("after-others {fault}"))),
            Err(fault) => Err(fault),
        }
    }

    fn play_once(
        &mut self,
        trace: &Path,
        program: &Program,
        native: &[String],
    ) -> Result<(), Fault> {
        let report = self
            .operator
            .play(trace)
            .map_err(|died| Fault::Replay(format!("replay {}", died.0)))?;
        if report["verified"]["different"] == 0 {
            return Ok(());
        }
        let lists = ["/verified/differences", "/skips"].map(|list| report.pointer(list));
        let all = lists.into_iter().flatten().filter_map(Value::as_array).flatten();
        let mut all = all.peekable();
        if all.peek().is_none() {
            return Err(Fault::Replay(format!("replay {report}")));
        }
        let is_known = |difference: &&Value| {
            difference["function"].as_str().is_some_and(|function| self.is_known(function))
        };
        let is_passed_over = |difference: &&Value| {
            is_known(difference) || !self.driver.has_contents() && is_of_contents(difference)
        };
        let unknown: Vec<&Value> = all.filter(|difference| !is_passed_over(difference)).collect();
        let mut pending = match unknown.iter().any(|difference| is_error(difference)) {
            true => self.pending_errors(program, native),
            false => Vec::new(),
        };
        match unknown.iter().find(|difference| !takes_pending(difference, &mut pending)) {
            Some(difference) => {
                let function = difference["function"].as_str().unwrap_or_default();
                Err(Fault::Replay(format!("{function} {difference}")))
            }
            None => Ok(()),
        }
    }

    /// The GL errors that are pending when the capture begins. The shim must not ask for them, since asking clears them, so a
    /// replay does not have them.
    fn pending_errors(&mut self, program: &Program, native: &[String]) -> Vec<String> {
        let asking = Asking::of(program, native);
        let answers = self.native(&asking.program).unwrap_or_default();
        asking.pending(&answers)
    }

    /// Whether the last capture is whole and lacks only what it may lack.
    fn judge(&mut self, program: &Program) -> Result<Judged, Fault> {
        let trace = self.trace().path;
        let info = self.operator.info(&trace).map_err(|died| Fault::Trace(died.0))?;
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
        Trace::new(self.folder.path("captured.gapii"))
    }
}

/// Verdict on the `missing` list of a capture.
enum Judged {
    Whole,
    /// What is passed over, or what draws show.
    LacksSeen,
}

/// The runner.
fn steps(driver: Driver) -> Command {
    let mut command = Command::new(programs::program("steps"));
    driver.use_in(&mut command);
    command
}

fn run_natively(runner: &mut Runner, program: &Program) -> Result<Vec<String>, Died> {
    runner.run(&program.plain(), Ending::Rests, || Ok(()), || Ok(()))
}

fn compare(
    program: &Program,
    native: &[String],
    captured: &[String],
    driver: Driver,
) -> Result<(), Fault> {
    let plain = program.plain();
    let faults = (0..native.len().max(captured.len())).filter_map(|at| {
        let [native, captured] = [native, captured].map(|answers| answers.get(at));
        if native == captured {
            return None;
        }
        let [native, captured] = [native, captured].map(|line| line.cloned().unwrap_or_default());
        let number = [&native, &captured].into_iter().filter_map(|line| step_of(line)).min();
        let step = number.and_then(|number| plain.steps.get(number).cloned()).unwrap_or_default();
        let is_passed_over = !driver.has_contents() && differ_in_images(&step, &native, &captured);
        (!is_passed_over).then_some(Fault::Disturbed { step, native, captured })
    });
    faults.map(Err).next().unwrap_or(Ok(()))
}

/// Number of the step that a line answers.
fn step_of(answer: &str) -> Option<usize> {
    answer.split(':').next()?.parse().ok()
}

/// Whether two answers of a step differ in what images hold alone. A driver without contents shows another part of a texture's
/// memory when Mesa puts the texture's levels together, which it does when it is asked about some of them.
fn differ_in_images(step: &str, native: &str, captured: &str) -> bool {
    let name = command_of(step);
    let reads_image =
        name.starts_with("glRead") || name.starts_with("glGet") && name.contains("Image");
    // A digest of what was read stands behind the rest.
    let digest = |line: &str| line.split_once('#').map(|(rest, _)| rest.to_owned());
    reads_image && digest(native).is_some_and(|rest| Some(rest) == digest(captured))
}

/// Whether a replay differs in contents of an object: pixels, or memory that is mapped or that a command fills.
fn is_of_contents(difference: &Value) -> bool {
    let part = difference["part"].as_str().unwrap_or_default();
    part == "pixels" || part.starts_with("memory")
}

/// Whether a replay differs in the answer of `glGetError`, which is an error in the recording.
fn is_error(difference: &Value) -> bool {
    difference["function"] == "glGetError" && difference["expected"] != "0"
}

/// Takes the recorded answer of `glGetError` from the errors that were pending, if it is one of them. A command that fails
/// while an error is pending adds none (OpenGL ES 3.2, 2.3.1), but does in the replay, which may then answer another error.
fn takes_pending(difference: &Value, pending: &mut Vec<String>) -> bool {
    let is_it = |error: &String| is_error(difference) && difference["expected"] == error.as_str();
    let at = pending.iter().position(is_it);
    at.map(|at| pending.swap_remove(at)).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_of_images_are_compared_where_a_driver_has_some() {
        let program: Program =
            "0 glGetError\n0 glReadPixels 0 0 8 8 GL_RGBA out:256\n@attach\n0 glFlush\n"
                .parse()
                .expect("a program");
        let check = |native: [&str; 2], captured: [&str; 2], expected: [bool; 2]| {
            let [native, captured] = [native, captured].map(|it| it.map(str::to_owned));
            let same = [Driver::Llvmpipe, Driver::NoOp]
                .map(|driver| compare(&program, &native, &captured, driver).is_ok());
            assert_eq!(same, expected, "{native:?} {captured:?}");
        };
        let native = ["0: 0", "1: #39cb"];
        check(native, native, [true, true]);
        check(native, ["0: 0", "1: #769e"], [false, true]);
        check(native, ["0: 1282", "1: #39cb"], [false, false]);
        check(native, ["0: 1282", "1: #769e"], [false, false]);
        check(native, ["0: 0", "1: 1 #769e"], [false, false]);
    }
}
