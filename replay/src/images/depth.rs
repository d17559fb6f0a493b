//! Depth and stencil of the framebuffer bound for drawing: copied to a texture of the first format in `FORMATS` that
//! the driver accepts, and read by a shader, since no function of OpenGL ES reads them. Needs OpenGL ES 3.1. Depth has
//! 16 bits in the picture, stencil 8.
//!
//! Refuses a framebuffer without the buffer that is wanted, and tries no format without it: glBlitFramebuffer copies nothing
//! then, and reports no error (OpenGL ES 3.2, 18.2.1).

use gapii_commands::constants::{
    GL_DEPTH_ATTACHMENT, GL_DEPTH_BITS, GL_DEPTH_BUFFER_BIT, GL_DEPTH_COMPONENT16,
    GL_DEPTH_COMPONENT24, GL_DEPTH_COMPONENT32_OES, GL_DEPTH_COMPONENT32F,
    GL_DEPTH_STENCIL_ATTACHMENT, GL_DEPTH24_STENCIL8, GL_DEPTH32F_STENCIL8, GL_DRAW_FRAMEBUFFER,
    GL_FRAMEBUFFER_BINDING, GL_NEAREST, GL_READ_FRAMEBUFFER, GL_SCISSOR_TEST,
    GL_STENCIL_ATTACHMENT, GL_STENCIL_BITS, GL_STENCIL_BUFFER_BIT, GL_STENCIL_INDEX8,
};
use gapii_state::read_back::Driver as _;

use super::back_buffer::draw_size;
use super::fetch::{Fetch, Values};
use super::framebuffer::attached;
use super::gl::{GL_TEXTURE_2D, Gl};
use super::picture::Picture;
use crate::driver::Driver;
use crate::skip::Skip;

/// Formats that the depth or stencil buffer may have, with the attachment for each.
const FORMATS: [(u32, u32); 7] = [
    (GL_DEPTH24_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT),
    (GL_DEPTH_COMPONENT24, GL_DEPTH_ATTACHMENT),
    (GL_DEPTH_COMPONENT16, GL_DEPTH_ATTACHMENT),
    (GL_DEPTH_COMPONENT32_OES, GL_DEPTH_ATTACHMENT),
    (GL_DEPTH_COMPONENT32F, GL_DEPTH_ATTACHMENT),
    (GL_DEPTH32F_STENCIL8, GL_DEPTH_STENCIL_ATTACHMENT),
    (GL_STENCIL_INDEX8, GL_STENCIL_ATTACHMENT),
];

/// A copy of depth or stencil in a texture.
pub struct Copy {
    texture: u32,
    size: [u32; 2],
    values: Values,
}

impl Copy {
    /// Copies depth or stencil of the framebuffer bound for drawing. Does not restore the context's
    /// state.
    pub fn of_bound(gl: &Gl<'_>, values: Values) -> Result<Self, Skip> {
        if !gl.is_es((3, 1)) {
            return Err(Skip::from("only contexts of ES 3.1 and later can copy depth and stencil"));
        }
        gl.clear_errors();
        let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
        gl.bind_framebuffer(GL_READ_FRAMEBUFFER, bound);
        let (at, other, bit, bits) = match values {
            Values::Stencil => {
                (GL_STENCIL_ATTACHMENT, GL_DEPTH_ATTACHMENT, GL_STENCIL_BUFFER_BIT, GL_STENCIL_BITS)
            }
            _ => (GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT, GL_DEPTH_BUFFER_BIT, GL_DEPTH_BITS),
        };
        let size = match bound {
            0 if gl.integer(bits) == 0 => {
                return Err(Skip::from("the surface has no such buffer"));
            }
            0 => draw_size(gl)?,
            _ => match attached(gl, GL_READ_FRAMEBUFFER, at)? {
                Some(attached) => [attached.width, attached.height],
                None => return Err(Skip::from("the framebuffer has no such attachment")),
            },
        };
        gl.enable(GL_SCISSOR_TEST, false);
        for (format, to) in FORMATS.into_iter().filter(|(_, to)| *to != other) {
            if let Some(texture) = copied(gl, size, format, to, bit)? {
                return Ok(Self { texture, size, values });
            }
        }
        Err(Skip::from("the driver can't copy it in any format"))
    }

    /// Reads the copy: 16 bits per sample of depth, 8 of stencil, rows from the top down.
    pub fn read(&self, fetch: &Fetch<'_>) -> Result<Vec<u8>, Skip> {
        let picture = fetch.depth_or_stencil(self.texture, self.size, self.values)?;
        Ok(samples(&picture, self.values))
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        self.size
    }
}

fn samples(picture: &Picture, values: Values) -> Vec<u8> {
    let bytes = if values == Values::Stencil { 1 } else { 2 };
    picture
        .rows()
        .flat_map(|row| row.chunks_exact(4))
        .flat_map(|pixel| &pixel[..bytes])
        .copied()
        .collect()
}

/// A texture of `format` with the copy; `None` if the framebuffer's format is another.
fn copied(
    gl: &Gl<'_>,
    size: [u32; 2],
    format: u32,
    to: u32,
    bit: u32,
) -> Result<Option<u32>, Skip> {
    let [width, height] = size.map(|number| number as i32);
    let (mut texture, mut framebuffer) = (0, 0);
    // SAFETY: room for one name.
    unsafe { gl.gen_textures(1, &raw mut texture) }?;
    // SAFETY: takes no pointer.
    unsafe { gl.bind_texture(GL_TEXTURE_2D, texture) }?;
    // SAFETY: takes no pointer.
    unsafe { gl.texture_storage(GL_TEXTURE_2D, 1, format, width, height) }?;
    // SAFETY: room for one name.
    unsafe { gl.gen_framebuffers(1, &raw mut framebuffer) }?;
    gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    // SAFETY: takes no pointer.
    unsafe { gl.framebuffer_texture(GL_DRAW_FRAMEBUFFER, to, GL_TEXTURE_2D, texture, 0) }?;
    // SAFETY: takes no pointer.
    unsafe { gl.blit(0, 0, width, height, 0, 0, width, height, bit, GL_NEAREST) }?;
    Ok((!gl.clear_errors()).then_some(texture))
}

/// Size and samples, or why they can't be had.
type Taken = Result<([u32; 2], Vec<u8>), Skip>;

/// Depth and stencil of the framebuffer bound for drawing, as `wanted` names them. Each has its
/// samples, or the reason why not.
pub fn take(driver: &Driver, wanted: &[(&'static str, Values)]) -> Vec<(&'static str, Taken)> {
    let copies: Vec<_> = wanted
        .iter()
        .map(|(name, values)| {
            let copy = Gl::current(driver).and_then(|gl| {
                let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
                let copy = Copy::of_bound(&gl, *values);
                gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, bound);
                copy
            });
            (*name, copy)
        })
        .collect();
    let fetch = Fetch::begin(driver);
    let read = |copy: Result<Copy, Skip>| {
        let copy = copy?;
        let samples = copy.read(fetch.as_ref().map_err(Clone::clone)?)?;
        Ok((copy.size(), samples))
    };
    copies.into_iter().map(|(name, copy)| (name, read(copy))).collect()
}
