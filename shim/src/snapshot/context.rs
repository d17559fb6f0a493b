//! What is set in a context: capabilities, the pipeline's fixed parts, and all that is bound.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_ATOMIC_COUNTER_BUFFER, GL_ATOMIC_COUNTER_BUFFER_BINDING,
    GL_ATOMIC_COUNTER_BUFFER_SIZE, GL_ATOMIC_COUNTER_BUFFER_START, GL_BACK, GL_BLEND,
    GL_BLEND_ADVANCED_COHERENT_KHR, GL_BLEND_COLOR, GL_BLEND_DST_ALPHA, GL_BLEND_DST_RGB,
    GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA, GL_BLEND_SRC_ALPHA, GL_BLEND_SRC_RGB,
    GL_CLIP_DEPTH_MODE_EXT, GL_CLIP_DISTANCE0_EXT, GL_CLIP_DISTANCE1_EXT, GL_CLIP_DISTANCE2_EXT,
    GL_CLIP_DISTANCE3_EXT, GL_CLIP_DISTANCE4_EXT, GL_CLIP_DISTANCE5_EXT, GL_CLIP_DISTANCE6_EXT,
    GL_CLIP_DISTANCE7_EXT, GL_CLIP_ORIGIN_EXT, GL_COLOR_CLEAR_VALUE, GL_COLOR_WRITEMASK,
    GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_CULL_FACE, GL_CULL_FACE_MODE, GL_DEBUG_OUTPUT,
    GL_DEBUG_OUTPUT_SYNCHRONOUS, GL_DEPTH_CLAMP_EXT, GL_DEPTH_CLEAR_VALUE, GL_DEPTH_FUNC,
    GL_DEPTH_RANGE, GL_DEPTH_TEST, GL_DEPTH_WRITEMASK, GL_DISPATCH_INDIRECT_BUFFER,
    GL_DISPATCH_INDIRECT_BUFFER_BINDING, GL_DITHER, GL_DRAW_INDIRECT_BUFFER,
    GL_DRAW_INDIRECT_BUFFER_BINDING, GL_FRAGMENT_SHADER_DERIVATIVE_HINT, GL_FRAMEBUFFER_SRGB_EXT,
    GL_FRONT, GL_FRONT_FACE, GL_GENERATE_MIPMAP_HINT, GL_IMAGE_BINDING_ACCESS,
    GL_IMAGE_BINDING_FORMAT, GL_IMAGE_BINDING_LAYER, GL_IMAGE_BINDING_LAYERED,
    GL_IMAGE_BINDING_LEVEL, GL_IMAGE_BINDING_NAME, GL_LINE_WIDTH,
    GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS, GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS, GL_MAX_IMAGE_UNITS,
    GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, GL_MAX_UNIFORM_BUFFER_BINDINGS,
    GL_MIN_SAMPLE_SHADING_VALUE, GL_PACK_ALIGNMENT, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS, GL_PATCH_VERTICES, GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING,
    GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, GL_POLYGON_OFFSET_CLAMP_EXT,
    GL_POLYGON_OFFSET_FACTOR, GL_POLYGON_OFFSET_FILL, GL_POLYGON_OFFSET_UNITS,
    GL_PRIMITIVE_RESTART_FIXED_INDEX, GL_RASTERIZER_DISCARD, GL_RENDERBUFFER,
    GL_RENDERBUFFER_BINDING, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_COVERAGE,
    GL_SAMPLE_COVERAGE_INVERT, GL_SAMPLE_COVERAGE_VALUE, GL_SAMPLE_MASK, GL_SAMPLE_MASK_VALUE,
    GL_SAMPLE_SHADING, GL_SAMPLER_BINDING, GL_SCISSOR_BOX, GL_SCISSOR_TEST,
    GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER_SIZE,
    GL_SHADER_STORAGE_BUFFER_START, GL_STENCIL_BACK_FAIL, GL_STENCIL_BACK_FUNC,
    GL_STENCIL_BACK_PASS_DEPTH_FAIL, GL_STENCIL_BACK_PASS_DEPTH_PASS, GL_STENCIL_BACK_REF,
    GL_STENCIL_BACK_VALUE_MASK, GL_STENCIL_BACK_WRITEMASK, GL_STENCIL_CLEAR_VALUE, GL_STENCIL_FAIL,
    GL_STENCIL_FUNC, GL_STENCIL_PASS_DEPTH_FAIL, GL_STENCIL_PASS_DEPTH_PASS, GL_STENCIL_REF,
    GL_STENCIL_TEST, GL_STENCIL_VALUE_MASK, GL_STENCIL_WRITEMASK, GL_TEXTURE_2D,
    GL_TEXTURE_2D_ARRAY, GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_3D,
    GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_2D_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE,
    GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_3D, GL_TEXTURE_BINDING_BUFFER,
    GL_TEXTURE_BINDING_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, GL_TEXTURE_BUFFER,
    GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE0, GL_UNIFORM_BUFFER,
    GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_SIZE, GL_UNIFORM_BUFFER_START,
    GL_UNPACK_ALIGNMENT, GL_UNPACK_IMAGE_HEIGHT, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_IMAGES,
    GL_UNPACK_SKIP_PIXELS, GL_UNPACK_SKIP_ROWS, GL_VIEWPORT,
};
use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::{draw_buffers, gl};
use crate::driver_calls::Gl;
use crate::generated::ids;
use crate::generated::ids::*;

/// Capabilities, and the version of OpenGL ES that they begin with.
const CAPABILITIES: [(u32, (u8, u8)); 15] = [
    (GL_BLEND, (2, 0)),
    (GL_CULL_FACE, (2, 0)),
    (GL_DEPTH_TEST, (2, 0)),
    (GL_DITHER, (2, 0)),
    (GL_POLYGON_OFFSET_FILL, (2, 0)),
    (GL_SAMPLE_ALPHA_TO_COVERAGE, (2, 0)),
    (GL_SAMPLE_COVERAGE, (2, 0)),
    (GL_SCISSOR_TEST, (2, 0)),
    (GL_STENCIL_TEST, (2, 0)),
    (GL_RASTERIZER_DISCARD, (3, 0)),
    (GL_PRIMITIVE_RESTART_FIXED_INDEX, (3, 0)),
    (GL_SAMPLE_MASK, (3, 1)),
    (GL_SAMPLE_SHADING, (3, 2)),
    (GL_DEBUG_OUTPUT, (3, 2)),
    (GL_DEBUG_OUTPUT_SYNCHRONOUS, (3, 2)),
];

/// Pixel parameters, and the version that they begin with.
const PIXEL_STORES: [(u32, u8); 10] = [
    (GL_UNPACK_ALIGNMENT, 2),
    (GL_PACK_ALIGNMENT, 2),
    (GL_UNPACK_ROW_LENGTH, 3),
    (GL_UNPACK_SKIP_ROWS, 3),
    (GL_UNPACK_SKIP_PIXELS, 3),
    (GL_UNPACK_SKIP_IMAGES, 3),
    (GL_UNPACK_IMAGE_HEIGHT, 3),
    (GL_PACK_ROW_LENGTH, 3),
    (GL_PACK_SKIP_ROWS, 3),
    (GL_PACK_SKIP_PIXELS, 3),
];

/// Targets of textures, what is asked for the one that is bound, and the version they begin with.
const TEXTURE_TARGETS: [(u32, u32, (u8, u8)); 8] = [
    (GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, (2, 0)),
    (GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP, (2, 0)),
    (GL_TEXTURE_3D, GL_TEXTURE_BINDING_3D, (3, 0)),
    (GL_TEXTURE_2D_ARRAY, GL_TEXTURE_BINDING_2D_ARRAY, (3, 0)),
    (GL_TEXTURE_2D_MULTISAMPLE, GL_TEXTURE_BINDING_2D_MULTISAMPLE, (3, 1)),
    (GL_TEXTURE_2D_MULTISAMPLE_ARRAY, GL_TEXTURE_BINDING_2D_MULTISAMPLE_ARRAY, (3, 2)),
    (GL_TEXTURE_BUFFER, GL_TEXTURE_BINDING_BUFFER, (3, 2)),
    (GL_TEXTURE_CUBE_MAP_ARRAY, GL_TEXTURE_BINDING_CUBE_MAP_ARRAY, (3, 2)),
];

/// Targets of buffers that are no part of a vertex array, what is asked, and the version they begin
/// with.
const BUFFER_TARGETS: [(u32, u32, (u8, u8)); 6] = [
    (GL_COPY_READ_BUFFER, GL_COPY_READ_BUFFER, (3, 0)),
    (GL_COPY_WRITE_BUFFER, GL_COPY_WRITE_BUFFER, (3, 0)),
    (GL_PIXEL_PACK_BUFFER, GL_PIXEL_PACK_BUFFER_BINDING, (3, 0)),
    (GL_PIXEL_UNPACK_BUFFER, GL_PIXEL_UNPACK_BUFFER_BINDING, (3, 0)),
    (GL_DRAW_INDIRECT_BUFFER, GL_DRAW_INDIRECT_BUFFER_BINDING, (3, 1)),
    (GL_DISPATCH_INDIRECT_BUFFER, GL_DISPATCH_INDIRECT_BUFFER_BINDING, (3, 1)),
];

/// Buffers that are bound by number.
pub struct Indexed {
    pub target: u32,
    pub binding: u32,
    pub start: u32,
    pub size: u32,
    /// How many numbers there are.
    pub count: u32,
    pub since: (u8, u8),
}

const INDEXED: [Indexed; 3] = [
    // Uniform, shader storage and atomic counter buffers.
    Indexed {
        target: GL_UNIFORM_BUFFER,
        binding: GL_UNIFORM_BUFFER_BINDING,
        start: GL_UNIFORM_BUFFER_START,
        size: GL_UNIFORM_BUFFER_SIZE,
        count: GL_MAX_UNIFORM_BUFFER_BINDINGS,
        since: (3, 0),
    },
    Indexed {
        target: GL_SHADER_STORAGE_BUFFER,
        binding: GL_SHADER_STORAGE_BUFFER_BINDING,
        start: GL_SHADER_STORAGE_BUFFER_START,
        size: GL_SHADER_STORAGE_BUFFER_SIZE,
        count: GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS,
        since: (3, 1),
    },
    Indexed {
        target: GL_ATOMIC_COUNTER_BUFFER,
        binding: GL_ATOMIC_COUNTER_BUFFER_BINDING,
        start: GL_ATOMIC_COUNTER_BUFFER_START,
        size: GL_ATOMIC_COUNTER_BUFFER_SIZE,
        count: GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
        since: (3, 1),
    },
];

impl Indexed {
    /// What is bound by number.
    pub fn describe_points(&self, emitter: &mut Emitter) {
        for index in 0..gl::integer(self.count).clamp(0, 128) as u32 {
            let name = gl::integer_at(self.binding, index);
            let [start, size] =
                [self.start, self.size].map(|what| gl::wide_integer_at(what, index));
            if name == 0 {
                continue;
            }
            let id = if size > 0 { GL_BIND_BUFFER_RANGE } else { GL_BIND_BUFFER_BASE };
            let command = emitter.command(id).arg(self.target).arg(index).arg(name);
            if size > 0 { command.arg(start).arg(size).done() } else { command.done() }
        }
    }

    /// What is bound without one.
    pub fn describe_general(&self, emitter: &mut Emitter) {
        emitter.command(GL_BIND_BUFFER).arg(self.target).arg(gl::integer(self.binding)).done();
    }
}

const GL_ACTIVE_TEXTURE_NAME: u32 = constants::GL_ACTIVE_TEXTURE;

pub fn describe(emitter: &mut Emitter, context: &Context) {
    let version = context.version.0;
    for (name, _) in CAPABILITIES.iter().filter(|(_, since)| *since <= context.version) {
        let id = if gl::is_enabled(*name) != 0 { GL_ENABLE } else { GL_DISABLE };
        emitter.command(id).arg(*name).done();
    }
    if let Some(driver) = Gl::current() {
        let has = |extension: &str| driver.has(extension);
        for (name, ..) in
            OF_EXTENSIONS.iter().filter(|(.., since, it)| context.version < *since && has(it))
        {
            let id = if gl::is_enabled(*name) != 0 { GL_ENABLE } else { GL_DISABLE };
            emitter.command(id).arg(*name).done();
        }
        describe_pixel_operations(emitter);
        draw_buffers::describe(emitter, context.version, &driver);
        describe_rasterization_of_extensions(emitter, &driver);
    }
    describe_stencil(emitter);
    describe_rasterization(emitter, context.version);
    describe_textures(emitter, context.version);
    if context.version >= (3, 1) {
        describe_samples(emitter, context.version);
        describe_images(emitter);
    }
    describe_buffers(emitter, context);
    let renderbuffer = gl::integer(GL_RENDERBUFFER_BINDING);
    emitter.command(GL_BIND_RENDERBUFFER).arg(GL_RENDERBUFFER).arg(renderbuffer).done();
    emitter.command(GL_USE_PROGRAM).arg(context.program.name() as u32).done();
    for (name, _) in PIXEL_STORES.iter().filter(|(_, since)| *since <= version) {
        emitter.command(GL_PIXEL_STOREI).arg(*name).arg(gl::integer(*name)).done();
    }
}

/// Capabilities of extensions, the version of OpenGL ES that has them without, and the extension.
const OF_EXTENSIONS: [(u32, (u8, u8), &str); 14] = [
    (GL_SAMPLE_SHADING, (3, 2), "GL_OES_sample_shading"),
    (GL_DEBUG_OUTPUT, (3, 2), "GL_KHR_debug"),
    (GL_DEBUG_OUTPUT_SYNCHRONOUS, (3, 2), "GL_KHR_debug"),
    (GL_BLEND_ADVANCED_COHERENT_KHR, (9, 9), "GL_KHR_blend_equation_advanced_coherent"),
    (GL_FRAMEBUFFER_SRGB_EXT, (9, 9), "GL_EXT_sRGB_write_control"),
    (GL_DEPTH_CLAMP_EXT, (9, 9), "GL_EXT_depth_clamp"),
    // GL_CLIP_DISTANCE0_EXT and on
    (GL_CLIP_DISTANCE0_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE1_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE2_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE3_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE4_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE5_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE6_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
    (GL_CLIP_DISTANCE7_EXT, (9, 9), "GL_EXT_clip_cull_distance"),
];

fn describe_rasterization_of_extensions(emitter: &mut Emitter, driver: &Gl) {
    if driver.has("GL_EXT_clip_control") {
        let [origin, depth] = [GL_CLIP_ORIGIN_EXT, GL_CLIP_DEPTH_MODE_EXT].map(gl::integer);
        emitter.command(GL_CLIP_CONTROL_EXT).arg(origin).arg(depth).done();
    }
    if driver.has("GL_EXT_polygon_offset_clamp") {
        let ([factor], [units]) =
            (gl::floats::<1>(GL_POLYGON_OFFSET_FACTOR), gl::floats::<1>(GL_POLYGON_OFFSET_UNITS));
        let [clamp] = gl::floats::<1>(GL_POLYGON_OFFSET_CLAMP_EXT);
        if clamp != 0.0 {
            let command = emitter.command(ids::GL_POLYGON_OFFSET_CLAMP_EXT).arg(factor).arg(units);
            command.arg(clamp).done();
        }
    }
}

fn describe_pixel_operations(emitter: &mut Emitter) {
    // Source and destination of colour, and of alpha.
    let [source, target, alpha, to_alpha] =
        [GL_BLEND_SRC_RGB, GL_BLEND_DST_RGB, GL_BLEND_SRC_ALPHA, GL_BLEND_DST_ALPHA]
            .map(gl::integer);
    let command = emitter.command(GL_BLEND_FUNC_SEPARATE).arg(source).arg(target);
    command.arg(alpha).arg(to_alpha).done();
    let [color, alpha] = [GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA].map(gl::integer);
    draw_buffers::describe_equation(emitter, color, alpha);
    let [r, g, b, a] = gl::floats::<4>(GL_BLEND_COLOR);
    emitter.command(ids::GL_BLEND_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::booleans::<4>(GL_COLOR_WRITEMASK);
    emitter.command(GL_COLOR_MASK).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::floats::<4>(GL_COLOR_CLEAR_VALUE);
    emitter.command(GL_CLEAR_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    let [depth] = gl::floats::<1>(GL_DEPTH_CLEAR_VALUE);
    emitter.command(GL_CLEAR_DEPTHF).arg(depth).done();
    emitter.command(GL_CLEAR_STENCIL).arg(gl::integer(GL_STENCIL_CLEAR_VALUE)).done();
    let [mask] = gl::booleans::<1>(GL_DEPTH_WRITEMASK);
    emitter.command(GL_DEPTH_MASK).arg(mask).done();
    emitter.command(ids::GL_DEPTH_FUNC).arg(gl::integer(GL_DEPTH_FUNC)).done();
    let [near, far] = gl::floats::<2>(GL_DEPTH_RANGE);
    emitter.command(GL_DEPTH_RANGEF).arg(near).arg(far).done();
    let ([factor], [units]) =
        (gl::floats::<1>(GL_POLYGON_OFFSET_FACTOR), gl::floats::<1>(GL_POLYGON_OFFSET_UNITS));
    emitter.command(GL_POLYGON_OFFSET).arg(factor).arg(units).done();
    let [x, y, width, height] = gl::integers::<4>(GL_SCISSOR_BOX);
    emitter.command(GL_SCISSOR).arg(x).arg(y).arg(width).arg(height).done();
    let [x, y, width, height] = gl::integers::<4>(GL_VIEWPORT);
    emitter.command(ids::GL_VIEWPORT).arg(x).arg(y).arg(width).arg(height).done();
}

fn describe_stencil(emitter: &mut Emitter) {
    // Function, reference, mask, failed, depth failed, depth passed, write mask.
    let front = [
        GL_STENCIL_FUNC,
        GL_STENCIL_REF,
        GL_STENCIL_VALUE_MASK,
        GL_STENCIL_FAIL,
        GL_STENCIL_PASS_DEPTH_FAIL,
        GL_STENCIL_PASS_DEPTH_PASS,
        GL_STENCIL_WRITEMASK,
    ];
    let back = [
        GL_STENCIL_BACK_FUNC,
        GL_STENCIL_BACK_REF,
        GL_STENCIL_BACK_VALUE_MASK,
        GL_STENCIL_BACK_FAIL,
        GL_STENCIL_BACK_PASS_DEPTH_FAIL,
        GL_STENCIL_BACK_PASS_DEPTH_PASS,
        GL_STENCIL_BACK_WRITEMASK,
    ];
    for (face, names) in [(GL_FRONT, front), (GL_BACK, back)] {
        let [function, reference, mask, fail, depth_fail, pass, write] = names.map(gl::integer);
        let command = emitter.command(GL_STENCIL_FUNC_SEPARATE).arg(face);
        command.arg(function).arg(reference).arg(mask).done();
        let command = emitter.command(GL_STENCIL_OP_SEPARATE).arg(face);
        command.arg(fail).arg(depth_fail).arg(pass).done();
        emitter.command(GL_STENCIL_MASK_SEPARATE).arg(face).arg(write).done();
    }
}

fn describe_rasterization(emitter: &mut Emitter, version: (u8, u8)) {
    emitter.command(ids::GL_CULL_FACE).arg(gl::integer(GL_CULL_FACE_MODE)).done();
    emitter.command(ids::GL_FRONT_FACE).arg(gl::integer(GL_FRONT_FACE)).done();
    let [width] = gl::floats::<1>(GL_LINE_WIDTH);
    emitter.command(ids::GL_LINE_WIDTH).arg(width).done();
    let ([value], [inverted]) =
        (gl::floats::<1>(GL_SAMPLE_COVERAGE_VALUE), gl::booleans::<1>(GL_SAMPLE_COVERAGE_INVERT));
    emitter.command(ids::GL_SAMPLE_COVERAGE).arg(value).arg(inverted).done();
    let hints = [(GL_GENERATE_MIPMAP_HINT, 2), (GL_FRAGMENT_SHADER_DERIVATIVE_HINT, 3)];
    for (name, _) in hints.iter().filter(|(_, since)| *since <= version.0) {
        emitter.command(GL_HINT).arg(*name).arg(gl::integer(*name)).done();
    }
}

fn describe_textures(emitter: &mut Emitter, version: (u8, u8)) {
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME) as u32;
    let units = gl::integer(GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS).clamp(0, 256) as u32;
    for unit in 0..units {
        gl::active_texture(GL_TEXTURE0 + unit);
        emitter.command(GL_ACTIVE_TEXTURE).arg(GL_TEXTURE0 + unit).done();
        for (target, binding, _) in TEXTURE_TARGETS.iter().filter(|(_, _, it)| *it <= version) {
            emitter.command(GL_BIND_TEXTURE).arg(*target).arg(gl::integer(*binding)).done();
        }
        if version >= (3, 0) {
            let sampler = gl::integer(GL_SAMPLER_BINDING);
            emitter.command(GL_BIND_SAMPLER).arg(unit).arg(sampler).done();
        }
    }
    gl::active_texture(active);
    emitter.command(GL_ACTIVE_TEXTURE).arg(active).done();
}

fn describe_samples(emitter: &mut Emitter, version: (u8, u8)) {
    const GL_PRIMITIVE_BOUNDING_BOX_NAME: u32 = constants::GL_PRIMITIVE_BOUNDING_BOX;
    let mask = gl::integer_at(GL_SAMPLE_MASK_VALUE, 0);
    emitter.command(GL_SAMPLE_MASKI).arg(0_u32).arg(mask).done();
    if version >= (3, 2) {
        let [share] = gl::floats::<1>(GL_MIN_SAMPLE_SHADING_VALUE);
        emitter.command(GL_MIN_SAMPLE_SHADING).arg(share).done();
        let vertices = gl::integer(GL_PATCH_VERTICES);
        emitter.command(GL_PATCH_PARAMETERI).arg(GL_PATCH_VERTICES).arg(vertices).done();
        let corners = gl::floats::<8>(GL_PRIMITIVE_BOUNDING_BOX_NAME);
        let command = emitter.command(GL_PRIMITIVE_BOUNDING_BOX);
        corners.into_iter().fold(command, |command, corner| command.arg(corner)).done();
    }
}

fn describe_images(emitter: &mut Emitter) {
    // Name, level, whether all layers, layer, access, format.
    const OF_IMAGES: [u32; 6] = [
        GL_IMAGE_BINDING_NAME,
        GL_IMAGE_BINDING_LEVEL,
        GL_IMAGE_BINDING_LAYERED,
        GL_IMAGE_BINDING_LAYER,
        GL_IMAGE_BINDING_ACCESS,
        GL_IMAGE_BINDING_FORMAT,
    ];
    for unit in 0..gl::integer(GL_MAX_IMAGE_UNITS).clamp(0, 64) as u32 {
        let [name, level, layered, layer, access, format] =
            OF_IMAGES.map(|what| gl::integer_at(what, unit));
        if name != 0 {
            let command = emitter.command(GL_BIND_IMAGE_TEXTURE).arg(unit).arg(name).arg(level);
            let command = command.arg(u8::from(layered != 0)).arg(layer);
            command.arg(access).arg(format).done();
        }
    }
}

fn describe_buffers(emitter: &mut Emitter, context: &Context) {
    let array = context.array_buffer.name() as u32;
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(array).done();
    if context.version.0 < 3 {
        return;
    }
    for indexed in INDEXED.iter().filter(|indexed| indexed.since <= context.version) {
        indexed.describe_points(emitter);
        indexed.describe_general(emitter);
    }
    let targets = BUFFER_TARGETS.iter().filter(|(_, _, since)| *since <= context.version);
    for (target, binding, _) in targets {
        emitter.command(GL_BIND_BUFFER).arg(*target).arg(gl::integer(*binding)).done();
    }
}
