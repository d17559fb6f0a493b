//! Waits for sync objects of OpenGL ES on the host: as long as the trace says, at most 10 s (`WAIT_MAX`), every time.
//! The result is compared by `--verify` only as to whether the wait failed.

use std::ffi::c_void;

use crate::call::Call;
use crate::names::Kind;
use crate::skip::Outcome;

/// Longest wait, in nanoseconds.
const WAIT_MAX: u64 = 10_000_000_000;

/// Plays `glClientWaitSync` and `glClientWaitSyncAPPLE`, for at most 10 s.
pub fn glClientWaitSync(call: &mut Call<'_, '_>) -> Outcome {
    let sync = call.handle(Kind::Sync, 0);
    let (flags, timeout) = (call.u32(1), call.u64(2).min(WAIT_MAX));
    let driver: unsafe extern "C" fn(*mut c_void, u32, u64) -> u32 =
        unsafe { call.driver(call.own_function()?) }?;
    let result = unsafe { driver(sync, flags, timeout) };
    call.returned(Some(u64::from(result)));
    Ok(())
}

/// Plays `glWaitSync` and `glWaitSyncAPPLE`. The driver waits, with a limit of its own.
pub fn glWaitSync(call: &mut Call<'_, '_>) -> Outcome {
    let sync = call.handle(Kind::Sync, 0);
    let (flags, timeout) = (call.u32(1), call.u64(2));
    let driver: unsafe extern "C" fn(*mut c_void, u32, u64) =
        unsafe { call.driver(call.own_function()?) }?;
    unsafe { driver(sync, flags, timeout) };
    call.returned(None);
    Ok(())
}
