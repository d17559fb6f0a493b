//! Pixels of textures and renderbuffers, read back through a framebuffer.

use gapii_state::read_back::Aside;

use super::gl;
use crate::driver_calls::Gl;

const GL_BYTE: u32 = 0x1400;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_SHORT: u32 = 0x1402;
const GL_UNSIGNED_SHORT: u32 = 0x1403;
const GL_INT: u32 = 0x1404;
const GL_UNSIGNED_INT: u32 = 0x1405;
const GL_FLOAT: u32 = 0x1406;
const GL_RED: u32 = 0x1903;
const GL_RGB: u32 = 0x1907;
const GL_RGBA: u32 = 0x1908;
const GL_RG: u32 = 0x8227;
const GL_RED_INTEGER: u32 = 0x8D94;
const GL_RG_INTEGER: u32 = 0x8228;
const GL_RGBA_INTEGER: u32 = 0x8D99;
const GL_FRAMEBUFFER: u32 = 0x8D40;
const GL_READ_FRAMEBUFFER: u32 = 0x8CA8;
const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
const GL_FRAMEBUFFER_COMPLETE: u32 = 0x8CD5;
const GL_RENDERBUFFER: u32 = 0x8D41;

/// How pixels of a format are read and given again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    /// Format and type that they are uploaded in.
    pub format: u32,
    pub kind: u32,
    components: usize,
    component_bytes: usize,
    /// Format and type that they are read in: four components.
    read: (u32, u32),
}

impl Layout {
    /// Of an internal format. `None`: it can't be read back through a framebuffer.
    pub fn of(internal: u32) -> Option<Self> {
        let normalized = |format, components| Self {
            format,
            kind: GL_UNSIGNED_BYTE,
            components,
            component_bytes: 1,
            read: (GL_RGBA, GL_UNSIGNED_BYTE),
        };
        let float = |format, components| Self {
            format,
            kind: GL_FLOAT,
            components,
            component_bytes: 4,
            read: (GL_RGBA, GL_FLOAT),
        };
        let whole = |format, components, kind| Self {
            format,
            kind,
            components,
            component_bytes: match kind {
                GL_BYTE | GL_UNSIGNED_BYTE => 1,
                GL_SHORT | GL_UNSIGNED_SHORT => 2,
                _ => 4,
            },
            read: match kind {
                GL_BYTE | GL_SHORT | GL_INT => (GL_RGBA_INTEGER, GL_INT),
                _ => (GL_RGBA_INTEGER, GL_UNSIGNED_INT),
            },
        };
        Some(match internal {
            GL_RGBA | 0x8058 | 0x8C43 | 0x8056 | 0x8057 => normalized(GL_RGBA, 4),
            GL_RGB | 0x8051 | 0x8D62 => normalized(GL_RGB, 3),
            0x8229 => normalized(GL_RED, 1),
            0x822B => normalized(GL_RG, 2),
            0x881A | 0x8814 => float(GL_RGBA, 4),
            0x822D | 0x822E => float(GL_RED, 1),
            0x822F | 0x8230 => float(GL_RG, 2),
            0x8C3A => float(GL_RGB, 3),
            0x8D7C => whole(GL_RGBA_INTEGER, 4, GL_UNSIGNED_BYTE),
            0x8D8E => whole(GL_RGBA_INTEGER, 4, GL_BYTE),
            0x8D76 => whole(GL_RGBA_INTEGER, 4, GL_UNSIGNED_SHORT),
            0x8D88 => whole(GL_RGBA_INTEGER, 4, GL_SHORT),
            0x8D70 => whole(GL_RGBA_INTEGER, 4, GL_UNSIGNED_INT),
            0x8D82 => whole(GL_RGBA_INTEGER, 4, GL_INT),
            0x8232 => whole(GL_RED_INTEGER, 1, GL_UNSIGNED_BYTE),
            0x8231 => whole(GL_RED_INTEGER, 1, GL_BYTE),
            0x8234 => whole(GL_RED_INTEGER, 1, GL_UNSIGNED_SHORT),
            0x8233 => whole(GL_RED_INTEGER, 1, GL_SHORT),
            0x8236 => whole(GL_RED_INTEGER, 1, GL_UNSIGNED_INT),
            0x8235 => whole(GL_RED_INTEGER, 1, GL_INT),
            0x8238 => whole(GL_RG_INTEGER, 2, GL_UNSIGNED_BYTE),
            0x8237 => whole(GL_RG_INTEGER, 2, GL_BYTE),
            0x823A => whole(GL_RG_INTEGER, 2, GL_UNSIGNED_SHORT),
            0x8239 => whole(GL_RG_INTEGER, 2, GL_SHORT),
            0x823C => whole(GL_RG_INTEGER, 2, GL_UNSIGNED_INT),
            0x823B => whole(GL_RG_INTEGER, 2, GL_INT),
            _ => return None,
        })
    }

    /// Bytes that the driver reads a row of `width` pixels in.
    fn read_bytes(self) -> usize {
        if self.read.1 == GL_UNSIGNED_BYTE { 4 } else { 16 }
    }

    /// Takes of pixels of four components those that there are, as wide as they are.
    fn narrowed(self, read: Vec<u8>) -> Vec<u8> {
        let from = self.read_bytes() / 4;
        if self.components == 4 && self.component_bytes == from {
            return read;
        }
        let pixels = read.chunks_exact(self.read_bytes());
        let components = pixels.flat_map(|pixel| pixel.chunks_exact(from).take(self.components));
        components.flat_map(|bytes| bytes.iter().take(self.component_bytes)).copied().collect()
    }
}

/// What is read.
#[derive(Clone, Copy)]
pub enum Source {
    /// The texture, what of it the image is (a face or its target), and the level.
    Texture(u32, u32, i32),
    /// The texture, the level and the layer.
    Layer(u32, i32, i32),
}

/// A framebuffer of our own, bound for reading, and plain ways to read.
pub struct Reader<'g> {
    target: u32,
    name: u32,
    _aside: Aside<'g, Gl>,
}

impl<'g> Reader<'g> {
    /// `None`: something that bends what is read can't be put aside.
    pub fn begin(driver: &'g Gl, is_es3: bool) -> Option<Self> {
        let aside = Aside::put(driver)?;
        let target = if is_es3 { GL_READ_FRAMEBUFFER } else { GL_FRAMEBUFFER };
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_framebuffers(1, &raw mut name) };
        (name != 0).then_some(Self { target, name, _aside: aside })
    }

    /// Pixels from the bottom up and without gaps, as they are uploaded with an alignment of 1.
    /// `None`: they can't be read.
    pub fn read(&self, source: Source, size: [i32; 2], layout: Layout) -> Option<Vec<u8>> {
        let [width, height] = size.map(|side| usize::try_from(side).unwrap_or(0));
        let bytes = width.checked_mul(height)?.checked_mul(layout.read_bytes())?;
        if bytes == 0 {
            return None;
        }
        gl::bind_framebuffer(self.target, self.name);
        let point = GL_COLOR_ATTACHMENT0;
        match source {
            Source::Texture(name, kind, level) => {
                gl::framebuffer_texture_2d(self.target, point, kind, name, level);
            }
            Source::Layer(name, level, layer) => {
                gl::framebuffer_texture_layer(self.target, point, name, level, layer);
            }
        }
        let is_complete = gl::check_framebuffer(self.target) == GL_FRAMEBUFFER_COMPLETE;
        let mut pixels = Vec::new();
        if is_complete {
            pixels.resize(bytes, 0);
            let (format, kind) = layout.read;
            // SAFETY: rows without gaps, in a format whose pixels have as many bytes.
            unsafe {
                gl::read_pixels(0, 0, size[0], size[1], format, kind, pixels.as_mut_ptr());
            }
        }
        gl::framebuffer_renderbuffer(self.target, point, GL_RENDERBUFFER, 0);
        is_complete.then(|| layout.narrowed(pixels))
    }
}

impl Drop for Reader<'_> {
    fn drop(&mut self) {
        gl::bind_framebuffer(self.target, 0);
        // SAFETY: one name.
        unsafe { gl::delete_framebuffers(1, &raw const self.name) };
    }
}
