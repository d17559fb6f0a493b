//! State of an OpenGL ES 1 context: lights (at most 8), clip planes (at most 6), matrices, texture environments (at
//! most 32 units), client arrays ([`client_arrays`]). Matrix palettes are listed as missing. The compatibility profile of
//! OpenGL shares some of the functions ([`super::fixed_function`]).
//!
//! The driver returns lights and clip planes in eye coordinates, so the snapshot sets them while the modelview matrix is
//! the identity.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ALPHA_SCALE, GL_ALPHA_TEST, GL_ALPHA_TEST_FUNC, GL_ALPHA_TEST_REF, GL_AMBIENT,
    GL_ARRAY_BUFFER, GL_BLEND, GL_BLEND_DST, GL_BLEND_DST_ALPHA, GL_BLEND_DST_RGB,
    GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA, GL_BLEND_SRC, GL_BLEND_SRC_ALPHA, GL_BLEND_SRC_RGB,
    GL_CLIP_PLANE0, GL_COLOR_CLEAR_VALUE, GL_COLOR_LOGIC_OP, GL_COLOR_MATERIAL, GL_COLOR_WRITEMASK,
    GL_COMBINE_ALPHA, GL_COMBINE_RGB, GL_CONSTANT_ATTENUATION, GL_CULL_FACE, GL_CULL_FACE_MODE,
    GL_CURRENT_COLOR, GL_CURRENT_NORMAL, GL_CURRENT_TEXTURE_COORDS, GL_DEPTH_CLEAR_VALUE,
    GL_DEPTH_FUNC, GL_DEPTH_RANGE, GL_DEPTH_TEST, GL_DEPTH_WRITEMASK, GL_DIFFUSE, GL_DITHER,
    GL_ELEMENT_ARRAY_BUFFER, GL_EMISSION, GL_FOG, GL_FOG_COLOR, GL_FOG_DENSITY, GL_FOG_END,
    GL_FOG_HINT, GL_FOG_MODE, GL_FOG_START, GL_FRONT, GL_FRONT_AND_BACK, GL_FRONT_FACE,
    GL_GENERATE_MIPMAP, GL_GENERATE_MIPMAP_HINT, GL_LIGHT_MODEL_AMBIENT, GL_LIGHT_MODEL_TWO_SIDE,
    GL_LIGHT0, GL_LIGHTING, GL_LINE_SMOOTH, GL_LINE_SMOOTH_HINT, GL_LINE_WIDTH,
    GL_LINEAR_ATTENUATION, GL_LOGIC_OP_MODE, GL_MATRIX_PALETTE_OES, GL_MAX_CLIP_PLANES,
    GL_MAX_LIGHTS, GL_MULTISAMPLE, GL_NORMALIZE, GL_OPERAND0_ALPHA, GL_OPERAND0_RGB,
    GL_OPERAND1_ALPHA, GL_OPERAND1_RGB, GL_OPERAND2_ALPHA, GL_OPERAND2_RGB, GL_PACK_ALIGNMENT,
    GL_PERSPECTIVE_CORRECTION_HINT, GL_POINT_DISTANCE_ATTENUATION, GL_POINT_FADE_THRESHOLD_SIZE,
    GL_POINT_SIZE, GL_POINT_SIZE_MAX, GL_POINT_SIZE_MIN, GL_POINT_SMOOTH, GL_POINT_SMOOTH_HINT,
    GL_POLYGON_OFFSET_FACTOR, GL_POLYGON_OFFSET_FILL, GL_POLYGON_OFFSET_UNITS, GL_POSITION,
    GL_QUADRATIC_ATTENUATION, GL_RENDERBUFFER, GL_RENDERBUFFER_BINDING, GL_RESCALE_NORMAL,
    GL_RGB_SCALE, GL_SAMPLE_ALPHA_TO_COVERAGE, GL_SAMPLE_ALPHA_TO_ONE, GL_SAMPLE_COVERAGE,
    GL_SAMPLE_COVERAGE_INVERT, GL_SAMPLE_COVERAGE_VALUE, GL_SCISSOR_BOX, GL_SCISSOR_TEST,
    GL_SHADE_MODEL, GL_SHININESS, GL_SPECULAR, GL_SPOT_CUTOFF, GL_SPOT_DIRECTION, GL_SPOT_EXPONENT,
    GL_SRC0_ALPHA, GL_SRC0_RGB, GL_SRC1_ALPHA, GL_SRC1_RGB, GL_SRC2_ALPHA, GL_SRC2_RGB,
    GL_STENCIL_CLEAR_VALUE, GL_STENCIL_FAIL, GL_STENCIL_FUNC, GL_STENCIL_PASS_DEPTH_FAIL,
    GL_STENCIL_PASS_DEPTH_PASS, GL_STENCIL_REF, GL_STENCIL_TEST, GL_STENCIL_VALUE_MASK,
    GL_STENCIL_WRITEMASK, GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, GL_TEXTURE_BINDING_CUBE_MAP,
    GL_TEXTURE_BINDING_EXTERNAL_OES, GL_TEXTURE_CUBE_MAP, GL_TEXTURE_CUBE_MAP_OES, GL_TEXTURE_ENV,
    GL_TEXTURE_ENV_COLOR, GL_TEXTURE_ENV_MODE, GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE0,
    GL_UNPACK_ALIGNMENT, GL_VIEWPORT,
};
use gapii_state::read_back::Driver;
use gapii_state::{Context, Process, VertexArrays};

use super::emit::Emitter;
use super::texture_parameters::{Has, Parameters};
use super::{capability, client_arrays, es1_matrices, framebuffers, gl, stencil_bits, textures};
use crate::driver_calls::Gl;
use crate::generated::ids;
use crate::generated::ids::*;

/// Capabilities, and the extension that adds them; empty for those of OpenGL ES 1.1.
const CAPABILITIES: [(u32, &str); 21] = [
    (GL_ALPHA_TEST, ""),
    (GL_BLEND, ""),
    (GL_COLOR_LOGIC_OP, ""),
    (GL_CULL_FACE, ""),
    (GL_DEPTH_TEST, ""),
    (GL_DITHER, ""),
    (GL_FOG, ""),
    (GL_LIGHTING, ""),
    (GL_LINE_SMOOTH, ""),
    (GL_MULTISAMPLE, ""),
    (GL_NORMALIZE, ""),
    (GL_POINT_SMOOTH, ""),
    (GL_POLYGON_OFFSET_FILL, ""),
    (GL_RESCALE_NORMAL, ""),
    (GL_SAMPLE_ALPHA_TO_COVERAGE, ""),
    (GL_SAMPLE_ALPHA_TO_ONE, ""),
    (GL_SAMPLE_COVERAGE, ""),
    (GL_SCISSOR_TEST, ""),
    (GL_STENCIL_TEST, ""),
    (GL_POINT_SPRITE, "GL_OES_point_sprite"),
    (GL_MATRIX_PALETTE_OES, "GL_OES_matrix_palette"),
];
/// Capabilities of each texture unit.
const OF_UNITS: [(u32, &str); 4] = [
    (GL_TEXTURE_2D, ""),
    (GL_TEXTURE_CUBE_MAP_OES, "GL_OES_texture_cube_map"),
    (GL_TEXTURE_GEN_STR, "GL_OES_texture_cube_map"),
    (GL_TEXTURE_EXTERNAL_OES, "GL_OES_EGL_image_external"),
];
/// Texture targets: the query of the bound texture, and the extension that adds the target.
const TEXTURE_TARGETS: [(u32, u32, &str); 3] = [
    (GL_TEXTURE_2D, GL_TEXTURE_BINDING_2D, ""),
    (GL_TEXTURE_CUBE_MAP, GL_TEXTURE_BINDING_CUBE_MAP, "GL_OES_texture_cube_map"),
    (GL_TEXTURE_EXTERNAL_OES, GL_TEXTURE_BINDING_EXTERNAL_OES, "GL_OES_EGL_image_external"),
];
/// Parameters of a texture environment whose values are enumerants.
const ENVIRONMENT_NAMES: [u32; 15] = [
    GL_TEXTURE_ENV_MODE,
    GL_COMBINE_RGB,
    GL_COMBINE_ALPHA,
    GL_SRC0_RGB,
    GL_SRC1_RGB,
    GL_SRC2_RGB,
    GL_SRC0_ALPHA,
    GL_SRC1_ALPHA,
    GL_SRC2_ALPHA,
    GL_OPERAND0_RGB,
    GL_OPERAND1_RGB,
    GL_OPERAND2_RGB,
    GL_OPERAND0_ALPHA,
    GL_OPERAND1_ALPHA,
    GL_OPERAND2_ALPHA,
];
/// Parameters of a texture environment whose values are numbers.
const ENVIRONMENT_NUMBERS: [u32; 2] = [GL_RGB_SCALE, GL_ALPHA_SCALE];
/// Parameters of lights, each with its number of values.
const OF_LIGHTS: [(u32, usize); 10] = [
    (GL_AMBIENT, 4),
    (GL_DIFFUSE, 4),
    (GL_SPECULAR, 4),
    (GL_POSITION, 4),
    (GL_SPOT_DIRECTION, 3),
    (GL_SPOT_EXPONENT, 1),
    (GL_SPOT_CUTOFF, 1),
    (GL_CONSTANT_ATTENUATION, 1),
    (GL_LINEAR_ATTENUATION, 1),
    (GL_QUADRATIC_ATTENUATION, 1),
];
/// Parameters of materials, each with its number of values.
const OF_MATERIALS: [(u32, usize); 5] =
    [(GL_AMBIENT, 4), (GL_DIFFUSE, 4), (GL_SPECULAR, 4), (GL_EMISSION, 4), (GL_SHININESS, 1)];
/// Parameters of fog, each with its number of values.
const OF_FOG: [(u32, usize); 5] =
    [(GL_FOG_MODE, 1), (GL_FOG_DENSITY, 1), (GL_FOG_START, 1), (GL_FOG_END, 1), (GL_FOG_COLOR, 4)];
/// Parameters of points, each with its number of values.
const OF_POINTS: [(u32, usize); 4] = [
    (GL_POINT_SIZE_MIN, 1),
    (GL_POINT_SIZE_MAX, 1),
    (GL_POINT_FADE_THRESHOLD_SIZE, 1),
    (GL_POINT_DISTANCE_ATTENUATION, 3),
];
const HINTS: [u32; 5] = [
    GL_FOG_HINT,
    GL_LINE_SMOOTH_HINT,
    GL_PERSPECTIVE_CORRECTION_HINT,
    GL_POINT_SMOOTH_HINT,
    GL_GENERATE_MIPMAP_HINT,
];

const GL_TEXTURE_CROP_RECT: u32 = constants::GL_TEXTURE_CROP_RECT_OES;
const GL_TEXTURE_FILTER_CONTROL: u32 = constants::GL_TEXTURE_FILTER_CONTROL_EXT;
const GL_TEXTURE_LOD_BIAS: u32 = constants::GL_TEXTURE_LOD_BIAS_EXT;
const GL_TEXTURE_GEN_STR: u32 = constants::GL_TEXTURE_GEN_STR_OES;
const GL_TEXTURE_GEN_MODE: u32 = constants::GL_TEXTURE_GEN_MODE_OES;
const GL_POINT_SPRITE: u32 = constants::GL_POINT_SPRITE_OES;
const GL_COORD_REPLACE: u32 = constants::GL_COORD_REPLACE_OES;
const GL_ACTIVE_TEXTURE_NAME: u32 = constants::GL_ACTIVE_TEXTURE;

/// Describes parameters of two-dimensional textures that only OpenGL ES 1 has: mipmap generation and crop rectangles.
pub fn describe_textures(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let textures: Vec<u32> = {
        let group = context.group.lock();
        let flat = group.textures.named().filter(|(_, texture)| texture.target == GL_TEXTURE_2D);
        flat.map(|(object, _)| object.name() as u32).collect()
    };
    let bound = gl::integer(GL_TEXTURE_BINDING_2D) as u32;
    for name in textures {
        gl::bind_texture(GL_TEXTURE_2D, name);
        emitter.command(GL_BIND_TEXTURE).arg(GL_TEXTURE_2D).arg(name).done();
        describe_own_parameters(emitter, driver);
    }
    gl::bind_texture(GL_TEXTURE_2D, bound);
}

/// Describes the parameters of the textures with the name 0, which belong to the context.
fn describe_defaults(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let texture_has = Has::of(driver);
    textures::leave_out_default(emitter, context, texture_has);
    let has = |extension: &str| extension.is_empty() || driver.has(extension);
    for (target, ..) in TEXTURE_TARGETS.into_iter().filter(|(.., it)| has(it)) {
        let Some(bound) = textures::rebindable(context, target) else {
            emitter.leave_out("the parameters of a texture with the name 0");
            continue;
        };
        gl::bind_texture(target, 0);
        emitter.command(GL_BIND_TEXTURE).arg(target).arg(0_u32).done();
        Parameters::of_bound(target, texture_has).changed(target).describe(emitter, target);
        if target == GL_TEXTURE_2D {
            describe_own_parameters(emitter, driver);
        }
        gl::bind_texture(target, bound);
    }
}

/// Describes, of the bound two-dimensional texture, what only OpenGL ES 1 has: mipmap generation and crop rectangle.
fn describe_own_parameters(emitter: &mut Emitter, driver: &Gl) {
    let target = GL_TEXTURE_2D;
    let mut makes_levels = 0;
    // SAFETY: the parameter has one value.
    unsafe { gl::get_texture_integers(target, GL_GENERATE_MIPMAP, &raw mut makes_levels) };
    if makes_levels != 0 {
        emitter.command(GL_TEX_PARAMETERI).arg(target).arg(GL_GENERATE_MIPMAP).arg(1_i32).done();
    }
    if driver.has("GL_OES_draw_texture") {
        let mut crop = [0_i32; 4];
        // SAFETY: the parameter has four values.
        unsafe { gl::get_texture_integers(target, GL_TEXTURE_CROP_RECT, crop.as_mut_ptr()) };
        let bytes: Vec<u8> = crop.iter().flat_map(|it| it.to_le_bytes()).collect();
        let command = emitter.command(GL_TEX_PARAMETERIV).arg(target);
        let command = command.arg(GL_TEXTURE_CROP_RECT).arg(bytes.as_ptr());
        command.range(2, &bytes).done();
    }
}

/// Describes the state of the context, without the contents of its surface.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    let Some(driver) = Gl::current() else { return };
    let has = |extension: &str| extension.is_empty() || driver.has(extension);
    describe_arrays(emitter, &context.default_arrays, context);
    describe_lights(emitter);
    describe_clip_planes(emitter);
    describe_fog(emitter);
    describe_parameters(emitter);
    describe_defaults(emitter, context, &driver);
    describe_units(emitter, &has);
    es1_matrices::describe(emitter);
    describe_pixel_operations(emitter, (process, context), &has);
    describe_rasterization(emitter);
    for (name, _) in CAPABILITIES.iter().filter(|(_, extension)| has(extension)) {
        capability::describe(emitter, *name);
    }
    describe_materials(emitter, |emitter| describe_material(emitter, GL_FRONT, GL_FRONT_AND_BACK));
    for name in [GL_UNPACK_ALIGNMENT, GL_PACK_ALIGNMENT] {
        emitter.command(GL_PIXEL_STOREI).arg(name).arg(gl::integer(name)).done();
    }
    if has("GL_OES_matrix_palette") {
        emitter.leave_out("matrix palettes");
    }
    if has("GL_OES_framebuffer_object") {
        framebuffers::describe(emitter, process, context, None).leave_out(emitter, context);
        let renderbuffer = gl::integer(GL_RENDERBUFFER_BINDING);
        emitter.command(GL_BIND_RENDERBUFFER_OES).arg(GL_RENDERBUFFER).arg(renderbuffer).done();
    }
}

/// Describes the lights and what all lights share. The modelview matrix of the replay is the identity.
pub fn describe_lights(emitter: &mut Emitter) {
    for light in (GL_LIGHT0..).take(gl::integer(GL_MAX_LIGHTS).clamp(0, 8) as usize) {
        for (name, count) in OF_LIGHTS {
            let mut values = [0.0; 4];
            // SAFETY: no parameter has more than four values.
            unsafe { gl::get_light(light, name, values.as_mut_ptr()) };
            let command = emitter.command(GL_LIGHTFV).arg(light).arg(name);
            command.numbers(&values[..count]).done();
        }
        capability::describe(emitter, light);
    }
    let ambient = gl::floats::<4>(GL_LIGHT_MODEL_AMBIENT);
    emitter.command(GL_LIGHT_MODELFV).arg(GL_LIGHT_MODEL_AMBIENT).numbers(&ambient).done();
    let [two_side] = gl::floats::<1>(GL_LIGHT_MODEL_TWO_SIDE);
    emitter.command(GL_LIGHT_MODELF).arg(GL_LIGHT_MODEL_TWO_SIDE).arg(two_side).done();
}

/// Describes the materials by `describe`, and then `GL_COLOR_MATERIAL`, which gives them the current color. What Mesa 22.3 has not
/// drawn with by then it keeps, so materials may have other values than the color although the capability is enabled.
pub fn describe_materials(emitter: &mut Emitter, describe: impl FnOnce(&mut Emitter)) {
    let is_enabled = gl::is_enabled(GL_COLOR_MATERIAL) != 0;
    if is_enabled {
        // Only the materials wait to be drawn with, not the current color.
        ask_for_color(emitter);
        emitter.command(ids::GL_FLUSH).done();
    }
    describe(emitter);
    if is_enabled {
        emitter.command(GL_ENABLE).arg(GL_COLOR_MATERIAL).done();
    }
    ask_for_color(emitter);
}

/// Describes the material of a face for `faces`.
pub fn describe_material(emitter: &mut Emitter, face: u32, faces: u32) {
    for (name, count) in OF_MATERIALS {
        let mut values = [0.0; 4];
        // SAFETY: no parameter has more than four values.
        unsafe { gl::get_material(face, name, values.as_mut_ptr()) };
        let command = emitter.command(GL_MATERIALFV).arg(faces).arg(name);
        command.numbers(&values[..count]).done();
    }
}

fn describe_clip_planes(emitter: &mut Emitter) {
    for plane in (GL_CLIP_PLANE0..).take(gl::integer(GL_MAX_CLIP_PLANES).clamp(0, 6) as usize) {
        let mut equation = [0.0; 4];
        // SAFETY: an equation has four coefficients.
        unsafe { gl::get_clip_plane(plane, equation.as_mut_ptr()) };
        emitter.command(GL_CLIP_PLANEF).arg(plane).numbers(&equation).done();
        capability::describe(emitter, plane);
    }
}

/// Describes fog.
pub fn describe_fog(emitter: &mut Emitter) {
    for (name, count) in OF_FOG {
        let values = gl::floats::<4>(name);
        emitter.command(GL_FOGFV).arg(name).numbers(&values[..count]).done();
    }
}

/// Describes points, and the current values of vertex attributes.
fn describe_parameters(emitter: &mut Emitter) {
    for (name, count) in OF_POINTS {
        let values = gl::floats::<4>(name);
        emitter.command(GL_POINT_PARAMETERFV).arg(name).numbers(&values[..count]).done();
    }
    let [r, g, b, a] = gl::floats::<4>(GL_CURRENT_COLOR);
    emitter.command(GL_COLOR4F).arg(r).arg(g).arg(b).arg(a).done();
    let [x, y, z] = gl::floats::<3>(GL_CURRENT_NORMAL);
    emitter.command(GL_NORMAL3F).arg(x).arg(y).arg(z).done();
    let [size] = gl::floats::<1>(GL_POINT_SIZE);
    emitter.command(ids::GL_POINT_SIZE).arg(size).done();
}

/// Asks for the current color, after current values of vertices were set. Until somebody asks, Mesa uses the color of before in
/// glDrawTexfOES and glEnable(GL_COLOR_MATERIAL), and the values that were set are in each vertex of the next draw rather than
/// constants, with which shaders of fixed functions round otherwise.
fn ask_for_color(emitter: &mut Emitter) {
    emitter.answer_floats(GL_CURRENT_COLOR, &gl::floats::<4>(GL_CURRENT_COLOR));
}

fn describe_units(emitter: &mut Emitter, has: &impl Fn(&str) -> bool) {
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME) as u32;
    for number in 0..client_arrays::units() {
        let unit = GL_TEXTURE0 + number;
        gl::active_texture(unit);
        emitter.command(GL_ACTIVE_TEXTURE).arg(unit).done();
        for (target, binding, _) in TEXTURE_TARGETS.iter().filter(|(.., it)| has(it)) {
            emitter.command(GL_BIND_TEXTURE).arg(*target).arg(gl::integer(*binding)).done();
        }
        describe_environment(emitter, has);
        let [s, t, r, q] = gl::floats::<4>(GL_CURRENT_TEXTURE_COORDS);
        let command = emitter.command(GL_MULTI_TEX_COORD4F).arg(unit);
        command.arg(s).arg(t).arg(r).arg(q).done();
        for (name, _) in OF_UNITS.iter().filter(|(_, extension)| has(extension)) {
            capability::describe(emitter, *name);
        }
        es1_matrices::describe_of_unit(emitter);
    }
    gl::active_texture(active);
    emitter.command(GL_ACTIVE_TEXTURE).arg(active).done();
}

/// Describes the texture environment of the active unit, with what extensions of these names add.
pub fn describe_environment(emitter: &mut Emitter, has: &impl Fn(&str) -> bool) {
    let ask = |target, name| {
        let mut values = [0.0_f32; 4];
        // SAFETY: no parameter has more than four values.
        unsafe { gl::get_texture_environment(target, name, values.as_mut_ptr()) };
        values
    };
    let color = ask(GL_TEXTURE_ENV, GL_TEXTURE_ENV_COLOR);
    let command = emitter.command(GL_TEX_ENVFV).arg(GL_TEXTURE_ENV).arg(GL_TEXTURE_ENV_COLOR);
    command.numbers(&color).done();
    for name in ENVIRONMENT_NAMES {
        let [value, ..] = ask(GL_TEXTURE_ENV, name);
        emitter.command(GL_TEX_ENVI).arg(GL_TEXTURE_ENV).arg(name).arg(value as i32).done();
    }
    for name in ENVIRONMENT_NUMBERS {
        let [value, ..] = ask(GL_TEXTURE_ENV, name);
        emitter.command(GL_TEX_ENVF).arg(GL_TEXTURE_ENV).arg(name).arg(value).done();
    }
    if has("GL_OES_point_sprite") {
        let [value, ..] = ask(GL_POINT_SPRITE, GL_COORD_REPLACE);
        let command = emitter.command(GL_TEX_ENVI).arg(GL_POINT_SPRITE).arg(GL_COORD_REPLACE);
        command.arg(value as i32).done();
    }
    if has("GL_EXT_texture_lod_bias") {
        let [value, ..] = ask(GL_TEXTURE_FILTER_CONTROL, GL_TEXTURE_LOD_BIAS);
        let command = emitter.command(GL_TEX_ENVF).arg(GL_TEXTURE_FILTER_CONTROL);
        command.arg(GL_TEXTURE_LOD_BIAS).arg(value).done();
    }
    if has("GL_OES_texture_cube_map") {
        let mut mode = 0;
        let (coord, name) = (GL_TEXTURE_GEN_STR, GL_TEXTURE_GEN_MODE);
        // SAFETY: the parameter has one value.
        unsafe { gl::get_texture_generation(coord, name, &raw mut mode) };
        emitter.command(GL_TEX_GENI_OES).arg(coord).arg(name).arg(mode).done();
    }
}

fn describe_pixel_operations(
    emitter: &mut Emitter,
    (process, context): (&Process, &Context),
    has: &impl Fn(&str) -> bool,
) {
    let ([reference], function) =
        (gl::floats::<1>(GL_ALPHA_TEST_REF), gl::integer(GL_ALPHA_TEST_FUNC));
    emitter.command(GL_ALPHA_FUNC).arg(function).arg(reference).done();
    if has("GL_OES_blend_func_separate") {
        let [source, target, alpha, to_alpha] =
            [GL_BLEND_SRC_RGB, GL_BLEND_DST_RGB, GL_BLEND_SRC_ALPHA, GL_BLEND_DST_ALPHA]
                .map(gl::integer);
        let command = emitter.command(GL_BLEND_FUNC_SEPARATE_OES).arg(source).arg(target);
        command.arg(alpha).arg(to_alpha).done();
    } else {
        let [source, target] = [GL_BLEND_SRC, GL_BLEND_DST].map(gl::integer);
        emitter.command(GL_BLEND_FUNC).arg(source).arg(target).done();
    }
    if has("GL_OES_blend_equation_separate") {
        let [color, alpha] = [GL_BLEND_EQUATION, GL_BLEND_EQUATION_ALPHA].map(gl::integer);
        emitter.command(GL_BLEND_EQUATION_SEPARATE_OES).arg(color).arg(alpha).done();
    } else if has("GL_OES_blend_subtract") {
        emitter.command(GL_BLEND_EQUATION_OES).arg(gl::integer(GL_BLEND_EQUATION)).done();
    }
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
    let [function, reference, mask] = stencil_bits::with_all(process, context, || {
        [GL_STENCIL_FUNC, GL_STENCIL_REF, GL_STENCIL_VALUE_MASK].map(gl::integer)
    });
    emitter.command(ids::GL_STENCIL_FUNC).arg(function).arg(reference).arg(mask).done();
    let [fail, depth_fail, pass] =
        [GL_STENCIL_FAIL, GL_STENCIL_PASS_DEPTH_FAIL, GL_STENCIL_PASS_DEPTH_PASS].map(gl::integer);
    emitter.command(GL_STENCIL_OP).arg(fail).arg(depth_fail).arg(pass).done();
    emitter.command(GL_STENCIL_MASK).arg(gl::integer(GL_STENCIL_WRITEMASK)).done();
    emitter.command(GL_LOGIC_OP).arg(gl::integer(GL_LOGIC_OP_MODE)).done();
}

fn describe_rasterization(emitter: &mut Emitter) {
    let [x, y, width, height] = gl::integers::<4>(GL_SCISSOR_BOX);
    emitter.command(GL_SCISSOR).arg(x).arg(y).arg(width).arg(height).done();
    let [x, y, width, height] = gl::integers::<4>(GL_VIEWPORT);
    emitter.command(ids::GL_VIEWPORT).arg(x).arg(y).arg(width).arg(height).done();
    emitter.command(ids::GL_CULL_FACE).arg(gl::integer(GL_CULL_FACE_MODE)).done();
    emitter.command(ids::GL_FRONT_FACE).arg(gl::integer(GL_FRONT_FACE)).done();
    emitter.command(ids::GL_SHADE_MODEL).arg(gl::integer(GL_SHADE_MODEL)).done();
    let [width] = gl::floats::<1>(GL_LINE_WIDTH);
    emitter.command(ids::GL_LINE_WIDTH).arg(width).done();
    let ([factor], [units]) =
        (gl::floats::<1>(GL_POLYGON_OFFSET_FACTOR), gl::floats::<1>(GL_POLYGON_OFFSET_UNITS));
    emitter.command(GL_POLYGON_OFFSET).arg(factor).arg(units).done();
    let ([value], [inverted]) =
        (gl::floats::<1>(GL_SAMPLE_COVERAGE_VALUE), gl::booleans::<1>(GL_SAMPLE_COVERAGE_INVERT));
    emitter.command(ids::GL_SAMPLE_COVERAGE).arg(value).arg(inverted).done();
    for name in HINTS {
        emitter.command(GL_HINT).arg(name).arg(gl::integer(name)).done();
    }
}

/// Describes the vertex arrays, and the bindings of buffers.
fn describe_arrays(emitter: &mut Emitter, arrays: &VertexArrays, context: &Context) {
    client_arrays::describe(emitter, arrays, false);
    let buffers =
        [(GL_ARRAY_BUFFER, context.array_buffer), (GL_ELEMENT_ARRAY_BUFFER, arrays.element_buffer)];
    for (target, buffer) in buffers {
        emitter.command(GL_BIND_BUFFER).arg(target).arg(buffer.name() as u32).done();
    }
}
