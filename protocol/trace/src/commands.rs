//! The commands of a trace file, in order of effect. Reading some frames skips the blocks before them if the file has
//! an index and a footer; commands that were entered there come without arguments. Reading some numbers skips the blocks
//! before the first of these commands was entered, unless the trace was kept or the numbers lie in more than 64 blocks
//! (`NUMBERED_BLOCKS_MAX`). At the first damaged block the commands that were read are handed out, and `tail` names the
//! damage; only an error of the file itself is an error.
//!
//! Reads a block when the blocks before it have no more commands to give.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Read, Seek};
use std::ops::{Range, RangeInclusive};
use std::sync::Arc;

use super::assembler::{Advance, Anomalies, Assembler, Batch, HoldLimits};
use super::blob_name::BlobName;
use super::blobs::{BlobNumber, BlobSource};
use super::block_file::{BlockError, BlockFile};
use super::command::Command;
use super::event::Event;
use super::file_parts::Tail;
use super::gpu_times::GpuTimes;
use super::header::TraceHeader;
use super::index::TraceIndex;
use super::reader::TraceReader;
use super::store::Store;
use super::story::Begin;

/// Most blocks in which a range of numbers is looked for; a longer range is read with everything before it.
const NUMBERED_BLOCKS_MAX: usize = 64;

impl<R: Read + Seek> TraceReader<R> {
    /// Reads all commands, from the first block on.
    ///
    /// # Errors
    /// An error of the file.
    pub fn commands(&mut self) -> io::Result<Commands<'_, R>> {
        self.commands_limited(HoldLimits::default())
    }

    /// Reads all commands, holding no more than `limits` of incomplete ones.
    ///
    /// # Errors
    /// An error of the file.
    pub fn commands_limited(&mut self, limits: HoldLimits) -> io::Result<Commands<'_, R>> {
        let mut assembler = Assembler::new(limits);
        assembler.begin(self.header.begin());
        self.commands_of(assembler)
    }

    fn commands_of(&mut self, mut assembler: Assembler) -> io::Result<Commands<'_, R>> {
        assembler.expect_in_flight(self.end()?.map_or_else(Vec::new, |end| end.in_flight));
        Ok(Commands {
            header: &self.header,
            blobs: FileBlobs { file: &mut self.file, store: &mut self.store },
            file_len: self.file_len,
            tail: &mut self.tail,
            assembler,
            next_block: 0,
            blocks_read: 0,
            enough_at: usize::MAX,
            damaged: false,
            frames: None,
        })
    }

    /// Goes on with the commands of a file that has grown; see [`Commands::leave`].
    ///
    /// # Errors
    /// An error of the file.
    pub fn go_on(&mut self, mark: Mark) -> io::Result<Commands<'_, R>> {
        let Mark { assembler, next_block, damaged } = mark;
        Ok(Commands { next_block, damaged, ..self.commands_of(assembler)? })
    }

    /// Reads the commands in these frames of every process. With an index, the blocks before these frames
    /// are not read, and a command that was entered there comes without its arguments.
    ///
    /// # Errors
    /// An error of the file.
    pub fn commands_in_frames(
        &mut self,
        frames: RangeInclusive<u64>,
    ) -> io::Result<Commands<'_, R>> {
        let blocks = self
            .index()
            .zip(self.footer())
            .map(|(index, footer)| blocks_of_frames(index, footer.processes.len(), &frames));
        let mut commands = self.commands()?;
        if let Some(blocks) = blocks {
            if blocks.start > 0 {
                commands.assembler.begin(Begin::Middle);
            }
            commands.next_block = blocks.start;
            commands.enough_at = blocks.end;
        }
        commands.frames = Some(frames);
        Ok(commands)
    }

    /// Reads the commands with these numbers, and others around them. With an index, blocks in which none of these commands
    /// was entered are not read; commands that describe what a block before has described are then handed out, too.
    ///
    /// # Errors
    /// An error of the file.
    pub fn commands_numbered(&mut self, numbers: Range<u64>) -> io::Result<Commands<'_, R>> {
        let is_kept = self.header.kept.is_some();
        let index = self.index().filter(|_| !is_kept && self.footer().is_some());
        let wanted = index.map(|index| blocks_of_numbers(index, &numbers));
        let Some(blocks) = wanted.filter(|blocks| blocks.len() <= NUMBERED_BLOCKS_MAX) else {
            return self.commands();
        };
        // A record about the thread's next command, such as FRAME, may be in the block before.
        let (mut start, mut back) = (blocks.start.saturating_sub(1), 1);
        while start > 0 && self.lacks_arguments(start..blocks.end, &numbers)? {
            start = start.saturating_sub(back);
            back *= 4;
        }
        let mut commands = self.commands()?;
        (commands.next_block, commands.enough_at) = (start, blocks.end);
        Ok(commands)
    }

    /// Whether a reader that begins with these blocks would hand out a command with one of these numbers without its
    /// arguments, because the command was entered before these blocks.
    fn lacks_arguments(&mut self, blocks: Range<usize>, numbers: &Range<u64>) -> io::Result<bool> {
        let mut commands = self.commands()?;
        (commands.next_block, commands.enough_at) = (blocks.start, blocks.end);
        let mut threads = BTreeSet::new();
        while commands.advance()? {
            let command = commands.command();
            // A later command of a thread lacks its enter record only if that is lost. A command of a snapshot may come while
            // another command of the thread is in flight.
            let is_first = !command.is_setup && threads.insert(command.thread);
            let is_wanted = command.seq.is_some_and(|seq| numbers.contains(&seq));
            if is_first && is_wanted && command.enter.is_none() {
                return Ok(true);
            }
            if command.seq.is_some_and(|seq| seq >= numbers.end) {
                break;
            }
        }
        Ok(false)
    }
}

/// The commands of a trace in order of effect. Commands in flight at the end come last.
pub struct Commands<'r, R> {
    pub(super) header: &'r TraceHeader,
    pub(super) blobs: FileBlobs<'r, R>,
    file_len: u64,
    tail: &'r mut Tail,
    assembler: Assembler,
    next_block: usize,
    blocks_read: usize,
    /// From this block on, blocks are read only for the rest of commands that began before it.
    enough_at: usize,
    /// True if the block read last is damaged. No further block is read.
    damaged: bool,
    frames: Option<RangeInclusive<u64>>,
}

/// A place between two commands, with the commands that were entered before it.
pub struct Mark {
    assembler: Assembler,
    next_block: usize,
    damaged: bool,
}

/// The blobs of the file that commands are read from.
pub(super) struct FileBlobs<'r, R> {
    // `mut` although each use borrows from the cell: the commands can be sent to another thread then.
    pub(super) file: &'r mut RefCell<BlockFile<R>>,
    pub(super) store: &'r mut RefCell<Store>,
}

impl<R: Read + Seek> BlobSource for FileBlobs<'_, R> {
    fn name(&self, number: BlobNumber) -> Option<BlobName> {
        self.store.borrow_mut().name(&mut self.file.borrow_mut(), number)
    }

    fn bytes(&self, name: BlobName, size: u64) -> Option<Arc<Vec<u8>>> {
        self.store.borrow_mut().cached(&mut *self.file.borrow_mut(), name, size)
    }
}

impl<'r, R: Read + Seek> Commands<'r, R> {
    /// Hands out commands with the changes that tracers made to them, and commands that a tracer skipped, which
    /// have no number. Call this before the first command.
    pub fn with_tracers(mut self) -> Self {
        self.assembler.tell_tracers();
        self
    }

    /// Hands out commands with these times on the GPU. Call this before the first command.
    pub fn with_gpu_times(mut self, times: Option<GpuTimes>) -> Self {
        if let Some(times) = times {
            self.assembler.tell_gpu_times(Arc::new(times));
        }
        self
    }

    /// Notes what happens beside the commands, for [`Self::drain_events`]. Call this before the first command.
    pub fn with_events(mut self) -> Self {
        self.assembler.tell_events();
        self
    }

    /// Hands out the events of the records that were read since the last call, in the order of the stream. Records behind
    /// the last command that was handed out may have been read, too.
    pub fn drain_events(&mut self) -> impl Iterator<Item = Event> + use<'_, 'r, R> {
        self.assembler.drain_events()
    }

    /// Returns the next command, or `None` at the end of the readable part; [`Self::tail`] says how that
    /// ends.
    ///
    /// # Errors
    /// An error of the file. Damage is not an error.
    pub fn next_command(&mut self) -> io::Result<Option<Command<'_>>> {
        Ok(if self.advance()? { Some(self.command()) } else { None })
    }

    /// Goes on to the next command, which [`Self::command`] then returns. Returns false at the end.
    ///
    /// # Errors
    /// An error of the file.
    pub fn advance(&mut self) -> io::Result<bool> {
        while self.advance_any()? {
            let frame = self.assembler.frame();
            if self.frames.as_ref().is_none_or(|frames| frames.contains(&frame)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Goes on to the next command as [`Self::advance`] does, but reads no block for it. Returns false if the next command
    /// needs one, or at the end.
    pub fn advance_in_block(&mut self) -> bool {
        loop {
            match self.assembler.advance() {
                Ok(Advance::Command) => return true,
                Ok(Advance::NeedsBlock | Advance::Done) => return false,
                Err(error) => self.stop_at_block(self.next_block - 1, error.to_string()),
            }
        }
    }

    /// Goes on to the next command as [`Self::advance`] does, but without an end: returns false if the next command needs a block
    /// that the file does not have yet, and if a block is damaged. Then [`Self::leave`], [`TraceReader::grow`] and
    /// [`TraceReader::go_on`] go on behind it. Looks at no range of frames.
    ///
    /// # Errors
    /// An error of the file.
    pub fn advance_so_far(&mut self) -> io::Result<bool> {
        loop {
            if self.advance_in_block() {
                return Ok(true);
            }
            if self.damaged || self.next_block >= self.blobs.file.get_mut().blocks().len() {
                return Ok(false);
            }
            self.read_next_block()?;
        }
    }

    /// Leaves the file so that it can be looked at again, at the place behind the command that the reading came to.
    pub fn leave(self) -> Mark {
        let Self { assembler, next_block, damaged, .. } = self;
        Mark { assembler, next_block, damaged }
    }

    /// Returns the block that is read next, and what [`Self::resume`] needs to go on there. `None` at the end of the trace,
    /// unless [`Self::advance_in_block`] has just returned false, and if a range of frames is read.
    pub fn pause(&mut self) -> Option<(usize, Vec<u8>)> {
        let is_inside = self.next_block < self.blobs.file.get_mut().blocks().len();
        if !is_inside || self.damaged || self.frames.is_some() {
            return None;
        }
        Some((self.next_block, self.assembler.save()?))
    }

    /// Goes on at `block` with what [`Self::pause`] returned there. Call this before the first command. Returns false, and
    /// changes nothing, if there is no such block, or `saved` is something else.
    pub fn resume(&mut self, block: usize, saved: &[u8]) -> bool {
        let is_there = block < self.blobs.file.get_mut().blocks().len();
        if !is_there || !self.assembler.resume(saved) {
            return false;
        }
        self.next_block = block;
        true
    }

    /// Returns the place behind the command that [`Self::advance`] came to, for [`Self::go_back`].
    pub fn mark(&self) -> Mark {
        let Self { next_block, damaged, .. } = *self;
        Mark { assembler: self.assembler.clone(), next_block, damaged }
    }

    /// Goes back to a place of these commands: the next command is the one behind it.
    pub fn go_back(&mut self, mark: &Mark) {
        self.assembler = mark.assembler.clone();
        (self.next_block, self.damaged) = (mark.next_block, mark.damaged);
    }

    /// Returns the block that is read next.
    pub fn next_block(&self) -> usize {
        self.next_block
    }

    /// Returns the command that [`Self::advance`] came to.
    pub fn command(&self) -> Command<'_> {
        self.assembler.command(&self.header.description, &self.blobs)
    }

    /// Moves the command that [`Self::advance`] came to into `batch`. A batch has commands of one block: after a change of
    /// [`Self::blocks_read`] the next command begins another one.
    pub(super) fn take_into(&mut self, batch: &mut Batch) {
        self.assembler.take_into(batch);
    }

    /// Returns the number of blocks that were read.
    pub(super) fn blocks_read(&self) -> usize {
        self.blocks_read
    }

    /// Returns how the readable part of the file ends.
    pub fn tail(&self) -> &Tail {
        self.tail
    }

    /// Returns the counts so far of records that are out of place; a complete trace has none.
    pub fn anomalies(&self) -> Anomalies {
        self.assembler.anomalies()
    }

    /// Returns the assembler, for the state that it has followed so far.
    pub fn assembler(&self) -> &Assembler {
        &self.assembler
    }

    fn advance_any(&mut self) -> io::Result<bool> {
        loop {
            match self.assembler.advance() {
                Ok(Advance::Command) => return Ok(true),
                Ok(Advance::Done) => return Ok(false),
                Ok(Advance::NeedsBlock) => {
                    if self.next_block >= self.enough_at && !self.assembler.holds_commands() {
                        return Ok(false);
                    }
                    self.read_next_block()?;
                }
                Err(error) => self.stop_at_block(self.next_block - 1, error.to_string()),
            }
        }
    }

    fn read_next_block(&mut self) -> io::Result<()> {
        let index = self.next_block;
        let mut file = self.blobs.file.borrow_mut();
        if self.damaged || index >= file.blocks().len() {
            self.assembler.finish();
            return Ok(());
        }
        self.next_block += 1;
        // For a single block, starting a thread costs more than it saves.
        if self.blocks_read == 1 {
            file.begin_ahead(index);
        }
        self.blocks_read += 1;
        let filled = self.assembler.refill(|| file.block(index));
        drop(file);
        match filled {
            Ok(()) => Ok(()),
            Err(BlockError::Io(error)) => Err(error),
            Err(error) => {
                self.stop_at_block(index, error.to_string());
                Ok(())
            }
        }
    }

    fn stop_at_block(&mut self, index: usize, why: String) {
        let offset = self.blobs.file.borrow().blocks().get(index).map(|block| block.offset);
        *self.tail = Tail::Damaged { at: offset.unwrap_or(self.file_len), why };
        self.damaged = true;
    }
}

/// Returns the blocks in which the commands with these numbers take effect, by the index.
fn blocks_of_numbers(index: &TraceIndex, numbers: &Range<u64>) -> Range<usize> {
    let begun = |end: u64| index.blocks.partition_point(|block| block.first_seq < end);
    let start = begun(numbers.start.saturating_add(1)).saturating_sub(1);
    start..begun(numbers.end).max(start)
}

/// Returns the blocks that hold these frames of all `processes`, by the index.
fn blocks_of_frames(
    index: &TraceIndex,
    processes: usize,
    frames: &RangeInclusive<u64>,
) -> Range<usize> {
    let ends = |frame: u64| index.frame_ends.iter().filter(move |end| end.frame == frame);
    let first = index.frame_ends.iter().map(|end| end.frame).min().unwrap_or(0);
    let start = match frames.start().checked_sub(1) {
        None => 0,
        // A saved trace need not begin with frame 0.
        Some(before) if before < first => 0,
        Some(before) => {
            ends(before).map(|end| end.block as usize).min().unwrap_or(index.blocks.len())
        }
    };
    let ended = ends(*frames.end());
    let end = match ended.clone().count() == processes {
        true => ended.map(|end| end.block as usize + 1).max().unwrap_or(0),
        false => index.blocks.len(),
    };
    start..end
}
