//! Pixels that only a framebuffer of the program reaches: those of the default framebuffer, and of attached objects
//! that have lost their names. The framebuffer is blitted, in the program's context, to a texture that the sibling has
//! made and reads. Only commands that cannot fail are called there; bindings, read buffer and what cuts blits are
//! as before afterwards. A context of OpenGL ES 2 has no blits and is read directly: colors of up to 8 bits per component,
//! at attachment 0, if no extension lets it read others.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT,
    GL_DEPTH_STENCIL_ATTACHMENT, GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_COMPLETE,
    GL_NEAREST, GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_RGBA, GL_STENCIL_ATTACHMENT,
    GL_STENCIL_BUFFER_BIT, GL_TEXTURE_2D, GL_UNSIGNED_BYTE,
};
use gapii_state::read_back::Driver;
use gapii_state::{Context, ContextApi};

use super::formats::{self, Layout, Part, Read, Values};
use super::gl;
use super::image_layer::{Image, Of, resize};
use super::made::Made;
use super::plain_pixels::Plain;
use super::sibling::Sibling;
use super::uncut::Uncut;
use crate::driver_calls::Gl;

/// What is read of the program's framebuffer, which has no samples and is bound.
pub struct Source {
    /// Bound for reading and, unless it is 0, for drawing.
    pub framebuffer: u32,
    /// The attachment point.
    pub point: u32,
    /// Internal format of the attached image, and how its pixels are uploaded.
    pub format: u32,
    pub layout: Layout,
    pub width: i32,
    pub height: i32,
}

/// Attachment point and buffer bits for pixels of a layout.
pub fn point_and_mask(layout: Layout) -> (u32, u32) {
    match layout.read {
        Read::AsTheyAre(Part::Depth, _) => (GL_DEPTH_ATTACHMENT, GL_DEPTH_BUFFER_BIT),
        Read::AsTheyAre(Part::Stencil, _) => (GL_STENCIL_ATTACHMENT, GL_STENCIL_BUFFER_BIT),
        Read::AsTheyAre(Part::DepthStencil, _) => {
            (GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH_BUFFER_BIT | GL_STENCIL_BUFFER_BIT)
        }
        _ => (GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT),
    }
}

impl Source {
    /// Passes the pixels to `take`, as they are uploaded with an alignment of 1. `None` if they cannot be read. The context
    /// has version 3.0 or higher.
    pub fn blit(
        &self,
        context: &Context,
        sibling: &Sibling,
        take: impl FnOnce(&[u8]),
    ) -> Option<()> {
        let texture = self.texture(sibling)?;
        let (point, mask) = point_and_mask(self.layout);
        let framebuffer = gl::new_framebuffer(GL_DRAW_FRAMEBUFFER);
        let target = GL_TEXTURE_2D;
        gl::framebuffer_texture_2d(GL_DRAW_FRAMEBUFFER, point, target, texture.name, 0);
        let read_buffer = (mask == GL_COLOR_BUFFER_BIT).then(|| gl::integer(GL_READ_BUFFER) as u32);
        if read_buffer.is_some() {
            gl::read_buffer(self.point);
        }
        let is_complete = [GL_READ_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER]
            .iter()
            .all(|end| gl::check_framebuffer(*end) == GL_FRAMEBUFFER_COMPLETE);
        let uncut = is_complete.then(|| Uncut::begin(context, self.framebuffer)).flatten();
        let is_copied = uncut.is_some();
        if is_copied {
            let (width, height) = (self.width, self.height);
            gl::blit_framebuffer(0, 0, width, height, 0, 0, width, height, mask, GL_NEAREST);
        }
        drop(uncut);
        if let Some(buffer) = read_buffer {
            gl::read_buffer(buffer);
        }
        gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, self.framebuffer);
        gl::delete_framebuffer(framebuffer);
        // The sibling sees what has been drawn.
        gl::finish_program();
        if !is_copied {
            return None;
        }
        let of = Of::Flat { texture: texture.name, target, face: target, level: 0 };
        let (width, height) = (self.width, self.height);
        let image = Image { of, width, height, is_shared: false };
        sibling.with_pixels(image, self.layout, take)
    }

    /// Makes a texture of the same size and format. `None` if the driver refuses.
    fn texture<'a>(&self, sibling: &'a Sibling) -> Option<Made<'a>> {
        let (internal, width, height) = (self.format as i32, self.width, self.height);
        let Layout { format, kind, .. } = self.layout;
        let make = move || {
            let target = GL_TEXTURE_2D;
            let name = gl::new_texture(target);
            let pixels = core::ptr::null();
            // SAFETY: there are no pixels to read.
            unsafe {
                gl::tex_image_2d(target, 0, internal, width, height, 0, format, kind, pixels);
            }
            gl::bind_texture(target, 0);
            name
        };
        Made::new(sibling, make, gl::delete_texture)
    }

    /// [`Source::blit`] in a context of OpenGL ES 2, which reads colours of up to eight bits a component.
    pub fn read(&self, take: impl FnOnce(&[u8])) -> Option<()> {
        let Read::Components(Values::Bytes, components, how) = self.layout.read else {
            return None;
        };
        let driver = Gl::current()?;
        // Others may read another attachment.
        let has_read_buffer = driver.api() != ContextApi::Es || driver.has("GL_NV_read_buffer");
        if self.point != GL_COLOR_ATTACHMENT0
            || has_read_buffer
            || gl::check_framebuffer(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE
        {
            return None;
        }
        let pixels = usize::try_from(self.width).ok()?.checked_mul(self.height as usize)?;
        let mut read = Vec::new();
        resize(&mut read, pixels.checked_mul(4)?)?;
        let plain = Plain::in_program(&driver)?;
        let (size, out) = ((self.width, self.height), read.as_mut_ptr());
        // SAFETY: there is room for rows without gaps, of four bytes a pixel.
        unsafe { plain.read_pixels(size, (GL_RGBA, GL_UNSIGNED_BYTE), out) };
        drop(plain);
        let mut encoded = Vec::new();
        formats::encode(&read, Values::Bytes, components, how, &mut encoded);
        take(&encoded);
        Some(())
    }
}
