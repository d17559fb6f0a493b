//! Arguments and results as values of a `.trace`, by the trace's own description. Observed memory becomes an array of
//! its elements, a string, or bytes. Memory that the trace lacks becomes an empty array or string where players need
//! one, otherwise its address; a value that the record lacks is null. By their names only commands with arrays of unsigned
//! bytes (`gl*ubv`, `glPolygonStipple`) are known: players need arrays there, and a blob for all other bytes.

use std::cmp::Reverse;
use std::io::{self, Write};

use gapii_trace::Command;
use gapii_trace::description::{Description, Group, Kind, Repr, Type};
use gapii_trace::value::Value;

use super::values::{Names, Values};

/// Writes arguments with the names of one trace.
pub struct Arguments<'a, W> {
    /// Destination of the values.
    pub values: &'a mut Values<W>,
    /// Description of the trace.
    pub description: &'a Description,
    /// True if booleans are `EGL_FALSE` and `EGL_TRUE`.
    pub egl: bool,
    /// True if unsigned bytes are numbers, not memory of unknown meaning.
    pub has_byte_vectors: bool,
}

/// Element type of memory whose element type is unknown.
const BYTE: Type = Type { repr: Some(Repr::U8), kind: Kind::Number };

impl<W: Write> Arguments<'_, W> {
    /// Writes a value of type `ty`, or the memory that it points at.
    pub fn write(
        &mut self,
        ty: Type,
        element: Option<Type>,
        value: Value,
        observed: Option<&[u8]>,
    ) -> io::Result<()> {
        let is_null = matches!(value, Value::Pointer(0));
        match observed {
            Some(bytes) => self.memory(ty.kind, element, bytes),
            // For a parameter with elements, players need an array and stop without one.
            None if !is_null && element.is_some_and(|element| element != BYTE) => {
                self.values.array(0)
            }
            // Likewise for a parameter with strings.
            None if !is_null && ty.kind == Kind::String => self.values.string(b""),
            None if !is_null && ty.kind == Kind::Strings => self.values.array(0),
            None => self.scalar(ty, value),
        }
    }

    /// Writes observed memory.
    pub fn memory(&mut self, kind: Kind, element: Option<Type>, bytes: &[u8]) -> io::Result<()> {
        match kind {
            Kind::String => self.values.string(bytes),
            Kind::Strings => self.strings(bytes),
            Kind::Attributes(group) => self.attributes(group, element.unwrap_or(BYTE), bytes),
            _ => match element {
                Some(element) if element != BYTE || self.has_byte_vectors => {
                    self.elements(element, bytes)
                }
                _ => {
                    self.values.blob(bytes.len() as u64)?;
                    self.values.bytes(bytes)
                }
            },
        }
    }

    /// Writes a value without memory.
    pub fn scalar(&mut self, ty: Type, value: Value) -> io::Result<()> {
        match value {
            Value::Unsigned(value) if ty.repr == Some(Repr::Pointer) => self.values.address(value),
            Value::Unsigned(value) => self.values.unsigned(value),
            Value::Signed(value) => self.values.signed(value),
            Value::F32(value) => self.values.float(value),
            Value::F64(value) => self.values.double(value),
            Value::Bool(value) => self.boolean(value),
            Value::Enum { group, bits } => self.enumerant(group, ty, bits),
            Value::Bitfield { group, bits } => self.bitmask(group, bits),
            Value::Pointer(address) => self.values.address(address),
            Value::Missing => self.values.null(),
        }
    }

    fn boolean(&mut self, value: bool) -> io::Result<()> {
        let (names, of) = match self.egl {
            true => (Names::EglBoolean, ["EGL_FALSE", "EGL_TRUE"]),
            false => (Names::GlBoolean, ["GL_FALSE", "GL_TRUE"]),
        };
        self.values.enumerant(names, || [(0, of[0]), (1, of[1])].into_iter(), i64::from(value))
    }

    /// Writes a value of an enum, with the names of `group` or, if that has no name for the value, of its fallback.
    fn enumerant(&mut self, group: u16, ty: Type, bits: u64) -> io::Result<()> {
        let groups = self.description.groups();
        let of = |index: u16| groups.get(usize::from(index));
        let knows = |index: &u16| of(*index).is_some_and(|group| group.name_of(bits).is_some());
        let naming = [Some(group), of(group).and_then(|group| group.fallback)];
        let naming = naming.into_iter().flatten().find(knows);
        let value = if naming.is_some() { bits as i64 } else { sign_extended(ty, bits) };
        let index = naming.unwrap_or(group);
        let values = || names(of(index)).map(|(value, name)| (value as i64, name));
        self.values.enumerant(Names::Group(index), values, value)
    }

    fn bitmask(&mut self, group: u16, value: u64) -> io::Result<()> {
        let values = || {
            let mut flags: Vec<_> =
                names(self.description.groups().get(usize::from(group))).collect();
            // Players use the first names that match: the name of 0 comes first, then names of several bits.
            flags.sort_by_key(|(bits, _)| (*bits != 0, Reverse(bits.count_ones())));
            flags.into_iter()
        };
        self.values.bitmask(Names::Group(group), values, value)
    }

    fn elements(&mut self, element: Type, bytes: &[u8]) -> io::Result<()> {
        let size = usize::from(element.repr.map_or(1, Repr::size)).max(1);
        self.values.array(bytes.len() / size)?;
        for at in bytes.chunks_exact(size) {
            self.scalar(element, Value::read(element, at, 0))?;
        }
        Ok(())
    }

    /// Writes pairs of a name and a value, and the name that ends the list.
    fn attributes(&mut self, group: u16, element: Type, bytes: &[u8]) -> io::Result<()> {
        let size = usize::from(element.repr.map_or(1, Repr::size)).max(1);
        let name = Type { repr: element.repr, kind: Kind::Enum(group) };
        self.values.array(bytes.len() / size)?;
        for (index, at) in bytes.chunks_exact(size).enumerate() {
            let ty = if index % 2 == 0 { name } else { element };
            self.scalar(ty, Value::read(ty, at, 0))?;
        }
        Ok(())
    }

    /// Writes strings, each of which follows its length.
    fn strings(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.values.array(Texts(bytes).count())?;
        for text in Texts(bytes) {
            self.values.string(text)?;
        }
        Ok(())
    }
}

/// Iterator over the strings of an array. Ends at the first truncated string.
pub struct Texts<'a>(pub &'a [u8]);

impl<'a> Iterator for Texts<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<4>()?;
        let (text, rest) = rest.split_at_checked(u32::from_le_bytes(*len) as usize)?;
        self.0 = rest;
        Some(text)
    }
}

/// Returns values and names of a group.
fn names(group: Option<&Group>) -> impl ExactSizeIterator<Item = (u64, &str)> {
    let values = group.map_or(&[][..], |group| &group.values);
    values.iter().map(|(value, name)| (*value, name.as_str()))
}

/// Returns an enum's bits as a number, which may be negative if the type is signed.
fn sign_extended(ty: Type, bits: u64) -> i64 {
    match ty.repr {
        Some(Repr::I8) => i64::from(bits as i8),
        Some(Repr::I16) => i64::from(bits as i16),
        Some(Repr::I32) => i64::from(bits as i32),
        _ => bits as i64,
    }
}

/// Returns the argument with this name as a number; `None` if the command has none, or it is not a number.
pub fn argument(command: &Command<'_>, name: &str) -> Option<u64> {
    let mut args = command.args();
    args.find(|arg| arg.param.name == name).and_then(|arg| number(arg.value))
}

/// Returns a value as a number; `None` for floats and missing values.
pub fn number(value: Value) -> Option<u64> {
    match value {
        Value::Unsigned(value) | Value::Pointer(value) => Some(value),
        Value::Signed(value) => Some(value as u64),
        Value::Bool(value) => Some(u64::from(value)),
        Value::Enum { bits, .. } | Value::Bitfield { bits, .. } => Some(bits),
        Value::F32(_) | Value::F64(_) | Value::Missing => None,
    }
}
