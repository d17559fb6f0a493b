//! Pixels of a texture that has lost its name and that a texture unit of the program's context holds: a vertex shader
//! fetches the texels, and a transform feedback writes them ([`super::feedback`]). Of a buffer texture these are contents
//! of its buffer. Not read are samples, stencil, depth of other than 16, 24 and 32 (float) bits, compressed formats,
//! textures of one dimension and of rectangles, levels of cube maps without all six faces, and what a draw must not sample ([`super::levels`]).

use core::ops::Range;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_DEPTH_COMPONENT24, GL_FLOAT, GL_MAX_TEXTURE_BUFFER_SIZE, GL_SAMPLER_BINDING, GL_TEXTURE_2D,
    GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER,
    GL_UNPACK_ALIGNMENT, GL_UNSIGNED_SHORT,
};
use gapii_state::read_back::Driver as _;
use gapii_state::{Context, Process, TextureImage};

use super::aside::Aside;
use super::buffer_textures::Shown;
use super::emit::Emitter;
use super::feedback::{Feedback, POINTS_MAX};
use super::fetch::{FACE_OF_CUBE, prefix_of};
use super::formats::{self, Encode, Layout, Part, Read, Values};
use super::found::Found;
use super::gl;
use super::glsl;
use super::held::Held;
use super::image_layer::layer_of;
use super::levels::{Levels, base_level, can_be_base};
use super::owed::Uploaded;
use super::sibling::Sibling;
use super::textures::{At, Known, layers_of, upload};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
const GL_NEAREST_MIPMAP_NEAREST: i32 = constants::GL_NEAREST_MIPMAP_NEAREST as i32;
/// Bytes that the shader writes for a texel.
const TEXEL: usize = 16;

/// Describes the pixels of the texture, which the stream has and which the active unit, `unit`, holds. Returns false if
/// some cannot be read.
pub fn describe(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    texture: &Known,
    unit: u32,
) -> bool {
    let Some(sibling) = Sibling::begin(process, context.handle) else { return false };
    let Some(feedback) = Feedback::begin(context, &sibling) else { return false };
    let _sampler = OwnSampler::bind(context, unit);
    emitter.command(GL_BIND_TEXTURE).arg(texture.target).arg(texture.name).done();
    emitter.command(GL_PIXEL_STOREI).arg(GL_UNPACK_ALIGNMENT).arg(1_i32).done();
    let mut are_all = true;
    for (face, level, image) in texture.smallest_first() {
        for layer in 0..layers_of(texture.target, image) {
            let at = At { face: *face, level: *level, layer };
            match (Unit { unit, texture }).read(&feedback, at, image) {
                Some((layout, pixels)) => {
                    upload(emitter, texture.target, at, image, (layout, Uploaded::of(&pixels)));
                }
                None => are_all = false,
            }
        }
    }
    are_all
}

/// Finds what the buffer texture that the active unit, `unit`, holds shows of its buffer. `None` if it cannot be read.
pub fn read_buffer(
    (process, context): (&Process, &Context),
    shown: Shown,
    unit: u32,
    out: &mut Found,
) -> Option<()> {
    let (format, range) = (shown.format(), shown.range(out.bytes.len()));
    let layout = Layout::of(format, 0)?;
    let Read::Components(values, ..) = layout.read else { return None };
    let sibling = Sibling::begin(process, context.handle)?;
    let feedback = Feedback::begin(context, &sibling)?;
    let (version, extension) = match context.has((3, 2), (3, 1)) {
        true => (320, ""),
        false if Gl::current()?.has("GL_EXT_texture_buffer") => (310, "GL_EXT_texture_buffer"),
        false => (310, "GL_OES_texture_buffer"),
    };
    let program = feedback.link(&shader_of_buffer(version, extension, values), c"words")?;
    // SAFETY: a text that ends.
    let place = unsafe { gl::get_uniform_location(program.name, c"image".as_ptr()) };
    let read = |points: Range<usize>| {
        let set = || gl::uniform_1i(place, unit as i32);
        let words = feedback.draw(&program, points, TEXEL, set)?;
        let mut bytes = Vec::new();
        encode(&words, layout, format, &mut bytes)?;
        Some(bytes)
    };
    // One texel tells how many bytes a texel has.
    let texel = read(0..1)?.len();
    let most = usize::try_from(gl::integer(GL_MAX_TEXTURE_BUFFER_SIZE)).ok()?;
    let texels = range.len().checked_div(texel)?.min(most);
    for first in (0..texels).step_by(POINTS_MAX) {
        let bytes = read(first..texels.min(first + POINTS_MAX))?;
        out.put(range.start + first * texel, &bytes)?;
    }
    Some(())
}

/// The active texture unit, and the texture in it.
struct Unit<'a> {
    unit: u32,
    texture: &'a Known,
}

impl Unit<'_> {
    /// The pixels of a layer, as they are uploaded with an alignment of 1.
    fn read(&self, feedback: &Feedback, at: At, image: &TextureImage) -> Option<(Layout, Vec<u8>)> {
        let target = self.texture.target;
        let layout = Layout::of(image.format, image.pixel_type).filter(|_| image.samples == 0)?;
        let values = match layout.read {
            Read::Components(values, ..) => values,
            Read::AsTheyAre(Part::Color | Part::Depth, _) => Values::Floats,
            Read::AsTheyAre(..) => return None,
        };
        if target == GL_TEXTURE_CUBE_MAP && !self.has_all_faces(at.level, image) {
            return None;
        }
        let layer =
            if target == GL_TEXTURE_CUBE_MAP { layer_of(target, at.face) } else { at.layer };
        if Levels::of_bound(target) == Levels::Apart {
            return None;
        }
        // How many levels behind the base level the shader reads.
        let behind = match can_be_base(target, at.level) {
            true => 0,
            false => u32::try_from(at.level - base_level(target)).ok()?,
        };
        let source = shader(target, values, image.width, (layer, behind))?;
        let program = feedback.link(&source, c"words")?;
        // SAFETY: a text that ends.
        let place = unsafe { gl::get_uniform_location(program.name, c"image".as_ptr()) };
        let (width, height) = (usize::try_from(image.width), usize::try_from(image.height));
        let texels = width.ok()?.checked_mul(height.ok()?)?;
        let aside = match behind {
            0 => Aside::level(target, at.level),
            _ => Aside::reaching_level(target, at.level),
        };
        let aside = aside.and_what_is_sampled().and_components(&[]);
        let mut pixels = Vec::new();
        for first in (0..texels).step_by(POINTS_MAX) {
            let points = first..texels.min(first + POINTS_MAX);
            let set = || gl::uniform_1i(place, self.unit as i32);
            let words = feedback.draw(&program, points, TEXEL, set)?;
            encode(&words, layout, image.format, &mut pixels)?;
        }
        drop(aside);
        Some((layout, pixels))
    }

    /// Whether a shader can read this level of a cube map.
    fn has_all_faces(&self, level: i32, image: &TextureImage) -> bool {
        (0..6).all(|face| {
            let other = self.texture.image(GL_TEXTURE_CUBE_MAP_POSITIVE_X + face, level);
            other.is_some_and(|other| {
                let size = |it: &TextureImage| (it.width, it.height, it.format);
                size(&other) == size(image)
            })
        })
    }
}

/// Source of a vertex shader that writes the texel of a layer with the number of its vertex, so many levels behind the base
/// level.
fn shader(target: u32, values: Values, width: i32, (layer, behind): (i32, u32)) -> Option<String> {
    let (version, kind, texel) = match target {
        GL_TEXTURE_2D => (300, "sampler2D", "texelFetch(image, place, behind)"),
        GL_TEXTURE_3D => (300, "sampler3D", "texelFetch(image, ivec3(place, layer), behind)"),
        GL_TEXTURE_2D_ARRAY => {
            (300, "sampler2DArray", "texelFetch(image, ivec3(place, layer), behind)")
        }
        GL_TEXTURE_CUBE_MAP => (300, "samplerCube", "textureLod(image, way(place), float(behind))"),
        GL_TEXTURE_CUBE_MAP_ARRAY => {
            let texel = "textureLod(image, vec4(way(place), layer / 6), float(behind))";
            (320, "samplerCubeArray", texel)
        }
        _ => return None,
    };
    let prefix = prefix_of(values);
    let way = match target {
        GL_TEXTURE_CUBE_MAP | GL_TEXTURE_CUBE_MAP_ARRAY => {
            format!("vec3 way(ivec2 place) {{ int face = layer % 6; {FACE_OF_CUBE} return way; }}")
        }
        _ => String::new(),
    };
    let bits = bits_of(values);
    let version = glsl::version(version);
    Some(format!(
        "{version}
precision highp float;
precision highp int;
uniform highp {prefix}{kind} image;
const int layer = {layer};
const int behind = {behind};
flat out highp uvec4 words;
{way}
void main() {{
    ivec2 place = ivec2(gl_VertexID % {width}, gl_VertexID / {width});
    {prefix}vec4 texel = {texel};
    words = {bits};
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}}
"
    ))
}

/// Source of a vertex shader that writes the texel of a buffer texture with the number of its vertex. `extension` gives
/// the version buffer textures; empty if it has them.
fn shader_of_buffer(version: i32, extension: &str, values: Values) -> String {
    let prefix = prefix_of(values);
    let require = match extension {
        "" => String::new(),
        _ => format!("#extension {extension} : require\n"),
    };
    let bits = bits_of(values);
    let version = glsl::version(version);
    format!(
        "{version}
{require}precision highp float;
precision highp int;
uniform highp {prefix}samplerBuffer image;
flat out highp uvec4 words;
void main() {{
    {prefix}vec4 texel = texelFetch(image, gl_VertexID);
    words = {bits};
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}}
"
    )
}

/// An expression of a shader for the bits of `texel`.
fn bits_of(values: Values) -> &'static str {
    match values {
        Values::Bytes | Values::Floats => "floatBitsToUint(texel)",
        Values::Ints | Values::Uints => "uvec4(texel)",
    }
}

/// Appends texels in the layout of an upload. `None` for formats that are not read.
fn encode(words: &[u8], layout: Layout, format: u32, out: &mut Vec<u8>) -> Option<()> {
    let depth = || words.chunks_exact(TEXEL).filter_map(|texel| texel.first_chunk::<4>().copied());
    match layout.read {
        Read::Components(values, take, how) => {
            let values = if values == Values::Bytes { Values::Floats } else { values };
            formats::encode(words, values, take, how, out);
        }
        Read::AsTheyAre(Part::Color, _) => {
            formats::encode(words, Values::Floats, &[], Encode::Unorm1010102, out);
        }
        Read::AsTheyAre(Part::Depth, _) if layout.kind == GL_FLOAT => out.extend(depth().flatten()),
        Read::AsTheyAre(Part::Depth, _) if layout.kind == GL_UNSIGNED_SHORT => {
            out.extend(depth().flat_map(|word| (unorm(word, 16) as u16).to_le_bytes()));
        }
        Read::AsTheyAre(Part::Depth, _) if format == GL_DEPTH_COMPONENT24 => {
            let word = |depth: u32| depth << 8 | depth >> 16;
            out.extend(depth().flat_map(|bytes| word(unorm(bytes, 24)).to_le_bytes()));
        }
        Read::AsTheyAre(..) => return None,
    }
    Some(())
}

fn unorm(word: [u8; 4], bits: u32) -> u32 {
    let most = f64::from((1_u32 << bits) - 1);
    (f64::from(f32::from_le_bytes(word)) * most).round() as u32
}

/// A sampler of the shim's own in the active unit, with which a texture of any format is complete; dropping this binds
/// the program's sampler again.
struct OwnSampler {
    unit: u32,
    before: u32,
    name: u32,
}

impl OwnSampler {
    /// `None`, with nothing changed, if the program's sampler has lost its name and could not be bound again.
    fn bind(context: &Context, unit: u32) -> Option<Self> {
        let before = gl::integer(GL_SAMPLER_BINDING) as u32;
        let tracked = context.texture_units.get(unit as usize).map(|unit| unit.sampler);
        let has_name = || {
            let group = context.group.lock();
            let held = Held::find(&group.samplers, before, tracked.unwrap_or_default());
            matches!(held, Held::Named(_))
        };
        if before != 0 && !has_name() {
            return None;
        }
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_samplers(1, &raw mut name) };
        gl::sampler_parameter(name, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
        gl::sampler_parameter(name, GL_TEXTURE_MIN_FILTER, GL_NEAREST_MIPMAP_NEAREST);
        gl::bind_sampler(unit, name);
        Some(Self { unit, before, name })
    }
}

impl Drop for OwnSampler {
    fn drop(&mut self) {
        gl::bind_sampler(self.unit, self.before);
        // SAFETY: one name.
        unsafe { gl::delete_samplers(1, &raw const self.name) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_of_sixteen_bits_comes_back() {
        let layout = Layout::of(constants::GL_DEPTH_COMPONENT16, 0).expect("a known format");
        for depth in [0_u16, 1, 0x1234, 0xFFFF] {
            let mut words = (f32::from(depth) / 65535.0).to_le_bytes().to_vec();
            words.resize(TEXEL, 0);
            let mut out = Vec::new();
            assert_eq!(encode(&words, layout, constants::GL_DEPTH_COMPONENT16, &mut out), Some(()));
            assert_eq!(out, depth.to_le_bytes());
        }
    }
}
