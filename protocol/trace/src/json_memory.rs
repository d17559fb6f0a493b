//! Scalars and observed memory as JSON values. Shows arrays of up to 16 elements (`VALUES_MAX`) and attribute lists of
//! up to 256 values by their elements, strings whole, and any other memory by its size and hash. An enum value without
//! a name is hexadecimal; a number that is not finite is text. Follows no pointer.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

use super::blob_name::BlobName;
use super::command::{Bytes, Command};
use super::description::{Description, Kind, Repr, Type};
use super::value::{Observation, Value, split_strings};

/// Longest array whose elements are shown.
pub const VALUES_MAX: usize = 16;
/// Longest attribute list whose elements are shown.
pub const ATTRIBUTES_MAX: usize = 256;

/// A value without memory.
pub(super) struct Scalar<'a>(pub &'a Description, pub Value);

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
            Value::Bitfield { group, bits } => {
                to.serialize_str(&description.bits_text(group, bits))
            }
            Value::Pointer(address) => to.collect_str(&format_args!("{address:#x}")),
            Value::Missing => to.serialize_none(),
        }
    }
}

/// Observed memory.
pub(super) struct Memory<'a> {
    pub command: &'a Command<'a>,
    pub kind: Kind,
    pub element: Option<Type>,
    pub seen: Observation<'a>,
}

impl Serialize for Memory<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let bytes = self.bytes();
        let bytes = bytes.as_deref();
        match (self.kind, bytes) {
            (Kind::String, Some(bytes)) => return to.collect_str(&text(bytes)),
            (Kind::Strings, Some(bytes)) => {
                if let Some(strings) = split_strings(bytes) {
                    return to.collect_seq(strings.into_iter().map(text));
                }
            }
            _ => {}
        }
        let mut map = to.serialize_map(None)?;
        self.serialize_into(&mut map, bytes)?;
        map.end()
    }
}

impl Memory<'_> {
    /// Returns the bytes if they may be shown and the trace has them.
    pub(super) fn bytes(&self) -> Option<Bytes<'_>> {
        if self.is_shown() { self.command.bytes_of(self.seen) } else { None }
    }

    /// Writes size and hash, and the elements of `bytes` if there are few.
    pub(super) fn serialize_into<M: SerializeMap>(
        &self,
        map: &mut M,
        bytes: Option<&[u8]>,
    ) -> Result<(), M::Error> {
        describe(self.seen, map)?;
        if matches!(self.seen, Observation::Blob { .. }) && self.is_shown() && bytes.is_none() {
            map.serialize_entry("missing", &true)?;
        }
        let element = self.element.unwrap_or(BYTE);
        let size = usize::from(element.repr.map_or(0, Repr::size));
        if let Some(bytes) = bytes.filter(|bytes| self.shows_values(bytes.len(), size)) {
            let Self { command, kind, .. } = *self;
            let description = command.description;
            map.serialize_entry("values", &Values { description, kind, element, size, bytes })?;
        }
        Ok(())
    }

    /// Returns true if the bytes themselves may be shown, not only their size and hash.
    fn is_shown(&self) -> bool {
        matches!(self.seen, Observation::Bytes(_))
            || matches!(self.kind, Kind::String | Kind::Strings | Kind::Attributes(_))
    }

    /// Returns true if `len` bytes are few enough to show as elements of `size` bytes.
    fn shows_values(&self, len: usize, size: usize) -> bool {
        let count = len.checked_div(size).unwrap_or(usize::MAX);
        let most = if let Kind::Attributes(_) = self.kind { ATTRIBUTES_MAX } else { VALUES_MAX };
        count <= most && count * size == len
    }
}

/// Writes size and hash of an observation.
fn describe<M: SerializeMap>(seen: Observation<'_>, map: &mut M) -> Result<(), M::Error> {
    let (size, name) = match seen {
        Observation::None => (0, None),
        Observation::Bytes(bytes) => (bytes.len() as u64, Some(BlobName::of(bytes))),
        Observation::Blob { name, size } => (size, Some(name)),
        Observation::Unrecorded { size }
        | Observation::Unnamed { size, .. }
        | Observation::Missing { size } => (size, None),
    };
    map.serialize_entry("size", &size)?;
    map.serialize_entry("hash", &name)?;
    match seen {
        Observation::Blob { .. } => map.serialize_entry("blob", &true),
        Observation::Unrecorded { .. } => map.serialize_entry("unrecorded", &true),
        Observation::Unnamed { .. } => {
            map.serialize_entry("blob", &true)?;
            map.serialize_entry("missing", &true)
        }
        Observation::Missing { .. } => map.serialize_entry("missing", &true),
        Observation::None | Observation::Bytes(_) => Ok(()),
    }
}

/// Element type of memory whose element type is unknown.
const BYTE: Type = Type { repr: Some(Repr::U8), kind: Kind::Number };

/// The elements of observed memory.
struct Values<'a> {
    description: &'a Description,
    kind: Kind,
    element: Type,
    size: usize,
    bytes: &'a [u8],
}

impl Serialize for Values<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { description, kind, bytes, .. } = *self;
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

/// Returns the string up to its NUL, if it has one. Invalid UTF-8 is replaced.
pub(super) fn text(bytes: &[u8]) -> std::borrow::Cow<'_, str> {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end])
}
