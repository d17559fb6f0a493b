//! `run`: starts a program with the shim loaded and captures it from its first call.
//!
//! Ends with the program's own status. Everything said here is on standard error.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use clap::Args;
use gapii_protocol::app;
use gapii_protocol::control::{StartRequest, Target};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::Signal;

use crate::args::{Connect, Limits, Output};
use crate::capture::{Capture, Outcome};
use crate::connection::{self, ConnectError, Connection};
use crate::failure::Failure;
use crate::launch::Launch;
use crate::output_file::OutputFile;
use crate::private_daemon::PrivateDaemon;
use crate::program::{self, Environment, Program};
use crate::scratch::Scratch;
use crate::signals::{self, Signals};
use crate::summary_line;

/// How long a program may take to end after a polite request.
const QUIT_DEADLINE: Duration = Duration::from_secs(5);

#[derive(Args, Debug)]
pub struct Run {
    /// Load the shim and capture nothing yet; `gapii-ctl start` can attach later
    #[arg(long, conflicts_with_all = ["frames", "skip_frames", "seconds", "quit", "output"])]
    idle: bool,

    /// End the program once the capture is complete: SIGTERM, and SIGKILL 5 s later
    #[arg(long)]
    quit: bool,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    output: Output,

    /// The program and its arguments
    #[arg(
        value_name = "CMD",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    command: Vec<OsString>,
}

/// The exit status is the program's, or 0 where `--quit` ended it after a complete capture.
pub fn run(args: &Run, connect: &Connect) -> Result<u8, Failure> {
    program::check(&args.command[0])?;
    let signals = Signals::block()
        .map_err(|error| Failure::unreachable(format!("can't watch for signals: {error}")))?;
    let scratch = Scratch::create()?;
    let daemon = Daemon::find(connect, &scratch, &signals)?;
    let environment = Environment::new(&scratch, daemon.app_socket.clone())?;
    if args.idle {
        return idle(args, &daemon, &environment, &signals);
    }
    let launch = Launch::create()?;
    let capture = start_capture(args, &daemon, &launch)?;
    let output_is_trace = capture.place().is_standard_output();
    let program =
        Program::start(&args.command, &environment, Some(&launch), &signals, output_is_trace)
            .inspect_err(|_| capture.place().discard())?;
    Watch::new(program, Some(capture), &signals, args.quit).until_the_end()
}

/// The daemon of this run: the user's, or one that lives as long as the run.
struct Daemon {
    app_socket: PathBuf,
    client_socket: PathBuf,
    /// Ended when it is dropped.
    private: Option<PrivateDaemon>,
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
                    private: Some(private),
                })
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// Where applications find the daemon whose clients use `client_socket`.
fn app_socket_beside(client_socket: &Path) -> PathBuf {
    match std::env::var_os("GAPII_SOCKET") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => client_socket.with_file_name(app::SOCKET_NAME),
    }
}

fn start_capture(args: &Run, daemon: &Daemon, launch: &Launch) -> Result<Capture, Failure> {
    let connection = Connection::to_path(&daemon.client_socket)?;
    let name = args.command[0].to_string_lossy();
    let output = OutputFile::open(args.output.output.as_deref(), &name)?;
    let request = StartRequest {
        command: args.command.iter().map(|word| word.to_string_lossy().into_owned()).collect(),
        ..args.limits.request(Target::Launch(launch.token))
    };
    Capture::start(connection, request, output)
}

fn idle(
    args: &Run,
    daemon: &Daemon,
    environment: &Environment,
    signals: &Signals,
) -> Result<u8, Failure> {
    if daemon.private.is_some() {
        let socket = daemon.client_socket.display();
        eprintln!("gapii-ctl: attach with `gapii-ctl start --connect unix:{socket}`");
    }
    let program = Program::start(&args.command, environment, None, signals, false)?;
    Watch::new(program, None, signals, false).until_the_end()
}

/// What `--quit` has done so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quitting {
    No,
    /// The program was asked to end, and has until then.
    Asked(Instant),
    Killed,
}

/// Waits for the program and its capture together, and lets each end in its own way.
struct Watch<'a> {
    program: Program,
    /// None once it has ended.
    capture: Option<Capture>,
    signals: &'a Signals,
    quit: bool,
    /// Somebody asked us to stop.
    stopping: bool,
    quitting: Quitting,
    /// Signals for the program once its capture has ended.
    pass_on: Vec<Signal>,
}

impl<'a> Watch<'a> {
    fn new(
        program: Program,
        capture: Option<Capture>,
        signals: &'a Signals,
        quit: bool,
    ) -> Watch<'a> {
        Watch {
            program,
            capture,
            signals,
            quit,
            stopping: false,
            quitting: Quitting::No,
            pass_on: Vec::new(),
        }
    }

    fn until_the_end(mut self) -> Result<u8, Failure> {
        let mut exited: Option<ExitStatus> = None;
        loop {
            // What the daemon said along with its answer is not announced by the socket any more.
            self.advance_capture(exited.is_some());
            self.advance_quitting();
            if exited.is_some() && self.capture.is_none() {
                break;
            }
            self.wait(exited.is_some())?;
            while let Some(request) = self.signals.next() {
                self.asked_to_stop(request);
            }
            if exited.is_none() {
                exited = self.program.ended()?;
                if let Some(status) = exited {
                    self.tell_exit(status);
                }
            }
        }
        let status = exited.map_or(u8::MAX, program::status_code);
        Ok(if self.quitting == Quitting::No { status } else { 0 })
    }

    /// Waits until something happens.
    fn wait(&self, program_ended: bool) -> Result<(), Failure> {
        let mut watched = vec![PollFd::new(self.signals, PollFlags::IN)];
        if !program_ended {
            watched.push(PollFd::new(&self.program, PollFlags::IN));
        }
        if let Some(capture) = &self.capture {
            watched.push(PollFd::new(capture, PollFlags::IN));
        }
        let timeout = match self.quitting {
            Quitting::Asked(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                Timespec::try_from(left).ok()
            }
            Quitting::No | Quitting::Killed => None,
        };
        match rustix::event::poll(&mut watched, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(errno) => Err(Failure::unreachable(format!("can't wait: {errno}"))),
        }
    }

    /// The capture ends first. Then the program gets the signal too, if it has not had it already
    /// from the terminal. Who asks a second time does not want to wait for the capture.
    fn asked_to_stop(&mut self, request: signals::Request) {
        if request.by_kill {
            self.pass_on.push(request.signal);
        }
        match &mut self.capture {
            None => self.pass_signals_on(),
            Some(_) if self.stopping => {
                self.capture_broke(&Failure::no("the capture was left before it was complete"));
            }
            Some(capture) => {
                if let Err(failure) = capture.stop() {
                    self.capture_broke(&failure);
                }
            }
        }
        self.stopping = true;
    }

    fn tell_exit(&mut self, status: ExitStatus) {
        use std::os::unix::process::ExitStatusExt;
        let told = self.capture.as_mut().map(|capture| capture.program_exited(status.signal()));
        if let Some(Err(failure)) = told {
            self.capture_broke(&failure);
        }
    }

    fn advance_capture(&mut self, program_ended: bool) {
        let outcome = match self.capture.as_mut().map(Capture::advance) {
            None | Some(Ok(None)) => return,
            Some(Ok(Some(outcome))) => outcome,
            Some(Err(failure)) => return self.capture_broke(&failure),
        };
        let Some(capture) = self.capture.take() else { return };
        if let Some(failure) = capture.report(&outcome) {
            eprintln!("gapii-ctl: {failure}");
        }
        if let Outcome::Ended(summary) = &outcome {
            explain_if_empty(summary.processes);
            let complete = summary_line::is_complete(summary);
            if self.quit && complete && !self.stopping && !program_ended {
                self.program.signal(Signal::TERM);
                self.quitting = Quitting::Asked(Instant::now() + QUIT_DEADLINE);
            }
        }
        self.pass_signals_on();
    }

    /// The program is none of the capture's business: it runs on.
    fn capture_broke(&mut self, failure: &Failure) {
        eprintln!("gapii-ctl: {failure}");
        self.capture = None;
        self.pass_signals_on();
    }

    fn pass_signals_on(&mut self) {
        for signal in self.pass_on.drain(..) {
            self.program.signal(signal);
        }
    }

    fn advance_quitting(&mut self) {
        if let Quitting::Asked(deadline) = self.quitting
            && Instant::now() >= deadline
        {
            self.program.signal(Signal::KILL);
            self.quitting = Quitting::Killed;
        }
    }
}

/// A trace without a process is nearly always a surprise.
fn explain_if_empty(processes: u64) {
    if processes > 0 {
        return;
    }
    let display =
        ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| std::env::var_os(name).is_some());
    let hint = if display {
        "it made no EGL or OpenGL ES call, or the shim could not be loaded into it"
    } else {
        "neither DISPLAY nor WAYLAND_DISPLAY is set, so it may have found no display"
    };
    eprintln!("gapii-ctl: the program never reached the daemon: {hint}; see `gapii-ctl doctor`");
}
