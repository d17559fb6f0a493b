//! Capabilities: glEnable or glDisable, as the driver answers.

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::{GL_DISABLE, GL_ENABLE};

/// Describes whether a capability is enabled.
pub fn describe(emitter: &mut Emitter, name: u32) {
    let id = if gl::is_enabled(name) != 0 { GL_ENABLE } else { GL_DISABLE };
    emitter.command(id).arg(name).done();
}
