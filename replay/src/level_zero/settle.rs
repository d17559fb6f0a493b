//! Waiting for what devices are doing.

use std::time::Duration;

use crate::call::Call;
use crate::names::Scopes;
use crate::objects::level_zero::Executor;
use gapii_commands::ids;

/// The same from then on, and of what may be waiting for a command that is still to be played.
pub const SETTLE_MAX: Duration = Duration::from_millis(100);

/// Waits for what devices are doing, if not for long: it may wait for the host itself.
pub fn settle(call: &mut Call<'_, '_>) {
    if !std::mem::take(&mut call.parts.level_zero.is_busy) {
        return;
    }
    const QUEUE: u16 = ids::ZE_COMMAND_QUEUE_SYNCHRONIZE;
    const LIST: u16 = ids::ZE_COMMAND_LIST_HOST_SYNCHRONIZE;
    type Synchronize = unsafe extern "C" fn(u64, u64) -> u32;
    let wait_ns = SETTLE_MAX.as_nanos() as u64;
    for (handle, executor) in &call.parts.level_zero.executors {
        let function = match executor {
            Executor::Queue => QUEUE,
            Executor::List => LIST,
        };
        // SAFETY: the type of both.
        if let Ok(synchronize) = unsafe { call.own_driver::<Synchronize>(function) } {
            // SAFETY: a handle that the driver gave out, and not taken back.
            unsafe { synchronize(*handle, wait_ns) };
        }
    }
}

/// Of all objects of the command's process.
pub fn scopes(call: &mut Call<'_, '_>) -> Scopes {
    call.parts.names.scopes(call.command.process, 0)
}
