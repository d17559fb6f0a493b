//! Display lists, which keep the names that they had in the recording: a program may compute names from that of
//! glGenLists, and pass parts of them to glCallLists.

use crate::call::Call;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants::{GL_COMPILE, GL_LIST_INDEX};
use gapii_commands::ids;

/// Largest number of lists in one command whose names can be made those of the recording.
const LISTS_MAX: i32 = 1 << 20;

/// Plays `glGenLists`. If the driver chooses other names than in the recording, the lists are deleted, and empty ones with
/// the recorded names are compiled.
pub fn glGenLists(call: &mut Call<'_, '_>) -> Outcome {
    let range = call.i32(0);
    let recorded = call.recorded_result().map_or(0, |bits| bits as u32);
    let driver: unsafe extern "C" fn(i32) -> u32 = unsafe { call.driver(ids::GL_GEN_LISTS) }?;
    let first = unsafe { driver(range) };
    if first == recorded || recorded == 0 || first == 0 {
        call.returned(Some(u64::from(first)));
        return Ok(());
    }
    let delete: unsafe extern "C" fn(u32, i32) = unsafe { call.driver(ids::GL_DELETE_LISTS) }?;
    unsafe { delete(first, range) };
    if range > LISTS_MAX || call.parts.integer(GL_LIST_INDEX) != 0 {
        return Err(Skip::from("the driver gives its lists other names"));
    }
    let begin: unsafe extern "C" fn(u32, u32) = unsafe { call.driver(ids::GL_NEW_LIST) }?;
    let end: unsafe extern "C" fn() = unsafe { call.driver(ids::GL_END_LIST) }?;
    for name in (0..range.cast_unsigned()).map(|offset| recorded.wrapping_add(offset)) {
        unsafe { begin(name, GL_COMPILE) };
        unsafe { end() };
    }
    call.returned(Some(u64::from(recorded)));
    Ok(())
}
