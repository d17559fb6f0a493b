//! Programs: linked once more if this driver placed attributes at other locations than the trace has. A program binary
//! that this driver rejects, and that loaded in the recording, is skipped: drivers accept only their own.

use std::ffi::{CString, c_char, c_void};

use crate::call::Call;
use crate::names::Kind;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{GL_LINK_STATUS, GL_MAX_VERTEX_ATTRIBS};
use gapii_commands::ids;

/// Largest number of fragment shaders of GL_ATI_fragment_shader in one command.
const FRAGMENT_SHADERS_MAX: u32 = 1 << 16;

/// Plays `glLinkProgram`. Links once more if this driver placed attributes at other locations than
/// the trace has.
pub fn glLinkProgram(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let key = call.program_key(0);
    call.parts.places.forget(key);
    let driver: unsafe extern "C" fn(u32) = unsafe { call.driver(ids::GL_LINK_PROGRAM) }?;
    unsafe { driver(program) };
    call.returned(None);
    if put_attributes(call, program)? {
        let driver: unsafe extern "C" fn(u32) = unsafe { call.own_driver(ids::GL_LINK_PROGRAM) }?;
        unsafe { driver(program) };
    }
    Ok(())
}

/// Binds attributes to the recorded locations, effective from the next link. False if they are
/// there already.
fn put_attributes(call: &mut Call<'_, '_>, program: u32) -> Result<bool, Skip> {
    let Some(link) = call.command.seq else { return Ok(false) };
    let recorded = call.parts.survey.attributes(link).to_vec();
    let is_known = call.parts.names.find(call.scopes, Kind::Program, call.bits(0)).is_some();
    if recorded.is_empty() || !is_known || !is_linked(call, program)? {
        return Ok(false);
    }
    let find: unsafe extern "C" fn(u32, *const c_char) -> i32 =
        unsafe { call.own_driver(ids::GL_GET_ATTRIB_LOCATION) }?;
    let bind: unsafe extern "C" fn(u32, u32, *const c_char) =
        unsafe { call.own_driver(ids::GL_BIND_ATTRIB_LOCATION) }?;
    let most = call.parts.integer(GL_MAX_VERTEX_ATTRIBS);
    let named = recorded.into_iter().filter(|(_, location)| *location < most);
    let named = named.filter_map(|(name, location)| Some((CString::new(name).ok()?, location)));
    let named: Vec<_> = named.collect();
    let is_there = |(name, location): &(CString, u32)| {
        let found = unsafe { find(program, name.as_ptr()) };
        found < 0 || found as u32 == *location
    };
    if named.iter().all(is_there) {
        return Ok(false);
    }
    for (name, location) in &named {
        unsafe { bind(program, *location, name.as_ptr()) };
    }
    Ok(true)
}

/// Plays `glProgramBinary` and `glProgramBinaryOES`. Skips it if this driver rejects the binary:
/// drivers accept only their own.
pub fn glProgramBinary(call: &mut Call<'_, '_>) -> Outcome {
    let program = call.name(Kind::Program, 0);
    let format = call.u32(1);
    let length = call.i32(3);
    let binary = call.input(2, i64::from(length))?;
    let key = call.program_key(0);
    call.parts.places.forget(key);
    let driver: unsafe extern "C" fn(u32, u32, *const c_void, i32) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(program, format, binary, length) };
    call.returned(None);
    let failed_then = call.command.seq.is_some_and(|seq| call.parts.survey.failed_to_link(seq));
    if !failed_then
        && call.parts.names.find(call.scopes, Kind::Program, call.bits(0)).is_some()
        && !is_linked(call, program)?
    {
        return Err(Skip::from(
            "this driver rejects the program's binary, which another driver made; draws \
             with the program draw nothing",
        ));
    }
    Ok(())
}

fn is_linked(call: &Call<'_, '_>, program: u32) -> Result<bool, Skip> {
    let mut status = 0;
    let get: unsafe extern "C" fn(u32, u32, *mut i32) =
        unsafe { call.own_driver(ids::GL_GET_PROGRAMIV) }?;
    unsafe { get(program, GL_LINK_STATUS, &raw mut status) };
    Ok(status != 0)
}

/// Plays `glGenFragmentShadersATI`, whose result is the first of a range of names.
pub fn glGenFragmentShadersATI(call: &mut Call<'_, '_>) -> Outcome {
    let range = call.u32(0);
    let driver: unsafe extern "C" fn(u32) -> u32 =
        unsafe { call.driver(ids::GL_GEN_FRAGMENT_SHADERS_ATI) }?;
    let first = unsafe { driver(range) };
    if let Some(recorded) = call.recorded_result().filter(|recorded| *recorded != 0 && first != 0) {
        for offset in 0..u64::from(range.min(FRAGMENT_SHADERS_MAX)) {
            let (recorded, real) = (recorded.saturating_add(offset), u64::from(first) + offset);
            call.parts.names.insert(call.scopes, Kind::AtiFragmentShader, recorded, real);
        }
    }
    call.returned(Some(u64::from(first)));
    Ok(())
}
