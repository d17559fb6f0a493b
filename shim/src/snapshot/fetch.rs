//! Reads texels of formats that no framebuffer can have: a shader fetches them in a context of the shim's own, in bands
//! of at most `BYTES_AT_ONCE` (1 MiB). Multisampled textures need OpenGL ES 3.1, arrays of cube maps or of multisampled
//! textures 3.2, or the versions of OpenGL that have them. Fails if the driver does not link the shader or refuses to read the result.

use std::collections::BTreeMap;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_COLOR_ATTACHMENT0, GL_DRAW_FRAMEBUFFER, GL_FRAGMENT_SHADER, GL_FRAMEBUFFER,
    GL_FRAMEBUFFER_COMPLETE, GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_BUFFER, GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER, GL_TEXTURE_WRAP_S,
    GL_TEXTURE_WRAP_T, GL_TRIANGLES, GL_VERTEX_SHADER,
};

use super::aside::Aside;
use super::canvas::Canvas;
use super::formats::Values;
use super::gl::{self, clear_errors, prefers};
use super::glsl;
use super::image_layer::{Image, Of, layer_of, resize};
use super::plain_pixels::Plain;
use super::texture_parameters::Has;
use crate::driver_calls::Gl;

const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
const GL_CLAMP_TO_EDGE: i32 = constants::GL_CLAMP_TO_EDGE as i32;

/// Maximum size of one draw and read-back in bytes, so that the pixels stay in a processor's cache.
const BYTES_AT_ONCE: usize = 1 << 20;

/// A triangle that covers the viewport. A line with the version precedes it.
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
    /// Layer; for a cube map, the face; for a buffer texture, the first texel.
    layer: i32,
    /// Index of the sample in a multisampled texture; for a buffer texture, the texels of a row.
    sample: i32,
    width: i32,
    height: i32,
}

impl Sampled {
    /// `None` if no shader can read the image.
    pub fn of(image: Image) -> Option<Self> {
        let Image { of, width, height, .. } = image;
        let sample = 0;
        match of {
            Of::Renderbuffer { .. } | Of::RenderbufferSample { .. } => None,
            Of::Sample { texture, target, layer, sample } => {
                Some(Self { texture, target, level: 0, layer, sample, width, height })
            }
            Of::Buffer { texture, first } => {
                let (target, layer, sample) = (GL_TEXTURE_BUFFER, first, width);
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

    /// Sets parameters of the texture, which is bound, so that a shader reads this level and these components.
    fn put_aside(&self, take: &[usize]) -> Aside {
        if self.target == GL_TEXTURE_BUFFER {
            // It has no parameters, and no format of a buffer texture needs other components.
            return Aside::nothing(self.target);
        }
        let has_levels =
            ![GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY].contains(&self.target);
        let aside = match has_levels {
            true => Aside::level(self.target, self.level),
            false => Aside::nothing(self.target),
        };
        aside.and_components(take)
    }
}

/// Programs that fetch texels, by target, values and texels per pixel; 0 for a program that the driver did not link.
pub struct Fetch {
    programs: BTreeMap<(u32, Values, i32), u32>,
    framebuffer: u32,
    /// The last canvas: its texture, width and height.
    canvas: Option<(Canvas, u32, [i32; 2])>,
    sampler: u32,
    has: Option<Has>,
    /// The first lines of shaders.
    header: String,
}

impl Fetch {
    /// The current context is the shim's own.
    pub fn new() -> Self {
        let framebuffer = gl::new_framebuffer(GL_FRAMEBUFFER);
        let driver = Gl::of_thread();
        let has = driver.as_ref().map(Has::of);
        let version = driver.map_or((3, 0), |driver| driver.version());
        let header = glsl::version(i32::from(version.0) * 100 + i32::from(version.1) * 10);
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
        Self { programs: BTreeMap::new(), framebuffer, canvas: None, sampler, has, header }
    }

    /// Passes the pixels of the canvas to `each`, some rows at a time and from the bottom up; `read` is memory for them.
    /// `take` lists the components that the canvas has, in order. `None` if the driver refuses.
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

    /// Binds a framebuffer of the canvas. False if the driver cannot draw to it, or reads it in another layout.
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
        let (has, header) = (self.has?, self.header.as_str());
        let program = *self.programs.entry(kind).or_insert_with(|| {
            fragments(has, kind).and_then(|text| link(header, &text)).unwrap_or(0)
        });
        (program != 0).then_some(program)
    }
}

/// Programs and samplers belong to the share group, and in Mesa framebuffers do, too: they would outlive this context.
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

/// Reads the pixels that were drawn.
fn read_band(canvas: Canvas, width: i32, height: i32, read: &mut Vec<u8>) -> Option<()> {
    let pixels = usize::try_from(width).ok()?.checked_mul(usize::try_from(height).ok()?)?;
    resize(read, pixels.checked_mul(canvas.pixel_bytes)?)?;
    let plain = Plain::in_own_context();
    // SAFETY: rows without gaps, of pixels that have as many bytes.
    unsafe { plain.read_pixels((width, height), canvas.read, read.as_mut_ptr()) };
    (gl::get_error() == 0).then_some(())
}

/// The prefix of samplers and vectors of these values.
pub fn prefix_of(values: Values) -> &'static str {
    match values {
        Values::Bytes | Values::Floats => "",
        Values::Ints => "i",
        Values::Uints => "u",
    }
}

/// Statements of a shader that set `way`, the direction of the texel at `place` on `face` of the cube map `image`.
pub const FACE_OF_CUBE: &str = "
        vec2 on = (vec2(place) + 0.5) / float(textureSize(image, 0).x) * 2.0 - 1.0;
        vec3 way = face == 0 ? vec3(1, -on.y, -on.x)
            : face == 1 ? vec3(-1, -on.y, on.x)
            : face == 2 ? vec3(on.x, 1, on.y)
            : face == 3 ? vec3(on.x, -1, -on.y)
            : face == 4 ? vec3(on.x, -on.y, 1)
            : vec3(-on.x, -on.y, -1);
";

/// Source of a fragment shader that writes the texels of its pixel; `at` is the first column and row, the layer and the
/// sample. `None` for targets that the version has no sampler for.
fn fragments(has: Has, (target, values, texels): (u32, Values, i32)) -> Option<String> {
    // The sampler takes the nearest texel, so this is the texel's value. Software rasterizers sample bytes faster than they
    // fetch them.
    const AT_CENTRE: &str =
        "textureLod(image, (vec2(place) + 0.5) / vec2(textureSize(image, 0)), 0.0)";
    let of_cube = format!("int face = at.z % 6; {FACE_OF_CUBE} return ");
    let of_cube = of_cube.as_str();
    let (kind, before, texel) = match target {
        GL_TEXTURE_2D => ("sampler2D", "return ", AT_CENTRE),
        GL_TEXTURE_3D => ("sampler3D", "return ", "texelFetch(image, ivec3(place, at.z), 0)"),
        GL_TEXTURE_2D_ARRAY => {
            ("sampler2DArray", "return ", "texelFetch(image, ivec3(place, at.z), 0)")
        }
        GL_TEXTURE_2D_MULTISAMPLE if has.is((3, 1), (3, 2)) => {
            ("sampler2DMS", "return ", "texelFetch(image, place, at.w)")
        }
        GL_TEXTURE_2D_MULTISAMPLE_ARRAY if has.is((3, 2), (3, 2)) => {
            ("sampler2DMSArray", "return ", "texelFetch(image, ivec3(place, at.z), at.w)")
        }
        GL_TEXTURE_BUFFER if has.is((3, 2), (3, 1)) => {
            ("samplerBuffer", "return ", "texelFetch(image, at.z + place.y * at.w + place.x)")
        }
        GL_TEXTURE_CUBE_MAP => ("samplerCube", of_cube, "textureLod(image, way, 0.0)"),
        GL_TEXTURE_CUBE_MAP_ARRAY if has.is((3, 2), (4, 0)) => {
            ("samplerCubeArray", of_cube, "textureLod(image, vec4(way, at.z / 6), 0.0)")
        }
        _ => return None,
    };
    let prefix = prefix_of(values);
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

/// Compiles and links a program of both shaders, which need the same version. `None` if the driver refuses.
fn link(header: &str, fragments: &str) -> Option<u32> {
    let program = gl::create_program();
    for (kind, text) in [(GL_VERTEX_SHADER, VERTICES), (GL_FRAGMENT_SHADER, fragments)] {
        let text = format!("{header}\n{text}");
        gl::attach_new_shader(program, kind, &text, true);
    }
    gl::is_linked_now(program).then_some(program)
}
