//! Whether the y axis of a framebuffer with a name is inverted (GL_MESA_framebuffer_flip_y). The framebuffer is the one that
//! is bound to a target.

use gapii_commands::constants::{GL_FRAMEBUFFER, GL_FRAMEBUFFER_FLIP_Y_MESA};
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::GL_FRAMEBUFFER_PARAMETERI_MESA;

/// Whether it is inverted.
pub fn is(driver: &Gl, target: u32) -> bool {
    let mut value = 0;
    if driver.has("GL_MESA_framebuffer_flip_y") {
        let name = GL_FRAMEBUFFER_FLIP_Y_MESA;
        // SAFETY: the name has one number.
        unsafe { gl::get_framebuffer_parameter_mesa(target, name, &raw mut value) };
    }
    value != 0
}

/// Inverts the axis, or puts it back. The driver has the extension.
pub fn set(target: u32, is_flipped: bool) {
    gl::framebuffer_parameter_mesa(target, GL_FRAMEBUFFER_FLIP_Y_MESA, is_flipped.into());
}

/// Describes the framebuffer that is bound to GL_FRAMEBUFFER.
pub fn describe(emitter: &mut Emitter, driver: &Gl) {
    if is(driver, GL_FRAMEBUFFER) {
        let command = emitter.command(GL_FRAMEBUFFER_PARAMETERI_MESA).arg(GL_FRAMEBUFFER);
        command.arg(GL_FRAMEBUFFER_FLIP_Y_MESA).arg(1_i32).done();
    }
}
