//! Commands that map buffers into memory.

use std::ffi::c_void;

use super::mappings::mapped;
use crate::call::Call;
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

/// Plays `glFlushMappedBufferRange` and `glFlushMappedBufferRangeEXT`.
pub fn glFlushMappedBufferRange(call: &mut Call<'_, '_>) -> Outcome {
    let (target, offset, length) = (call.u32(0), call.isize(1), call.isize(2));
    let driver: unsafe extern "C" fn(u32, isize, isize) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(target, offset, length) };
    call.returned(None);
    Ok(())
}

/// Plays `glUnmapBuffer` and `glUnmapBufferOES`.
pub fn glUnmapBuffer(call: &mut Call<'_, '_>) -> Outcome {
    let target = call.u32(0);
    let driver: unsafe extern "C" fn(u32) -> u8 = unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(target) };
    call.returned(Some(u64::from(result)));
    Ok(())
}
