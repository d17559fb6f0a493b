//! Parameters of programs that take effect at the next link: locations, transform feedback varyings, separability.
//! Values that the driver refused are left out; locations that a program has and should not have stay, because no
//! command removes them.

use std::ffi::CString;

use gapii_commands::constants::{
    GL_MAX_DRAW_BUFFERS, GL_MAX_DUAL_SOURCE_DRAW_BUFFERS_EXT,
    GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, GL_MAX_VERTEX_ATTRIBS,
    GL_PROGRAM_BINARY_RETRIEVABLE_HINT, GL_PROGRAM_SEPARABLE, GL_SEPARATE_ATTRIBS,
};
use gapii_recorder::observe;
use gapii_state::read_back::Driver as _;
use gapii_state::read_back::NEVER;
use gapii_state::{Context, FragDataLocation, LinkParameters};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Sets the parameters of a program to `wanted`. `has` is what the program has, before and after. Leaves out what the driver
/// refused.
///
/// Locations that `has` and `wanted` lacks stay: no command removes them.
pub fn describe(
    emitter: &mut Emitter,
    context: &Context,
    program: u32,
    has: &mut LinkParameters,
    wanted: &LinkParameters,
) {
    describe_attributes(emitter, program, has, wanted);
    describe_frag_data(emitter, context, program, has, wanted);
    describe_varyings(emitter, context, program, has, wanted);
    if has.separable != wanted.separable {
        set_parameter(emitter, context, program, GL_PROGRAM_SEPARABLE, wanted.separable);
    }
    if has.binary_retrievable != wanted.binary_retrievable {
        let name = GL_PROGRAM_BINARY_RETRIEVABLE_HINT;
        set_parameter(emitter, context, program, name, wanted.binary_retrievable);
    }
    has.separable = wanted.separable;
    has.binary_retrievable = wanted.binary_retrievable;
}

/// Sets a parameter with a Boolean value.
pub fn set_parameter(
    emitter: &mut Emitter,
    context: &Context,
    program: u32,
    name: u32,
    value: bool,
) {
    let since = if name == GL_PROGRAM_SEPARABLE { (3, 1) } else { (3, 0) };
    let id = match context.has(since, (4, 1)) {
        true => GL_PROGRAM_PARAMETERI,
        false => GL_PROGRAM_PARAMETERI_EXT,
    };
    emitter.command(id).arg(program).arg(name).arg(i32::from(value)).done();
}

/// Returns the name as a C string, if the driver accepts it: names of built-in variables are refused.
fn accepted(name: &str) -> Option<CString> {
    CString::new(name).ok().filter(|_| !name.starts_with("gl_"))
}

fn describe_attributes(
    emitter: &mut Emitter,
    program: u32,
    has: &mut LinkParameters,
    wanted: &LinkParameters,
) {
    let most = gl::integer(GL_MAX_VERTEX_ATTRIBS) as u32;
    for (name, location) in &wanted.attrib_locations {
        if has.attrib_locations.get(name) == Some(location) || *location >= most {
            continue;
        }
        let Some(text) = accepted(name) else { continue };
        let command = emitter.command(GL_BIND_ATTRIB_LOCATION).arg(program).arg(*location);
        command.text(&text).done();
        has.attrib_locations.insert(name.clone(), *location);
    }
}

fn describe_frag_data(
    emitter: &mut Emitter,
    context: &Context,
    program: u32,
    has: &mut LinkParameters,
    wanted: &LinkParameters,
) {
    let is_desktop = context.has(NEVER, (3, 3));
    let can = || is_desktop || Gl::current().is_some_and(|it| it.has("GL_EXT_blend_func_extended"));
    if wanted.frag_data_locations.is_empty() || !can() {
        return;
    }
    let id = match is_desktop {
        true => GL_BIND_FRAG_DATA_LOCATION_INDEXED,
        false => GL_BIND_FRAG_DATA_LOCATION_INDEXED_EXT,
    };
    // OpenGL ES 2 has one draw buffer, and no query for their number.
    let buffers = if context.has((3, 0), (2, 0)) { gl::integer(GL_MAX_DRAW_BUFFERS) } else { 1 };
    let most = [buffers, gl::integer(GL_MAX_DUAL_SOURCE_DRAW_BUFFERS_EXT)];
    for (name, location) in &wanted.frag_data_locations {
        let FragDataLocation { color, index } = *location;
        let is_accepted =
            most.get(index as usize).is_some_and(|most| i64::from(color) < i64::from(*most));
        if has.frag_data_locations.get(name) == Some(location) || !is_accepted {
            continue;
        }
        let Some(text) = accepted(name) else { continue };
        let command = emitter.command(id).arg(program);
        command.arg(color).arg(index).text(&text).done();
        has.frag_data_locations.insert(name.clone(), *location);
    }
}

fn describe_varyings(
    emitter: &mut Emitter,
    context: &Context,
    program: u32,
    has: &mut LinkParameters,
    wanted: &LinkParameters,
) {
    let is_there = has.feedback_varyings == wanted.feedback_varyings
        && has.feedback_mode == wanted.feedback_mode;
    let most = || gl::integer(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS) as usize;
    let count = wanted.feedback_varyings.len();
    if is_there
        || !context.has((3, 0), (3, 0))
        || (wanted.feedback_mode == GL_SEPARATE_ATTRIBS && count > most())
    {
        return;
    }
    let names = wanted.feedback_varyings.iter().map(|name| CString::new(name.as_str()));
    let Ok(names) = names.collect::<Result<Vec<_>, _>>() else { return };
    let texts: Vec<_> = names.iter().map(|name| name.as_ptr()).collect();
    let command = emitter.command(GL_TRANSFORM_FEEDBACK_VARYINGS).arg(program);
    let command = command.arg(count as i32).arg(texts.as_ptr()).arg(wanted.feedback_mode);
    command.reads(observe::strings(count as i64, texts.as_ptr(), core::ptr::null())).done();
    has.feedback_varyings.clone_from(&wanted.feedback_varyings);
    has.feedback_mode = wanted.feedback_mode;
}
