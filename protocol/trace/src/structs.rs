//! C structs that an argument points at, as JSON: field by field, with what the fields point at and their chains.
//! Follows at most `DEPTH_MAX`, 64 pointers in a row, because a chain may be a circle; the next pointer is shown as its
//! address, as is a piece that the record lacks or a struct of an unknown type.
//!
//! A record has this memory in pieces, each with the address that leads to it; the layouts of the trace's description
//! say what a piece means.

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::command::Command;
use super::description::{Field, Kind, Layout, Repr, Type};
use super::json_memory::{Memory, Scalar, text};
use super::value::{Arg, Observation, Value};

/// Most pointers that are followed in a row: a chain may be a circle.
const DEPTH_MAX: u32 = 64;

/// The structs that an argument points at. Serializes as an object with a value per field, or as an array
/// of such objects unless there is exactly one struct.
pub struct Structs<'a> {
    walk: Walk<'a>,
    layout: &'a Layout,
    bytes: Observation<'a>,
}

impl<'a> Structs<'a> {
    /// Returns the structs of an argument. `None` if the argument is not a pointer to structs, or if the
    /// record does not have their memory.
    pub fn of(command: &'a Command<'a>, arg: &Arg<'a>) -> Option<Self> {
        let Value::Pointer(address) = arg.value else { return None };
        let walk = Walk { command, depth: 0 };
        match arg.param.ty.kind {
            Kind::Struct(index) => {
                let layout = command.description().layout(index)?;
                let bytes = match arg.observation {
                    Observation::None => walk.found(address)?,
                    seen => seen,
                };
                Some(Self { walk, layout, bytes })
            }
            Kind::Chain => walk.next(address),
            _ => None,
        }
    }
}

impl Serialize for Structs<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { walk, layout, bytes } = *self;
        let size = layout.size as usize;
        let held = walk.command.bytes_of(bytes);
        let Some(held) = held.filter(|held| size > 0 && held.len().is_multiple_of(size)) else {
            let (kind, element) = (Kind::Array, None);
            return Memory { command: walk.command, kind, element, seen: bytes }.serialize(to);
        };
        let structs = held.chunks_exact(size).map(|bytes| Struct { walk, layout, bytes });
        match held.len() == size {
            true => Struct { walk, layout, bytes: &held }.serialize(to),
            false => to.collect_seq(structs),
        }
    }
}

/// Searches the memory in a command's records.
#[derive(Clone, Copy)]
struct Walk<'a> {
    command: &'a Command<'a>,
    depth: u32,
}

impl<'a> Walk<'a> {
    /// Returns the memory at an address: as the driver left it, otherwise as the command found it.
    fn found(self, address: u64) -> Option<Observation<'a>> {
        let mut all = self.command.ranges_written().chain(self.command.ranges_read());
        let range = all.find(|range| range.address == address && address != 0)?;
        Some(range.observation)
    }

    /// Returns the struct at an address, identified by its first field.
    fn next(self, address: u64) -> Option<Structs<'a>> {
        let bytes = self.found(address)?;
        let stype = match self.command.bytes_of(bytes)?.first_chunk() {
            Some(stype) => u32::from_le_bytes(*stype),
            None => return None,
        };
        let layout = self.command.description().chained(stype)?;
        Some(Structs { walk: self, layout, bytes })
    }

    fn deeper(self) -> Option<Self> {
        (self.depth < DEPTH_MAX).then_some(Self { depth: self.depth + 1, ..self })
    }
}

/// One struct.
struct Struct<'a, 'b> {
    walk: Walk<'a>,
    layout: &'a Layout,
    bytes: &'b [u8],
}

impl Serialize for Struct<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { walk, layout, bytes } = *self;
        let mut map = to.serialize_map(None)?;
        for field in &layout.fields {
            let bytes = bytes.get(field.offset as usize..).unwrap_or_default();
            map.serialize_entry(&field.name, &FieldValue { walk, field, bytes })?;
        }
        map.end()
    }
}

/// A field. `bytes` begin with it.
struct FieldValue<'a, 'b> {
    walk: Walk<'a>,
    field: &'a Field,
    bytes: &'b [u8],
}

impl Serialize for FieldValue<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { walk, field, bytes } = *self;
        let len = field.len as usize;
        let element = |bytes| Element { walk, field, bytes };
        if len == 0 {
            return element(bytes).serialize(to);
        }
        let size = walk.size_of(field.ty);
        let whole = bytes.get(..len * size).unwrap_or(bytes);
        if field.ty.kind == Kind::String {
            return to.collect_str(&text(whole));
        }
        to.collect_seq(whole.chunks_exact(size.max(1)).map(element))
    }
}

impl Walk<'_> {
    /// Returns the size of a value of this type, in bytes.
    fn size_of(self, ty: Type) -> usize {
        match (ty.repr, ty.kind) {
            (Some(Repr::Void), Kind::Struct(index)) => {
                self.command.description().layout(index).map_or(0, |layout| layout.size as usize)
            }
            (repr, _) => usize::from(repr.map_or(0, Repr::size)),
        }
    }
}

/// One value of a field.
struct Element<'a, 'b> {
    walk: Walk<'a>,
    field: &'a Field,
    bytes: &'b [u8],
}

impl Serialize for Element<'_, '_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { walk, field, bytes } = *self;
        let (command, ty) = (walk.command, field.ty);
        let description = command.description();
        if let (Some(Repr::Void), Kind::Struct(index)) = (ty.repr, ty.kind)
            && let Some(layout) = description.layout(index)
            && let Some(bytes) = bytes.get(..layout.size as usize)
        {
            return Struct { walk, layout, bytes }.serialize(to);
        }
        let value = Value::read(ty, bytes, 0);
        let (Value::Pointer(address), Some(walk)) = (value, walk.deeper()) else {
            return Scalar(description, value).serialize(to);
        };
        let found = walk.found(address);
        match (ty.kind, found) {
            (_, _) if address == 0 => to.serialize_none(),
            (Kind::Chain, _) => match walk.next(address) {
                Some(next) => next.serialize(to),
                None => Scalar(description, value).serialize(to),
            },
            (Kind::Struct(index), Some(bytes)) => match description.layout(index) {
                Some(layout) => Structs { walk, layout, bytes }.serialize(to),
                None => Scalar(description, value).serialize(to),
            },
            (kind @ (Kind::String | Kind::Strings | Kind::Array), Some(seen)) => {
                Memory { command, kind, element: field.element, seen }.serialize(to)
            }
            _ => Scalar(description, value).serialize(to),
        }
    }
}
