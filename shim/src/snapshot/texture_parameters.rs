//! Parameters of textures and samplers that a snapshot describes: `INTEGERS`, `LEVELS_OF_DETAIL`, border color,
//! anisotropy, sRGB decoding, each with the version or extension that has it. A parameter that is not listed here has
//! its default value in a replay. Multisampled, external and buffer textures have fewer (`OF_SAMPLES`, `OF_EXTERNAL`,
//! none).

use gapii_commands::constants;
pub use gapii_commands::constants::GL_TEXTURE_BORDER_COLOR;
use gapii_commands::constants::{
    GL_ALPHA, GL_BLUE, GL_CLAMP_TO_EDGE, GL_DEPTH_COMPONENT, GL_DEPTH_STENCIL_TEXTURE_MODE,
    GL_DEPTH_TEXTURE_MODE, GL_GENERATE_MIPMAP, GL_GREEN, GL_LINEAR, GL_LUMINANCE, GL_RED,
    GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BASE_LEVEL,
    GL_TEXTURE_BUFFER, GL_TEXTURE_COMPARE_FUNC, GL_TEXTURE_COMPARE_MODE, GL_TEXTURE_EXTERNAL_OES,
    GL_TEXTURE_LOD_BIAS, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MAX_LEVEL, GL_TEXTURE_MAX_LOD,
    GL_TEXTURE_MIN_FILTER, GL_TEXTURE_MIN_LOD, GL_TEXTURE_PRIORITY, GL_TEXTURE_SWIZZLE_A,
    GL_TEXTURE_SWIZZLE_B, GL_TEXTURE_SWIZZLE_G, GL_TEXTURE_SWIZZLE_R, GL_TEXTURE_WRAP_R,
    GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T,
};
use gapii_state::read_back::Driver as _;
use gapii_state::read_back::NEVER;
use gapii_state::{ContextApi, SamplerState};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TEXTURE_MAX_ANISOTROPY: u32 = constants::GL_TEXTURE_MAX_ANISOTROPY_EXT;
const GL_TEXTURE_SRGB_DECODE: u32 = constants::GL_TEXTURE_SRGB_DECODE_EXT;

/// A parameter, the versions of OpenGL ES and of OpenGL that have it first, and whether samplers have it, too.
type Parameter = (u32, (u8, u8), (u8, u8), bool);
/// Parameters with integer values.
const INTEGERS: [Parameter; 14] = [
    (GL_TEXTURE_MAG_FILTER, (1, 0), (1, 0), true),
    (GL_TEXTURE_MIN_FILTER, (1, 0), (1, 0), true),
    (GL_TEXTURE_WRAP_S, (1, 0), (1, 0), true),
    (GL_TEXTURE_WRAP_T, (1, 0), (1, 0), true),
    (GL_TEXTURE_WRAP_R, (3, 0), (1, 2), true),
    (GL_TEXTURE_COMPARE_MODE, (3, 0), (1, 4), true),
    (GL_TEXTURE_COMPARE_FUNC, (3, 0), (1, 4), true),
    // Ahead of the base level: drivers clamp it to the levels of an immutable texture from the base level on.
    (GL_TEXTURE_MAX_LEVEL, (3, 0), (1, 2), false),
    (GL_TEXTURE_BASE_LEVEL, (3, 0), (1, 2), false),
    (GL_TEXTURE_SWIZZLE_R, (3, 0), (3, 3), false),
    (GL_TEXTURE_SWIZZLE_G, (3, 0), (3, 3), false),
    (GL_TEXTURE_SWIZZLE_B, (3, 0), (3, 3), false),
    (GL_TEXTURE_SWIZZLE_A, (3, 0), (3, 3), false),
    (GL_DEPTH_STENCIL_TEXTURE_MODE, (3, 1), (4, 3), false),
];
/// Those of [`INTEGERS`] that multisampled textures have.
const OF_SAMPLES: [u32; 5] = [
    GL_TEXTURE_SWIZZLE_R,
    GL_TEXTURE_SWIZZLE_G,
    GL_TEXTURE_SWIZZLE_B,
    GL_TEXTURE_SWIZZLE_A,
    GL_DEPTH_STENCIL_TEXTURE_MODE,
];
/// Those of [`INTEGERS`] that external textures have with any value that a program can set.
const OF_EXTERNAL: [u32; 4] =
    [GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER, GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T];
/// Parameters with floating-point values that every context of OpenGL ES 3 has.
const LEVELS_OF_DETAIL: [u32; 2] = [GL_TEXTURE_MIN_LOD, GL_TEXTURE_MAX_LOD];

/// Version and extensions of the context in which the program uses textures.
#[derive(Clone, Copy)]
pub struct Has {
    api: ContextApi,
    version: (u8, u8),
    srgb_decode: bool,
    anisotropy: bool,
    border: bool,
    /// Views are made by GL_OES_texture_view rather than by GL_EXT_texture_view.
    oes_views: bool,
}

impl Has {
    /// `driver` is the context, or one with the same extensions.
    pub fn of(driver: &Gl) -> Self {
        let borders = ["GL_EXT_texture_border_clamp", "GL_OES_texture_border_clamp"];
        Self {
            api: driver.api(),
            version: driver.version(),
            srgb_decode: driver.has("GL_EXT_texture_sRGB_decode"),
            anisotropy: driver.has("GL_EXT_texture_filter_anisotropic")
                || driver.is_at_least(NEVER, (4, 6)),
            border: driver.is_at_least((3, 2), (1, 3))
                || borders.iter().any(|name| driver.has(name)),
            oes_views: driver.has("GL_OES_texture_view"),
        }
    }

    /// Whether the context has at least version `es` of OpenGL ES, or version `desktop` of desktop OpenGL.
    pub fn is(self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        self.api.is_es(self.version, es) || self.api.is_desktop(self.version, desktop)
    }

    /// The command that makes a view of a texture.
    pub fn view_command(self) -> u16 {
        match () {
            () if self.api != ContextApi::Es => GL_TEXTURE_VIEW,
            () if self.oes_views => GL_TEXTURE_VIEW_OES,
            () => GL_TEXTURE_VIEW_EXT,
        }
    }

    /// Parameters with one integer that textures have, or samplers.
    pub fn integers(self, of_samplers: bool) -> impl Iterator<Item = u32> {
        let here = INTEGERS
            .iter()
            .filter(move |(_, es, desktop, it)| self.is(*es, *desktop) && (*it || !of_samplers));
        let mode = (self.is_compatibility() && !of_samplers).then_some(GL_DEPTH_TEXTURE_MODE);
        let decode = self.srgb_decode.then_some(GL_TEXTURE_SRGB_DECODE);
        here.map(|(name, ..)| *name).chain(decode).chain(mode)
    }

    /// Whether textures can generate mipmaps whenever the base level changes, and have a priority. OpenGL ES 1 has the former for
    /// some targets.
    fn is_compatibility(self) -> bool {
        self.api == ContextApi::Compatibility && self.is(NEVER, (1, 4))
    }

    /// Parameters with one floating-point number that samplers have, and textures as well.
    pub fn floats(self) -> impl Iterator<Item = u32> {
        let levels = LEVELS_OF_DETAIL.into_iter().filter(move |_| self.is((3, 0), (1, 2)));
        let bias = self.is(NEVER, (1, 4)).then_some(GL_TEXTURE_LOD_BIAS);
        levels.chain(bias).chain(self.anisotropy.then_some(GL_TEXTURE_MAX_ANISOTROPY))
    }

    /// Whether textures and samplers have a border colour.
    pub fn border(self) -> bool {
        self.border
    }
}

/// Sets the border colour of a sampler, or of the texture that is bound to a target, unless it is the initial one.
pub fn describe_border(emitter: &mut Emitter, id: u16, whose: u32, border: [f32; 4]) {
    if border != [0.0; 4] {
        set_border(emitter, id, whose, border);
    }
}

fn set_border(emitter: &mut Emitter, id: u16, whose: u32, border: [f32; 4]) {
    let bytes: Vec<u8> = border.iter().flat_map(|number| number.to_le_bytes()).collect();
    let command = emitter.command(id).arg(whose).arg(GL_TEXTURE_BORDER_COLOR);
    command.arg(bytes.as_ptr()).range(2, &bytes).done();
}

/// The values of a texture's parameters.
#[derive(Default)]
pub struct Parameters {
    integers: Vec<(u32, i32)>,
    floats: Vec<(u32, f32)>,
    border: [f32; 4],
    /// `GL_GENERATE_MIPMAP`.
    generates: bool,
}

impl Parameters {
    /// Asks for those of the texture that is bound to `target` in the current context, which may be of a higher version
    /// than `has`.
    pub fn of_bound(target: u32, has: Has) -> Self {
        let integer = |name| {
            let mut value = 0;
            // SAFETY: the parameter has one number.
            unsafe { gl::get_texture_integers(target, name, &raw mut value) };
            (name, value)
        };
        let float = |name| {
            let mut value = 0.0;
            // SAFETY: the parameter has one number.
            unsafe { gl::get_texture_floats(target, name, &raw mut value) };
            (name, value)
        };
        let integers = |names: &[u32]| names.iter().copied().map(integer).collect();
        match target {
            GL_TEXTURE_BUFFER => Self::default(),
            GL_TEXTURE_2D_MULTISAMPLE | GL_TEXTURE_2D_MULTISAMPLE_ARRAY => {
                Self { integers: integers(&OF_SAMPLES), ..Self::default() }
            }
            GL_TEXTURE_EXTERNAL_OES => Self { integers: integers(&OF_EXTERNAL), ..Self::default() },
            _ => {
                let mut border = [0.0; 4];
                if has.border {
                    let (name, out) = (GL_TEXTURE_BORDER_COLOR, border.as_mut_ptr());
                    // SAFETY: the parameter has four numbers.
                    unsafe { gl::get_texture_floats(target, name, out) };
                }
                let integers = has.integers(false).map(integer).collect();
                let is_compatibility = has.is_compatibility();
                let priority = is_compatibility.then_some(GL_TEXTURE_PRIORITY);
                let floats = has.floats().chain(priority).map(float).collect();
                let generates = is_compatibility && integer(GL_GENERATE_MIPMAP).1 != 0;
                Self { integers, floats, border, generates }
            }
        }
    }

    /// Leaves those that a new texture of this target does not have.
    pub fn changed(mut self, target: u32) -> Self {
        let initial = SamplerState::default();
        self.integers.retain(|(name, value)| *value != initial_integer(&initial, target, *name));
        self.floats.retain(|(name, value)| match *name {
            GL_TEXTURE_PRIORITY => *value != 1.0,
            name => *value != float_of(&initial, name),
        });
        self
    }

    /// Whether there is nothing to describe.
    pub fn is_empty(&self) -> bool {
        let is_set = !self.integers.is_empty() || !self.floats.is_empty() || self.generates;
        !is_set && self.border == [0.0; 4]
    }

    /// Has the texture that is bound to `target` generate mipmaps whenever its base level changes, if it does so. After its images
    /// are described: their levels may be others.
    pub fn describe_generation(&self, emitter: &mut Emitter, target: u32) {
        if self.generates {
            let command = emitter.command(GL_TEX_PARAMETERI).arg(target);
            command.arg(GL_GENERATE_MIPMAP).arg(1_i32).done();
        }
    }

    /// Sets the others for the texture that is bound to `target`.
    pub fn describe(&self, emitter: &mut Emitter, target: u32) {
        self.describe_numbers(emitter, target);
        describe_border(emitter, GL_TEX_PARAMETERFV, target, self.border);
    }

    /// Sets all of them for the texture that is bound to `target`, whatever they were before.
    pub fn describe_again(&self, emitter: &mut Emitter, target: u32, has: Has) {
        if self.integers.iter().any(|(name, _)| *name == GL_TEXTURE_BASE_LEVEL) {
            let command = emitter.command(GL_TEX_PARAMETERI).arg(target);
            command.arg(GL_TEXTURE_BASE_LEVEL).arg(0_i32).done();
        }
        self.describe_numbers(emitter, target);
        if !self.floats.is_empty() {
            if has.border {
                set_border(emitter, GL_TEX_PARAMETERFV, target, self.border);
            }
            if has.is_compatibility() {
                let command = emitter.command(GL_TEX_PARAMETERI).arg(target);
                command.arg(GL_GENERATE_MIPMAP).arg(i32::from(self.generates)).done();
            }
        }
    }

    fn describe_numbers(&self, emitter: &mut Emitter, target: u32) {
        for (name, value) in &self.integers {
            emitter.command(GL_TEX_PARAMETERI).arg(target).arg(*name).arg(*value).done();
        }
        for (name, value) in &self.floats {
            emitter.command(GL_TEX_PARAMETERF).arg(target).arg(*name).arg(*value).done();
        }
    }
}

/// The value of an integer parameter in a new texture.
fn initial_integer(sampler: &SamplerState, target: u32, name: u32) -> i32 {
    let is_external = target == GL_TEXTURE_EXTERNAL_OES;
    let value = match name {
        GL_TEXTURE_MIN_FILTER if is_external => GL_LINEAR,
        GL_TEXTURE_WRAP_S | GL_TEXTURE_WRAP_T if is_external => GL_CLAMP_TO_EDGE,
        GL_TEXTURE_MAX_LEVEL => 1000,
        GL_TEXTURE_SWIZZLE_R => GL_RED,
        GL_TEXTURE_SWIZZLE_G => GL_GREEN,
        GL_TEXTURE_SWIZZLE_B => GL_BLUE,
        GL_TEXTURE_SWIZZLE_A => GL_ALPHA,
        GL_DEPTH_STENCIL_TEXTURE_MODE => GL_DEPTH_COMPONENT,
        GL_DEPTH_TEXTURE_MODE => GL_LUMINANCE,
        _ => return integer_of(sampler, name),
    };
    value.cast_signed()
}

/// The value of an integer parameter in the state of a sampler.
pub fn integer_of(state: &SamplerState, name: u32) -> i32 {
    let value = match name {
        GL_TEXTURE_MAG_FILTER => state.mag_filter,
        GL_TEXTURE_MIN_FILTER => state.min_filter,
        GL_TEXTURE_WRAP_S => state.wrap_s,
        GL_TEXTURE_WRAP_T => state.wrap_t,
        GL_TEXTURE_WRAP_R => state.wrap_r,
        GL_TEXTURE_COMPARE_MODE => state.compare_mode,
        GL_TEXTURE_COMPARE_FUNC => state.compare_func,
        GL_TEXTURE_SRGB_DECODE => state.srgb_decode,
        _ => 0,
    };
    value.cast_signed()
}

/// The value of a floating-point parameter in the state of a sampler.
pub fn float_of(state: &SamplerState, name: u32) -> f32 {
    match name {
        GL_TEXTURE_MIN_LOD => state.min_lod,
        GL_TEXTURE_MAX_LOD => state.max_lod,
        GL_TEXTURE_MAX_ANISOTROPY => state.max_anisotropy,
        GL_TEXTURE_LOD_BIAS => state.lod_bias,
        _ => 0.0,
    }
}
