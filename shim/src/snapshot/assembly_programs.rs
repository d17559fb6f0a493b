//! Programs in assembly language (`GL_ARB_vertex_program`, `GL_ARB_fragment_program`): their strings and local parameters, and
//! the environment parameters and current programs of a context. Parameters that are zero are not described, because they are
//! so at first. Programs of other targets are named as missing.

use gapii_commands::constants::{
    GL_FRAGMENT_PROGRAM_ARB, GL_MAX_PROGRAM_ENV_PARAMETERS_ARB,
    GL_MAX_PROGRAM_LOCAL_PARAMETERS_ARB, GL_PROGRAM_BINDING_ARB, GL_PROGRAM_FORMAT_ASCII_ARB,
    GL_PROGRAM_LENGTH_ARB, GL_PROGRAM_STRING_ARB, GL_VERTEX_PROGRAM_ARB,
};
use gapii_recorder::observe;
use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::{capability, gl};
use crate::driver_calls::Gl;
use crate::generated::ids;

const TARGETS: [(u32, &str); 2] = [
    (GL_VERTEX_PROGRAM_ARB, "GL_ARB_vertex_program"),
    (GL_FRAGMENT_PROGRAM_ARB, "GL_ARB_fragment_program"),
];
/// Most parameters that are described.
const PARAMETERS_MAX: u32 = 4096;

/// Whether the context has programs in assembly language.
pub fn are_in(driver: &Gl) -> bool {
    TARGETS.iter().any(|(_, extension)| driver.has(extension))
}

/// Describes the programs of the context's share group.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let programs: Vec<(u32, u32)> = {
        let group = context.group.lock();
        let named = group.assembly_programs.named();
        named.map(|(object, program)| (object.name() as u32, program.target)).collect()
    };
    let mut others = 0;
    for (name, target) in programs {
        emitter.make(ids::GL_GEN_PROGRAMS_ARB, name);
        if TARGETS.iter().all(|(known, _)| *known != target) {
            others += usize::from(target != 0);
            continue;
        }
        let before = parameter(target, GL_PROGRAM_BINDING_ARB).cast_unsigned();
        gl::bind_assembly_program(target, name);
        emitter.command(ids::GL_BIND_PROGRAM_ARB).arg(target).arg(name).done();
        describe_bound(emitter, target);
        gl::bind_assembly_program(target, before);
        emitter.command(ids::GL_BIND_PROGRAM_ARB).arg(target).arg(0_u32).done();
    }
    if others > 0 {
        emitter.leave_out(&format!("{others} assembly programs of NVIDIA's targets"));
    }
}

/// Describes what the context has: its default programs, environment parameters, current programs, and whether they are used.
pub fn describe_own(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    for (target, extension) in TARGETS {
        if !driver.has(extension) {
            continue;
        }
        let bound = parameter(target, GL_PROGRAM_BINDING_ARB).cast_unsigned();
        if context.default_assembly_lengths.contains_key(&target) {
            gl::bind_assembly_program(target, 0);
            emitter.command(ids::GL_BIND_PROGRAM_ARB).arg(target).arg(0_u32).done();
            describe_bound(emitter, target);
            gl::bind_assembly_program(target, bound);
        }
        let ask = |at, out: *mut f32| {
            // SAFETY: a parameter has four numbers.
            unsafe { gl::get_environment_parameter(target, at, out) }
        };
        let (most, id) = (GL_MAX_PROGRAM_ENV_PARAMETERS_ARB, ids::GL_PROGRAM_ENV_PARAMETER4FV_ARB);
        describe_parameters(emitter, target, most, id, ask);
        emitter.command(ids::GL_BIND_PROGRAM_ARB).arg(target).arg(bound).done();
        capability::describe(emitter, target);
    }
}

/// Describes the string and the local parameters of the program that is bound.
fn describe_bound(emitter: &mut Emitter, target: u32) {
    let len = parameter(target, GL_PROGRAM_LENGTH_ARB);
    if len <= 0 {
        return;
    }
    let mut string = vec![0_u8; len as usize];
    // SAFETY: the string has as many bytes.
    unsafe {
        gl::get_assembly_string(target, GL_PROGRAM_STRING_ARB, string.as_mut_ptr());
    }
    let command = emitter.command(ids::GL_PROGRAM_STRING_ARB).arg(target);
    let command = command.arg(GL_PROGRAM_FORMAT_ASCII_ARB).arg(len).arg(string.as_ptr());
    command.reads(observe::array(string.as_ptr(), i64::from(len), 1)).done();
    let ask = |at, out: *mut f32| {
        // SAFETY: a parameter has four numbers.
        unsafe { gl::get_local_parameter(target, at, out) }
    };
    let (most, id) = (GL_MAX_PROGRAM_LOCAL_PARAMETERS_ARB, ids::GL_PROGRAM_LOCAL_PARAMETER4FV_ARB);
    describe_parameters(emitter, target, most, id, ask);
}

fn describe_parameters(
    emitter: &mut Emitter,
    target: u32,
    most: u32,
    id: u16,
    ask: impl Fn(u32, *mut f32),
) {
    let count = parameter(target, most).cast_unsigned().min(PARAMETERS_MAX);
    for at in 0..count {
        let mut values = [0.0_f32; 4];
        ask(at, values.as_mut_ptr());
        if values.iter().any(|value| value.to_bits() != 0) {
            emitter.command(id).arg(target).arg(at).numbers(&values).done();
        }
    }
}

fn parameter(target: u32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the parameter has one value.
    unsafe { gl::get_assembly_program(target, name, &raw mut value) };
    value
}
