//! One pixel of the framebuffer for drawing, before and after some commands, from which a tool tells which of them changed it.
//!
//! Playing goes on afterwards: the context's state is restored. An error that the program has not asked for is lost.

use std::collections::BTreeSet;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FLOAT, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING,
    GL_INT, GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_RGBA, GL_RGBA_INTEGER, GL_SAMPLES,
    GL_UNSIGNED_BYTE, GL_UNSIGNED_INT,
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
        let is_es3 = gl.version() >= (3, 0);
        let (image, size, component) = match bound {
            0 => {
                let size = draw_size(&gl)?;
                // SAFETY: takes no pointer.
                let surface = unsafe { gl.egl_current_surface(EGL_DRAW) }?.addr();
                let image = Image { process, context, surface, attachment: None };
                (image, if self.attachment == 0 { size } else { [0; 2] }, 0)
            }
            _ if is_es3 && gl.integer(GL_SAMPLES) > 0 => {
                return Err(Skip::from("the framebuffer has several samples"));
            }
            _ => {
                let target = if is_es3 { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
                let point = GL_COLOR_ATTACHMENT0 + self.attachment;
                let Some(found) = attachment(&gl, target, point)? else { return Ok(None) };
                let image = Image { process, context, surface: 0, attachment: Some(found) };
                (image, found.size(&gl)?, found.component)
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
        let values = read_one(&gl, self.place, component);
        old.map(|old| gl.read_buffer(old));
        // `aside` restores the read buffer of framebuffer 0.
        gl.bind_framebuffer(reading, 0);
        drop(aside);
        Ok(Some((image, values?)))
    }
}

/// Reads one pixel of the framebuffer for reading. The caller holds an `Aside`.
fn read_one(gl: &Gl<'_>, place: [u32; 2], component: i32) -> Result<[f64; 4], Skip> {
    let (format, kind) = match component as u32 {
        GL_FLOAT => (GL_RGBA, GL_FLOAT),
        kind @ (GL_INT | GL_UNSIGNED_INT) => (GL_RGBA_INTEGER, kind),
        _ => (GL_RGBA, GL_UNSIGNED_BYTE),
    };
    let [x, y] = place.map(|number| i32::try_from(number).unwrap_or(i32::MAX));
    let mut bytes = [0_u8; 16];
    // SAFETY: 16 bytes: four components of at most four bytes.
    unsafe { gl.read_pixels(x, y, 1, 1, format, kind, bytes.as_mut_ptr()) }?;
    if gl.clear_errors() {
        return Err(Skip::from("the driver can't read it back"));
    }
    if kind == GL_UNSIGNED_BYTE {
        let [red, green, blue, alpha, ..] = bytes;
        return Ok([red, green, blue, alpha].map(|value| f64::from(value) / 255.0));
    }
    let (words, _) = bytes.as_chunks::<4>();
    let mut values = [0.0; 4];
    for (value, word) in values.iter_mut().zip(words) {
        *value = match kind {
            GL_FLOAT => f64::from(f32::from_ne_bytes(*word)),
            GL_INT => f64::from(i32::from_ne_bytes(*word)),
            _ => f64::from(u32::from_ne_bytes(*word)),
        };
    }
    Ok(values)
}
