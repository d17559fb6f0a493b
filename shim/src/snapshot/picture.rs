//! Pixels of a surface.

use gapii_commands::constants::{GL_RGBA, GL_TEXTURE_2D, GL_UNSIGNED_BYTE};

use super::emit::Emitter;
use crate::generated::ids::*;

/// RGBA rows from the bottom up, one byte per component.
pub struct Picture<'a> {
    pub width: i32,
    pub height: i32,
    pub pixels: &'a [u8],
}

impl Picture<'_> {
    /// Makes it the image of the texture that is bound in the replay.
    pub fn upload(&self, emitter: &mut Emitter, internal: u32) {
        let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32).arg(internal);
        let command = command.arg(self.width).arg(self.height).arg(0_i32).arg(GL_RGBA);
        command.arg(GL_UNSIGNED_BYTE).arg(self.pixels.as_ptr()).range(8, self.pixels).done();
    }
}
