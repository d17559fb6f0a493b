//! Parameters of textures and samplers: which a context has, and those of a texture.

use gapii_state::read_back::Driver as _;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TEXTURE_MAX_ANISOTROPY: u32 = 0x84FE;
const GL_TEXTURE_SRGB_DECODE: u32 = 0x8A48;
pub const GL_TEXTURE_BORDER_COLOR: u32 = 0x1004;

/// Parameters that are whole numbers, the version of OpenGL ES that they begin with, and whether
/// samplers have them too.
const WHOLE: [(u32, (u8, u8), bool); 14] = [
    (0x2800, (1, 0), true),  // GL_TEXTURE_MAG_FILTER
    (0x2801, (1, 0), true),  // GL_TEXTURE_MIN_FILTER
    (0x2802, (1, 0), true),  // GL_TEXTURE_WRAP_S
    (0x2803, (1, 0), true),  // GL_TEXTURE_WRAP_T
    (0x8072, (3, 0), true),  // GL_TEXTURE_WRAP_R
    (0x884C, (3, 0), true),  // GL_TEXTURE_COMPARE_MODE
    (0x884D, (3, 0), true),  // GL_TEXTURE_COMPARE_FUNC
    (0x813C, (3, 0), false), // GL_TEXTURE_BASE_LEVEL
    (0x813D, (3, 0), false), // GL_TEXTURE_MAX_LEVEL
    (0x8E42, (3, 0), false), // GL_TEXTURE_SWIZZLE_R
    (0x8E43, (3, 0), false), // GL_TEXTURE_SWIZZLE_G
    (0x8E44, (3, 0), false), // GL_TEXTURE_SWIZZLE_B
    (0x8E45, (3, 0), false), // GL_TEXTURE_SWIZZLE_A
    (0x90EA, (3, 1), false), // GL_DEPTH_STENCIL_TEXTURE_MODE
];
/// Those of them that multisampled textures have.
const OF_SAMPLES: [u32; 5] = [0x8E42, 0x8E43, 0x8E44, 0x8E45, 0x90EA];
/// The least and the greatest level of detail.
const LEVELS_OF_DETAIL: [u32; 2] = [0x813A, 0x813B];

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
