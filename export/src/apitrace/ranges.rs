//! Ranges of memory that a command read or wrote in addition to its slots. Joins pieces of memory; the bytes between
//! them, and those that the trace lacks, are zero. Pieces with more than 1 GiB between them (`GAP_BYTES_MAX`) are not
//! joined. Does not interpret the bytes.

use std::io::{self, Write};
use std::sync::Arc;

use gapii_trace::description::Observed;
use gapii_trace::value::{self, Arg, Observation, Value};
use gapii_trace::{Bytes, Command};

use super::values::Values;

/// Maximum distance of two pieces that are joined, in bytes.
const GAP_BYTES_MAX: u64 = 1 << 30;

/// A piece of memory, as it was when the command was entered.
#[derive(Clone, Copy, Debug)]
pub struct Range<'a> {
    /// Index of the parameter that the range belongs to, if any.
    pub param: Option<usize>,
    pub address: u64,
    pub size: u64,
    pub observation: Observation<'a>,
}

impl Range<'_> {
    /// Returns the address behind the last byte.
    pub fn end(&self) -> u64 {
        self.address.saturating_add(self.size)
    }

    /// Returns true if the byte at `address` is in the range.
    pub fn contains(&self, address: u64) -> bool {
        self.address <= address && address < self.end()
    }
}

/// The memory that a command read.
#[derive(Default)]
pub struct Read<'a> {
    /// The ranges, lowest address first.
    pub ranges: Vec<Range<'a>>,
    /// Ranges whose bytes the trace does not have.
    pub missing: u64,
}

impl<'a> Read<'a> {
    /// Returns the memory that a command read.
    pub fn by(command: &Command<'a>) -> Self {
        let mut read = Self::default();
        for range in command.ranges_read() {
            let observation = range.observation;
            let size = match observation {
                Observation::None => continue,
                Observation::Bytes(bytes) => bytes.len() as u64,
                Observation::Blob { size, .. } => size,
                Observation::Unrecorded { .. }
                | Observation::Unnamed { .. }
                | Observation::Missing { .. } => {
                    read.missing += 1;
                    continue;
                }
            };
            let param = range.param.map(usize::from);
            read.ranges.push(Range { param, address: range.address, size, observation });
        }
        read.ranges.sort_by_key(|range| range.address);
        read
    }
}

/// The memory that a command wrote where its parameters point.
pub struct Written<'a>(Vec<(usize, Observation<'a>)>);

impl<'a> Written<'a> {
    /// Returns the memory that a command wrote.
    pub fn by(command: &Command<'a>) -> Self {
        let addresses: Vec<_> = command.args().map(|arg| arg.value).collect();
        let at_its_start = |range: value::Range<'a>| {
            let param = usize::from(range.param?);
            let pointer = addresses.get(param) == Some(&Value::Pointer(range.address));
            pointer.then_some((param, range.observation))
        };
        match command.leave_payload() {
            Some(_) => Self(command.ranges_written().filter_map(at_its_start).collect()),
            None => Self(Vec::new()),
        }
    }

    /// Returns true if an argument is an output. Ranges without an element type, such as pixels, are not outputs: the
    /// call has the address instead.
    pub fn has(&self, index: usize, arg: &Arg<'_>) -> bool {
        arg.param.observed == Observed::Out
            || arg.param.element.is_some() && self.range(index).is_some()
    }

    /// Returns the range that begins at the argument's address.
    pub fn range(&self, index: usize) -> Option<Observation<'a>> {
        self.0.iter().find(|(param, _)| *param == index).map(|(_, observation)| *observation)
    }
}

/// Contiguous memory, joined from ranges.
pub struct Span<'r, 'a> {
    start: u64,
    end: u64,
    /// The ranges, lowest address first.
    ranges: &'r [Range<'a>],
}

impl<'r, 'a> Span<'r, 'a> {
    /// Joins `ranges` from `start` to the end of the last one. Returns `None` if no range ends behind `start`, or if
    /// the ranges hold too little of the joined length.
    pub fn new(start: u64, ranges: &'r [Range<'a>]) -> Option<Self> {
        let end = ranges.iter().map(Range::end).max().filter(|end| *end > start)?;
        let known: u64 = ranges.iter().map(|range| range.size).sum();
        (end - start <= known.saturating_add(GAP_BYTES_MAX)).then_some(Self { start, end, ranges })
    }

    /// Returns the memory cut at `end`.
    pub fn up_to(self, end: u64) -> Self {
        Self { end: self.end.min(end.max(self.start)), ..self }
    }

    /// Returns the bytes. Bytes that the trace does not have are zero.
    pub fn bytes(&self, command: &Command<'a>) -> Bytes<'a> {
        if let [range] = self.ranges
            && range.address == self.start
            && let Some(bytes) = command.bytes_of(range.observation)
        {
            return bytes;
        }
        let mut all = vec![0; (self.end - self.start) as usize];
        for range in self.ranges {
            let Some(bytes) = command.bytes_of(range.observation) else { continue };
            let skipped = self.start.saturating_sub(range.address).min(range.size) as usize;
            let at = range.address.saturating_sub(self.start) as usize;
            let bytes = &bytes[skipped..];
            if let Some(place) = all.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
            }
        }
        Bytes::Blob(Arc::new(all))
    }

    /// Writes the memory as a blob. Bytes that the trace does not have are zero.
    pub fn write<W: Write>(&self, command: &Command<'a>, values: &mut Values<W>) -> io::Result<()> {
        values.blob(self.end - self.start)?;
        let mut at = self.start;
        for range in self.ranges.iter().filter(|range| range.end() > self.start) {
            let (begin, end) = (range.address.min(self.end), range.end().min(self.end));
            if begin > at {
                values.zeros(begin - at)?;
                at = begin;
            }
            let Some(left) = end.checked_sub(at) else { continue };
            let bytes = command.bytes_of(range.observation);
            let skipped = (at - range.address.min(at)) as usize;
            let part = skipped..skipped + left as usize;
            match bytes.as_deref().and_then(|bytes| bytes.get(part)) {
                Some(bytes) => values.bytes(bytes)?,
                None => values.zeros(left)?,
            }
            at = end;
        }
        Ok(())
    }
}
