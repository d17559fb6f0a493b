//! The commands of a trace file, read in order.
//!
//! Reads a block when no command is left of the blocks before it.

use std::io::{self, Read, Seek};
use std::ops::{Range, RangeInclusive};

use super::assembler::{Advance, Anomalies, Assembler, HoldLimits};
use super::block_file::BlockError;
use super::command::Command;
use super::file_parts::Tail;
use super::index::TraceIndex;
use super::reader::TraceReader;
use super::story::Begin;

impl<R: Read + Seek> TraceReader<R> {
    /// All commands, from the first block.
    pub fn commands(&mut self) -> io::Result<Commands<'_, R>> {
        self.commands_limited(HoldLimits::default())
    }

    /// All commands, holding no more than `limits` say.
    pub fn commands_limited(&mut self, limits: HoldLimits) -> io::Result<Commands<'_, R>> {
        let mut assembler = Assembler::new(limits);
        assembler.begin(self.header.begin());
        assembler.expect_in_flight(self.end()?.map_or_else(Vec::new, |end| end.in_flight));
        Ok(Commands {
            reader: self,
            assembler,
            next_block: 0,
            blocks_read: 0,
            enough_at: usize::MAX,
            damaged: false,
            frames: None,
        })
    }

    /// The commands of these frames of every process. With an index the blocks before them are not
    /// read, and a command entered there comes without its arguments.
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
}

/// Commands of a trace, in order of effect; those in flight at the end come last.
pub struct Commands<'r, R> {
    reader: &'r mut TraceReader<R>,
    assembler: Assembler,
    next_block: usize,
    blocks_read: usize,
    /// Index of the first block that is read only for the rest of commands begun before it.
    enough_at: usize,
    /// The block read last is not as written; none after it is read.
    damaged: bool,
    frames: Option<RangeInclusive<u64>>,
}

impl<R: Read + Seek> Commands<'_, R> {
    /// Has commands come with what tracers did to them, and those as well that a tracer had skipped, which
    /// have no number. To be said before the first command.
    pub fn with_tracers(mut self) -> Self {
        self.assembler.tell_tracers();
        self
    }

    /// The next command, or `None` at the end of what can be read: [`Self::tail`] says which end.
    /// Errors are the file's; damage is not one.
    pub fn next_command(&mut self) -> io::Result<Option<Command<'_>>> {
        Ok(if self.advance()? { Some(self.command()) } else { None })
    }

    /// Goes on to the next command, which [`Self::command`] then has. False at the end.
    pub fn advance(&mut self) -> io::Result<bool> {
        while self.advance_any()? {
            let frame = self.assembler.frame();
            if self.frames.as_ref().is_none_or(|frames| frames.contains(&frame)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The command that [`Self::advance`] came to.
    pub fn command(&self) -> Command<'_> {
        let reader = &*self.reader;
        self.assembler.command(&reader.header.description, reader)
    }

    /// How what was read ends.
    pub fn tail(&self) -> &Tail {
        &self.reader.tail
    }

    /// What was not as a whole trace has it, so far.
    pub fn anomalies(&self) -> Anomalies {
        self.assembler.anomalies()
    }

    /// The assembler, for its state so far.
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
        if self.damaged || index >= self.reader.blocks().len() {
            self.assembler.finish();
            return Ok(());
        }
        self.next_block += 1;
        let file = self.reader.file.get_mut();
        // Not worth it for one block.
        if self.blocks_read == 1 {
            file.begin_ahead(index);
        }
        self.blocks_read += 1;
        match self.assembler.refill(|| file.block(index)) {
            Ok(()) => Ok(()),
            Err(BlockError::Io(error)) => Err(error),
            Err(error) => {
                self.stop_at_block(index, error.to_string());
                Ok(())
            }
        }
    }

    fn stop_at_block(&mut self, index: usize, why: String) {
        let at = self.reader.blocks().get(index).map_or(self.reader.file_len, |block| block.offset);
        self.reader.tail = Tail::Damaged { at, why };
        self.damaged = true;
    }
}

/// The blocks that hold these frames of all `processes`, by the index.
fn blocks_of_frames(
    index: &TraceIndex,
    processes: usize,
    frames: &RangeInclusive<u64>,
) -> Range<usize> {
    let ends = |frame: u64| index.frame_ends.iter().filter(move |end| end.frame == frame);
    let first = index.frame_ends.iter().map(|end| end.frame).min().unwrap_or(0);
    let start = match frames.start().checked_sub(1) {
        None => 0,
        // What was kept need not begin with frame 0.
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
