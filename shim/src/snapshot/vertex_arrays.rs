//! Vertex arrays of a context (at most 32 generic attributes, 32 binding points), and the current values of attributes.
//!
//! A vertex attribute has a format and a binding point, and a binding point has a buffer (OpenGL ES 3.2, 10.3). Before
//! OpenGL ES 3.1, and in the default vertex array, only the pointer commands set them, all at once.

use gapii_abi::spare_names;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_CURRENT_VERTEX_ATTRIB, GL_ELEMENT_ARRAY_BUFFER, GL_PRIMITIVE_RESTART,
    GL_VERTEX_ATTRIB_ARRAY_POINTER, GL_VERTEX_ATTRIB_ARRAY_STRIDE,
};
use gapii_state::read_back::Driver;
use gapii_state::{
    Buffer, Context, ContextApi, CurrentType, Ref, VertexArrays, VertexAttrib, VertexBinding,
};

use super::emit::Emitter;
use super::{capability, client_arrays, gl, identity, spare};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Slots of generic attributes.
const GENERIC: usize = 32;

/// Describes all vertex arrays, and binds the program's one.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let is_es3 = context.has((3, 0), (3, 0));
    let (gen_arrays, bind) = match is_es3 {
        true => (GL_GEN_VERTEX_ARRAYS, GL_BIND_VERTEX_ARRAY),
        false => (GL_GEN_VERTEX_ARRAYS_OES, GL_BIND_VERTEX_ARRAY_OES),
    };
    let set: fn(u32) = if is_es3 { gl::bind_vertex_array } else { gl::bind_vertex_array_oes };
    let bound = context.vertex_array.name() as u32;
    for (object, vertex_array) in context.vertex_arrays.named() {
        let name = object.name() as u32;
        emitter.make(gen_arrays, name);
        if is_es3 && gl::is_vertex_array(name) == 0 {
            continue;
        }
        emitter.command(bind).arg(name).done();
        set(name);
        let is_separate = context.has((3, 1), (4, 3));
        Describing {
            is_separate,
            has_memory: !is_es3,
            has_pointers: true,
            ..Describing::of(context, &vertex_array.arrays)
        }
        .describe(emitter);
    }
    let has_any = context.vertex_arrays.named().next().is_some();
    if has_any {
        emitter.command(bind).arg(0_u32).done();
        set(0);
    }
    Describing::of(context, &context.default_arrays).describe(emitter);
    if has_any {
        set(bound);
    }
    if context.vertex_array.is_some() {
        emitter.command(bind).arg(bound).done();
    }
    describe_values(emitter, context);
}

/// Describes the vertex array of the compatibility profile that is bound, with its fixed arrays, and the array buffer, whatever they
/// were before.
pub fn describe_again(emitter: &mut Emitter, context: &Context) {
    let bound = context.vertex_array;
    if context.has((3, 0), (3, 0)) {
        emitter.command(GL_BIND_VERTEX_ARRAY).arg(bound.name() as u32).done();
    }
    let describing = Describing {
        is_separate: bound.is_some() && context.has((3, 1), (4, 3)),
        has_memory: bound.is_none(),
        is_again: true,
        ..Describing::of(context, context.arrays())
    };
    let array_buffer = describing.name(context.array_buffer);
    describing.describe(emitter);
    client_arrays::describe_again(emitter, context.arrays());
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(array_buffer).done();
    if context.has((3, 1), (3, 1)) {
        capability::describe(emitter, GL_PRIMITIVE_RESTART);
        let index = gl::integer(constants::GL_PRIMITIVE_RESTART_INDEX);
        emitter.command(GL_PRIMITIVE_RESTART_INDEX).arg(index).done();
    }
}

/// A vertex array, which is bound.
struct Describing<'a> {
    context: &'a Context,
    arrays: &'a VertexArrays,
    /// Whether formats and binding points are separate.
    is_separate: bool,
    /// Whether attributes without a buffer read the program's memory.
    has_memory: bool,
    /// Whether the pointer commands set it. Mesa 22.3 answers with the stride of one that it has refused for the default vertex
    /// array of the core profile.
    has_pointers: bool,
    /// Whether it is described whatever it was before.
    is_again: bool,
    /// What the commands so far have made.
    made: VertexArrays,
}

impl<'a> Describing<'a> {
    /// The default vertex array of a context.
    fn of(context: &'a Context, arrays: &'a VertexArrays) -> Self {
        Self {
            context,
            arrays,
            is_separate: false,
            has_memory: true,
            has_pointers: context.api != ContextApi::Core,
            is_again: false,
            made: VertexArrays::default(),
        }
    }

    fn describe(mut self, emitter: &mut Emitter) {
        let attribs = self.context.limits.vertex_attribs.clamp(0, GENERIC as i32) as u32;
        if self.has_pointers {
            for index in 0..attribs {
                self.describe_pointer(emitter, index);
            }
        }
        if self.is_separate {
            for index in 0..attribs {
                self.describe_format(emitter, index);
            }
            let bindings = self.context.limits.vertex_bindings.clamp(0, GENERIC as i32);
            for binding in 0..bindings as u32 {
                self.describe_binding(emitter, binding);
            }
        } else if let Some(set_divisor) = divisor_command(self.context) {
            for (index, it) in (0..attribs).zip(&self.arrays.bindings) {
                if it.divisor != 0 || self.is_again {
                    emitter.command(set_divisor).arg(index).arg(it.divisor).done();
                }
            }
        }
        for (index, attrib) in (0..attribs).zip(&self.arrays.attribs) {
            if attrib.enabled {
                emitter.command(GL_ENABLE_VERTEX_ATTRIB_ARRAY).arg(index).done();
            } else if self.is_again {
                emitter.command(GL_DISABLE_VERTEX_ATTRIB_ARRAY).arg(index).done();
            }
        }
        if self.arrays.element_buffer.is_some() || self.is_again {
            let name = self.name(self.arrays.element_buffer);
            emitter.command(GL_BIND_BUFFER).arg(GL_ELEMENT_ARRAY_BUFFER).arg(name).done();
        }
    }

    fn name(&self, buffer: Ref<Buffer>) -> u32 {
        identity::name(&self.context.group.lock().buffers, buffer)
    }

    /// Sets what a pointer command sets, with the stride and the pointer that the program can query
    /// (GL_VERTEX_ATTRIB_ARRAY_STRIDE, GL_VERTEX_ATTRIB_ARRAY_POINTER): these are those of the last pointer command,
    /// whatever the format and the binding point have become since.
    fn describe_pointer(&mut self, emitter: &mut Emitter, index: u32) {
        let slot = index as usize;
        let (Some(attrib), Some(binding)) =
            (self.arrays.attribs.get(slot), self.arrays.bindings.get(slot))
        else {
            return;
        };
        let (stride, pointer) = asked(index);
        let is_default = *attrib == VertexAttrib { enabled: attrib.enabled, ..<_>::default() }
            && VertexBinding { divisor: 0, ..*binding } == VertexBinding::default();
        if is_default && (stride, pointer) == (0, 0) && !self.is_again {
            return;
        }
        // Separate commands have set all there is.
        if self.is_separate && (stride, pointer) == (0, 0) && binding.offset != 0 {
            return;
        }
        let (stride, pointer) = match self.is_separate {
            true => (stride, pointer),
            // Nothing else than a pointer command has set the array, so the state has the values.
            false => (client_arrays::passed_stride(attrib, binding, || stride), binding.offset),
        };
        // The buffer's name was deleted while the array was bound, which took the buffer out of it. A vertex array object
        // takes no address without a buffer.
        let is_taken_out = !self.has_memory && binding.buffer.is_none() && pointer != 0;
        let buffer = if is_taken_out { spare_names::FIRST } else { self.name(binding.buffer) };
        if is_taken_out {
            emitter.make(GL_GEN_BUFFERS, buffer);
        }
        emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(buffer).done();
        let id = match attrib {
            VertexAttrib { long: true, .. } => GL_VERTEX_ATTRIB_L_POINTER,
            VertexAttrib { integer: true, .. } => GL_VERTEX_ATTRIB_I_POINTER,
            _ => GL_VERTEX_ATTRIB_POINTER,
        };
        let command = emitter.command(id).arg(index).arg(attrib.size).arg(attrib.kind);
        let command = match attrib.integer || attrib.long {
            true => command,
            false => command.arg(u8::from(attrib.normalized)),
        };
        command.arg(stride).arg(pointer).done();
        if is_taken_out {
            spare::delete(emitter, GL_DELETE_BUFFERS, &[buffer]);
        }
        if let (Some(made), Some(at)) =
            (self.made.attribs.get_mut(slot), self.made.bindings.get_mut(slot))
        {
            *made = VertexAttrib { relative_offset: 0, binding_shift: 0, ..*attrib };
            let stride = if stride == 0 { attrib.bytes() } else { stride };
            *at = VertexBinding { buffer: binding.buffer, offset: pointer, stride, divisor: 0 };
        }
    }

    fn describe_format(&mut self, emitter: &mut Emitter, index: u32) {
        let slot = index as usize;
        let (Some(attrib), Some(made)) =
            (self.arrays.attribs.get(slot), self.made.attribs.get(slot))
        else {
            return;
        };
        let format = |it: &VertexAttrib| {
            let kind = (it.size, it.kind, it.normalized);
            (kind, it.integer, it.long, it.relative_offset)
        };
        if format(attrib) != format(made) {
            let id = match attrib {
                VertexAttrib { long: true, .. } => GL_VERTEX_ATTRIB_L_FORMAT,
                VertexAttrib { integer: true, .. } => GL_VERTEX_ATTRIB_I_FORMAT,
                _ => GL_VERTEX_ATTRIB_FORMAT,
            };
            let command = emitter.command(id).arg(index).arg(attrib.size).arg(attrib.kind);
            let command = match attrib.integer || attrib.long {
                true => command,
                false => command.arg(u8::from(attrib.normalized)),
            };
            command.arg(attrib.relative_offset).done();
        }
        if attrib.binding_shift != made.binding_shift {
            let binding = index.wrapping_add_signed(attrib.binding_shift);
            emitter.command(GL_VERTEX_ATTRIB_BINDING).arg(index).arg(binding).done();
        }
    }

    fn describe_binding(&mut self, emitter: &mut Emitter, index: u32) {
        let slot = index as usize;
        let (Some(binding), Some(made)) =
            (self.arrays.bindings.get(slot), self.made.bindings.get(slot))
        else {
            return;
        };
        let place = |it: &VertexBinding| (it.buffer, it.offset, it.stride);
        if place(binding) != place(made) {
            let command = emitter.command(GL_BIND_VERTEX_BUFFER).arg(index);
            let command = command.arg(self.name(binding.buffer)).arg(binding.offset as i64);
            command.arg(binding.stride).done();
        }
        if binding.divisor != 0 || self.is_again {
            emitter.command(GL_VERTEX_BINDING_DIVISOR).arg(index).arg(binding.divisor).done();
        }
    }
}

/// Returns the stride and the pointer of the last pointer command for an attribute of the bound vertex array.
fn asked(index: u32) -> (i32, u64) {
    let (mut stride, mut pointer) = (0, 0);
    // SAFETY: the parameter has one value.
    unsafe { gl::get_attrib(index, GL_VERTEX_ATTRIB_ARRAY_STRIDE, &raw mut stride) };
    // SAFETY: there is one pointer.
    unsafe { gl::get_attrib_pointer(index, GL_VERTEX_ATTRIB_ARRAY_POINTER, &raw mut pointer) };
    (stride, pointer)
}

/// Returns the command that sets the divisor of an attribute. `None` if the context has no divisors.
fn divisor_command(context: &Context) -> Option<u16> {
    if context.has((3, 0), (3, 3)) {
        return Some(GL_VERTEX_ATTRIB_DIVISOR);
    }
    let driver = Gl::current()?;
    let of_extensions = [
        ("GL_EXT_instanced_arrays", GL_VERTEX_ATTRIB_DIVISOR_EXT),
        ("GL_ANGLE_instanced_arrays", GL_VERTEX_ATTRIB_DIVISOR_ANGLE),
        ("GL_NV_instanced_arrays", GL_VERTEX_ATTRIB_DIVISOR_NV),
    ];
    of_extensions.iter().find(|(name, _)| driver.has(name)).map(|(_, id)| *id)
}

/// Describes the current values of generic attributes, whatever they were before.
pub fn describe_values_again(emitter: &mut Emitter, context: &Context) {
    describe_values_from(emitter, context, &[]);
}

fn describe_values(emitter: &mut Emitter, context: &Context) {
    describe_values_from(emitter, context, &[[0.0, 0.0, 0.0, 1.0]]);
}

/// Describes them, but for floating-point values that are among those which all attributes have in the stream.
fn describe_values_from(emitter: &mut Emitter, context: &Context, before: &[[f32; 4]]) {
    // In the compatibility profile the first one is the vertex itself, which has no current value.
    let first = u32::from(context.api == ContextApi::Compatibility);
    for index in first..context.limits.vertex_attribs.max(0) as u32 {
        let set = context.attrib_types.get(index as usize).copied().unwrap_or_default();
        match set {
            CurrentType::Float => {
                let value: [f32; 4] = current(index, gl::get_attrib_floats);
                if !before.contains(&value) {
                    emitter.command(GL_VERTEX_ATTRIB4FV).arg(index).numbers(&value).done();
                }
            }
            CurrentType::Integer => {
                let value: [i32; 4] = current(index, gl::get_attrib_integers);
                emitter.command(GL_VERTEX_ATTRIB_I4IV).arg(index).numbers(&value).done();
            }
            CurrentType::Double => {
                let value: [f64; 4] = current(index, gl::get_attrib_doubles);
                emitter.command(GL_VERTEX_ATTRIB_L4DV).arg(index).numbers(&value).done();
            }
            CurrentType::Handle => {
                emitter.leave_out_of("the handle that is the current value of attribute", index);
            }
        }
    }
}

/// Asks for the current value of an attribute in the type in which it was set.
fn current<T: Copy + Default>(index: u32, ask: unsafe fn(u32, u32, *mut T)) -> [T; 4] {
    let mut value = [T::default(); 4];
    // SAFETY: the name has four numbers.
    unsafe { ask(index, GL_CURRENT_VERTEX_ATTRIB, value.as_mut_ptr()) };
    value
}
