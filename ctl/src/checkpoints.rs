//! `Checkpoints`: the file `TRACE.checkpoints` beside a trace, from which the state is followed instead of from the first
//! command. A command that follows the state writes it, and adds the checkpoints that it passes behind the last one. It may
//! be deleted at any time. A file of another trace or of another `gapii-ctl`, and one that is cut or damaged, are made
//! anew; one that belongs neither to this user nor to the trace's owner is not read. Where the file cannot be written, or
//! the trace has no index yet, there is none, and nobody is told: only time is lost.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufWriter};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use clap::Args;
use gapii_follow::checkpoint::Checkpoint;
use gapii_follow::checkpoint_file::{CheckpointFile, CheckpointWriter, Entry, Owner};
use gapii_follow::follow::Follower;
use gapii_trace::Commands;
use tempfile::TempPath;

use crate::ending::{self, OnStop};
use crate::finished_file;
use crate::trace_file::Reader;

/// Bytes of records between two checkpoints, before compression: a fraction of a second to follow.
const SPACING_BYTES: u64 = 32 << 20;
/// Between two checkpoints lies this multiple of the bytes of the one before, as the trace has them compressed. So the
/// file stays below a sixteenth of the trace.
const SHARE: u64 = 16;

#[derive(Args, Clone, Debug)]
pub struct Choice {
    /// Neither read nor write FILE.checkpoints
    ///
    /// This file beside a large trace has the state at some places of the trace, so that the state near them is found without
    /// reading everything before. It is written when the state is shown for the first time, and may be deleted.
    #[arg(long)]
    no_checkpoints: bool,

    /// Bytes of records between two checkpoints, whatever share of the trace these are; for tests
    #[arg(long, hide = true, value_name = "BYTES")]
    checkpoint_spacing: Option<u64>,
}

/// Checkpoints of a trace that is being followed.
pub struct Checkpoints {
    trace: PathBuf,
    path: PathBuf,
    /// `None` if there are and will be no checkpoints.
    owner: Option<Owner>,
    known: Option<CheckpointFile<File>>,
    /// Raw and compressed bytes of the blocks before each block.
    before: Vec<[u64; 2]>,
    spacing_bytes: u64,
    share: u64,
    /// The first block at which a checkpoint may be made.
    next: usize,
    draft: Option<Draft>,
}

/// The file that is being written.
struct Draft {
    writer: CheckpointWriter<BufWriter<File>>,
    path: TempPath,
    _on_stop: OnStop,
}

impl Checkpoints {
    /// Opens the file beside the trace at `path`, if there is one.
    pub fn open(path: &Path, reader: &mut Reader, choice: &Choice) -> Checkpoints {
        // Beside the trace itself, also if a link or a descriptor names it.
        let trace = path.canonicalize();
        let spacing = choice.checkpoint_spacing.map(|bytes| (bytes, 0));
        let (spacing_bytes, share) = spacing.unwrap_or((SPACING_BYTES, SHARE));
        let mut sum = [0, 0];
        let mut before = vec![sum];
        before.extend(reader.blocks().iter().map(|block| {
            sum[0] += u64::from(block.raw_len);
            sum[1] += u64::from(block.compressed_len);
            sum
        }));
        // In a small trace everything is near the beginning.
        let is_small = sum[0] < 2 * spacing_bytes;
        let owner = match &trace {
            Ok(_) if !choice.no_checkpoints && !is_small => owner(reader).ok().flatten(),
            _ => None,
        };
        let trace = trace.unwrap_or_default();
        let path = file_of(&trace);
        let known = owner.as_ref().and_then(|owner| open(&path, &trace, owner).ok().flatten());
        let mut checkpoints = Checkpoints {
            trace,
            path,
            owner,
            known,
            before,
            spacing_bytes,
            share,
            next: 0,
            draft: None,
        };
        let last = checkpoints.known.as_ref().and_then(|known| known.entries().last().copied());
        match last {
            Some(last) => checkpoints.set_next(last.block as usize, last.compressed_len()),
            None => checkpoints.set_next(0, 0),
        }
        checkpoints
    }

    /// Goes on at the last checkpoint that `fits`, and returns its state and the number of the last command before it. `None`
    /// if there is none; `commands`, of which none was read, are then at the beginning.
    pub fn resume(
        &mut self,
        commands: &mut Commands<'_, File>,
        fits: impl Fn(&Entry) -> bool,
    ) -> Option<(Follower, u64)> {
        let known = self.known.as_mut()?;
        let entry = known.entries().iter().rev().find(|entry| fits(entry)).copied()?;
        let restored = known.read(entry).and_then(|found| found.restore(commands));
        match (restored, entry.end_seq.checked_sub(1)) {
            (Some(follower), Some(last)) => Some((follower, last)),
            _ => {
                // Made anew, from the beginning.
                self.known = None;
                self.set_next(0, 0);
                None
            }
        }
    }

    /// Makes a checkpoint if it is time for one. `last` is the number of the last command that was followed. Call this
    /// when the next command needs another block.
    pub fn pass(
        &mut self,
        commands: &mut Commands<'_, File>,
        follower: &Follower,
        last: Option<u64>,
    ) {
        let block = commands.next_block();
        if self.owner.is_none() || block < self.next {
            return;
        }
        let Some(end_seq) = last.and_then(|last| last.checked_add(1)) else { return };
        let Some(checkpoint) = Checkpoint::of(follower, end_seq, commands) else { return };
        match self.add(&checkpoint) {
            Ok(len) => self.set_next(block, len),
            // There will be no file.
            Err(_) => (self.owner, self.draft) = (None, None),
        }
    }

    /// Gives the file its name, if checkpoints were added.
    pub fn finish(self) {
        let Some(Draft { writer, path, _on_stop }) = self.draft else { return };
        // A failure leaves the file that was there before.
        if writer.finish().is_ok() {
            _ = path.persist(&self.path);
        }
    }

    fn add(&mut self, checkpoint: &Checkpoint) -> io::Result<u64> {
        if self.draft.is_none() {
            self.draft = Some(self.begin()?);
        }
        let draft = self.draft.as_mut().ok_or(io::ErrorKind::NotFound)?;
        draft.writer.add(checkpoint)
    }

    fn begin(&mut self) -> io::Result<Draft> {
        let owner = self.owner.ok_or(io::ErrorKind::NotFound)?;
        if self.path.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        ending::hear_stops()?;
        let make = || {
            let (file, path) = finished_file::draft_beside(&self.path)?.into_parts();
            let temporary = path.to_path_buf();
            Ok(((file, path), move || drop(std::fs::remove_file(temporary))))
        };
        let ((file, path), on_stop) = OnStop::making(make)?;
        // The file shows contents of the trace, so only those may read it who may read the trace.
        file.set_permissions(self.trace.metadata()?.permissions())?;
        let writer = CheckpointWriter::begin(BufWriter::new(file), owner, self.known.as_mut())?;
        Ok(Draft { writer, path, _on_stop: on_stop })
    }

    /// Sets when the next checkpoint is due, after one before `block` whose compressed length is `len`.
    fn set_next(&mut self, block: usize, len: u64) {
        let [raw, compressed] = self.before.get(block).copied().unwrap_or_default();
        let is_due = |before: &[u64; 2]| {
            before[0] >= raw.saturating_add(self.spacing_bytes)
                && before[1] >= compressed.saturating_add(len.saturating_mul(self.share))
        };
        let mut behind = self.before.iter().skip(block + 1);
        self.next = behind.position(is_due).map_or(usize::MAX, |at| block + 1 + at);
    }
}

fn file_of(trace: &Path) -> PathBuf {
    let mut name = OsString::from(trace);
    name.push(".checkpoints");
    PathBuf::from(name)
}

/// Returns the trace and this program. `None` for a trace without index or footer, which may grow.
fn owner(reader: &mut Reader) -> io::Result<Option<Owner>> {
    let Some(trace) = reader.identity()? else { return Ok(None) };
    // Another build may follow the state in another way. Its executable has another ctime, which nobody can choose; to hash
    // the executable would take longer than to find the state.
    let program = std::fs::metadata("/proc/self/exe")?;
    let numbers =
        [program.ino(), program.len(), program.ctime() as u64, program.ctime_nsec() as u64];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    Ok(Some(Owner { trace, build: *blake3::hash(&bytes).as_bytes() }))
}

fn open(path: &Path, trace: &Path, owner: &Owner) -> io::Result<Option<CheckpointFile<File>>> {
    let found = path.symlink_metadata()?;
    let users = [rustix::process::geteuid().as_raw(), trace.metadata()?.uid()];
    // Opening a pipe would wait for its writer. Another user could show a state that the trace does not have.
    if !found.is_file() || !users.contains(&found.uid()) {
        return Ok(None);
    }
    CheckpointFile::open(File::open(path)?, owner)
}
