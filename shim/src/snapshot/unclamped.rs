//! Queries of colors in a context of the compatibility profile, as the program has set them. While GL_CLAMP_FRAGMENT_COLOR is on,
//! or the framebuffer for drawing has fixed-point colors only, the driver clamps the answers to 0 to 1: border colors of textures,
//! colors of blending, clears, fog and texture environments (OpenGL 4.6, compatibility profile, 22.1).

use gapii_commands::constants::{GL_CLAMP_FRAGMENT_COLOR, GL_FALSE};
use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::GL_CLAMP_COLOR;

/// The clamping is off until this is dropped.
pub struct Unclamped {
    /// What the program has set; `None` if the context has no clamping.
    before: Option<i32>,
}

impl Unclamped {
    /// In the program's current context.
    pub fn begin(context: &Context) -> Self {
        let has_clamping = context.api.has_fixed_function(context.version)
            && context.has(gapii_state::read_back::NEVER, (3, 0));
        let before = has_clamping.then(|| gl::integer(GL_CLAMP_FRAGMENT_COLOR));
        if before.is_some() {
            gl::clamp_color(GL_CLAMP_FRAGMENT_COLOR, GL_FALSE);
        }
        Self { before }
    }

    /// Describes the clamping.
    pub fn describe(&self, emitter: &mut Emitter) {
        if let Some(before) = self.before {
            emitter.command(GL_CLAMP_COLOR).arg(GL_CLAMP_FRAGMENT_COLOR).arg(before).done();
        }
    }
}

impl Drop for Unclamped {
    fn drop(&mut self) {
        if let Some(before) = self.before {
            gl::clamp_color(GL_CLAMP_FRAGMENT_COLOR, before as u32);
        }
    }
}
