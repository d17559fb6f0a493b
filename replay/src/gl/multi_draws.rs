//! Draws with several lists of indices. More than 65,536 draws (`DRAWS_MAX`) in one command, or fewer lists in the
//! trace than it says, skip the command.

use std::ffi::c_void;

use super::arrays::set_client_arrays;
use crate::call::Call;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::GL_ELEMENT_ARRAY_BUFFER_BINDING;

/// Largest number of draws in one command.
const DRAWS_MAX: i32 = 1 << 16;

/// Plays `glMultiDrawElementsEXT`.
pub fn glMultiDrawElementsEXT(call: &mut Call<'_, '_>) -> Outcome {
    let (mode, ty, draws) = (call.u32(0), call.u32(2), call.i32(4));
    let indices = lists(call, draws)?;
    let counts = call.input(1, i64::from(draws).saturating_mul(4))?;
    let driver: unsafe extern "C" fn(u32, *const i32, u32, *const *const c_void, i32) =
        unsafe { call.driver(call.own_function()?) }?;
    set_client_arrays(call)?;
    unsafe { driver(mode, counts, ty, indices, draws) };
    call.returned(None);
    Ok(())
}

/// Plays `glMultiDrawElementsBaseVertexEXT`.
pub fn glMultiDrawElementsBaseVertexEXT(call: &mut Call<'_, '_>) -> Outcome {
    let (mode, ty, draws) = (call.u32(0), call.u32(2), call.i32(4));
    let indices = lists(call, draws)?;
    let counts = call.input(1, i64::from(draws).saturating_mul(4))?;
    let base_vertices = call.input(5, i64::from(draws).saturating_mul(4))?;
    let driver: unsafe extern "C" fn(u32, *const i32, u32, *const *const c_void, i32, *const i32) =
        unsafe { call.driver(call.own_function()?) }?;
    set_client_arrays(call)?;
    unsafe { driver(mode, counts, ty, indices, draws, base_vertices) };
    call.returned(None);
    Ok(())
}

/// Plays `glMultiModeDrawElementsIBM`.
pub fn glMultiModeDrawElementsIBM(call: &mut Call<'_, '_>) -> Outcome {
    let (ty, draws, stride) = (call.u32(2), call.i32(4), call.i32(5));
    if stride < 0 || stride % 4 != 0 {
        return Err(Skip::from("its modes are not in an array"));
    }
    let indices = lists(call, draws)?;
    let counts = call.input(1, i64::from(draws).saturating_mul(4))?;
    let modes =
        call.input(0, i64::from(draws).saturating_mul(i64::from(stride)).saturating_add(4))?;
    let driver: unsafe extern "C" fn(*const u32, *const i32, u32, *const *const c_void, i32, i32) =
        unsafe { call.driver(call.own_function()?) }?;
    set_client_arrays(call)?;
    unsafe { driver(modes, counts, ty, indices, draws, stride) };
    call.returned(None);
    Ok(())
}

/// Array of pointers to the lists of indices in the player's memory, or of offsets while an index
/// buffer is bound.
fn lists(call: &mut Call<'_, '_>, draws: i32) -> Result<*const *const c_void, Skip> {
    if draws <= 0 || call.bits(3) == 0 {
        return call.pointer(3);
    }
    let (Some(counts), Some(recorded)) = (call.observed(1), call.observed(3)) else {
        return Err(Skip::from("the trace does not have its lists"));
    };
    let (counts, _) = counts.as_chunks::<4>();
    let (recorded, _) = recorded.as_chunks::<8>();
    let draws = usize::try_from(draws.min(DRAWS_MAX + 1)).unwrap_or(0);
    if draws > DRAWS_MAX as usize || draws > counts.len() || draws > recorded.len() {
        return Err(Skip::from("the trace does not have all of its lists"));
    }
    let is_offset = call.bound(GL_ELEMENT_ARRAY_BUFFER_BINDING) != 0;
    let mut real = Vec::with_capacity(draws * 8);
    for (count, address) in counts.iter().zip(recorded).take(draws) {
        let address = u64::from_le_bytes(*address);
        let need = u64::try_from(i32::from_le_bytes(*count)).unwrap_or(0) * 4;
        if !is_offset && need > call.parts.memory.readable_from(address) {
            return Err(Skip::from("it reads more memory than replay takes"));
        }
        let at = match is_offset {
            true => address,
            false => call.parts.memory.translate(address) as u64,
        };
        real.extend_from_slice(&at.to_ne_bytes());
    }
    Ok(call.parts.memory.place(&real)?.cast())
}
