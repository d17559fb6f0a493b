//! Limits of a context's driver: version, renderer, extensions, numbers of formats, attributes, units and binding points, bits and size of the default
//! framebuffer. The shim asks for them once, when the context first becomes current (`ask_numbers`), and writes them as
//! a LIMITS record (`payload`).
//!
//! It asks for nothing that the context's version and profile may not know: an error that the shim causes is an error that the
//! program sees.

use gapii_abi::atom;
use gapii_commands::constants::{
    EGL_ALPHA_SIZE, EGL_BLUE_SIZE, EGL_DEPTH_SIZE, EGL_GREEN_SIZE, EGL_RED_SIZE, EGL_SAMPLES,
    EGL_STENCIL_SIZE, GL_ALPHA_BITS, GL_BACK_LEFT, GL_BLUE_BITS, GL_DEPTH, GL_DEPTH_BITS,
    GL_DOUBLEBUFFER, GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING,
    GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE, GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE, GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE,
    GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE, GL_FRONT_LEFT, GL_GREEN_BITS,
    GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, GL_MAX_IMAGE_UNITS,
    GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
    GL_MAX_UNIFORM_BUFFER_BINDINGS, GL_MAX_VERTEX_ATTRIB_BINDINGS,
    GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_MAX_VERTEX_ATTRIB_STRIDE, GL_MAX_VERTEX_ATTRIBS,
    GL_NONE, GL_NUM_COMPRESSED_TEXTURE_FORMATS, GL_NUM_PROGRAM_BINARY_FORMATS,
    GL_NUM_SHADER_BINARY_FORMATS, GL_RED_BITS, GL_RENDERER, GL_SAMPLES,
    GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT, GL_STENCIL, GL_STENCIL_BITS,
    GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT, GL_VIEWPORT,
};
use gapii_state::{Context, ContextApi, DefaultFramebuffer, Extensions};

use crate::driver_functions as driver;
use crate::gl_identity::{self, Identity};
use crate::tracking;

/// Asks the driver for the limits of this thread's current context, unless they are known.
pub fn learn() {
    tracking::with_state(|thread| {
        let Some(context) = thread.context.as_deref_mut().filter(|it| !it.limits.is_known) else {
            return;
        };
        let state = thread.process.lock();
        let surface = state.surfaces.get(thread.draw_surface);
        let config = surface.map(|surface| (surface.display, surface.config));
        drop(state);
        ask(context, config);
    });
}

/// `config`: display and configuration of the surface of EGL that the context draws to.
fn ask(context: &mut Context, config: Option<(u64, u64)>) {
    context.limits.is_known = true;
    let Some(driver) = Identity::ask() else { return };
    (context.api, context.version) = (driver.api, driver.version);
    context.limits.version = driver.version_text.clone();
    context.limits.renderer = gl_identity::text(GL_RENDERER).unwrap_or_default();
    context.extensions = Extensions::parse(&driver.extensions());
    ask_numbers(context, &driver);
    context.limits.default_framebuffer = ask_framebuffer(context.api, config);
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
        context.api.profile(),
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

fn ask_numbers(context: &mut Context, driver: &Identity) {
    let (api, version) = (context.api, context.version);
    let has = |es, desktop| api.is_es(version, es) || api.is_desktop(version, desktop);
    let (is_es2, is_es3) = (has((2, 0), (2, 0)), has((3, 0), (3, 1)));
    let limits = &mut context.limits;
    if has((1, 0), (1, 3)) {
        limits.compressed_texture_formats = number(GL_NUM_COMPRESSED_TEXTURE_FORMATS);
    }
    if is_es2 {
        limits.texture_units = number(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS);
        limits.vertex_attribs = number(GL_MAX_VERTEX_ATTRIBS);
    }
    if has((2, 0), (4, 1)) || driver.has("GL_ARB_ES2_compatibility") {
        limits.shader_binary_formats = number(GL_NUM_SHADER_BINARY_FORMATS);
    }
    if is_es3 {
        limits.uniform_bindings = number(GL_MAX_UNIFORM_BUFFER_BINDINGS);
        limits.uniform_alignment = number(GL_UNIFORM_BUFFER_OFFSET_ALIGNMENT);
        limits.feedback_bindings = number(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS);
    }
    if has((3, 1), (4, 3)) {
        limits.image_units = number(GL_MAX_IMAGE_UNITS);
        limits.storage_bindings = number(GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS);
        limits.storage_alignment = number(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT);
        limits.atomic_bindings = number(GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS);
        limits.vertex_bindings = number(GL_MAX_VERTEX_ATTRIB_BINDINGS);
        limits.vertex_relative_offset = number(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET);
    }
    if has((3, 1), (4, 4)) {
        limits.vertex_stride = number(GL_MAX_VERTEX_ATTRIB_STRIDE);
    }
    let of_extension = ["GL_OES_get_program_binary", "GL_ARB_get_program_binary"];
    if has((3, 0), (4, 1)) || is_es2 && of_extension.iter().any(|name| driver.has(name)) {
        limits.program_binary_formats = number(GL_NUM_PROGRAM_BINARY_FORMATS);
    }
}

/// Attributes of a configuration of EGL, in the order of [`DefaultFramebuffer`].
const BITS: [u32; 7] = [
    EGL_RED_SIZE,
    EGL_GREEN_SIZE,
    EGL_BLUE_SIZE,
    EGL_ALPHA_SIZE,
    EGL_DEPTH_SIZE,
    EGL_STENCIL_SIZE,
    EGL_SAMPLES,
];

/// Asks for the size and bits of the default framebuffer. EGL knows the bits: when Mesa 22.3 is asked for `GL_SAMPLES` before the
/// first clear of a program that then enables `GL_FRAMEBUFFER_SRGB`, the next clear writes other pixels. Without a surface of EGL the
/// context is asked. A fresh one has the framebuffer of its surfaces bound, or an incomplete one; every version of OpenGL ES
/// answers these queries for both.
fn ask_framebuffer(api: ContextApi, config: Option<(u64, u64)>) -> DefaultFramebuffer {
    let [_, _, width, height] = numbers(GL_VIEWPORT);
    let size = DefaultFramebuffer { width, height, ..DefaultFramebuffer::default() };
    if let Some(bits) = config.and_then(|(display, config)| bits_of(display, config)) {
        let [red_bits, green_bits, blue_bits, alpha_bits, depth_bits, stencil_bits, samples] = bits;
        return DefaultFramebuffer {
            red_bits,
            green_bits,
            blue_bits,
            alpha_bits,
            depth_bits,
            stencil_bits,
            samples,
            ..size
        };
    }
    if api == ContextApi::Core {
        return match width > 0 && height > 0 && number(GL_DRAW_FRAMEBUFFER_BINDING) == 0 {
            true => ask_attachments(size),
            false => size,
        };
    }
    DefaultFramebuffer {
        red_bits: number(GL_RED_BITS),
        green_bits: number(GL_GREEN_BITS),
        blue_bits: number(GL_BLUE_BITS),
        alpha_bits: number(GL_ALPHA_BITS),
        depth_bits: number(GL_DEPTH_BITS),
        stencil_bits: number(GL_STENCIL_BITS),
        samples: number(GL_SAMPLES),
        ..size
    }
}

/// Asks EGL for the bits of a configuration.
fn bits_of(display: u64, config: u64) -> Option<[i32; BITS.len()]> {
    let mut bits = [0; BITS.len()];
    for (value, name) in bits.iter_mut().zip(BITS) {
        // SAFETY: `value` is writable; an invalid handle is an error.
        let done =
            unsafe { driver::egl_get_config_attrib(display, config, name as i32, &raw mut *value) };
        if done == 0 {
            return None;
        }
    }
    Some(bits)
}

/// Asks for the bits of the default framebuffer in a core profile, which has queries of its attachments only.
fn ask_attachments(size: DefaultFramebuffer) -> DefaultFramebuffer {
    let color = match number(GL_DOUBLEBUFFER) != 0 {
        true => GL_BACK_LEFT,
        false => GL_FRONT_LEFT,
    };
    DefaultFramebuffer {
        red_bits: bits(color, GL_FRAMEBUFFER_ATTACHMENT_RED_SIZE),
        green_bits: bits(color, GL_FRAMEBUFFER_ATTACHMENT_GREEN_SIZE),
        blue_bits: bits(color, GL_FRAMEBUFFER_ATTACHMENT_BLUE_SIZE),
        alpha_bits: bits(color, GL_FRAMEBUFFER_ATTACHMENT_ALPHA_SIZE),
        depth_bits: bits(GL_DEPTH, GL_FRAMEBUFFER_ATTACHMENT_DEPTH_SIZE),
        stencil_bits: bits(GL_STENCIL, GL_FRAMEBUFFER_ATTACHMENT_STENCIL_SIZE),
        samples: number(GL_SAMPLES),
        ..size
    }
}

/// Bits of an attachment of the default framebuffer; 0 without the attachment, of which other questions are errors.
fn bits(point: u32, name: u32) -> i32 {
    let ask = |name| {
        let mut value = 0;
        // SAFETY: the parameter has one value.
        unsafe { driver::get_attachment(GL_DRAW_FRAMEBUFFER, point, name, &raw mut value) };
        value
    };
    match ask(GL_FRAMEBUFFER_ATTACHMENT_OBJECT_TYPE) as u32 {
        GL_NONE => 0,
        _ => ask(name),
    }
}

fn number(name: u32) -> i32 {
    let [number] = numbers(name);
    number
}

/// Returns the `N` values of a state variable.
fn numbers<const N: usize>(name: u32) -> [i32; N] {
    let mut numbers = [0; N];
    // SAFETY: a context is current, and the variable has `N` values.
    unsafe { driver::get_integers(name, numbers.as_mut_ptr()) };
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn payload_has_the_version_and_the_numbers_by_their_count() {
        let mut context = Context::new(7, Arc::default(), (3, 2));
        context.api = ContextApi::Compatibility;
        context.limits.vertex_attribs = 16;
        context.limits.default_framebuffer.height = 480;
        context.limits.vertex_bindings = 17;
        context.limits.vertex_stride = 2048;
        context.limits.texture_units = 192;
        context.limits.feedback_bindings = 4;
        context.limits.renderer = "llvmpipe".to_owned();
        context.limits.version = "v".repeat(300);
        let expected: [&[u8]; 17] = [
            &7u64.to_le_bytes(),
            &[3, 0, 2, 0, 25, 0, 0, 0],
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
            &2i32.to_le_bytes(),
            b"llvmpipe",
            &[0],
            &[b'v'; 255],
            &[0],
        ];
        assert_eq!(payload(&context), expected.concat());
    }
}
