//! Whether the y axis of a framebuffer with a name is inverted (GL_MESA_framebuffer_flip_y). The framebuffer is the one that
//! is bound to a target. The extension has commands for contexts of OpenGL ES; those of OpenGL have glFramebufferParameteri.

use gapii_commands::constants::{GL_FRAMEBUFFER, GL_FRAMEBUFFER_FLIP_Y_MESA};
use gapii_state::ContextApi;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::{GL_FRAMEBUFFER_PARAMETERI, GL_FRAMEBUFFER_PARAMETERI_MESA};

/// Whether it is inverted.
pub fn is(driver: &Gl, target: u32) -> bool {
    let mut value = 0;
    if driver.has("GL_MESA_framebuffer_flip_y") {
        let name = GL_FRAMEBUFFER_FLIP_Y_MESA;
        match driver.api() {
            // SAFETY: the name has one number.
            ContextApi::Es => unsafe {
                gl::get_framebuffer_parameter_mesa(target, name, &raw mut value);
            },
            // SAFETY: as above.
            _ => unsafe { gl::get_framebuffer_parameter(target, name, &raw mut value) },
        }
    }
    value != 0
}

/// Inverts the axis, or puts it back. The driver has the extension.
pub fn set(driver: &Gl, target: u32, is_flipped: bool) {
    let (name, value) = (GL_FRAMEBUFFER_FLIP_Y_MESA, is_flipped.into());
    match driver.api() {
        ContextApi::Es => gl::framebuffer_parameter_mesa(target, name, value),
        _ => gl::framebuffer_parameter(target, name, value),
    }
}

/// Describes the framebuffer that is bound to GL_FRAMEBUFFER.
pub fn describe(emitter: &mut Emitter, driver: &Gl) {
    if is(driver, GL_FRAMEBUFFER) {
        let id = match driver.api() {
            ContextApi::Es => GL_FRAMEBUFFER_PARAMETERI_MESA,
            _ => GL_FRAMEBUFFER_PARAMETERI,
        };
        let command = emitter.command(id).arg(GL_FRAMEBUFFER);
        command.arg(GL_FRAMEBUFFER_FLIP_Y_MESA).arg(1_i32).done();
    }
}
