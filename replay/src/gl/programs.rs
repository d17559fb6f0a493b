//! Programs: linked so that attributes are where the trace has them, or loaded from binaries.

use std::ffi::c_void;

use crate::call::{Call, Outcome, Skip};
use crate::driver::function;
use crate::generated::ids;
use crate::names::Kind;

const GL_LINK_STATUS: u32 = 0x8B82;

pub fn glLinkProgram(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let key = call.program_key(0);
    call.parts.gl.places.forget(key);
    let driver: unsafe extern "C" fn(u32) = unsafe { call.driver(ids::GL_LINK_PROGRAM) }?;
    unsafe { driver(program) };
    call.returned(None);
    Ok(())
}

/// A driver takes only binaries that it has made itself.
pub fn glProgramBinary(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let format = call.u32(1);
    let length = call.i32(3);
    let binary = call.input(2, i64::from(length))?;
    let key = call.program_key(0);
    call.parts.gl.places.forget(key);
    let driver: unsafe extern "C" fn(u32, u32, *const c_void, i32) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(program, format, binary, length) };
    call.returned(None);
    if call.parts.names.find(call.scopes, Kind::Program, call.bits(0)).is_some()
        && !is_linked(call, program)?
    {
        return Err(Skip::from(
            "this driver does not take the program's binary, which another driver has made; draws \
             with the program are nothing",
        ));
    }
    Ok(())
}

fn is_linked(call: &Call<'_, '_>, program: u32) -> Result<bool, Skip> {
    let mut status = 0;
    let get: unsafe extern "C" fn(u32, u32, *mut i32) =
        unsafe { call.driver(const { function("glGetProgramiv") }) }?;
    unsafe { get(program, GL_LINK_STATUS, &raw mut status) };
    Ok(status != 0)
}
