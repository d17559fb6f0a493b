//! Selection and feedback: the driver writes into an array until the mode ends. The array is the player's, one for each
//! mode of a context. glRenderMode ends a mode, and what the driver has written is compared then.

use crate::call::Call;
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{GL_FEEDBACK, GL_RENDER_MODE, GL_SELECT};
use gapii_commands::ids;

/// Largest number of elements of an array.
const ELEMENTS_MAX: usize = 1 << 26;

/// Plays `glSelectBuffer`.
pub fn glSelectBuffer(call: &mut Call<'_, '_>) -> Outcome {
    let size = call.i32(0);
    let driver: unsafe extern "C" fn(i32, *mut u32) =
        unsafe { call.driver(ids::GL_SELECT_BUFFER) }?;
    let array = array(call, GL_SELECT, size)?;
    unsafe { driver(size, array) };
    call.returned(None);
    Ok(())
}

/// Plays `glFeedbackBuffer`.
pub fn glFeedbackBuffer(call: &mut Call<'_, '_>) -> Outcome {
    let (size, ty) = (call.i32(0), call.u32(1));
    let driver: unsafe extern "C" fn(i32, u32, *mut u32) =
        unsafe { call.driver(ids::GL_FEEDBACK_BUFFER) }?;
    let array = array(call, GL_FEEDBACK, size)?;
    unsafe { driver(size, ty, array) };
    call.returned(None);
    Ok(())
}

/// Returns a new array for a mode. In that mode the driver refuses a new array, and the context keeps the one it has.
fn array(call: &mut Call<'_, '_>, mode: u32, size: i32) -> Result<*mut u32, Skip> {
    let is_refused = call.parts.integer(GL_RENDER_MODE) == mode;
    let size = usize::try_from(size).unwrap_or(0);
    if size > ELEMENTS_MAX {
        return Err(Skip::from("it writes more memory than replay gives"));
    }
    let array = call.parts.mode_arrays.entry((call.scopes.context, mode)).or_default();
    if !is_refused {
        *array = vec![0; size];
    }
    Ok(array.as_mut_ptr())
}

/// Plays `glRenderMode`.
pub fn glRenderMode(call: &mut Call<'_, '_>) -> Outcome {
    let mode = call.u32(0);
    let driver: unsafe extern "C" fn(u32) -> i32 = unsafe { call.driver(ids::GL_RENDER_MODE) }?;
    let ended = call.parts.integer(GL_RENDER_MODE);
    let result = unsafe { driver(mode) };
    call.parts.ended_mode = (call.scopes.context, ended);
    call.returned(Some(i64::from(result).cast_unsigned()));
    Ok(())
}

/// Returns `len` bytes of what the driver has written in the mode that glRenderMode has just ended.
pub(crate) fn written(parts: &Parts, len: usize) -> Option<&[u8]> {
    let array = parts.mode_arrays.get(&parts.ended_mode)?;
    let bytes = array.len() * size_of::<u32>();
    // SAFETY: the array has as many initialized bytes, and the driver writes no more of them until the mode begins again.
    let bytes = unsafe { std::slice::from_raw_parts(array.as_ptr().cast::<u8>(), bytes) };
    bytes.get(..len)
}
