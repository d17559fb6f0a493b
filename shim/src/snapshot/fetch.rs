//! Texels that no framebuffer has, fetched by a shader in a context of our own.

use std::collections::BTreeMap;
use std::ffi::CString;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FRAGMENT_SHADER, GL_FRAMEBUFFER,
    GL_FRAMEBUFFER_COMPLETE, GL_LINK_STATUS, GL_MAJOR_VERSION, GL_MINOR_VERSION, GL_TEXTURE_2D,
    GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER,
    GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TRIANGLES, GL_VERTEX_SHADER,
};

use super::aside::Aside;
use super::canvas::Canvas;
use super::formats::Values;
use super::gl::{self, clear_errors, prefers};
use super::image_layer::{Image, Of, layer_of, resize};

const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
const GL_CLAMP_TO_EDGE: i32 = constants::GL_CLAMP_TO_EDGE as i32;

/// Most that is drawn and read at once, in bytes: what stays in a processor's cache.
const BYTES_AT_ONCE: usize = 1 << 20;

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

    /// What else would be seen of the texture, which is bound.
    fn put_aside(&self, take: &[usize]) -> Aside {
        let has_levels =
            ![GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY].contains(&self.target);
        let aside = match has_levels {
            true => Aside::level(self.target, self.level),
            false => Aside::nothing(self.target),
        };
        aside.and_components(take)
    }
}

/// Shaders that fetch, by target, values and texels of a pixel; 0 for what the driver does not compile.
pub struct Fetch {
    programs: BTreeMap<(u32, Values, i32), u32>,
    framebuffer: u32,
    /// What was drawn to last: its texture, width and height.
    canvas: Option<(Canvas, u32, [i32; 2])>,
    sampler: u32,
    version: i32,
}

impl Fetch {
    /// Of the context that is current, which is ours.
    pub fn new() -> Self {
        let framebuffer = gl::new_framebuffer(GL_FRAMEBUFFER);
        let version = gl::integer(GL_MAJOR_VERSION) * 100 + gl::integer(GL_MINOR_VERSION) * 10;
        let mut sampler = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_samplers(1, &raw mut sampler) };
        for (name, value) in [
            (GL_TEXTURE_MAG_FILTER, GL_NEAREST),
            (GL_TEXTURE_MIN_FILTER, GL_NEAREST),
            (GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE),
            (GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE),
        ] {
            gl::sampler_parameter(sampler, name, value);
        }
        gl::bind_sampler(0, sampler);
        Self { programs: BTreeMap::new(), framebuffer, canvas: None, sampler, version }
    }

    /// Gives `each` the pixels, as they are read from the canvas, from the bottom up and some rows at a
    /// time; `read` is room for them. `take` are the components that a canvas has, in this order.
    pub fn read(
        &mut self,
        image: Sampled,
        (canvas, take): (Canvas, &[usize]),
        read: &mut Vec<u8>,
        mut each: impl FnMut(&[u8]),
    ) -> Option<()> {
        if image.width <= 0 || image.height <= 0 {
            return None;
        }
        let program = self.program((image.target, canvas.values, canvas.texels))?;
        clear_errors();
        let width = image.width / canvas.texels;
        let rows = BYTES_AT_ONCE / (width as usize * canvas.pixel_bytes);
        let rows = i32::try_from(rows).ok()?.clamp(1, image.height);
        if !self.attach(canvas, [width, rows]) {
            return None;
        }
        gl::bind_texture(image.target, image.texture);
        let aside = image.put_aside(take);
        gl::use_program(program);
        // SAFETY: a text that ends.
        let place = unsafe { gl::get_uniform_location(program, c"at".as_ptr()) };
        gl::viewport(0, 0, width, rows);
        let mut is_done = true;
        let mut y = 0;
        while is_done && y < image.height {
            let here = rows.min(image.height - y);
            gl::uniform_4i(place, 0, y, image.layer, image.sample);
            gl::draw_arrays(GL_TRIANGLES, 0, 3);
            is_done = read_band(canvas, width, here, read).is_some();
            if is_done {
                each(read);
            }
            y += here;
        }
        drop(aside);
        gl::bind_texture(image.target, 0);
        is_done.then_some(())
    }

    /// Binds a framebuffer to draw to. False: the driver draws to none such, or reads it otherwise.
    fn attach(&mut self, canvas: Canvas, size: [i32; 2]) -> bool {
        gl::bind_framebuffer(GL_FRAMEBUFFER, self.framebuffer);
        if self.canvas.is_none_or(|(last, _, last_size)| (last, last_size) != (canvas, size)) {
            self.drop_canvas();
            let texture = gl::new_texture(GL_TEXTURE_2D);
            let [width, height] = size;
            gl::tex_storage_2d(GL_TEXTURE_2D, 1, canvas.format, width, height);
            gl::bind_texture(GL_TEXTURE_2D, 0);
            let (target, point) = (GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
            gl::framebuffer_texture_2d(target, point, GL_TEXTURE_2D, texture, 0);
            self.canvas = Some((canvas, texture, size));
        }
        gl::check_framebuffer(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE
            && (canvas.is_always_read || prefers(canvas.read))
    }

    fn drop_canvas(&mut self) {
        if let Some((_, texture, _)) = self.canvas.take() {
            gl::delete_texture(texture);
        }
    }

    fn program(&mut self, kind: (u32, Values, i32)) -> Option<u32> {
        let version = self.version;
        let program = *self.programs.entry(kind).or_insert_with(|| {
            fragments(version, kind).and_then(|text| link(version, &text)).unwrap_or(0)
        });
        (program != 0).then_some(program)
    }
}

/// Programs and samplers are shared: the program's context would keep them. So are, to Mesa,
/// framebuffers.
impl Drop for Fetch {
    fn drop(&mut self) {
        self.drop_canvas();
        gl::delete_framebuffer(self.framebuffer);
        for program in self.programs.values() {
            gl::delete_program(*program);
        }
        // SAFETY: one name.
        unsafe { gl::delete_samplers(1, &raw const self.sampler) };
    }
}

/// Reads what was drawn.
fn read_band(canvas: Canvas, width: i32, height: i32, read: &mut Vec<u8>) -> Option<()> {
    let pixels = usize::try_from(width).ok()?.checked_mul(usize::try_from(height).ok()?)?;
    resize(read, pixels.checked_mul(canvas.pixel_bytes)?)?;
    let (format, kind) = canvas.read;
    // SAFETY: rows without gaps, of pixels that have as many bytes.
    unsafe { gl::read_pixels(0, 0, width, height, format, kind, read.as_mut_ptr()) };
    (gl::get_error() == 0).then_some(())
}

/// A shader that puts the texels of each pixel's place; `at` has the first row, and the layer.
fn fragments(version: i32, (target, values, texels): (u32, Values, i32)) -> Option<String> {
    // Of the texel alone: the sampler is of the nearest one. Software samples bytes faster than it
    // fetches them.
    const AT_CENTRE: &str =
        "textureLod(image, (vec2(place) + 0.5) / vec2(textureSize(image, 0)), 0.0)";
    const OF_CUBE: &str = "
        vec2 on = (vec2(place) + 0.5) / float(textureSize(image, 0).x) * 2.0 - 1.0;
        int face = at.z % 6;
        vec3 way = face == 0 ? vec3(1, -on.y, -on.x)
            : face == 1 ? vec3(-1, -on.y, on.x)
            : face == 2 ? vec3(on.x, 1, on.y)
            : face == 3 ? vec3(on.x, -1, -on.y)
            : face == 4 ? vec3(on.x, -on.y, 1)
            : vec3(-on.x, -on.y, -1);
        return ";
    let (kind, before, texel) = match target {
        GL_TEXTURE_2D => ("sampler2D", "return ", AT_CENTRE),
        GL_TEXTURE_3D => ("sampler3D", "return ", "texelFetch(image, ivec3(place, at.z), 0)"),
        GL_TEXTURE_2D_ARRAY => {
            ("sampler2DArray", "return ", "texelFetch(image, ivec3(place, at.z), 0)")
        }
        GL_TEXTURE_2D_MULTISAMPLE if version >= 310 => {
            ("sampler2DMS", "return ", "texelFetch(image, place, at.w)")
        }
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY if version >= 320 => {
            ("sampler2DMSArray", "return ", "texelFetch(image, ivec3(place, at.z), at.w)")
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
    let pixel = match texels {
        1 => "fetch(place)".to_owned(),
        2 => format!("{prefix}vec4(fetch(place).rg, fetch(place + ivec2(1, 0)).rg)"),
        _ => format!(
            "{prefix}vec4(fetch(place).r, fetch(place + ivec2(1, 0)).r, fetch(place + ivec2(2, 0)).r, \
             fetch(place + ivec2(3, 0)).r)"
        ),
    };
    Some(format!(
        "precision highp float;
precision highp int;
uniform highp {prefix}{kind} image;
uniform ivec4 at;
layout(location = 0) out highp {prefix}vec4 pixel;
{prefix}vec4 fetch(ivec2 place) {{
    {before}{texel};
}}
void main() {{
    ivec2 place = ivec2(gl_FragCoord.xy) * ivec2({texels}, 1) + at.xy;
    pixel = {pixel};
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
