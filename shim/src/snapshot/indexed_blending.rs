//! Blending and color masks of draw buffers by index, in OpenGL ES 3.2 or with GL_OES_ or GL_EXT_draw_buffers_indexed
//! on OpenGL ES 3: of up to 32 draw buffers those that differ from draw buffer 0. Also the blend equation of all.

use gapii_commands::constants::{
    GL_BLEND, GL_BLEND_DST_ALPHA, GL_BLEND_DST_RGB, GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA,
    GL_BLEND_SRC_ALPHA, GL_BLEND_SRC_RGB, GL_COLOR_WRITEMASK, GL_HSL_LUMINOSITY_KHR,
    GL_MAX_DRAW_BUFFERS, GL_MULTIPLY_KHR,
};
use gapii_state::read_back::{Driver, NEVER};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids;
use crate::generated::ids::*;

/// Blend factors: source and destination of color, source and destination of alpha.
const FACTORS: [u32; 4] =
    [GL_BLEND_SRC_RGB, GL_BLEND_DST_RGB, GL_BLEND_SRC_ALPHA, GL_BLEND_DST_ALPHA];
/// Blend equations of color and of alpha.
const EQUATIONS: [u32; 2] = [GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA];
/// Advanced blend equations, `GL_MULTIPLY_KHR` to `GL_HSL_LUMINOSITY_KHR`. One equation is for color and alpha.
const ADVANCED: core::ops::RangeInclusive<i32> =
    GL_MULTIPLY_KHR as i32..=GL_HSL_LUMINOSITY_KHR as i32;

/// The commands of OpenGL ES 3.2, or those of an extension.
struct Ids {
    is_enabled: fn(u32, u32) -> u8,
    enable: u16,
    disable: u16,
    factors: u16,
    equations: u16,
    equation: u16,
    mask: u16,
}

const CORE: Ids = Ids {
    is_enabled: gl::is_enabled_at,
    enable: GL_ENABLEI,
    disable: GL_DISABLEI,
    factors: GL_BLEND_FUNC_SEPARATEI,
    equations: GL_BLEND_EQUATION_SEPARATEI,
    equation: GL_BLEND_EQUATIONI,
    mask: GL_COLOR_MASKI,
};
const OES: Ids = Ids {
    is_enabled: gl::is_enabled_at_oes,
    enable: GL_ENABLEI_OES,
    disable: GL_DISABLEI_OES,
    factors: GL_BLEND_FUNC_SEPARATEI_OES,
    equations: GL_BLEND_EQUATION_SEPARATEI_OES,
    equation: GL_BLEND_EQUATIONI_OES,
    mask: GL_COLOR_MASKI_OES,
};
const EXT: Ids = Ids {
    is_enabled: gl::is_enabled_at_ext,
    enable: GL_ENABLEI_EXT,
    disable: GL_DISABLEI_EXT,
    factors: GL_BLEND_FUNC_SEPARATEI_EXT,
    equations: GL_BLEND_EQUATION_SEPARATEI_EXT,
    equation: GL_BLEND_EQUATIONI_EXT,
    mask: GL_COLOR_MASKI_EXT,
};

/// State of one draw buffer.
#[derive(PartialEq)]
struct DrawBuffer {
    blends: bool,
    factors: [i32; 4],
    equations: [i32; 2],
    mask: [i32; 4],
}

/// Describes the draw buffers whose state differs from that of draw buffer 0, which is described already.
pub fn describe(emitter: &mut Emitter, driver: &Gl) {
    let ids = match () {
        () if driver.is_at_least((3, 2), (4, 0)) => CORE,
        () if !driver.is_at_least((3, 0), NEVER) => return,
        () if driver.has("GL_OES_draw_buffers_indexed") => OES,
        () if driver.has("GL_EXT_draw_buffers_indexed") => EXT,
        () => return,
    };
    let first = ids.ask(0);
    // NVIDIA's driver answers glIsEnabled(GL_BLEND), which is described already, for any of the draw buffers.
    if first.blends != (gl::is_enabled(GL_BLEND) != 0) {
        ids.describe_blending(emitter, 0, first.blends);
    }
    for index in 1..gl::integer(GL_MAX_DRAW_BUFFERS).clamp(1, 32) as u32 {
        let buffer = ids.ask(index);
        if buffer != first {
            ids.describe(emitter, index, &buffer);
        }
    }
}

impl Ids {
    fn ask(&self, index: u32) -> DrawBuffer {
        let mut mask = [0; 4];
        // SAFETY: the name has four numbers.
        unsafe { gl::get_integers_at(GL_COLOR_WRITEMASK, index, mask.as_mut_ptr()) };
        DrawBuffer {
            blends: (self.is_enabled)(GL_BLEND, index) != 0,
            factors: FACTORS.map(|name| gl::integer_at(name, index)),
            equations: EQUATIONS.map(|name| gl::integer_at(name, index)),
            mask,
        }
    }

    fn describe_blending(&self, emitter: &mut Emitter, index: u32, blends: bool) {
        let id = if blends { self.enable } else { self.disable };
        emitter.command(id).arg(GL_BLEND).arg(index).done();
    }

    fn describe(&self, emitter: &mut Emitter, index: u32, buffer: &DrawBuffer) {
        self.describe_blending(emitter, index, buffer.blends);
        let [source, target, alpha, to_alpha] = buffer.factors;
        let command = emitter.command(self.factors).arg(index).arg(source).arg(target);
        command.arg(alpha).arg(to_alpha).done();
        let [color, alpha] = buffer.equations;
        match ADVANCED.contains(&color) {
            true => emitter.command(self.equation).arg(index).arg(color).done(),
            false => emitter.command(self.equations).arg(index).arg(color).arg(alpha).done(),
        }
        let [r, g, b, a] = buffer.mask.map(|writes| u8::from(writes != 0));
        emitter.command(self.mask).arg(index).arg(r).arg(g).arg(b).arg(a).done();
    }
}

/// Describes the blend equation of all draw buffers.
pub fn describe_equation(emitter: &mut Emitter, color: i32, alpha: i32) {
    match ADVANCED.contains(&color) {
        true => emitter.command(ids::GL_BLEND_EQUATION).arg(color).done(),
        false => emitter.command(GL_BLEND_EQUATION_SEPARATE).arg(color).arg(alpha).done(),
    }
}
