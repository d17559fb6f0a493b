//! `trim`: writes some frames or commands of a trace as a trace of their own, which begins with a snapshot of the state before
//! them. It replays the trace up to them, and records the replay from there on as any other program, with a daemon of its
//! own. So the new trace replays alone. Where no snapshot can be made (between glBegin and glEnd, in a display list, in a snapshot)
//! the part begins with a later command, and a sentence says so. Status 1 for a trace of several processes, of Level Zero, of
//! another user, or without these frames or commands.

use std::ffi::OsString;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;

use clap::Args;
use gapii_analysis::unused::NamesUsed;
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
  gapii-ctl trim x.gapii --frames 500..510 -o part.gapii            frames 500 to 509, which replay alone
  gapii-ctl trim x.gapii --from 4711 --to 4800 -o part.gapii        commands 4711 to 4799, numbered as in `dump`";

/// How long the replay may wait for ring space, in milliseconds.
const STALL_MS: u64 = 600_000;

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Trim {
    #[command(flatten)]
    trace: Trace,

    #[command(flatten)]
    frames: Frames,

    /// First command of the part, by its number in `dump` [default: the first one of the trace]
    ///
    /// Between glBegin and glEnd, in a display list and in a snapshot no part can begin. It begins with the next command then
    /// at which one can, and a sentence on standard error says so.
    #[arg(long, value_name = "SEQ", conflicts_with = "frames")]
    from: Option<u64>,

    /// Command before which the part ends, by its number in `dump` [default: behind the last one of the trace]
    #[arg(long, value_name = "SEQ", conflicts_with = "frames")]
    to: Option<u64>,

    /// Leave textures, buffers and renderbuffers out that no command of the part names and that are not bound or attached
    ///
    /// Those of share groups whose contexts are not current where the part begins, and of contexts with display lists, stay. A trace
    /// whose program reaches objects without their names (glGetTextureHandle*, glPushAttrib) is refused.
    #[arg(long)]
    drop_unused: bool,

    #[command(flatten)]
    output: Output,

    #[command(flatten)]
    json: Json,
}

/// The commands between which the replay is recorded.
struct Part {
    /// The replay is held before this command, or a later one, and the capture is ordered then; `None` if it begins with the
    /// first command.
    hold: Option<u64>,
    /// Whether the capture begins there, and not at the end of the frame.
    at_any_command: bool,
    /// Nothing is played after this command; `None` if everything is.
    last: Option<u64>,
}

pub fn run(args: &Trim) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    if args.frames.frames.is_none() && args.from.or(args.to).is_none() {
        return Err(Failure::usage(
            "which frames are wanted? type `--frames A..B`; `gapii-ctl frames FILE` lists all; or type `--from SEQ --to SEQ` for \
             commands",
        ));
    }
    args.output.must_leave_room_for(&args.json)?;
    let signals = Signals::block()
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    let mut reader = trace_file::open(path)?;
    let info = judged(path, &mut reader)?;
    let part = match &args.frames.frames {
        Some(frames) => of_frames(path, &mut reader, &info, frames)?,
        None => of_commands(path, &mut reader, &info, args.from, args.to)?,
    };
    let scratch = Scratch::create()?;
    let names = match part.hold {
        Some(from) if args.drop_unused => {
            let names = scratch.path().join("names.json");
            play_part::write_names(&names, names_used(path, &mut reader, from, part.last)?)
                .map_err(|error| Failure::system(format!("can't write {names:?}: {error}")))?;
            Some(names)
        }
        _ => None,
    };
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
        at_any_command: part.at_any_command,
        command: std::env::args().map(|word| word.as_str().into()).collect(),
        ..StartRequest::default()
    };
    let gate = scratch.path().join("gate.sock");
    let mut words = words(path, &part, &gate, names.as_deref())?;
    // Its messages are among those of this program.
    words.extend(args.json.json.then(|| "--json".into()));
    let start = |beginning| Program::start(&words, &environment, &beginning, &signals, true);
    let (program, mut capture) = match part.hold {
        None => {
            let capture = Capture::start(connection, request, output)?;
            (start(Beginning::Recorded(&launch)), capture)
        }
        Some(_) => {
            let begun = UnixListener::bind(&gate)
                .map_err(|error| Failure::system(format!("can't listen: {error}")))
                .and_then(|gate| {
                    let program = start(Beginning::Unrecorded(&launch))?;
                    hold(gate, program, args.drop_unused, &signals)
                });
            let held = begun.inspect_err(|_| output.place.discard())?;
            let capture = Capture::start(connection, request, output)?;
            (held.go_on(), capture)
        }
    };
    let program = program.inspect_err(|_| capture.place().discard())?;
    capture.settle();
    let watch = Watch::new(program, Some(capture), &signals, false).of_command("trim");
    let ended = watch.until_the_end()?;
    if let (true, Some(answer)) = (args.json.json, &ended.capture) {
        text::print_json(answer)?;
    }
    trace_file::judge_tail(path, reader.tail())?;
    Ok(ended.status)
}

/// Fails if no part of the trace can be made.
fn judged(path: &Path, reader: &mut Reader) -> Result<Info, Failure> {
    if sandbox::is_of_another_user(path) {
        let name = path.display();
        return Err(Failure::no(format!(
            "{name} belongs to another user, and is played for this without the sandbox; if you trust it, make it yours: \
             `cp {name} COPY`"
        )));
    }
    trace_file::judge_filter(path, reader, "can't be played")?;
    trace_file::judge_contents(path, reader, "can't be played")?;
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
            "{name} has commands of Level Zero, and only those of EGL, GLX and OpenGL can be trimmed; `gapii-ctl export \
             --format json` writes them"
        )));
    }
    Ok(info)
}

/// Finds the commands at which the wanted frames begin and end.
fn of_frames(
    path: &Path,
    reader: &mut Reader,
    info: &Info,
    frames: &Range<u64>,
) -> Result<Part, Failure> {
    trace_file::judge_wish(path, reader, Some(frames), None)?;
    let ends = frame_ends::of(path, reader, info)?;
    let end_of = |frame: u64| ends.iter().find(|end| end.frame == frame)?.seq;
    let before = frames.start.checked_sub(1).and_then(end_of);
    // A debug group that ends a frame must begin behind the order: its name is not known otherwise. So the capture is ordered
    // a frame earlier, and begins at a frame's end. Before the first frame's end it would begin at once.
    let frame_before = frames.start.checked_sub(2).and_then(end_of);
    let earlier = frame_before.filter(|_| rule_of(reader).has_groups());
    let hold = earlier.or(before).map(|seq| seq + 1);
    let last = frames.end.checked_sub(1).and_then(end_of);
    Ok(Part { hold, at_any_command: earlier.is_none(), last })
}

/// Finds the part that begins with command `from` and ends before command `to`.
fn of_commands(
    path: &Path,
    reader: &mut Reader,
    info: &Info,
    from: Option<u64>,
    to: Option<u64>,
) -> Result<Part, Failure> {
    let first = reader.header().kept.map_or(0, |kept| kept.seq);
    if let Some(from) = from {
        trace_file::judge_wish(path, reader, None, Some(from))?;
    }
    if let Some(to) = to.filter(|to| *to <= from.unwrap_or(first)) {
        let from = from.unwrap_or(first);
        return Err(Failure::usage(format!(
            "the commands from {from} up to {to} are none: --to is the first command behind the part; type `--from {from} \
             --to {}` for one command",
            from + 1
        )));
    }
    if let Some(to) = to.filter(|to| *to > first.saturating_add(info.calls)) {
        let (name, end) = (path.display(), first.saturating_add(info.calls));
        return Err(Failure::no(format!(
            "{name} ends before command {end}, so no part ends before command {to}; type `--to {end}`, or leave --to out"
        )));
    }
    let hold = from.filter(|from| *from > first);
    Ok(Part { hold, at_any_command: true, last: to.map(|to| to - 1) })
}

/// Returns the names that the commands from `from` to `last` have.
fn names_used(
    path: &Path,
    reader: &mut Reader,
    from: u64,
    last: Option<u64>,
) -> Result<NamesUsed, Failure> {
    let mut commands = reader.commands().map_err(|error| unreadable(path, &error))?;
    let mut used = NamesUsed::default();
    while commands.advance().map_err(|error| unreadable(path, &error))? {
        let command = commands.command();
        if last.is_some_and(|last| command.seq > Some(last)) {
            break;
        }
        used.look(&command, command.seq >= Some(from));
    }
    match used.hides() {
        None => Ok(used),
        Some(function) => Err(Failure::no(format!(
            "{} calls {function}, so the part may use objects that it does not name; leave `--drop-unused` out",
            path.display()
        ))),
    }
}

/// Returns which commands ended the frames of the trace; the same ones end those of the part.
fn rule_of(reader: &Reader) -> FrameRule {
    reader.footer().map_or_else(FrameRule::default, |footer| footer.options.frame_rule.clone())
}

/// The command line of the replay: this program.
fn words(
    path: &Path,
    part: &Part,
    gate: &Path,
    names: Option<&Path>,
) -> Result<Vec<OsString>, Failure> {
    let own = std::env::current_exe()
        .map_err(|error| Failure::system(format!("can't find this program: {error}")))?;
    let mut words = vec![own.into(), play_part::NAME.into(), path.into()];
    if let Some(hold) = part.hold {
        words.extend(["--hold-before".into(), hold.to_string().into()]);
        words.extend(["--gate".into(), gate.into()]);
        words.extend(part.at_any_command.then(|| "--for-snapshot".into()));
        if let Some(names) = names {
            words.extend(["--keep-names".into(), names.into()]);
        }
    }
    if let Some(last) = part.last {
        words.extend(["--stop-after".into(), last.to_string().into()]);
    }
    Ok(words)
}

/// A replay that waits before the part is to be recorded.
struct Held {
    program: Program,
    gate: UnixStream,
}

/// Waits until the replay has come to the gate.
fn hold(
    gate: UnixListener,
    mut program: Program,
    drops_unused: bool,
    signals: &Signals,
) -> Result<Held, Failure> {
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
            return Err(Failure::answer("stopped before the part began, as asked"));
        }
        if has_come {
            let (gate, held) = arrived(&gate)
                .map_err(|error| Failure::system(format!("can't hear the replay: {error}")))?;
            if held.is_late {
                text::say(&format_args!(
                    "no part can begin between glBegin and glEnd, in a display list or in a snapshot; it begins with command {}",
                    held.seq
                ));
            }
            if drops_unused {
                text::say(&format_args!(
                    "{} objects that the part does not use are not in it",
                    held.dropped
                ));
            }
            return Ok(Held { program, gate });
        }
        if has_ended && program.ended()?.is_some() {
            return Err(Failure::answer(
                "the replay ended before a command with which the part can begin",
            ));
        }
    }
}

fn arrived(gate: &UnixListener) -> io::Result<(UnixStream, gapii_replay::Held)> {
    let (mut gate, _) = gate.accept()?;
    let held = play_part::read_held(&mut gate)?;
    Ok((gate, held))
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
