//! The driver's functions in the forms that a snapshot needs. Names of variables of more than `NAME_BYTES` (1,024 bytes
//! with the NUL) are cut.

use core::ffi::{CStr, c_char};
use std::ffi::CString;

use gapii_commands::constants::{
    GL_ALPHA, GL_IMPLEMENTATION_COLOR_READ_FORMAT, GL_IMPLEMENTATION_COLOR_READ_TYPE,
    GL_LINK_STATUS, GL_LUMINANCE, GL_LUMINANCE_ALPHA, GL_RENDERBUFFER, GL_SYNC_FLUSH_COMMANDS_BIT,
    GL_SYNC_GPU_COMMANDS_COMPLETE, GL_TIMEOUT_IGNORED,
};

use gapii_state::ContextApi;
use gapii_state::read_back::Driver;

use crate::driver_calls::Gl;
pub use crate::driver_functions::*;

/// Waits until the commands of the program's context are complete, so that other contexts see what they did (OpenGL ES
/// 3.2, 5.3.1).
///
/// Since OpenGL ES 3.0 it waits for a fence. In glFinish and glFlush Mesa 22.3 frees the shaders of programs that
/// another context linked again, even one with which draws without a program go on, so that the next draw crashes. Below
/// OpenGL ES 3.0 it has only contexts of OpenGL ES 1, which have no programs: glFinish is safe there.
pub fn finish_program() {
    let has_fences = Gl::current().is_some_and(|driver| driver.is_at_least((3, 0), (3, 2)));
    if !has_fences {
        return finish();
    }
    // 0 is a driver without memory, in which glFinish would be as dangerous.
    let fence = fence_sync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0);
    if fence != 0 {
        client_wait_sync(fence, GL_SYNC_FLUSH_COMMANDS_BIT, GL_TIMEOUT_IGNORED);
        delete_sync(fence);
    }
}

/// Copies texels between images: name, target and level, and the place, of each; then the size.
pub fn copy_image(
    (from, from_target, from_level): (u32, u32, i32),
    [from_x, from_y, from_z]: [i32; 3],
    (to, to_target, to_level): (u32, u32, i32),
    [to_x, to_y, to_z]: [i32; 3],
    [width, height, depth]: [i32; 3],
) {
    copy_image_sub_data(
        from,
        from_target,
        from_level,
        from_x,
        from_y,
        from_z,
        to,
        to_target,
        to_level,
        to_x,
        to_y,
        to_z,
        width,
        height,
        depth,
    );
}

/// Makes a texture and binds it.
pub fn new_texture(target: u32) -> u32 {
    let mut texture = 0;
    // SAFETY: there is room for one name.
    unsafe { gen_textures(1, &raw mut texture) };
    bind_texture(target, texture);
    texture
}

/// Makes a view of the first level of a texture in another format. `None` if the driver has no views.
pub fn texture_view(target: u32, viewed: u32, format: u32) -> Option<u32> {
    let mut texture = 0;
    // SAFETY: there is room for one name.
    unsafe { gen_textures(1, &raw mut texture) };
    // Neither does anything where the driver lacks it.
    let is_desktop = Gl::of_thread().is_some_and(|driver| driver.api() != ContextApi::Es);
    if is_desktop {
        texture_view_of_desktop(texture, target, viewed, format, 0, 1, 0, 1);
    } else {
        texture_view_ext(texture, target, viewed, format, 0, 1, 0, 1);
    }
    if is_texture(texture) == 0 && !is_desktop {
        texture_view_oes(texture, target, viewed, format, 0, 1, 0, 1);
    }
    if is_texture(texture) == 0 {
        delete_texture(texture);
        return None;
    }
    Some(texture)
}

/// Deletes a texture.
pub fn delete_texture(texture: u32) {
    // SAFETY: one name.
    unsafe { delete_textures(1, &raw const texture) };
}

/// Makes a framebuffer and binds it.
pub fn new_framebuffer(target: u32) -> u32 {
    let mut framebuffer = 0;
    // SAFETY: there is room for one name.
    unsafe { gen_framebuffers(1, &raw mut framebuffer) };
    bind_framebuffer(target, framebuffer);
    framebuffer
}

/// Deletes a framebuffer.
pub fn delete_framebuffer(framebuffer: u32) {
    // SAFETY: one name.
    unsafe { delete_framebuffers(1, &raw const framebuffer) };
}

/// Makes a renderbuffer and binds it.
pub fn new_renderbuffer() -> u32 {
    let mut renderbuffer = 0;
    // SAFETY: there is room for one name.
    unsafe { gen_renderbuffers(1, &raw mut renderbuffer) };
    bind_renderbuffer(GL_RENDERBUFFER, renderbuffer);
    renderbuffer
}

/// `glDeleteRenderbuffers` for one name.
pub fn delete_renderbuffer(renderbuffer: u32) {
    // SAFETY: one name.
    unsafe { delete_renderbuffers(1, &raw const renderbuffer) };
}

/// Returns the `N` values of a state variable.
pub fn integers<const N: usize>(name: u32) -> [i32; N] {
    let mut values = [0; N];
    // SAFETY: the caller says how many numbers the name has.
    unsafe { get_integers(name, values.as_mut_ptr()) };
    values
}

/// Returns the value of a state variable that has one.
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
pub fn doubles<const N: usize>(name: u32) -> [f64; N] {
    let mut values = [0.0; N];
    // SAFETY: the caller says how many numbers the name has.
    unsafe { get_doubles(name, values.as_mut_ptr()) };
    values
}

/// As [`integers`].
pub fn booleans<const N: usize>(name: u32) -> [u8; N] {
    let mut values = [0; N];
    // SAFETY: the caller says how many values the name has.
    unsafe { get_booleans(name, values.as_mut_ptr()) };
    values
}

/// Returns the value of a state variable at an index.
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

/// Attaches a new shader of this source to a program of the shim's own. The shader is deleted with the program.
pub fn attach_new_shader(program: u32, kind: u32, source: &str, is_compiled: bool) {
    let shader = create_shader(kind);
    let (text, len) = (source.as_ptr().cast::<c_char>(), source.len() as i32);
    // SAFETY: one string of `len` bytes.
    unsafe { shader_source(shader, 1, &raw const text, &raw const len) };
    if is_compiled {
        compile_shader(shader);
    }
    attach_shader(program, shader);
    delete_shader(shader);
}

/// Links a program of the shim's own, and returns whether the driver linked it.
pub fn is_linked_now(program: u32) -> bool {
    link_program(program);
    program_integer(program, GL_LINK_STATUS) != 0
}

/// Returns an integer of a program that the driver has.
pub fn program_integer(program: u32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the parameter has one value.
    unsafe { get_program(program, name, &raw mut value) };
    value
}

/// A query of a program's variable by index: room for the name, its length, the size, the type, the name.
type AskActive = unsafe fn(u32, u32, i32, *mut i32, *mut i32, *mut u32, *mut c_char);

/// Maximum length of the name of an attribute, a uniform or a varying, with its terminating NUL.
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

/// Returns the NUL-terminated string in a buffer.
pub fn text(buffer: &[u8]) -> Option<&CStr> {
    CStr::from_bytes_until_nul(buffer).ok()
}

/// Whether the driver prefers this format and type for reading the bound framebuffer.
///
/// OpenGL reads colors in any format and type without loss if these have enough bits, but adds components up for
/// luminance (OpenGL 4.6, 18.2.6).
pub fn prefers((format, kind): (u32, u32)) -> bool {
    if Gl::of_thread().is_some_and(|driver| driver.api() != ContextApi::Es) {
        return ![GL_ALPHA, GL_LUMINANCE, GL_LUMINANCE_ALPHA].contains(&format);
    }
    integer(GL_IMPLEMENTATION_COLOR_READ_FORMAT) as u32 == format
        && integer(GL_IMPLEMENTATION_COLOR_READ_TYPE) as u32 == kind
}

/// Clears the errors of the shim's own context.
pub fn clear_errors() {
    for _ in 0..8 {
        if get_error() == 0 {
            return;
        }
    }
}
