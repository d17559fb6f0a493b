//! Level Zero's hooked commands: frames of programs that show nothing, and safe points.

#![expect(non_snake_case, reason = "named like the commands")]

use super::{Handle, Scope, frame_ended, frame_flags, has_graphics};
use crate::capture::{self, Moment};
use crate::pages;

/// `ZE_RESULT_SUCCESS`.
const SUCCESS: u32 = 0;

/// Whether a submit ends a frame: where somebody asked for that, or the process has no swaps.
fn is_frame(result: u32) -> bool {
    result == SUCCESS && (capture::counts_submits() || !has_graphics())
}

pub fn zeCommandQueueExecuteCommandLists_leave_flags(
    _queue: Handle,
    _count: u32,
    _lists: *mut Handle,
    _fence: Handle,
    result: u32,
) -> u16 {
    if is_frame(result) { frame_flags() } else { 0 }
}

pub fn zeCommandQueueExecuteCommandLists(
    _scope: &Scope,
    _queue: Handle,
    _count: u32,
    _lists: *mut Handle,
    _fence: Handle,
    result: u32,
) -> u32 {
    pages::forget();
    frame_ended(is_frame(result));
    result
}

/// Defines hooks that are safe points and nothing else, of commands that wait for something.
macro_rules! waits {
    ($($name:ident),*) => {
        $(pub fn $name(_scope: &Scope, _waited_for: Handle, _timeout_ns: u64, result: u32) -> u32 {
            capture::safe_point(Moment::Command);
            result
        })*
    };
}

waits!(
    zeCommandListHostSynchronize,
    zeCommandQueueSynchronize,
    zeEventHostSynchronize,
    zeFenceHostSynchronize
);
