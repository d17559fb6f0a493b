//! Framebuffers that are not complete, by the program's questions (OpenGL ES 3.2, 9.4.2).

use gapii_commands::constants::GL_FRAMEBUFFER_COMPLETE;
use gapii_state::generated::functions::bound_framebuffer;

use super::groups::{Found, Groups};
use super::problem::{ProblemKind, Severity};
use super::seen::Seen;
use crate::role::Role;

/// Adds a framebuffer that is not complete.
pub fn look(seen: &Seen<'_>, groups: &mut Groups) {
    if !Role::AsksFramebuffer.is_of(seen.known) {
        return;
    }
    let Some((status, word)) = seen.result() else { return };
    if status == u64::from(GL_FRAMEBUFFER_COMPLETE) {
        return;
    }
    let target = seen.number("target").unwrap_or(0) as u32;
    let context = seen.thread.and_then(|thread| thread.context.as_deref());
    let framebuffer = context.map_or(0, |context| bound_framebuffer(context, target).name());
    let sentence = match status {
        0 => format!("{} failed for framebuffer {framebuffer}", seen.name()),
        _ => format!("framebuffer {framebuffer} is not complete: {word}"),
    };
    let found = Found::one(ProblemKind::IncompleteFramebuffer, Severity::Error, sentence);
    groups.add(found, seen.place());
}
