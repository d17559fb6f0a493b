//! Builds the memory that a command's arguments point at. Skipped are commands with an unknown handle, memory that the
//! trace lacks, more than 64 pointers behind each other (`DEPTH_MAX`: a circular chain), a count beyond the recorded
//! array, a refused structure, or less than 16 MiB (`ROOM_BYTES`) of room left for an output. A structure of unknown
//! kind is left out of its chain, with a note.
//!
//! A record has this memory in pieces, each with the address that leads to it: structures, their
//! chains, memory that their fields point at, arrays. A piece that is read gets the recorded bytes
//! with handles and addresses replaced; a piece that is written is room for the driver's output.

use gapii_trace::description::{Description, Field, Function, Kind as Meaning};
use gapii_trace::description::{Observed, Param, Repr, Type};
use gapii_trace::value::Observation;
use gapii_trace::{Bytes, Command};

use super::settle::scopes;
use super::words::{WORDS_MAX, Words};
use super::{extents, memory, refused};
use crate::call::{Call, size_of_observation};
use crate::facts::Role;
use crate::generated::facts::roles;
use crate::memory::UNWRITTEN;
use crate::names::{Kind, Scopes};
use crate::objects::shapes::{Piece, Shape, WORD_BYTES, number, size_of, struct_of};
use crate::skip::Skip;

/// Largest number of pointers that are followed one after the other: a chain may be circular.
const DEPTH_MAX: u32 = 64;
/// Bytes that must be left for an output: the driver may write more than the recorded one wrote.
const ROOM_BYTES: u64 = 16 << 20;
const BYTE: Type = Type { repr: Some(Repr::U8), kind: Meaning::Number };

/// Builds the arguments of one command.
pub struct Builder<'b, 'p, 'c> {
    call: &'b mut Call<'p, 'c>,
    function: &'static Function,
    scopes: Scopes,
    depth: u32,
}

/// Memory at an address, as the recording has it.
struct Recorded<'c> {
    read: Option<Bytes<'c>>,
    /// Number of bytes that were written.
    written: u64,
    /// Whether the memory is only written, not read.
    is_output: bool,
}

impl<'b, 'p, 'c> Builder<'b, 'p, 'c> {
    /// A builder for the arguments of `call`, whose function is `function`.
    pub fn new(call: &'b mut Call<'p, 'c>, function: &'static Function) -> Self {
        let scopes = scopes(call);
        Self { call, function, scopes, depth: 0 }
    }

    /// Builds all arguments.
    pub fn words(mut self) -> Result<Words, Skip> {
        let mut words = [0; WORDS_MAX];
        for (index, (word, param)) in words.iter_mut().zip(&self.function.params).enumerate() {
            *word = self.argument(index, param)?;
        }
        self.check_counts(&words)?;
        Ok(words)
    }

    /// Checks that each input array holds as many elements as the count before it says.
    fn check_counts(&self, words: &Words) -> Result<(), Skip> {
        let mut count = None;
        for (index, param) in self.function.params.iter().enumerate() {
            let is_array = param.observed == Observed::In && param.ty.kind == Meaning::Array;
            let Some(element) = param.element.filter(|_| is_array) else {
                let is_count = (param.ty.repr, param.ty.kind) == (Some(Repr::U32), Meaning::Number);
                count = is_count.then(|| words[index]);
                continue;
            };
            let need = count.unwrap_or(0).saturating_mul(size_of(element) as u64);
            let piece = self.call.parts.level_zero.piece(self.call.bits(index));
            if need > piece.map_or(0, |piece| piece.len as u64) {
                return Err(Skip::from("its count exceeds what the trace has"));
            }
        }
        Ok(())
    }

    fn argument(&mut self, index: usize, param: &'static Param) -> Result<u64, Skip> {
        let bits = self.call.bits(index);
        match (param.ty.repr, param.ty.kind) {
            (_, Meaning::Handle) => return self.handle(bits),
            (Some(Repr::Pointer), _) => {}
            _ => return Ok(bits),
        }
        let known = self.call.command.known();
        let has = |role: &Role| known.and_then(|known| role.param(known)) == Some(index);
        if let Some(extent) = extents::of(self.call, index, param)? {
            let parts = &mut *self.call.parts;
            let process = self.call.command.process;
            let allocations = parts.level_zero.processes.entry(process).or_default();
            let is_own = allocations.find(bits).is_none();
            let real = memory::address(allocations, &mut parts.memory, bits, extent)?;
            // A copy of rows does not change the bytes between them. In the program's own memory their
            // content is unknown, so only the rows are compared.
            if has(&roles::DEVICE_WRITES) && is_own {
                parts.level_zero.note_rows(process, bits, extent);
            }
            return Ok(real);
        }
        let slot = self.call.arg(index).map(|arg| arg.observation);
        if bits == 0 && slot.is_some_and(|slot| size_of_observation(slot) > 0) {
            return Err(Skip::from("it takes a structure by value"));
        }
        let recorded = self.recorded(bits, slot, param.observed)?;
        let is_kernel_argument = has(&roles::KERNEL_ARGUMENT);
        self.memory(bits, (param.ty.kind, param.element), is_kernel_argument, recorded)
    }

    /// The driver's handle of an object.
    fn handle(&self, recorded: u64) -> Result<u64, Skip> {
        let found = self.call.parts.names.find(self.scopes, Kind::LevelZero, recorded);
        found.ok_or_else(|| Skip::from("it names an object that was not made in this replay"))
    }

    fn recorded(
        &self,
        address: u64,
        slot: Option<Observation<'c>>,
        observed: Observed,
    ) -> Result<Recorded<'c>, Skip> {
        let command: &'c Command<'c> = self.call.command;
        let at = |range: &gapii_trace::value::Range<'c>| range.address == address;
        let slot = slot.filter(|slot| *slot != Observation::None);
        let in_slot = slot.filter(|_| observed == Observed::In);
        let read = in_slot.or_else(|| command.ranges_read().find(at).map(|it| it.observation));
        let bytes = read.and_then(|read| command.bytes_of(read));
        if read.is_some_and(|read| size_of_observation(read) > 0) && bytes.is_none() {
            return Err(Skip::from("the trace does not have all of the memory that it reads"));
        }
        let out_slot = slot.filter(|_| observed == Observed::Out);
        let written =
            out_slot.or_else(|| command.ranges_written().find(at).map(|it| it.observation));
        let is_output = bytes.is_none() && (written.is_some() || observed == Observed::Out);
        let written = written.map_or(0, size_of_observation);
        Ok(Recorded { read: bytes, written, is_output })
    }

    /// Builds memory like that at `address`, to which a parameter or field points: its kind, the type of
    /// its elements if it has one, and whether only a kernel knows its type.
    fn memory(
        &mut self,
        address: u64,
        (kind, element): (Meaning, Option<Type>),
        is_kernel_argument: bool,
        recorded: Recorded<'c>,
    ) -> Result<u64, Skip> {
        if address == 0 {
            return Ok(0);
        }
        let Recorded { read, written, is_output } = recorded;
        // The recording has the exact size of memory behind a field. Behind an argument, a driver
        // may write more.
        let has_room = self.depth == 0 && (written > 0 || is_output) || read.is_none();
        let known = read.as_ref().map_or(0, |read| read.len() as u64).max(written);
        let Some(shape) = shape_of(kind, element, read.as_deref()) else {
            self.call.parts.tally.note(format!(
                "{}: a structure of a kind that is not known is left out of a chain",
                self.function.name
            ));
            return Ok(0);
        };
        if let Some(piece) = self.call.parts.level_zero.piece(address)
            && known <= piece.len as u64
            && (piece.has_room || !has_room)
            && piece.shape.is(shape)
        {
            return Ok(piece.at as u64);
        }
        let least = match shape {
            Shape::Structs(layout) => u64::from(layout.size),
            Shape::Values(_) => 0,
        };
        let mut bytes = read.map_or_else(Vec::new, |read| read.to_vec());
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Skip::from("its structures lead to each other in a circle"));
        }
        self.patch(&mut bytes, shape, is_kernel_argument)?;
        self.depth -= 1;
        if has_room {
            self.limit(&mut bytes, shape);
        }
        let limits = &self.call.parts.limits;
        let most = if has_room { limits.output_bytes } else { limits.input_bytes };
        let need = (bytes.len() as u64).max(least).max(written);
        let Some(need) = usize::try_from(need).ok().filter(|need| *need <= most) else {
            return Err(Skip::from("it uses more memory than replay takes"));
        };
        // Room for which the trace has no content holds zeros: the driver may read it.
        let is_marked = is_output && matches!(shape, Shape::Values(_));
        bytes.resize(need, if is_marked { UNWRITTEN } else { 0 });
        let at = match has_room {
            true => self.room(&bytes)?,
            false => self.call.parts.memory.place(&bytes)? as usize,
        };
        let piece = Piece { address, at, len: need, has_room, shape };
        self.call.parts.level_zero.pieces.push(piece);
        Ok(at as u64)
    }

    /// Room for an output that begins with `bytes`.
    fn room(&mut self, bytes: &[u8]) -> Result<usize, Skip> {
        if self.call.parts.outputs.left() < ROOM_BYTES {
            return Err(Skip::from("it writes more memory than replay takes"));
        }
        let at = self.call.parts.outputs.piece(bytes.len() as u64, 0)?;
        // SAFETY: the piece has at least `bytes.len()` bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), at, bytes.len()) };
        Ok(at as usize)
    }

    /// Limits a count that tells the driver how many elements an output has room for to the room here.
    fn limit(&self, bytes: &mut [u8], shape: Shape) {
        let Shape::Values(Type { repr: Some(repr @ (Repr::U32 | Repr::U64)), .. }) = shape else {
            return;
        };
        if bytes.len() != usize::from(repr.size()) {
            return;
        }
        let written = self.call.command.ranges_written();
        let written = written.map(|range| size_of_observation(range.observation)).max();
        let outputs = self.function.params.iter().filter(|param| param.observed == Observed::No);
        let sizes = outputs.filter_map(|param| param.element).map(size_of);
        let most = ROOM_BYTES.max(written.unwrap_or(0)) / sizes.max().unwrap_or(1).max(1) as u64;
        let mut word = [0; WORD_BYTES];
        word[..bytes.len()].copy_from_slice(bytes);
        let count = u64::from_le_bytes(word).min(most);
        bytes.copy_from_slice(&count.to_le_bytes()[..bytes.len()]);
    }

    /// Replaces handles and addresses of the recording by those of this process.
    fn patch(
        &mut self,
        bytes: &mut [u8],
        shape: Shape,
        is_kernel_argument: bool,
    ) -> Result<(), Skip> {
        let unit = match shape {
            Shape::Values(ty) => size_of(ty),
            Shape::Structs(layout) => layout.size as usize,
        };
        if !bytes.len().is_multiple_of(unit.max(1)) {
            return Err(Skip::from("the trace has only a part of what it reads"));
        }
        match shape {
            Shape::Values(ty) if ty.repr == Some(Repr::Pointer) => {
                for word in bytes.chunks_exact_mut(WORD_BYTES) {
                    self.value(word, (ty, None), is_kernel_argument)?;
                }
            }
            Shape::Values(_) if is_kernel_argument => self.kernel_argument(bytes),
            Shape::Values(_) => {}
            Shape::Structs(layout) => {
                refused::structure(layout)?;
                for one in bytes.chunks_exact_mut((layout.size as usize).max(1)) {
                    for field in &layout.fields {
                        self.field(one, field)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn field(&mut self, of: &mut [u8], field: &'static Field) -> Result<(), Skip> {
        let size = size_of(field.ty);
        for at in 0..field.len.max(1) as usize {
            let start = field.offset as usize + at * size;
            let Some(bytes) = of.get_mut(start..start + size) else { return Ok(()) };
            match (field.ty.repr, struct_of(field.ty)) {
                (Some(Repr::Void), Some(layout)) => {
                    self.patch(bytes, Shape::Structs(layout), false)?;
                }
                (Some(Repr::Pointer), _) => {
                    let is_kernel_argument = roles::KERNEL_ARGUMENT.has_field(field);
                    self.value(bytes, (field.ty, field.element), is_kernel_argument)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Replaces a handle or an address in memory. `ty` is its type, with that of the elements that it
    /// points at.
    fn value(
        &mut self,
        word: &mut [u8],
        (ty, element): (Type, Option<Type>),
        is_kernel_argument: bool,
    ) -> Result<(), Skip> {
        let recorded = number(word);
        let real = match ty.kind {
            Meaning::Handle => self.handle(recorded)?,
            Meaning::Pointer => self.anywhere(recorded)?,
            kind => {
                let found = self.recorded(recorded, None, Observed::No)?;
                self.memory(recorded, (kind, element), is_kernel_argument, found)?
            }
        };
        word.copy_from_slice(&real.to_le_bytes());
        Ok(())
    }

    /// Address here for a pointer field of unknown type: of an allocation, of memory that the trace has, or
    /// of zeros.
    fn anywhere(&mut self, address: u64) -> Result<u64, Skip> {
        let process = self.call.command.process;
        let allocation = self.call.parts.level_zero.allocations(process).find(address);
        if let Some((real, _)) = allocation {
            return Ok(real);
        }
        let found = self.recorded(address, None, Observed::No)?;
        match found.read {
            Some(_) => self.memory(address, (Meaning::Array, None), false, found),
            None if address == 0 => Ok(0),
            None => Ok(self.call.parts.memory.void() as u64),
        }
    }

    /// Replaces addresses of allocations and handles in a kernel argument, whose type only the
    /// kernel knows.
    fn kernel_argument(&mut self, bytes: &mut [u8]) {
        let process = self.call.command.process;
        for word in bytes.chunks_exact_mut(WORD_BYTES) {
            let recorded = number(word);
            let address = self.call.parts.level_zero.allocations(process).find(recorded);
            let real = address.map(|(real, _)| real).or_else(|| self.handle(recorded).ok());
            if let Some(real) = real {
                word.copy_from_slice(&real.to_le_bytes());
            }
        }
    }
}

fn shape_of(kind: Meaning, element: Option<Type>, read: Option<&[u8]>) -> Option<Shape> {
    let built_in = Description::built_in();
    let known = element.and_then(|element| struct_of(element).map(Shape::Structs));
    match kind {
        Meaning::Struct(layout) => built_in.layout(layout).map(Shape::Structs),
        Meaning::Chain => {
            let stype = read?.first_chunk().map(|stype| u32::from_le_bytes(*stype))?;
            built_in.chained(stype).map(Shape::Structs)
        }
        _ => Some(known.unwrap_or(Shape::Values(element.unwrap_or(BYTE)))),
    }
}
