//! Buffers and their contents.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_BUFFER_USAGE, GL_MAP_INVALIDATE_BUFFER_BIT, GL_MAP_INVALIDATE_RANGE_BIT,
    GL_MAP_READ_BIT,
};
use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// `GL_BUFFER_STORAGE_FLAGS_EXT`
const STORAGE_FLAGS: u32 = constants::GL_BUFFER_STORAGE_FLAGS_EXT;

/// A buffer as the shim knows it.
struct Known {
    name: u32,
    size: i64,
    is_immutable: bool,
    /// Address, offset, length and access of the program's mapping.
    mapping: Option<(u64, i64, i64, u32)>,
}

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let known: Vec<Known> = context
        .group
        .lock()
        .buffers
        .named()
        .map(|(object, buffer)| {
            let it = &buffer.mapping;
            let mapping = (it.pointer, it.offset, it.length, it.access);
            Known {
                name: object.name() as u32,
                size: buffer.size,
                is_immutable: buffer.immutable,
                mapping: (it.pointer != 0).then_some(mapping),
            }
        })
        .collect();
    for buffer in &known {
        emitter.make(GL_GEN_BUFFERS, buffer.name);
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
    let by_us = if buffer.mapping.is_none() { map(context, buffer.size) } else { 0 };
    let at = match buffer.mapping {
        None => by_us as u64,
        // What the program has not mapped can't be had now.
        Some((address, 0, length, _)) if length == buffer.size => address,
        Some(_) => 0,
    };
    if at == 0 {
        emitter.leave_out_of("what is in a buffer that can't be mapped, buffer", buffer.name);
    }
    let command = match buffer.is_immutable {
        true => emitter
            .command(GL_BUFFER_STORAGE_EXT)
            .arg(GL_ARRAY_BUFFER)
            .arg(buffer.size)
            .arg(at)
            .arg(parameter(STORAGE_FLAGS)),
        false => emitter
            .command(GL_BUFFER_DATA)
            .arg(GL_ARRAY_BUFFER)
            .arg(buffer.size)
            .arg(at)
            .arg(parameter(GL_BUFFER_USAGE)),
    };
    command.range_at(2, at, if at == 0 { 0 } else { buffer.size as u64 }).done();
    if by_us != 0 {
        unmap(context);
    }
    if let Some((address, offset, length, access)) = buffer.mapping {
        // What is there must not be thrown away by mapping it.
        let access = access & !(GL_MAP_INVALIDATE_RANGE_BIT | GL_MAP_INVALIDATE_BUFFER_BIT);
        let id = if context.version.0 >= 3 { GL_MAP_BUFFER_RANGE } else { GL_MAP_BUFFER_RANGE_EXT };
        emitter
            .command(id)
            .arg(GL_ARRAY_BUFFER)
            .arg(offset)
            .arg(length)
            .arg(access)
            .returns(address, []);
    }
}

/// A number that the bound buffer has.
fn parameter(name: u32) -> u32 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_buffer_parameter(GL_ARRAY_BUFFER, name, &raw mut value) };
    value as u32
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
