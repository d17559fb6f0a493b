//! Commands that name an object whose kind is another argument: labels and glCopyImageSubData. `kind` says which
//! identifier stands for which kind of object; an identifier that it does not list reaches the driver with the recorded
//! name. A copy of negative size is skipped.

use std::ffi::{c_char, c_void};

use crate::call::Call;
use crate::names::Kind;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{
    GL_BUFFER, GL_BUFFER_OBJECT_EXT, GL_FRAMEBUFFER, GL_PROGRAM, GL_PROGRAM_OBJECT_EXT,
    GL_PROGRAM_PIPELINE, GL_PROGRAM_PIPELINE_OBJECT_EXT, GL_QUERY, GL_QUERY_OBJECT_EXT,
    GL_RENDERBUFFER, GL_SAMPLER, GL_SHADER, GL_SHADER_OBJECT_EXT, GL_SYNC_OBJECT_APPLE, GL_TEXTURE,
    GL_TRANSFORM_FEEDBACK, GL_VERTEX_ARRAY, GL_VERTEX_ARRAY_OBJECT_EXT,
};

/// The kind of object that an `identifier` of GL_KHR_debug or GL_EXT_debug_label stands for.
fn kind(identifier: u32) -> Option<Kind> {
    Some(match identifier {
        GL_BUFFER | GL_BUFFER_OBJECT_EXT => Kind::Buffer,
        GL_SHADER | GL_SHADER_OBJECT_EXT | GL_PROGRAM | GL_PROGRAM_OBJECT_EXT => Kind::Program,
        GL_VERTEX_ARRAY | GL_VERTEX_ARRAY_OBJECT_EXT => Kind::VertexArray,
        GL_QUERY | GL_QUERY_OBJECT_EXT => Kind::Query,
        GL_PROGRAM_PIPELINE | GL_PROGRAM_PIPELINE_OBJECT_EXT => Kind::ProgramPipeline,
        GL_TRANSFORM_FEEDBACK => Kind::TransformFeedback,
        GL_SAMPLER => Kind::Sampler,
        GL_TEXTURE => Kind::Texture,
        GL_RENDERBUFFER => Kind::Renderbuffer,
        GL_FRAMEBUFFER => Kind::Framebuffer,
        GL_SYNC_OBJECT_APPLE => Kind::Sync,
        _ => return None,
    })
}

/// The driver's name of an object whose kind is the argument `identifier`.
fn named(call: &mut Call<'_, '_>, identifier: usize, name: usize) -> u32 {
    match kind(call.u32(identifier)) {
        Some(kind) => call.name(kind, name),
        // The driver rejects this identifier.
        None => call.u32(name),
    }
}

/// Plays `glObjectLabel` and `glObjectLabelKHR`.
pub fn glObjectLabel(call: &mut Call<'_, '_>) -> Outcome {
    let (identifier, name) = (call.u32(0), named(call, 0, 1));
    let length = call.i32(2);
    let label = call.input_or_null(3, i64::from(length))?;
    let driver: unsafe extern "C" fn(u32, u32, i32, *const c_char) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(identifier, name, length, label) };
    call.returned(None);
    Ok(())
}

/// Plays `glLabelObjectEXT`.
pub fn glLabelObjectEXT(call: &mut Call<'_, '_>) -> Outcome {
    glObjectLabel(call)
}

/// Plays `glGetObjectLabel` and `glGetObjectLabelKHR`.
pub fn glGetObjectLabel(call: &mut Call<'_, '_>) -> Outcome {
    let (identifier, name) = (call.u32(0), named(call, 0, 1));
    let size = call.i32(2);
    let length = call.output(3)?;
    let label = call.room_or_null(4, i64::from(size))?;
    let driver: unsafe extern "C" fn(u32, u32, i32, *mut i32, *mut c_char) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(identifier, name, size, length, label) };
    call.returned(None);
    Ok(())
}

/// Plays `glGetObjectLabelEXT`.
pub fn glGetObjectLabelEXT(call: &mut Call<'_, '_>) -> Outcome {
    glGetObjectLabel(call)
}

/// Plays `glObjectPtrLabel`. Its pointer is a sync object.
pub fn glObjectPtrLabel(call: &mut Call<'_, '_>) -> Outcome {
    let sync = call.handle(Kind::Sync, 0);
    let length = call.i32(1);
    let label = call.input_or_null(2, i64::from(length))?;
    let driver: unsafe extern "C" fn(*mut c_void, i32, *const c_char) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(sync, length, label) };
    call.returned(None);
    Ok(())
}

/// Plays `glGetObjectPtrLabel`. Its pointer is a sync object.
pub fn glGetObjectPtrLabel(call: &mut Call<'_, '_>) -> Outcome {
    let sync = call.handle(Kind::Sync, 0);
    let size = call.i32(1);
    let length = call.output(2)?;
    let label = call.room_or_null(3, i64::from(size))?;
    let driver: unsafe extern "C" fn(*mut c_void, i32, *mut i32, *mut c_char) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(sync, size, length, label) };
    call.returned(None);
    Ok(())
}

/// Plays `glCopyImageSubData` and its extensions' forms. The targets say whether source and
/// destination are textures or renderbuffers.
pub fn glCopyImageSubData(call: &mut Call<'_, '_>) -> Outcome {
    let mut copied = |target: usize, name: usize| match call.u32(target) {
        GL_RENDERBUFFER => call.name(Kind::Renderbuffer, name),
        _ => call.name(Kind::Texture, name),
    };
    let (source, destination) = (copied(1, 0), copied(7, 6));
    let i = |index| call.i32(index);
    let size = [i(12), i(13), i(14)];
    if size.iter().any(|size| *size < 0) {
        return Err(Skip::from("it copies a negative number of pixels"));
    }
    type Copy = unsafe extern "C" fn(
        u32,
        u32,
        i32,
        i32,
        i32,
        i32,
        u32,
        u32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
    );
    let driver: Copy = unsafe { call.driver(call.own_function()?) }?;
    let (from, to) = (call.u32(1), call.u32(7));
    unsafe {
        driver(
            source,
            from,
            i(2),
            i(3),
            i(4),
            i(5),
            destination,
            to,
            i(8),
            i(9),
            i(10),
            i(11),
            size[0],
            size[1],
            size[2],
        );
    }
    call.returned(None);
    Ok(())
}
