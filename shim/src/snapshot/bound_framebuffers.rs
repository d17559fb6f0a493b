//! The framebuffers that the program has bound, set aside for commands that make a driver look at them.
//!
//! Draws, reads and some queries make Mesa 22.3 look at the framebuffers that are bound. It keeps the answer that one is
//! complete until an image is attached or replaced, and how many bits of stencil it has: the program would get other
//! answers afterwards.

use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING, GL_READ_FRAMEBUFFER,
    GL_READ_FRAMEBUFFER_BINDING,
};

use super::gl;

/// The names of the framebuffers; dropping this binds them again.
pub struct BoundFramebuffers {
    draw: u32,
    /// OpenGL ES 3 has a binding of its own for reading.
    read: Option<u32>,
}

impl BoundFramebuffers {
    /// Binds `framebuffer` in their place, for drawing and for reading; 0 is the surface. Needs OpenGL ES 2.0.
    pub fn replace(version: (u8, u8), framebuffer: u32) -> Self {
        let name = |binding| gl::integer(binding) as u32;
        let draw = name(GL_FRAMEBUFFER_BINDING);
        let read = (version.0 >= 3).then(|| name(GL_READ_FRAMEBUFFER_BINDING));
        if (draw, read.unwrap_or(draw)) != (framebuffer, framebuffer) {
            gl::bind_framebuffer(GL_FRAMEBUFFER, framebuffer);
        }
        Self { draw, read }
    }
}

impl Drop for BoundFramebuffers {
    fn drop(&mut self) {
        let Some(read) = self.read else {
            return gl::bind_framebuffer(GL_FRAMEBUFFER, self.draw);
        };
        gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, self.draw);
        gl::bind_framebuffer(GL_READ_FRAMEBUFFER, read);
    }
}
