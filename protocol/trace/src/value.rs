//! Arguments, results and observed memory: decodes the payloads of records by the trace's own description. Decodes on
//! demand, allocates nothing and never fails: a value that a record is too short for, or that only later versions know,
//! is `Value::Missing`; memory that could not be read is `Unrecorded` with its size.

use super::blob_name::BlobName;
use super::blobs::{BlobNumber, BlobSource};
use super::description::{Function, Kind, Observed, Param, Repr, Type};
use gapii_abi::atom::{
    BLOB_NAME_LEN, OBSERVED_BLOB, OBSERVED_INLINE, OBSERVED_NONE, OBSERVED_NUMBER,
};

/// A scalar of a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    /// An unsigned integer, a handle or a name.
    Unsigned(u64),
    /// A signed integer.
    Signed(i64),
    /// A 32-bit float.
    F32(f32),
    /// A 64-bit float.
    F64(f64),
    /// A boolean: true unless 0.
    Bool(bool),
    /// A value of an enum.
    Enum {
        /// Index of the group that names the value.
        group: u16,
        /// The value, zero-extended.
        bits: u64,
    },
    /// Bits of a bitfield.
    Bitfield {
        /// Index of the group that names the bits.
        group: u16,
        /// The bits, zero-extended.
        bits: u64,
    },
    /// An address.
    Pointer(u64),
    /// The record is too short, or stores the value in a way that only later versions know.
    Missing,
}

/// Memory that a command read or wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation<'a> {
    /// Nothing was observed: the pointer is null, or the extent is unknown.
    None,
    /// The bytes, in the record.
    Bytes(&'a [u8]),
    /// The bytes are a blob.
    Blob {
        /// Name of the blob.
        name: BlobName,
        /// Its size in bytes.
        size: u64,
    },
    /// The bytes are a blob of which the trace does not have the name.
    Unnamed {
        /// Number of the blob.
        number: BlobNumber,
        /// Its size in bytes.
        size: u64,
    },
    /// The memory could not be read, or there was no room for it.
    Unrecorded {
        /// Its size in bytes.
        size: u64,
    },
    /// The record is too short for what it announces, or stores it in a way that only later versions know.
    Missing {
        /// The announced size in bytes.
        size: u64,
    },
}

/// Memory that a command read or wrote and whose extent does not follow from one argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range<'a> {
    /// Index of the parameter that the range belongs to, if it belongs to one.
    pub param: Option<u8>,
    /// Address of the memory. 0 stands for ranges that found no room; the size is then their sum.
    pub address: u64,
    /// The memory. [`Observation::None`]: the command reads memory from `address` on, and how much is not known.
    pub observation: Observation<'a>,
}

impl Range<'_> {
    /// Whether the extent of the memory is not known, so that the trace does not have it.
    pub fn is_unknown(&self) -> bool {
        self.address != 0 && self.observation == Observation::None
    }
}

/// An argument of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg<'a> {
    /// Description of the parameter.
    pub param: &'a Param,
    /// The value that was passed.
    pub value: Value,
    /// The memory that the argument points at. [`Observation::None`] for an output of a command whose leave
    /// record was not read.
    pub observation: Observation<'a>,
}

impl Value {
    /// Reads the value of type `ty` at byte `at` of `payload`.
    pub fn read(ty: Type, payload: &[u8], at: usize) -> Self {
        let rest = payload.get(at..).unwrap_or_default();
        let raw = match ty.repr {
            None | Some(Repr::Void) => None,
            Some(Repr::U8) => bytes(rest).map(|b| Self::Unsigned(u64::from(u8::from_le_bytes(b)))),
            Some(Repr::I8) => bytes(rest).map(|b| Self::Signed(i64::from(i8::from_le_bytes(b)))),
            Some(Repr::U16) => {
                bytes(rest).map(|b| Self::Unsigned(u64::from(u16::from_le_bytes(b))))
            }
            Some(Repr::I16) => bytes(rest).map(|b| Self::Signed(i64::from(i16::from_le_bytes(b)))),
            Some(Repr::U32) => {
                bytes(rest).map(|b| Self::Unsigned(u64::from(u32::from_le_bytes(b))))
            }
            Some(Repr::I32) => bytes(rest).map(|b| Self::Signed(i64::from(i32::from_le_bytes(b)))),
            Some(Repr::U64) => bytes(rest).map(|b| Self::Unsigned(u64::from_le_bytes(b))),
            Some(Repr::I64) => bytes(rest).map(|b| Self::Signed(i64::from_le_bytes(b))),
            Some(Repr::F32) => bytes(rest).map(|b| Self::F32(f32::from_le_bytes(b))),
            Some(Repr::F64) => bytes(rest).map(|b| Self::F64(f64::from_le_bytes(b))),
            Some(Repr::Pointer) => bytes(rest).map(|b| Self::Unsigned(u64::from_le_bytes(b))),
        };
        raw.map_or(Self::Missing, |raw| raw.meaning(ty))
    }

    /// Returns the bits of the value, sign-extended if it is signed; 0 if it is missing.
    pub fn bits(self) -> u64 {
        match self {
            Self::Signed(value) => value as u64,
            Self::Unsigned(value) | Self::Pointer(value) => value,
            Self::F32(value) => u64::from(value.to_bits()),
            Self::F64(value) => value.to_bits(),
            Self::Bool(value) => u64::from(value),
            Self::Enum { bits, .. } | Self::Bitfield { bits, .. } => bits,
            Self::Missing => 0,
        }
    }

    /// Returns the bits of the value, zero-extended from `size` bytes.
    fn low_bits(self, size: u16) -> u64 {
        if size >= 8 { self.bits() } else { self.bits() & ((1 << (size * 8)) - 1) }
    }

    /// Returns a stored number as the variant for its type's kind.
    fn meaning(self, ty: Type) -> Self {
        let size = ty.repr.map_or(0, Repr::size);
        match ty.kind {
            Kind::Number | Kind::Handle => self,
            Kind::Bool => Self::Bool(self.low_bits(size) != 0),
            Kind::Enum(group) => Self::Enum { group, bits: self.low_bits(size) },
            Kind::Bitfield(group) => Self::Bitfield { group, bits: self.low_bits(size) },
            Kind::Pointer
            | Kind::String
            | Kind::Strings
            | Kind::Array
            | Kind::Attributes(_)
            | Kind::Struct(_)
            | Kind::Chain => Self::Pointer(self.low_bits(size)),
        }
    }
}

/// The arguments of a command, in order.
pub struct Args<'a> {
    params: std::slice::Iter<'a, Param>,
    enter: &'a [u8],
    inputs: Observations<'a>,
    outputs: Option<Observations<'a>>,
}

impl<'a> Args<'a> {
    pub(crate) fn new(
        function: &'a Function,
        enter: &'a [u8],
        leave: Option<&'a [u8]>,
        names: Names<'a>,
    ) -> Self {
        Self {
            params: function.params.iter(),
            enter,
            inputs: Observations::new(enter, function.fixed_len as usize, names),
            outputs: leave.map(|leave| Observations::new(leave, function.result_len(), names)),
        }
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        let param = self.params.next()?;
        let value = Value::read(param.ty, self.enter, param.offset as usize);
        let observation = match (param.observed, &mut self.outputs) {
            (Observed::In, _) => self.inputs.slot(),
            (Observed::Out, Some(outputs)) => outputs.slot(),
            (Observed::Out, None) | (Observed::No, _) => Observation::None,
        };
        Some(Arg { param, value, observation })
    }
}

/// Returns the string that a result points at: the last slot of the leave record.
pub(crate) fn result_text<'a>(
    function: &'a Function,
    leave: &'a [u8],
    names: Names<'a>,
) -> Observation<'a> {
    let mut outputs = Observations::new(leave, function.result_len(), names);
    for _ in 1..slots(function, true) {
        outputs.slot();
    }
    outputs.slot()
}

/// Returns the strings of an array that was observed as `length u32, bytes` each; `None` if they do not
/// fill the bytes.
pub fn split_strings(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut strings = Vec::new();
    while !bytes.is_empty() {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        strings.push(rest.get(..len)?);
        bytes = &rest[len..];
    }
    Some(strings)
}

/// Returns the number of slots in the enter record, or in the leave record, of a function.
pub(super) fn slots(function: &Function, is_leave: bool) -> usize {
    let direction = if is_leave { Observed::Out } else { Observed::In };
    let params = function.params.iter().filter(|param| param.observed == direction).count();
    params + usize::from(is_leave && function.result.kind == Kind::String)
}

/// The observations at the end of a payload, in order: slots, then ranges.
pub(super) struct Observations<'a> {
    payload: &'a [u8],
    at: usize,
    names: Names<'a>,
}

/// The names of the blobs that a process has given numbers to.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a> {
    pub source: &'a dyn BlobSource,
    /// Index of the process in the trace.
    pub process: u32,
}

/// The ranges at the end of a payload, in order.
pub struct Ranges<'a>(Observations<'a>);

impl<'a> Ranges<'a> {
    /// Returns the ranges behind `slots` slots.
    pub(super) fn of(
        payload: &'a [u8],
        fixed_len: usize,
        slots: impl Fn() -> usize,
        names: Names<'a>,
    ) -> Self {
        let mut all = Observations::new(payload, fixed_len, names);
        if all.at < payload.len() {
            for _ in 0..slots() {
                all.slot();
            }
        }
        all.ranges()
    }
}

impl<'a> Iterator for Ranges<'a> {
    type Item = Range<'a>;

    fn next(&mut self) -> Option<Range<'a>> {
        let Observations { payload, at, .. } = &mut self.0;
        let rest = payload.get(*at..).filter(|rest| !rest.is_empty())?;
        let Some(address) = bytes(rest).map(u64::from_le_bytes).filter(|_| rest.len() >= 16) else {
            *at = payload.len();
            let observation = Observation::Missing { size: 0 };
            return Some(Range { param: None, address: 0, observation });
        };
        *at += 8;
        let param = rest[14].checked_sub(1);
        Some(Range { param, address, observation: self.0.slot() })
    }
}

impl<'a> Observations<'a> {
    pub(super) fn new(payload: &'a [u8], fixed_len: usize, names: Names<'a>) -> Self {
        Self { payload, at: fixed_len.saturating_add(7) & !7, names }
    }

    /// The next slot. [`Observation::None`] when there are no more.
    pub(super) fn slot(&mut self) -> Observation<'a> {
        let rest = self.payload.get(self.at..).unwrap_or_default();
        let Some(word) = bytes(rest).map(u64::from_le_bytes) else { return Observation::None };
        let rest = &rest[8..];
        let size = word & ((1 << 48) - 1);
        let (taken, observation) = match (word >> 56) as u8 {
            OBSERVED_NONE if size == 0 => (0, Observation::None),
            OBSERVED_NONE => (0, Observation::Unrecorded { size }),
            OBSERVED_INLINE => inline(rest, size),
            OBSERVED_BLOB => named(rest, size),
            OBSERVED_NUMBER => numbered(rest, size, self.names),
            // The length of the data behind a word of a later version is unknown.
            _ => (rest.len(), Observation::Missing { size }),
        };
        self.at += 8 + taken;
        observation
    }

    /// Returns the ranges, which follow the slots.
    pub(super) fn ranges(self) -> Ranges<'a> {
        Ranges(self)
    }
}

/// Bytes in a record, and how many of `rest` they take.
fn inline(rest: &[u8], size: u64) -> (usize, Observation<'_>) {
    match usize::try_from(size).ok().and_then(|len| rest.get(..len)) {
        Some(observed) => (observed.len().next_multiple_of(8), Observation::Bytes(observed)),
        None => (rest.len(), Observation::Missing { size }),
    }
}

/// A blob's name, and how many of `rest` it takes.
fn named(rest: &[u8], size: u64) -> (usize, Observation<'_>) {
    match bytes(rest) {
        Some(name) => (BLOB_NAME_LEN, Observation::Blob { name: BlobName(name), size }),
        None => (rest.len(), Observation::Missing { size }),
    }
}

/// A blob that `rest` has the number of, and how many of `rest` the number takes.
fn numbered<'a>(rest: &'a [u8], size: u64, names: Names<'a>) -> (usize, Observation<'a>) {
    let Some(number) = bytes(rest).map(u64::from_le_bytes) else {
        return (rest.len(), Observation::Missing { size });
    };
    let number = BlobNumber { process: names.process, number };
    match names.source.name(number) {
        Some(name) => (size_of::<u64>(), Observation::Blob { name, size }),
        None => (size_of::<u64>(), Observation::Unnamed { number, size }),
    }
}

/// The first `N` of `rest`.
fn bytes<const N: usize>(rest: &[u8]) -> Option<[u8; N]> {
    rest.first_chunk::<N>().copied()
}
