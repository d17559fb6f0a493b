//! Contents of multisampled images, up to 32 samples (`SAMPLES_MAX`). No command uploads samples, so a replay draws
//! each sample from a texture of its own, with the other samples masked. Depth and stencil are missing: a fragment
//! shader can write no stencil value, and not every depth exactly.

use gapii_abi::spare_names;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DITHER, GL_DRAW_FRAMEBUFFER, GL_FRAGMENT_SHADER, GL_RENDERBUFFER,
    GL_RGBA32F, GL_RGBA32I, GL_RGBA32UI, GL_SAMPLE_MASK, GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER,
    GL_TEXTURE_MIN_FILTER, GL_TRIANGLES, GL_VERTEX_SHADER,
};

use gapii_state::ContextApi;

use super::emit::Emitter;
use super::formats::{Layout, Part, Read, Values};
use super::image_layer::{Image, Of};
use super::sibling::Sibling;
use super::{glsl, spare};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
/// Spare names.
const FROM: u32 = spare_names::FIRST;
const PROGRAM: u32 = spare_names::FIRST + 0x10;
const SHADERS: u32 = spare_names::FIRST + 0x11;
/// Number of samples in one word of the sample mask.
const SAMPLES_MAX: i32 = 32;

/// A line with the version precedes it.
const VERTICES: &str = "
void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
}
";

/// A multisampled image.
#[derive(Clone, Copy)]
pub struct Multisampled {
    pub whose: Whose,
    pub format: u32,
    pub samples: i32,
    pub width: i32,
    pub height: i32,
}

/// The object that the image belongs to.
#[derive(Clone, Copy)]
pub enum Whose {
    Renderbuffer(u32),
    /// A texture and its target.
    Texture(u32, u32),
    /// A texture, its target and a layer.
    Layer(u32, u32, i32),
}

impl Multisampled {
    /// Describes the contents of its samples. False if they cannot be read.
    pub fn describe(&self, emitter: &mut Emitter, sibling: Option<&Sibling>) -> bool {
        let (Some(values), Some(sibling)) = (values_of(self.format), sibling) else { return false };
        let format = match values {
            Values::Bytes | Values::Floats => GL_RGBA32F,
            Values::Ints => GL_RGBA32I,
            Values::Uints => GL_RGBA32UI,
        };
        let Some(layout) = Layout::of(format, 0) else { return false };
        let (width, height) = (self.width, self.height);
        let Some(identity) = sibling.ask(|_| Gl::of_thread().map(|it| (it.api(), it.version())))
        else {
            return false;
        };
        let mut is_begun = false;
        let mut is_whole = true;
        for sample in 0..self.samples.clamp(0, SAMPLES_MAX) {
            let image = Image { of: self.sample(sample), width, height, is_shared: false };
            let done = sibling.with_pixels(image, layout, |pixels| {
                if !is_begun {
                    self.begin(emitter, identity, values);
                    is_begun = true;
                }
                let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32);
                let command = command.arg(format).arg(width).arg(height).arg(0_i32);
                let command = command.arg(layout.format).arg(layout.kind).arg(pixels.as_ptr());
                command.range(8, pixels).done();
                emitter.command(GL_SAMPLE_MASKI).arg(0_u32).arg(1_u32 << sample).done();
                emitter.command(GL_DRAW_ARRAYS).arg(GL_TRIANGLES).arg(0_i32).arg(3_i32).done();
            });
            is_whole &= done.is_some();
            if !is_whole {
                break;
            }
        }
        if is_begun {
            end(emitter, identity.0);
        }
        is_whole
    }

    fn sample(&self, sample: i32) -> Of {
        let (format, samples) = (self.format, self.samples);
        match self.whose {
            Whose::Renderbuffer(name) => Of::RenderbufferSample { name, format, samples, sample },
            Whose::Texture(texture, target) => Of::Sample { texture, target, layer: 0, sample },
            Whose::Layer(texture, target, layer) => Of::Sample { texture, target, layer, sample },
        }
    }

    /// Attaches the image to a framebuffer, and sets all state that the draws need.
    fn begin(&self, emitter: &mut Emitter, (api, version): (ContextApi, (u8, u8)), values: Values) {
        let version = glsl::version_in(api, version, 310);
        let (target, point) = (GL_DRAW_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
        emitter.make(GL_GEN_FRAMEBUFFERS, FROM);
        emitter.command(GL_BIND_FRAMEBUFFER).arg(target).arg(FROM).done();
        match self.whose {
            Whose::Renderbuffer(name) => {
                let command = emitter.command(GL_FRAMEBUFFER_RENDERBUFFER).arg(target);
                command.arg(point).arg(GL_RENDERBUFFER).arg(name).done();
            }
            Whose::Texture(texture, kind) => {
                let command = emitter.command(GL_FRAMEBUFFER_TEXTURE2D).arg(target).arg(point);
                command.arg(kind).arg(texture).arg(0_i32).done();
            }
            Whose::Layer(texture, _, layer) => {
                let command = emitter.command(GL_FRAMEBUFFER_TEXTURE_LAYER).arg(target).arg(point);
                command.arg(texture).arg(0_i32).arg(layer).done();
            }
        }
        make_program(emitter, &version, values);
        if api != ContextApi::Es {
            // The core profile draws nothing without one.
            emitter.make(GL_GEN_VERTEX_ARRAYS, FROM);
            emitter.command(GL_BIND_VERTEX_ARRAY).arg(FROM).done();
        }
        let command = emitter.command(GL_VIEWPORT).arg(0_i32).arg(0_i32);
        command.arg(self.width).arg(self.height).done();
        emitter.command(GL_DISABLE).arg(GL_DITHER).done();
        emitter.command(GL_ENABLE).arg(GL_SAMPLE_MASK).done();
        emitter.make(GL_GEN_TEXTURES, FROM);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(FROM).done();
        for name in [GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER] {
            let command = emitter.command(GL_TEX_PARAMETERI).arg(GL_TEXTURE_2D);
            command.arg(name).arg(GL_NEAREST).done();
        }
    }
}

/// Makes a program that writes to each pixel the texel of the same place.
fn make_program(emitter: &mut Emitter, version: &str, values: Values) {
    let prefix = match values {
        Values::Bytes | Values::Floats => "",
        Values::Ints => "i",
        Values::Uints => "u",
    };
    let vertices = format!("{version}{VERTICES}");
    let fragments = format!(
        "{version}
precision highp float;
precision highp int;
uniform highp {prefix}sampler2D image;
layout(location = 0) out highp {prefix}vec4 texel;
void main() {{ texel = texelFetch(image, ivec2(gl_FragCoord.xy), 0); }}
"
    );
    let stages = [(GL_VERTEX_SHADER, vertices.as_str()), (GL_FRAGMENT_SHADER, fragments.as_str())];
    spare::make_program(emitter, PROGRAM, SHADERS, &stages);
    emitter.command(GL_LINK_PROGRAM).arg(PROGRAM).done();
    emitter.command(GL_USE_PROGRAM).arg(PROGRAM).done();
}

/// Restores the state that the description of the context does not set.
fn end(emitter: &mut Emitter, api: ContextApi) {
    if api != ContextApi::Es {
        spare::delete(emitter, GL_DELETE_VERTEX_ARRAYS, &[FROM]);
    }
    emitter.command(GL_USE_PROGRAM).arg(0_u32).done();
    emitter.command(GL_DELETE_PROGRAM).arg(PROGRAM).done();
    emitter.command(GL_SAMPLE_MASKI).arg(0_u32).arg(u32::MAX).done();
    emitter.command(GL_DISABLE).arg(GL_SAMPLE_MASK).done();
    emitter.command(GL_ENABLE).arg(GL_DITHER).done();
    for id in [GL_DELETE_FRAMEBUFFERS, GL_DELETE_TEXTURES] {
        spare::delete(emitter, id, &[FROM]);
    }
}

/// Type of the values that a shader fetches from a colour format; `None` for depth and stencil.
fn values_of(format: u32) -> Option<Values> {
    match Layout::of(format, 0)?.read {
        Read::Components(values, ..) => Some(values),
        Read::AsTheyAre(Part::Color, _) => Some(Values::Floats),
        Read::AsTheyAre(..) => None,
    }
}
