//! Memory that arguments lead to, and what it consists of.

use gapii_trace::description::{Description, Kind as Meaning, Layout, Repr, Type};

use crate::memory::UNWRITTEN;

/// Bytes of an address, and of an argument.
pub const WORD_BYTES: usize = 8;

/// What a piece of memory consists of.
#[derive(Clone, Copy, Debug)]
pub enum Shape {
    Values(Type),
    Structs(&'static Layout),
}

impl Shape {
    /// Whether both have the same elements.
    pub fn is(self, other: Self) -> bool {
        match (self, other) {
            (Self::Values(one), Self::Values(other)) => one == other,
            (Self::Structs(one), Self::Structs(other)) => std::ptr::eq(one, other),
            _ => false,
        }
    }
}

/// Memory that an argument of the command at hand leads to.
#[derive(Debug)]
pub struct Piece {
    /// Where the program had it.
    pub address: u64,
    /// Where it is here: mapped memory of `len` bytes until the next command is played.
    pub at: usize,
    pub len: usize,
    /// The driver may write there, and behind it.
    pub has_room: bool,
    pub shape: Shape,
}

impl Piece {
    /// What is in it by now.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: a piece of the arena or of the outputs; the driver has returned, and pieces are
        // forgotten before the next command gets their place.
        unsafe { std::slice::from_raw_parts(self.at as *const u8, self.len) }
    }
}

/// A value, or the values of an array in a structure, in memory of the recording and in that of the replay.
pub struct Leaf<'a> {
    /// Its field, behind those that it is in.
    pub name: &'a str,
    pub ty: Type,
    pub there: &'a [u8],
    pub here: &'a [u8],
}

/// Visits the values of two pieces of memory that have one shape. Values of no structure are one leaf each
/// if they are handles or addresses, and one leaf else.
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

/// The structure that values of a type are, in place.
pub fn struct_of(ty: Type) -> Option<&'static Layout> {
    match (ty.repr, ty.kind) {
        (Some(Repr::Void), Meaning::Struct(index)) => Description::built_in().layout(index),
        _ => None,
    }
}

/// In bytes.
pub fn size_of(ty: Type) -> usize {
    match struct_of(ty) {
        Some(layout) => layout.size as usize,
        None => usize::from(ty.repr.map_or(0, Repr::size)),
    }
}

/// Whether the driver has left a value as it was before.
pub fn is_unwritten(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(|byte| *byte == UNWRITTEN)
}

/// The address or handle that a word of 8 bytes holds; 0 of fewer bytes.
pub fn number(word: &[u8]) -> u64 {
    word.first_chunk().map_or(0, |word| u64::from_le_bytes(*word))
}
