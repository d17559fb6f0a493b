//! `GpuTimes`: the times on the GPU that a trace with `--gpu-timing` has. They come some frames behind their commands, so a
//! reader that wants them looks through the whole trace first. Damage ends the look without an error: the reader of the
//! commands meets it again. Lists up to 65,536 notes (`NOTES_MAX`).
//!
//! Reads no command.

use std::collections::HashMap;
use std::io::{self, Read, Seek};

use gapii_abi::atom::{GpuTimesKind, META_FIRST};

use super::block_file::BlockError;
use super::frame::Variety;
use super::meta::{self, Meta};
use super::reader::TraceReader;
use super::record::Records;
use super::tracker::Tracker;

/// Most notes that are listed.
const NOTES_MAX: usize = 1 << 16;

/// A time on the GPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuSpan {
    /// When the GPU had executed all commands before, in nanoseconds of `CLOCK_MONOTONIC`.
    pub begin_ns: u64,
    /// Time until it had executed the command, in nanoseconds.
    pub duration_ns: u64,
}

/// A command as a record of its time names it: index of the process, thread id, and when the driver was called.
type Call = (u32, u32, u64);

/// Why commands of a context have no times, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuNote {
    /// Index of the process in the trace.
    pub process: u32,
    /// Handle of the context.
    pub context: u64,
    /// Why commands have no times.
    pub kind: GpuTimesKind,
    /// Number of these commands, if the trace says it; otherwise 0.
    pub commands: u32,
    /// Period in which the GPU's clock was interrupted, in nanoseconds of `CLOCK_MONOTONIC`.
    pub period_ns: [u64; 2],
}

/// The times on the GPU that a trace has.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct GpuTimes {
    spans: HashMap<Call, GpuSpan>,
    notes: Vec<GpuNote>,
}

impl GpuTimes {
    /// Reads the times. `None` if they were not asked for when the trace was recorded, which is known without reading it.
    ///
    /// # Errors
    /// An error of the file.
    pub fn of<R: Read + Seek>(reader: &mut TraceReader<R>) -> io::Result<Option<GpuTimes>> {
        let may_have_some = match reader.footer() {
            Some(footer) => footer.options.gpu_timing,
            None => Variety::of(reader.header().version) != Variety::Untimed,
        };
        if !may_have_some {
            return Ok(None);
        }
        let mut times = GpuTimes::default();
        let mut tracker = Tracker::default();
        for index in 0..reader.blocks().len() {
            let block = match reader.file.get_mut().block(index) {
                Ok(block) => block,
                Err(BlockError::Io(error)) => return Err(error),
                Err(_) => break,
            };
            tracker.begin_block();
            if times.take_block(&mut tracker, &block).is_none() {
                break;
            }
        }
        let is_asked = reader.footer().is_some() || times != GpuTimes::default();
        Ok(is_asked.then_some(times))
    }

    /// Returns the time of the command of a thread that the driver was called for at `called_ns`.
    pub fn span(&self, process: u32, tid: u32, called_ns: u64) -> Option<GpuSpan> {
        self.spans.get(&(process, tid, called_ns)).copied()
    }

    /// Returns the times of a process' commands, each with the time at which the driver was called, in no order.
    pub fn spans_of(&self, process: u32) -> impl Iterator<Item = (u64, GpuSpan)> + '_ {
        let own = self.spans.iter().filter(move |((owner, ..), _)| *owner == process);
        own.map(|((.., called_ns), span)| (*called_ns, *span))
    }

    /// Returns the number of commands with times.
    pub fn commands(&self) -> u64 {
        self.spans.len() as u64
    }

    /// Returns what the trace says of commands without times, in the order of the trace.
    pub fn notes(&self) -> &[GpuNote] {
        &self.notes
    }

    /// Takes the times of a block. `None` if the block is no stream.
    fn take_block(&mut self, tracker: &mut Tracker, block: &[u8]) -> Option<()> {
        for record in Records::new(block) {
            let record = record.ok()?;
            if record.header.id() < META_FIRST {
                continue;
            }
            let meta = tracker.meta(record.header, record.stamp, record.payload).ok()?;
            if let Meta::GpuTimes(told) = meta {
                let thread = tracker.thread_at(tracker.current()?)?;
                self.take(thread.process, &told);
            }
        }
        Some(())
    }

    fn take(&mut self, process: u32, told: &meta::GpuTimes) {
        for time in &told.times {
            let span = GpuSpan { begin_ns: time.begin_ns, duration_ns: time.duration_ns };
            self.spans.insert((process, time.tid, time.called_ns), span);
        }
        let meta::GpuTimes { context, kind, count: commands, period_ns, .. } = *told;
        if kind != GpuTimesKind::Times && self.notes.len() < NOTES_MAX {
            self.notes.push(GpuNote { process, context, kind, commands, period_ns });
        }
    }
}
