//! One pixel of the framebuffer for drawing, before and after some commands, from which a tool tells which of them changed it.
//!
//! Playing goes on afterwards: the context's state is restored. An error that the program has not asked for is lost.

use std::collections::BTreeSet;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_BACK, GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FLOAT, GL_FRAMEBUFFER,
    GL_FRAMEBUFFER_ATTACHMENT_COMPONENT_TYPE as GL_COMPONENT_TYPE,
    GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE as GL_OBJECT_TYPE, GL_FRAMEBUFFER_BINDING, GL_INT,
    GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_RGBA, GL_RGBA_INTEGER, GL_SAMPLES, GL_UNSIGNED_BYTE,
    GL_UNSIGNED_INT,
};
use gapii_state::read_back::{Aside, Driver as _};
use schemars::JsonSchema;
use serde::Serialize;

use super::back_buffer::draw_size;
use super::gl::Gl;
use crate::call::Call;
use crate::driver::Driver;
use crate::skip::Skip;

const GL_NONE: i32 = constants::GL_NONE as i32;

/// A pixel that is watched.
#[derive(Clone, Debug)]
pub struct Watched {
    commands: BTreeSet<u64>,
    place: [u32; 2],
    attachment: u32,
    /// What was read so far.
    pub(super) seen: Vec<Seen>,
    before: Option<[f64; 4]>,
}

/// A pixel before and after a command.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Seen {
    /// Number of the command.
    pub seq: u64,
    /// Index of the process in the trace.
    pub process: u32,
    /// Handle of the context.
    pub context: u64,
    /// Name of the framebuffer in the driver; 0 for the surface.
    pub framebuffer: u32,
    /// Red, green, blue and alpha before the command: from 0 to 1 for normalized formats, otherwise as they are.
    pub before: [f64; 4],
    /// The same after it.
    pub after: [f64; 4],
}

impl Watched {
    /// Watches the pixel at a column and row, from the lower left corner, of a colour attachment, or of a surface with 0. It is
    /// read before and after the commands with these numbers.
    pub fn new(place: [u32; 2], attachment: u32, commands: BTreeSet<u64>) -> Self {
        Self { commands, place, attachment, seen: Vec::new(), before: None }
    }

    /// Reads the pixel before a command.
    pub(super) fn before(&mut self, call: &mut Call<'_, '_>) {
        self.before = match self.is_of(call) {
            true => self.read(call).map(|(values, _)| values),
            false => None,
        };
    }

    /// Reads the pixel after a command.
    pub(super) fn after(&mut self, call: &mut Call<'_, '_>) {
        let Some(before) = self.before.take() else { return };
        let Some((after, framebuffer)) = self.read(call) else { return };
        let (process, context) = (call.command.process, call.command.context);
        let seq = call.command.seq.unwrap_or(0);
        self.seen.push(Seen { seq, process, context, framebuffer, before, after });
    }

    fn is_of(&self, call: &Call<'_, '_>) -> bool {
        call.command.seq.is_some_and(|seq| self.commands.contains(&seq))
    }

    /// Returns the pixel, and the framebuffer that it is of. A pixel that cannot be read is noted.
    fn read(&self, call: &mut Call<'_, '_>) -> Option<([f64; 4], u32)> {
        match read(&call.parts.driver, self.place, self.attachment) {
            Ok(found) => found,
            Err(why) => {
                call.parts.tally.note(format!("a pixel could not be read: {why}"));
                None
            }
        }
    }
}

/// Returns a pixel of the framebuffer for drawing, and the framebuffer's name; `None` if it has no such attachment.
fn read(
    driver: &Driver,
    place: [u32; 2],
    attachment: u32,
) -> Result<Option<([f64; 4], u32)>, Skip> {
    let gl = Gl::current(driver)?;
    gl.clear_errors();
    let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
    let is_es3 = gl.version() >= (3, 0);
    if bound != 0 && is_es3 && gl.integer(GL_SAMPLES) > 0 {
        return Err(Skip::from("the framebuffer has several samples"));
    }
    let target = if is_es3 { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
    let mut component = 0;
    if bound == 0 {
        let size = draw_size(&gl)?;
        if attachment != 0 || place[0] >= size[0] || place[1] >= size[1] {
            return Ok(None);
        }
    } else {
        let ask = |name: u32| -> Result<i32, Skip> {
            let mut value = 0;
            let number = GL_COLOR_ATTACHMENT0 + attachment;
            // SAFETY: room for one number.
            unsafe { gl.get_attachment(target, number, name, &raw mut value) }?;
            Ok(value)
        };
        if ask(GL_OBJECT_TYPE)? == GL_NONE || gl.clear_errors() {
            return Ok(None);
        }
        component = if is_es3 { ask(GL_COMPONENT_TYPE)? } else { 0 };
    }
    let _aside = Aside::put(&gl)
        .ok_or_else(|| Skip::from("state that affects a read-back can't be reset"))?;
    let reading = if is_es3 { GL_READ_FRAMEBUFFER } else { GL_FRAMEBUFFER };
    gl.bind_framebuffer(reading, bound);
    // The read buffer belongs to the framebuffer.
    let buffer = if bound == 0 { GL_BACK } else { GL_COLOR_ATTACHMENT0 + attachment };
    let old = (is_es3 && bound != 0).then(|| gl.integer(GL_READ_BUFFER));
    old.is_some().then(|| gl.read_buffer(buffer));
    let values = read_one(&gl, place, component);
    old.map(|old| gl.read_buffer(old));
    Ok(Some((values?, bound)))
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
