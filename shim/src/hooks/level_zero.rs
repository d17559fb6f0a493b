//! Hooks of Level Zero commands: frames of programs that do not swap, and safe points. A successful submit to a queue
//! ends a frame if the capture's client asked for that, or if the process has never made a context of EGL or GLX. Waits on the
//! host are safe points.

#![expect(non_snake_case, reason = "named like the commands")]

use gapii_recorder::program::pages;

use super::{Handle, Scope, frame_ended, frame_flags};
use crate::capture;
use crate::contexts;
use crate::frame_rule;
use crate::generated::ids;
use crate::safe_point::{self, Moment};

/// `ZE_RESULT_SUCCESS`.
const SUCCESS: u32 = 0;

/// Whether a submit ends a frame: if the capture's rule or its client says so, or, without a rule, if the process has never had
/// a context of EGL or GLX.
fn is_frame(result: u32) -> bool {
    let ends = match frame_rule::is_set() {
        true => frame_rule::ends(ids::ZE_COMMAND_QUEUE_EXECUTE_COMMAND_LISTS),
        false => capture::counts_submits() || !contexts::has_any(),
    };
    result == SUCCESS && ends
}

/// Flags of the leave record; counts the frame if the submit ends one.
pub fn zeCommandQueueExecuteCommandLists_leave_flags(
    _queue: Handle,
    _count: u32,
    _lists: *mut Handle,
    _fence: Handle,
    result: u32,
) -> u16 {
    if is_frame(result) { frame_flags() } else { 0 }
}

/// Ends the frame if the submit ends one, at a safe point.
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

/// Defines hooks of commands that wait on the host. They are safe points and nothing else.
macro_rules! waits {
    ($($name:ident),*) => {
        $(pub fn $name(_scope: &Scope, _waited_for: Handle, _timeout_ns: u64, result: u32) -> u32 {
            safe_point::safe_point(Moment::Command);
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
