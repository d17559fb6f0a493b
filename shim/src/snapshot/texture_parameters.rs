//! Parameters of textures and samplers: which a context has, and those of a texture.

use gapii_commands::constants;
pub use gapii_commands::constants::GL_TEXTURE_BORDER_COLOR;
use gapii_commands::constants::{
    GL_DEPTH_STENCIL_TEXTURE_MODE, GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_COMPARE_FUNC,
    GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_MAX_LOD,
    GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MIN_LOD, GL_TEXTURE_SWIZZLE_A, GL_TEXTURE_SWIZZLE_B,
    GL_TEXTURE_SWIZZLE_G, GL_TEXTURE_SWIZZLE_R, GL_TEXTURE_WRAP_R, GL_TEXTURE_WRAP_S,
    GL_TEXTURE_WRAP_T,
};
use gapii_state::read_back::Driver as _;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TEXTURE_MAX_ANISOTROPY: u32 = constants::GL_TEXTURE_MAX_ANISOTROPY_EXT;
const GL_TEXTURE_SRGB_DECODE: u32 = constants::GL_TEXTURE_SRGB_DECODE_EXT;

/// Parameters that are whole numbers, the version of OpenGL ES that they begin with, and whether
/// samplers have them too.
const WHOLE: [(u32, (u8, u8), bool); 14] = [
    (GL_TEXTURE_MAG_FILTER, (1, 0), true),
    (GL_TEXTURE_MIN_FILTER, (1, 0), true),
    (GL_TEXTURE_WRAP_S, (1, 0), true),
    (GL_TEXTURE_WRAP_T, (1, 0), true),
    (GL_TEXTURE_WRAP_R, (3, 0), true),
    (GL_TEXTURE_COMPARE_MODE, (3, 0), true),
    (GL_TEXTURE_COMPARE_FUNC, (3, 0), true),
    (GL_TEXTURE_BASE_LEVEL, (3, 0), false),
    (GL_TEXTURE_MAX_LEVEL, (3, 0), false),
    (GL_TEXTURE_SWIZZLE_R, (3, 0), false),
    (GL_TEXTURE_SWIZZLE_G, (3, 0), false),
    (GL_TEXTURE_SWIZZLE_B, (3, 0), false),
    (GL_TEXTURE_SWIZZLE_A, (3, 0), false),
    (GL_DEPTH_STENCIL_TEXTURE_MODE, (3, 1), false),
];
/// Those of them that multisampled textures have.
const OF_SAMPLES: [u32; 5] = [
    GL_TEXTURE_SWIZZLE_R,
    GL_TEXTURE_SWIZZLE_G,
    GL_TEXTURE_SWIZZLE_B,
    GL_TEXTURE_SWIZZLE_A,
    GL_DEPTH_STENCIL_TEXTURE_MODE,
];
/// The least and the greatest level of detail.
const LEVELS_OF_DETAIL: [u32; 2] = [GL_TEXTURE_MIN_LOD, GL_TEXTURE_MAX_LOD];

/// Parameters of one whole number that textures, or samplers, of a context have.
pub fn whole(
    version: (u8, u8),
    driver: &Gl,
    of_samplers: bool,
) -> impl Iterator<Item = u32> + use<> {
    let has_decode = driver.has("GL_EXT_texture_sRGB_decode");
    let here =
        WHOLE.iter().filter(move |(_, since, it)| *since <= version && (*it || !of_samplers));
    here.map(|(name, ..)| *name).chain(has_decode.then_some(GL_TEXTURE_SRGB_DECODE))
}

/// The same of one number that need not be whole.
pub fn fractions(version: (u8, u8), driver: &Gl) -> impl Iterator<Item = u32> + use<> {
    let has_anisotropy = driver.has("GL_EXT_texture_filter_anisotropic");
    let levels = LEVELS_OF_DETAIL.into_iter().filter(move |_| version >= (3, 0));
    levels.chain(has_anisotropy.then_some(GL_TEXTURE_MAX_ANISOTROPY))
}

/// Whether there are colours beyond edges.
pub fn has_border(version: (u8, u8), driver: &Gl) -> bool {
    let names = ["GL_EXT_texture_border_clamp", "GL_OES_texture_border_clamp"];
    version >= (3, 2) || names.iter().any(|name| driver.has(name))
}

/// Sets the border's colour of a sampler, or of the texture that is bound to a target, unless it is
/// what it is at first.
pub fn describe_border(emitter: &mut Emitter, id: u16, whose: u32, border: [f32; 4]) {
    if border == [0.0; 4] {
        return;
    }
    let bytes: Vec<u8> = border.iter().flat_map(|number| number.to_le_bytes()).collect();
    let command = emitter.command(id).arg(whose).arg(GL_TEXTURE_BORDER_COLOR);
    command.arg(bytes.as_ptr()).range(2, &bytes).done();
}

/// Those of the texture that is bound to the target.
pub fn describe(emitter: &mut Emitter, target: u32, version: (u8, u8), driver: &Gl) {
    for name in whole(version, driver, false) {
        describe_whole(emitter, target, name);
    }
    for name in fractions(version, driver) {
        let mut value = 0.0;
        // SAFETY: the name has one number.
        unsafe { gl::get_texture_floats(target, name, &raw mut value) };
        emitter.command(GL_TEX_PARAMETERF).arg(target).arg(name).arg(value).done();
    }
    if has_border(version, driver) {
        let mut border = [0.0; 4];
        // SAFETY: the name has four numbers.
        unsafe { gl::get_texture_floats(target, GL_TEXTURE_BORDER_COLOR, border.as_mut_ptr()) };
        describe_border(emitter, GL_TEX_PARAMETERFV, target, border);
    }
}

/// Those of a multisampled one.
pub fn describe_of_samples(emitter: &mut Emitter, target: u32) {
    for name in OF_SAMPLES {
        describe_whole(emitter, target, name);
    }
}

fn describe_whole(emitter: &mut Emitter, target: u32, name: u32) {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_texture_integers(target, name, &raw mut value) };
    emitter.command(GL_TEX_PARAMETERI).arg(target).arg(name).arg(value).done();
}
