//! Vertex arrays of a context, and what attributes without an array have.

use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_CURRENT_VERTEX_ATTRIB, GL_ELEMENT_ARRAY_BUFFER,
};
use gapii_state::{Context, VertexArrays, VertexAttrib, VertexBinding};

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// Slots of generic attributes.
const GENERIC: usize = 32;

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let is_es3 = context.version.0 >= 3;
    let (gen_arrays, bind) = match is_es3 {
        true => (GL_GEN_VERTEX_ARRAYS, GL_BIND_VERTEX_ARRAY),
        false => (GL_GEN_VERTEX_ARRAYS_OES, GL_BIND_VERTEX_ARRAY_OES),
    };
    for (object, vertex_array) in context.vertex_arrays.named() {
        let name = object.name() as u32;
        emitter.make(gen_arrays, name);
        if is_es3 && gl::is_vertex_array(name) == 0 {
            continue;
        }
        emitter.command(bind).arg(name).done();
        describe_arrays(emitter, &vertex_array.arrays, is_es3);
    }
    if context.vertex_arrays.named().next().is_some() {
        emitter.command(bind).arg(0_u32).done();
    }
    describe_arrays(emitter, &context.default_arrays, is_es3);
    if context.vertex_array.is_some() {
        emitter.command(bind).arg(context.vertex_array.name() as u32).done();
    }
    describe_values(emitter, context);
}

fn describe_arrays(emitter: &mut Emitter, arrays: &VertexArrays, is_es3: bool) {
    for index in 0..GENERIC as u32 {
        let slot = index as usize;
        let (Some(attrib), Some(binding)) = (arrays.attribs.get(slot), arrays.binding_of(slot))
        else {
            continue;
        };
        let is_set = *attrib != VertexAttrib::default() || *binding != VertexBinding::default();
        if !is_set {
            continue;
        }
        describe_pointer(emitter, index, attrib, binding);
        if is_es3 && binding.divisor != 0 {
            emitter.command(GL_VERTEX_ATTRIB_DIVISOR).arg(index).arg(binding.divisor).done();
        }
        if attrib.enabled {
            emitter.command(GL_ENABLE_VERTEX_ATTRIB_ARRAY).arg(index).done();
        }
    }
    if arrays.element_buffer.is_some() {
        emitter
            .command(GL_BIND_BUFFER)
            .arg(GL_ELEMENT_ARRAY_BUFFER)
            .arg(arrays.element_buffer.name() as u32)
            .done();
    }
}

fn describe_pointer(
    emitter: &mut Emitter,
    index: u32,
    attrib: &VertexAttrib,
    binding: &VertexBinding,
) {
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(binding.buffer.name() as u32).done();
    let pointer = binding.offset.wrapping_add(u64::from(attrib.relative_offset));
    if attrib.integer {
        emitter
            .command(GL_VERTEX_ATTRIB_I_POINTER)
            .arg(index)
            .arg(attrib.size)
            .arg(attrib.kind)
            .arg(binding.stride)
            .arg(pointer)
            .done();
    } else {
        emitter
            .command(GL_VERTEX_ATTRIB_POINTER)
            .arg(index)
            .arg(attrib.size)
            .arg(attrib.kind)
            .arg(u8::from(attrib.normalized))
            .arg(binding.stride)
            .arg(pointer)
            .done();
    }
}

fn describe_values(emitter: &mut Emitter, context: &Context) {
    for index in 0..context.limits.vertex_attribs.max(0) as u32 {
        if context.integer_attribs.get(index as usize) == Some(&true) {
            let mut value = [0_i32; 4];
            // SAFETY: the name has four numbers.
            unsafe { gl::get_attrib_integers(index, GL_CURRENT_VERTEX_ATTRIB, value.as_mut_ptr()) };
            emitter.command(GL_VERTEX_ATTRIB_I4IV).arg(index).numbers(&value).done();
            continue;
        }
        let mut value = [0.0_f32; 4];
        // SAFETY: the name has four numbers.
        unsafe { gl::get_attrib_floats(index, GL_CURRENT_VERTEX_ATTRIB, value.as_mut_ptr()) };
        if value != [0.0, 0.0, 0.0, 1.0] {
            emitter.command(GL_VERTEX_ATTRIB4FV).arg(index).numbers(&value).done();
        }
    }
}
