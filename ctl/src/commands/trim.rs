//! `trim`: writes some frames of a trace as a trace of their own, which begins with a snapshot of the state before them. It
//! replays the trace up to these frames, and records the replay from there on as any other program, with a daemon of its
//! own. So the new trace replays alone. A part begins with the first frame, or with the third or a later one: a capture of a
//! program that has ended no frame begins at any command. Status 1 for a trace of several processes, of Level Zero, of another
//! user, or without these frames.

use std::ffi::OsString;
use std::io::Write;
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use clap::Args;
use gapii_commands::Api;
use gapii_control::{StartRequest, Target};
use gapii_trace::Info;
use gapii_trace::frame_rule::FrameRule;
use rustix::event::{PollFd, PollFlags};

use crate::args::{Frames, Json, Output, Trace};
use crate::capture::Capture;
use crate::commands::play_part;
use crate::connection::Connection;
use crate::failure::Failure;
use crate::frame_ends;
use crate::launch::Launch;
use crate::output_file::OutputFile;
use crate::private_daemon::PrivateDaemon;
use crate::program::{Beginning, Environment, Program};
use crate::sandbox;
use crate::scratch::Scratch;
use crate::signals::Signals;
use crate::text;
use crate::trace_file::{self, Reader, unreadable};
use crate::wait;
use crate::watch::Watch;

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl trim x.gapii --frames 500..510 -o part.gapii    frames 500 to 509, which replay alone";

/// How long the replay may wait for ring space, in milliseconds.
const STALL_MS: u64 = 600_000;

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Trim {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    json: Json,
}

/// The commands between which the replay is recorded.
struct Part {
    /// The capture begins at the end of this command; `None` if it begins with the first command.
    before: Option<u64>,
    /// The replay is held before this command, so that the capture is ordered in time.
    hold: Option<u64>,
    /// Nothing is played after this command; `None` if everything is.
    last: Option<u64>,
}

pub fn run(args: &Trim) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let Some(frames) = args.frames.frames.clone() else {
        return Err(Failure::usage(
            "which frames are wanted? type `--frames A..B`; `gapii-ctl frames FILE` lists all",
        ));
    };
    args.output.must_leave_room_for(&args.json)?;
    let signals = Signals::block()
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    let mut reader = trace_file::open(path)?;
    let part = part(path, &mut reader, &frames)?;
    let scratch = Scratch::create()?;
    let daemon = PrivateDaemon::start(scratch.path(), &signals)?;
    let environment = Environment::new(&scratch, daemon.app_socket())?;
    let connection = Connection::to_path(&daemon.client_socket())?;
    let output = OutputFile::open(&args.output, "part")?;
    let launch = Launch::create()?;
    let request = StartRequest {
        target: Target::Launch(launch.token),
        // Nobody waits for the frames of this program: it may wait for the disk, and be held for its contents.
        stall_ms: STALL_MS,
        attach_memory: 0,
        frame_rule: rule_of(&reader),
        command: std::env::args().map(|word| word.as_str().into()).collect(),
        ..StartRequest::default()
    };
    let gate = scratch.path().join("gate.sock");
    let words = words(path, &part, &gate)?;
    let start = |beginning| Program::start(&words, &environment, &beginning, &signals, true);
    let (program, mut capture) = match part.before {
        None => {
            let capture = Capture::start(connection, request, output)?;
            (start(Beginning::Recorded(&launch)), capture)
        }
        Some(_) => {
            let begun = UnixListener::bind(&gate)
                .map_err(|error| Failure::system(format!("can't listen: {error}")))
                .and_then(|gate| hold(gate, start(Beginning::Unrecorded(&launch))?, &signals));
            let held = begun.inspect_err(|_| output.place.discard())?;
            let capture = Capture::start(connection, request, output)?;
            (held.go_on(), capture)
        }
    };
    let program = program.inspect_err(|_| capture.place().discard())?;
    capture.settle();
    let ended = Watch::new(program, Some(capture), &signals, false).until_the_end()?;
    if let (true, Some(answer)) = (args.json.json, &ended.capture) {
        text::print_json(answer)?;
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(ended.status)
}

/// Finds the commands at which the wanted frames begin and end.
fn part(path: &Path, reader: &mut Reader, frames: &Range<u64>) -> Result<Part, Failure> {
    if sandbox::is_of_another_user(path) {
        let name = path.display();
        return Err(Failure::no(format!(
            "{name} belongs to another user, and is played for this without the sandbox; if you trust it, make it yours: \
             `cp {name} COPY`"
        )));
    }
    trace_file::judge_filter(path, reader, "can't be played")?;
    trace_file::judge_wish(path, reader, Some(frames), None)?;
    let info = Info::of(reader).map_err(|error| unreadable(path, &error))?;
    let name = path.display();
    if info.processes.len() != 1 {
        return Err(Failure::no(format!(
            "{name} has several processes, whose frames end independently; only a trace of one process can be trimmed; \
             `gapii-ctl export --format json --pid PID` writes the commands of one"
        )));
    }
    if info.apis.iter().any(|api| api.raw() == Api::LevelZero.name()) {
        return Err(Failure::no(format!(
            "{name} has commands of Level Zero, and only those of EGL and OpenGL ES can be trimmed; `gapii-ctl export \
             --format json` writes them"
        )));
    }
    let ends = frame_ends::of(path, reader, &info)?;
    let end_of = |frame: u64| ends.iter().find(|end| end.frame == frame)?.seq;
    let before = frames.start.checked_sub(1).and_then(end_of);
    if before.is_some() && before == ends.first().and_then(|end| end.seq) {
        return Err(Failure::no(format!(
            "a part cannot begin with the second frame; type `--frames {}..{}`",
            frames.start - 1,
            frames.end
        )));
    }
    // A debug group that ends a frame must begin behind the order: its name is not known otherwise.
    let frame_before = frames.start.checked_sub(2).and_then(end_of).map(|seq| seq + 1);
    let hold = if rule_of(reader).has_groups() { frame_before.or(before) } else { before };
    let last = frames.end.checked_sub(1).and_then(end_of);
    Ok(Part { before, hold, last })
}

/// Returns which commands ended the frames of the trace; the same ones end those of the part.
fn rule_of(reader: &Reader) -> FrameRule {
    reader.footer().map_or_else(FrameRule::default, |footer| footer.options.frame_rule.clone())
}

/// The command line of the replay: this program.
fn words(path: &Path, part: &Part, gate: &Path) -> Result<Vec<OsString>, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::system(format!("can't find this program: {error}")))?;
    let mut words = vec![own.into(), play_part::NAME.into(), path.into()];
    if let Some(hold) = part.hold {
        words.extend(["--hold-before".into(), hold.to_string().into()]);
        words.extend(["--gate".into(), gate.into()]);
    }
    if let Some(last) = part.last {
        words.extend(["--stop-after".into(), last.to_string().into()]);
    }
    Ok(words)
}

/// A replay that waits before the frames are to be recorded.
struct Held {
    program: Program,
    gate: UnixStream,
}

/// Waits until the replay has come to the gate.
fn hold(gate: UnixListener, mut program: Program, signals: &Signals) -> Result<Held, Failure> {
    loop {
        let mut watched = [
            PollFd::new(&gate, PollFlags::IN),
            PollFd::new(&program, PollFlags::IN),
            PollFd::new(signals, PollFlags::IN),
        ];
        wait::until_ready(&mut watched, None)
            .map_err(|error| Failure::system(format!("can't wait: {error}")))?;
        let [has_come, has_ended, is_stopped] = watched.map(|it| !it.revents().is_empty());
        if is_stopped && let Some(request) = signals.next() {
            program.signal(request.signal);
            return Err(Failure::answer("stopped before the first of these frames, as asked"));
        }
        if has_come {
            let (gate, _) = gate
                .accept()
                .map_err(|error| Failure::system(format!("can't hear the replay: {error}")))?;
            return Ok(Held { program, gate });
        }
        if has_ended && program.ended()?.is_some() {
            return Err(Failure::answer("the replay ended before the first of these frames"));
        }
    }
}

impl Held {
    /// Lets the replay go on.
    fn go_on(mut self) -> Result<Program, Failure> {
        self.gate
            .write_all(&[1])
            .map_err(|error| Failure::system(format!("the replay is gone: {error}")))?;
        Ok(self.program)
    }
}
