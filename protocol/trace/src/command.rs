//! A command of a trace: its place in the order, and its arguments and results on demand.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use gapii_abi::atom::Frame;
use gapii_commands::CommandId;

use super::blob_name::BlobName;
use super::blobs::BlobSource;
use super::description::{Description, Function, Kind, Type};
use super::tracker::ContextLimits;
use super::value::{Arg, Args, Observation, Range, Ranges, Value, result_text, slots};

/// A command, borrowed from the reader until its next one.
#[derive(Clone, Copy, Debug)]
pub struct Command<'a> {
    /// Ordinal among the commands that took effect, from 0. `None` for a command that never did,
    /// or whose record of it is lost.
    pub seq: Option<u64>,
    /// Index of the process in the trace.
    pub process: u32,
    pub pid: u32,
    /// Index of the thread in the trace.
    pub thread: u32,
    pub tid: u32,
    /// Handle of the context that was current when the command was entered, or 0.
    pub context: u64,
    /// What the driver said of that context.
    pub limits: Option<&'a ContextLimits>,
    /// Frames of its process that had ended when it took effect.
    pub frame: u64,
    /// `None` where the enter record is not in what was read.
    pub enter_stamp: Option<u64>,
    /// `None` where there is no leave record, or none in what was read.
    pub leave_stamp: Option<u64>,
    /// How long it was with the driver, in nanoseconds; `None` unless that was measured.
    pub driver_ns: Option<u64>,
    /// It had not returned when the stream ended.
    pub in_flight: bool,
    /// Nobody called it: it makes what there was when the capture began.
    pub is_setup: bool,
    /// The frame of its process ended with it.
    pub ends_frame: bool,
    /// Function id.
    pub id: u16,
    /// `None` for an id that the header does not describe.
    pub function: Option<&'a Function>,
    /// What tracers have done to it; only of who [asked](super::Commands::with_tracers) for that.
    pub traces: Option<&'a Traces>,
    /// Of a swap: what the surface held just before, where that was read back.
    pub observed_frame: Option<&'a Frame>,
    pub(crate) description: &'a Description,
    pub(crate) enter: Option<&'a [u8]>,
    pub(crate) leave: Option<&'a [u8]>,
    pub(crate) blobs: Blobs<'a>,
}

/// What tracers have done to a command.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Traces {
    /// A callback made it, and not the program.
    pub is_own: bool,
    /// A prologue had it skipped: the driver never got it. Its arguments are what prologues left, and its
    /// result is what the program got.
    pub is_skipped: bool,
    /// The fixed part of the enter record that the program's arguments would have had.
    pub(crate) made: Option<Box<[u8]>>,
    /// What the program got as the result.
    pub(crate) given: Option<Box<[u8]>>,
}

/// What memory held: in a record, or a blob.
#[derive(Clone, Debug)]
pub enum Bytes<'a> {
    Record(&'a [u8]),
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

/// Where the blobs are that a command refers to.
#[derive(Clone, Copy)]
pub(crate) struct Blobs<'a>(pub &'a dyn BlobSource);

impl fmt::Debug for Blobs<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Blobs")
    }
}

impl<'a> Command<'a> {
    /// Name as the API spells it; empty for an id that the header does not describe.
    pub fn name(&self) -> &'a str {
        self.function.map_or("", |function| &function.name)
    }

    /// This build's command of the same name; `None` for a command that this build does not know. To
    /// decide by which command it is, compare this and never the name or [`Self::id`].
    #[inline]
    pub fn known(&self) -> Option<CommandId> {
        self.function?.known
    }

    /// Its arguments; none where the enter record is not in what was read.
    pub fn args(&self) -> impl Iterator<Item = Arg<'a>> + use<'a> {
        let (enter, leave) = (self.enter, self.leave);
        let function = self.function.filter(|_| enter.is_some());
        function.into_iter().flat_map(move |f| Args::new(f, enter.unwrap_or_default(), leave))
    }

    /// The arguments as the program passed them, where a tracer has changed any; without memory.
    pub fn made(&self) -> Option<impl Iterator<Item = Arg<'a>> + use<'a>> {
        let made = self.traces?.made.as_deref()?;
        Some(Args::new(self.function?, made, None))
    }

    /// The result that the program got, where a tracer has changed it.
    pub fn given(&self) -> Option<Value> {
        let given = self.traces?.given.as_deref()?;
        Some(Value::read(self.function?.result, given, 0))
    }

    /// The memory it read beyond what its arguments say by themselves.
    pub fn ranges_read(&self) -> Ranges<'a> {
        match (self.function, self.enter) {
            (Some(function), Some(enter)) => {
                Ranges::of(enter, function.fixed_len as usize, slots(function, false))
            }
            _ => Ranges::of(&[], 0, 0),
        }
    }

    /// The memory it wrote beyond what its arguments say by themselves.
    pub fn ranges_written(&self) -> Ranges<'a> {
        match (self.function, self.leave) {
            (Some(function), Some(leave)) => {
                Ranges::of(leave, function.result_len(), slots(function, true))
            }
            _ => Ranges::of(&[], 0, 0),
        }
    }

    /// The name of the parameter that a range belongs to.
    pub fn param_of(&self, range: &Range<'_>) -> Option<&'a str> {
        let param = self.function?.params.get(usize::from(range.param?))?;
        Some(&param.name)
    }

    /// Type of the elements that the parameter of a range points at, if that is known.
    pub fn element_of(&self, range: &Range<'_>) -> Option<Type> {
        self.function?.params.get(usize::from(range.param?))?.element
    }

    /// The bytes of an observation of this command; a blob is read from the trace. `None` where
    /// there are none, or not in the trace.
    pub fn bytes_of(&self, observation: Observation<'a>) -> Option<Bytes<'a>> {
        match observation {
            Observation::Bytes(bytes) => Some(Bytes::Record(bytes)),
            Observation::Blob { name, size } => self.blobs.0.bytes(name, size).map(Bytes::Blob),
            Observation::None | Observation::Unrecorded { .. } | Observation::Missing { .. } => {
                None
            }
        }
    }

    /// The pixels of [`Self::observed_frame`], if they are in the trace: rows of RGBA from the bottom up.
    pub fn frame_pixels(&self) -> Option<Arc<Vec<u8>>> {
        let frame = self.observed_frame.filter(|frame| frame.has_pixels())?;
        self.blobs.0.bytes(BlobName(frame.name), frame.size())
    }

    /// What it returned, and the text that points at if it is text. `None` for a command that
    /// returns nothing or whose leave record is not there.
    pub fn result(&self) -> Option<(Value, Observation<'a>)> {
        let function = self.function.filter(|function| !function.result.is_void())?;
        let leave = self.leave?;
        let text = match function.result.kind {
            Kind::String => result_text(function, leave),
            _ => Observation::None,
        };
        Some((Value::read(function.result, leave, 0), text))
    }

    /// What its trace says of commands and enums.
    pub fn description(&self) -> &'a Description {
        self.description
    }

    /// The enter record's payload, as recorded.
    pub fn enter_payload(&self) -> Option<&'a [u8]> {
        self.enter
    }

    /// The leave record's payload, as recorded.
    pub fn leave_payload(&self) -> Option<&'a [u8]> {
        self.leave
    }
}
