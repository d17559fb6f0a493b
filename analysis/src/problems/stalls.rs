//! Commands that wait until the device is done, inside frames: reads of pixels without a pack buffer (OpenGL ES 3.2,
//! 16.1) and finishes.

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::Seen;
use crate::role::Role;

/// Adds a command that waits inside a frame.
pub fn look(seen: &Seen<'_>, groups: &mut Groups) {
    if !seen.is_in_frames {
        return;
    }
    let why = if Role::ReadsPixels.is_of(seen.known) {
        let context = seen.thread.and_then(|thread| thread.context.as_deref());
        if context.is_none_or(|context| context.pixel_pack_buffer.is_some()) {
            return;
        }
        ", because no pack buffer is bound"
    } else if Role::Finishes.is_of(seen.known) {
        ""
    } else {
        return;
    };
    let sentence = format!("{} waits inside frames until the device is done{why}", seen.name());
    groups.add(Found::one(ProblemKind::Stall, Severity::Warning, sentence), seen.place());
}
