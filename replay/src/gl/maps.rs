//! Commands that map buffers into memory.

use std::ffi::c_void;

use super::mappings::{mapped, mapped_by_name};
use crate::call::Call;
use crate::names::Kind;
use crate::skip::Outcome;

/// Plays `glMapBufferRange` and `glMapBufferRangeEXT`.
pub fn glMapBufferRange(call: &mut Call<'_, '_>) -> Outcome {
    let (target, offset) = (call.u32(0), call.isize(1));
    let (length, access) = (call.isize(2), call.u32(3));
    let driver: unsafe extern "C" fn(u32, isize, isize, u32) -> *mut c_void =
        unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(target, offset, length, access) };
    mapped(call, target, result);
    call.returned(Some(result as u64));
    Ok(())
}

/// Plays `glMapBufferOES`.
pub fn glMapBufferOES(call: &mut Call<'_, '_>) -> Outcome {
    let (target, access) = (call.u32(0), call.u32(1));
    let driver: unsafe extern "C" fn(u32, u32) -> *mut c_void =
        unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(target, access) };
    mapped(call, target, result);
    call.returned(Some(result as u64));
    Ok(())
}

/// Plays `glMapNamedBuffer`.
pub fn glMapNamedBuffer(call: &mut Call<'_, '_>) -> Outcome {
    let (buffer, access) = (call.name(Kind::Buffer, 0), call.u32(1));
    let driver: unsafe extern "C" fn(u32, u32) -> *mut c_void =
        unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(buffer, access) };
    mapped_by_name(call, buffer, result);
    call.returned(Some(result as u64));
    Ok(())
}

/// Plays `glMapNamedBufferEXT`.
pub fn glMapNamedBufferEXT(call: &mut Call<'_, '_>) -> Outcome {
    glMapNamedBuffer(call)
}

/// Plays `glMapNamedBufferRange`.
pub fn glMapNamedBufferRange(call: &mut Call<'_, '_>) -> Outcome {
    let (buffer, offset) = (call.name(Kind::Buffer, 0), call.isize(1));
    let (length, access) = (call.isize(2), call.u32(3));
    let driver: unsafe extern "C" fn(u32, isize, isize, u32) -> *mut c_void =
        unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(buffer, offset, length, access) };
    mapped_by_name(call, buffer, result);
    call.returned(Some(result as u64));
    Ok(())
}

/// Plays `glMapNamedBufferRangeEXT`.
pub fn glMapNamedBufferRangeEXT(call: &mut Call<'_, '_>) -> Outcome {
    glMapNamedBufferRange(call)
}
