//! `play-part`: replays the beginning of a trace, for `trim`, which records this process. Waits before the command
//! `--hold-before`, or with `--for-snapshot` at a later one if no snapshot can be made there: writes the command's number to the
//! socket `--gate`, waits for a byte, and plays nothing after `--stop-after`. `--keep-names` is a file with the names of
//! objects that the part uses: others are deleted at the gate, unless the state leads to them. It is not confined,
//! because the shim in this process talks to the daemon; `trim` refuses traces of other users.

use std::collections::HashSet;
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use clap::Args;
use gapii_analysis::unused::NamesUsed;
use gapii_replay::{Events, Held, Hold, Kind, Options, SystemLoader, Unknown, replay};
use gapii_trace::Info;
use rustix::process::Pid;

use crate::args::{Json, Trace};
use crate::failure::Failure;
use crate::reading_progress::ReadingProgress;
use crate::text;
use crate::trace_file::{self, unreadable};

/// Name of the command.
pub const NAME: &str = "play-part";

#[derive(Args, Debug)]
pub struct PlayPart {
    #[command(flatten)]
    trace: Trace,

    /// Wait before this command
    #[arg(long, value_name = "SEQ", requires = "gate")]
    hold_before: Option<u64>,

    /// Wait where a snapshot can be made, at a later command if need be
    #[arg(long, requires = "hold_before")]
    for_snapshot: bool,

    /// Delete objects there whose names this file does not have
    #[arg(long, value_name = "PATH", requires = "hold_before")]
    keep_names: Option<PathBuf>,

    /// Socket from which a byte comes when the replay may go on
    #[arg(long, value_name = "PATH")]
    gate: Option<PathBuf>,

    /// Last command to play
    #[arg(long, value_name = "SEQ")]
    stop_after: Option<u64>,

    /// For messages: `trim` answers in JSON
    #[command(flatten)]
    _json: Json,
}

pub fn run(args: &PlayPart) -> Result<u8, Failure> {
    let path = &args.trace.trace;
    let mut reader = trace_file::open(path)?;
    let is_for_snapshot = args.for_snapshot;
    let used = args.keep_names.as_deref().map(read_names).transpose();
    let used = used.map_err(|error| Failure::system(format!("can't read the names: {error}")))?;
    let options = Options {
        hold: args.hold_before.map(|before| Hold { before, is_for_snapshot, used }),
        stop_after: args.stop_after,
        unknown: Unknown::Unreadable,
        lacks: lacks(&Info::of(&mut reader).map_err(|error| unreadable(path, &error))?),
        ..Options::default()
    };
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
    for note in &report.notes {
        text::say(note);
    }
    match (report.cancelled, report.skipped) {
        (true, _) => Err(Failure::answer("the client that asked for this part is gone")),
        (false, 0) => Ok(0),
        (false, skipped) => Err(Failure::answer(format!(
            "{skipped} commands could not be played here, so the part lacks them"
        ))),
    }
}

/// What the trace lacks, and the part may lack, too: a sentence each, as `info` has them.
fn lacks(info: &Info) -> Vec<String> {
    let counts = [
        (info.lost.calls, "that were lost"),
        (info.reentrant_calls, "that were called inside others"),
        (info.foreign_calls, "of contexts that were not recorded"),
    ];
    let counts = counts.into_iter().filter(|(calls, _)| *calls > 0);
    let counts = counts.map(|(calls, which)| {
        format!("up to {} of the whole trace {which}", text::counted(calls, "command"))
    });
    info.missing.iter().map(ToString::to_string).chain(counts).collect()
}

/// Kinds of objects that may be deleted, in the order of [`NamesUsed::into_names`].
const KINDS: [Kind; 3] = [Kind::Texture, Kind::Buffer, Kind::Renderbuffer];

/// Writes the file for `--keep-names`.
pub fn write_names(path: &Path, used: NamesUsed) -> io::Result<()> {
    std::fs::write(path, serde_json::to_vec(&used.into_names())?)
}

fn read_names(path: &Path) -> io::Result<HashSet<(Kind, u64)>> {
    let names: [Vec<u64>; 3] = serde_json::from_slice(&std::fs::read(path)?)?;
    let all = KINDS.into_iter().zip(names);
    Ok(all.flat_map(|(kind, names)| names.into_iter().map(move |name| (kind, name))).collect())
}

/// Bytes of what a replay says when it has come to the gate: the number of the next command, whether that is a later one than was
/// wanted, and how many objects were deleted.
const HELD_BYTES: usize = 17;

fn bytes_of(held: &Held) -> [u8; HELD_BYTES] {
    let mut bytes = [u8::from(held.is_late); HELD_BYTES];
    bytes[..8].copy_from_slice(&held.seq.to_le_bytes());
    bytes[8..16].copy_from_slice(&held.dropped.to_le_bytes());
    bytes
}

/// Waits for a replay's word at the gate.
pub fn read_held(gate: &mut impl Read) -> io::Result<Held> {
    let (mut seq, mut dropped, mut is_late) = ([0; 8], [0; 8], [0]);
    gate.read_exact(&mut seq)?;
    gate.read_exact(&mut dropped)?;
    gate.read_exact(&mut is_late)?;
    let [seq, dropped] = [seq, dropped].map(u64::from_le_bytes);
    Ok(Held { seq, is_late: is_late != [0], dropped })
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
    fn command(&mut self, _: Option<u64>) {
        if let Some(progress) = &mut self.progress {
            progress.step();
        }
    }

    fn held(&mut self, held: &Held) {
        if let Some(mut progress) = self.progress.take() {
            progress.clear();
        }
        let Some(gate) = &self.args.gate else { return };
        let passed = UnixStream::connect(gate).and_then(|mut gate| {
            gate.write_all(&bytes_of(held))?;
            gate.read_exact(&mut [0])
        });
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
