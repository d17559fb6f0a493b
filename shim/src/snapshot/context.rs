//! The state of a context beside its objects: capabilities, fixed stages of the pipeline, pixel parameters, and
//! bindings of buffers (OpenGL ES 3.2, tables 21.6 to 21.14 and 21.32 to 21.41), with what extensions and OpenGL add.
//! `CAPABILITIES`, `PIXEL_STORES`, `HINTS` and `BUFFER_TARGETS` list them with the version or extension that has each;
//! the driver is asked only for state that the context has. At most 128 points of each indexed buffer binding are
//! described. A binding of a deleted buffer that the state no longer has is listed as missing.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_ATOMIC_COUNTER_BUFFER, GL_ATOMIC_COUNTER_BUFFER_BINDING,
    GL_ATOMIC_COUNTER_BUFFER_SIZE, GL_ATOMIC_COUNTER_BUFFER_START, GL_BACK, GL_BLEND,
    GL_BLEND_ADVANCED_COHERENT_KHR, GL_BLEND_COLOR, GL_BLEND_DST_ALPHA, GL_BLEND_DST_RGB,
    GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA, GL_BLEND_SRC_ALPHA, GL_BLEND_SRC_RGB,
    GL_CLIP_DEPTH_MODE_EXT, GL_CLIP_DISTANCE0_EXT, GL_CLIP_DISTANCE1_EXT, GL_CLIP_DISTANCE2_EXT,
    GL_CLIP_DISTANCE3_EXT, GL_CLIP_DISTANCE4_EXT, GL_CLIP_DISTANCE5_EXT, GL_CLIP_DISTANCE6_EXT,
    GL_CLIP_DISTANCE7_EXT, GL_CLIP_ORIGIN_EXT, GL_COLOR_CLEAR_VALUE, GL_COLOR_LOGIC_OP,
    GL_COLOR_WRITEMASK, GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, GL_CULL_FACE, GL_CULL_FACE_MODE,
    GL_DEBUG_OUTPUT, GL_DEBUG_OUTPUT_SYNCHRONOUS, GL_DEPTH_CLAMP_EXT, GL_DEPTH_CLEAR_VALUE,
    GL_DEPTH_FUNC, GL_DEPTH_RANGE, GL_DEPTH_TEST, GL_DEPTH_WRITEMASK, GL_DISPATCH_INDIRECT_BUFFER,
    GL_DITHER, GL_DRAW_INDIRECT_BUFFER, GL_FRAGMENT_SHADER_DERIVATIVE_HINT,
    GL_FRAMEBUFFER_SRGB_EXT, GL_FRONT, GL_FRONT_FACE, GL_GENERATE_MIPMAP_HINT, GL_LINE_SMOOTH,
    GL_LINE_SMOOTH_HINT, GL_LINE_WIDTH, GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
    GL_MAX_SAMPLE_MASK_WORDS, GL_MAX_SHADER_COMPILER_THREADS_KHR,
    GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS, GL_MAX_UNIFORM_BUFFER_BINDINGS,
    GL_MIN_SAMPLE_SHADING_VALUE, GL_MULTISAMPLE_EXT, GL_PACK_ALIGNMENT,
    GL_PACK_COMPRESSED_BLOCK_DEPTH, GL_PACK_COMPRESSED_BLOCK_HEIGHT, GL_PACK_COMPRESSED_BLOCK_SIZE,
    GL_PACK_COMPRESSED_BLOCK_WIDTH, GL_PACK_IMAGE_HEIGHT, GL_PACK_LSB_FIRST,
    GL_PACK_REVERSE_ROW_ORDER_ANGLE, GL_PACK_ROW_LENGTH, GL_PACK_SKIP_IMAGES, GL_PACK_SKIP_PIXELS,
    GL_PACK_SKIP_ROWS, GL_PACK_SWAP_BYTES, GL_PARAMETER_BUFFER, GL_PATCH_VERTICES,
    GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER, GL_POLYGON_OFFSET_CLAMP_EXT,
    GL_POLYGON_OFFSET_FACTOR, GL_POLYGON_OFFSET_FILL, GL_POLYGON_OFFSET_LINE_NV,
    GL_POLYGON_OFFSET_POINT_NV, GL_POLYGON_OFFSET_UNITS, GL_POLYGON_SMOOTH, GL_POLYGON_SMOOTH_HINT,
    GL_PRIMITIVE_RESTART, GL_PRIMITIVE_RESTART_FIXED_INDEX, GL_PROGRAM_POINT_SIZE, GL_QUERY_BUFFER,
    GL_RASTERIZER_DISCARD, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_ALPHA_TO_ONE_EXT,
    GL_SAMPLE_COVERAGE, GL_SAMPLE_COVERAGE_INVERT, GL_SAMPLE_COVERAGE_VALUE, GL_SAMPLE_MASK,
    GL_SAMPLE_MASK_VALUE, GL_SAMPLE_SHADING, GL_SCISSOR_BOX, GL_SCISSOR_TEST,
    GL_SHADER_STORAGE_BUFFER, GL_SHADER_STORAGE_BUFFER_BINDING, GL_SHADER_STORAGE_BUFFER_SIZE,
    GL_SHADER_STORAGE_BUFFER_START, GL_STENCIL_BACK_FAIL, GL_STENCIL_BACK_FUNC,
    GL_STENCIL_BACK_PASS_DEPTH_FAIL, GL_STENCIL_BACK_PASS_DEPTH_PASS, GL_STENCIL_BACK_REF,
    GL_STENCIL_BACK_VALUE_MASK, GL_STENCIL_BACK_WRITEMASK, GL_STENCIL_CLEAR_VALUE, GL_STENCIL_FAIL,
    GL_STENCIL_FUNC, GL_STENCIL_PASS_DEPTH_FAIL, GL_STENCIL_PASS_DEPTH_PASS, GL_STENCIL_REF,
    GL_STENCIL_TEST, GL_STENCIL_VALUE_MASK, GL_STENCIL_WRITEMASK, GL_TEXTURE_BUFFER,
    GL_TEXTURE_COMPRESSION_HINT, GL_TEXTURE_CUBE_MAP_SEAMLESS, GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_UNIFORM_BUFFER, GL_UNIFORM_BUFFER_BINDING, GL_UNIFORM_BUFFER_SIZE, GL_UNIFORM_BUFFER_START,
    GL_UNPACK_ALIGNMENT, GL_UNPACK_COMPRESSED_BLOCK_DEPTH, GL_UNPACK_COMPRESSED_BLOCK_HEIGHT,
    GL_UNPACK_COMPRESSED_BLOCK_SIZE, GL_UNPACK_COMPRESSED_BLOCK_WIDTH, GL_UNPACK_IMAGE_HEIGHT,
    GL_UNPACK_LSB_FIRST, GL_UNPACK_ROW_LENGTH, GL_UNPACK_SKIP_IMAGES, GL_UNPACK_SKIP_PIXELS,
    GL_UNPACK_SKIP_ROWS, GL_UNPACK_SWAP_BYTES, GL_VIEWPORT,
};
use gapii_state::read_back::{Driver, NEVER};
use gapii_state::{Buffer, BufferRange, Context, ContextApi, Process, Ref};

use super::buffers::{self, Known};
use super::emit::Emitter;
use super::held::Held;
use super::identity::{self, Kind};
use super::window_rectangles::WindowRectangles;
use super::{
    capability, desktop, fixed_function, gl, held_buffers, indexed_blending, renderbuffers,
    stencil_bits, texture_units, viewports,
};
use crate::driver_calls::Gl;
use crate::generated::ids;
use crate::generated::ids::*;

/// Since when a context has a part of its state.
struct Since {
    /// Version of OpenGL ES.
    es: (u8, u8),
    /// Version of OpenGL.
    desktop: (u8, u8),
    /// Extensions that have it in earlier versions.
    extensions: &'static [&'static str],
}

impl Since {
    fn is_in(&self, driver: &Gl) -> bool {
        driver.is_at_least(self.es, self.desktop)
            || self.extensions.iter().any(|name| driver.has(name))
    }
}

const ALWAYS: Since = since((2, 0), (1, 0), &[]);

const fn since(es: (u8, u8), desktop: (u8, u8), extensions: &'static [&'static str]) -> Since {
    Since { es, desktop, extensions }
}

/// State that OpenGL has, and no version of OpenGL ES without an extension.
const fn in_desktop(version: (u8, u8), extensions: &'static [&'static str]) -> Since {
    since(NEVER, version, extensions)
}

/// State that no version has without an extension.
const fn of_extension(extensions: &'static [&'static str]) -> Since {
    since(NEVER, NEVER, extensions)
}

const CLIP_DISTANCES: Since =
    in_desktop((3, 0), &["GL_EXT_clip_cull_distance", "GL_APPLE_clip_distance"]);
const MULTISAMPLE: Since = in_desktop((1, 3), &["GL_EXT_multisample_compatibility"]);
const POLYGON_OFFSETS: Since = in_desktop((1, 1), &["GL_NV_polygon_mode"]);
const DEBUG: Since = since((3, 2), (4, 3), &["GL_KHR_debug"]);
const SAMPLE_MASK: Since = since((3, 1), (3, 2), &[]);
const SAMPLE_SHADING: Since = since((3, 2), (4, 0), &["GL_OES_sample_shading"]);

/// Capabilities of `glEnable`.
const CAPABILITIES: [(u32, Since); 36] = [
    (GL_BLEND, ALWAYS),
    (GL_CULL_FACE, ALWAYS),
    (GL_DEPTH_TEST, ALWAYS),
    (GL_DITHER, ALWAYS),
    (GL_POLYGON_OFFSET_FILL, ALWAYS),
    (GL_SAMPLE_ALPHA_TO_COVERAGE, since((2, 0), (1, 3), &[])),
    (GL_SAMPLE_COVERAGE, since((2, 0), (1, 3), &[])),
    (GL_SCISSOR_TEST, ALWAYS),
    (GL_STENCIL_TEST, ALWAYS),
    (GL_RASTERIZER_DISCARD, since((3, 0), (3, 0), &[])),
    (GL_PRIMITIVE_RESTART_FIXED_INDEX, since((3, 0), (4, 3), &[])),
    (GL_SAMPLE_MASK, SAMPLE_MASK),
    (GL_SAMPLE_SHADING, SAMPLE_SHADING),
    (GL_DEBUG_OUTPUT, DEBUG),
    (GL_DEBUG_OUTPUT_SYNCHRONOUS, DEBUG),
    (GL_BLEND_ADVANCED_COHERENT_KHR, of_extension(&["GL_KHR_blend_equation_advanced_coherent"])),
    (GL_FRAMEBUFFER_SRGB_EXT, in_desktop((3, 0), &["GL_EXT_sRGB_write_control"])),
    (GL_DEPTH_CLAMP_EXT, in_desktop((3, 2), &["GL_EXT_depth_clamp", "GL_ARB_depth_clamp"])),
    (GL_MULTISAMPLE_EXT, MULTISAMPLE),
    (GL_SAMPLE_ALPHA_TO_ONE_EXT, MULTISAMPLE),
    (GL_POLYGON_OFFSET_LINE_NV, POLYGON_OFFSETS),
    (GL_POLYGON_OFFSET_POINT_NV, POLYGON_OFFSETS),
    (GL_CLIP_DISTANCE0_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE1_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE2_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE3_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE4_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE5_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE6_EXT, CLIP_DISTANCES),
    (GL_CLIP_DISTANCE7_EXT, CLIP_DISTANCES),
    (GL_LINE_SMOOTH, in_desktop((1, 0), &[])),
    (GL_POLYGON_SMOOTH, in_desktop((1, 0), &[])),
    (GL_COLOR_LOGIC_OP, in_desktop((1, 1), &[])),
    (GL_PRIMITIVE_RESTART, in_desktop((3, 1), &[])),
    (GL_PROGRAM_POINT_SIZE, in_desktop((2, 0), &[])),
    (GL_TEXTURE_CUBE_MAP_SEAMLESS, in_desktop((3, 2), &["GL_ARB_seamless_cube_map"])),
];

const UNPACK: Since = since((3, 0), (1, 0), &["GL_EXT_unpack_subimage"]);
const PACK: Since = since((3, 0), (1, 0), &["GL_NV_pack_subimage"]);
const OF_IMAGES: Since = since((3, 0), (1, 2), &[]);
const OF_PACKED_IMAGES: Since = in_desktop((1, 2), &[]);
const OF_BYTES: Since = in_desktop((1, 0), &[]);
const OF_BLOCKS: Since = in_desktop((4, 2), &["GL_ARB_compressed_texture_pixel_storage"]);

/// Parameters of `glPixelStorei`.
const PIXEL_STORES: [(u32, Since); 25] = [
    (GL_UNPACK_ALIGNMENT, ALWAYS),
    (GL_PACK_ALIGNMENT, ALWAYS),
    (GL_UNPACK_ROW_LENGTH, UNPACK),
    (GL_UNPACK_SKIP_ROWS, UNPACK),
    (GL_UNPACK_SKIP_PIXELS, UNPACK),
    (GL_UNPACK_SKIP_IMAGES, OF_IMAGES),
    (GL_UNPACK_IMAGE_HEIGHT, OF_IMAGES),
    (GL_PACK_ROW_LENGTH, PACK),
    (GL_PACK_SKIP_ROWS, PACK),
    (GL_PACK_SKIP_PIXELS, PACK),
    (GL_PACK_REVERSE_ROW_ORDER_ANGLE, of_extension(&["GL_ANGLE_pack_reverse_row_order"])),
    (GL_PACK_SKIP_IMAGES, OF_PACKED_IMAGES),
    (GL_PACK_IMAGE_HEIGHT, OF_PACKED_IMAGES),
    (GL_UNPACK_SWAP_BYTES, OF_BYTES),
    (GL_UNPACK_LSB_FIRST, OF_BYTES),
    (GL_PACK_SWAP_BYTES, OF_BYTES),
    (GL_PACK_LSB_FIRST, OF_BYTES),
    (GL_UNPACK_COMPRESSED_BLOCK_WIDTH, OF_BLOCKS),
    (GL_UNPACK_COMPRESSED_BLOCK_HEIGHT, OF_BLOCKS),
    (GL_UNPACK_COMPRESSED_BLOCK_DEPTH, OF_BLOCKS),
    (GL_UNPACK_COMPRESSED_BLOCK_SIZE, OF_BLOCKS),
    (GL_PACK_COMPRESSED_BLOCK_WIDTH, OF_BLOCKS),
    (GL_PACK_COMPRESSED_BLOCK_HEIGHT, OF_BLOCKS),
    (GL_PACK_COMPRESSED_BLOCK_DEPTH, OF_BLOCKS),
    (GL_PACK_COMPRESSED_BLOCK_SIZE, OF_BLOCKS),
];

/// Hints of `glHint`. The core profile has no hint for mipmaps.
const HINTS: [(u32, Since); 5] = [
    (GL_GENERATE_MIPMAP_HINT, since((2, 0), NEVER, &[])),
    (GL_FRAGMENT_SHADER_DERIVATIVE_HINT, since((3, 0), (2, 0), &["GL_OES_standard_derivatives"])),
    (GL_LINE_SMOOTH_HINT, in_desktop((1, 0), &[])),
    (GL_POLYGON_SMOOTH_HINT, in_desktop((1, 0), &[])),
    (GL_TEXTURE_COMPRESSION_HINT, in_desktop((1, 3), &[])),
];

const TEXTURE_BUFFERS: Since =
    since((3, 2), (3, 1), &["GL_EXT_texture_buffer", "GL_OES_texture_buffer"]);

const PIXEL_BUFFERS: Since = since((3, 0), (2, 1), &["GL_NV_pixel_buffer_object"]);
const COPY_BUFFERS: Since = since((3, 0), (3, 1), &["GL_NV_copy_buffer"]);

/// A target of buffers that is no part of a vertex array.
type Bound = (u32, Since);
const BUFFER_TARGETS: [Bound; 14] = [
    (GL_UNIFORM_BUFFER, since((3, 0), (3, 1), &[])),
    (GL_SHADER_STORAGE_BUFFER, since((3, 1), (4, 3), &[])),
    (GL_ATOMIC_COUNTER_BUFFER, since((3, 1), (4, 2), &[])),
    (GL_TRANSFORM_FEEDBACK_BUFFER, since((3, 0), (3, 0), &[])),
    (GL_COPY_READ_BUFFER, COPY_BUFFERS),
    (GL_COPY_WRITE_BUFFER, COPY_BUFFERS),
    (GL_PIXEL_PACK_BUFFER, PIXEL_BUFFERS),
    (GL_PIXEL_UNPACK_BUFFER, PIXEL_BUFFERS),
    (GL_DRAW_INDIRECT_BUFFER, since((3, 1), (4, 0), &[])),
    (GL_DISPATCH_INDIRECT_BUFFER, since((3, 1), (4, 3), &[])),
    (GL_TEXTURE_BUFFER, TEXTURE_BUFFERS),
    (GL_QUERY_BUFFER, in_desktop((4, 4), &[])),
    (GL_PARAMETER_BUFFER, in_desktop((4, 6), &[])),
    (GL_ARRAY_BUFFER, since((2, 0), (1, 5), &[])),
];

/// Buffers that are bound by number.
pub struct Indexed {
    pub target: u32,
    pub binding: u32,
    pub start: u32,
    pub size: u32,
    /// How many numbers there are.
    pub count: u32,
    /// The version of OpenGL ES, and that of OpenGL.
    pub since: ((u8, u8), (u8, u8)),
}

/// What the state has at indexed binding points.
type Ranges = fn(&Context) -> &[BufferRange];

const INDEXED: [(Indexed, Ranges); 3] = [
    // Uniform, shader storage and atomic counter buffers.
    (
        Indexed {
            target: GL_UNIFORM_BUFFER,
            binding: GL_UNIFORM_BUFFER_BINDING,
            start: GL_UNIFORM_BUFFER_START,
            size: GL_UNIFORM_BUFFER_SIZE,
            count: GL_MAX_UNIFORM_BUFFER_BINDINGS,
            since: ((3, 0), (3, 1)),
        },
        |context| &context.uniform_buffers,
    ),
    (
        Indexed {
            target: GL_SHADER_STORAGE_BUFFER,
            binding: GL_SHADER_STORAGE_BUFFER_BINDING,
            start: GL_SHADER_STORAGE_BUFFER_START,
            size: GL_SHADER_STORAGE_BUFFER_SIZE,
            count: GL_MAX_SHADER_STORAGE_BUFFER_BINDINGS,
            since: ((3, 1), (4, 3)),
        },
        |context| &context.shader_storage_buffers,
    ),
    (
        Indexed {
            target: GL_ATOMIC_COUNTER_BUFFER,
            binding: GL_ATOMIC_COUNTER_BUFFER_BINDING,
            start: GL_ATOMIC_COUNTER_BUFFER_START,
            size: GL_ATOMIC_COUNTER_BUFFER_SIZE,
            count: GL_MAX_ATOMIC_COUNTER_BUFFER_BINDINGS,
            since: ((3, 1), (4, 2)),
        },
        |context| &context.atomic_counter_buffers,
    ),
];

impl Indexed {
    /// Describes what is bound at the indexed binding points. They belong to the context, or to the transform feedback
    /// that is bound. `tracked` is what the state has there.
    pub fn describe_points(
        &self,
        emitter: &mut Emitter,
        context: &Context,
        tracked: &[BufferRange],
    ) {
        for index in 0..gl::integer(self.count).clamp(0, 128) as u32 {
            let asked = gl::integer_at(self.binding, index) as u32;
            if asked == 0 {
                continue;
            }
            let tracked = tracked.get(index as usize).map(|it| it.buffer).unwrap_or_default();
            let Some(name) = self.described_buffer(emitter, context, asked, tracked) else {
                emitter.leave_out_of("what is bound of a deleted buffer, once called", asked);
                continue;
            };
            let [start, size] =
                [self.start, self.size].map(|what| gl::wide_integer_at(what, index));
            let id = if size > 0 { GL_BIND_BUFFER_RANGE } else { GL_BIND_BUFFER_BASE };
            let command = emitter.command(id).arg(self.target).arg(index).arg(name);
            if size > 0 { command.arg(start).arg(size).done() } else { command.done() }
        }
    }

    /// Returns the name under which the stream has the buffer that the driver calls `asked`, and that is the tracked one if
    /// that has or had the name. `None` for a deleted buffer that the state does not have any more.
    fn described_buffer(
        &self,
        emitter: &mut Emitter,
        context: &Context,
        asked: u32,
        tracked: Ref<Buffer>,
    ) -> Option<u32> {
        let (object, known) = {
            let group = context.group.lock();
            // Drivers give a name out again that is still bound in other contexts, and in transform feedbacks that are not bound.
            let object = match Held::find(&group.buffers, asked, tracked) {
                Held::Named(name) => return Some(name),
                Held::Nameless(object) => object,
                Held::Unknown => return None,
            };
            (object, Known::of(group.buffers.get(object)?))
        };
        if identity::is_first(context, Kind::Buffer, object) {
            let name = identity::spare_name(object);
            buffers::describe_with_contents(emitter, name, known, &[]);
            // Another context may lead to the contents.
            identity::note_part(context, Kind::Buffer, object);
            // A transform feedback shows the contents of its buffers to nobody.
            if self.target != GL_TRANSFORM_FEEDBACK_BUFFER {
                emitter.leave_out_of("the contents of a deleted buffer, once called", asked);
            }
        }
        Some(identity::spare_name(object))
    }
}

/// Describes all that is set in a context of OpenGL ES 2.0 or later, or of OpenGL.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    let Some(driver) = Gl::current() else { return };
    describe_settings(emitter, process, context, &driver);
    texture_units::describe(emitter, process, context);
    fixed_function::describe_pixel_transfer(emitter, &driver);
    describe_indexed_buffers(emitter, context);
    describe_buffers(emitter, context, &driver, &BUFFER_TARGETS);
    renderbuffers::describe_binding(emitter, process, context);
    describe_pixel_parameters(emitter, &driver);
}

/// Describes what is set and is no object.
pub fn describe_settings(emitter: &mut Emitter, process: &Process, context: &Context, driver: &Gl) {
    for (name, _) in CAPABILITIES.iter().filter(|(_, since)| since.is_in(driver)) {
        capability::describe(emitter, *name);
    }
    describe_pixel_operations(emitter, driver);
    indexed_blending::describe(emitter, driver);
    describe_rasterization_of_extensions(emitter, driver);
    describe_stencil(emitter, process, context);
    describe_rasterization(emitter, driver);
    if context.api != ContextApi::Es {
        desktop::describe(emitter, context, driver);
    }
    viewports::describe(emitter, driver);
    describe_samples(emitter, driver);
}

/// Describes the parameters of glPixelStore, and the buffers of pixels.
pub fn describe_pixel_stores(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let is_of_pixels =
        |(target, _): &&Bound| [GL_PIXEL_PACK_BUFFER, GL_PIXEL_UNPACK_BUFFER].contains(target);
    describe_buffers(emitter, context, driver, BUFFER_TARGETS.iter().filter(is_of_pixels));
    describe_pixel_parameters(emitter, driver);
}

fn describe_pixel_parameters(emitter: &mut Emitter, driver: &Gl) {
    for (name, _) in PIXEL_STORES.iter().filter(|(_, since)| since.is_in(driver)) {
        emitter.command(GL_PIXEL_STOREI).arg(*name).arg(gl::integer(*name)).done();
    }
}

fn describe_rasterization_of_extensions(emitter: &mut Emitter, driver: &Gl) {
    if driver.has("GL_EXT_clip_control") {
        let [origin, depth] = [GL_CLIP_ORIGIN_EXT, GL_CLIP_DEPTH_MODE_EXT].map(gl::integer);
        emitter.command(GL_CLIP_CONTROL_EXT).arg(origin).arg(depth).done();
    }
    if driver.is_at_least(NEVER, (4, 6)) || driver.has("GL_EXT_polygon_offset_clamp") {
        let ([factor], [units]) =
            (gl::floats::<1>(GL_POLYGON_OFFSET_FACTOR), gl::floats::<1>(GL_POLYGON_OFFSET_UNITS));
        let [clamp] = gl::floats::<1>(GL_POLYGON_OFFSET_CLAMP_EXT);
        if clamp != 0.0 {
            let command = emitter.command(ids::GL_POLYGON_OFFSET_CLAMP_EXT).arg(factor).arg(units);
            command.arg(clamp).done();
        }
    }
    if let Some(rectangles) = WindowRectangles::ask(driver) {
        rectangles.describe(emitter);
    }
    if driver.has("GL_KHR_parallel_shader_compile") {
        let threads = gl::integer(GL_MAX_SHADER_COMPILER_THREADS_KHR);
        emitter.command(ids::GL_MAX_SHADER_COMPILER_THREADS_KHR).arg(threads).done();
    }
}

fn describe_pixel_operations(emitter: &mut Emitter, driver: &Gl) {
    // Source and destination of colour, and of alpha.
    let [source, target, alpha, to_alpha] =
        [GL_BLEND_SRC_RGB, GL_BLEND_DST_RGB, GL_BLEND_SRC_ALPHA, GL_BLEND_DST_ALPHA]
            .map(gl::integer);
    let command = emitter.command(GL_BLEND_FUNC_SEPARATE).arg(source).arg(target);
    command.arg(alpha).arg(to_alpha).done();
    let [color, alpha] = [GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA].map(gl::integer);
    indexed_blending::describe_equation(emitter, color, alpha);
    let [r, g, b, a] = gl::floats::<4>(GL_BLEND_COLOR);
    emitter.command(ids::GL_BLEND_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::booleans::<4>(GL_COLOR_WRITEMASK);
    emitter.command(GL_COLOR_MASK).arg(r).arg(g).arg(b).arg(a).done();
    let [r, g, b, a] = gl::floats::<4>(GL_COLOR_CLEAR_VALUE);
    emitter.command(GL_CLEAR_COLOR).arg(r).arg(g).arg(b).arg(a).done();
    describe_depths(emitter, driver);
    emitter.command(GL_CLEAR_STENCIL).arg(gl::integer(GL_STENCIL_CLEAR_VALUE)).done();
    let [mask] = gl::booleans::<1>(GL_DEPTH_WRITEMASK);
    emitter.command(GL_DEPTH_MASK).arg(mask).done();
    emitter.command(ids::GL_DEPTH_FUNC).arg(gl::integer(GL_DEPTH_FUNC)).done();
    let ([factor], [units]) =
        (gl::floats::<1>(GL_POLYGON_OFFSET_FACTOR), gl::floats::<1>(GL_POLYGON_OFFSET_UNITS));
    emitter.command(GL_POLYGON_OFFSET).arg(factor).arg(units).done();
    let [x, y, width, height] = gl::integers::<4>(GL_SCISSOR_BOX);
    emitter.command(GL_SCISSOR).arg(x).arg(y).arg(width).arg(height).done();
    let [x, y, width, height] = gl::integers::<4>(GL_VIEWPORT);
    emitter.command(ids::GL_VIEWPORT).arg(x).arg(y).arg(width).arg(height).done();
}

/// Describes the depth of clears, and the range of depths. In OpenGL they have double precision.
fn describe_depths(emitter: &mut Emitter, driver: &Gl) {
    if driver.api() == ContextApi::Es {
        let [depth] = gl::floats::<1>(GL_DEPTH_CLEAR_VALUE);
        emitter.command(GL_CLEAR_DEPTHF).arg(depth).done();
        let [near, far] = gl::floats::<2>(GL_DEPTH_RANGE);
        emitter.command(GL_DEPTH_RANGEF).arg(near).arg(far).done();
        return;
    }
    let [depth] = gl::doubles::<1>(GL_DEPTH_CLEAR_VALUE);
    emitter.command(GL_CLEAR_DEPTH).arg(depth).done();
    let [near, far] = gl::doubles::<2>(GL_DEPTH_RANGE);
    emitter.command(ids::GL_DEPTH_RANGE).arg(near).arg(far).done();
}

fn describe_stencil(emitter: &mut Emitter, process: &Process, context: &Context) {
    stencil_bits::with_all(process, context, || describe_stencil_faces(emitter));
}

fn describe_stencil_faces(emitter: &mut Emitter) {
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

fn describe_rasterization(emitter: &mut Emitter, driver: &Gl) {
    emitter.command(ids::GL_CULL_FACE).arg(gl::integer(GL_CULL_FACE_MODE)).done();
    emitter.command(ids::GL_FRONT_FACE).arg(gl::integer(GL_FRONT_FACE)).done();
    let [width] = gl::floats::<1>(GL_LINE_WIDTH);
    emitter.command(ids::GL_LINE_WIDTH).arg(width).done();
    let ([value], [inverted]) =
        (gl::floats::<1>(GL_SAMPLE_COVERAGE_VALUE), gl::booleans::<1>(GL_SAMPLE_COVERAGE_INVERT));
    emitter.command(ids::GL_SAMPLE_COVERAGE).arg(value).arg(inverted).done();
    for (name, _) in HINTS.iter().filter(|(_, since)| since.is_in(driver)) {
        emitter.command(GL_HINT).arg(*name).arg(gl::integer(*name)).done();
    }
}

/// The commands of OpenGL ES 3.2 for samples and patches, and those of the extensions that have them earlier.
const SHADE_SAMPLES: [(Since, u16); 2] = [
    (since((3, 2), (4, 0), &[]), GL_MIN_SAMPLE_SHADING),
    (of_extension(&["GL_OES_sample_shading"]), GL_MIN_SAMPLE_SHADING_OES),
];
const SET_PATCHES: [(Since, u16); 3] = [
    (since((3, 2), (4, 0), &[]), GL_PATCH_PARAMETERI),
    (of_extension(&["GL_EXT_tessellation_shader"]), GL_PATCH_PARAMETERI_EXT),
    (of_extension(&["GL_OES_tessellation_shader"]), GL_PATCH_PARAMETERI_OES),
];
const SET_BOXES: [(Since, u16); 3] = [
    (since((3, 2), NEVER, &["GL_ARB_ES3_2_compatibility"]), GL_PRIMITIVE_BOUNDING_BOX),
    (of_extension(&["GL_EXT_primitive_bounding_box"]), GL_PRIMITIVE_BOUNDING_BOX_EXT),
    (of_extension(&["GL_OES_primitive_bounding_box"]), GL_PRIMITIVE_BOUNDING_BOX_OES),
];

/// Returns the first command of a list that the context has.
fn command_of(commands: &[(Since, u16)], driver: &Gl) -> Option<u16> {
    commands.iter().find(|(since, _)| since.is_in(driver)).map(|(_, id)| *id)
}

fn describe_samples(emitter: &mut Emitter, driver: &Gl) {
    const GL_PRIMITIVE_BOUNDING_BOX_NAME: u32 = constants::GL_PRIMITIVE_BOUNDING_BOX;
    if SAMPLE_MASK.is_in(driver) {
        for word in 0..gl::integer(GL_MAX_SAMPLE_MASK_WORDS).clamp(1, 32) as u32 {
            let mask = gl::integer_at(GL_SAMPLE_MASK_VALUE, word);
            emitter.command(GL_SAMPLE_MASKI).arg(word).arg(mask).done();
        }
    }
    if let Some(id) = command_of(&SHADE_SAMPLES, driver) {
        let [share] = gl::floats::<1>(GL_MIN_SAMPLE_SHADING_VALUE);
        emitter.command(id).arg(share).done();
    }
    if let Some(id) = command_of(&SET_PATCHES, driver) {
        let vertices = gl::integer(GL_PATCH_VERTICES);
        emitter.command(id).arg(GL_PATCH_VERTICES).arg(vertices).done();
    }
    if let Some(id) = command_of(&SET_BOXES, driver) {
        let corners = gl::floats::<8>(GL_PRIMITIVE_BOUNDING_BOX_NAME);
        let command = emitter.command(id);
        corners.into_iter().fold(command, |command, corner| command.arg(corner)).done();
    }
}

fn describe_indexed_buffers(emitter: &mut Emitter, context: &Context) {
    for (indexed, tracked) in INDEXED.iter().filter(|(it, _)| context.has(it.since.0, it.since.1)) {
        indexed.describe_points(emitter, context, tracked(context));
    }
}

fn describe_buffers<'a>(
    emitter: &mut Emitter,
    context: &Context,
    driver: &Gl,
    all: impl IntoIterator<Item = &'a Bound>,
) {
    let targets = held_buffers::targets(context);
    for (target, _) in all.into_iter().filter(|(_, since)| since.is_in(driver)) {
        let bound = targets.iter().find(|(it, _)| it == target).map(|(_, buffer)| *buffer);
        let bound = bound.unwrap_or_default();
        let name = {
            let group = context.group.lock();
            identity::described_name(context, Kind::Buffer, &group.buffers, bound)
        };
        if name.is_none() {
            let once = bound.name() as u32;
            emitter.leave_out_of("what is bound of a deleted buffer, once called", once);
        }
        emitter.command(GL_BIND_BUFFER).arg(*target).arg(name.unwrap_or(0)).done();
    }
}
