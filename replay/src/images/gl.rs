//! Driver functions with which pictures are taken, for the current context.

use std::ffi::{CStr, c_char, c_void};

use gapii_commands::constants::{
    GL_BACK, GL_CONTEXT_PROFILE_MASK, GL_DOUBLEBUFFER, GL_EXTENSIONS, GL_FRONT,
    GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_BUFFER,
    GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
    GL_TEXTURE_BINDING_EXTERNAL_OES, GL_VERSION,
};
pub use gapii_commands::constants::{
    GL_TEXTURE_2D, GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_3D, GL_TEXTURE_BUFFER, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY,
};
use gapii_state::read_back::{self, Driver as _, NEVER};
use gapii_state::{ContextApi, version_of};

use crate::driver::Driver;
use crate::skip::Skip;

pub use gapii_commands::constants::GL_TEXTURE_EXTERNAL_OES as GL_TEXTURE_EXTERNAL;

const TEXTURE_TARGETS: [u32; 9] = [
    GL_TEXTURE_2D,
    GL_TEXTURE_CUBE_MAP,
    GL_TEXTURE_3D,
    GL_TEXTURE_2D_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE,
    GL_TEXTURE_CUBE_MAP_ARRAY,
    GL_TEXTURE_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_EXTERNAL,
    GL_TEXTURE_BUFFER,
];

/// The queries of what is bound to these targets.
const TEXTURE_BINDINGS: [u32; TEXTURE_TARGETS.len()] = [
    GL_TEXTURE_BINDING_2D,
    GL_TEXTURE_BINDING_CUBE_MAP,
    GL_TEXTURE_BINDING_3D,
    GL_TEXTURE_BINDING_2D_ARRAY,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_CUBE_MAP_ARRAY,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY,
    GL_TEXTURE_BINDING_EXTERNAL_OES,
    GL_TEXTURE_BINDING_BUFFER,
];

type Handle = *mut c_void;

/// A context that is current on this thread.
pub struct Gl<'d> {
    driver: &'d Driver,
    is_es: bool,
    version: (u8, u8),
    extensions: String,
}

/// Declares methods that each call one function of the driver.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident($($param:ident: $ty:ty),*) $(-> $result:ty)? = $id:ident;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// Pointers lead to as much memory as the function reads or writes.
        #[allow(clippy::too_many_arguments, reason = "as many as the function has")]
        pub unsafe fn $name(&self, $($param: $ty),*) -> Result<functions!(@result $($result)?), Skip> {
            const FUNCTION: u16 = gapii_commands::ids::$id;
            type Signature = unsafe extern "C" fn($($ty),*) $(-> $result)?;
            // SAFETY: the type of the function of that name.
            let call = unsafe { self.driver.own::<Signature>(FUNCTION) }?;
            // SAFETY: the caller's duty.
            Ok(unsafe { call($($param),*) })
        }
    )*};
    (@result) => { () };
    (@result $result:ty) => { $result };
}

impl<'d> Gl<'d> {
    /// The current context. Fails if none is current.
    pub fn current(driver: &'d Driver) -> Result<Self, Skip> {
        let mut gl = Self { driver, is_es: true, version: (0, 0), extensions: String::new() };
        let version = gl.text(GL_VERSION)?;
        (gl.is_es, gl.version) = version_of(&version)
            .ok_or_else(|| Skip::from("no context of OpenGL is current on its thread"))?;
        // Only contexts of OpenGL ES have a list of extensions in every version and profile.
        if gl.is_es {
            gl.extensions = gl.text(GL_EXTENSIONS).unwrap_or_default();
        }
        Ok(gl)
    }

    /// Whether it is a context of OpenGL ES of at least this version.
    pub fn is_es(&self, version: (u8, u8)) -> bool {
        self.is_at_least(version, NEVER)
    }

    functions! {
        egl_current_display() -> Handle = EGL_GET_CURRENT_DISPLAY;
        egl_current_surface(end: i32) -> Handle = EGL_GET_CURRENT_SURFACE;
        egl_query_surface(display: Handle, surface: Handle, name: i32, value: *mut i32) -> u32 = EGL_QUERY_SURFACE;
        egl_current_context() -> Handle = EGL_GET_CURRENT_CONTEXT;
        egl_query_context(display: Handle, context: Handle, name: i32, value: *mut i32) -> u32 = EGL_QUERY_CONTEXT;
        egl_choose_config(display: Handle, wanted: *const i32, configs: *mut Handle, size: i32, count: *mut i32) -> u32 = EGL_CHOOSE_CONFIG;
        egl_create_context(display: Handle, config: Handle, shared: Handle, wanted: *const i32) -> Handle = EGL_CREATE_CONTEXT;
        egl_make_current(display: Handle, draw: Handle, read: Handle, context: Handle) -> u32 = EGL_MAKE_CURRENT;
        finish() = GL_FINISH;
        get_string(name: u32) -> *const c_char = GL_GET_STRING;
        get_integer(name: u32, value: *mut i32) = GL_GET_INTEGERV;
        get_float(name: u32, value: *mut f32) = GL_GET_FLOATV;
        get_error() -> u32 = GL_GET_ERROR;
        is_enabled_(capability: u32) -> u8 = GL_IS_ENABLED;
        enable_(capability: u32) = GL_ENABLE;
        disable_(capability: u32) = GL_DISABLE;
        pixel_store_(name: u32, value: i32) = GL_PIXEL_STOREI;
        pixel_transfer_(name: u32, value: f32) = GL_PIXEL_TRANSFERF;
        is_buffer_(buffer: u32) -> u8 = GL_IS_BUFFER;
        bind_buffer_(target: u32, buffer: u32) = GL_BIND_BUFFER;
        bind_framebuffer_(target: u32, framebuffer: u32) = GL_BIND_FRAMEBUFFER;
        bind_framebuffer_oes(target: u32, framebuffer: u32) = GL_BIND_FRAMEBUFFER_OES;
        read_buffer_(buffer: u32) = GL_READ_BUFFER;
        read_buffer_nv(buffer: u32) = GL_READ_BUFFER_NV;
        read_pixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, out: *mut u8) = GL_READ_PIXELS;
        get_attachment(target: u32, attachment: u32, name: u32, value: *mut i32) = GL_GET_FRAMEBUFFER_ATTACHMENT_PARAMETERIV;
        get_renderbuffer(target: u32, name: u32, value: *mut i32) = GL_GET_RENDERBUFFER_PARAMETERIV;
        get_level(target: u32, level: i32, name: u32, value: *mut i32) = GL_GET_TEX_LEVEL_PARAMETERIV;
        gen_framebuffers(count: i32, names: *mut u32) = GL_GEN_FRAMEBUFFERS;
        gen_renderbuffers(count: i32, names: *mut u32) = GL_GEN_RENDERBUFFERS;
        bind_renderbuffer(target: u32, renderbuffer: u32) = GL_BIND_RENDERBUFFER;
        renderbuffer_storage(target: u32, format: u32, width: i32, height: i32) = GL_RENDERBUFFER_STORAGE;
        framebuffer_renderbuffer(target: u32, attachment: u32, kind: u32, renderbuffer: u32) = GL_FRAMEBUFFER_RENDERBUFFER;
        framebuffer_texture(target: u32, attachment: u32, image: u32, texture: u32, level: i32) = GL_FRAMEBUFFER_TEXTURE2D;
        blit(x0: i32, y0: i32, x1: i32, y1: i32, to_x0: i32, to_y0: i32, to_x1: i32, to_y1: i32, mask: u32, filter: u32) = GL_BLIT_FRAMEBUFFER;
        is_texture(texture: u32) -> u8 = GL_IS_TEXTURE;
        bind_texture(target: u32, texture: u32) = GL_BIND_TEXTURE;
        get_buffer(target: u32, name: u32, value: *mut i32) = GL_GET_BUFFER_PARAMETERIV;
        map_buffer(target: u32, offset: isize, length: isize, access: u32) -> *mut c_void = GL_MAP_BUFFER_RANGE;
        unmap_buffer(target: u32) -> u8 = GL_UNMAP_BUFFER;
        is_shader(shader: u32) -> u8 = GL_IS_SHADER;
        get_shader(shader: u32, name: u32, value: *mut i32) = GL_GET_SHADERIV;
        delete_framebuffers(count: i32, names: *const u32) = GL_DELETE_FRAMEBUFFERS;
        delete_renderbuffers(count: i32, names: *const u32) = GL_DELETE_RENDERBUFFERS;
        gen_textures(count: i32, names: *mut u32) = GL_GEN_TEXTURES;
        texture_storage(target: u32, levels: i32, format: u32, width: i32, height: i32) = GL_TEX_STORAGE2D;
        texture_parameter(target: u32, name: u32, value: i32) = GL_TEX_PARAMETERI;
        gen_samplers(count: i32, names: *mut u32) = GL_GEN_SAMPLERS;
        sampler_parameter(sampler: u32, name: u32, value: i32) = GL_SAMPLER_PARAMETERI;
        bind_sampler(unit: u32, sampler: u32) = GL_BIND_SAMPLER;
        create_program() -> u32 = GL_CREATE_PROGRAM;
        create_shader(kind: u32) -> u32 = GL_CREATE_SHADER;
        shader_source(shader: u32, count: i32, texts: *const *const c_char, lengths: *const i32) = GL_SHADER_SOURCE;
        compile_shader(shader: u32) = GL_COMPILE_SHADER;
        attach_shader(program: u32, shader: u32) = GL_ATTACH_SHADER;
        link_program(program: u32) = GL_LINK_PROGRAM;
        get_program(program: u32, name: u32, value: *mut i32) = GL_GET_PROGRAMIV;
        use_program(program: u32) = GL_USE_PROGRAM;
        uniform_location(program: u32, name: *const c_char) -> i32 = GL_GET_UNIFORM_LOCATION;
        uniform(location: i32, value: i32) = GL_UNIFORM1I;
        viewport(x: i32, y: i32, width: i32, height: i32) = GL_VIEWPORT;
        draw_arrays(mode: u32, first: i32, count: i32) = GL_DRAW_ARRAYS;
        get_shader_source(shader: u32, size: i32, length: *mut i32, source: *mut c_char) = GL_GET_SHADER_SOURCE;
    }

    /// Clears pending GL errors; returns whether any was pending.
    pub fn clear_errors(&self) -> bool {
        // Eight, since a driver may have several error flags. A lost context always has another
        // error.
        // SAFETY: takes no pointer.
        (0..8).take_while(|_| unsafe { self.get_error() }.is_ok_and(|error| error != 0)).count() > 0
    }

    /// Binds a texture to the target with which it was created. Returns that target, and the texture that was bound to it before.
    pub fn bind_texture_as_it_is(&self, texture: u32) -> Result<(u32, u32), Skip> {
        for (target, binding) in TEXTURE_TARGETS.into_iter().zip(TEXTURE_BINDINGS) {
            let old = self.integer(binding);
            self.clear_errors();
            // SAFETY: takes no pointer.
            unsafe { self.bind_texture(target, texture) }?;
            if !self.clear_errors() {
                return Ok((target, old));
            }
        }
        Err(Skip::from("the driver binds the texture to no target"))
    }

    /// `glGetString`.
    fn text(&self, name: u32) -> Result<String, Skip> {
        // SAFETY: takes no pointer.
        let text = unsafe { self.get_string(name) }?;
        if text.is_null() {
            return Err(Skip::from("no context of OpenGL is current on its thread"));
        }
        // SAFETY: not null, and NUL-terminated.
        Ok(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }
}

/// A function that the driver lacks returns the default value.
impl read_back::Driver for Gl<'_> {
    fn is_at_least(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        self.version >= if self.is_es { es } else { desktop }
    }

    fn own_buffer(&self) -> Option<u32> {
        (!self.is_es).then(|| match self.integer(GL_DOUBLEBUFFER) {
            0 => GL_FRONT,
            _ => GL_BACK,
        })
    }

    fn has(&self, extension: &str) -> bool {
        self.extensions.split(' ').any(|known| known == extension)
    }

    /// Contexts of OpenGL 3.0 and 3.1 do not tell without a list of their extensions: their parameters stay.
    fn has_pixel_transfer(&self) -> bool {
        match self.version {
            _ if self.is_es => false,
            version if version < (3, 0) => true,
            (3, 0 | 1) => false,
            _ => {
                let mask = i64::from(self.integer(GL_CONTEXT_PROFILE_MASK));
                ContextApi::of_profile(mask) == Some(ContextApi::Compatibility)
            }
        }
    }

    fn integer(&self, name: u32) -> u32 {
        // Room for several numbers, in case the driver takes the name for a longer query.
        let mut values = [0i32; 16];
        // SAFETY: room for more numbers than any query has that is made here.
        let asked = unsafe { self.get_integer(name, values.as_mut_ptr()) };
        asked.map_or(0, |()| values[0] as u32)
    }

    fn float(&self, name: u32) -> f32 {
        let mut values = [0.0; 16];
        // SAFETY: as for integers.
        let asked = unsafe { self.get_float(name, values.as_mut_ptr()) };
        asked.map_or(0.0, |()| values[0])
    }

    fn is_enabled(&self, capability: u32) -> bool {
        // SAFETY: takes no pointer.
        unsafe { self.is_enabled_(capability) }.is_ok_and(|is| is != 0)
    }

    fn enable(&self, capability: u32, is_on: bool) {
        let _ = match is_on {
            // SAFETY: takes no pointer.
            true => unsafe { self.enable_(capability) },
            // SAFETY: takes no pointer.
            false => unsafe { self.disable_(capability) },
        };
    }

    fn pixel_store(&self, name: u32, value: u32) {
        // SAFETY: takes no pointer.
        let _ = unsafe { self.pixel_store_(name, value as i32) };
    }

    fn pixel_transfer(&self, name: u32, value: f32) {
        // SAFETY: takes no pointer.
        let _ = unsafe { self.pixel_transfer_(name, value) };
    }

    fn bind_buffer(&self, target: u32, buffer: u32) -> bool {
        // SAFETY: takes no pointer.
        unsafe { self.bind_buffer_(target, buffer) }.is_ok()
    }

    fn is_buffer(&self, buffer: u32) -> bool {
        // SAFETY: takes no pointer.
        unsafe { self.is_buffer_(buffer) }.is_ok_and(|is| is != 0)
    }

    fn bind_framebuffer(&self, target: u32, framebuffer: u32) -> bool {
        match self.is_at_least((2, 0), (1, 0)) {
            // SAFETY: takes no pointer.
            false => unsafe { self.bind_framebuffer_oes(target, framebuffer) },
            // SAFETY: takes no pointer.
            true => unsafe { self.bind_framebuffer_(target, framebuffer) },
        }
        .is_ok()
    }

    fn read_buffer(&self, buffer: u32) -> bool {
        match self.is_at_least((3, 0), (1, 0)) {
            // SAFETY: takes no pointer.
            false => unsafe { self.read_buffer_nv(buffer) },
            // SAFETY: takes no pointer.
            true => unsafe { self.read_buffer_(buffer) },
        }
        .is_ok()
    }
}
