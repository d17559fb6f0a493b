//! Commands that end a frame by the capture's rule (`--frame-end`), whatever they return. [`crate::traced`] calls [`before`]
//! and [`after`] around such a command; if the command is recorded, its leave record says that a frame has ended. The call is a
//! safe point then, as a swap is. The end of a debug group ends a frame if the rule names the group.
//!
//! A command of a tracer, and one that is called from inside another command, ends no frame. So does one that the running
//! capture does not record.

use core::ffi::c_char;

use gapii_recorder::program::{guarded, pages};
use gapii_tool_api::params;

use crate::attach;
use crate::capture;
use crate::frame_rule;
use crate::generated::ids;
use crate::hooks;
use crate::scope;
use crate::tls::{IN_HOOK, IN_SLOW_PATH, SENDS_OWED, words};

/// Longest name of a debug group that is compared with the rule, in bytes; the rest of a name is ignored.
const NAME_BYTES_MAX: usize = 256;

/// A call that ends a frame.
pub struct FrameEnd(());

/// Called before a command that the rule watches. `None` if the call ends no frame.
///
/// # Safety
/// `params` points at the command's structure of parameters.
pub unsafe fn before(id: u16, params: *const u8) -> Option<FrameEnd> {
    let words = words();
    if words.in_callback.get()
        || words.is_aside(IN_HOOK | IN_SLOW_PATH | SENDS_OWED)
        || scope::is_recording(words)
    {
        return None;
    }
    // SAFETY: passed on.
    let ends_group = frame_rule::is_of_groups(id) && unsafe { goes_through_group(id, params) };
    if !ends_group && !frame_rule::ends(id) {
        return None;
    }
    if capture::is_running() {
        let mut call = attach::begin(id)?;
        call.recorder().set_frame_end(Some(id));
    }
    Some(FrameEnd(()))
}

/// Called after the command.
pub fn after(_: FrameEnd) {
    if let Some(thread) = words().thread().filter(|thread| thread.is_claimed()) {
        // SAFETY: this thread's own state.
        if let Some(mut entered) = unsafe { thread.enter_between_commands() } {
            entered.set_frame_end(None);
        }
    }
    pages::forget();
    hooks::frame_ended(true);
}

/// Follows the thread's open debug groups. Returns whether the command ends a group that the rule names.
///
/// # Safety
/// As for [`before`].
unsafe fn goes_through_group(id: u16, params: *const u8) -> bool {
    let groups = &words().groups;
    let order = frame_rule::order();
    let (len, name) = match id {
        ids::GL_PUSH_DEBUG_GROUP | ids::GL_PUSH_DEBUG_GROUP_KHR => {
            // SAFETY: the caller's duty; both commands have the same parameters.
            let params = unsafe { &*params.cast::<params::glPushDebugGroup>() };
            (usize::try_from(params.length).ok(), params.message)
        }
        ids::GL_PUSH_GROUP_MARKER_EXT => {
            // SAFETY: the caller's duty.
            let params = unsafe { &*params.cast::<params::glPushGroupMarkerEXT>() };
            (usize::try_from(params.length).ok().filter(|len| *len > 0), params.marker)
        }
        _ => return groups.pop(order),
    };
    let mut bytes = [0; NAME_BYTES_MAX];
    groups.push(order, frame_rule::has_group(read(name, len, &mut bytes)));
    false
}

/// Copies a name to `bytes`; without a length it ends with NUL. Returns what is readable of it.
fn read(name: *const c_char, len: Option<usize>, bytes: &mut [u8]) -> &[u8] {
    let most = len.unwrap_or(bytes.len()).min(bytes.len());
    let len = match len {
        Some(_) => most,
        None => pages::text_len(name as u64, most as u64).unwrap_or_else(|read| read) as usize,
    };
    // SAFETY: `bytes` has room for as many bytes.
    match unsafe { guarded::read(name as u64, bytes.as_mut_ptr(), len) } {
        true => bytes.get(..len).unwrap_or_default(),
        false => &[],
    }
}
