//! Reads pixels of images in a context of the shim's own: as a copy in a format with the same bits, else in the layout
//! in which the driver stores them, else through a framebuffer, else through a shader. Fails if all of these fail, if
//! there is no memory, or if only a read that changes what the program sees would be left ([`Levels`]).

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL_ATTACHMENT,
    GL_FLOAT, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, GL_FRAMEBUFFER_COMPLETE, GL_HALF_FLOAT,
    GL_HALF_FLOAT_OES, GL_PACK_ALIGNMENT, GL_READ_FRAMEBUFFER, GL_RENDERBUFFER, GL_RG32UI, GL_RGB,
    GL_RGBA, GL_RGBA32UI, GL_STENCIL_ATTACHMENT, GL_STENCIL_INDEX, GL_TEXTURE_2D,
    GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_MAX_LEVEL, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT, GL_UNSIGNED_INT_24_8,
};

use gapii_state::ContextApi;
use gapii_state::read_back::{Driver, NEVER};

use super::aside::Aside;
use super::canvas::{self, Canvas};
use super::depth_numbers;
use super::fetch::{Fetch, Sampled};
use super::formats::{self, Encode, Layout, Part, Read, SameBits, Values};
use super::gl::{self, clear_errors, prefers};
use super::image_layer::{Image, Of, is_only_of_desktop, layer_of, resize};
use super::levels::{Levels, can_be_base, face_of, level_integer, place_of};
use super::plain_pixels::Plain;
use super::unclamped::Unclamped;
use crate::driver_calls::Gl;

/// Reads images. The current context is the shim's own, and has initial state but for what this sets.
pub struct Reader {
    framebuffer: u32,
    /// The core profile of OpenGL draws nothing without one. 0 in OpenGL ES.
    vertex_array: u32,
    fetch: Fetch,
    /// Pixels of the last read.
    read: Vec<u8>,
}

impl Reader {
    /// Makes the framebuffer and the shaders that read. `None` if the driver makes none.
    pub fn new() -> Option<Self> {
        let framebuffer = gl::new_framebuffer(GL_READ_FRAMEBUFFER);
        gl::pixel_store(GL_PACK_ALIGNMENT, 1);
        let mut vertex_array = 0;
        let driver = Gl::of_thread()?;
        Unclamped::set(&driver);
        if driver.api() != ContextApi::Es {
            // SAFETY: there is room for one name.
            unsafe { gl::gen_vertex_arrays(1, &raw mut vertex_array) };
            gl::bind_vertex_array(vertex_array);
        }
        Some(Self { framebuffer, vertex_array, fetch: Fetch::new(), read: Vec::new() })
    }

    /// Puts an image's pixels into `out` in the layout of an upload with an alignment of 1: from the bottom up, without
    /// gaps. `None` if they cannot be read.
    pub fn read(&mut self, image: Image, layout: Layout, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        if let Of::Flat { texture, target, level, .. } = image.of
            && is_only_of_desktop(target)
        {
            return self.as_a_whole(image, (texture, target, level), layout, out);
        }
        let levels = Levels::of(image);
        let shader = match layout.read {
            Read::AsTheyAre(..) => None,
            Read::Components(values, take, how) => Some((values, take, how)),
        };
        // NVIDIA's driver reads the first texel again and again through a framebuffer if the image's source is gone.
        if let (true, Levels::First, Some(how)) = (image.is_shared, levels, shader)
            && self.through_shader(image, how, out).is_some()
        {
            return Some(());
        }
        out.clear();
        if self.read_in_place(image, levels, layout, out).is_some() {
            return Some(());
        }
        out.clear();
        let shader = shader?;
        if levels == Levels::First {
            return self.through_shader(image, shader, out);
        }
        // A shader that samples a copy moves nothing of the program's texture.
        if let Some(copy) = Copy::of_same_format(image, levels, layout) {
            return self.through_shader(copy.image, shader, out);
        }
        match levels {
            Levels::Chain => self.through_shader(image, shader, out),
            Levels::First | Levels::Apart => None,
        }
    }

    /// [`Reader::read`] of a level of a texture that only OpenGL has.
    fn as_a_whole(
        &mut self,
        image: Image,
        (texture, target, level): (u32, u32, i32),
        layout: Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let pixels = (image.width as usize).checked_mul(image.height as usize)?;
        resize(out, pixels.checked_mul(layout.pixel_bytes())?)?;
        clear_errors();
        gl::bind_texture(target, texture);
        let (plain, at) = (Plain::in_own_context(), out.as_mut_ptr());
        // SAFETY: rows without gaps, of pixels that have as many bytes.
        unsafe { plain.texture_image((target, level), (layout.format, layout.kind), at) };
        gl::bind_texture(target, 0);
        (gl::get_error() == 0).then_some(())
    }

    /// [`Reader::read`] of an image that a framebuffer can have, or that is copied.
    fn read_in_place(
        &mut self,
        image: Image,
        levels: Levels,
        layout: Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        match layout.read {
            Read::AsTheyAre(part, bytes) => {
                self.through_any_framebuffer(image, part, (layout.format, layout.kind, bytes))?;
                core::mem::swap(out, &mut self.read);
                if (part, layout.kind) == (Part::Depth, GL_UNSIGNED_INT) {
                    self.settle_depths(image, out);
                }
            }
            Read::Components(values, take, how) => {
                if self.as_same_bits(image, levels, layout, out).is_some() {
                    return Some(());
                }
                // Drivers clamp signed fixed-point numbers to 0 and above when they are read.
                let is_clamped = matches!(how, Encode::Snorm8 | Encode::Snorm16);
                let pixel_bytes = how.pixel_bytes(take.len());
                if !is_clamped && self.as_it_is_stored(image, layout, pixel_bytes, out).is_some() {
                    return Some(());
                }
                let canvas = Canvas::of(values);
                let read = (canvas.read.0, canvas.read.1, canvas.pixel_bytes);
                self.through_any_framebuffer(image, Part::Color, read)?;
                if formats::is_plain(values, take, how) {
                    core::mem::swap(out, &mut self.read);
                } else {
                    out.try_reserve_exact(self.read.len()).ok()?;
                    formats::encode(&self.read, values, take, how, out);
                }
            }
        }
        Some(())
    }

    /// [`Reader::through_framebuffer`], also with a texture that lacks levels or has levels that do not match: drivers take a
    /// level of it for no attachment, unless the other levels are left out by the texture's parameters.
    fn through_any_framebuffer(
        &mut self,
        image: Image,
        part: Part,
        read: (u32, u32, usize),
    ) -> Option<()> {
        if self.through_framebuffer(image, part, read).is_some() {
            return Some(());
        }
        let (texture, target, level) = place_of(image)?;
        gl::bind_texture(target, texture);
        let aside = Aside::up_to_level(target, level);
        let mut done = self.through_framebuffer(image, part, read);
        drop(aside);
        if done.is_none() && can_be_base(target, level) {
            let aside = Aside::level(target, level);
            done = self.through_framebuffer(image, part, read);
            drop(aside);
        }
        gl::bind_texture(target, 0);
        done
    }

    /// Puts the blocks of an image in a compressed format into `out`. The tuple is width and height of a block in pixels,
    /// and its size in bytes.
    pub fn read_blocks(
        &mut self,
        image: Image,
        (block_width, block_height, block_bytes): (i32, i32, usize),
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let width = image.width.checked_add(block_width - 1)? / block_width;
        let height = image.height.checked_add(block_height - 1)? / block_height;
        if self.blocks_of_desktop(image, [width, height, block_bytes as i32], out).is_some() {
            return Some(());
        }
        let format = if block_bytes == 8 { GL_RG32UI } else { GL_RGBA32UI };
        let copy = Copy::of(image, Levels::of(image), format, [width, height])?;
        self.read(copy.image, Layout::of(format, 0)?, out)
    }

    /// Has OpenGL answer with the blocks: rows, columns, and the bytes of one. Mesa 22.3 copies those of EAC to no other format
    /// there.
    fn blocks_of_desktop(&self, image: Image, blocks: [i32; 3], out: &mut Vec<u8>) -> Option<()> {
        let driver = Gl::of_thread()?;
        let has = driver.is_at_least(NEVER, (4, 5)) || driver.has("GL_ARB_get_texture_sub_image");
        let (texture, level, layer) = match image.of {
            Of::Flat { texture, target, face, level } => (texture, level, layer_of(target, face)),
            Of::Layer { texture, level, layer, .. } => (texture, level, layer),
            _ => return None,
        };
        let bytes = blocks.iter().try_fold(1_i32, |bytes, by| bytes.checked_mul(*by))?;
        if !has || driver.api() == ContextApi::Es {
            return None;
        }
        resize(out, bytes as usize)?;
        clear_errors();
        let (width, height, at) = (image.width, image.height, out.as_mut_ptr());
        // SAFETY: there is room for as many bytes as the driver is told.
        unsafe {
            gl::get_blocks(texture, level, 0, 0, layer, width, height, 1, bytes, at);
        }
        (gl::get_error() == 0).then_some(())
    }

    /// Reads a copy in another format that has the same bits and that drivers read without conversion.
    fn as_same_bits(
        &mut self,
        image: Image,
        levels: Levels,
        layout: Layout,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let SameBits { of, format } = layout.same_bits?;
        let (size, layout) = ([image.width, image.height], Layout::of(format, 0)?);
        // Drivers copy memory within a format; between two formats some draw every pixel.
        if let Some(copy) = Copy::of(image, levels, of, size)
            && let Some(view) = copy.viewed_as(format)
            && self.read(view.image, layout, out).is_some()
        {
            return Some(());
        }
        let copy = Copy::of(image, levels, format, size)?;
        self.read(copy.image, layout, out)
    }

    /// Has a shader fetch the pixels. It draws them in the layout of an upload if the driver can, else they are encoded
    /// here.
    fn through_shader(
        &mut self,
        image: Image,
        (values, take, how): (Values, &'static [usize], Encode),
        out: &mut Vec<u8>,
    ) -> Option<()> {
        let pixels = (image.width as usize).checked_mul(image.height as usize)?;
        let bytes = pixels.checked_mul(how.pixel_bytes(take.len()))?;
        out.try_reserve_exact(bytes).ok()?;
        let copy = Copy::of_renderbuffer(image);
        let image = copy.as_ref().map_or(image, |copy| copy.image);
        let sampled = Sampled::of(image)?;
        if let Some(canvas) = Canvas::as_uploaded(take, how, image.width) {
            let each = |read: &[u8]| canvas.append(read, take.len(), out);
            if self.fetch.read(sampled, (canvas, take), &mut self.read, each).is_some() {
                return Some(());
            }
            out.clear();
        }
        // A shader reads linear numbers, which need more than eight bits.
        let values = if how == Encode::Srgb8 { Values::Floats } else { values };
        let each = |read: &[u8]| formats::encode(read, values, take, how, out);
        self.fetch.read(sampled, (Canvas::of(values), &[]), &mut self.read, each)
    }

    /// Reads pixels in the layout of an upload, or with a fourth component besides, if that is the implementation's format
    /// and type for a framebuffer of them.
    fn as_it_is_stored(
        &mut self,
        image: Image,
        layout: Layout,
        pixel_bytes: usize,
        out: &mut Vec<u8>,
    ) -> Option<()> {
        self.attach(image, GL_COLOR_ATTACHMENT0)?;
        let Layout { format, kind, .. } = layout;
        let kind = if kind == GL_HALF_FLOAT_OES { GL_HALF_FLOAT } else { kind };
        let is_complete = gl::check_framebuffer(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        let (format, bytes) = match is_complete && format == GL_RGB && prefers((GL_RGBA, kind)) {
            true => (GL_RGBA, pixel_bytes / 3 * 4),
            false => (format, pixel_bytes),
        };
        let is_preferred = is_complete && prefers((format, kind));
        let done =
            if is_preferred { self.read_attached(image, (format, kind, bytes)) } else { None };
        detach(GL_COLOR_ATTACHMENT0);
        done?;
        if bytes == pixel_bytes {
            core::mem::swap(out, &mut self.read);
        } else {
            out.try_reserve_exact(self.read.len() / 4 * 3).ok()?;
            canvas::without_last(&self.read, bytes, out);
        }
        Some(())
    }

    /// Reads pixels in a format and type; the third number is their size in bytes.
    fn through_framebuffer(
        &mut self,
        image: Image,
        part: Part,
        read: (u32, u32, usize),
    ) -> Option<()> {
        let point = point_of(part);
        self.attach(image, point)?;
        let is_complete = gl::check_framebuffer(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        let done = match (is_complete, part) {
            (false, _) => None,
            (true, Part::DepthStencil) => self
                .read_depth_and_stencil(image, read.1)
                .or_else(|| self.read_attached(image, read)),
            (true, _) => self.read_attached(image, read),
        };
        detach(point);
        done
    }

    /// Reads depth and stencil one after the other, and packs them in pixels of type `kind`. NVIDIA's driver needs 4 ms a
    /// row for both at once while another thread has a context.
    fn read_depth_and_stencil(&mut self, image: Image, kind: u32) -> Option<()> {
        let depth_kind = match kind {
            GL_UNSIGNED_INT_24_8 => GL_UNSIGNED_INT,
            GL_FLOAT_32_UNSIGNED_INT_24_8_REV => GL_FLOAT,
            _ => return None,
        };
        clear_errors();
        self.read_attached(image, (GL_STENCIL_INDEX, GL_UNSIGNED_BYTE, 1))?;
        let stencil = core::mem::take(&mut self.read);
        self.read_attached(image, (GL_DEPTH_COMPONENT, depth_kind, 4))?;
        let is_fixed = depth_kind == GL_UNSIGNED_INT;
        formats::pack_depth_and_stencil(&mut self.read, &stencil, is_fixed)
    }

    /// Changes depths that were read so that an upload gives them again.
    fn settle_depths(&mut self, image: Image, depths: &mut [u8]) {
        let Some(internal) = internal_format(image) else { return };
        let (chunks, _) = depths.as_chunks_mut::<4>();
        let mut numbers: Vec<u32> = chunks.iter().map(|it| u32::from_ne_bytes(*it)).collect();
        depth_numbers::settle(&mut numbers, |numbers| {
            self.depths_after_upload(image, internal, numbers)
        });
        for (chunk, number) in chunks.iter_mut().zip(numbers) {
            *chunk = number.to_ne_bytes();
        }
    }

    /// Returns the depths that a texture has after an upload, in the size of the image.
    fn depths_after_upload(
        &mut self,
        image: Image,
        internal: u32,
        numbers: &[u32],
    ) -> Option<Vec<u32>> {
        let (target, width, height) = (GL_TEXTURE_2D, image.width, image.height);
        let (format, kind) = (GL_DEPTH_COMPONENT, GL_UNSIGNED_INT);
        clear_errors();
        let texture = gl::new_texture(target);
        let pixels = numbers.as_ptr().cast();
        // SAFETY: there is a number for each pixel.
        unsafe {
            gl::tex_image_2d(target, 0, internal as i32, width, height, 0, format, kind, pixels);
        }
        gl::bind_texture(target, 0);
        let of = Of::Flat { texture, target, face: target, level: 0 };
        let uploaded = Image { of, width, height, is_shared: false };
        let done = self.through_framebuffer(uploaded, Part::Depth, (format, kind, 4));
        gl::delete_texture(texture);
        done?;
        let (chunks, _) = self.read.as_chunks::<4>();
        Some(chunks.iter().map(|it| u32::from_ne_bytes(*it)).collect())
    }

    fn attach(&self, image: Image, point: u32) -> Option<()> {
        clear_errors();
        let target = GL_READ_FRAMEBUFFER;
        gl::bind_framebuffer(target, self.framebuffer);
        match image.of {
            Of::Renderbuffer { name, .. } => {
                gl::framebuffer_renderbuffer(target, point, GL_RENDERBUFFER, name);
            }
            Of::Flat { texture, face, level, .. } => {
                gl::framebuffer_texture_2d(target, point, face, texture, level);
            }
            Of::Layer { texture, level, layer, .. } => {
                gl::framebuffer_texture_layer(target, point, texture, level, layer);
            }
            // A framebuffer would resolve the samples.
            Of::RenderbufferSample { .. } | Of::Sample { .. } => return None,
            Of::Buffer { .. } => return None,
        }
        Some(())
    }

    fn read_attached(
        &mut self,
        image: Image,
        (format, kind, pixel_bytes): (u32, u32, usize),
    ) -> Option<()> {
        let [width, height] = [image.width, image.height].map(|side| usize::try_from(side).ok());
        let bytes = width?.checked_mul(height?)?.checked_mul(pixel_bytes)?;
        if bytes == 0 {
            return None;
        }
        resize(&mut self.read, bytes)?;
        let (plain, out) = (Plain::in_own_context(), self.read.as_mut_ptr());
        // SAFETY: rows without gaps, of pixels that have as many bytes.
        unsafe { plain.read_pixels((image.width, image.height), (format, kind), out) };
        (gl::get_error() == 0).then_some(())
    }
}

/// Mesa keeps framebuffers with the share group, so they would outlive this context.
impl Drop for Reader {
    fn drop(&mut self) {
        gl::delete_framebuffer(self.framebuffer);
        if self.vertex_array != 0 {
            // SAFETY: one name.
            unsafe { gl::delete_vertex_arrays(1, &raw const self.vertex_array) };
        }
    }
}

/// The format of a texture's level or of a renderbuffer, as the program named it.
fn internal_format(image: Image) -> Option<u32> {
    if let Of::Renderbuffer { format, .. } = image.of {
        return Some(format);
    }
    let (face, (texture, target, level)) = (face_of(image)?, place_of(image)?);
    gl::bind_texture(target, texture);
    let internal = level_integer(face, level, GL_TEXTURE_INTERNAL_FORMAT);
    gl::bind_texture(target, 0);
    Some(internal as u32)
}

fn detach(point: u32) {
    gl::framebuffer_renderbuffer(GL_READ_FRAMEBUFFER, point, GL_RENDERBUFFER, 0);
}

/// A texture with a bitwise copy of an image, or a view of it, that can be read in another way.
struct Copy {
    image: Image,
    texture: u32,
}

impl Copy {
    /// A copy of this size in another format of the same class (`glCopyImageSubData`). `None` if the driver refuses, or if
    /// it may copy another level.
    fn of(image: Image, levels: Levels, format: u32, [width, height]: [i32; 2]) -> Option<Self> {
        Self::filled(image, levels, [width, height], |target| {
            gl::tex_storage_2d(target, 1, format, width, height);
        })
    }

    /// A copy of a texture's image in the same format, for which the layout is. `None` as for [`Self::of`].
    fn of_same_format(image: Image, levels: Levels, layout: Layout) -> Option<Self> {
        let internal = internal_format(image)? as i32;
        let Layout { format, kind, .. } = layout;
        let (width, height) = (image.width, image.height);
        Self::filled(image, levels, [width, height], |target| {
            gl::tex_parameter(target, GL_TEXTURE_MAX_LEVEL, 0);
            let pixels = core::ptr::null();
            // SAFETY: there are no pixels to read.
            unsafe {
                gl::tex_image_2d(target, 0, internal, width, height, 0, format, kind, pixels);
            }
        })
    }

    /// Copies an image to a new texture of this size, to which `store` gives storage.
    fn filled(
        image: Image,
        levels: Levels,
        [width, height]: [i32; 2],
        store: impl FnOnce(u32),
    ) -> Option<Self> {
        let (from, layer) = match image.of {
            Of::Renderbuffer { name, .. } => ((name, GL_RENDERBUFFER, 0), 0),
            Of::Flat { level, .. } | Of::Layer { level, .. }
                if levels == Levels::Apart && level > 0 =>
            {
                return None;
            }
            Of::Flat { texture, target, face, level } => {
                ((texture, target, level), layer_of(target, face))
            }
            Of::Layer { texture, target, level, layer } => ((texture, target, level), layer),
            Of::RenderbufferSample { .. } | Of::Sample { .. } | Of::Buffer { .. } => return None,
        };
        clear_errors();
        let target = GL_TEXTURE_2D;
        let texture = gl::new_texture(target);
        store(target);
        let of = Of::Flat { texture, target, face: target, level: 0 };
        let copy = Self { image: Image { of, width, height, is_shared: false }, texture };
        let bits = || {
            let size = [image.width, image.height, 1];
            gl::copy_image(from, [0, 0, layer], (texture, target, 0), [0; 3], size);
            gl::get_error() == 0
        };
        (bits() || with_level_alone(from, bits)).then_some(copy)
    }

    /// A view in another format of the same class. `None` if the driver has no texture views.
    fn viewed_as(&self, format: u32) -> Option<Self> {
        let Of::Flat { texture: viewed, target, .. } = self.image.of else { return None };
        clear_errors();
        let texture = gl::texture_view(target, viewed, format)?;
        let of = Of::Flat { texture, target, face: target, level: 0 };
        let view = Self { image: Image { of, ..self.image }, texture };
        (gl::get_error() == 0).then_some(view)
    }

    /// A copy of a renderbuffer, which no shader can read. `None` for other images.
    fn of_renderbuffer(image: Image) -> Option<Self> {
        match image.of {
            Of::Renderbuffer { format, .. } => {
                Self::of(image, Levels::First, format, [image.width, image.height])
            }
            Of::RenderbufferSample { name, format, samples, sample } => {
                Self::of_samples(image, name, (format, samples, sample))
            }
            _ => None,
        }
    }

    fn of_samples(
        image: Image,
        name: u32,
        (format, samples, sample): (u32, i32, i32),
    ) -> Option<Self> {
        clear_errors();
        let target = GL_TEXTURE_2D_MULTISAMPLE;
        let texture = gl::new_texture(target);
        gl::tex_storage_2d_multisample(target, samples, format, image.width, image.height, 1);
        let (from, size) = ((name, GL_RENDERBUFFER, 0), [image.width, image.height, 1]);
        gl::copy_image(from, [0; 3], (texture, target, 0), [0; 3], size);
        let of = Of::Sample { texture, target, layer: 0, sample };
        let copy = Self { image: Image { of, ..image }, texture };
        (gl::get_error() == 0).then_some(copy)
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        gl::delete_texture(self.texture);
    }
}

/// Repeats a copy with one level of the source made the only one: drivers refuse to copy from incomplete textures.
fn with_level_alone((name, target, level): (u32, u32, i32), copy: impl Fn() -> bool) -> bool {
    if target == GL_RENDERBUFFER {
        return false;
    }
    gl::bind_texture(target, name);
    let is_done = can_be_base(target, level) && {
        let _aside = Aside::level(target, level);
        copy()
    };
    gl::bind_texture(target, 0);
    is_done
}

fn point_of(part: Part) -> u32 {
    match part {
        Part::Color => GL_COLOR_ATTACHMENT0,
        Part::Depth => GL_DEPTH_ATTACHMENT,
        Part::Stencil => GL_STENCIL_ATTACHMENT,
        Part::DepthStencil => GL_DEPTH_STENCIL_ATTACHMENT,
    }
}
