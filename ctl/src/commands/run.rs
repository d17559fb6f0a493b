//! `run`: starts a program with the shim loaded and captures it from its first call. Uses the daemon at `--connect` or
//! the user's own; only if none answers there and `--connect` was not given, it starts a private one, which ends with
//! the run. Exits with the program's own status, and with 125, 126 or 127 if it fails itself; 125 also takes the place of 0 if
//! what was asked for could not be recorded. Kept frames are saved at the end if `-o` is given or the daemon is
//! private. Refuses `--via`. `GAPII_SOCKET` overrides the applications' socket.
//!
//! Prints its messages to standard error, and with `--json` one document to standard output, which the program then does
//! not get.

use std::cell::RefCell;
use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use gapii_abi::app;
use gapii_control::{Event, Request, StartRequest, Target};

use crate::args::{Connect, Json, Keep, Limits, Output, seconds};
use crate::capture_answer::{ProgramAnswer, RunAnswer, SavedAnswer};
use crate::comeback::Revive;
use crate::connection::{self, ConnectError, Connection};
use crate::failure::{Failure, RUN};
use crate::held::Held;
use crate::json::Problem;
use crate::keeping::{self, Keeping};
use crate::launch::Launch;
use crate::measuring::Measuring;
use crate::output_file::OutputFile;
use crate::planned::Planned;
use crate::private_daemon::PrivateDaemon;
use crate::program::{self, Beginning, Environment, Program};
use crate::scratch::Scratch;
use crate::signals::Signals;
use crate::text;
use crate::watch::{Ended, Watch};

const AFTER_HELP: &str = "\
Examples:
  gapii-ctl run -o x.gapii -- PROGRAM ARGUMENTS             capture until the program ends
  gapii-ctl run --frames 100 --quit -o x.gapii -- PROGRAM   capture 100 frames, then end the program
  gapii-ctl run --idle -- PROGRAM                           run it; capture later with `gapii-ctl start`
  gapii-ctl run --keep-frames 300 -o x.gapii -- PROGRAM     save the last 300 frames when it ends or crashes

Exit status: that of the program (128 plus the signal's number if a signal ended it). 125 if gapii failed, also in place of
the program's 0: if nothing was recorded, the daemon died, or the output could not be written. 126 if the program can't be
executed, 127 if it does not exist. With --quit: 0 if the capture is complete, and
never 0 if not.";

#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct Run {
    /// Load the shim without capturing; attach later with `gapii-ctl start`
    #[arg(long, conflicts_with_all = ["frames", "submits", "frame_ends", "skip_frames", "seconds", "observe_frames", "timing", "gpu_timing", "quit", "output", "keep_frames", "threads", "apis", "functions", "when"])]
    idle: bool,

    /// Hold the program before its first command until a client begins a capture of it with `gapii-ctl start`
    ///
    /// The client may be on another machine (--via), if a daemon runs on this one. The capture contains the first
    /// command. Each process of the program is held by itself, with all its threads.
    #[arg(long, conflicts_with_all = ["idle", "frames", "submits", "frame_ends", "skip_frames", "seconds", "observe_frames", "timing", "gpu_timing", "quit", "output", "keep_frames", "threads", "apis", "functions", "when"])]
    wait: bool,

    /// With --wait: let the program go on unrecorded if no capture has begun after S seconds [default: 600]
    #[arg(long, value_name = "S", requires = "wait", value_parser = seconds, allow_negative_numbers = true)]
    timeout: Option<f64>,

    /// With --idle: do not track the program's state until a capture begins. The program runs at native speed,
    /// and a later capture lacks all state that was set up before it began
    #[arg(long, requires = "idle")]
    no_monitor: bool,

    /// End the program and its descendants when the capture is complete or cannot go on: SIGTERM, then SIGKILL after 5 s
    ///
    /// The exit status is 0 if the capture is complete. If not, for example because the program ended by itself before the
    /// frames, seconds or bytes that were asked for, it is the program's own, and 125 in place of 0.
    #[arg(long, conflicts_with = "keep_frames")]
    quit: bool,

    /// Load this library into the program after the shim: a tool that registers tracers; may be repeated
    ///
    /// In the file name, * and ? match, if the pattern is quoted: --tool 'tools/*.so'. A file that the system's dynamic
    /// linker would not load is refused before the program starts.
    #[arg(long = "tool", value_name = "FILE|GLOB")]
    tools: Vec<PathBuf>,

    /// Say at the end how much slower recording made the program. It runs unrecorded for S seconds first [default: 3]
    ///
    /// Recording begins S seconds after the program's first second of frames, with a snapshot of the program's state. Compared
    /// are the mean times of frames before that, with the shim loaded, and from the first recorded frame on. A program
    /// that ends no frame is recorded from 30 + S seconds on.
    #[arg(long, value_name = "S", num_args = 0..=1, require_equals = true, default_missing_value = "3",
          value_parser = time_to_measure, conflicts_with = "frame_ends")]
    measure: Option<Duration>,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    keep: Keep,

    #[command(flatten)]
    output: Output,

    /// Print JSON about the program and the capture on standard output; the program's standard output goes to standard
    /// error
    #[arg(long)]
    json: bool,

    /// Program and its arguments
    #[arg(value_name = "CMD", required = true, trailing_var_arg = true)]
    command: Vec<OsString>,
}

/// Seconds that a program may be measured for before it is recorded.
const TIMES_TO_MEASURE: RangeInclusive<f64> = 1.0..=600.0;

fn time_to_measure(text: &str) -> Result<Duration, String> {
    let seconds = seconds(text)?;
    match TIMES_TO_MEASURE.contains(&seconds) {
        true => Ok(Duration::from_secs_f64(seconds)),
        false => Err(format!(
            "a program is measured for {} to {} s",
            TIMES_TO_MEASURE.start(),
            TIMES_TO_MEASURE.end()
        )),
    }
}

/// Returns the program's exit status, or 125 in place of 0 if the capture is not what was asked for; if `--quit` ended the
/// program, 0 after a complete capture, otherwise 125.
pub fn run(args: &Run, connect: &Connect) -> Result<u8, Failure> {
    if let Some(via) = &connect.via {
        return Err(Failure::usage(format!(
            "run starts programs on this machine only, not on {via}: run it there, with `gapii-ctl run \
             --wait -- CMD`, and capture it from here with `gapii-ctl --via {via} start`"
        )));
    }
    must_be_measurable(args)?;
    args.output.must_leave_room_for(&Json { json: args.json })?;
    program::check(&args.command[0])?;
    let signals = Signals::block()
        .map_err(|error| Failure::system(format!("can't watch for signals: {error}")))?;
    if let Some(option) = option_of_run(&args.command) {
        text::say(&format_args!(
            "{option} stands behind the program and is the program's; options of `gapii-ctl run` stand before it"
        ));
    }
    let scratch = Scratch::create()?;
    scratch.note_command(&args.command);
    let daemon = Daemon::find(connect, &scratch, &signals)?;
    let mut environment = Environment::new(&scratch, daemon.app_socket.clone())?;
    environment.monitors = !args.no_monitor;
    environment.add_tools(&args.tools, &args.command[0], &scratch)?;
    if args.idle {
        return idle(args, &daemon, &environment, &signals);
    }
    if args.wait {
        return wait(args, &daemon, &environment, &signals);
    }
    if args.keep.keep_frames.is_some() {
        return keep(args, connect, &daemon, &environment, &signals);
    }
    if args.quit && !args.tools.is_empty() {
        text::say(
            &"--quit ends the program by SIGTERM; unless the program handles it, what a tool reports in its destructor is lost",
        );
    }
    let launch = Launch::create()?;
    let planned = plan(args, &daemon, &launch, &signals)?;
    let output_is_taken = args.json || planned.place().is_standard_output();
    let start = |beginning: &Beginning<'_>| {
        Program::start(&args.command, &environment, beginning, &signals, output_is_taken)
    };
    let watch = if let Some(time) = args.measure {
        let begun = planned.connection.must_know_running_launches().and_then(|()| {
            let connection = Connection::to_path(&daemon.client_socket)?;
            Ok((connection, start(&Beginning::Unrecorded(&launch))?))
        });
        let (connection, program) = begun.inspect_err(|_| planned.place().discard())?;
        let measuring = Measuring::new(planned, connection, program.pid(), time);
        Watch::measuring(program, measuring, &signals, args.quit)
    } else {
        let mut capture = planned.begin()?;
        let program =
            start(&Beginning::Recorded(&launch)).inspect_err(|_| capture.place().discard())?;
        capture.settle();
        Watch::new(program, Some(capture), &signals, args.quit)
    };
    tell(args, &environment, watch.until_the_end()?, None, None)
}

/// Returns the program's first option that `run` has as well, if no `--` stands before the program.
fn option_of_run(command: &[OsString]) -> Option<String> {
    let words: Vec<_> = std::env::args_os().collect();
    let is_separated =
        words.len().checked_sub(command.len() + 1).is_some_and(|at| words[at] == "--");
    if is_separated {
        return None;
    }
    let own = Run::augment_args(clap::Command::new(RUN));
    let is_own = |name: &str| own.get_arguments().any(|option| option.get_long() == Some(name));
    let options = command.iter().skip(1).filter_map(|word| word.to_str()?.strip_prefix("--"));
    let mut names = options.map(|option| option.split('=').next().unwrap_or_default());
    names.find(|name| is_own(name)).map(|name| format!("--{name}"))
}

/// Fails if nothing can be compared, because this run records nothing, or records from the first frame on.
fn must_be_measurable(args: &Run) -> Result<(), Failure> {
    let options = [
        (args.idle, "--idle"),
        (args.wait, "--wait"),
        (args.keep.keep_frames.is_some(), "--keep-frames"),
    ];
    match options.iter().find(|(is_given, _)| *is_given && args.measure.is_some()) {
        None => Ok(()),
        Some((_, option)) => Err(Failure::usage(format!(
            "--measure compares the program unrecorded with a recording of this run, which {option} does not make; leave out \
             `--measure` or the other one"
        ))),
    }
}

/// Says if the tools traced nothing, prints the answer in JSON, if that is asked for, and returns the exit status.
fn tell(
    args: &Run,
    environment: &Environment,
    ended: Ended,
    saved: Option<SavedAnswer>,
    error: Option<Problem>,
) -> Result<u8, Failure> {
    let Ended { pid, exit, status, status_of, capture, slowdown } = ended;
    environment.why_untraced().iter().for_each(text::say);
    if args.json {
        let command = args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (exit_status, signal) = (exit.code(), exit.signal());
        let program = ProgramAnswer { command, pid, exit_status, signal };
        text::print_json(&RunAnswer {
            status,
            status_of,
            program,
            capture,
            slowdown,
            saved,
            error,
        })?;
    }
    Ok(status)
}

/// The daemon of this run: the user's, or a private one that ends with the run.
struct Daemon {
    app_socket: PathBuf,
    client_socket: PathBuf,
    /// A private daemon ends when this is dropped.
    private: Option<RefCell<PrivateDaemon>>,
}

impl Daemon {
    fn find(connect: &Connect, scratch: &Scratch, signals: &Signals) -> Result<Daemon, Failure> {
        let client_socket = connection::socket_path(connect);
        match Connection::to_path(&client_socket) {
            Ok(_) => {
                let app_socket = app_socket_beside(&client_socket);
                Ok(Daemon { app_socket, client_socket, private: None })
            }
            Err(ConnectError::Absent(_)) if connect.connect.is_none() => {
                let private = PrivateDaemon::start(scratch.path(), signals)?;
                Ok(Daemon {
                    app_socket: private.app_socket(),
                    client_socket: private.client_socket(),
                    private: Some(RefCell::new(private)),
                })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Waits until other clients' captures of the ended program are complete, because a private daemon that ends would
    /// end them with the reason `shutdown`.
    fn complete_captures(&self) {
        let deadline = Instant::now() + LAST_CAPTURES;
        while self.private.is_some() && self.has_captures() && Instant::now() < deadline {
            std::thread::sleep(LOOK_AROUND);
        }
    }

    fn has_captures(&self) -> bool {
        let Ok(mut connection) = Connection::to_path(&self.client_socket) else { return false };
        match connection.ask(&Request::Status) {
            Ok(Event::Status(status)) => status.captures.iter().any(|capture| !capture.keeps),
            _ => false,
        }
    }
}

/// How long a private daemon stays for the captures of other clients after the program has ended.
const LAST_CAPTURES: Duration = Duration::from_secs(2);
const LOOK_AROUND: Duration = Duration::from_millis(20);

/// Returns the path of the socket for applications that belongs to `client_socket`.
fn app_socket_beside(client_socket: &Path) -> PathBuf {
    match std::env::var_os("GAPII_SOCKET") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => client_socket.with_file_name(app::SOCKET_NAME),
    }
}

/// Opens the output and plans the capture. A private daemon that dies is started anew.
fn plan<'a>(
    args: &Run,
    daemon: &'a Daemon,
    launch: &Launch,
    signals: &'a Signals,
) -> Result<Planned<'a>, Failure> {
    let connection = Connection::to_path(&daemon.client_socket)?;
    let name = args.command[0].to_string_lossy();
    let output = OutputFile::open(&args.output, &name)?;
    let request = StartRequest {
        command: args.command.iter().map(|word| word.to_string_lossy().as_ref().into()).collect(),
        ..args.limits.request(Target::Launch(launch.token))
    };
    let revive = daemon
        .private
        .as_ref()
        .map(|private| -> Revive<'a> { Box::new(|| private.borrow_mut().restart(signals)) });
    Ok(Planned { connection, request, output, revive })
}

/// Keeps the program's last frames, and saves them when the program ends if that was requested.
fn keep(
    args: &Run,
    connect: &Connect,
    daemon: &Daemon,
    environment: &Environment,
    signals: &Signals,
) -> Result<u8, Failure> {
    let launch = Launch::create()?;
    // No other client can save from a daemon that ends with this run.
    let is_saved = daemon.private.is_some() || args.output.output.is_some();
    let name = args.command[0].to_string_lossy();
    let output = is_saved.then(|| OutputFile::open(&args.output, &name)).transpose()?;
    let output_is_taken =
        args.json || output.as_ref().is_some_and(|it| it.place.is_standard_output());
    let discard = |output: Option<&OutputFile>| {
        output.inspect(|output| output.place.discard());
    };
    let keeping = start_keeping(args, daemon, &launch).inspect_err(|_| discard(output.as_ref()))?;
    let beginning = Beginning::Recorded(&launch);
    let program = Program::start(&args.command, environment, &beginning, signals, output_is_taken)
        .inspect_err(|_| discard(output.as_ref()))?;
    let pid = program.pid();
    match daemon.private {
        Some(_) => {
            let socket = daemon.client_socket.display();
            text::say(&format_args!(
                "save the last frames with `gapii-ctl save --connect unix:{socket}`"
            ));
        }
        None => {
            let address = kept_where(connect, daemon);
            text::say(&format_args!(
                "save the last frames with `gapii-ctl save {address}--app {pid}`"
            ));
        }
    }
    let (exit, keeping) = Watch::keeping(program, keeping, signals).until_the_program_ends()?;
    let was_lost = keeping.is_none();
    if let (Some(signal), None, false) = (exit.signal(), &output, was_lost) {
        let save = kept_where(connect, daemon);
        text::say(&format_args!(
            "the program was ended by signal {signal}; `gapii-ctl save {save}--app {pid}` still writes its last frames"
        ));
    }
    let saved = match (keeping, output) {
        (Some(mut keeping), output) => keeping
            .program_ended(pid, exit)
            .and_then(|()| output.map(|output| keeping.save(output)).transpose()),
        (None, output) => {
            discard(output.as_ref());
            Err(Failure::system(keeping::LOST))
        }
    };
    let (saved, error) = match saved {
        Ok(saved) => (saved, None),
        Err(failure) => {
            // That the daemon died was said when it did.
            if !was_lost {
                text::say_failure(RUN, &failure);
            }
            (None, Some(Problem::of(RUN, &failure)))
        }
    };
    let (status, status_of) =
        program::status_beside(exit, error.as_ref().map(|problem| problem.status));
    let ended = Ended { pid, exit, status, status_of, capture: None, slowdown: None };
    tell(args, environment, ended, saved, error)
}

/// Returns the option with which `save` finds the daemon, with a blank behind it; empty if it needs none.
fn kept_where(connect: &Connect, daemon: &Daemon) -> String {
    match connect.connect {
        Some(_) => format!("--connect unix:{} ", daemon.client_socket.display()),
        None => String::new(),
    }
}

fn start_keeping(args: &Run, daemon: &Daemon, launch: &Launch) -> Result<Keeping, Failure> {
    let request = StartRequest {
        keep: args.keep.request(),
        command: args.command.iter().map(|word| word.to_string_lossy().as_ref().into()).collect(),
        ..args.limits.request(Target::Launch(launch.token))
    };
    Keeping::start(Connection::to_path(&daemon.client_socket)?, request)
}

fn idle(
    args: &Run,
    daemon: &Daemon,
    environment: &Environment,
    signals: &Signals,
) -> Result<u8, Failure> {
    if daemon.private.is_some() {
        let socket = daemon.client_socket.display();
        text::say(&format_args!("attach with `gapii-ctl start --connect unix:{socket}`"));
    }
    let beginning = Beginning::Idle;
    let program = Program::start(&args.command, environment, &beginning, signals, args.json)?;
    let ended = Watch::new(program, None, signals, false).until_the_end();
    daemon.complete_captures();
    tell(args, environment, ended?, None, None)
}

/// Holds the program's first command. The shim says so, and how to begin a capture.
fn wait(
    args: &Run,
    daemon: &Daemon,
    environment: &Environment,
    signals: &Signals,
) -> Result<u8, Failure> {
    if daemon.private.is_some() {
        text::say(
            &"no daemon is running, so this run has one of its own; clients on other machines reach only a daemon \
              that was started before",
        );
    }
    let launch = Launch::create()?;
    let beginning = Beginning::Waits { launch: &launch, seconds: args.timeout };
    let program = Program::start(&args.command, environment, &beginning, signals, args.json)?;
    let held = Held::new(daemon.client_socket.clone(), launch);
    let ended = Watch::holding(program, held, signals).until_the_end();
    daemon.complete_captures();
    tell(args, environment, ended?, None, None)
}
