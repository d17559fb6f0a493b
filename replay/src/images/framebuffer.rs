//! Content of the attachments of the framebuffer bound for drawing: up to 32 color attachments (`ATTACHMENTS_MAX`), in
//! OpenGL ES 2 one. Floats are clamped to 0 to 1, integers to 0 to 255. Multisampled attachments are resolved first. An
//! attachment that cannot be read is noted, and the others are read.
//!
//! For the end of a replay only: bindings are not restored, and errors are cleared.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_COLOR_BUFFER_BIT, GL_DRAW_FRAMEBUFFER, GL_FLOAT, GL_FRAMEBUFFER,
    GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE as GL_COMPONENT_TYPE,
    GL_FRAMEBUFFER_ATTACHMENT_OBJECT_NAME as GL_OBJECT_NAME,
    GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE as GL_OBJECT_TYPE,
    GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_CUBE_MAP_FACE as GL_TEXTURE_CUBE_MAP_FACE,
    GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LAYER as GL_TEXTURE_LAYER,
    GL_FRAMEBUFFER_ATTACHMENT_TEXTURE_LEVEL as GL_TEXTURE_LEVEL, GL_FRAMEBUFFER_BINDING, GL_INT,
    GL_MAX_COLOR_ATTACHMENTS, GL_NEAREST, GL_R8UI, GL_R16_EXT, GL_READ_FRAMEBUFFER,
    GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, GL_RENDERBUFFER_HEIGHT,
    GL_RENDERBUFFER_INTERNAL_FORMAT, GL_RENDERBUFFER_WIDTH, GL_RG8UI, GL_RG16_EXT, GL_RGB8UI,
    GL_RGB10_A2, GL_RGB16_EXT, GL_RGBA, GL_RGBA_INTEGER, GL_RGBA8UI, GL_RGBA16_EXT, GL_SAMPLES,
    GL_TEXTURE_HEIGHT, GL_TEXTURE_INTERNAL_FORMAT, GL_TEXTURE_WIDTH, GL_UNSIGNED_INT,
};
use gapii_state::read_back::{Aside, Driver as _};

use super::back_buffer::{draw_size, read_pixels, room};
use super::gl::Gl;
use super::picture::Picture;
use crate::skip::Skip;

const GL_NONE: i32 = constants::GL_NONE as i32;
const GL_TEXTURE: i32 = constants::GL_TEXTURE as i32;

/// Largest number of colour attachments that are read.
const ATTACHMENTS_MAX: u32 = 32;

/// Size and format of an attachment.
#[derive(Clone, Copy, Debug)]
pub struct Attached {
    /// In pixels.
    pub width: u32,
    /// In pixels.
    pub height: u32,
    /// `GL_FLOAT`, `GL_INT` or `GL_UNSIGNED_INT`; any other component type is read as bytes.
    pub component: i32,
    /// GL_RGBA8 and so on.
    pub internal_format: i32,
}

impl Attached {
    /// Returns how a picture changes the values, in words; `None` if it does not.
    fn conversion(&self) -> Option<&'static str> {
        let wide = [GL_RGB10_A2, GL_R16_EXT, GL_RG16_EXT, GL_RGB16_EXT, GL_RGBA16_EXT];
        let bytes = [GL_R8UI, GL_RG8UI, GL_RGB8UI, GL_RGBA8UI];
        match self.component as u32 {
            _ if bytes.contains(&(self.internal_format as u32)) => None,
            GL_FLOAT => Some("values from 0 to 1 are 8 bits, others are cut off"),
            GL_INT | GL_UNSIGNED_INT => Some("values from 0 to 255 are kept, others are cut off"),
            _ if wide.contains(&(self.internal_format as u32)) => {
                Some("values are rounded to 8 bits")
            }
            _ => None,
        }
    }
}

/// A picture, or why it can't be had.
type Taken = Result<Picture, Skip>;

/// The picture of a colour attachment.
pub struct Color {
    /// Number of the attachment.
    pub number: u32,
    /// How its values became bytes, in words; `None` if the picture has them as they are.
    pub conversion: Option<&'static str>,
    /// The picture.
    pub picture: Taken,
}

/// Pictures of the colour attachments by number, or of the surface if no framebuffer object is
/// bound. Each may have failed on its own.
pub fn colors(gl: &Gl<'_>) -> Result<Vec<Color>, Skip> {
    gl.clear_errors();
    let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
    let is_es3 = gl.is_at_least((3, 0), (3, 0));
    let samples = gl.integer(GL_SAMPLES);
    let _aside = Aside::put(gl)
        .ok_or_else(|| Skip::from("state that affects a read-back can't be reset"))?;
    if bound == 0 {
        let [width, height] = draw_size(gl)?;
        let picture = read_pixels(gl, width, height);
        return Ok(vec![Color { number: 0, conversion: None, picture }]);
    }
    let target = if is_es3 { GL_READ_FRAMEBUFFER } else { GL_FRAMEBUFFER };
    gl.bind_framebuffer(target, bound);
    let count = if is_es3 { gl.integer(GL_MAX_COLOR_ATTACHMENTS).min(ATTACHMENTS_MAX) } else { 1 };
    let mut pictures = Vec::new();
    for number in 0..count {
        let Some(attached) = attached(gl, target, GL_COLOR_ATTACHMENT0 + number)? else { continue };
        gl.bind_framebuffer(target, bound);
        if is_es3 {
            gl.read_buffer(GL_COLOR_ATTACHMENT0 + number);
        }
        let picture = match is_es3 && samples > 0 {
            true => resolved(gl, attached),
            false => read(gl, attached),
        };
        pictures.push(Color { number, conversion: attached.conversion(), picture });
    }
    Ok(pictures)
}

/// The image at an attachment point.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attachment {
    /// `GL_TEXTURE` or `GL_RENDERBUFFER`.
    kind: i32,
    /// Name in the driver.
    name: i32,
    level: i32,
    /// A face of a cube map; otherwise 0.
    face: i32,
    layer: i32,
    /// `GL_FLOAT`, `GL_INT` and so on; 0 in OpenGL ES 2.
    pub component: i32,
}

/// Returns the image at an attachment point of the framebuffer bound to `target`; `None` if there is none.
pub fn attachment(gl: &Gl<'_>, target: u32, point: u32) -> Result<Option<Attachment>, Skip> {
    let ask = |name: u32| -> Result<i32, Skip> {
        let mut value = 0;
        // SAFETY: room for one number.
        unsafe { gl.get_attachment(target, point, name, &raw mut value) }?;
        Ok(value)
    };
    let kind = ask(GL_OBJECT_TYPE)?;
    if kind == GL_NONE || gl.clear_errors() {
        return Ok(None);
    }
    let name = ask(GL_OBJECT_NAME)?;
    let is_es3 = gl.is_at_least((3, 0), (3, 0));
    let component = if is_es3 { ask(GL_COMPONENT_TYPE)? } else { 0 };
    let (mut level, mut face, mut layer) = (0, 0, 0);
    if kind == GL_TEXTURE {
        (level, face) = (ask(GL_TEXTURE_LEVEL)?, ask(GL_TEXTURE_CUBE_MAP_FACE)?);
        layer = if is_es3 { ask(GL_TEXTURE_LAYER)? } else { 0 };
    }
    gl.clear_errors();
    Ok(Some(Attachment { kind, name, level, face, layer, component }))
}

impl Attachment {
    /// Returns width, height and internal format. Restores the bindings.
    fn numbers(&self, gl: &Gl<'_>) -> Result<[i32; 3], Skip> {
        let name = self.name as u32;
        let numbers = if self.kind == GL_TEXTURE {
            let (target, old) = gl.bind_texture_as_it_is(name)?;
            let image = if self.face == 0 { target } else { self.face as u32 };
            let numbers = level_numbers(gl, image, self.level);
            // SAFETY: takes no pointer.
            unsafe { gl.bind_texture(target, old) }?;
            numbers
        } else {
            let old = gl.integer(GL_RENDERBUFFER_BINDING);
            // SAFETY: takes no pointer.
            unsafe { gl.bind_renderbuffer(GL_RENDERBUFFER, name) }?;
            let numbers = renderbuffer_numbers(gl);
            // SAFETY: takes no pointer.
            unsafe { gl.bind_renderbuffer(GL_RENDERBUFFER, old) }?;
            numbers
        };
        gl.clear_errors();
        numbers
    }

    /// Returns width and height, and the internal format. Restores the bindings.
    pub fn size_and_format(&self, gl: &Gl<'_>) -> Result<([u32; 2], i32), Skip> {
        let [width, height, format] = self.numbers(gl)?;
        Ok(([width, height].map(|number| u32::try_from(number).unwrap_or(0)), format))
    }
}

/// Size and format of an attachment of the framebuffer bound to `target`; `None` if there is none.
pub fn attached(gl: &Gl<'_>, target: u32, point: u32) -> Result<Option<Attached>, Skip> {
    let Some(found) = attachment(gl, target, point)? else { return Ok(None) };
    let [width, height, internal_format] = found.numbers(gl)?;
    let [width, height] = [width, height].map(|number| u32::try_from(number).unwrap_or(0));
    Ok(Some(Attached { width, height, component: found.component, internal_format }))
}

/// Width, height and internal format of the bound renderbuffer.
fn renderbuffer_numbers(gl: &Gl<'_>) -> Result<[i32; 3], Skip> {
    let mut numbers = [0; 3];
    let names = [GL_RENDERBUFFER_WIDTH, GL_RENDERBUFFER_HEIGHT, GL_RENDERBUFFER_INTERNAL_FORMAT];
    for (name, number) in names.into_iter().zip(&mut numbers) {
        // SAFETY: room for one number.
        unsafe { gl.get_renderbuffer(GL_RENDERBUFFER, name, number) }?;
    }
    Ok(numbers)
}

/// Width, height and internal format of a level of the bound texture.
pub fn level_numbers(gl: &Gl<'_>, image: u32, level: i32) -> Result<[i32; 3], Skip> {
    let mut numbers = [0; 3];
    let names = [GL_TEXTURE_WIDTH, GL_TEXTURE_HEIGHT, GL_TEXTURE_INTERNAL_FORMAT];
    for (name, number) in names.into_iter().zip(&mut numbers) {
        // SAFETY: room for one number.
        unsafe { gl.get_level(image, level, name, number) }?;
    }
    Ok(numbers)
}

/// Reads the buffer that is selected for reading. Values are shown from 0 to 1, integers from 0 to
/// 255.
pub fn read(gl: &Gl<'_>, attached: Attached) -> Result<Picture, Skip> {
    let Attached { width, height, component, .. } = attached;
    let (format, kind) = match component as u32 {
        GL_FLOAT => (GL_RGBA, GL_FLOAT),
        kind @ (GL_INT | GL_UNSIGNED_INT) => (GL_RGBA_INTEGER, kind),
        _ => {
            let picture = read_pixels(gl, width, height)?;
            return if gl.clear_errors() { Err(unread()) } else { Ok(picture) };
        }
    };
    let mut words = room(width, height, 16)?;
    let out = words.as_mut_ptr();
    // SAFETY: 16 bytes for each pixel: four components of four bytes.
    unsafe { gl.read_pixels(0, 0, width as i32, height as i32, format, kind, out) }?;
    if gl.clear_errors() {
        return Err(unread());
    }
    let (components, _) = words.as_chunks::<4>();
    let byte = |bytes: &[u8; 4]| match kind {
        GL_FLOAT => (f32::from_ne_bytes(*bytes).clamp(0.0, 1.0) * 255.0).round() as u8,
        GL_INT => i32::from_ne_bytes(*bytes).clamp(0, 255) as u8,
        _ => u32::from_ne_bytes(*bytes).min(255) as u8,
    };
    Ok(Picture { width, height, rgba: components.iter().map(byte).collect() })
}

/// Reads a multisampled attachment through a renderbuffer without samples.
fn resolved(gl: &Gl<'_>, attached: Attached) -> Result<Picture, Skip> {
    let (width, height) = (attached.width as i32, attached.height as i32);
    let drawn_to = gl.integer(GL_FRAMEBUFFER_BINDING);
    let (mut framebuffer, mut renderbuffer) = (0, 0);
    // SAFETY: room for one name.
    unsafe { gl.gen_framebuffers(1, &raw mut framebuffer) }?;
    // SAFETY: room for one name.
    unsafe { gl.gen_renderbuffers(1, &raw mut renderbuffer) }?;
    // SAFETY: takes no pointer.
    unsafe { gl.bind_renderbuffer(GL_RENDERBUFFER, renderbuffer) }?;
    let format = attached.internal_format as u32;
    // SAFETY: takes no pointer.
    unsafe { gl.renderbuffer_storage(GL_RENDERBUFFER, format, width, height) }?;
    gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
    let (to, at) = (GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
    // SAFETY: takes no pointer.
    unsafe { gl.framebuffer_renderbuffer(to, at, GL_RENDERBUFFER, renderbuffer) }?;
    // SAFETY: takes no pointer.
    unsafe { gl.blit(0, 0, width, height, 0, 0, width, height, GL_COLOR_BUFFER_BIT, GL_NEAREST) }?;
    gl.bind_framebuffer(GL_DRAW_FRAMEBUFFER, drawn_to);
    if gl.clear_errors() {
        return Err(Skip::from("the driver can't resolve its samples"));
    }
    gl.bind_framebuffer(GL_READ_FRAMEBUFFER, framebuffer);
    gl.read_buffer(GL_COLOR_ATTACHMENT0);
    read(gl, attached)
}

fn unread() -> Skip {
    Skip::from("the driver can't read it back")
}
