//! `run`: starts a program with the shim loaded and captures it from its first call.
//!
//! Exits with the program's own status. Prints its messages to standard error.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::Args;
use gapii_abi::app;
use gapii_control::{StartRequest, Target};

use crate::args::{Connect, Keep, Limits, Output};
use crate::capture::Capture;
use crate::connection::{self, ConnectError, Connection};
use crate::failure::Failure;
use crate::keeping::Keeping;
use crate::launch::Launch;
use crate::output_file::OutputFile;
use crate::private_daemon::PrivateDaemon;
use crate::program::{self, Environment, Program};
use crate::scratch::Scratch;
use crate::signals::Signals;
use crate::text;
use crate::watch::Watch;

#[derive(Args, Debug)]
pub struct Run {
    /// Load the shim without capturing; attach later with `gapii-ctl start`
    #[arg(long, conflicts_with_all = ["frames", "submits", "skip_frames", "seconds", "observe_frames", "timing", "quit", "output", "keep_frames", "threads", "apis", "functions", "when"])]
    idle: bool,

    /// With --idle: do not track the program's state until a capture begins. The program runs at native speed,
    /// and a later capture lacks all state that was set up before it began
    #[arg(long, requires = "idle")]
    no_monitor: bool,

    /// End the program when the capture is complete: SIGTERM, then SIGKILL after 5 s
    #[arg(long, conflicts_with = "keep_frames")]
    quit: bool,

    /// Load this library into the program after the shim: a tool that registers tracers. May be repeated
    #[arg(long = "tool", value_name = "FILE")]
    tools: Vec<PathBuf>,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    keep: Keep,

    #[command(flatten)]
    output: Output,

    /// Program and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// Returns the program's exit status, or 0 if `--quit` ended it after a complete capture.
pub fn run(args: &Run, connect: &Connect) -> Result<u8, Failure> {
    if let Some(via) = &connect.via {
        return Err(Failure::usage(format!(
            "run starts programs on this machine only, not on {via}: run it there, with `gapii-ctl run \
             --idle -- CMD`, and capture it from here with `gapii-ctl --via {via} start`"
        )));
    }
    program::check(&args.command[0])?;
    let signals = Signals::block()
        .map_err(|error| Failure::unreachable(format!("can't watch for signals: {error}")))?;
    let scratch = Scratch::create()?;
    let daemon = Daemon::find(connect, &scratch, &signals)?;
    let mut environment = Environment::new(&scratch, daemon.app_socket.clone())?;
    environment.monitors = !args.no_monitor;
    for tool in &args.tools {
        environment.add_tool(tool, &scratch)?;
    }
    if args.idle {
        return idle(args, &daemon, &environment, &signals);
    }
    if args.keep.keep_frames.is_some() {
        return keep(args, &daemon, &environment, &signals);
    }
    let launch = Launch::create()?;
    let mut capture = start_capture(args, &daemon, &launch)?;
    if let Some(private) = &daemon.private {
        capture.revive_with(Box::new(|| private.borrow_mut().restart(&signals)));
    }
    let output_is_trace = capture.place().is_standard_output();
    let program =
        Program::start(&args.command, &environment, Some(&launch), &signals, output_is_trace)
            .inspect_err(|_| capture.place().discard())?;
    Watch::new(program, Some(capture), &signals, args.quit).until_the_end()
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
}

/// Returns the path of the socket for applications that belongs to `client_socket`.
fn app_socket_beside(client_socket: &Path) -> PathBuf {
    match std::env::var_os("GAPII_SOCKET") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => client_socket.with_file_name(app::SOCKET_NAME),
    }
}

fn start_capture<'a>(args: &Run, daemon: &Daemon, launch: &Launch) -> Result<Capture<'a>, Failure> {
    let connection = Connection::to_path(&daemon.client_socket)?;
    let name = args.command[0].to_string_lossy();
    let output = OutputFile::open(args.output.output.as_deref(), &name)?;
    let request = StartRequest {
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..args.limits.request(Target::Launch(launch.token))
    };
    Capture::start(connection, request, output)
}

/// Keeps the program's last frames, and saves them when the program ends if that was requested.
fn keep(
    args: &Run,
    daemon: &Daemon,
    environment: &Environment,
    signals: &Signals,
) -> Result<u8, Failure> {
    let launch = Launch::create()?;
    let named = args.output.output.as_deref();
    // No other client can save from a daemon that ends with this run.
    let is_saved = daemon.private.is_some() || named.is_some();
    let name = args.command[0].to_string_lossy();
    let output = is_saved.then(|| OutputFile::open(named, &name)).transpose()?;
    let output_is_trace = output.as_ref().is_some_and(|it| it.place.is_standard_output());
    let discard = |output: Option<&OutputFile>| {
        output.inspect(|output| output.place.discard());
    };
    let keeping = start_keeping(args, daemon, &launch).inspect_err(|_| discard(output.as_ref()))?;
    let program =
        Program::start(&args.command, environment, Some(&launch), signals, output_is_trace)
            .inspect_err(|_| discard(output.as_ref()))?;
    let pid = program.pid();
    match daemon.private {
        Some(_) => {
            let socket = daemon.client_socket.display();
            text::say(&format_args!(
                "save the last frames with `gapii-ctl save --connect unix:{socket}`"
            ));
        }
        None => text::say(&format_args!("save the last frames with `gapii-ctl save --app {pid}`")),
    }
    let (status, keeping) = Watch::keeping(program, keeping, signals).until_the_program_ends()?;
    let saved = match (keeping, output) {
        (Some(mut keeping), output) => keeping
            .program_ended(pid, status)
            .and_then(|()| output.map_or(Ok(()), |output| keeping.save(output))),
        (None, output) => {
            discard(output.as_ref());
            Ok(())
        }
    };
    if let Err(failure) = saved {
        text::say(&failure);
    }
    Ok(program::status_code(status))
}

fn start_keeping(args: &Run, daemon: &Daemon, launch: &Launch) -> Result<Keeping, Failure> {
    let request = StartRequest {
        keep: args.keep.request(),
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
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
    let program = Program::start(&args.command, environment, None, signals, false)?;
    Watch::new(program, None, signals, false).until_the_end()
}
