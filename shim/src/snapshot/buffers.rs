//! Buffers and their contents.

use core::slice;

use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;
use crate::observe;

const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_BUFFER_USAGE: u32 = 0x8765;
const GL_MAP_READ_BIT: u32 = 1;

/// A buffer as the shim knows it.
struct Known {
    name: u32,
    size: i64,
    /// Where the program has it mapped, if all of it is mapped.
    mapped: Option<u64>,
    is_mapped: bool,
}

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let known: Vec<Known> = context
        .group
        .lock()
        .buffers
        .named()
        .map(|(object, buffer)| {
            let mapping = &buffer.mapping;
            let is_mapped = mapping.pointer != 0;
            let is_whole = is_mapped && mapping.offset == 0 && mapping.length == buffer.size;
            let is_readable = mapping.access & GL_MAP_READ_BIT != 0;
            let mapped = (is_whole && is_readable).then_some(mapping.pointer);
            Known { name: object.name() as u32, size: buffer.size, mapped, is_mapped }
        })
        .collect();
    for buffer in &known {
        let names = [buffer.name];
        emitter
            .command(GL_GEN_BUFFERS)
            .arg(1_i32)
            .arg(names.as_ptr())
            .returns((), [observe::array(names.as_ptr(), 1, 4)]);
        if gl::is_buffer(buffer.name) != 0 {
            describe_contents(emitter, context, buffer);
        }
    }
    gl::bind_buffer(GL_ARRAY_BUFFER, context.array_buffer.name() as u32);
}

fn describe_contents(emitter: &mut Emitter, context: &Context, buffer: &Known) {
    gl::bind_buffer(GL_ARRAY_BUFFER, buffer.name);
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(buffer.name).done();
    if buffer.size <= 0 {
        return;
    }
    let mut usage = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_buffer_parameter(GL_ARRAY_BUFFER, GL_BUFFER_USAGE, &raw mut usage) };
    let by_us = if buffer.is_mapped { 0 } else { map(context, buffer.size) };
    let at = if by_us != 0 { by_us as u64 } else { buffer.mapped.unwrap_or(0) };
    let command = emitter
        .command(GL_BUFFER_DATA)
        .arg(GL_ARRAY_BUFFER)
        .arg(buffer.size)
        .arg(at as *const u8)
        .arg(usage as u32);
    match at {
        0 => command.done(),
        // SAFETY: the driver maps as many bytes, until they are unmapped below or by the program.
        at => command
            .range(2, unsafe { slice::from_raw_parts(at as *const u8, buffer.size as usize) })
            .done(),
    }
    if by_us != 0 {
        unmap(context);
    }
}

fn map(context: &Context, size: i64) -> usize {
    match context.version.0 {
        2 => gl::map_buffer_range_ext(GL_ARRAY_BUFFER, 0, size as isize, GL_MAP_READ_BIT),
        _ => gl::map_buffer_range(GL_ARRAY_BUFFER, 0, size as isize, GL_MAP_READ_BIT),
    }
}

fn unmap(context: &Context) {
    match context.version.0 {
        2 => gl::unmap_buffer_oes(GL_ARRAY_BUFFER),
        _ => gl::unmap_buffer(GL_ARRAY_BUFFER),
    };
}
