//! Vertex arrays in client memory: holds back the `gl*Pointer` commands with an address until a draw reads the array,
//! and then writes them with the bytes that the draw reads. `Role::of` lists the draws; `smallest_element` finds the
//! first element from the recorded ranges, without reading indices. The last element is the smallest that all arrays
//! hold. Assumes that the driver accepted every command.
//!
//! The format can't express an address of the program. The exporter therefore omits such a command, and writes a fake
//! one with the bytes before each draw. This module tracks only the state that it needs.

use std::collections::{BTreeMap, HashMap};

use gapii_commands::constants::{
    GL_BGRA_EXT, GL_BYTE, GL_HALF_FLOAT, GL_HALF_FLOAT_OES, GL_INT_2_10_10_10_REV,
    GL_INT_10_10_10_2_OES, GL_SHORT, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT_2_10_10_10_REV,
    GL_UNSIGNED_INT_10_10_10_2_OES, GL_UNSIGNED_SHORT,
};
use gapii_commands::{CommandId, constants};
use gapii_trace::Command;
use gapii_trace::value::Value;

use super::arguments::argument;
use super::ranges::Range;

/// The arrays of every context's vertex array objects.
#[derive(Default)]
pub struct ClientArrays {
    contexts: HashMap<u64, Context>,
}

#[derive(Default)]
struct Context {
    array_buffer: u64,
    vertex_array: u64,
    texture_unit: u64,
    /// By the name of the vertex array object.
    arrays: HashMap<u64, BTreeMap<Slot, Array>>,
}

/// An array of a context.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slot {
    /// A generic vertex attribute, by index.
    Attribute(u64),
    /// An array of OpenGL ES 1, by the enumerant that enables it and the texture unit.
    Fixed(u64, u64),
}

impl Slot {
    /// Returns the position in the order in which apitrace sets arrays.
    fn rank(self) -> (u64, u64) {
        match self {
            Self::Fixed(array, unit) => (u64::MAX - array, unit),
            Self::Attribute(index) => (u64::MAX, index),
        }
    }
}

/// State of an array from the last commands that set it.
#[derive(Default, Debug)]
struct Array {
    enabled: bool,
    /// `glVertexAttribDivisor`: 0 advances per vertex, n once per n instances.
    divisor: u64,
    client: Option<ClientArray>,
}

/// An array in client memory.
#[derive(Clone, Debug)]
pub struct ClientArray {
    /// Function id of the command that set the array. The exporter writes this command again.
    pub function: u16,
    /// Enter payload of that command.
    pub payload: Box<[u8]>,
    /// Address of the array.
    pub pointer: u64,
    /// Distance between two elements, in bytes.
    stride: u64,
    /// Size of one element in bytes.
    bytes: u64,
}

/// Effect of a command on vertex arrays.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    None,
    AttributePointer,
    /// Sets the array that this enumerant enables.
    FixedPointer(u64),
    EnableAttribute(bool),
    EnableFixed(bool),
    Divisor,
    BindBuffer,
    DeleteBuffers,
    BindVertexArray,
    DeleteVertexArrays,
    TextureUnit,
    Draw,
    /// Draws several times.
    MultiDraw,
}

const VERTEX_ARRAY: u64 = constants::GL_VERTEX_ARRAY as u64;
const NORMAL_ARRAY: u64 = constants::GL_NORMAL_ARRAY as u64;
const COLOR_ARRAY: u64 = constants::GL_COLOR_ARRAY as u64;
/// GL_TEXTURE_COORD_ARRAY.
pub const TEXTURE_COORD_ARRAY: u64 = constants::GL_TEXTURE_COORD_ARRAY as u64;
const MATRIX_INDEX_ARRAY: u64 = constants::GL_MATRIX_INDEX_ARRAY_OES as u64;
const WEIGHT_ARRAY: u64 = constants::GL_WEIGHT_ARRAY_OES as u64;
const POINT_SIZE_ARRAY: u64 = constants::GL_POINT_SIZE_ARRAY_OES as u64;
/// GL_ARRAY_BUFFER.
pub const ARRAY_BUFFER: u64 = constants::GL_ARRAY_BUFFER as u64;
/// GL_TEXTURE0.
pub const TEXTURE0: u64 = constants::GL_TEXTURE0 as u64;

impl Role {
    /// Returns the role of a command.
    pub fn of(command: CommandId) -> Self {
        match command {
            CommandId::GL_VERTEX_ATTRIB_POINTER | CommandId::GL_VERTEX_ATTRIB_I_POINTER => {
                Self::AttributePointer
            }
            CommandId::GL_VERTEX_POINTER => Self::FixedPointer(VERTEX_ARRAY),
            CommandId::GL_NORMAL_POINTER => Self::FixedPointer(NORMAL_ARRAY),
            CommandId::GL_COLOR_POINTER => Self::FixedPointer(COLOR_ARRAY),
            CommandId::GL_TEX_COORD_POINTER => Self::FixedPointer(TEXTURE_COORD_ARRAY),
            CommandId::GL_MATRIX_INDEX_POINTER_OES => Self::FixedPointer(MATRIX_INDEX_ARRAY),
            CommandId::GL_WEIGHT_POINTER_OES => Self::FixedPointer(WEIGHT_ARRAY),
            CommandId::GL_POINT_SIZE_POINTER_OES => Self::FixedPointer(POINT_SIZE_ARRAY),
            CommandId::GL_ENABLE_VERTEX_ATTRIB_ARRAY => Self::EnableAttribute(true),
            CommandId::GL_DISABLE_VERTEX_ATTRIB_ARRAY => Self::EnableAttribute(false),
            CommandId::GL_ENABLE_CLIENT_STATE => Self::EnableFixed(true),
            CommandId::GL_DISABLE_CLIENT_STATE => Self::EnableFixed(false),
            CommandId::GL_VERTEX_ATTRIB_DIVISOR
            | CommandId::GL_VERTEX_ATTRIB_DIVISOR_ANGLE
            | CommandId::GL_VERTEX_ATTRIB_DIVISOR_EXT
            | CommandId::GL_VERTEX_ATTRIB_DIVISOR_NV => Self::Divisor,
            CommandId::GL_BIND_BUFFER => Self::BindBuffer,
            CommandId::GL_DELETE_BUFFERS => Self::DeleteBuffers,
            CommandId::GL_BIND_VERTEX_ARRAY | CommandId::GL_BIND_VERTEX_ARRAY_OES => {
                Self::BindVertexArray
            }
            CommandId::GL_DELETE_VERTEX_ARRAYS | CommandId::GL_DELETE_VERTEX_ARRAYS_OES => {
                Self::DeleteVertexArrays
            }
            CommandId::GL_CLIENT_ACTIVE_TEXTURE => Self::TextureUnit,
            CommandId::GL_DRAW_ARRAYS
            | CommandId::GL_DRAW_ARRAYS_INDIRECT
            | CommandId::GL_DRAW_ARRAYS_INSTANCED
            | CommandId::GL_DRAW_ARRAYS_INSTANCED_ANGLE
            | CommandId::GL_DRAW_ARRAYS_INSTANCED_BASE_INSTANCE_EXT
            | CommandId::GL_DRAW_ARRAYS_INSTANCED_EXT
            | CommandId::GL_DRAW_ARRAYS_INSTANCED_NV
            | CommandId::GL_DRAW_ELEMENTS
            | CommandId::GL_DRAW_ELEMENTS_BASE_VERTEX
            | CommandId::GL_DRAW_ELEMENTS_BASE_VERTEX_EXT
            | CommandId::GL_DRAW_ELEMENTS_BASE_VERTEX_OES
            | CommandId::GL_DRAW_ELEMENTS_INDIRECT
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_ANGLE
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_BASE_INSTANCE_EXT
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX_BASE_INSTANCE_EXT
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX_EXT
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_BASE_VERTEX_OES
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_EXT
            | CommandId::GL_DRAW_ELEMENTS_INSTANCED_NV
            | CommandId::GL_DRAW_RANGE_ELEMENTS
            | CommandId::GL_DRAW_RANGE_ELEMENTS_BASE_VERTEX
            | CommandId::GL_DRAW_RANGE_ELEMENTS_BASE_VERTEX_EXT
            | CommandId::GL_DRAW_RANGE_ELEMENTS_BASE_VERTEX_OES => Self::Draw,
            CommandId::GL_MULTI_DRAW_ARRAYS_EXT
            | CommandId::GL_MULTI_DRAW_ARRAYS_INDIRECT_EXT
            | CommandId::GL_MULTI_DRAW_ELEMENTS_BASE_VERTEX_EXT
            | CommandId::GL_MULTI_DRAW_ELEMENTS_EXT
            | CommandId::GL_MULTI_DRAW_ELEMENTS_INDIRECT_EXT
            | CommandId::GL_MULTI_DRAW_MESH_TASKS_INDIRECT_COUNT_NV
            | CommandId::GL_MULTI_DRAW_MESH_TASKS_INDIRECT_NV => Self::MultiDraw,
            _ => Self::None,
        }
    }
}

/// The arrays that a draw reads from client memory, and the bindings to restore after they are set.
pub struct Needed<'s> {
    pub arrays: Vec<(Slot, &'s ClientArray, Place)>,
    pub array_buffer: u64,
    pub texture_unit: u64,
}

/// Location of the elements that a draw uses, in a list of ranges.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Index of the first range.
    pub first: usize,
    /// Index behind the last range.
    pub end: usize,
    /// The address behind the last element that the draw uses.
    pub address_end: u64,
}

impl ClientArrays {
    /// Applies a command to the state. Returns true if the command sets an array in client memory, so that the exporter
    /// must omit it.
    pub fn follow(&mut self, role: Role, command: &Command<'_>) -> bool {
        let context = self.contexts.entry(command.context).or_default();
        let arg = |name: &str| argument(command, name).unwrap_or(0);
        match role {
            Role::AttributePointer => {
                return context.set_pointer(Slot::Attribute(arg("index")), command);
            }
            Role::FixedPointer(array) => {
                let slot = context.fixed_slot(array);
                return context.set_pointer(slot, command);
            }
            Role::EnableAttribute(enabled) => {
                context.array(Slot::Attribute(arg("index"))).enabled = enabled;
            }
            Role::EnableFixed(enabled) => {
                let slot = context.fixed_slot(arg("array"));
                context.array(slot).enabled = enabled;
            }
            Role::Divisor => {
                context.array(Slot::Attribute(arg("index"))).divisor = arg("divisor");
            }
            Role::BindBuffer if arg("target") == ARRAY_BUFFER => {
                context.array_buffer = arg("buffer");
            }
            Role::DeleteBuffers if names_in(command).any(|name| name == context.array_buffer) => {
                context.array_buffer = 0;
            }
            Role::BindVertexArray => context.vertex_array = arg("array"),
            Role::DeleteVertexArrays => {
                for name in names_in(command) {
                    context.arrays.remove(&name);
                    if name == context.vertex_array {
                        context.vertex_array = 0;
                    }
                }
            }
            Role::TextureUnit => context.texture_unit = arg("texture").saturating_sub(TEXTURE0),
            _ => {}
        }
        false
    }

    /// Returns the arrays that the draw `command` reads, with their parts of `ranges`, which are sorted by address.
    pub fn needed(
        &self,
        role: Role,
        command: &Command<'_>,
        ranges: &[Range<'_>],
    ) -> Option<Needed<'_>> {
        let context = self.contexts.get(&command.context)?;
        let arrays = context.arrays.get(&context.vertex_array)?;
        let in_use = arrays.iter().filter(|(_, array)| array.enabled);
        let in_use: Vec<_> = in_use
            .filter_map(|(slot, array)| Some((*slot, array.client.as_ref()?, array.divisor)))
            .collect();
        let first = first_element(command).or_else(|| smallest_element(&in_use, ranges));
        let base_instance = argument(command, "baseinstance").unwrap_or(0) as i64;
        let placed = in_use.iter().filter_map(|(slot, array, divisor)| {
            let first = if *divisor > 0 { base_instance } else { first.unwrap_or(0) };
            let place = place_of(array, first, &in_use, ranges, role == Role::MultiDraw)?;
            Some((*slot, *array, *divisor, place))
        });
        let mut placed: Vec<_> = placed.collect();
        // The smallest last element over all arrays is the last vertex.
        let per_vertex = placed.iter().filter(|(_, _, divisor, _)| *divisor == 0);
        let last =
            per_vertex.map(|(_, array, _, place)| array.last_before(place.address_end)).min();
        let instances = ["instancecount", "primcount", "instanceCount"];
        let instances = instances.iter().find_map(|name| argument(command, name)).unwrap_or(1);
        for (_, array, divisor, place) in &mut placed {
            let last = match *divisor {
                0 => last.unwrap_or(0),
                divisor => base_instance as u64 + instances.saturating_sub(1) / divisor,
            };
            place.address_end = place.address_end.min(array.end_of(last));
        }
        let arrays = placed.into_iter().map(|(slot, array, _, place)| (slot, array, place));
        let mut arrays: Vec<_> = arrays.collect();
        arrays.sort_by_key(|(slot, ..)| slot.rank());
        (!arrays.is_empty()).then_some(Needed {
            arrays,
            array_buffer: context.array_buffer,
            texture_unit: context.texture_unit,
        })
    }
}

impl Context {
    fn set_pointer(&mut self, slot: Slot, command: &Command<'_>) -> bool {
        let pointer = argument(command, "pointer").unwrap_or(0);
        let in_client_memory = self.array_buffer == 0 && pointer != 0;
        let payload = command.enter_payload().filter(|_| in_client_memory);
        self.array(slot).client = payload.map(|payload| ClientArray {
            function: command.id,
            payload: payload.into(),
            pointer,
            stride: stride(command),
            bytes: element_bytes(command),
        });
        in_client_memory
    }

    fn array(&mut self, slot: Slot) -> &mut Array {
        self.arrays.entry(self.vertex_array).or_default().entry(slot).or_default()
    }

    fn fixed_slot(&self, array: u64) -> Slot {
        let unit = if array == TEXTURE_COORD_ARRAY { self.texture_unit } else { 0 };
        Slot::Fixed(array, unit)
    }
}

impl ClientArray {
    /// Returns the address of the element with this number; `None` if it is below 0 or overflows.
    fn element(&self, number: i64) -> Option<u64> {
        let offset = i64::try_from(self.stride).ok()?.checked_mul(number)?;
        self.pointer.checked_add_signed(offset)
    }

    /// Returns the number of the last element that is whole before `end`.
    fn last_before(&self, end: u64) -> u64 {
        let space = end.saturating_sub(self.pointer).saturating_sub(self.bytes);
        space / self.stride.max(1)
    }

    /// Returns the address behind the element with this number.
    fn end_of(&self, number: u64) -> u64 {
        let begin = self.pointer.saturating_add(self.stride.saturating_mul(number));
        begin.saturating_add(self.bytes)
    }
}

/// An enabled array and its divisor.
type InUse<'s> = (Slot, &'s ClientArray, u64);

/// Returns the first element of a draw, if its arguments state it.
fn first_element(command: &Command<'_>) -> Option<i64> {
    let mut args = command.args();
    args.find(|arg| arg.param.name == "first").and_then(|arg| match arg.value {
        Value::Signed(first) => Some(first),
        _ => None,
    })
}

/// Returns the smallest element number that is in a range for all arrays. This function does not read indices: the
/// observed memory begins at the element of the smallest index.
fn smallest_element(arrays: &[InUse<'_>], ranges: &[Range<'_>]) -> Option<i64> {
    let per_vertex = arrays.iter().filter(|(_, _, divisor)| *divisor == 0);
    let candidates = per_vertex.clone().flat_map(|(_, array, _)| {
        ranges.iter().map(|range| {
            let offset = range.address.wrapping_sub(array.pointer) as i64;
            // Interleaved arrays are one range, which may begin before this array's first element.
            offset.div_euclid(array.stride.max(1) as i64)
        })
    });
    let lies_in_ranges = |number: &i64| {
        per_vertex.clone().all(|(_, array, _)| {
            let element = array.element(*number);
            element.is_some_and(|at| ranges.iter().any(|range| range.contains(at)))
        })
    };
    let mut candidates: Vec<i64> = candidates.flat_map(|number| [number, number + 1]).collect();
    // Negative element numbers come last: a base vertex that leads below the array's beginning is rare, and the memory
    // there usually belongs to something else.
    candidates.sort_unstable_by_key(|number| (*number < 0, number.unsigned_abs()));
    candidates.into_iter().find(lies_in_ranges)
}

/// Returns the ranges that hold an array's elements from `first` on.
fn place_of(
    array: &ClientArray,
    first: i64,
    all: &[InUse<'_>],
    ranges: &[Range<'_>],
    several: bool,
) -> Option<Place> {
    let begins = array.element(first)?;
    let first = ranges.iter().position(|range| range.contains(begins))?;
    let behind = ranges[first].end();
    // Multi-draws read several pieces of an array. The pieces end where another array begins.
    let more = match several {
        true => {
            let next =
                all.iter().map(|(_, other, _)| other.pointer).filter(|at| *at >= behind).min();
            let next = next.unwrap_or(u64::MAX);
            ranges[first + 1..].iter().take_while(|range| range.address < next).count()
        }
        false => 0,
    };
    let end = first + 1 + more;
    Some(Place { first, end, address_end: ranges[end - 1].end() })
}

/// Returns the distance between two elements of an array in bytes, from the arguments of its command.
fn stride(command: &Command<'_>) -> u64 {
    match argument(command, "stride") {
        Some(stride) if stride != 0 => stride,
        _ => element_bytes(command),
    }
}

/// Returns the size of an element of an array in bytes, from the arguments of its command.
fn element_bytes(command: &Command<'_>) -> u64 {
    // Normals have three components and point sizes one; their commands have no `size`.
    let implied = if command.known() == Some(CommandId::GL_NORMAL_POINTER) { 3 } else { 1 };
    let components = match argument(command, "size").unwrap_or(implied) {
        size if size == u64::from(GL_BGRA_EXT) => 4,
        components => components,
    };
    match argument(command, "type").and_then(|ty| u32::try_from(ty).ok()).unwrap_or(0) {
        GL_BYTE | GL_UNSIGNED_BYTE => components,
        GL_SHORT | GL_UNSIGNED_SHORT | GL_HALF_FLOAT | GL_HALF_FLOAT_OES => 2 * components,
        GL_INT_2_10_10_10_REV
        | GL_UNSIGNED_INT_2_10_10_10_REV
        | GL_UNSIGNED_INT_10_10_10_2_OES
        | GL_INT_10_10_10_2_OES => 4,
        _ => 4 * components,
    }
}

/// Returns the names in the array of a `glDelete*` command.
fn names_in<'a>(command: &Command<'a>) -> impl Iterator<Item = u64> + use<'a> {
    let command = *command;
    let arrays = command.args().filter_map(move |arg| command.bytes_of(arg.observation));
    arrays.flat_map(|bytes| {
        let (names, _) = bytes.as_chunks::<4>();
        names.iter().map(|name| u64::from(u32::from_le_bytes(*name))).collect::<Vec<_>>()
    })
}
