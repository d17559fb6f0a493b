//! A command as a JSON line.
//!
//! Enum values are shown by name, bitfields as names joined by `|`, what has no name in
//! hexadecimal; handles and names as numbers, booleans as booleans, pointers as `"0x…"`. Memory is
//! shown by size and hash, and by value where it is small; text as text. Shapes gain fields and
//! never lose them.

use std::fmt::Write as _;
use std::io;

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use xxhash_rust::xxh3::xxh3_128;

use super::command::Command;
use super::description::{Description, Kind, Repr, Type};
use super::value::{Arg, Observation, Value};

/// Longest array whose values are shown, in elements.
pub const VALUES_MAX: usize = 16;
/// Longest attribute list whose values are shown, in elements.
pub const ATTRIBUTES_MAX: usize = 256;

/// Writes a command as one line.
pub fn write_line(command: &Command<'_>, out: &mut impl io::Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, command)?;
    out.write_all(b"\n")
}

/// The hash that stands for observed memory: XXH3, 128 bits, as 32 hexadecimal digits.
pub fn hash(bytes: &[u8]) -> String {
    format!("{:032x}", xxh3_128(bytes))
}

impl Serialize for Command<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("seq", &self.seq)?;
        map.serialize_entry("process", &self.pid)?;
        map.serialize_entry("thread", &self.tid)?;
        map.serialize_entry("context", &self.context)?;
        map.serialize_entry("frame", &self.frame)?;
        map.serialize_entry("stamps", &[self.enter_stamp, self.leave_stamp])?;
        match self.function {
            Some(function) => map.serialize_entry("name", &function.name)?,
            None => map.serialize_entry("name", &format!("unknown_{}", self.id))?,
        }
        map.serialize_entry("args", &ArgsJson(self))?;
        map.serialize_entry("result", &ResultJson(self))?;
        if self.in_flight {
            map.serialize_entry("in_flight", &true)?;
        }
        if self.enter.is_none() {
            map.serialize_entry("enter_missing", &true)?;
        }
        map.end()
    }
}

/// The arguments of a command, as an object in the order of the parameters.
struct ArgsJson<'a>(&'a Command<'a>);

impl Serialize for ArgsJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for arg in self.0.args() {
            map.serialize_entry(&arg.param.name, &ArgJson(self.0.description, arg))?;
        }
        map.end()
    }
}

/// An argument: its value, or what the memory held that it points at.
struct ArgJson<'a>(&'a Description, Arg<'a>);

impl Serialize for ArgJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(description, arg) = self;
        let param = arg.param;
        match arg.observation {
            Observation::None => Scalar(description, arg.value).serialize(to),
            Observation::Missing { size } => missing(size, to),
            Observation::Bytes(bytes) => {
                Memory { description, kind: param.ty.kind, element: param.element, bytes }
                    .serialize(to)
            }
        }
    }
}

/// The result of a command, or null.
struct ResultJson<'a>(&'a Command<'a>);

impl Serialize for ResultJson<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let description = self.0.description;
        let kind = self.0.function.map_or(Kind::Number, |function| function.result.kind);
        match self.0.result() {
            None => to.serialize_none(),
            Some((value, Observation::None)) => Scalar(description, value).serialize(to),
            Some((_, Observation::Missing { size })) => missing(size, to),
            Some((_, Observation::Bytes(bytes))) => {
                Memory { description, kind, element: None, bytes }.serialize(to)
            }
        }
    }
}

/// A value of no memory.
struct Scalar<'a>(&'a Description, Value);

impl Serialize for Scalar<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self(description, value) = self;
        match *value {
            Value::Unsigned(value) => to.serialize_u64(value),
            Value::Signed(value) => to.serialize_i64(value),
            Value::F32(value) if value.is_finite() => to.serialize_f32(value),
            Value::F64(value) if value.is_finite() => to.serialize_f64(value),
            Value::F32(value) => to.collect_str(&value),
            Value::F64(value) => to.collect_str(&value),
            Value::Bool(value) => to.serialize_bool(value),
            Value::Enum { group, bits } => match description.enum_name(group, bits) {
                Some(name) => to.serialize_str(name),
                None => to.collect_str(&format_args!("{bits:#x}")),
            },
            Value::Bitfield { group, bits } => to.serialize_str(&joined(description, group, bits)),
            Value::Pointer(address) => to.collect_str(&format_args!("{address:#x}")),
            Value::Missing => to.serialize_none(),
        }
    }
}

/// Observed memory.
struct Memory<'a> {
    description: &'a Description,
    kind: Kind,
    element: Option<Type>,
    bytes: &'a [u8],
}

impl Serialize for Memory<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self.kind {
            Kind::String => to.collect_str(&text(self.bytes)),
            Kind::Strings => match split_strings(self.bytes) {
                Some(strings) => to.collect_seq(strings.into_iter().map(text)),
                None => self.summary(to),
            },
            _ => self.summary(to),
        }
    }
}

impl Memory<'_> {
    fn summary<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("size", &self.bytes.len())?;
        map.serialize_entry("hash", &hash(self.bytes))?;
        let element = self.element.unwrap_or(BYTE);
        let size = usize::from(element.repr.map_or(0, Repr::size));
        let count = self.bytes.len().checked_div(size).unwrap_or(usize::MAX);
        let most = if let Kind::Attributes(_) = self.kind { ATTRIBUTES_MAX } else { VALUES_MAX };
        if count <= most && count * size == self.bytes.len() {
            map.serialize_entry("values", &Values { memory: self, element, size })?;
        }
        map.end()
    }
}

/// Type of the elements of memory of which nothing is said.
const BYTE: Type = Type { repr: Some(Repr::U8), kind: Kind::Number };

/// The elements of observed memory.
struct Values<'a> {
    memory: &'a Memory<'a>,
    element: Type,
    size: usize,
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Memory { description, kind, bytes, .. } = *self.memory;
        let mut seq = to.serialize_seq(Some(bytes.len() / self.size))?;
        for (index, at) in (0..bytes.len()).step_by(self.size).enumerate() {
            let ty = match kind {
                Kind::Attributes(group) if index % 2 == 0 => {
                    Type { kind: Kind::Enum(group), ..self.element }
                }
                _ => self.element,
            };
            seq.serialize_element(&Scalar(description, Value::read(ty, bytes, at)))?;
        }
        seq.end()
    }
}

/// Memory that was observed and is not in what was read.
fn missing<S: Serializer>(size: u64, to: S) -> Result<S::Ok, S::Error> {
    let mut map = to.serialize_map(Some(3))?;
    map.serialize_entry("size", &size)?;
    map.serialize_entry("hash", &())?;
    map.serialize_entry("missing", &true)?;
    map.end()
}

/// The names of a bitfield's bits, and what is left in hexadecimal.
fn joined(description: &Description, group: u16, bits: u64) -> String {
    let (names, rest) = description.bit_names(group, bits);
    let mut joined = names.join("|");
    if rest != 0 || joined.is_empty() {
        let separator = if joined.is_empty() { "" } else { "|" };
        let _ = match rest {
            0 => write!(joined, "0"),
            rest => write!(joined, "{separator}{rest:#x}"),
        };
    }
    joined
}

/// Text up to its terminating zero, if it has one; what is not UTF-8 is replaced.
fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end])
}

/// The texts of an array observed as `length u32, bytes` each; `None` if they do not fill it.
fn split_strings(mut bytes: &[u8]) -> Option<Vec<&[u8]>> {
    let mut strings = Vec::new();
    while !bytes.is_empty() {
        let (len, rest) = bytes.split_first_chunk::<4>()?;
        let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
        strings.push(rest.get(..len)?);
        bytes = &rest[len..];
    }
    Some(strings)
}
