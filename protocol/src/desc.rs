//! What the built-in tables say about every command: parameters, types, enum names.
//!
//! The tables themselves are generated ([`crate::generated`]). Decoders of traces do not read
//! them; they read the copy in the trace's header, so that old tools decode new commands.

/// A command of an API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FunctionDesc {
    /// Index in [`crate::generated::functions::FUNCTIONS`] and id in record headers.
    pub id: u16,
    /// Name as the API spells it, for example `glUniform4f`.
    pub name: &'static str,
    pub api: Api,
    pub params: &'static [ParamDesc],
    /// [`Repr::Void`] when the command returns nothing. A result of [`Kind::String`] is observed:
    /// its observation is the last one of the leave record.
    pub result: TypeRef,
    /// Length in bytes of the enter record's fixed part, the padding before observations not
    /// counted.
    pub fixed_len: u16,
    pub effect: Effect,
    /// Whether a leave record follows when the driver returns.
    pub leaves: bool,
}

/// The API a command belongs to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Api {
    Egl,
    Gles,
    LevelZero,
}

/// The record at which a command takes effect: the one with [`gapii_abi::atom::EFFECT`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Enter,
    Leave,
    /// Differs from call to call; the flag of the record tells.
    Recorded,
}

/// A parameter of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ParamDesc {
    pub name: &'static str,
    pub ty: TypeRef,
    /// Offset in bytes from the start of the enter payload.
    pub offset: u16,
    pub observed: Observed,
    /// Type of the elements of the memory pointed at; bytes of unknown meaning are `U8`.
    /// `None` where nothing is observed, and for [`Kind::String`] and [`Kind::Strings`].
    pub element: Option<TypeRef>,
}

/// Whether the memory a parameter points at is in the trace.
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

/// What a value means.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Number,
    Bool,
    /// One name of [`crate::generated::enums::GROUPS`] at this index.
    Enum(u16),
    /// Names of the group at this index, joined by `|`.
    Bitfield(u16),
    /// An object of the API, by name or handle.
    Handle,
    /// An address whose memory is not in the trace.
    Pointer,
    /// Text; observed without the terminating zero.
    String,
    /// An array of texts, observed as `length u32, bytes` for each, without padding.
    Strings,
    /// Observed elements of [`ParamDesc::element`].
    Array,
    /// Observed pairs of an attribute (a name of the group at this index) and its value, ended by
    /// an attribute `EGL_NONE`, which is included and has no value.
    Attributes(u16),
    /// C structs laid out like that of [`crate::generated::functions::LAYOUTS`] at this index: what is at the
    /// address, what its fields point at, and so on, are observations and ranges, each at the address
    /// that leads to it. An argument passed by value is stored as null, and observed.
    Struct(u16),
    /// The address of a struct whose first field says which it is, or null.
    Chain,
}

/// A C struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LayoutDesc {
    pub name: &'static str,
    /// In bytes.
    pub size: u32,
    /// The value of the first field, by which it is told in a chain.
    pub stype: Option<u32>,
    pub fields: &'static [FieldDesc],
}

/// A field of a C struct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldDesc {
    pub name: &'static str,
    /// In bytes.
    pub offset: u32,
    /// [`Repr::Void`] with [`Kind::Struct`] for a struct inside of this one.
    pub ty: TypeRef,
    /// The number of elements of an array inside of the struct; 0: it is one value. An array of bytes that is
    /// a [`Kind::String`] ends at its first zero.
    pub len: u32,
    /// Type of the elements that an address of [`Kind::Array`] leads to.
    pub element: Option<TypeRef>,
}

/// The names of an enum or bitfield.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EnumGroup {
    pub name: &'static str,
    /// Sorted by value, one name each. Compared with a value's bits, zero-extended.
    pub values: &'static [(u64, &'static str)],
    /// The group that knows the values this one leaves out: all names of the API. `None` for
    /// bitfields and for that group itself.
    pub fallback: Option<u16>,
}

impl EnumGroup {
    /// The name of `value`.
    pub fn name_of(&self, value: u64) -> Option<&'static str> {
        let at = self.values.binary_search_by_key(&value, |entry| entry.0).ok()?;
        self.values.get(at).map(|entry| entry.1)
    }
}
