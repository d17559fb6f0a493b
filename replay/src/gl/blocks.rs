//! Indices of uniform blocks, for which a program asks by name.

use std::ffi::c_char;

use crate::call::Call;
use crate::names::Kind;
use crate::skip::Outcome;
use gapii_commands::constants::{GL_INVALID_INDEX, GL_UNIFORM_BLOCK};
use gapii_commands::ids;

/// Plays `glGetUniformBlockIndex`, and notes the driver's index of the block.
pub fn glGetUniformBlockIndex(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let name = call.pointer(1)?;
    let driver: unsafe extern "C" fn(u32, *const c_char) -> u32 =
        unsafe { call.driver(ids::GL_GET_UNIFORM_BLOCK_INDEX) }?;
    let real = unsafe { driver(program, name) };
    place(call, real);
    call.returned(Some(u64::from(real)));
    Ok(())
}

/// Plays `glGetProgramResourceIndex`, and notes the driver's index of a uniform block.
pub fn glGetProgramResourceIndex(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let interface = call.u32(1);
    let name = call.pointer(2)?;
    let driver: unsafe extern "C" fn(u32, u32, *const c_char) -> u32 =
        unsafe { call.driver(ids::GL_GET_PROGRAM_RESOURCE_INDEX) }?;
    let real = unsafe { driver(program, interface, name) };
    if interface == GL_UNIFORM_BLOCK {
        place(call, real);
    }
    call.returned(Some(u64::from(real)));
    Ok(())
}

/// Notes the driver's index of the block that has another index in the trace.
fn place(call: &mut Call<'_, '_>, real: u32) {
    let Some(recorded) = call.recorded_result().map(|bits| bits as u32) else { return };
    if recorded != GL_INVALID_INDEX && real != GL_INVALID_INDEX {
        let key = call.program_key(0);
        call.parts.places.set_block(key, recorded, real);
    }
}
