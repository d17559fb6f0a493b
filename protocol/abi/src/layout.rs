//! Layouts of atoms: the macros that make a struct, its offsets and its documentation from one table. The compiler
//! refuses a table whose fields overlap, are not aligned, or lie outside the fixed part. Reading past the end of a
//! payload gives an error or 0, never a panic.
//!
//! A struct made here has no `repr`: its bytes are written and read at the offsets of the table, in
//! little-endian order. Nothing here allocates or panics.

/// A value of fixed length in a record, little-endian.
pub trait Wire: Copy {
    /// Length in bytes.
    const LEN: usize;
    /// The type's name in docs/trace-format.md.
    const TEXT: &'static str;

    /// Writes the value at byte `at` of `out`. Writes nothing if `out` is too short, which the check of the
    /// table at compile time excludes.
    fn put(self, out: &mut [u8], at: usize);

    /// Reads the value at byte `at` of `bytes`; bytes past the end count as zero.
    fn take(bytes: &[u8], at: usize) -> Self;
}

macro_rules! wire_integers {
    ($($int:ident)*) => { $(
        impl Wire for $int {
            const LEN: usize = size_of::<$int>();
            const TEXT: &'static str = stringify!($int);

            #[inline(always)]
            fn put(self, out: &mut [u8], at: usize) {
                self.to_le_bytes().put(out, at);
            }

            #[inline(always)]
            fn take(bytes: &[u8], at: usize) -> Self {
                Self::from_le_bytes(Wire::take(bytes, at))
            }
        }
    )* };
}
wire_integers!(u16 u32 u64);

impl<const N: usize> Wire for [u8; N] {
    const LEN: usize = N;
    const TEXT: &'static str = match N {
        16 => "[16]",
        _ => "bytes",
    };

    #[inline(always)]
    fn put(self, out: &mut [u8], at: usize) {
        if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *place = self;
        }
    }

    #[inline(always)]
    fn take(bytes: &[u8], at: usize) -> Self {
        bytes.get(at..).and_then(<[u8]>::first_chunk).copied().unwrap_or([0; N])
    }
}

/// The payload is shorter than the fixed part of its atom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Short {
    /// Bytes that the payload needs.
    pub needed: usize,
}

/// One field of a layout.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Name of the struct's field.
    pub name: &'static str,
    /// Offset from the start of the payload or element, in bytes.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
    /// The type's name in docs/trace-format.md.
    pub text: &'static str,
    /// The field's meaning, in one line.
    pub meaning: &'static str,
}

/// One layout of the table: an atom, or an element that an atom's payload repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Id of the record; `None` for an element.
    pub id: Option<u16>,
    /// The atom's name in docs/trace-format.md.
    pub name: &'static str,
    /// Which process writes the record.
    pub writer: Writer,
    /// Length of the fixed part, in bytes.
    pub len: usize,
    /// The fixed part's fields, by offset. Bytes between them are written as zero and not read.
    pub fields: &'static [Field],
    /// The contents behind the fixed part; empty if the record ends there.
    pub tail: &'static str,
    /// The record's meaning, in one line.
    pub meaning: &'static str,
}

/// Which process writes an atom, and where.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Writer {
    /// The shim, into a ring; the record is in the trace too.
    Shim,
    /// The shim, into a ring; the record is never in a trace.
    Ring,
    /// The daemon, into the trace.
    Daemon,
}

/// The layout of a record that is not a command.
pub trait Atom: Copy {
    /// Id of the record.
    const ID: u16;
    /// The fixed part as bytes.
    type Bytes: AsRef<[u8]>;

    /// The fixed part as it stands in a record.
    fn encode(&self) -> Self::Bytes;
}

/// Returns true if the fields are in order, inside of the fixed part, and each aligned to its size (at most
/// 8), and none lies across `min_len`. Evaluated at compile time.
pub(crate) const fn is_sound(fields: &[Field], len: usize, min_len: usize) -> bool {
    let (mut end, mut n) = (0, 0);
    while n < fields.len() {
        let Field { at, len, .. } = fields[n];
        let align = if len < 8 { len } else { 8 };
        if at < end || !at.is_multiple_of(align) || (at < min_len && at + len > min_len) {
            return false;
        }
        end = at + len;
        n += 1;
    }
    end <= len && min_len <= len && len.is_multiple_of(8)
}

/// Makes a struct with `encode` and `decode` from fields at offsets.
macro_rules! layout {
    (
        $(#[doc = $doc:literal])+
        pub struct $name:ident, $len:literal bytes, read from $min:expr;
        $( $(#[doc = $field_doc:literal])+ $at:literal $field:ident: $ty:ty, )*
    ) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub struct $name {
            $( $(#[doc = $field_doc])+ pub $field: $ty, )*
        }

        impl $name {
            /// Length of the fixed part, in bytes.
            pub const LEN: usize = $len;
            /// The fields with their offsets.
            pub const FIELDS: &'static [$crate::layout::Field] = &[ $( $crate::layout::Field {
                name: stringify!($field),
                at: $at,
                len: <$ty as $crate::layout::Wire>::LEN,
                text: <$ty as $crate::layout::Wire>::TEXT,
                meaning: concat!($($field_doc),+),
            }, )* ];

            /// The fixed part as it stands in a record.
            #[inline(always)]
            pub fn encode(&self) -> [u8; $len] {
                let mut bytes = [0; $len];
                $( $crate::layout::Wire::put(self.$field, &mut bytes, $at); )*
                bytes
            }

            /// The fixed part of a payload, and the bytes behind it. Bytes that a later version appends are
            /// among the latter.
            ///
            /// # Errors
            /// [`Short`]($crate::layout::Short) if the payload ends inside of a field.
            #[inline(always)]
            pub fn decode(payload: &[u8]) -> Result<(Self, &[u8]), $crate::layout::Short> {
                if payload.len() < $min {
                    return Err($crate::layout::Short { needed: $min });
                }
                // Fields behind an older writer's payload are 0.
                let fixed = Self { $( $field: $crate::layout::Wire::take(payload, $at), )* };
                Ok((fixed, payload.get($len..).unwrap_or_default()))
            }
        }

        const _: () = assert!($crate::layout::is_sound($name::FIELDS, $len, $min));
    };
}

/// Makes ids, structs and the static table from the table of atoms.
macro_rules! atoms {
    ($(
        $(#[doc = $doc:literal])+
        pub struct $name:ident = $id_name:ident $id:literal, $writer:ident, $len:literal bytes
        $(, read from $min:literal)? $(, then $tail:literal)? {
            $( $(#[doc = $field_doc:literal])+ $at:literal $field:ident: $ty:ty, )*
        }
    )*) => {
        $(
            $(#[doc = $doc])+
            pub const $id_name: u16 = $id;

            $crate::layout::layout! {
                $(#[doc = $doc])+
                pub struct $name, $len bytes, read from $crate::layout::atoms!(@min $len $($min)?);
                $( $(#[doc = $field_doc])+ $at $field: $ty, )*
            }

            impl $crate::layout::Atom for $name {
                const ID: u16 = $id;
                type Bytes = [u8; $len];

                #[inline(always)]
                fn encode(&self) -> [u8; $len] {
                    $name::encode(self)
                }
            }
        )*

        /// All atoms, by id.
        pub static ATOMS: &[$crate::layout::Layout] = &[ $( $crate::layout::Layout {
            id: Some($id),
            name: stringify!($id_name),
            writer: $crate::layout::Writer::$writer,
            len: $len,
            fields: $name::FIELDS,
            tail: concat!($($tail)?),
            meaning: concat!($($doc),+),
        }, )* ];
    };
    (@min $len:literal) => { $len };
    (@min $len:literal $min:literal) => { $min };
}

pub(crate) use {atoms, layout};
