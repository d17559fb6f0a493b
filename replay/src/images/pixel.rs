//! One pixel of the framebuffer for drawing, before and after some commands, from which a tool tells which of them changed it.
//!
//! Playing goes on afterwards: the context's state is restored. An error that the program has not asked for is lost.

use std::collections::BTreeSet;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FLOAT, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING,
    GL_INT, GL_R16_EXT, GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_RG16_EXT, GL_RGB10_A2,
    GL_RGB16_EXT, GL_RGBA, GL_RGBA_INTEGER, GL_RGBA16_EXT, GL_SAMPLES, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT, GL_UNSIGNED_INT_2_10_10_10_REV, GL_UNSIGNED_SHORT,
};
use gapii_state::read_back::{Aside, Driver as _};

use super::back_buffer::draw_size;
use super::framebuffer::{Attachment, attachment};
use super::gl::Gl;
use crate::call::Call;
use crate::driver::Driver;
use crate::skip::Skip;

const EGL_DRAW: i32 = constants::EGL_DRAW as i32;

/// A pixel that is watched.
#[derive(Clone, Debug)]
pub struct Watched {
    commands: BTreeSet<u64>,
    place: [u32; 2],
    attachment: u32,
    /// The values that were read so far.
    pub(super) seen: Vec<Seen>,
    before: Option<(Image, [f64; 4])>,
}

/// A pixel before and after a command.
#[derive(Clone, PartialEq, Debug)]
pub struct Seen {
    /// Number of the command.
    pub seq: u64,
    /// What the pixel belongs to, after the command.
    pub of: Image,
    /// Red, green, blue and alpha before the command: from 0 to 1 for normalized formats, otherwise as they are. Those after it,
    /// if the command has changed what is drawn to.
    pub before: [f64; 4],
    /// The same after it.
    pub after: [f64; 4],
}

/// An image that is drawn to: a surface, or an image of a texture or a renderbuffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image {
    process: u32,
    context: u64,
    /// Address of the surface in the driver; 0 for an attachment.
    surface: usize,
    /// `None` for a surface.
    attachment: Option<Attachment>,
}

impl Watched {
    /// Watches the pixel at a column and row, from the lower left corner, of a colour attachment, or of a surface with 0. It is
    /// read before and after the commands with these numbers.
    pub fn new(place: [u32; 2], attachment: u32, commands: BTreeSet<u64>) -> Self {
        Self { commands, place, attachment, seen: Vec::new(), before: None }
    }

    /// Reads the pixel before a command.
    pub(super) fn before(&mut self, call: &mut Call<'_, '_>) {
        let is_wanted = call.command.seq.is_some_and(|seq| self.commands.contains(&seq));
        self.before = if is_wanted { self.read(call) } else { None };
    }

    /// Reads the pixel after a command.
    pub(super) fn after(&mut self, call: &mut Call<'_, '_>) {
        let Some(seq) = call.command.seq.filter(|seq| self.commands.contains(seq)) else { return };
        let before = self.before.take();
        let Some((of, after)) = self.read(call) else { return };
        let before = before.filter(|(old, _)| *old == of).map_or(after, |(_, values)| values);
        self.seen.push(Seen { seq, of, before, after });
    }

    /// Returns the pixel, and what it belongs to. A pixel that cannot be read is noted.
    fn read(&self, call: &mut Call<'_, '_>) -> Option<(Image, [f64; 4])> {
        let command = call.command;
        match self.read_in(&call.parts.driver, command.process, command.context) {
            Ok(found) => found,
            Err(why) => {
                call.parts.tally.note(format!("a pixel could not be read: {why}"));
                None
            }
        }
    }

    /// `None` if the framebuffer for drawing has no such attachment, or the attachment no such pixel.
    fn read_in(
        &self,
        driver: &Driver,
        process: u32,
        context: u64,
    ) -> Result<Option<(Image, [f64; 4])>, Skip> {
        let gl = Gl::current(driver)?;
        gl.clear_errors();
        let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
        let is_es3 = gl.is_at_least((3, 0), (3, 0));
        let (image, size, stored) = match bound {
            0 => {
                let size = draw_size(&gl)?;
                // SAFETY: takes no pointer.
                let surface = unsafe { gl.egl_current_surface(EGL_DRAW) }?.addr();
                let image = Image { process, context, surface, attachment: None };
                (image, if self.attachment == 0 { size } else { [0; 2] }, Stored::default())
            }
            _ if is_es3 && gl.integer(GL_SAMPLES) > 0 => {
                return Err(Skip::from("the framebuffer has several samples"));
            }
            _ => {
                let target = if is_es3 { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
                let point = GL_COLOR_ATTACHMENT0 + self.attachment;
                let Some(found) = attachment(&gl, target, point)? else { return Ok(None) };
                let image = Image { process, context, surface: 0, attachment: Some(found) };
                let (size, format) = found.size_and_format(&gl)?;
                (image, size, Stored { component: found.component, format })
            }
        };
        if self.place[0] >= size[0] || self.place[1] >= size[1] {
            return Ok(None);
        }
        let aside = Aside::put(&gl)
            .ok_or_else(|| Skip::from("state that affects a read-back can't be reset"))?;
        let reading = if is_es3 { GL_READ_FRAMEBUFFER } else { GL_FRAMEBUFFER };
        gl.clear_errors();
        gl.bind_framebuffer(reading, bound);
        // The read buffer belongs to the framebuffer.
        let old = (is_es3 && bound != 0).then(|| gl.integer(GL_READ_BUFFER));
        old.is_some().then(|| gl.read_buffer(GL_COLOR_ATTACHMENT0 + self.attachment));
        let values = read_one(&gl, self.place, stored);
        old.map(|old| gl.read_buffer(old));
        // `aside` restores the read buffer of framebuffer 0.
        gl.bind_framebuffer(reading, 0);
        drop(aside);
        Ok(Some((image, values?)))
    }
}

/// The form in which an attachment stores its values.
#[derive(Clone, Copy, Debug, Default)]
struct Stored {
    /// `GL_FLOAT`, `GL_INT` and so on; 0 in OpenGL ES 2, and of a surface.
    component: i32,
    /// `GL_RGBA8` and so on; 0 of a surface.
    format: i32,
}

/// Reads one pixel of the framebuffer for reading, exactly. The caller holds an `Aside`.
fn read_one(gl: &Gl<'_>, place: [u32; 2], stored: Stored) -> Result<[f64; 4], Skip> {
    let unread = || Skip::from("the driver can't read it back");
    match stored.component as u32 {
        GL_FLOAT => {
            let bytes = read_as(gl, place, GL_RGBA, GL_FLOAT)?.ok_or_else(unread)?;
            Ok(words(bytes).map(|word| f64::from(f32::from_ne_bytes(word))))
        }
        GL_INT => {
            let bytes = read_as(gl, place, GL_RGBA_INTEGER, GL_INT)?.ok_or_else(unread)?;
            Ok(words(bytes).map(|word| f64::from(i32::from_ne_bytes(word))))
        }
        GL_UNSIGNED_INT => {
            let bytes = read_as(gl, place, GL_RGBA_INTEGER, GL_UNSIGNED_INT)?.ok_or_else(unread)?;
            Ok(words(bytes).map(|word| f64::from(u32::from_ne_bytes(word))))
        }
        _ => {
            if let Some(values) = read_wide(gl, place, stored.format as u32)? {
                return Ok(values);
            }
            let bytes = read_as(gl, place, GL_RGBA, GL_UNSIGNED_BYTE)?.ok_or_else(unread)?;
            let [red, green, blue, alpha, ..] = bytes;
            Ok([red, green, blue, alpha].map(|value| f64::from(value) / 255.0))
        }
    }
}

/// Reads a pixel of a normalized format with more than eight bits; `None` for other formats, and if the driver cannot (OpenGL ES
/// 3.2, 16.1.2; `EXT_texture_norm16`).
fn read_wide(gl: &Gl<'_>, place: [u32; 2], format: u32) -> Result<Option<[f64; 4]>, Skip> {
    match format {
        GL_RGB10_A2 => {
            let bytes = read_as(gl, place, GL_RGBA, GL_UNSIGNED_INT_2_10_10_10_REV)?;
            Ok(bytes.map(|bytes| {
                let [word, ..] = words(bytes).map(u32::from_ne_bytes);
                let colour = |shift: u32| f64::from((word >> shift) & 0x3ff) / 1023.0;
                [colour(0), colour(10), colour(20), f64::from(word >> 30) / 3.0]
            }))
        }
        GL_R16_EXT | GL_RG16_EXT | GL_RGB16_EXT | GL_RGBA16_EXT => {
            let bytes = read_as(gl, place, GL_RGBA, GL_UNSIGNED_SHORT)?;
            Ok(bytes.map(|[a, b, c, d, e, f, g, h, ..]| {
                [[a, b], [c, d], [e, f], [g, h]]
                    .map(|half| f64::from(u16::from_ne_bytes(half)) / 65535.0)
            }))
        }
        _ => Ok(None),
    }
}

/// Reads a pixel in a form that has at most 16 bytes; `None` if the driver refuses it.
fn read_as(gl: &Gl<'_>, place: [u32; 2], format: u32, kind: u32) -> Result<Option<[u8; 16]>, Skip> {
    let [x, y] = place.map(|number| i32::try_from(number).unwrap_or(i32::MAX));
    let mut bytes = [0_u8; 16];
    // SAFETY: 16 bytes: four components of at most four bytes.
    unsafe { gl.read_pixels(x, y, 1, 1, format, kind, bytes.as_mut_ptr()) }?;
    Ok((!gl.clear_errors()).then_some(bytes))
}

fn words(bytes: [u8; 16]) -> [[u8; 4]; 4] {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = bytes;
    [[a, b, c, d], [e, f, g, h], [i, j, k, l], [m, n, o, p]]
}
