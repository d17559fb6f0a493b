//! Pixels, depth and stencil of a surface that no thread of a replay has: blitted back in a spare context.

use gapii_abi::spare_names;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_READ_FRAMEBUFFER, GL_RGBA8, GL_TEXTURE_2D,
    GL_UNPACK_ALIGNMENT,
};

use super::emit::Emitter;
use super::formats::Layout;
use super::like::Like;
use super::picture::Picture;
use super::spare;
use super::spare_context::SpareContext;
use super::surface_depth::put;
use crate::generated::ids::*;

/// Contents of a surface.
pub struct Contents {
    pub width: i32,
    pub height: i32,
    /// RGBA rows from the bottom up, one byte per component.
    pub pixels: Vec<u8>,
    /// Format, layout and texels of depth and stencil; `None` to leave them as they are.
    pub depth: Option<(u32, Layout, Vec<u8>)>,
}

impl Contents {
    /// Describes them as those of a surface, which is current on no thread of the replay. `like` is a context that can have
    /// the surface.
    pub fn describe(&self, emitter: &mut Emitter, surface: u64, like: &Like) {
        let spare = SpareContext::alone(emitter, like);
        spare.make_current_with(emitter, surface);
        emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
        emitter.make(GL_GEN_TEXTURES, spare_names::FIRST);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(spare_names::FIRST).done();
        let (width, height) = (self.width, self.height);
        Picture { width, height, pixels: &self.pixels }.upload(emitter, GL_RGBA8);
        spare::read_from_texture(emitter, GL_COLOR_ATTACHMENT0);
        spare::blit(emitter, (width, height), GL_COLOR_BUFFER_BIT);
        emitter.command(GL_BIND_FRAMEBUFFER).arg(GL_READ_FRAMEBUFFER).arg(0_u32).done();
        for id in [GL_DELETE_FRAMEBUFFERS, GL_DELETE_TEXTURES] {
            spare::delete(emitter, id, &[spare_names::FIRST]);
        }
        if let Some((format, layout, texels)) = &self.depth {
            put(emitter, *format, *layout, (width, height), texels);
        }
        spare.release(emitter);
        spare.destroy(emitter);
    }
}
