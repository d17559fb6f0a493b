//! Texels that no framebuffer has, fetched by a shader in a context of our own.
//!
//! What bends a fetch and belongs to the texture is set meanwhile, and put back.

use std::collections::BTreeMap;
use std::ffi::CString;

use super::formats::Values;
use super::gl;
use super::pixels::{Image, Of, clear_errors, layer_of, resize};

const GL_TRIANGLES: u32 = 4;
const GL_INT: u32 = 0x1404;
const GL_UNSIGNED_INT: u32 = 0x1405;
const GL_FLOAT: u32 = 0x1406;
const GL_RGBA: u32 = 0x1908;
const GL_RGBA_INTEGER: u32 = 0x8D99;
const GL_RED: i32 = 0x1903;
const GL_NEAREST: i32 = 0x2600;
const GL_TEXTURE_MAG_FILTER: u32 = 0x2800;
const GL_TEXTURE_MIN_FILTER: u32 = 0x2801;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_RGBA8: u32 = 0x8058;
const GL_RGBA32F: u32 = 0x8814;
const GL_RGBA32UI: u32 = 0x8D70;
const GL_RGBA32I: u32 = 0x8D82;
const GL_FRAGMENT_SHADER: u32 = 0x8B30;
const GL_VERTEX_SHADER: u32 = 0x8B31;
const GL_LINK_STATUS: u32 = 0x8B82;
const GL_TEXTURE_2D: u32 = 0x0DE1;
const GL_TEXTURE_3D: u32 = 0x806F;
const GL_TEXTURE_2D_ARRAY: u32 = 0x8C1A;
const GL_TEXTURE_CUBE_MAP: u32 = 0x8513;
const GL_TEXTURE_CUBE_MAP_ARRAY: u32 = 0x9009;
const GL_TEXTURE_2D_MULTISAMPLE: u32 = 0x9100;
const GL_TEXTURE_2D_MULTISAMPLE_ARRAY: u32 = 0x9102;
const GL_TEXTURE_BASE_LEVEL: u32 = 0x813C;
const GL_TEXTURE_MAX_LEVEL: u32 = 0x813D;
const GL_TEXTURE_SWIZZLE_R: u32 = 0x8E42;
const GL_MAJOR_VERSION: u32 = 0x821B;
const GL_MINOR_VERSION: u32 = 0x821C;
const GL_FRAMEBUFFER: u32 = 0x8D40;
const GL_DRAW_FRAMEBUFFER: u32 = 0x8CA9;
const GL_COLOR_ATTACHMENT0: u32 = 0x8CE0;
const GL_FRAMEBUFFER_COMPLETE: u32 = 0x8CD5;

/// Most pixels that are drawn and read at once.
const PIXELS_AT_ONCE: i32 = 1 << 20;

/// A triangle over the whole, behind a line that says the version.
const VERTICES: &str = "void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(corner, 0.0, 1.0);
}
";

/// An image that a shader reads.
#[derive(Clone, Copy)]
pub struct Sampled {
    texture: u32,
    target: u32,
    level: i32,
    /// Of a cube, the face.
    layer: i32,
    /// Of a multisampled one.
    sample: i32,
    width: i32,
    height: i32,
}

impl Sampled {
    /// `None`: no shader reads such.
    pub fn of(image: Image) -> Option<Self> {
        let Image { of, width, height } = image;
        let sample = 0;
        match of {
            Of::Renderbuffer { .. } | Of::RenderbufferSample { .. } => None,
            Of::Sample { texture, target, layer, sample } => {
                Some(Self { texture, target, level: 0, layer, sample, width, height })
            }
            Of::Flat { texture, target, face, level } => {
                let layer = layer_of(target, face);
                Some(Self { texture, target, level, layer, sample, width, height })
            }
            Of::Layer { texture, target, level, layer } => {
                Some(Self { texture, target, level, layer, sample, width, height })
            }
        }
    }
}

/// Shaders that fetch, by target and values; 0 for what the driver does not compile.
pub struct Fetch {
    programs: BTreeMap<(u32, Values), u32>,
    framebuffer: u32,
    sampler: u32,
    version: i32,
}

impl Fetch {
    /// Of the context that is current, which is ours.
    pub fn new() -> Self {
        let mut framebuffer = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_framebuffers(1, &raw mut framebuffer) };
        let version = gl::integer(GL_MAJOR_VERSION) * 100 + gl::integer(GL_MINOR_VERSION) * 10;
        let mut sampler = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_samplers(1, &raw mut sampler) };
        for name in [GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER] {
            gl::sampler_parameter(sampler, name, GL_NEAREST);
        }
        gl::bind_sampler(0, sampler);
        Self { programs: BTreeMap::new(), framebuffer, sampler, version }
    }

    /// Gives `each` the pixels, four components each, from the bottom up, some rows at a time; `read`
    /// is room for them.
    pub fn read(
        &mut self,
        image: Sampled,
        values: Values,
        read: &mut Vec<u8>,
        mut each: impl FnMut(&[u8]),
    ) -> Option<()> {
        if image.width <= 0 || image.height <= 0 {
            return None;
        }
        let program = self.program(image.target, values)?;
        clear_errors();
        let rows = (PIXELS_AT_ONCE / image.width).clamp(1, image.height);
        let canvas = self.canvas(values, image.width, rows);
        gl::bind_texture(image.target, image.texture);
        let aside = Aside::put(image);
        gl::use_program(program);
        // SAFETY: a text that ends.
        let place = unsafe { gl::get_uniform_location(program, c"at".as_ptr()) };
        gl::viewport(0, 0, image.width, rows);
        gl::bind_framebuffer(GL_FRAMEBUFFER, self.framebuffer);
        let mut is_done = canvas.is_some();
        let mut y = 0;
        while is_done && y < image.height {
            let here = rows.min(image.height - y);
            gl::uniform_4i(place, 0, y, image.layer, image.sample);
            gl::draw_arrays(GL_TRIANGLES, 0, 3);
            is_done = read_band(values, image.width, here, read).is_some();
            if is_done {
                each(read);
            }
            y += here;
        }
        drop(aside);
        gl::bind_texture(image.target, 0);
        if let Some(canvas) = canvas {
            // SAFETY: one name.
            unsafe { gl::delete_textures(1, &raw const canvas) };
        }
        is_done.then_some(())
    }

    /// A texture to draw to, attached; `None`: the driver draws to none such.
    fn canvas(&self, values: Values, width: i32, height: i32) -> Option<u32> {
        let format = match values {
            Values::Bytes => GL_RGBA8,
            Values::Floats => GL_RGBA32F,
            Values::Ints => GL_RGBA32I,
            Values::Uints => GL_RGBA32UI,
        };
        let mut canvas = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_textures(1, &raw mut canvas) };
        gl::bind_texture(GL_TEXTURE_2D, canvas);
        gl::tex_storage_2d(GL_TEXTURE_2D, 1, format, width, height);
        gl::bind_texture(GL_TEXTURE_2D, 0);
        gl::bind_framebuffer(GL_FRAMEBUFFER, self.framebuffer);
        let (target, point) = (GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
        gl::framebuffer_texture_2d(target, point, GL_TEXTURE_2D, canvas, 0);
        if gl::check_framebuffer(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE {
            return Some(canvas);
        }
        // SAFETY: one name.
        unsafe { gl::delete_textures(1, &raw const canvas) };
        None
    }

    fn program(&mut self, target: u32, values: Values) -> Option<u32> {
        let version = self.version;
        let made = self.programs.entry((target, values));
        let program = *made.or_insert_with(|| {
            fragments(version, target, values).and_then(|text| link(version, &text)).unwrap_or(0)
        });
        (program != 0).then_some(program)
    }
}

/// Programs and samplers are shared: the program's context would keep them. So are, to Mesa,
/// framebuffers.
impl Drop for Fetch {
    fn drop(&mut self) {
        // SAFETY: one name.
        unsafe { gl::delete_framebuffers(1, &raw const self.framebuffer) };
        for program in self.programs.values() {
            gl::delete_program(*program);
        }
        // SAFETY: one name.
        unsafe { gl::delete_samplers(1, &raw const self.sampler) };
    }
}

/// Reads what was drawn.
fn read_band(values: Values, width: i32, height: i32, read: &mut Vec<u8>) -> Option<()> {
    let (format, kind, pixel_bytes) = match values {
        Values::Bytes => (GL_RGBA, GL_UNSIGNED_BYTE, 4),
        Values::Floats => (GL_RGBA, GL_FLOAT, 16),
        Values::Ints => (GL_RGBA_INTEGER, GL_INT, 16),
        Values::Uints => (GL_RGBA_INTEGER, GL_UNSIGNED_INT, 16),
    };
    let pixels = usize::try_from(width).ok()?.checked_mul(usize::try_from(height).ok()?)?;
    resize(read, pixels.checked_mul(pixel_bytes)?)?;
    // SAFETY: rows without gaps, of pixels that have as many bytes.
    unsafe { gl::read_pixels(0, 0, width, height, format, kind, read.as_mut_ptr()) };
    (gl::get_error() == 0).then_some(())
}

/// A shader that puts a texel of each pixel's place; `at` has the first row, and the layer.
fn fragments(version: i32, target: u32, values: Values) -> Option<String> {
    const OF_CUBE: &str = "
        vec2 on = (vec2(place) + 0.5) / float(textureSize(image, 0).x) * 2.0 - 1.0;
        int face = at.z % 6;
        vec3 way = face == 0 ? vec3(1, -on.y, -on.x)
            : face == 1 ? vec3(-1, -on.y, on.x)
            : face == 2 ? vec3(on.x, 1, on.y)
            : face == 3 ? vec3(on.x, -1, -on.y)
            : face == 4 ? vec3(on.x, -on.y, 1)
            : vec3(-on.x, -on.y, -1);
        texel = ";
    let (kind, before, texel) = match target {
        GL_TEXTURE_2D => ("sampler2D", "texel = ", "texelFetch(image, place, 0)"),
        GL_TEXTURE_3D => ("sampler3D", "texel = ", "texelFetch(image, ivec3(place, at.z), 0)"),
        GL_TEXTURE_2D_ARRAY => {
            ("sampler2DArray", "texel = ", "texelFetch(image, ivec3(place, at.z), 0)")
        }
        GL_TEXTURE_2D_MULTISAMPLE if version >= 310 => {
            ("sampler2DMS", "texel = ", "texelFetch(image, place, at.w)")
        }
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY if version >= 320 => {
            ("sampler2DMSArray", "texel = ", "texelFetch(image, ivec3(place, at.z), at.w)")
        }
        GL_TEXTURE_CUBE_MAP => ("samplerCube", OF_CUBE, "textureLod(image, way, 0.0)"),
        GL_TEXTURE_CUBE_MAP_ARRAY if version >= 320 => {
            ("samplerCubeArray", OF_CUBE, "textureLod(image, vec4(way, at.z / 6), 0.0)")
        }
        _ => return None,
    };
    let prefix = match values {
        Values::Bytes | Values::Floats => "",
        Values::Ints => "i",
        Values::Uints => "u",
    };
    Some(format!(
        "precision highp float;
precision highp int;
uniform highp {prefix}{kind} image;
uniform ivec4 at;
layout(location = 0) out highp {prefix}vec4 texel;
void main() {{
    ivec2 place = ivec2(gl_FragCoord.xy) + at.xy;
    {before}{texel};
}}
"
    ))
}

/// Compiles both and links them: they have to be of one version.
fn link(version: i32, fragments: &str) -> Option<u32> {
    let program = gl::create_program();
    for (kind, text) in [(GL_VERTEX_SHADER, VERTICES), (GL_FRAGMENT_SHADER, fragments)] {
        let shader = gl::create_shader(kind);
        let text = CString::new(format!("#version {version} es\n{text}")).ok()?;
        let text = text.as_ptr();
        // SAFETY: one text that ends.
        unsafe { gl::shader_source(shader, 1, &raw const text, core::ptr::null()) };
        gl::compile_shader(shader);
        gl::attach_shader(program, shader);
        gl::delete_shader(shader);
    }
    gl::link_program(program);
    let mut is_linked = 0;
    // SAFETY: the name has one number.
    unsafe { gl::get_program(program, GL_LINK_STATUS, &raw mut is_linked) };
    (is_linked != 0).then_some(program)
}

/// Parameters of the texture that is bound, put back when this is dropped.
struct Aside {
    target: u32,
    /// Name, what was set, and what was there.
    taken: [(u32, i32, i32); 6],
}

impl Aside {
    fn put(image: Sampled) -> Self {
        let swizzles = [0, 1, 2, 3].map(|at| (GL_TEXTURE_SWIZZLE_R + at, GL_RED + at as i32));
        let [red, green, blue, alpha] = swizzles;
        let levels = [(GL_TEXTURE_BASE_LEVEL, image.level), (GL_TEXTURE_MAX_LEVEL, image.level)];
        let [base, max] = levels;
        let of_samples = [GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY];
        let has_levels = !of_samples.contains(&image.target);
        let taken = [red, green, blue, alpha, base, max].map(|(name, plain)| {
            let mut value = plain;
            if !has_levels && [GL_TEXTURE_BASE_LEVEL, GL_TEXTURE_MAX_LEVEL].contains(&name) {
                return (name, value, value);
            }
            // SAFETY: the name has one number.
            unsafe { gl::get_texture_integers(image.target, name, &raw mut value) };
            if value != plain {
                gl::tex_parameter(image.target, name, plain);
            }
            (name, plain, value)
        });
        Self { target: image.target, taken }
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        for (name, _, value) in self.taken.iter().filter(|(_, plain, value)| plain != value) {
            gl::tex_parameter(self.target, *name, *value);
        }
    }
}
