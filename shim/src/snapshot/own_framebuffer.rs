//! A framebuffer of the shim's own in the program's context, of one pixel, for commands that need one with a certain
//! image. The sibling makes the image, a renderbuffer, so that the program's binding stays as it is.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER, GL_FRAMEBUFFER_COMPLETE, GL_RENDERBUFFER, GL_RGBA8,
    GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX8,
};
use gapii_state::Context;

use super::bound_framebuffers::BoundFramebuffers;
use super::gl;
use super::sibling::Sibling;

/// The framebuffer; dropping this deletes it.
pub struct OwnFramebuffer<'a> {
    version: (u8, u8),
    name: u32,
    /// Its only attachment.
    _image: Renderbuffer<'a>,
}

impl<'a> OwnFramebuffer<'a> {
    /// One with colors, for draws. `None` if the driver makes no complete one.
    pub fn with_colors(context: &Context, sibling: &'a Sibling) -> Option<Self> {
        Self::make(context, sibling, (GL_COLOR_ATTACHMENT0, GL_RGBA8))
    }

    /// One with eight bits of stencil. `None` if the driver makes no complete one.
    pub fn with_stencil(context: &Context, sibling: &'a Sibling) -> Option<Self> {
        Self::make(context, sibling, (GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX8))
    }

    fn make(context: &Context, sibling: &'a Sibling, (point, format): (u32, u32)) -> Option<Self> {
        let (version, image) = (context.version, Renderbuffer::make(sibling, format)?);
        let bound = BoundFramebuffers::replace(version, 0);
        let name = gl::new_framebuffer(GL_FRAMEBUFFER);
        gl::framebuffer_renderbuffer(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, image.name);
        let is_complete = gl::check_framebuffer(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        drop(bound);
        let it = Self { version, name, _image: image };
        is_complete.then_some(it)
    }

    /// Binds it, for drawing and for reading, until the answer is dropped.
    pub fn bind(&self) -> BoundFramebuffers {
        BoundFramebuffers::replace(self.version, self.name)
    }
}

impl Drop for OwnFramebuffer<'_> {
    fn drop(&mut self) {
        gl::delete_framebuffer(self.name);
    }
}

/// A renderbuffer of one pixel that the sibling has made; dropping this deletes it.
struct Renderbuffer<'a> {
    sibling: &'a Sibling,
    name: u32,
}

impl<'a> Renderbuffer<'a> {
    /// `None` if the driver refuses.
    fn make(sibling: &'a Sibling, format: u32) -> Option<Self> {
        let name = sibling.ask(move |_| {
            gl::clear_errors();
            let name = gl::new_renderbuffer();
            gl::renderbuffer_storage(GL_RENDERBUFFER, format, 1, 1);
            let is_made = gl::get_error() == 0;
            gl::bind_renderbuffer(GL_RENDERBUFFER, 0);
            // The program's context sees the storage.
            gl::finish();
            if !is_made {
                gl::delete_renderbuffer(name);
            }
            is_made.then_some(name)
        });
        name.map(|name| Self { sibling, name })
    }
}

impl Drop for Renderbuffer<'_> {
    fn drop(&mut self) {
        let name = self.name;
        self.sibling.ask(move |_| {
            gl::delete_renderbuffer(name);
            Some(())
        });
    }
}
