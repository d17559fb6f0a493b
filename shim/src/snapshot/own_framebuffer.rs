//! A framebuffer of the shim's own in the program's context, of one pixel, for commands that need one with a certain
//! image. The sibling makes the image, a renderbuffer, so that the program's binding stays as it is.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_FRAMEBUFFER, GL_FRAMEBUFFER_COMPLETE, GL_RENDERBUFFER, GL_RGBA8,
    GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX8,
};
use gapii_state::Context;

use super::bound_framebuffers::BoundFramebuffers;
use super::gl;
use super::made::Made;
use super::sibling::Sibling;

/// The framebuffer; dropping this deletes it.
pub struct OwnFramebuffer<'a> {
    version: (u8, u8),
    name: u32,
    /// Its only attachment.
    _image: Made<'a>,
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
        let (version, image) = (context.version, renderbuffer(sibling, format)?);
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

/// Makes a renderbuffer of one pixel; `None` if the driver refuses.
fn renderbuffer(sibling: &Sibling, format: u32) -> Option<Made<'_>> {
    let make = move || {
        let name = gl::new_renderbuffer();
        gl::renderbuffer_storage(GL_RENDERBUFFER, format, 1, 1);
        gl::bind_renderbuffer(GL_RENDERBUFFER, 0);
        name
    };
    Made::new(sibling, make, gl::delete_renderbuffer)
}
