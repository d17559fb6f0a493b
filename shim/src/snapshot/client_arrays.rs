//! Client arrays of the fixed functions, in OpenGL ES 1 and in the compatibility profile of OpenGL: vertices, normals, colors,
//! texture coordinates of at most 8 units, and others. Generic attributes are described in `vertex_arrays.rs`.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_COLOR_ARRAY, GL_COLOR_ARRAY_STRIDE, GL_EDGE_FLAG_ARRAY,
    GL_EDGE_FLAG_ARRAY_STRIDE, GL_FOG_COORD_ARRAY, GL_FOG_COORD_ARRAY_STRIDE, GL_INDEX_ARRAY,
    GL_INDEX_ARRAY_STRIDE, GL_MAX_TEXTURE_UNITS, GL_NORMAL_ARRAY, GL_NORMAL_ARRAY_STRIDE,
    GL_POINT_SIZE_ARRAY_OES, GL_POINT_SIZE_ARRAY_STRIDE_OES, GL_SECONDARY_COLOR_ARRAY,
    GL_SECONDARY_COLOR_ARRAY_STRIDE, GL_TEXTURE_COORD_ARRAY, GL_TEXTURE_COORD_ARRAY_STRIDE,
    GL_TEXTURE0, GL_VERTEX_ARRAY, GL_VERTEX_ARRAY_STRIDE,
};
use gapii_state::{VertexArrays, VertexAttrib, VertexBinding};

use super::emit::{Command, Emitter};
use super::gl;
use crate::generated::ids::*;

/// A client array: its slot in the state, the command that sets it, its name, and what the command takes besides the stride.
pub type ClientArray = (usize, u16, u32, Takes);

/// Parameters of a command that sets a client array, besides the stride and the address.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    SizeAndType,
    Type,
    Nothing,
}

const CLIENT_ARRAYS: [ClientArray; 4] = [
    (32, GL_VERTEX_POINTER, GL_VERTEX_ARRAY, Takes::SizeAndType),
    (33, GL_NORMAL_POINTER, GL_NORMAL_ARRAY, Takes::Type),
    (34, GL_COLOR_POINTER, GL_COLOR_ARRAY, Takes::SizeAndType),
    (35, GL_POINT_SIZE_POINTER_OES, GL_POINT_SIZE_ARRAY_OES, Takes::Type),
];
/// Slot of the first unit's texture coordinates, and the number of units that have a slot.
const FIRST_COORDINATES: usize = 38;
const UNITS: u32 = 8;
/// Arrays that the compatibility profile adds.
const DESKTOP_ARRAYS: [ClientArray; 4] = [
    (46, GL_FOG_COORD_POINTER, GL_FOG_COORD_ARRAY, Takes::Type),
    (47, GL_SECONDARY_COLOR_POINTER, GL_SECONDARY_COLOR_ARRAY, Takes::SizeAndType),
    (48, GL_INDEX_POINTER, GL_INDEX_ARRAY, Takes::Type),
    (49, GL_EDGE_FLAG_POINTER, GL_EDGE_FLAG_ARRAY, Takes::Nothing),
];

/// Returns the client arrays of the compatibility profile, texture coordinates with their unit.
pub fn all() -> impl Iterator<Item = (ClientArray, Option<u32>)> {
    let all = CLIENT_ARRAYS.into_iter().chain(DESKTOP_ARRAYS).map(|array| (array, None));
    all.chain((0..UNITS).map(|unit| {
        let slot = FIRST_COORDINATES + unit as usize;
        ((slot, GL_TEX_COORD_POINTER, GL_TEXTURE_COORD_ARRAY, Takes::SizeAndType), Some(unit))
    }))
}

/// Number of texture units of the fixed functions, at most 32.
pub fn units() -> u32 {
    gl::integer(GL_MAX_TEXTURE_UNITS).clamp(1, 32) as u32
}

/// Describes the client arrays. Leaves another array buffer bound.
pub fn describe(emitter: &mut Emitter, arrays: &VertexArrays, is_desktop: bool) {
    let others = DESKTOP_ARRAYS.into_iter().filter(|_| is_desktop);
    for array in CLIENT_ARRAYS.into_iter().chain(others) {
        describe_array(emitter, arrays, array);
    }
    let client_active = gl::integer(constants::GL_CLIENT_ACTIVE_TEXTURE);
    for unit in 0..units().min(UNITS) {
        let slot = FIRST_COORDINATES + unit as usize;
        if is_set(arrays, slot) {
            gl::client_active_texture(GL_TEXTURE0 + unit);
            emitter.command(GL_CLIENT_ACTIVE_TEXTURE).arg(GL_TEXTURE0 + unit).done();
            let (id, name) = (GL_TEX_COORD_POINTER, GL_TEXTURE_COORD_ARRAY);
            describe_array(emitter, arrays, (slot, id, name, Takes::SizeAndType));
        }
    }
    gl::client_active_texture(client_active.cast_unsigned());
    emitter.command(GL_CLIENT_ACTIVE_TEXTURE).arg(client_active).done();
}

/// Describes those of the compatibility profile, whichever were enabled before. Leaves another array buffer bound.
pub fn describe_again(emitter: &mut Emitter, arrays: &VertexArrays) {
    let is_here = |array: &ClientArray| array.2 != GL_POINT_SIZE_ARRAY_OES;
    for (_, _, array, _) in CLIENT_ARRAYS.into_iter().chain(DESKTOP_ARRAYS).filter(is_here) {
        emitter.command(GL_DISABLE_CLIENT_STATE).arg(array).done();
    }
    for unit in 0..units().min(UNITS) {
        emitter.command(GL_CLIENT_ACTIVE_TEXTURE).arg(GL_TEXTURE0 + unit).done();
        emitter.command(GL_DISABLE_CLIENT_STATE).arg(GL_TEXTURE_COORD_ARRAY).done();
    }
    describe(emitter, arrays, true);
}

/// Whether a client array is not as it was at first.
pub fn has_any(arrays: &VertexArrays) -> bool {
    (CLIENT_ARRAYS[0].0..=DESKTOP_ARRAYS[3].0).any(|slot| is_set(arrays, slot))
}

fn is_set(arrays: &VertexArrays, slot: usize) -> bool {
    let (Some(attrib), Some(binding)) = (arrays.attribs.get(slot), arrays.binding_of(slot)) else {
        return false;
    };
    *attrib != VertexAttrib::default() || *binding != VertexBinding::default()
}

fn describe_array(
    emitter: &mut Emitter,
    arrays: &VertexArrays,
    (slot, id, array, takes): ClientArray,
) {
    let (Some(attrib), Some(binding)) = (arrays.attribs.get(slot), arrays.binding_of(slot)) else {
        return;
    };
    if !is_set(arrays, slot) {
        return;
    }
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(binding.buffer.name() as u32).done();
    let command: Command<'_> = emitter.command(id);
    let command = match takes {
        Takes::SizeAndType => command.arg(attrib.size).arg(attrib.kind),
        Takes::Type => command.arg(attrib.kind),
        Takes::Nothing => command,
    };
    let stride = passed_stride(attrib, binding, || gl::integer(stride_of(array)));
    command.arg(stride).arg(binding.offset).done();
    if attrib.enabled {
        emitter.command(GL_ENABLE_CLIENT_STATE).arg(array).done();
    }
}

/// Returns the stride that the program has passed in a pointer command. The state has the distance of two elements, for which 0
/// may have been passed if they follow each other. `ask` asks the driver, which knows that, but cuts a large stride to 16 bits.
pub fn passed_stride(
    attrib: &VertexAttrib,
    binding: &VertexBinding,
    ask: impl FnOnce() -> i32,
) -> i32 {
    if binding.stride == attrib.bytes() && ask() == 0 { 0 } else { binding.stride }
}

/// The query of the stride of a client array; of texture coordinates that of the active client unit.
fn stride_of(array: u32) -> u32 {
    match array {
        GL_VERTEX_ARRAY => GL_VERTEX_ARRAY_STRIDE,
        GL_NORMAL_ARRAY => GL_NORMAL_ARRAY_STRIDE,
        GL_COLOR_ARRAY => GL_COLOR_ARRAY_STRIDE,
        GL_TEXTURE_COORD_ARRAY => GL_TEXTURE_COORD_ARRAY_STRIDE,
        GL_POINT_SIZE_ARRAY_OES => GL_POINT_SIZE_ARRAY_STRIDE_OES,
        GL_FOG_COORD_ARRAY => GL_FOG_COORD_ARRAY_STRIDE,
        GL_SECONDARY_COLOR_ARRAY => GL_SECONDARY_COLOR_ARRAY_STRIDE,
        GL_INDEX_ARRAY => GL_INDEX_ARRAY_STRIDE,
        _ => GL_EDGE_FLAG_ARRAY_STRIDE,
    }
}
