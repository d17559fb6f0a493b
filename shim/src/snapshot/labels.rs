//! Labels of objects (up to `LABEL_BYTES`, 1,024 bytes with the NUL), debug groups (at most `GROUPS_MAX`, 1,024, pushed
//! again without their texts), and the callback for debug messages. Missing are the groups' texts, which messages are
//! let through, and messages in the log.

use core::ffi::c_char;
use std::ffi::CStr;

use gapii_commands::constants::{
    GL_BUFFER, GL_BUFFER_OBJECT_EXT, GL_DEBUG_CALLBACK_FUNCTION, GL_DEBUG_CALLBACK_USER_PARAM,
    GL_DEBUG_GROUP_STACK_DEPTH, GL_DEBUG_LOGGED_MESSAGES, GL_DEBUG_SOURCE_APPLICATION,
    GL_FRAMEBUFFER, GL_PROGRAM, GL_PROGRAM_OBJECT_EXT, GL_PROGRAM_PIPELINE,
    GL_PROGRAM_PIPELINE_OBJECT_EXT, GL_QUERY, GL_QUERY_OBJECT_EXT, GL_RENDERBUFFER, GL_SAMPLER,
    GL_SHADER, GL_SHADER_OBJECT_EXT, GL_TEXTURE, GL_TRANSFORM_FEEDBACK, GL_VERTEX_ARRAY,
    GL_VERTEX_ARRAY_OBJECT_EXT,
};
use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::{gl, syncs};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Maximum size of a label in bytes, with its terminating NUL.
const LABEL_BYTES: usize = 1024;
/// Maximum number of debug groups that are pushed again.
const GROUPS_MAX: i32 = 1024;

/// Whether a name has an object.
type IsObject = fn(u32) -> u8;
type AskLabel = unsafe fn(u32, u32, i32, *mut i32, *mut c_char);

/// The commands for labels that a context has.
#[derive(Clone, Copy)]
enum Labels {
    Core,
    Khr,
    Ext,
}

impl Labels {
    fn of(context: &Context) -> Option<Self> {
        let driver = Gl::current()?;
        Some(match () {
            () if context.has((3, 2), (4, 3)) => Self::Core,
            () if driver.has("GL_KHR_debug") => Self::Khr,
            () if driver.has("GL_EXT_debug_label") => Self::Ext,
            () => return None,
        })
    }

    fn describe(self, emitter: &mut Emitter, kind: u32, names: impl Iterator<Item = u32>) {
        let kind = match (self, kind) {
            (Self::Ext, GL_BUFFER) => GL_BUFFER_OBJECT_EXT,
            (Self::Ext, GL_SHADER) => GL_SHADER_OBJECT_EXT,
            (Self::Ext, GL_PROGRAM) => GL_PROGRAM_OBJECT_EXT,
            (Self::Ext, GL_QUERY) => GL_QUERY_OBJECT_EXT,
            (Self::Ext, GL_VERTEX_ARRAY) => GL_VERTEX_ARRAY_OBJECT_EXT,
            (Self::Ext, GL_PROGRAM_PIPELINE) => GL_PROGRAM_PIPELINE_OBJECT_EXT,
            (_, kind) => kind,
        };
        let (ask, id): (AskLabel, _) = match self {
            Self::Core => (gl::get_label, GL_OBJECT_LABEL),
            Self::Khr => (gl::get_label_khr, GL_OBJECT_LABEL_KHR),
            Self::Ext => (gl::get_label_ext, GL_LABEL_OBJECT_EXT),
        };
        // This length stands for a NUL-terminated string.
        let len = if matches!(self, Self::Ext) { 0_i32 } else { -1 };
        for name in names {
            let mut label = [0_u8; LABEL_BYTES];
            let (room, out) = (LABEL_BYTES as i32, label.as_mut_ptr().cast());
            // SAFETY: there is as much room; nobody wants the length.
            unsafe { ask(kind, name, room, core::ptr::null_mut(), out) };
            if let Some(label) = said(&label) {
                emitter.command(id).arg(kind).arg(name).arg(len).text(label).done();
            }
        }
    }
}

/// Returns the string in a buffer, unless it is empty.
fn said(buffer: &[u8]) -> Option<&CStr> {
    gl::text(buffer).filter(|text| !text.is_empty())
}

/// Describes the labels of a share group's objects.
pub fn describe_group(emitter: &mut Emitter, context: &Context) {
    let Some(labels) = Labels::of(context) else { return };
    let group = context.group.lock();
    let buffers = group.buffers.names();
    let shaders = group.shaders.names();
    let programs = group.programs.names();
    let textures = group.textures.names();
    let samplers = group.samplers.names();
    let renderbuffers = group.renderbuffers.names();
    drop(group);
    let kinds: [(u32, &[u32], IsObject); 6] = [
        (GL_BUFFER, &buffers, gl::is_buffer),
        (GL_SHADER, &shaders, gl::is_shader),
        (GL_PROGRAM, &programs, gl::is_program),
        (GL_TEXTURE, &textures, gl::is_texture),
        (GL_SAMPLER, &samplers, gl::is_sampler),
        (GL_RENDERBUFFER, &renderbuffers, gl::is_renderbuffer),
    ];
    // A name that was never bound has no object, and so no label.
    for (kind, names, is_object) in kinds {
        labels.describe(emitter, kind, names.iter().copied().filter(|name| is_object(*name) != 0));
    }
    if context.has((3, 2), (4, 3)) {
        describe_labels_of_syncs(emitter, context);
    }
}

/// Describes the label of a program.
pub fn describe_program(emitter: &mut Emitter, context: &Context, name: u32) {
    if let Some(labels) = Labels::of(context) {
        labels.describe(emitter, GL_PROGRAM, [name].into_iter());
    }
}

fn describe_labels_of_syncs(emitter: &mut Emitter, context: &Context) {
    for handle in syncs::handles(context) {
        let mut label = [0_u8; LABEL_BYTES];
        let (room, out) = (LABEL_BYTES as i32, label.as_mut_ptr().cast());
        // SAFETY: there is as much room; nobody wants the length.
        unsafe { gl::get_label_of_sync(handle, room, core::ptr::null_mut(), out) };
        if let Some(label) = said(&label) {
            emitter.command(GL_OBJECT_PTR_LABEL).arg(handle).arg(-1_i32).text(label).done();
        }
    }
}

/// Describes the labels of a context's own objects.
pub fn describe_own(emitter: &mut Emitter, context: &Context) {
    let Some(labels) = Labels::of(context) else { return };
    let is_es3 = context.has((3, 0), (4, 0));
    macro_rules! describe {
        ($kind:expr, $objects:ident, $is_object:path) => {
            let names = context.$objects.names().into_iter();
            labels.describe(emitter, $kind, names.filter(|name| $is_object(*name) != 0));
        };
    }
    describe!(GL_FRAMEBUFFER, framebuffers, gl::is_framebuffer);
    if is_es3 {
        describe!(GL_VERTEX_ARRAY, vertex_arrays, gl::is_vertex_array);
        describe!(GL_QUERY, queries, gl::is_query);
        describe!(GL_TRANSFORM_FEEDBACK, transform_feedbacks, gl::is_transform_feedback);
    }
    if context.has((3, 1), (4, 1)) {
        describe!(GL_PROGRAM_PIPELINE, pipelines, gl::is_program_pipeline);
    }
}

/// Describes the debug groups and the program's callback.
pub fn describe_messages(emitter: &mut Emitter, context: &Context) {
    let is_core = context.has((3, 2), (4, 3));
    if !is_core && !Gl::current().is_some_and(|driver| driver.has("GL_KHR_debug")) {
        return;
    }
    let (push, call_back) = match is_core {
        true => (GL_PUSH_DEBUG_GROUP, GL_DEBUG_MESSAGE_CALLBACK),
        false => (GL_PUSH_DEBUG_GROUP_KHR, GL_DEBUG_MESSAGE_CALLBACK_KHR),
    };
    let [callback, its_own] =
        [GL_DEBUG_CALLBACK_FUNCTION, GL_DEBUG_CALLBACK_USER_PARAM].map(|name| {
            if is_core {
                pointer(gl::get_pointer, name)
            } else {
                pointer(gl::get_pointer_khr, name)
            }
        });
    // The program did not push the outermost group.
    let groups = gl::integer(GL_DEBUG_GROUP_STACK_DEPTH).clamp(1, GROUPS_MAX) - 1;
    for _ in 0..groups {
        let command = emitter.command(push).arg(GL_DEBUG_SOURCE_APPLICATION).arg(0_u32);
        command.arg(-1_i32).text(c"").done();
    }
    if groups != 0 {
        emitter.leave_out("what debug groups are called");
    }
    if callback != 0 {
        emitter.command(call_back).arg(callback).arg(its_own).done();
    }
    if context.controls_messages {
        emitter.leave_out("which debug messages are let through");
    }
    if gl::integer(GL_DEBUG_LOGGED_MESSAGES) != 0 {
        emitter.leave_out("debug messages in the log");
    }
}

fn pointer(ask: unsafe fn(u32, *mut u64), name: u32) -> u64 {
    let mut value = 0;
    // SAFETY: the name has one pointer.
    unsafe { ask(name, &raw mut value) };
    value
}
