//! Which color buffers the framebuffers draw to and read from: glDrawBuffers (at most 16), glDrawBuffer and glReadBuffer.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_BACK, GL_DOUBLEBUFFER, GL_DRAW_BUFFER0, GL_FRONT, GL_FRONT_AND_BACK, GL_FRONT_LEFT,
    GL_FRONT_RIGHT, GL_LEFT, GL_MAX_DRAW_BUFFERS, GL_RIGHT,
};
use gapii_state::ContextApi;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_READ_BUFFER_NAME: u32 = constants::GL_READ_BUFFER;
/// Names of draw and read buffers that mean a front buffer, with or without others.
const FRONTS: [u32; 6] =
    [GL_FRONT, GL_FRONT_LEFT, GL_FRONT_RIGHT, GL_FRONT_AND_BACK, GL_LEFT, GL_RIGHT];

/// Describes the color buffers of the bound framebuffer, without a look at those that it begins with.
pub fn describe(emitter: &mut Emitter) {
    let mut buffers = drawn();
    while buffers.len() > 1 && buffers.last() == Some(&0) {
        buffers.pop();
    }
    let bytes: Vec<u8> = buffers.iter().flat_map(|buffer| buffer.to_le_bytes()).collect();
    emitter
        .command(GL_DRAW_BUFFERS)
        .arg(buffers.len() as i32)
        .arg(bytes.as_ptr())
        .range(1, &bytes)
        .done();
    emitter.command(GL_READ_BUFFER).arg(read()).done();
}

/// Describes the color buffers of the default framebuffer, which is bound, unless they are those that it begins with.
pub fn describe_default(emitter: &mut Emitter) {
    if Gl::current().is_none_or(|driver| driver.api() == ContextApi::Es) {
        if drawn().first() == Some(&0) || read() == 0 {
            describe(emitter);
        }
        return;
    }
    let has_two = gl::integer(GL_DOUBLEBUFFER) != 0;
    let is_front = |buffer: &u32| FRONTS.contains(buffer);
    if has_two && drawn().first().into_iter().chain([&read()]).any(is_front) {
        emitter.leave_out("the front buffer of a surface");
    }
    // A surface with two buffers begins with GL_BACK. Of one with a single buffer Mesa 22.3 calls the buffer GL_FRONT or GL_BACK, as
    // the last command did, and the draw buffer GL_BACK at first.
    describe_of_desktop(emitter, |buffer| !has_two || buffer != GL_BACK);
}

/// Describes the color buffers of the bound framebuffers of OpenGL, whatever they were before.
pub fn describe_again(emitter: &mut Emitter) {
    describe_of_desktop(emitter, |_| true);
}

/// Describes color buffers of OpenGL; of a single draw buffer, and of the read buffer, only those that are `wanted`. GL_BACK and
/// GL_FRONT stand for several buffers of the default framebuffer, and are no names for glDrawBuffers.
fn describe_of_desktop(emitter: &mut Emitter, is_wanted: impl Fn(u32) -> bool) {
    let drawn = drawn();
    if drawn.iter().skip(1).any(|buffer| *buffer != 0) {
        return describe(emitter);
    }
    let drawn = drawn.first().copied().unwrap_or_default();
    for (id, buffer) in [(GL_DRAW_BUFFER, drawn), (GL_READ_BUFFER, read())] {
        if is_wanted(buffer) {
            emitter.command(id).arg(buffer).done();
        }
    }
}

/// The draw buffers of the bound framebuffer, at least one.
fn drawn() -> Vec<u32> {
    let count = gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 16) as u32;
    (0..count).map(|at| gl::integer(GL_DRAW_BUFFER0 + at) as u32).collect()
}

/// The read buffer of the bound framebuffer.
fn read() -> u32 {
    gl::integer(GL_READ_BUFFER_NAME) as u32
}
