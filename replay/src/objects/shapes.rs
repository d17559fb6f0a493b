//! Memory that arguments lead to, and its element types.

use gapii_trace::description::{Description, Kind as Meaning, Layout, Repr, Type};

use crate::memory::UNWRITTEN;

/// Size of an address, and of an argument, in bytes.
pub const WORD_BYTES: usize = 8;

/// Element type of a piece of memory.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    /// Values of one type.
    Values(Type),
    /// Structures.
    Structs(&'static Layout),
}

impl Shape {
    /// Whether both have the same element type.
    pub fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Values(one), Self::Values(other)) => one == other,
            (Self::Structs(one), Self::Structs(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }
}

/// Memory that an argument of the present command leads to.
#[derive(Debug)]
pub struct Piece {
    /// Its address in the program.
    pub address: u64,
    /// Its address here. The memory is mapped until the next command is played.
    pub at: usize,
    /// Length in bytes.
    pub len: usize,
    /// Whether the driver may write there, and past the end.
    pub has_room: bool,
    /// Element type.
    pub shape: Shape,
}

impl Piece {
    /// Its present content.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a piece of the arena or of the outputs; the driver has returned, and pieces are
        // forgotten before the next command reuses their memory.
        unsafe { std::slice::from_raw_parts(self.at as *const u8, self.len) }
    }
}

/// A value, or an array of values in a structure, in memory of the recording and of the replay.
pub struct Leaf<'a> {
    /// Path of field names.
    pub name: &'a str,
    /// Type of the value.
    pub ty: Type,
    /// Bytes in the recording.
    pub there: &'a [u8],
    /// Bytes in the replay.
    pub here: &'a [u8],
}

/// Visits the values of two pieces of memory of the same shape. An array outside of structures is
/// one leaf per element if its elements are handles or addresses, otherwise one leaf.
pub fn leaves(
    shape: Shape,
    name: &str,
    there: &[u8],
    here: &[u8],
    visit: &mut dyn FnMut(Leaf<'_>),
) {
    match shape {
        Shape::Values(ty) if ty.repr == Some(Repr::Pointer) => {
            for (there, here) in there.chunks_exact(WORD_BYTES).zip(here.chunks_exact(WORD_BYTES)) {
                visit(Leaf { name, ty, there, here });
            }
        }
        Shape::Values(ty) => visit(Leaf { name, ty, there, here }),
        Shape::Structs(layout) => {
            let size = (layout.size as usize).max(1);
            for (there, here) in there.chunks_exact(size).zip(here.chunks_exact(size)) {
                for field in &layout.fields {
                    let begin = field.offset as usize;
                    let end = begin + size_of(field.ty) * field.len.max(1) as usize;
                    let (Some(there), Some(here)) = (there.get(begin..end), here.get(begin..end))
                    else {
                        continue;
                    };
                    let name = match name {
                        "" => field.name.clone(),
                        outer => format!("{outer}.{}", field.name),
                    };
                    let shape = struct_of(field.ty).map_or(Shape::Values(field.ty), Shape::Structs);
                    leaves(shape, &name, there, here, visit);
                }
            }
        }
    }
}

/// Layout of the structure that a value of this type is, if it is one.
pub fn struct_of(ty: Type) -> Option<&'static Layout> {
    match (ty.repr, ty.kind) {
        (Some(Repr::Void), Meaning::Struct(index)) => Description::built_in().layout(index),
        _ => None,
    }
}

/// Size of a value in bytes.
pub fn size_of(ty: Type) -> usize {
    match struct_of(ty) {
        Some(layout) => layout.size as usize,
        None => usize::from(ty.repr.map_or(0, Repr::size)),
    }
}

/// Whether the driver did not write the value.
pub fn is_unwritten(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| *byte == UNWRITTEN)
}

/// The address or handle in a word of 8 bytes; 0 if it has fewer bytes.
pub fn number(word: &[u8]) -> u64 {
    word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}
