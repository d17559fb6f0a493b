//! Queries of colors in a context of the compatibility profile, as the program has set them. While GL_CLAMP_FRAGMENT_COLOR is on,
//! or the framebuffer for drawing has fixed-point colors only, the driver clamps the answers to 0 to 1: border colors of textures,
//! colors of blending, clears, fog and texture environments (OpenGL 4.6, compatibility profile, 22.1).

use gapii_commands::constants::{GL_CLAMP_FRAGMENT_COLOR, GL_FALSE};
use gapii_state::ContextApi;
use gapii_state::read_back::{Driver, NEVER};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::GL_CLAMP_COLOR;

/// The clamping is off until this is dropped.
pub struct Unclamped {
    /// What the program has set; `None` if the context has no clamping.
    before: Option<u32>,
}

impl Unclamped {
    /// In the program's context, if one is current.
    pub fn begin() -> Self {
        let driver = Gl::current().filter(has_clamping);
        let before = driver.as_ref().map(|driver| driver.integer(GL_CLAMP_FRAGMENT_COLOR));
        if let Some(driver) = driver {
            Self::set(&driver);
        }
        Self { before }
    }

    /// Switches it off for good in the current context, which is the shim's own.
    pub fn set(driver: &Gl) {
        if has_clamping(driver) {
            gl::clamp_color(GL_CLAMP_FRAGMENT_COLOR, GL_FALSE);
        }
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
            gl::clamp_color(GL_CLAMP_FRAGMENT_COLOR, before);
        }
    }
}

fn has_clamping(driver: &Gl) -> bool {
    driver.api() == ContextApi::Compatibility && driver.is_at_least(NEVER, (3, 0))
}
