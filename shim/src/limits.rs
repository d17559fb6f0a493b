//! Limits of a context's driver: version, renderer, extensions, numbers of formats, attributes, units and binding points, bits and size of the default
//! framebuffer. The shim asks for them once, when the context first becomes current (`ask_numbers`), and writes them as
//! a LIMITS record (`payload`).
//!
//! It asks for nothing that the context's version may not know: an error that the shim causes is an error that the
//! program sees.

use core::ffi::{CStr, c_char};

use gapii_abi::atom;
use gapii_commands::constants::{
    GL_ALPHA_BITS, GL_BLUE_BITS, GL_DEPTH_BITS, GL_EXTENSIONS, GL_GREEN_BITS,
    GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, GL_MAX_IMAGE_UNITS,
    GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
    GL_MAX_UNIFORM_BUFFER_BINDINGS, GL_MAX_VERTEX_ATTRIB_BINDINGS,
    GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_MAX_VERTEX_ATTRIB_STRIDE, GL_MAX_VERTEX_ATTRIBS,
    GL_NUM_COMPRESSED_TEXTURE_FORMATS, GL_NUM_PROGRAM_BINARY_FORMATS, GL_NUM_SHADER_BINARY_FORMATS,
    GL_RED_BITS, GL_RENDERER, GL_SAMPLES, GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT,
    GL_STENCIL_BITS, GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, GL_VERSION, GL_VIEWPORT,
};
use gapii_state::{Context, DefaultFramebuffer, Extensions};

use crate::code::Code;
use crate::generated::ids;
use crate::table;
use crate::tracking;

/// Asks the driver for the limits of this thread's current context, unless they are known.
pub fn learn() {
    tracking::with_state(|thread| {
        if let Some(context) = thread.context.as_deref_mut().filter(|it| !it.limits.is_known) {
            ask(context);
        }
    });
}

fn ask(context: &mut Context) {
    context.limits.is_known = true;
    let Some(driver) = Driver::find() else { return };
    let version = driver.text(GL_VERSION).unwrap_or_default();
    if let Some(version) = parse_version(&version) {
        context.version = version;
    }
    context.limits.version = version;
    context.limits.renderer = driver.text(GL_RENDERER).unwrap_or_default();
    let extensions = driver.text(GL_EXTENSIONS).unwrap_or_default();
    context.extensions = Extensions::parse(&extensions);
    ask_numbers(context, &driver, &extensions);
}

/// Returns the payload of the LIMITS record, from which readers of the trace learn the limits.
pub fn payload(context: &Context) -> Vec<u8> {
    let limits = &context.limits;
    let framebuffer = &limits.default_framebuffer;
    let numbers = [
        limits.compressed_texture_formats,
        limits.program_binary_formats,
        limits.shader_binary_formats,
        limits.vertex_attribs,
        framebuffer.red_bits,
        framebuffer.green_bits,
        framebuffer.blue_bits,
        framebuffer.alpha_bits,
        framebuffer.depth_bits,
        framebuffer.stencil_bits,
        framebuffer.samples,
        framebuffer.width,
        framebuffer.height,
        limits.vertex_bindings,
        limits.vertex_relative_offset,
        limits.vertex_stride,
        limits.texture_units,
        limits.image_units,
        limits.uniform_bindings,
        limits.uniform_alignment,
        limits.storage_bindings,
        limits.storage_alignment,
        limits.atomic_bindings,
        limits.feedback_bindings,
    ];
    let extensions = context.extensions.names().collect::<Vec<_>>().join(" ");
    let (major, minor) = context.version;
    let fixed = atom::Limits {
        context: context.handle,
        major: major.into(),
        minor: minor.into(),
        numbers: numbers.len() as u16,
        extensions_len: extensions.len() as u16,
    };
    let mut payload = fixed.encode().to_vec();
    payload.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    payload.extend_from_slice(extensions.as_bytes());
    for text in [&limits.renderer, &limits.version] {
        payload.extend(text.bytes().take(atom::LIMITS_STRING_MAX));
        payload.push(0);
    }
    payload
}

fn ask_numbers(context: &mut Context, driver: &Driver, extensions: &str) {
    let (version, major) = (context.version, context.version.0);
    let has = |name| extensions.split_ascii_whitespace().any(|known| known == name);
    let limits = &mut context.limits;
    limits.compressed_texture_formats = driver.number(GL_NUM_COMPRESSED_TEXTURE_FORMATS);
    if major >= 2 {
        limits.shader_binary_formats = driver.number(GL_NUM_SHADER_BINARY_FORMATS);
        limits.texture_units = driver.number(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS);
        limits.vertex_attribs = driver.number(GL_MAX_VERTEX_ATTRIBS);
    }
    if major >= 3 {
        limits.uniform_bindings = driver.number(GL_MAX_UNIFORM_BUFFER_BINDINGS);
        limits.uniform_alignment = driver.number(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT);
        limits.feedback_bindings = driver.number(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS);
    }
    if version >= (3, 1) {
        limits.image_units = driver.number(GL_MAX_IMAGE_UNITS);
        limits.storage_bindings = driver.number(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
        limits.storage_alignment = driver.number(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
        limits.atomic_bindings = driver.number(GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS);
        limits.vertex_bindings = driver.number(GL_MAX_VERTEX_ATTRIB_BINDINGS);
        limits.vertex_relative_offset = driver.number(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET);
        limits.vertex_stride = driver.number(GL_MAX_VERTEX_ATTRIB_STRIDE);
    }
    if major >= 3 || major == 2 && has("GL_OES_get_program_binary") {
        limits.program_binary_formats = driver.number(GL_NUM_PROGRAM_BINARY_FORMATS);
    }
    limits.default_framebuffer = ask_framebuffer(driver);
}

/// Asks for the size and bits of the default framebuffer. A fresh context has the framebuffer of its surfaces bound,
/// or an incomplete one; every version of OpenGL ES answers these queries for both.
fn ask_framebuffer(driver: &Driver) -> DefaultFramebuffer {
    let [_, _, width, height] = driver.numbers(GL_VIEWPORT);
    DefaultFramebuffer {
        red_bits: driver.number(GL_RED_BITS),
        green_bits: driver.number(GL_GREEN_BITS),
        blue_bits: driver.number(GL_BLUE_BITS),
        alpha_bits: driver.number(GL_ALPHA_BITS),
        depth_bits: driver.number(GL_DEPTH_BITS),
        stencil_bits: driver.number(GL_STENCIL_BITS),
        samples: driver.number(GL_SAMPLES),
        width,
        height,
    }
}

/// The driver's own functions.
struct Driver {
    string: GetString,
    integer: GetIntegerv,
}

type GetString = unsafe extern "C" fn(u32) -> *const c_char;
type GetIntegerv = unsafe extern "C" fn(u32, *mut i32);

impl Driver {
    fn find() -> Option<Driver> {
        let (string, integer) =
            (table::driver(ids::GL_GET_STRING), table::driver(ids::GL_GET_INTEGERV));
        if string.is_null() || integer.is_null() {
            return None;
        }
        Some(Driver {
            // SAFETY: the driver's glGetString has this signature.
            string: unsafe { core::mem::transmute::<Code, GetString>(string) },
            // SAFETY: the driver's glGetIntegerv has this signature.
            integer: unsafe { core::mem::transmute::<Code, GetIntegerv>(integer) },
        })
    }

    fn text(&self, name: u32) -> Option<String> {
        // SAFETY: a context is current.
        let text = unsafe { (self.string)(name) };
        if text.is_null() {
            return None;
        }
        // SAFETY: the driver returns a NUL-terminated string that stays valid.
        Some(unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned())
    }

    fn number(&self, name: u32) -> i32 {
        let [number] = self.numbers(name);
        number
    }

    /// Returns the `N` values of a state variable.
    fn numbers<const N: usize>(&self, name: u32) -> [i32; N] {
        let mut numbers = [0; N];
        // SAFETY: a context is current, and the variable has `N` values.
        unsafe { (self.integer)(name, numbers.as_mut_ptr()) };
        numbers
    }
}

/// Returns the major and minor version in strings like `OpenGL ES 3.2 …` and `OpenGL ES-CM 1.1 …`.
pub fn parse_version(text: &str) -> Option<(u8, u8)> {
    let number = text.strip_prefix("OpenGL ES")?.split(' ').nth(1)?;
    let (major, minor) = number.split_once('.')?;
    let minor = minor.split(|digit: char| !digit.is_ascii_digit()).next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn payload_has_the_version_and_the_numbers_by_their_count() {
        let mut context = Context::new(7, Arc::default(), (3, 2));
        context.limits.vertex_attribs = 16;
        context.limits.default_framebuffer.height = 480;
        context.limits.vertex_bindings = 17;
        context.limits.vertex_stride = 2048;
        context.limits.texture_units = 192;
        context.limits.feedback_bindings = 4;
        context.limits.renderer = "llvmpipe".to_owned();
        context.limits.version = "v".repeat(300);
        let expected: [&[u8]; 16] = [
            &7u64.to_le_bytes(),
            &[3, 0, 2, 0, 24, 0, 0, 0],
            &[0; 12],
            &16i32.to_le_bytes(),
            &[0; 32],
            &480i32.to_le_bytes(),
            &17i32.to_le_bytes(),
            &[0; 4],
            &2048i32.to_le_bytes(),
            &192i32.to_le_bytes(),
            &[0; 24],
            &4i32.to_le_bytes(),
            b"llvmpipe",
            &[0],
            &[b'v'; 255],
            &[0],
        ];
        assert_eq!(payload(&context), expected.concat());
    }

    #[test]
    fn version_is_found_in_what_the_driver_says() {
        let check = |text, expected| assert_eq!(parse_version(text), expected, "{text}");
        check("OpenGL ES 3.2 Mesa 22.3.6", Some((3, 2)));
        check("OpenGL ES 2.0 build 1.14@5", Some((2, 0)));
        check("OpenGL ES-CM 1.1 Mesa 22.3.6", Some((1, 1)));
        check("OpenGL ES 3.2V@0502.0", Some((3, 2)));
        check("4.6.0 NVIDIA 535", None);
        check("OpenGL ES", None);
    }
}
