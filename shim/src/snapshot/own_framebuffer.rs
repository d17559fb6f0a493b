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
    commands: &'static Commands,
    name: u32,
    /// Its only attachment.
    _image: Made<'a>,
}

/// The commands of OpenGL ES, or those of `GL_OES_framebuffer_object`.
struct Commands {
    make: unsafe fn(i32, *mut u32),
    bind: fn(u32, u32),
    attach: fn(u32, u32, u32, u32),
    check: fn(u32) -> u32,
    delete: unsafe fn(i32, *const u32),
}

const CORE: Commands = Commands {
    make: gl::gen_framebuffers,
    bind: gl::bind_framebuffer,
    attach: gl::framebuffer_renderbuffer,
    check: gl::check_framebuffer,
    delete: gl::delete_framebuffers,
};
const OES: Commands = Commands {
    make: gl::gen_framebuffers_oes,
    bind: gl::bind_framebuffer_oes,
    attach: gl::framebuffer_renderbuffer_oes,
    check: gl::check_framebuffer_oes,
    delete: gl::delete_framebuffers_oes,
};

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
        let commands = if context.has((2, 0), (1, 0)) { &CORE } else { &OES };
        let image = renderbuffer(sibling, format)?;
        let bound = BoundFramebuffers::replace(0);
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { (commands.make)(1, &raw mut name) };
        (commands.bind)(GL_FRAMEBUFFER, name);
        (commands.attach)(GL_FRAMEBUFFER, point, GL_RENDERBUFFER, image.name);
        let is_complete = (commands.check)(GL_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        (commands.bind)(GL_FRAMEBUFFER, 0);
        drop(bound);
        let it = Self { commands, name, _image: image };
        is_complete.then_some(it)
    }

    /// Binds it, for drawing and for reading, until the answer is dropped.
    pub fn bind(&self) -> BoundFramebuffers {
        BoundFramebuffers::replace(self.name)
    }
}

impl Drop for OwnFramebuffer<'_> {
    fn drop(&mut self) {
        // SAFETY: one name.
        unsafe { (self.commands.delete)(1, &raw const self.name) };
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
