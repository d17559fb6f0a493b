//! Arguments and results: bytes of a record made into values, by the trace's own description.
//!
//! Decodes on demand, allocates nothing and never fails: what is not there is
//! [`Value::Missing`].

use super::description::{Function, Kind, Observed, Param, Repr, Type};
use crate::atom::{OBSERVED_CHUNKED, OBSERVED_INLINE};

/// A scalar of a record.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Unsigned(u64),
    Signed(i64),
    F32(f32),
    F64(f64),
    Bool(bool),
    /// One name of the group.
    Enum {
        group: u16,
        bits: u64,
    },
    /// Names of the group's bits.
    Bitfield {
        group: u16,
        bits: u64,
    },
    Pointer(u64),
    /// The record is too short, or stores it in a way that only later versions know.
    Missing,
}

/// Memory that a command read or wrote.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observation<'a> {
    /// Nothing was observed: a null pointer, or an extent that is not known.
    None,
    Bytes(&'a [u8]),
    /// Observed, but not (wholly) in what was read of the trace.
    Missing {
        size: u64,
    },
}

/// An argument of a command.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Arg<'a> {
    pub param: &'a Param,
    pub value: Value,
    /// What the memory held that the argument points at. [`Observation::None`] for an output of a
    /// command whose leave record is not there.
    pub observation: Observation<'a>,
}

/// An observation that came in pieces.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Gathered {
    pub total: u64,
    pub bytes: Vec<u8>,
    /// A piece is missing, or there was no room for all.
    pub broken: bool,
}

impl Gathered {
    fn is_whole(&self) -> bool {
        !self.broken && self.bytes.len() as u64 == self.total
    }
}

impl Value {
    /// The value of type `ty` at byte `at` of `payload`.
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

    /// Its bits, zero-extended from its size.
    fn bits(self, size: u16) -> u64 {
        let bits = match self {
            Self::Signed(value) => value as u64,
            Self::Unsigned(value) | Self::Pointer(value) => value,
            Self::F32(value) => u64::from(value.to_bits()),
            Self::F64(value) => value.to_bits(),
            Self::Bool(value) => u64::from(value),
            Self::Enum { bits, .. } | Self::Bitfield { bits, .. } => bits,
            Self::Missing => 0,
        };
        if size >= 8 { bits } else { bits & ((1 << (size * 8)) - 1) }
    }

    /// A stored number as what its type says it means.
    fn meaning(self, ty: Type) -> Self {
        let size = ty.repr.map_or(0, Repr::size);
        match ty.kind {
            Kind::Number | Kind::Handle => self,
            Kind::Bool => Self::Bool(self.bits(size) != 0),
            Kind::Enum(group) => Self::Enum { group, bits: self.bits(size) },
            Kind::Bitfield(group) => Self::Bitfield { group, bits: self.bits(size) },
            Kind::Pointer | Kind::String | Kind::Strings | Kind::Array | Kind::Attributes(_) => {
                Self::Pointer(self.bits(size))
            }
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
        gathered_in: &'a [Gathered],
        leave: Option<(&'a [u8], &'a [Gathered])>,
    ) -> Self {
        Self {
            params: function.params.iter(),
            enter,
            inputs: Observations::new(enter, function.fixed_len as usize, gathered_in),
            outputs: leave.map(|(leave, gathered)| outputs(function, leave, gathered)),
        }
    }
}

impl<'a> Iterator for Args<'a> {
    type Item = Arg<'a>;

    fn next(&mut self) -> Option<Arg<'a>> {
        let param = self.params.next()?;
        let value = Value::read(param.ty, self.enter, param.offset as usize);
        let observation = match (param.observed, &mut self.outputs) {
            (Observed::In, _) => self.inputs.next(),
            (Observed::Out, Some(outputs)) => outputs.next(),
            (Observed::Out, None) | (Observed::No, _) => Observation::None,
        };
        Some(Arg { param, value, observation })
    }
}

/// The observation of a result that is text: the last one of the leave record.
pub(crate) fn result_text<'a>(
    function: &'a Function,
    leave: &'a [u8],
    gathered: &'a [Gathered],
) -> Observation<'a> {
    let mut outputs = outputs(function, leave, gathered);
    for _ in function.params.iter().filter(|param| param.observed == Observed::Out) {
        outputs.next();
    }
    outputs.next()
}

fn outputs<'a>(function: &Function, leave: &'a [u8], gathered: &'a [Gathered]) -> Observations<'a> {
    let result = function.result.repr.map_or(8, Repr::size);
    Observations::new(leave, usize::from(result), gathered)
}

/// The observations at the end of a payload, in order.
struct Observations<'a> {
    payload: &'a [u8],
    at: usize,
    gathered: std::slice::Iter<'a, Gathered>,
}

impl<'a> Observations<'a> {
    fn new(payload: &'a [u8], fixed_len: usize, gathered: &'a [Gathered]) -> Self {
        Self { payload, at: fixed_len.saturating_add(7) & !7, gathered: gathered.iter() }
    }

    /// [`Observation::None`] when there are no more.
    fn next(&mut self) -> Observation<'a> {
        let rest = self.payload.get(self.at..).unwrap_or_default();
        let Some(word) = bytes(rest).map(u64::from_le_bytes) else { return Observation::None };
        self.at += 8;
        let size = word & ((1 << 48) - 1);
        match (word >> 56) as u8 {
            OBSERVED_INLINE => self.inline(&rest[8..], size),
            OBSERVED_CHUNKED if size == 0 => Observation::Bytes(&[]),
            OBSERVED_CHUNKED => match self.gathered.next() {
                Some(whole) if whole.is_whole() && whole.total == size => {
                    Observation::Bytes(&whole.bytes)
                }
                _ => Observation::Missing { size },
            },
            _ if size == 0 => Observation::None,
            _ => Observation::Missing { size },
        }
    }

    fn inline(&mut self, rest: &'a [u8], size: u64) -> Observation<'a> {
        let observed = usize::try_from(size).ok().and_then(|len| rest.get(..len));
        match observed {
            Some(observed) => {
                self.at += observed.len().next_multiple_of(8);
                Observation::Bytes(observed)
            }
            None => {
                self.at = self.payload.len();
                Observation::Missing { size }
            }
        }
    }
}

/// The first `N` of `rest`.
fn bytes<const N: usize>(rest: &[u8]) -> Option<[u8; N]> {
    rest.first_chunk::<N>().copied()
}
