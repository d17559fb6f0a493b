//! A texture that the sibling makes for a framebuffer of the shim's own in the program's context. Has undefined pixels.

use gapii_commands::constants::GL_TEXTURE_2D;

use super::formats::Layout;
use super::gl;
use super::sibling::Sibling;

/// The texture; dropping this deletes it.
pub struct SharedTexture<'a> {
    sibling: &'a Sibling,
    pub name: u32,
}

impl<'a> SharedTexture<'a> {
    /// Makes a texture of target `GL_TEXTURE_2D` with level 0 alone. `size` is width and height in pixels. `None` if the
    /// driver refuses.
    pub fn make(sibling: &'a Sibling, format: u32, layout: Layout, size: [i32; 2]) -> Option<Self> {
        let (internal, [width, height]) = (format as i32, size);
        let Layout { format, kind, .. } = layout;
        let name = sibling.ask(move |_| {
            gl::clear_errors();
            let target = GL_TEXTURE_2D;
            let name = gl::new_texture(target);
            let pixels = core::ptr::null();
            // SAFETY: there are no pixels to read.
            unsafe {
                gl::tex_image_2d(target, 0, internal, width, height, 0, format, kind, pixels);
            }
            let is_made = gl::get_error() == 0;
            gl::bind_texture(target, 0);
            // The program's context sees the texture.
            gl::finish();
            if !is_made {
                gl::delete_texture(name);
            }
            is_made.then_some(name)
        });
        name.map(|name| Self { sibling, name })
    }
}

impl Drop for SharedTexture<'_> {
    fn drop(&mut self) {
        let name = self.name;
        self.sibling.ask(move |_| {
            gl::delete_texture(name);
            Some(())
        });
    }
}
