//! Descriptions of commands, C structs and enums: parameters, types, and names of values. A value that a group lacks
//! gets its name from the group's fallback: all names of the API.
//!
//! [`descriptions`](crate::descriptions) returns those of this build. Readers of traces use the copy in the trace's header
//! instead, so that old tools decode new commands.

use crate::{Api, CommandId};

/// Descriptions of all commands, enum groups and structs.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Descriptions {
    /// By id.
    pub functions: Vec<FunctionDesc>,
    /// By the index that [`Kind`] refers to.
    pub groups: Vec<EnumGroup>,
    /// By the index that [`Kind`] refers to.
    pub layouts: Vec<LayoutDesc>,
}

/// A command of an API.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FunctionDesc {
    /// Index in [`Descriptions::functions`] and id in record headers.
    pub id: u16,
    /// Name as the API spells it, for example `glUniform4f`.
    pub name: &'static str,
    pub api: Api,
    pub params: Vec<ParamDesc>,
    /// [`Repr::Void`] if the command returns nothing. A result of [`Kind::String`] is observed:
    /// its observation is the last one of the leave record.
    pub result: TypeRef,
    /// Length in bytes of the enter record's fixed part, without the padding before observations.
    pub fixed_len: u16,
    pub effect: Effect,
    /// Whether a leave record follows when the driver returns.
    pub leaves: bool,
}

/// The record at which a command takes effect: the one with the flag `EFFECT` in its header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Enter,
    Leave,
    /// Differs from call to call; the flag of each record decides.
    Recorded,
}

/// A parameter of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamDesc {
    pub name: &'static str,
    pub ty: TypeRef,
    /// Offset in bytes from the start of the enter payload: the end of the parameter before, rounded up
    /// to a multiple of the size of `ty`.
    pub offset: u16,
    pub observed: Observed,
    /// Type of the elements of the memory that the parameter points at; bytes of unknown meaning are
    /// `U8`. `None` if nothing is observed, and for [`Kind::String`] and [`Kind::Strings`].
    pub element: Option<TypeRef>,
}

/// Whether the trace contains the memory that a parameter points at.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Observed {
    No,
    /// Copied before the driver runs; in the enter record.
    In,
    /// Copied when the driver has returned; in the leave record.
    Out,
}

/// How a value is stored and what it means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeRef {
    pub repr: Repr,
    pub kind: Kind,
}

impl TypeRef {
    /// The result of a command that returns nothing.
    pub const VOID: Self = Self { repr: Repr::Void, kind: Kind::Number };
}

/// Storage of a value in a record: little-endian, aligned to its size.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Repr {
    Void,
    U8,
    I8,
    U16,
    I16,
    U32,
    I32,
    U64,
    I64,
    F32,
    F64,
    /// An address or an opaque handle, 8 bytes.
    Pointer,
}

impl Repr {
    /// Every representation with its name in descriptions and in traces.
    const NAMES: [(Self, &'static str); 12] = [
        (Self::Void, "void"),
        (Self::U8, "u8"),
        (Self::I8, "i8"),
        (Self::U16, "u16"),
        (Self::I16, "i16"),
        (Self::U32, "u32"),
        (Self::I32, "i32"),
        (Self::U64, "u64"),
        (Self::I64, "i64"),
        (Self::F32, "f32"),
        (Self::F64, "f64"),
        (Self::Pointer, "pointer"),
    ];

    /// The name in descriptions and in the headers of traces, for example `u32`.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize].1
    }

    /// The representation of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|known| known.1 == name).map(|known| known.0)
    }

    /// Size and alignment in bytes; 0 for [`Repr::Void`].
    pub const fn size(self) -> u16 {
        match self {
            Repr::Void => 0,
            Repr::U8 | Repr::I8 => 1,
            Repr::U16 | Repr::I16 => 2,
            Repr::U32 | Repr::I32 | Repr::F32 => 4,
            Repr::U64 | Repr::I64 | Repr::F64 | Repr::Pointer => 8,
        }
    }
}

/// Meaning of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Number,
    Bool,
    /// One name of the group at this index.
    Enum(u16),
    /// Names of the group at this index, joined by `|`.
    Bitfield(u16),
    /// An object of the API, by name or handle.
    Handle,
    /// An address whose memory is not in the trace.
    Pointer,
    /// A NUL-terminated string, observed without the NUL.
    String,
    /// An array of strings, observed as `length u32, bytes` for each, without padding.
    Strings,
    /// Observed elements of [`ParamDesc::element`].
    Array,
    /// Observed pairs of an attribute (a name of the group at this index) and its value, ended by
    /// an attribute `EGL_NONE`, which is included and has no value.
    Attributes(u16),
    /// C structs of the layout at this index. The struct's memory, the memory that its fields point at,
    /// and so on, are observations and ranges; each begins at the address that leads to it. An argument
    /// that is passed by value is stored as null, and observed.
    Struct(u16),
    /// The address of a struct whose first field identifies its layout, or null.
    Chain,
}

impl Kind {
    /// The name in descriptions and in the headers of traces, for example `enum`, and the index of the
    /// group or layout that the kind refers to.
    pub const fn name_and_index(self) -> (&'static str, Option<u16>) {
        match self {
            Self::Number => ("number", None),
            Self::Bool => ("bool", None),
            Self::Enum(group) => ("enum", Some(group)),
            Self::Bitfield(group) => ("bitfield", Some(group)),
            Self::Handle => ("handle", None),
            Self::Pointer => ("pointer", None),
            Self::String => ("string", None),
            Self::Strings => ("strings", None),
            Self::Array => ("array", None),
            Self::Attributes(group) => ("attributes", Some(group)),
            Self::Struct(layout) => ("struct", Some(layout)),
            Self::Chain => ("chain", None),
        }
    }

    /// The kind of this name; `None` if there is no kind of this name, or if its index is missing.
    pub fn named(name: &str, index: Option<u16>) -> Option<Self> {
        Some(match (name, index) {
            ("number", _) => Self::Number,
            ("bool", _) => Self::Bool,
            ("enum", Some(group)) => Self::Enum(group),
            ("bitfield", Some(group)) => Self::Bitfield(group),
            ("handle", _) => Self::Handle,
            ("pointer", _) => Self::Pointer,
            ("string", _) => Self::String,
            ("strings", _) => Self::Strings,
            ("array", _) => Self::Array,
            ("attributes", Some(group)) => Self::Attributes(group),
            ("struct", Some(layout)) => Self::Struct(layout),
            ("chain", _) => Self::Chain,
            _ => return None,
        })
    }
}

/// A C struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LayoutDesc {
    pub name: &'static str,
    /// In bytes.
    pub size: u32,
    /// The value of the first field that identifies the struct in a chain.
    pub stype: Option<u32>,
    pub fields: Vec<FieldDesc>,
}

/// A field of a C struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldDesc {
    pub name: &'static str,
    /// In bytes.
    pub offset: u32,
    /// [`Repr::Void`] with [`Kind::Struct`] for a struct inside this one.
    pub ty: TypeRef,
    /// Number of elements of an array inside the struct; 0 for a single value. An array of bytes of
    /// [`Kind::String`] ends at its first NUL.
    pub len: u32,
    /// Type of the elements that an address of [`Kind::Array`] leads to.
    pub element: Option<TypeRef>,
}

/// The names of an enum or bitfield.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EnumGroup {
    pub name: &'static str,
    /// Sorted by value, one name each. Compared with a value's bits, zero-extended.
    pub values: Vec<(u64, &'static str)>,
    /// The group with the values that this one lacks: all names of the API. `None` for bitfields, for
    /// Level Zero's enums, and for a group of all names itself.
    pub fallback: Option<u16>,
}

impl EnumGroup {
    /// The name of `value`.
    pub fn name_of(&self, value: u64) -> Option<&'static str> {
        let at = self.values.binary_search_by_key(&value, |entry| entry.0).ok()?;
        self.values.get(at).map(|entry| entry.1)
    }
}

impl Descriptions {
    /// The description of `command`. `self` must be the descriptions of this build.
    pub fn function(&self, command: CommandId) -> &FunctionDesc {
        &self.functions[command.index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_representations_are_in_the_order_of_the_enum() {
        for (at, (repr, name)) in Repr::NAMES.into_iter().enumerate() {
            assert_eq!((repr as usize, repr.name()), (at, name));
            assert_eq!(Repr::named(name), Some(repr));
        }
    }

    #[test]
    fn kind_is_named_with_its_index() {
        let check = |kind: Kind| {
            let (name, index) = kind.name_and_index();
            assert_eq!(Kind::named(name, index), Some(kind));
            assert_eq!(Kind::named(name, None).is_none(), index.is_some());
        };
        for index in [0, 7] {
            let indexed = [Kind::Enum, Kind::Bitfield, Kind::Attributes, Kind::Struct];
            indexed.into_iter().for_each(|kind| check(kind(index)));
        }
        let plain = [Kind::Number, Kind::Bool, Kind::Handle, Kind::Pointer, Kind::String];
        plain.into_iter().chain([Kind::Strings, Kind::Array, Kind::Chain]).for_each(check);
    }
}
