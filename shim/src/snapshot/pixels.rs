//! Reads pixels of images in a context of the shim's own: as a copy in a format with the same bits, else in the layout
//! in which the driver stores them, else through a framebuffer, else through a shader. Fails only if all of these fail,
//! or if there is no memory.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL_ATTACHMENT,
    GL_FLOAT, GL_FLOAT_32_UNSIGNED_INT_24_8_REV, GL_FRAMEBUFFER_COMPLETE, GL_HALF_FLOAT,
    GL_HALF_FLOAT_OES, GL_MAJOR_VERSION, GL_MINOR_VERSION, GL_PACK_ALIGNMENT, GL_READ_FRAMEBUFFER,
    GL_RENDERBUFFER, GL_RG32UI, GL_RGB, GL_RGBA, GL_RGBA32UI, GL_STENCIL_ATTACHMENT,
    GL_STENCIL_INDEX, GL_TEXTURE_2D, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_IMMUTABLE_LEVELS,
    GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_WIDTH, GL_UNSIGNED_BYTE, GL_UNSIGNED_INT,
    GL_UNSIGNED_INT_24_8,
};

use super::aside::Aside;
use super::canvas::{self, Canvas};
use super::fetch::{Fetch, Sampled};
use super::formats::{self, Encode, Layout, Part, Read, SameBits, Values};
use super::gl::{self, clear_errors, prefers};
use super::image_layer::{Image, Of, layer_of, resize};

/// Levels of a texture that are looked at for other formats.
const LEVELS_MAX: i32 = 16;

/// Reads images. The current context is the shim's own, and has initial state but for what this sets.
pub struct Reader {
    framebuffer: u32,
    fetch: Fetch,
    /// Pixels of the last read.
    read: Vec<u8>,
}

impl Reader {
    /// Makes the framebuffer and the shaders that read. `None` if the driver makes none.
    pub fn new() -> Option<Self> {
        let framebuffer = gl::new_framebuffer(GL_READ_FRAMEBUFFER);
        gl::pixel_store(GL_PACK_ALIGNMENT, 1);
        Some(Self { framebuffer, fetch: Fetch::new(), read: Vec::new() })
    }

    /// Puts an image's pixels into `out` in the layout of an upload with an alignment of 1: from the bottom up, without
    /// gaps. `None` if they cannot be read.
    pub fn read(&mut self, image: Image, layout: Layout, out: &mut Vec<u8>) -> Option<()> {
        out.clear();
        // NVIDIA's driver reads the first texel again and again through a framebuffer if the image's source is gone.
        if let (true, Read::Components(values, take, how)) = (image.is_shared, layout.read)
            && self.through_shader(image, (values, take, how), out).is_some()
        {
            return Some(());
        }
        out.clear();
        if self.read_in_place(image, layout, out).is_some() {
            return Some(());
        }
        out.clear();
        let values = match layout.read {
            Read::AsTheyAre(..) => Values::Floats,
            Read::Components(values, ..) => values,
        };
        self.with_storage(image, values, |reader| match layout.read {
            Read::AsTheyAre(..) => reader.read_in_place(image, layout, out),
            Read::Components(values, take, how) => {
                reader.through_shader(image, (values, take, how), out)
            }
        })
    }

    /// [`Reader::read`] of an image that a framebuffer can have, or that is copied.
    fn read_in_place(&mut self, image: Image, layout: Layout, out: &mut Vec<u8>) -> Option<()> {
        match layout.read {
            Read::AsTheyAre(part, bytes) => {
                let read = (layout.format, layout.kind, bytes);
                if self.through_framebuffer(image, part, read).is_none() {
                    self.with_fewer_levels(image, part, read)?;
                }
                core::mem::swap(out, &mut self.read);
            }
            Read::Components(values, take, how) => {
                if self.as_same_bits(image, layout, out).is_some() {
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
                self.through_framebuffer(image, Part::Color, read)?;
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

    /// [`Reader::through_framebuffer`] with a texture that lacks levels or has levels that do not match: drivers take a level
    /// of it for no attachment.
    fn with_fewer_levels(
        &mut self,
        image: Image,
        part: Part,
        read: (u32, u32, usize),
    ) -> Option<()> {
        let (texture, target, level) = place_of(image)?;
        let mut done = None;
        for put in [Aside::up_to_level, Aside::level] {
            gl::bind_texture(target, texture);
            let aside = put(target, level);
            done = self.through_framebuffer(image, part, read);
            drop(aside);
            if done.is_some() {
                break;
            }
        }
        gl::bind_texture(target, 0);
        done
    }

    /// Runs `job` while the driver has a level of a texture in the texture's storage.
    ///
    /// The levels of a texture that was given no storage at once can have different formats and sizes. Mesa 22.3 then keeps
    /// some of them elsewhere. It takes these for no attachment if their format differs, and copies another level in place
    /// of them. A shader that samples a level, the only one at that moment, has Mesa move it into the texture's storage.
    /// Afterwards the level that was there is moved back: framebuffers of the program may have it.
    fn with_storage<R>(
        &mut self,
        image: Image,
        values: Values,
        job: impl FnOnce(&mut Self) -> R,
    ) -> R {
        let Some((texture, target, level)) = place_of(image) else { return job(self) };
        gl::bind_texture(target, texture);
        let is_immutable = texture_integer(target, GL_TEXTURE_IMMUTABLE_LEVELS) > 0;
        if is_immutable {
            gl::bind_texture(target, 0);
            return job(self);
        }
        let others = other_formats(image);
        let before = others.into_iter().find(|other| self.can_be_attached(*other));
        gl::bind_texture(target, texture);
        let aside = Aside::level(target, level);
        self.sample(image, values);
        let done = job(self);
        gl::bind_texture(target, texture);
        drop(aside);
        if let Some(before) = before
            && let Some((.., level)) = place_of(before)
        {
            let aside = Aside::level(target, level);
            self.sample(before, Values::Floats);
            gl::bind_texture(target, texture);
            drop(aside);
        }
        gl::bind_texture(target, 0);
        done
    }

    /// Samples a texel of an image.
    fn sample(&mut self, image: Image, values: Values) {
        let Some(sampled) = Sampled::of(Image { width: 1, height: 1, ..image }) else { return };
        let mut read = Vec::new();
        // A driver that refuses refuses the read, too.
        let _ = self.fetch.read(sampled, (Canvas::of(values), &[]), &mut read, |_| {});
    }

    /// Whether a framebuffer can have an image.
    fn can_be_attached(&self, image: Image) -> bool {
        let points = [GL_COLOR_ATTACHMENT0, GL_DEPTH_ATTACHMENT, GL_STENCIL_ATTACHMENT];
        points.into_iter().any(|point| {
            let is_complete = self.attach(image, point).is_some()
                && gl::check_framebuffer(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
            detach(point);
            is_complete
        })
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
        let format = if block_bytes == 8 { GL_RG32UI } else { GL_RGBA32UI };
        let copy = self.copy(image, format, [width, height])?;
        self.read(copy.image, Layout::of(format, 0)?, out)
    }

    /// A copy of this size in another format of the same class.
    fn copy(&mut self, image: Image, format: u32, size: [i32; 2]) -> Option<Copy> {
        // Level 0 is copied as it is wherever the driver has it.
        match place_of(image) {
            Some((.., level)) if level > 0 => {
                self.with_storage(image, Values::Floats, |_| Copy::of(image, format, size))
            }
            _ => Copy::of(image, format, size),
        }
    }

    /// Reads a copy in another format that has the same bits and that drivers read without conversion.
    fn as_same_bits(&mut self, image: Image, layout: Layout, out: &mut Vec<u8>) -> Option<()> {
        let SameBits { of, format } = layout.same_bits?;
        let (size, layout) = ([image.width, image.height], Layout::of(format, 0)?);
        // Drivers copy memory within a format; between two formats some draw every pixel.
        if let Some(copy) = self.copy(image, of, size)
            && let Some(view) = copy.viewed_as(format)
            && self.read(view.image, layout, out).is_some()
        {
            return Some(());
        }
        let copy = self.copy(image, format, size)?;
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
        let out = self.read.as_mut_ptr();
        // SAFETY: rows without gaps, of pixels that have as many bytes.
        unsafe { gl::read_pixels(0, 0, image.width, image.height, format, kind, out) };
        (gl::get_error() == 0).then_some(())
    }
}

/// Mesa keeps framebuffers with the share group, so they would outlive this context.
impl Drop for Reader {
    fn drop(&mut self) {
        gl::delete_framebuffer(self.framebuffer);
    }
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
    /// A copy of this size in another format of the same class (`glCopyImageSubData`). `None` if the driver refuses.
    fn of(image: Image, format: u32, [width, height]: [i32; 2]) -> Option<Self> {
        let (from, layer) = match image.of {
            Of::Renderbuffer { name, .. } => ((name, GL_RENDERBUFFER, 0), 0),
            Of::Flat { texture, target, face, level } => {
                ((texture, target, level), layer_of(target, face))
            }
            Of::Layer { texture, target, level, layer } => ((texture, target, level), layer),
            Of::RenderbufferSample { .. } | Of::Sample { .. } | Of::Buffer { .. } => return None,
        };
        clear_errors();
        let target = GL_TEXTURE_2D;
        let texture = gl::new_texture(target);
        gl::tex_storage_2d(target, 1, format, width, height);
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
            Of::Renderbuffer { format, .. } => Self::of(image, format, [image.width, image.height]),
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
    let aside = Aside::level(target, level);
    let is_done = copy();
    drop(aside);
    gl::bind_texture(target, 0);
    is_done
}

/// Name, target and level of a texture's image.
fn place_of(image: Image) -> Option<(u32, u32, i32)> {
    match image.of {
        Of::Flat { texture, target, level, .. } | Of::Layer { texture, target, level, .. } => {
            Some((texture, target, level))
        }
        _ => None,
    }
}

/// Images of the bound texture, on the levels whose format differs from that of `image`. Empty before OpenGL ES 3.1.
fn other_formats(image: Image) -> Vec<Image> {
    if gl::integer(GL_MAJOR_VERSION) * 10 + gl::integer(GL_MINOR_VERSION) < 31 {
        return Vec::new();
    }
    let (face, own) = match image.of {
        Of::Flat { face, level, .. } => (face, level),
        Of::Layer { target, level, .. } => (target, level),
        _ => return Vec::new(),
    };
    let ask = |level, name| {
        let mut value = 0;
        // SAFETY: the parameter has one number.
        unsafe { gl::get_texture_level(face, level, name, &raw mut value) };
        value
    };
    let format = ask(own, GL_TEXTURE_INTERNAL_FORMAT);
    let differs = |level: &i32| {
        ask(*level, GL_TEXTURE_WIDTH) > 0 && ask(*level, GL_TEXTURE_INTERNAL_FORMAT) != format
    };
    let on = |level| match image.of {
        Of::Flat { texture, target, face, .. } => Of::Flat { texture, target, face, level },
        Of::Layer { texture, target, .. } => Of::Layer { texture, target, level, layer: 0 },
        of => of,
    };
    (0..LEVELS_MAX).filter(differs).map(|level| Image { of: on(level), ..image }).collect()
}

/// A number of the bound texture.
fn texture_integer(target: u32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_texture_integers(target, name, &raw mut value) };
    value
}

fn point_of(part: Part) -> u32 {
    match part {
        Part::Color => GL_COLOR_ATTACHMENT0,
        Part::Depth => GL_DEPTH_ATTACHMENT,
        Part::Stencil => GL_STENCIL_ATTACHMENT,
        Part::DepthStencil => GL_DEPTH_STENCIL_ATTACHMENT,
    }
}
