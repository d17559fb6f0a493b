//! What is set in a context: capabilities, the pipeline's fixed parts, and all that is bound.

use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::{draw_buffers, gl};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Capabilities, and the version of OpenGL ES that they begin with.
const CAPABILITIES: [(u32, (u8, u8)); 15] = [
    (0x0BE2, (2, 0)), // GL_BLEND
    (0x0B44, (2, 0)), // GL_CULL_FACE
    (0x0B71, (2, 0)), // GL_DEPTH_TEST
    (0x0BD0, (2, 0)), // GL_DITHER
    (0x8037, (2, 0)), // GL_POLYGON_OFFSET_FILL
    (0x809E, (2, 0)), // GL_SAMPLE_ALPHA_TO_COVERAGE
    (0x80A0, (2, 0)), // GL_SAMPLE_COVERAGE
    (0x0C11, (2, 0)), // GL_SCISSOR_TEST
    (0x0B90, (2, 0)), // GL_STENCIL_TEST
    (0x8C89, (3, 0)), // GL_RASTERIZER_DISCARD
    (0x8D69, (3, 0)), // GL_PRIMITIVE_RESTART_FIXED_INDEX
    (0x8E51, (3, 1)), // GL_SAMPLE_MASK
    (0x8C36, (3, 2)), // GL_SAMPLE_SHADING
    (0x92E0, (3, 2)), // GL_DEBUG_OUTPUT
    (0x8242, (3, 2)), // GL_DEBUG_OUTPUT_SYNCHRONOUS
];

/// Pixel parameters, and the version that they begin with.
const PIXEL_STORES: [(u32, u8); 10] = [
    (0x0CF5, 2), // GL_UNPACK_ALIGNMENT
    (0x0D05, 2), // GL_PACK_ALIGNMENT
    (0x0CF2, 3), // GL_UNPACK_ROW_LENGTH
    (0x0CF3, 3), // GL_UNPACK_SKIP_ROWS
    (0x0CF4, 3), // GL_UNPACK_SKIP_PIXELS
    (0x806D, 3), // GL_UNPACK_SKIP_IMAGES
    (0x806E, 3), // GL_UNPACK_IMAGE_HEIGHT
    (0x0D02, 3), // GL_PACK_ROW_LENGTH
    (0x0D03, 3), // GL_PACK_SKIP_ROWS
    (0x0D04, 3), // GL_PACK_SKIP_PIXELS
];

/// Targets of textures, what is asked for the one that is bound, and the version they begin with.
const TEXTURE_TARGETS: [(u32, u32, (u8, u8)); 8] = [
    (0x0DE1, 0x8069, (2, 0)), // GL_TEXTURE_2D
    (0x8513, 0x8514, (2, 0)), // GL_TEXTURE_CUBE_MAP
    (0x806F, 0x806A, (3, 0)), // GL_TEXTURE_3D
    (0x8C1A, 0x8C1D, (3, 0)), // GL_TEXTURE_2D_ARRAY
    (0x9100, 0x9104, (3, 1)), // GL_TEXTURE_2D_MULTISAMPLE
    (0x9102, 0x9105, (3, 2)), // GL_TEXTURE_2D_MULTISAMPLE_ARRAY
    (0x8C2A, 0x8C2C, (3, 2)), // GL_TEXTURE_BUFFER
    (0x9009, 0x900A, (3, 2)), // GL_TEXTURE_CUBE_MAP_ARRAY
];

/// Targets of buffers that are no part of a vertex array, what is asked, and the version they begin
/// with.
const BUFFER_TARGETS: [(u32, u32, (u8, u8)); 6] = [
    (0x8F36, 0x8F36, (3, 0)), // GL_COPY_READ_BUFFER
    (0x8F37, 0x8F37, (3, 0)), // GL_COPY_WRITE_BUFFER
    (0x88EB, 0x88ED, (3, 0)), // GL_PIXEL_PACK_BUFFER
    (0x88EC, 0x88EF, (3, 0)), // GL_PIXEL_UNPACK_BUFFER
    (0x8F3F, 0x8F43, (3, 1)), // GL_DRAW_INDIRECT_BUFFER
    (0x90EE, 0x90EF, (3, 1)), // GL_DISPATCH_INDIRECT_BUFFER
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
        target: 0x8A11,
        binding: 0x8A28,
        start: 0x8A29,
        size: 0x8A2A,
        count: 0x8A2F,
        since: (3, 0),
    },
    Indexed {
        target: 0x90D2,
        binding: 0x90D3,
        start: 0x90D4,
        size: 0x90D5,
        count: 0x90DD,
        since: (3, 1),
    },
    Indexed {
        target: 0x92C0,
        binding: 0x92C1,
        start: 0x92C2,
        size: 0x92C3,
        count: 0x92DC,
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

const GL_TEXTURE0: u32 = 0x84C0;
const GL_ACTIVE_TEXTURE_NAME: u32 = 0x84E0;
const GL_MAX_COMBINED_TEXTURE_IMAGE_UNITS: u32 = 0x8B4D;
const GL_SAMPLER_BINDING: u32 = 0x8919;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_FRONT: u32 = 0x0404;
const GL_BACK: u32 = 0x0405;
const GL_RENDERBUFFER: u32 = 0x8D41;
const GL_RENDERBUFFER_BINDING: u32 = 0x8CA7;
const GL_GENERATE_MIPMAP_HINT: u32 = 0x8192;
const GL_FRAGMENT_SHADER_DERIVATIVE_HINT: u32 = 0x8B8B;

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
    (0x8C36, (3, 2), "GL_OES_sample_shading"), // GL_SAMPLE_SHADING
    (0x92E0, (3, 2), "GL_KHR_debug"),          // GL_DEBUG_OUTPUT
    (0x8242, (3, 2), "GL_KHR_debug"),          // GL_DEBUG_OUTPUT_SYNCHRONOUS
    (0x9285, (9, 9), "GL_KHR_blend_equation_advanced_coherent"), // GL_BLEND_ADVANCED_COHERENT_KHR
    (0x8DB9, (9, 9), "GL_EXT_sRGB_write_control"), // GL_FRAMEBUFFER_SRGB_EXT
    (0x864F, (9, 9), "GL_EXT_depth_clamp"),    // GL_DEPTH_CLAMP_EXT
    // GL_CLIP_DISTANCE0_EXT and on
    (0x3000, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3001, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3002, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3003, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3004, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3005, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3006, (9, 9), "GL_EXT_clip_cull_distance"),
    (0x3007, (9, 9), "GL_EXT_clip_cull_distance"),
];

fn describe_rasterization_of_extensions(emitter: &mut Emitter, driver: &Gl) {
    const GL_CLIP_ORIGIN_EXT: u32 = 0x935C;
    const GL_CLIP_DEPTH_MODE_EXT: u32 = 0x935D;
    const GL_POLYGON_OFFSET_CLAMP_EXT_NAME: u32 = 0x8E1B;
    if driver.has("GL_EXT_clip_control") {
        let [origin, depth] = [GL_CLIP_ORIGIN_EXT, GL_CLIP_DEPTH_MODE_EXT].map(gl::integer);
        emitter.command(GL_CLIP_CONTROL_EXT).arg(origin).arg(depth).done();
    }
    if driver.has("GL_EXT_polygon_offset_clamp") {
        let ([factor], [units]) = (gl::floats::<1>(0x8038), gl::floats::<1>(0x2A00));
        let [clamp] = gl::floats::<1>(GL_POLYGON_OFFSET_CLAMP_EXT_NAME);
        if clamp != 0.0 {
            let command = emitter.command(GL_POLYGON_OFFSET_CLAMP_EXT).arg(factor).arg(units);
            command.arg(clamp).done();
        }
    }
}

fn describe_pixel_operations(emitter: &mut Emitter) {
    // Source and destination of colour, and of alpha.
    let [source, target, alpha, to_alpha] = [0x80C9, 0x80C8, 0x80CB, 0x80CA].map(gl::integer);
    let command = emitter.command(GL_BLEND_FUNC_SEPARATE).arg(source).arg(target);
    command.arg(alpha).arg(to_alpha).done();
    let [color, alpha] = [0x8009, 0x883D].map(gl::integer);
    draw_buffers::describe_equation(emitter, color, alpha);
    let [r, g, b, a] = gl::floats::<4>(0x8005);
    emitter.command(GL_BLEND_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::booleans::<4>(0x0C23);
    emitter.command(GL_COLOR_MASK).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::floats::<4>(0x0C22);
    emitter.command(GL_CLEAR_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    let [depth] = gl::floats::<1>(0x0B73);
    emitter.command(GL_CLEAR_DEPTHF).arg(depth).done();
    emitter.command(GL_CLEAR_STENCIL).arg(gl::integer(0x0B91)).done();
    let [mask] = gl::booleans::<1>(0x0B72);
    emitter.command(GL_DEPTH_MASK).arg(mask).done();
    emitter.command(GL_DEPTH_FUNC).arg(gl::integer(0x0B74)).done();
    let [near, far] = gl::floats::<2>(0x0B70);
    emitter.command(GL_DEPTH_RANGEF).arg(near).arg(far).done();
    let ([factor], [units]) = (gl::floats::<1>(0x8038), gl::floats::<1>(0x2A00));
    emitter.command(GL_POLYGON_OFFSET).arg(factor).arg(units).done();
    let [x, y, width, height] = gl::integers::<4>(0x0C10);
    emitter.command(GL_SCISSOR).arg(x).arg(y).arg(width).arg(height).done();
    let [x, y, width, height] = gl::integers::<4>(0x0BA2);
    emitter.command(GL_VIEWPORT).arg(x).arg(y).arg(width).arg(height).done();
}

fn describe_stencil(emitter: &mut Emitter) {
    // Function, reference, mask, failed, depth failed, depth passed, write mask.
    let front = [0x0B92, 0x0B97, 0x0B93, 0x0B94, 0x0B95, 0x0B96, 0x0B98];
    let back = [0x8800, 0x8CA3, 0x8CA4, 0x8801, 0x8802, 0x8803, 0x8CA5];
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
    emitter.command(GL_CULL_FACE).arg(gl::integer(0x0B45)).done();
    emitter.command(GL_FRONT_FACE).arg(gl::integer(0x0B46)).done();
    let [width] = gl::floats::<1>(0x0B21);
    emitter.command(GL_LINE_WIDTH).arg(width).done();
    let ([value], [inverted]) = (gl::floats::<1>(0x80AA), gl::booleans::<1>(0x80AB));
    emitter.command(GL_SAMPLE_COVERAGE).arg(value).arg(inverted).done();
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
    const GL_SAMPLE_MASK_VALUE: u32 = 0x8E52;
    const GL_MIN_SAMPLE_SHADING_VALUE: u32 = 0x8C37;
    const GL_PATCH_VERTICES: u32 = 0x8E72;
    const GL_PRIMITIVE_BOUNDING_BOX_NAME: u32 = 0x92BE;
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
    const GL_MAX_IMAGE_UNITS: u32 = 0x8F38;
    // Name, level, whether all layers, layer, access, format.
    const OF_IMAGES: [u32; 6] = [0x8F3A, 0x8F3B, 0x8F3C, 0x8F3D, 0x8F3E, 0x906E];
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
