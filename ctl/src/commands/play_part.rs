//! `play-part`: replays the beginning of a trace, for `trim`, which records this process. Waits before the command
//! `--hold-before` until a byte comes from the socket `--gate`, and plays nothing after `--stop-after`. It is not confined,
//! because the shim in this process talks to the daemon; `trim` refuses traces of other users.

use std::io::Read;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use clap::Args;
use gapii_replay::{Events, Options, SystemLoader, Unknown, replay};
use rustix::process::Pid;

use crate::args::Trace;
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::trace_file;

/// Name of the command.
pub const NAME: &str = "play-part";

#[derive(Args, Debug)]
pub struct PlayPart {
    #[command(flatten)]
    trace: Trace,

    /// Wait before this command
    #[arg(long, value_name = "SEQ", requires = "gate")]
    hold_before: Option<u64>,

    /// Socket from which a byte comes when the replay may go on
    #[arg(long, value_name = "PATH")]
    gate: Option<PathBuf>,

    /// Last command to play
    #[arg(long, value_name = "SEQ")]
    stop_after: Option<u64>,
}

pub fn run(args: &PlayPart) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let options =
        Options { stop_after: args.stop_after, unknown: Unknown::Unreadable, ..Options::default() };
    let mut events = Holding {
        args,
        // Behind the gate, the capture shows its own progress.
        progress: args.hold_before.map(ReadingProgress::start),
        client: rustix::process::getppid(),
        is_over: false,
    };
    let report = replay(&mut reader, &SystemLoader::default(), options, &mut events);
    let report = report
        .map_err(|error| Failure::answer(format!("{} can't be played: {error}", path.display())))?;
    match (report.cancelled, report.skipped) {
        (true, _) => Err(Failure::answer("the client that asked for this part is gone")),
        (false, 0) => Ok(0),
        (false, skipped) => Err(Failure::answer(format!(
            "{skipped} commands could not be played here, so the part lacks them"
        ))),
    }
}

struct Holding<'a> {
    args: &'a PlayPart,
    progress: Option<ReadingProgress>,
    /// The process that waits for the part.
    client: Option<Pid>,
    /// Whether nobody waits for the rest.
    is_over: bool,
}

impl Holding<'_> {
    /// Ends the replay if nobody waits for the part any more.
    fn look_for_client(&mut self) {
        self.is_over |= rustix::process::getppid() != self.client;
    }
}

impl Events for Holding<'_> {
    fn command(&mut self, seq: Option<u64>) {
        if let Some(progress) = &mut self.progress {
            progress.step();
        }
        // The command itself may be one that cannot be played.
        let is_there = self.args.hold_before.is_some_and(|hold| seq >= Some(hold));
        let Some(mut progress) = self.progress.take_if(|_| is_there) else { return };
        progress.clear();
        let Some(gate) = &self.args.gate else { return };
        let passed = UnixStream::connect(gate).and_then(|mut gate| gate.read_exact(&mut [0]));
        self.is_over = passed.is_err();
    }

    fn surveyed(&mut self, _: u64, _: u64) {
        self.look_for_client();
    }

    fn progress(&mut self, _: u64, _: u64) {
        self.look_for_client();
    }

    fn is_cancelled(&self) -> bool {
        self.is_over
    }
}
