//! A framebuffer of the shim's own, of one pixel, for draws in the program's context that rasterize nothing. OpenGL ES
//! refuses a draw to a framebuffer that is not complete.
//!
//! No framebuffer of the program is bound meanwhile. Mesa 22.3 keeps the answer that a framebuffer is complete until an
//! image is attached or replaced, and the shim sets parameters of textures for a draw, with which an attached level may
//! be complete that is not complete otherwise.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING, GL_FRAMEBUFFER,
    GL_FRAMEBUFFER_COMPLETE, GL_READ_FRAMEBUFFER, GL_READ_FRAMEBUFFER_BINDING, GL_RGBA8,
    GL_TEXTURE_2D,
};

use super::formats::Layout;
use super::gl;
use super::shared_texture::SharedTexture;
use super::sibling::Sibling;

/// The framebuffer; dropping this deletes it.
pub struct OwnFramebuffer<'a> {
    name: u32,
    /// Its only attachment.
    _texture: SharedTexture<'a>,
}

impl<'a> OwnFramebuffer<'a> {
    /// Needs OpenGL ES 3.0. `None` if the driver makes no framebuffer that is complete.
    pub fn make(sibling: &'a Sibling) -> Option<Self> {
        let texture = SharedTexture::make(sibling, GL_RGBA8, Layout::of(GL_RGBA8, 0)?, [1, 1])?;
        let bound = ProgramsOwn::ask();
        let target = GL_FRAMEBUFFER;
        let name = gl::new_framebuffer(target);
        gl::framebuffer_texture_2d(target, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture.name, 0);
        let is_complete = gl::check_framebuffer(target) == GL_FRAMEBUFFER_COMPLETE;
        drop(bound);
        let it = Self { name, _texture: texture };
        is_complete.then_some(it)
    }

    /// Binds it, for drawing and for reading, until the answer is dropped.
    pub fn bind(&self) -> ProgramsOwn {
        let bound = ProgramsOwn::ask();
        gl::bind_framebuffer(GL_FRAMEBUFFER, self.name);
        bound
    }
}

impl Drop for OwnFramebuffer<'_> {
    fn drop(&mut self) {
        gl::delete_framebuffer(self.name);
    }
}

/// The names of the framebuffers that the program has bound; dropping this binds them again.
pub struct ProgramsOwn {
    draw: u32,
    read: u32,
}

impl ProgramsOwn {
    fn ask() -> Self {
        let [draw, read] =
            [GL_DRAW_FRAMEBUFFER_BINDING, GL_READ_FRAMEBUFFER_BINDING].map(gl::integer);
        Self { draw: draw as u32, read: read as u32 }
    }
}

impl Drop for ProgramsOwn {
    fn drop(&mut self) {
        gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, self.draw);
        gl::bind_framebuffer(GL_READ_FRAMEBUFFER, self.read);
    }
}
