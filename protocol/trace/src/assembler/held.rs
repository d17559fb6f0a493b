//! A command whose records are still coming in, and where the bytes of these records are. Bytes that would exceed the
//! budget when their block goes are dropped; the command is then without them.
//!
//! Decides nothing about order: `queue` and `Assembler` do.

use gapii_abi::atom::{FRAME_END, Frame};
use serde::{Deserialize, Serialize, Serializer};

use crate::blobs::BlobSource;
use crate::command::{Blobs, Command, Traces};
use crate::description::Description;
use crate::gpu_times::GpuSpan;
use crate::record::Located;
use crate::tracker::{ContextLimits, Place};

/// A command and where its bytes are.
#[derive(Clone, Default, Serialize, Deserialize)]
pub(super) struct Held {
    pub seq: Option<u64>,
    pub enter_stamp: Option<u64>,
    pub leave_stamp: Option<u64>,
    pub driver_ns: Option<u64>,
    pub begin_ns: Option<u64>,
    /// Not saved: a reader that goes on has the times of the whole trace.
    #[serde(skip)]
    pub gpu: Vec<GpuSpan>,
    #[serde(skip)]
    pub submitted_gpu_ns: Option<u64>,
    pub frame_end_ns: Option<u64>,
    pub context: u64,
    pub frame: u64,
    pub process: u32,
    pub thread: u32,
    pub id: u16,
    /// True if the command can be handed out as soon as no earlier command waits.
    pub ready: bool,
    pub in_flight: bool,
    /// True if the command was set aside and only its place in the queue is left.
    pub vacant: bool,
    pub is_setup: bool,
    pub ends_frame: bool,
    pub enter: Span,
    pub leave: Span,
    #[serde(with = "crate::atom_serde::frame")]
    pub observed_frame: Option<Box<Frame>>,
    pub traces: Option<Box<Traces>>,
}

/// Bytes of a record's payload. Those in a block are not serialized.
#[derive(Clone, Default, Deserialize)]
#[serde(from = "Option<Box<[u8]>>")]
pub(super) enum Span {
    /// The record was not read, or its bytes exceeded the budget.
    #[default]
    None,
    /// Bytes of the block that is being read.
    Block { start: u32, end: u32 },
    /// A copy, because the block of the record is gone.
    Own(Box<[u8]>),
}

/// Limit of the bytes of copies that are held at one time, and the bytes that are held now.
#[derive(Clone)]
pub(super) struct Budget {
    max_bytes: usize,
    pub(super) used_bytes: usize,
}

impl Held {
    /// Adds the leave record.
    #[inline]
    pub(super) fn complete(&mut self, record: &Located, place: Place) {
        self.leave_stamp = Some(place.stamp);
        self.driver_ns = record.driver_ns;
        self.begin_ns = record.begin_ns.or(self.begin_ns);
        if record.header.flags() & FRAME_END != 0 {
            (self.ends_frame, self.frame_end_ns) = (true, place.time_ns);
        }
        self.leave = Span::of(record);
        self.ready = true;
    }

    /// Returns the command. `ids` are those of its process and thread in the operating system.
    pub(super) fn command<'a>(
        &'a self,
        block: &'a [u8],
        [pid, tid]: [u32; 2],
        limits: Option<&'a ContextLimits>,
        description: &'a Description,
        blobs: &'a dyn BlobSource,
    ) -> Command<'a> {
        Command {
            seq: self.seq,
            process: self.process,
            pid,
            thread: self.thread,
            tid,
            context: self.context,
            limits,
            frame: self.frame,
            enter_stamp: self.enter_stamp,
            leave_stamp: self.leave_stamp,
            driver_ns: self.driver_ns,
            begin_ns: self.begin_ns,
            gpu: &self.gpu,
            submitted_gpu_ns: self.submitted_gpu_ns,
            frame_end_ns: self.frame_end_ns,
            in_flight: self.in_flight,
            is_setup: self.is_setup,
            ends_frame: self.ends_frame,
            id: self.id,
            function: description.function(self.id),
            description,
            enter: self.enter.bytes(block),
            leave: self.leave.bytes(block),
            traces: self.traces.as_deref(),
            observed_frame: self.observed_frame.as_deref(),
            blobs: Blobs(blobs),
        }
    }

    /// Copies the bytes that lie in `block`, which is about to go. Returns how many records did not fit the
    /// budget; their bytes are dropped.
    pub(super) fn leave_block(&mut self, block: &[u8], budget: &mut Budget) -> u64 {
        let mut dropped = 0;
        for span in [&mut self.enter, &mut self.leave] {
            let Span::Block { start, end } = *span else { continue };
            *span = match budget.take((end - start) as usize) {
                true => Span::Own(block[start as usize..end as usize].into()),
                false => {
                    dropped += 1;
                    Span::None
                }
            };
        }
        dropped
    }

    /// Bytes of the budget that the command's copies take.
    #[inline]
    pub(super) fn own_bytes(&self) -> usize {
        self.enter.own_bytes() + self.leave.own_bytes()
    }
}

impl Span {
    /// The payload of a record in the block that is being read.
    #[inline]
    pub(super) fn of(record: &Located) -> Self {
        Self::Block { start: record.payload_start as u32, end: record.payload_end as u32 }
    }

    /// A copy, or [`Span::None`] if it is empty or exceeds the budget.
    pub(super) fn own(bytes: Box<[u8]>, budget: &mut Budget) -> Self {
        match !bytes.is_empty() && budget.take(bytes.len()) {
            true => Self::Own(bytes),
            false => Self::None,
        }
    }

    /// The bytes; `block` is the content of the block that is being read.
    pub(super) fn bytes<'a>(&'a self, block: &'a [u8]) -> Option<&'a [u8]> {
        match self {
            Self::None => None,
            Self::Block { start, end } => block.get(*start as usize..*end as usize),
            Self::Own(bytes) => Some(bytes),
        }
    }

    #[inline]
    fn own_bytes(&self) -> usize {
        match self {
            Self::Own(bytes) => bytes.len(),
            Self::None | Self::Block { .. } => 0,
        }
    }
}

impl From<Option<Box<[u8]>>> for Span {
    fn from(bytes: Option<Box<[u8]>>) -> Self {
        bytes.map_or(Self::None, Self::Own)
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Own(bytes) => Some(bytes).serialize(to),
            Self::None | Self::Block { .. } => None::<&[u8]>.serialize(to),
        }
    }
}

impl Budget {
    /// Makes an unused budget of `max_bytes`.
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, used_bytes: 0 }
    }

    /// Takes `bytes` out of the budget. Returns false, and takes nothing, if that many are not left.
    fn take(&mut self, bytes: usize) -> bool {
        let fits = self.used_bytes + bytes <= self.max_bytes;
        if fits {
            self.used_bytes += bytes;
        }
        fits
    }

    /// Gives `bytes` back to the budget.
    #[inline]
    pub(super) fn give_back(&mut self, bytes: usize) {
        self.used_bytes = self.used_bytes.saturating_sub(bytes);
    }
}
