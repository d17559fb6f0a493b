//! The driver's own functions, for what a snapshot asks it, and sets and puts back meanwhile.
//!
//! Never through the table: nothing of it is recorded. Who calls has a context of OpenGL ES current
//! that knows the function; one that the driver does not have does nothing and returns 0.

use core::ffi::{CStr, c_char};
use std::ffi::CString;

use crate::generated::ids;
use crate::table::{self, Code};

/// Declares functions of numbers alone, and `unsafe` ones that take memory too.
macro_rules! functions {
    ($($name:ident = $id:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {$(
        pub fn $name($($arg: $ty),*) $(-> $result)? {
            let code = table::driver(ids::$id);
            if code.is_null() {
                return Default::default();
            }
            // SAFETY: the driver's function for the command has the command's signature.
            let call = unsafe {
                core::mem::transmute::<Code, unsafe extern "C" fn($($ty),*) $(-> $result)?>(code)
            };
            // SAFETY: numbers alone; what makes no sense is an error of the driver's.
            unsafe { call($($arg),*) }
        }
    )*};
}
macro_rules! memory_functions {
    ($($name:ident = $id:ident($($arg:ident: $ty:ty),*) $(-> $result:ty)?;)*) => {$(
        /// # Safety
        /// Pointers lead to as much memory as the command takes or writes.
        pub unsafe fn $name($($arg: $ty),*) $(-> $result)? {
            let code = table::driver(ids::$id);
            if code.is_null() {
                return Default::default();
            }
            // SAFETY: the driver's function for the command has the command's signature.
            let call = unsafe {
                core::mem::transmute::<Code, unsafe extern "C" fn($($ty),*) $(-> $result)?>(code)
            };
            // SAFETY: passed on.
            unsafe { call($($arg),*) }
        }
    )*};
}

functions! {
    active_texture = GL_ACTIVE_TEXTURE(unit: u32);
    bind_buffer = GL_BIND_BUFFER(target: u32, name: u32);
    bind_framebuffer = GL_BIND_FRAMEBUFFER(target: u32, name: u32);
    bind_renderbuffer = GL_BIND_RENDERBUFFER(target: u32, name: u32);
    bind_texture = GL_BIND_TEXTURE(target: u32, name: u32);
    check_framebuffer = GL_CHECK_FRAMEBUFFER_STATUS(target: u32) -> u32;
    framebuffer_texture_2d = GL_FRAMEBUFFER_TEXTURE2D(
        target: u32, point: u32, kind: u32, texture: u32, level: i32
    );
    framebuffer_texture_layer = GL_FRAMEBUFFER_TEXTURE_LAYER(
        target: u32, point: u32, texture: u32, level: i32, layer: i32
    );
    framebuffer_renderbuffer = GL_FRAMEBUFFER_RENDERBUFFER(
        target: u32, point: u32, kind: u32, name: u32
    );
    is_buffer = GL_IS_BUFFER(name: u32) -> u8;
    is_enabled = GL_IS_ENABLED(capability: u32) -> u8;
    is_framebuffer = GL_IS_FRAMEBUFFER(name: u32) -> u8;
    is_renderbuffer = GL_IS_RENDERBUFFER(name: u32) -> u8;
    is_vertex_array = GL_IS_VERTEX_ARRAY(name: u32) -> u8;
    is_program_pipeline = GL_IS_PROGRAM_PIPELINE(name: u32) -> u8;
    is_transform_feedback = GL_IS_TRANSFORM_FEEDBACK(name: u32) -> u8;
    bind_transform_feedback = GL_BIND_TRANSFORM_FEEDBACK(target: u32, name: u32);
    unmap_buffer = GL_UNMAP_BUFFER(target: u32) -> u8;
    map_buffer_range = GL_MAP_BUFFER_RANGE(
        target: u32, offset: isize, len: isize, access: u32
    ) -> usize;
    map_buffer_range_ext = GL_MAP_BUFFER_RANGE_EXT(
        target: u32, offset: isize, len: isize, access: u32
    ) -> usize;
    unmap_buffer_oes = GL_UNMAP_BUFFER_OES(target: u32) -> u8;
}

memory_functions! {
    egl_get_config_attrib = EGL_GET_CONFIG_ATTRIB(
        display: u64, config: u64, name: i32, out: *mut i32
    ) -> u32;
    egl_query_surface = EGL_QUERY_SURFACE(
        display: u64, surface: u64, name: i32, out: *mut i32
    ) -> u32;
    gen_framebuffers = GL_GEN_FRAMEBUFFERS(count: i32, names: *mut u32);
    delete_framebuffers = GL_DELETE_FRAMEBUFFERS(count: i32, names: *const u32);
    get_integers = GL_GET_INTEGERV(name: u32, out: *mut i32);
    get_floats = GL_GET_FLOATV(name: u32, out: *mut f32);
    get_booleans = GL_GET_BOOLEANV(name: u32, out: *mut u8);
    get_integers_at = GL_GET_INTEGERI_V(name: u32, index: u32, out: *mut i32);
    get_integers_64_at = GL_GET_INTEGER64I_V(name: u32, index: u32, out: *mut i64);
    get_buffer_parameter = GL_GET_BUFFER_PARAMETERIV(target: u32, name: u32, out: *mut i32);
    get_attachment = GL_GET_FRAMEBUFFER_ATTACHMENT_PARAMETERIV(
        target: u32, point: u32, name: u32, out: *mut i32
    );
    get_renderbuffer = GL_GET_RENDERBUFFER_PARAMETERIV(target: u32, name: u32, out: *mut i32);
    get_texture_integers = GL_GET_TEX_PARAMETERIV(target: u32, name: u32, out: *mut i32);
    get_texture_floats = GL_GET_TEX_PARAMETERFV(target: u32, name: u32, out: *mut f32);
    get_sampler_integers = GL_GET_SAMPLER_PARAMETERIV(sampler: u32, name: u32, out: *mut i32);
    get_sampler_floats = GL_GET_SAMPLER_PARAMETERFV(sampler: u32, name: u32, out: *mut f32);
    get_shader = GL_GET_SHADERIV(shader: u32, name: u32, out: *mut i32);
    get_program = GL_GET_PROGRAMIV(program: u32, name: u32, out: *mut i32);
    get_active_attrib = GL_GET_ACTIVE_ATTRIB(
        program: u32, index: u32, room: i32, len: *mut i32, size: *mut i32, kind: *mut u32,
        name: *mut c_char
    );
    get_active_uniform = GL_GET_ACTIVE_UNIFORM(
        program: u32, index: u32, room: i32, len: *mut i32, size: *mut i32, kind: *mut u32,
        name: *mut c_char
    );
    get_attrib_location = GL_GET_ATTRIB_LOCATION(program: u32, name: *const c_char) -> i32;
    get_uniform_location = GL_GET_UNIFORM_LOCATION(program: u32, name: *const c_char) -> i32;
    get_uniform_floats = GL_GET_UNIFORMFV(program: u32, location: i32, out: *mut f32);
    get_uniform_integers = GL_GET_UNIFORMIV(program: u32, location: i32, out: *mut i32);
    get_uniform_unsigned = GL_GET_UNIFORMUIV(program: u32, location: i32, out: *mut u32);
    get_pipeline = GL_GET_PROGRAM_PIPELINEIV(name: u32, what: u32, out: *mut i32);
    get_block = GL_GET_ACTIVE_UNIFORM_BLOCKIV(program: u32, index: u32, name: u32, out: *mut i32);
    get_block_name = GL_GET_ACTIVE_UNIFORM_BLOCK_NAME(
        program: u32, index: u32, room: i32, len: *mut i32, name: *mut c_char
    );
    get_varying = GL_GET_TRANSFORM_FEEDBACK_VARYING(
        program: u32, index: u32, room: i32, len: *mut i32, size: *mut i32, kind: *mut u32,
        name: *mut c_char
    );
    get_attrib_floats = GL_GET_VERTEX_ATTRIBFV(index: u32, name: u32, out: *mut f32);
    read_pixels = GL_READ_PIXELS(
        x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, out: *mut u8
    );
}

/// Numbers of a name that has so many of them.
pub fn integers<const N: usize>(name: u32) -> [i32; N] {
    let mut values = [0; N];
    // SAFETY: the caller says how many numbers the name has.
    unsafe { get_integers(name, values.as_mut_ptr()) };
    values
}

/// The number of a name that has one.
pub fn integer(name: u32) -> i32 {
    let [value] = integers(name);
    value
}

/// As [`integers`].
pub fn floats<const N: usize>(name: u32) -> [f32; N] {
    let mut values = [0.0; N];
    // SAFETY: the caller says how many numbers the name has.
    unsafe { get_floats(name, values.as_mut_ptr()) };
    values
}

/// As [`integers`].
pub fn booleans<const N: usize>(name: u32) -> [u8; N] {
    let mut values = [0; N];
    // SAFETY: the caller says how many values the name has.
    unsafe { get_booleans(name, values.as_mut_ptr()) };
    values
}

/// A number that a binding point of that number has.
pub fn integer_at(name: u32, index: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { get_integers_at(name, index, &raw mut value) };
    value
}

/// As [`integer_at`].
pub fn wide_integer_at(name: u32, index: u32) -> i64 {
    let mut value = 0;
    // SAFETY: the name has one number.
    unsafe { get_integers_64_at(name, index, &raw mut value) };
    value
}

/// Asks for something of a program by its index: room for the name, its length, the size, the type, the
/// name.
type AskActive = unsafe fn(u32, u32, i32, *mut i32, *mut i32, *mut u32, *mut c_char);

/// Longest name of an attribute, a uniform or a varying that is asked for.
pub const NAME_BYTES: usize = 1024;

/// An attribute, a uniform or a varying of a program.
pub struct Active {
    pub name: CString,
    /// Elements of an array; 1 for others.
    pub size: i32,
    pub kind: u32,
}

/// What [`get_active_attrib`], [`get_active_uniform`] or [`get_varying`] says; `None`: no name.
pub fn active(ask: AskActive, program: u32, index: u32) -> Option<Active> {
    let mut name = [0_u8; NAME_BYTES];
    let (mut len, mut size, mut kind) = (0, 0, 0);
    let out = (&raw mut len, &raw mut size, &raw mut kind, name.as_mut_ptr().cast());
    // SAFETY: there is as much room.
    unsafe { ask(program, index, name.len() as i32, out.0, out.1, out.2, out.3) };
    Some(Active { name: text(&name)?.to_owned(), size, kind })
}

/// A text that a driver has put into a buffer.
pub fn text(buffer: &[u8]) -> Option<&CStr> {
    CStr::from_bytes_until_nul(buffer).ok()
}
