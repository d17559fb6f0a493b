//! A context of the player's own, of OpenGL ES 3.1 or later, that shares objects with the program's context and reads
//! them. Of a texture at most 16 levels and 4,096 images are read, of a shader's source at most 16 MiB. No pictures of
//! multisampled, buffer and external textures and arrays of cube maps, and no content of a buffer that is mapped.
//!
//! For the end of a replay only: the context stays current, so nothing can be played after it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_char};
use std::ptr;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_BUFFER_SIZE, GL_COLOR_ATTACHMENT0, GL_DEPTH_STENCIL_TEXTURE_MODE,
    GL_FRAGMENT_SHADER, GL_FRAMEBUFFER, GL_LINK_STATUS, GL_MAP_READ_BIT, GL_RENDERBUFFER, GL_RGBA8,
    GL_SHADER_SOURCE_LENGTH, GL_SHADER_TYPE, GL_TEXTURE_CUBE_MAP_POSITIVE_X, GL_TEXTURE_DEPTH,
    GL_TEXTURE_DEPTH_SIZE, GL_TEXTURE_MAG_FILTER, GL_TEXTURE_MIN_FILTER, GL_TEXTURE_RED_TYPE,
    GL_TRIANGLES, GL_VERTEX_SHADER,
};
use gapii_state::read_back::Driver as _;

use super::back_buffer::{read_pixels, room};
use super::framebuffer::{self, level_numbers};
use super::gl::{GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_3D, GL_TEXTURE_CUBE_MAP, Gl};
use super::picture::Picture;
use crate::driver::Driver;
use crate::skip::Skip;

const EGL_DRAW: i32 = constants::EGL_DRAW as i32;
const EGL_CONFIG_ID: i32 = constants::EGL_CONFIG_ID as i32;
const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_CONTEXT_CLIENT_VERSION: i32 = constants::EGL_CONTEXT_CLIENT_VERSION as i32;
const GL_INT: i32 = constants::GL_INT as i32;
const GL_UNSIGNED_INT: i32 = constants::GL_UNSIGNED_INT as i32;
const GL_STENCIL_INDEX: i32 = constants::GL_STENCIL_INDEX as i32;
const GL_DEPTH_COMPONENT: i32 = constants::GL_DEPTH_COMPONENT as i32;
const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
const GL_NEAREST_MIPMAP_NEAREST: i32 = constants::GL_NEAREST_MIPMAP_NEAREST as i32;

/// Largest number of levels of a texture that are read.
const LEVELS_MAX: i32 = 16;
/// Largest number of layers of a level, and of images of one texture.
const IMAGES_MAX: usize = 4096;
/// Longest source of a shader, in bytes.
const SOURCE_BYTES_MAX: i32 = 16 << 20;

/// The context. It is current.
pub struct Fetch<'d> {
    gl: Gl<'d>,
    programs: RefCell<BTreeMap<(u32, Values), u32>>,
}

/// One image of a texture: a level, layer or face.
pub struct Image {
    /// Level, layer and face, for the file's name; empty for the only image.
    pub suffix: String,
    /// The picture, or why it can't be had.
    pub picture: Result<Picture, Skip>,
}

/// Type of a texture's texels, which decides how a shader reads them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Values {
    /// Normalized or floating-point values.
    Floats,
    /// Signed integers.
    Ints,
    /// Unsigned integers.
    Uints,
    /// Depth. The picture has the upper eight of 16 bits in red, the lower eight in green.
    Depth,
    /// Stencil, in red.
    Stencil,
}

impl<'d> Fetch<'d> {
    /// Creates the context and makes it current instead of the program's.
    pub fn begin(driver: &'d Driver) -> Result<Self, Skip> {
        let old = Gl::current(driver)?;
        if !old.is_es((1, 0)) {
            return Err("replay reads textures in contexts of OpenGL ES only".into());
        }
        // SAFETY: takes no pointer.
        let display = unsafe { old.egl_current_display() }?;
        // SAFETY: takes no pointer.
        let surface = unsafe { old.egl_current_surface(EGL_DRAW) }?;
        // SAFETY: takes no pointer.
        let shared = unsafe { old.egl_current_context() }?;
        let mut wanted = [EGL_CONFIG_ID, 0, EGL_NONE];
        let [_, id, _] = &mut wanted;
        // SAFETY: room for one number.
        unsafe { old.egl_query_context(display, shared, EGL_CONFIG_ID, id) }?;
        let (mut config, mut count) = (ptr::null_mut(), 0);
        let room = (&raw mut config, &raw mut count);
        // SAFETY: a terminated list, and room for one configuration and for their number.
        unsafe { old.egl_choose_config(display, wanted.as_ptr(), room.0, 1, room.1) }?;
        // SAFETY: takes no pointer.
        unsafe { old.finish() }?;
        let wanted = [EGL_CONTEXT_CLIENT_VERSION, 3, EGL_NONE];
        // SAFETY: a terminated list.
        let context = unsafe { old.egl_create_context(display, config, shared, wanted.as_ptr()) }?;
        let refused =
            || Skip::from("the driver makes no context of ES 3 that shares with the program's");
        if context.is_null() {
            return Err(refused());
        }
        // SAFETY: takes no pointer.
        if unsafe { old.egl_make_current(display, surface, surface, context) }? == 0 {
            return Err(refused());
        }
        let gl = Gl::current(driver)?;
        match gl.is_es((3, 1)) {
            true => Ok(Self { gl, programs: RefCell::default() }),
            false => Err(Skip::from("the driver has no context of ES 3.1")),
        }
    }

    /// All images of a texture; empty if the name has no texture yet.
    pub fn texture(&self, texture: u32) -> Result<Vec<Image>, Skip> {
        // SAFETY: takes no pointer.
        if unsafe { self.gl.is_texture(texture) }? == 0 {
            return Ok(Vec::new());
        }
        let (target, _) = self.gl.bind_texture_as_it_is(texture)?;
        let first = match target {
            GL_TEXTURE_CUBE_MAP => GL_TEXTURE_CUBE_MAP_POSITIVE_X,
            GL_TEXTURE_2D | GL_TEXTURE_2D_ARRAY | GL_TEXTURE_3D => target,
            _ => return Err(Skip::from("replay makes no pictures of textures of its kind")),
        };
        let mut images = Vec::new();
        for level in 0..LEVELS_MAX {
            let [width, height, _] = level_numbers(&self.gl, first, level)?;
            let has_it = !self.gl.clear_errors() && width > 0 && height > 0;
            if !has_it || images.len() >= IMAGES_MAX {
                break;
            }
            let size = [width as u32, height as u32];
            let layers = match target {
                GL_TEXTURE_CUBE_MAP => 6,
                GL_TEXTURE_2D => 1,
                _ => self.level_number(target, level, GL_TEXTURE_DEPTH)?.max(1),
            };
            let values = self.values(first, level)?;
            for layer in 0..layers.min(IMAGES_MAX as i32) {
                let picture = match target {
                    GL_TEXTURE_CUBE_MAP => self.face(texture, level, layer as u32, size, values),
                    _ => self.draw(target, level, layer, size, values),
                };
                let which = if target == GL_TEXTURE_CUBE_MAP { "face" } else { "layer" };
                let level = if level == 0 { String::new() } else { format!("-level{level}") };
                let layer = if layers == 1 { String::new() } else { format!("-{which}{layer}") };
                images.push(Image { suffix: level + &layer, picture });
            }
        }
        Ok(images)
    }

    /// Depth or stencil of a two-dimensional texture, level 0.
    pub fn depth_or_stencil(
        &self,
        texture: u32,
        size: [u32; 2],
        values: Values,
    ) -> Result<Picture, Skip> {
        // SAFETY: takes no pointer.
        unsafe { self.gl.bind_texture(GL_TEXTURE_2D, texture) }?;
        self.draw(GL_TEXTURE_2D, 0, 0, size, values)
    }

    /// Content of a buffer; `None` if the name has no buffer yet or the buffer is empty.
    pub fn buffer(&self, buffer: u32) -> Result<Option<Vec<u8>>, Skip> {
        if !self.gl.is_buffer(buffer) {
            return Ok(None);
        }
        self.gl.clear_errors();
        self.gl.bind_buffer(GL_ARRAY_BUFFER, buffer);
        let mut size = 0;
        // SAFETY: room for one number.
        unsafe { self.gl.get_buffer(GL_ARRAY_BUFFER, GL_BUFFER_SIZE, &raw mut size) }?;
        if size <= 0 {
            return Ok(None);
        }
        // SAFETY: takes no pointer.
        let at = unsafe { self.gl.map_buffer(GL_ARRAY_BUFFER, 0, size as isize, GL_MAP_READ_BIT) }?;
        if self.gl.clear_errors() || at.is_null() {
            return Err(Skip::from("the driver does not map it, as it may be mapped already"));
        }
        // SAFETY: the driver has just mapped `size` bytes for reading.
        let bytes = unsafe { std::slice::from_raw_parts(at.cast::<u8>(), size as usize) }.to_vec();
        // SAFETY: takes no pointer; the mapping is not used after this.
        unsafe { self.gl.unmap_buffer(GL_ARRAY_BUFFER) }?;
        Ok(Some(bytes))
    }

    /// Extension for the file of a shader, and the shader's source; `None` if the name is not a
    /// shader or the source is empty.
    pub fn shader(&self, shader: u32) -> Option<(&'static str, Vec<u8>)> {
        // SAFETY: takes no pointer.
        if unsafe { self.gl.is_shader(shader) }.ok()? == 0 {
            return None;
        }
        let ask = |name: u32| {
            let mut value = 0;
            // SAFETY: room for one number.
            unsafe { self.gl.get_shader(shader, name, &raw mut value) }.ok()?;
            Some(value)
        };
        let extension = match ask(GL_SHADER_TYPE)? as u32 {
            constants::GL_VERTEX_SHADER => "vert",
            constants::GL_FRAGMENT_SHADER => "frag",
            constants::GL_COMPUTE_SHADER => "comp",
            constants::GL_GEOMETRY_SHADER => "geom",
            constants::GL_TESS_CONTROL_SHADER => "tesc",
            constants::GL_TESS_EVALUATION_SHADER => "tese",
            _ => "glsl",
        };
        let size = ask(GL_SHADER_SOURCE_LENGTH)?.clamp(0, SOURCE_BYTES_MAX);
        let mut source = vec![0u8; size as usize];
        let mut length = 0;
        let out = source.as_mut_ptr().cast::<c_char>();
        // SAFETY: room for `size` bytes, and for one number.
        unsafe { self.gl.get_shader_source(shader, size, &raw mut length, out) }.ok()?;
        source.truncate(usize::try_from(length).unwrap_or(0));
        (!source.is_empty()).then_some((extension, source))
    }

    fn level_number(&self, image: u32, level: i32, name: u32) -> Result<i32, Skip> {
        let mut value = 0;
        // SAFETY: room for one number.
        unsafe { self.gl.get_level(image, level, name, &raw mut value) }?;
        Ok(value)
    }

    fn values(&self, image: u32, level: i32) -> Result<Values, Skip> {
        let has_depth = self.level_number(image, level, GL_TEXTURE_DEPTH_SIZE)? > 0;
        Ok(match self.level_number(image, level, GL_TEXTURE_RED_TYPE)? {
            _ if has_depth => Values::Depth,
            GL_INT => Values::Ints,
            GL_UNSIGNED_INT => Values::Uints,
            _ => Values::Floats,
        })
    }

    /// Reads a face of a cube map through a framebuffer.
    fn face(
        &self,
        texture: u32,
        level: i32,
        face: u32,
        [width, height]: [u32; 2],
        values: Values,
    ) -> Result<Picture, Skip> {
        let framebuffer = self.framebuffer()?;
        let (to, at) = (GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
        let image = GL_TEXTURE_CUBE_MAP_POSITIVE_X + face;
        // SAFETY: takes no pointer.
        unsafe { self.gl.framebuffer_texture(to, at, image, texture, level) }?;
        let component = match values {
            Values::Ints => GL_INT,
            Values::Uints => GL_UNSIGNED_INT,
            _ => 0,
        };
        let attached = framebuffer::Attached { width, height, component, internal_format: 0 };
        let picture = framebuffer::read(&self.gl, attached);
        // SAFETY: one name of an existing framebuffer.
        unsafe { self.gl.delete_framebuffers(1, &raw const framebuffer) }?;
        picture
    }

    /// Draws a layer of the bound texture and reads the result.
    fn draw(
        &self,
        target: u32,
        level: i32,
        layer: i32,
        size: [u32; 2],
        values: Values,
    ) -> Result<Picture, Skip> {
        self.gl.clear_errors();
        room(size[0], size[1], 4)?;
        let program = self.program(target, values)?;
        let framebuffer = self.framebuffer()?;
        let renderbuffer = self.renderbuffer(size)?;
        let drawn = self.draw_with(program, target, level, layer, size, values);
        // SAFETY: one name of an existing framebuffer.
        unsafe { self.gl.delete_framebuffers(1, &raw const framebuffer) }?;
        // SAFETY: one name of an existing renderbuffer.
        unsafe { self.gl.delete_renderbuffers(1, &raw const renderbuffer) }?;
        drawn
    }

    fn draw_with(
        &self,
        program: u32,
        target: u32,
        level: i32,
        layer: i32,
        [width, height]: [u32; 2],
        values: Values,
    ) -> Result<Picture, Skip> {
        let gl = &self.gl;
        if matches!(values, Values::Depth | Values::Stencil) {
            let mode = if values == Values::Depth { GL_DEPTH_COMPONENT } else { GL_STENCIL_INDEX };
            // SAFETY: takes no pointer.
            unsafe { gl.texture_parameter(target, GL_DEPTH_STENCIL_TEXTURE_MODE, mode) }?;
            // A format without stencil has no such mode, which is an error.
            gl.clear_errors();
        }
        self.sample_nearest(level)?;
        // SAFETY: takes no pointer.
        unsafe { gl.use_program(program) }?;
        for (name, value) in [(c"level", level), (c"layer", layer)] {
            self.uniform(program, name, value)?;
        }
        // SAFETY: takes no pointer.
        unsafe { gl.viewport(0, 0, width as i32, height as i32) }?;
        // SAFETY: no vertex array is enabled, so the draw reads no memory.
        unsafe { gl.draw_arrays(GL_TRIANGLES, 0, 3) }?;
        let picture = read_pixels(gl, width, height)?;
        match gl.clear_errors() {
            true => Err(Skip::from("the driver can't draw it")),
            false => Ok(picture),
        }
    }

    fn uniform(&self, program: u32, name: &CStr, value: i32) -> Result<(), Skip> {
        // SAFETY: a NUL-terminated string.
        let location = unsafe { self.gl.uniform_location(program, name.as_ptr()) }?;
        // SAFETY: takes no pointer.
        unsafe { self.gl.uniform(location, value) }
    }

    /// Binds a sampler that returns texels unfiltered, whatever the texture's own parameters are.
    fn sample_nearest(&self, level: i32) -> Result<(), Skip> {
        let mut sampler = 0;
        // SAFETY: room for one name.
        unsafe { self.gl.gen_samplers(1, &raw mut sampler) }?;
        let filter = if level == 0 { GL_NEAREST } else { GL_NEAREST_MIPMAP_NEAREST };
        for (name, filter) in [(GL_TEXTURE_MAG_FILTER, GL_NEAREST), (GL_TEXTURE_MIN_FILTER, filter)]
        {
            // SAFETY: takes no pointer.
            unsafe { self.gl.sampler_parameter(sampler, name, filter) }?;
        }
        // SAFETY: takes no pointer.
        unsafe { self.gl.bind_sampler(0, sampler) }
    }

    fn framebuffer(&self) -> Result<u32, Skip> {
        let mut framebuffer = 0;
        // SAFETY: room for one name.
        unsafe { self.gl.gen_framebuffers(1, &raw mut framebuffer) }?;
        self.gl.bind_framebuffer(GL_FRAMEBUFFER, framebuffer);
        Ok(framebuffer)
    }

    fn renderbuffer(&self, [width, height]: [u32; 2]) -> Result<u32, Skip> {
        let mut renderbuffer = 0;
        // SAFETY: room for one name.
        unsafe { self.gl.gen_renderbuffers(1, &raw mut renderbuffer) }?;
        // SAFETY: takes no pointer.
        unsafe { self.gl.bind_renderbuffer(GL_RENDERBUFFER, renderbuffer) }?;
        let (width, height) = (width as i32, height as i32);
        // SAFETY: takes no pointer.
        unsafe { self.gl.renderbuffer_storage(GL_RENDERBUFFER, GL_RGBA8, width, height) }?;
        let (to, at) = (GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0);
        // SAFETY: takes no pointer.
        unsafe { self.gl.framebuffer_renderbuffer(to, at, GL_RENDERBUFFER, renderbuffer) }?;
        Ok(renderbuffer)
    }

    fn program(&self, target: u32, values: Values) -> Result<u32, Skip> {
        if let Some(program) = self.programs.borrow().get(&(target, values)) {
            return Ok(*program);
        }
        let gl = &self.gl;
        // SAFETY: takes no pointer.
        let program = unsafe { gl.create_program() }?;
        let sources =
            [(GL_VERTEX_SHADER, VERTEX.to_owned()), (GL_FRAGMENT_SHADER, fragment(target, values))];
        for (kind, source) in sources {
            // SAFETY: takes no pointer.
            let shader = unsafe { gl.create_shader(kind) }?;
            let (text, length) = (source.as_ptr().cast::<c_char>(), source.len() as i32);
            // SAFETY: one string of the given length.
            unsafe { gl.shader_source(shader, 1, &raw const text, &raw const length) }?;
            // SAFETY: takes no pointer.
            unsafe { gl.compile_shader(shader) }?;
            // SAFETY: takes no pointer.
            unsafe { gl.attach_shader(program, shader) }?;
        }
        // SAFETY: takes no pointer.
        unsafe { gl.link_program(program) }?;
        let mut is_linked = 0;
        // SAFETY: room for one number.
        unsafe { gl.get_program(program, GL_LINK_STATUS, &raw mut is_linked) }?;
        if is_linked == 0 {
            return Err(Skip::from("the driver does not compile the shader that would draw it"));
        }
        self.programs.borrow_mut().insert((target, values), program);
        Ok(program)
    }
}

/// One triangle that covers the viewport.
const VERTEX: &str = "#version 300 es
void main() {
    vec2 at = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0;
    gl_Position = vec4(at, 0.0, 1.0);
}
";

fn fragment(target: u32, values: Values) -> String {
    let prefix = match values {
        Values::Ints => "i",
        Values::Uints | Values::Stencil => "u",
        Values::Floats | Values::Depth => "",
    };
    let (sampler, place) = match target {
        GL_TEXTURE_3D => ("sampler3D", "ivec3(at, layer)"),
        GL_TEXTURE_2D_ARRAY => ("sampler2DArray", "ivec3(at, layer)"),
        _ => ("sampler2D", "at"),
    };
    let colour = match values {
        Values::Floats => "texel",
        Values::Ints | Values::Uints => "vec4(texel) / 255.0",
        Values::Stencil => "vec4(float(texel.r), 0.0, 0.0, 255.0) / 255.0",
        Values::Depth => "vec4(float(bits >> 8u), float(bits & 255u), 0.0, 255.0) / 255.0",
    };
    // The first component, clamped to 0..1, in 16 bits.
    let bits = match values {
        Values::Depth => "uint bits = uint(clamp(texel.r, 0.0, 1.0) * 65535.0 + 0.5);",
        _ => "",
    };
    [
        "#version 300 es\nprecision highp float;\nprecision highp int;\n",
        &format!("uniform highp {prefix}{sampler} image;\n"),
        "uniform int level;\nuniform int layer;\nout vec4 colour;\nvoid main() {\n",
        "    ivec2 at = ivec2(gl_FragCoord.xy);\n",
        &format!("    {prefix}vec4 texel = texelFetch(image, {place}, level);\n    {bits}\n"),
        &format!("    colour = {colour};\n}}\n"),
    ]
    .concat()
}
