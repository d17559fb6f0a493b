//! Waiting for commands that devices are executing: up to `SETTLE_MAX` (100 ms) per queue or list, because a device may
//! itself wait for the host. If a queue is still running then, the replay goes on.

use std::time::Duration;

use crate::call::Call;
use crate::driver::Driver;
use crate::names::Scopes;
use crate::objects::level_zero::{Executor, LevelZero};
use gapii_commands::ids;

/// Longest wait for one queue or list before replay changes memory that it may use. Also the longest wait
/// of a command after a wait of the trace has timed out.
pub const SETTLE_MAX: Duration = Duration::from_millis(100);

/// Waits until devices are idle, up to [`SETTLE_MAX`] per queue or list: a device may itself wait
/// for the host. Returns whether they are.
pub fn settle(level_zero: &mut LevelZero, driver: &Driver) -> bool {
    if !std::mem::take(&mut level_zero.is_busy) {
        return true;
    }
    const QUEUE: u16 = ids::ZE_COMMAND_QUEUE_SYNCHRONIZE;
    const LIST: u16 = ids::ZE_COMMAND_LIST_HOST_SYNCHRONIZE;
    type Synchronize = unsafe extern "C" fn(u64, u64) -> u32;
    let wait_ns = SETTLE_MAX.as_nanos() as u64;
    let mut are_idle = true;
    for (handle, executor) in &level_zero.executors {
        let function = match executor {
            Executor::Queue => QUEUE,
            Executor::List => LIST,
        };
        // SAFETY: `zeCommandQueueSynchronize` and `zeCommandListHostSynchronize` have this type.
        if let Ok(synchronize) = unsafe { driver.own::<Synchronize>(function) } {
            // SAFETY: the driver created the object, and `learn` removes the handle when it is destroyed.
            are_idle &= unsafe { synchronize(*handle, wait_ns) } == 0;
        }
    }
    are_idle
}

/// Scopes of Level Zero's handles: one set per process.
pub fn scopes(call: &mut Call<'_, '_>) -> Scopes {
    call.parts.names.scopes(call.command.process, 0)
}
