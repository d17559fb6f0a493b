//! A command of a trace: its place in the order, and its arguments and results on demand. A part whose record was not
//! read gives none: no arguments without the enter record, no result without the leave record, no bytes of a blob that
//! the trace lacks. A function that the trace does not describe has no name.
//!
//! Decodes nothing before it is asked to.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use gapii_abi::atom::Frame;
use gapii_commands::CommandId;

use serde::{Deserialize, Serialize};

use super::blob_name::BlobName;
use super::blobs::BlobSource;
use super::description::{Description, Function, Kind, Type};
use super::filter::Filter;
use super::gpu_times::GpuSpan;
use super::tracker::{ContextLimits, Tracker};
use super::value::{Arg, Args, Names, Observation, Range, Ranges, Value, result_text, slots};

/// A command. It borrows from its reader and lives until the reader's next command.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Ordinal among the commands that took effect, from 0. `None` for a command that took no effect, or
    /// whose record with the effect is lost.
    pub seq: Option<u64>,
    /// Index of the process in the trace.
    pub process: u32,
    /// Process id of the operating system.
    pub pid: u32,
    /// Index of the thread in the trace.
    pub thread: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// Handle of the context that was current when the command was entered, or 0.
    pub context: u64,
    /// Limits and extensions that the driver reported for that context.
    pub limits: Option<&'a ContextLimits>,
    /// Number of frames of its process that had ended when it took effect.
    pub frame: u64,
    /// Stamp of the enter record; `None` if that was not read.
    pub enter_stamp: Option<u64>,
    /// Stamp of the leave record; `None` if there is none, or it was not read.
    pub leave_stamp: Option<u64>,
    /// How long the driver took, in nanoseconds; `None` if that was not measured.
    pub driver_ns: Option<u64>,
    /// When the driver was called, in nanoseconds of `CLOCK_MONOTONIC`; `None` if that was not recorded.
    pub begin_ns: Option<u64>,
    /// Its times on the GPU: one, or one for each execution of its list; only from a reader that
    /// [asked](super::Commands::with_gpu_times) for them.
    pub gpu: &'a [GpuSpan],
    /// For a command that executed lists: how long the GPU took for their commands, in nanoseconds. As for `gpu`.
    pub submitted_gpu_ns: Option<u64>,
    /// When the frame that the command ended was over, in nanoseconds of `CLOCK_MONOTONIC`; `None` if the command ended no
    /// frame, or an older writer did not record it.
    pub frame_end_ns: Option<u64>,
    /// True if the command had not returned when the stream ended.
    pub in_flight: bool,
    /// True if the program did not call the command: it is part of a snapshot and recreates earlier state.
    pub is_setup: bool,
    /// True if the command ended the frame of its process.
    pub ends_frame: bool,
    /// Function id.
    pub id: u16,
    /// Description of the function; `None` if the header does not describe its id.
    pub function: Option<&'a Function>,
    /// Changes that tracers made to the command; only from a reader that [asked](super::Commands::with_tracers)
    /// for them.
    pub traces: Option<&'a Traces>,
    /// For a swap: the surface's pixels just before it, or their hash, if they were read back.
    pub observed_frame: Option<&'a Frame>,
    pub(crate) description: &'a Description,
    pub(crate) enter: Option<&'a [u8]>,
    pub(crate) leave: Option<&'a [u8]>,
    pub(crate) blobs: Blobs<'a>,
}

/// Changes that tracers made to a command.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Traces {
    /// True if a tracer's callback called the command.
    pub is_own: bool,
    /// True if a prologue skipped the command, so that the driver did not get it. Its arguments are then
    /// those that the prologues left, and its result is the one that the program got.
    pub is_skipped: bool,
    /// The fixed part that the enter record would have had with the program's arguments; only where a
    /// tracer changed any.
    pub(crate) made: Option<Box<[u8]>>,
    /// The result that the program got, where a tracer changed it.
    pub(crate) given: Option<Box<[u8]>>,
}

/// The bytes of an observation.
#[derive(Clone, Debug)]
pub enum Bytes<'a> {
    /// Bytes in the record itself.
    Record(&'a [u8]),
    /// Bytes of a blob.
    Blob(Arc<Vec<u8>>),
}

impl Deref for Bytes<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            Self::Record(bytes) => bytes,
            Self::Blob(bytes) => bytes,
        }
    }
}

/// The source of the blobs that a command refers to.
#[derive(Clone, Copy)]
pub(crate) struct Blobs<'a>(pub &'a dyn BlobSource);

impl fmt::Debug for Blobs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blobs")
    }
}

impl<'a> Command<'a> {
    /// Returns true if a filter lets the command through. One whose function is not known fits no pattern of functions.
    pub fn fits(&self, filter: &Filter, tracker: &Tracker) -> bool {
        let is_function = match self.function {
            Some(function) => filter.wants_function(function),
            None => filter.functions.is_empty(),
        };
        is_function
            && (filter.threads.is_empty() || {
                let name = tracker.thread_at(self.thread).map_or(&[][..], |thread| &thread.name);
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                filter.wants_thread(self.tid, &String::from_utf8_lossy(name))
            })
    }

    /// Returns the function's name as the API spells it; empty if the header does not describe its id.
    pub fn name(&self) -> &'a str {
        self.function.map_or("", |function| &function.name)
    }

    /// Returns this build's command of the same name; `None` if this build has none. Code that handles
    /// particular commands compares this, never the name or [`Self::id`].
    #[inline]
    pub fn known(&self) -> Option<CommandId> {
        self.function?.known
    }

    /// Returns the arguments; none if the enter record was not read.
    pub fn args(&self) -> impl Iterator<Item = Arg<'a>> + use<'a> {
        let (enter, leave, names) = (self.enter, self.leave, self.names());
        let function = self.function.filter(|_| enter.is_some());
        function
            .into_iter()
            .flat_map(move |f| Args::new(f, enter.unwrap_or_default(), leave, names))
    }

    /// Returns the arguments as the program passed them, without memory; `None` if no tracer changed any.
    pub fn made(&self) -> Option<impl Iterator<Item = Arg<'a>> + use<'a>> {
        let made = self.traces?.made.as_deref()?;
        Some(Args::new(self.function?, made, None, self.names()))
    }

    /// Returns the result that the program got; `None` if no tracer changed it.
    pub fn given(&self) -> Option<Value> {
        let given = self.traces?.given.as_deref()?;
        Some(Value::read(self.function?.result, given, 0))
    }

    /// Returns false if the records of the command hold no memory and refer to none.
    pub fn has_memory(&self) -> bool {
        let is_longer = |payload: Option<&[u8]>, fixed_len: usize| {
            payload.is_some_and(|payload| payload.len() > fixed_len.next_multiple_of(8))
        };
        self.function.is_some_and(|function| {
            is_longer(self.enter, function.fixed_len as usize)
                || is_longer(self.leave, function.result_len())
        })
    }

    /// Returns the memory that the command read and whose extent does not follow from its arguments.
    pub fn ranges_read(&self) -> Ranges<'a> {
        match (self.function, self.enter) {
            (Some(function), Some(enter)) => Ranges::of(
                enter,
                function.fixed_len as usize,
                || slots(function, false),
                self.names(),
            ),
            _ => Ranges::of(&[], 0, || 0, self.names()),
        }
    }

    /// Whether the command reads memory of unknown extent, which the trace does not have.
    pub fn is_incomplete(&self) -> bool {
        self.ranges_read().any(|range| range.is_unknown())
    }

    /// Returns the memory that the command wrote and whose extent does not follow from its arguments.
    pub fn ranges_written(&self) -> Ranges<'a> {
        match (self.function, self.leave) {
            (Some(function), Some(leave)) => {
                Ranges::of(leave, function.result_len(), || slots(function, true), self.names())
            }
            _ => Ranges::of(&[], 0, || 0, self.names()),
        }
    }

    /// Returns the name of the parameter that a range belongs to.
    pub fn param_of(&self, range: &Range<'_>) -> Option<&'a str> {
        let param = self.function?.params.get(usize::from(range.param?))?;
        Some(&param.name)
    }

    /// Returns the type of the elements that the parameter of a range points at, if it is known.
    pub fn element_of(&self, range: &Range<'_>) -> Option<Type> {
        self.function?.params.get(usize::from(range.param?))?.element
    }

    /// Returns the bytes of an observation of this command; a blob is read from the trace. `None` if there
    /// are none, or the trace does not have them.
    pub fn bytes_of(&self, observation: Observation<'a>) -> Option<Bytes<'a>> {
        match observation {
            Observation::Bytes(bytes) => Some(Bytes::Record(bytes)),
            Observation::Blob { name, size } => self.blobs.0.bytes(name, size).map(Bytes::Blob),
            Observation::None
            | Observation::Unnamed { .. }
            | Observation::Unrecorded { .. }
            | Observation::Missing { .. } => None,
        }
    }

    /// Returns the pixels of [`Self::observed_frame`], if the trace has them: rows from the bottom up, RGBA
    /// with one byte per component.
    pub fn frame_pixels(&self) -> Option<Arc<Vec<u8>>> {
        let frame = self.observed_frame.filter(|frame| frame.has_pixels())?;
        self.blobs.0.bytes(BlobName(frame.name), frame.size())
    }

    /// Returns the result and, if it is a string, the string that it points at. `None` for a command that
    /// returns nothing, or whose leave record was not read.
    pub fn result(&self) -> Option<(Value, Observation<'a>)> {
        let function = self.function.filter(|function| !function.result.is_void())?;
        let leave = self.leave?;
        let text = match function.result.kind {
            Kind::String => result_text(function, leave, self.names()),
            _ => Observation::None,
        };
        Some((Value::read(function.result, leave, 0), text))
    }

    /// Returns the names of the blobs that the command's process has given numbers to.
    fn names(&self) -> Names<'a> {
        Names { source: self.blobs.0, process: self.process }
    }

    /// Returns the description of the trace's functions, enums and C structs.
    pub fn description(&self) -> &'a Description {
        self.description
    }

    /// Returns the payload of the enter record, as recorded.
    pub fn enter_payload(&self) -> Option<&'a [u8]> {
        self.enter
    }

    /// Returns the payload of the leave record, as recorded.
    pub fn leave_payload(&self) -> Option<&'a [u8]> {
        self.leave
    }
}
