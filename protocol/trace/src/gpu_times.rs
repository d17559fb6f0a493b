//! `GpuTimes`: the times on the GPU that a trace with `--gpu-timing` has. They come some frames behind their commands, so a
//! reader that wants them looks through the whole trace first. A command in a list of Level Zero has a time for each execution of
//! the list. Damage ends the look without an error: the reader of the
//! commands meets it again. Lists up to 65,536 notes (`NOTES_MAX`).
//!
//! Reads no command.

use std::collections::{HashMap, HashSet};
use std::io::{self, Read, Seek};

use gapii_abi::atom::{GpuTime, GpuTimesKind, META_FIRST};

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
    /// When the driver was called for the command that executed the list; `None` if the command itself was executed.
    pub submitted_ns: Option<u64>,
    /// Handle of the command list; 0 for a command that belongs to none.
    pub list: u64,
}

/// Returns the sum of durations on the GPU, in nanoseconds; `None` if there are none.
pub fn sum_ns(spans: &[GpuSpan]) -> Option<u64> {
    let sum = spans.iter().fold(0, |sum: u64, span| sum.saturating_add(span.duration_ns));
    (!spans.is_empty()).then_some(sum)
}

/// A command as a record of its time names it: index of the process, thread id, and when the driver was called.
type Call = (u32, u32, u64);

/// Why commands of a context have no times, and how many.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GpuNote {
    /// Index of the process in the trace.
    pub process: u32,
    /// Handle of the context or of the command list.
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
    /// By command; those of a command by their begin.
    spans: Vec<(Call, GpuSpan)>,
    /// Sums of the times that the executions of lists took, by process and call of the command that executed them.
    submitted: HashMap<(u32, u64), u64>,
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
        let functions = reader.header().description.functions();
        let of_level_zero = functions.iter().filter(|function| function.api == "level_zero");
        let of_level_zero: HashSet<u16> = of_level_zero.map(|function| function.id).collect();
        for index in 0..reader.blocks().len() {
            let block = match reader.file.get_mut().block(index) {
                Ok(block) => block,
                Err(BlockError::Io(error)) => return Err(error),
                Err(_) => break,
            };
            tracker.begin_block();
            if times.take_block(&mut tracker, &block, &of_level_zero).is_none() {
                break;
            }
        }
        times.spans.sort_by_key(|(call, span)| (*call, span.begin_ns));
        let is_asked = reader.footer().is_some() || times != GpuTimes::default();
        Ok(is_asked.then_some(times))
    }

    /// Returns the times of the command of a thread that the driver was called for at `called_ns`, in the order of their begins.
    pub fn spans(&self, process: u32, tid: u32, called_ns: u64) -> impl Iterator<Item = GpuSpan> {
        let call = (process, tid, called_ns);
        let first = self.spans.partition_point(|(other, _)| *other < call);
        let rest = self.spans.get(first..).unwrap_or_default();
        rest.iter().take_while(move |(other, _)| *other == call).map(|(_, span)| *span)
    }

    /// Returns the times of a process' commands, each with the time at which the driver was called, in no order.
    pub fn spans_of(&self, process: u32) -> impl Iterator<Item = (u64, GpuSpan)> + '_ {
        let own = self.spans.iter().filter(move |((owner, ..), _)| *owner == process);
        own.map(|((.., called_ns), span)| (*called_ns, *span))
    }

    /// Returns how long the GPU took for the lists that a command executed for which the driver was called at `called_ns`; `None`
    /// for other commands.
    pub fn submitted_ns(&self, process: u32, called_ns: u64) -> Option<u64> {
        self.submitted.get(&(process, called_ns)).copied()
    }

    /// Returns the number of commands with times.
    pub fn commands(&self) -> u64 {
        self.spans.chunk_by(|(one, _), (other, _)| one == other).count() as u64
    }

    /// Returns the number of times: that of the commands, and of further executions of commands in lists.
    pub fn times(&self) -> u64 {
        self.spans.len() as u64
    }

    /// Returns what the trace says of commands without times, in the order of the trace.
    pub fn notes(&self) -> &[GpuNote] {
        &self.notes
    }

    /// Takes the times of a block. `None` if the block is no stream.
    fn take_block(
        &mut self,
        tracker: &mut Tracker,
        block: &[u8],
        of_level_zero: &HashSet<u16>,
    ) -> Option<()> {
        for record in Records::new(block) {
            let record = record.ok()?;
            if record.header.id() < META_FIRST {
                continue;
            }
            let meta = tracker.meta(record.header, record.stamp, record.payload).ok()?;
            if let Meta::GpuTimes(told) = meta {
                let thread = tracker.thread_at(tracker.current()?)?;
                self.take(thread.process, &told, of_level_zero);
            }
        }
        Some(())
    }

    fn take(&mut self, process: u32, told: &meta::GpuTimes, of_level_zero: &HashSet<u16>) {
        let meta::GpuTimes { context, kind, count: commands, period_ns, .. } = *told;
        let submitted_ns = (period_ns[0] != 0).then_some(period_ns[0]);
        for time in &told.times {
            let GpuTime { begin_ns, duration_ns, called_ns, tid, id } = *time;
            let list = if of_level_zero.contains(&id) { context } else { 0 };
            let span = GpuSpan { begin_ns, duration_ns, submitted_ns, list };
            self.spans.push(((process, tid, called_ns), span));
            if let Some(submitted_ns) = submitted_ns {
                let sum = self.submitted.entry((process, submitted_ns)).or_default();
                *sum = sum.saturating_add(duration_ns);
            }
        }
        if kind != GpuTimesKind::Times && self.notes.len() < NOTES_MAX {
            self.notes.push(GpuNote { process, context, kind, commands, period_ns });
        }
    }
}
