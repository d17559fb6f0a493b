//! Read-back of what a program draws to at the end of a frame that no swap ends: colour attachment 0 of the framebuffer
//! object that is bound for drawing, or the surface if none is bound. Floats are clamped to 0 to 1, integers to 0 to 255. No
//! picture if the framebuffer has several samples or no such attachment.
//!
//! Playing goes on afterwards: the context's state is restored. An error that the program has not asked for is lost.

use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FRAMEBUFFER, GL_FRAMEBUFFER_BINDING,
    GL_READ_BUFFER, GL_READ_FRAMEBUFFER, GL_SAMPLES,
};
use gapii_state::read_back::{Aside, Driver as _};

use super::back_buffer;
use super::framebuffer::{attached, read};
use super::gl::Gl;
use super::picture::Picture;
use crate::driver::Driver;
use crate::skip::Skip;

/// Reads what is drawn to.
pub fn picture(driver: &Driver) -> Result<Picture, Skip> {
    let gl = Gl::current(driver)?;
    let bound = gl.integer(GL_FRAMEBUFFER_BINDING);
    if bound == 0 {
        return back_buffer::read(driver);
    }
    gl.clear_errors();
    let is_es3 = gl.is_at_least((3, 0), (3, 0));
    if is_es3 && gl.integer(GL_SAMPLES) > 0 {
        return Err(Skip::from("the framebuffer has several samples"));
    }
    let target = if is_es3 { GL_DRAW_FRAMEBUFFER } else { GL_FRAMEBUFFER };
    let attached = attached(&gl, target, GL_COLOR_ATTACHMENT0)?
        .ok_or_else(|| Skip::from("the framebuffer has no colour attachment 0"))?;
    let aside = Aside::put(&gl)
        .ok_or_else(|| Skip::from("state that affects a read-back can't be reset"))?;
    let reading = if is_es3 { GL_READ_FRAMEBUFFER } else { GL_FRAMEBUFFER };
    gl.bind_framebuffer(reading, bound);
    // The read buffer belongs to the framebuffer.
    let old = is_es3.then(|| gl.integer(GL_READ_BUFFER));
    old.is_some().then(|| gl.read_buffer(GL_COLOR_ATTACHMENT0));
    let picture = read(&gl, attached);
    old.map(|old| gl.read_buffer(old));
    // `aside` restores the read buffer of framebuffer 0.
    gl.bind_framebuffer(reading, 0);
    drop(aside);
    picture
}
