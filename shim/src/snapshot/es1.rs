//! What is set in a context of OpenGL ES 1: lights, matrices, texture environments, arrays.
//!
//! Lights and clip planes are told as the driver has them, in the coordinates of the eye: they are set
//! while the modelview matrix is the identity.

use gapii_state::read_back::Driver;
use gapii_state::{Context, VertexArrays, VertexAttrib, VertexBinding};

use super::emit::{Command, Emitter};
use super::{es1_matrices, framebuffers, gl};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Capabilities, and the extension that some need.
const CAPABILITIES: [(u32, &str); 22] = [
    (0x0BC0, ""), // GL_ALPHA_TEST
    (0x0BE2, ""), // GL_BLEND
    (0x0BF2, ""), // GL_COLOR_LOGIC_OP
    (0x0B57, ""), // GL_COLOR_MATERIAL
    (0x0B44, ""), // GL_CULL_FACE
    (0x0B71, ""), // GL_DEPTH_TEST
    (0x0BD0, ""), // GL_DITHER
    (0x0B60, ""), // GL_FOG
    (0x0B50, ""), // GL_LIGHTING
    (0x0B20, ""), // GL_LINE_SMOOTH
    (0x809D, ""), // GL_MULTISAMPLE
    (0x0BA1, ""), // GL_NORMALIZE
    (0x0B10, ""), // GL_POINT_SMOOTH
    (0x8037, ""), // GL_POLYGON_OFFSET_FILL
    (0x803A, ""), // GL_RESCALE_NORMAL
    (0x809E, ""), // GL_SAMPLE_ALPHA_TO_COVERAGE
    (0x809F, ""), // GL_SAMPLE_ALPHA_TO_ONE
    (0x80A0, ""), // GL_SAMPLE_COVERAGE
    (0x0C11, ""), // GL_SCISSOR_TEST
    (0x0B90, ""), // GL_STENCIL_TEST
    (GL_POINT_SPRITE, "GL_OES_point_sprite"),
    (0x8840, "GL_OES_matrix_palette"), // GL_MATRIX_PALETTE_OES
];
/// Those of each texture unit.
const OF_UNITS: [(u32, &str); 4] = [
    (GL_TEXTURE_2D, ""),
    (0x8513, "GL_OES_texture_cube_map"), // GL_TEXTURE_CUBE_MAP_OES
    (GL_TEXTURE_GEN_STR, "GL_OES_texture_cube_map"),
    (0x8D65, "GL_OES_EGL_image_external"), // GL_TEXTURE_EXTERNAL_OES
];
/// Textures that are bound: the target, what is asked, the extension.
const TEXTURE_TARGETS: [(u32, u32, &str); 3] = [
    (GL_TEXTURE_2D, 0x8069, ""),
    (0x8513, 0x8514, "GL_OES_texture_cube_map"),
    (0x8D65, 0x8D67, "GL_OES_EGL_image_external"),
];
/// Parameters of a texture environment that are names, and those that are numbers.
const ENVIRONMENT_NAMES: [u32; 15] = [
    0x2200, 0x8571, 0x8572, // GL_TEXTURE_ENV_MODE, GL_COMBINE_RGB, GL_COMBINE_ALPHA
    0x8580, 0x8581, 0x8582, 0x8588, 0x8589,
    0x858A, // GL_SRC0_RGB and on, GL_SRC0_ALPHA and on
    0x8590, 0x8591, 0x8592, 0x8598, 0x8599, 0x859A, // GL_OPERAND0_RGB and on
];
const ENVIRONMENT_NUMBERS: [u32; 2] = [0x8573, 0x0D1C]; // GL_RGB_SCALE, GL_ALPHA_SCALE
/// Parameters of lights, and how many numbers each has.
const OF_LIGHTS: [(u32, usize); 10] = [
    (0x1200, 4), // GL_AMBIENT
    (0x1201, 4), // GL_DIFFUSE
    (0x1202, 4), // GL_SPECULAR
    (0x1203, 4), // GL_POSITION
    (0x1204, 3), // GL_SPOT_DIRECTION
    (0x1205, 1), // GL_SPOT_EXPONENT
    (0x1206, 1), // GL_SPOT_CUTOFF
    (0x1207, 1), // GL_CONSTANT_ATTENUATION
    (0x1208, 1), // GL_LINEAR_ATTENUATION
    (0x1209, 1), // GL_QUADRATIC_ATTENUATION
];
/// The same of materials.
const OF_MATERIALS: [(u32, usize); 5] = [
    (0x1200, 4), // GL_AMBIENT
    (0x1201, 4), // GL_DIFFUSE
    (0x1202, 4), // GL_SPECULAR
    (0x1600, 4), // GL_EMISSION
    (0x1601, 1), // GL_SHININESS
];
/// Of fog, and of points.
const OF_FOG: [(u32, usize); 5] = [
    (0x0B65, 1), // GL_FOG_MODE
    (0x0B62, 1), // GL_FOG_DENSITY
    (0x0B63, 1), // GL_FOG_START
    (0x0B64, 1), // GL_FOG_END
    (0x0B66, 4), // GL_FOG_COLOR
];
const OF_POINTS: [(u32, usize); 4] = [
    (0x8126, 1), // GL_POINT_SIZE_MIN
    (0x8127, 1), // GL_POINT_SIZE_MAX
    (0x8128, 1), // GL_POINT_FADE_THRESHOLD_SIZE
    (0x8129, 3), // GL_POINT_DISTANCE_ATTENUATION
];
/// Fog, smooth lines, perspective, smooth points, mipmaps.
const HINTS: [u32; 5] = [0x0C54, 0x0C52, 0x0C50, 0x0C51, 0x8192];

const GL_TEXTURE_2D: u32 = 0x0DE1;
const GL_TEXTURE_BINDING_2D: u32 = 0x8069;
const GL_GENERATE_MIPMAP: u32 = 0x8191;
const GL_TEXTURE_CROP_RECT: u32 = 0x8B9D;
const GL_TEXTURE_ENV: u32 = 0x2300;
const GL_TEXTURE_ENV_COLOR: u32 = 0x2201;
const GL_TEXTURE_FILTER_CONTROL: u32 = 0x8500;
const GL_TEXTURE_LOD_BIAS: u32 = 0x8501;
const GL_TEXTURE_GEN_STR: u32 = 0x8D60;
const GL_TEXTURE_GEN_MODE: u32 = 0x2500;
const GL_POINT_SPRITE: u32 = 0x8861;
const GL_COORD_REPLACE: u32 = 0x8862;
const GL_TEXTURE0: u32 = 0x84C0;
const GL_ACTIVE_TEXTURE_NAME: u32 = 0x84E0;
const GL_CLIENT_ACTIVE_TEXTURE_NAME: u32 = 0x84E1;
const GL_MAX_TEXTURE_UNITS: u32 = 0x84E2;
const GL_MAX_LIGHTS: u32 = 0x0D31;
const GL_MAX_CLIP_PLANES: u32 = 0x0D32;
const GL_LIGHT0: u32 = 0x4000;
const GL_CLIP_PLANE0: u32 = 0x3000;
const GL_FRONT: u32 = 0x0404;
const GL_FRONT_AND_BACK: u32 = 0x0408;
const GL_ARRAY_BUFFER: u32 = 0x8892;
const GL_ELEMENT_ARRAY_BUFFER: u32 = 0x8893;
const GL_RENDERBUFFER: u32 = 0x8D41;
const GL_RENDERBUFFER_BINDING: u32 = 0x8CA7;
const GL_UNPACK_ALIGNMENT: u32 = 0x0CF5;
const GL_PACK_ALIGNMENT: u32 = 0x0D05;

/// What textures have in OpenGL ES 1 alone.
pub fn describe_textures(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let textures: Vec<u32> = {
        let group = context.group.lock();
        let flat = group.textures.named().filter(|(_, texture)| texture.target == GL_TEXTURE_2D);
        flat.map(|(object, _)| object.name() as u32).collect()
    };
    let bound = gl::integer(GL_TEXTURE_BINDING_2D) as u32;
    for name in textures {
        let target = GL_TEXTURE_2D;
        gl::bind_texture(target, name);
        emitter.command(GL_BIND_TEXTURE).arg(target).arg(name).done();
        let mut makes_levels = 0;
        // SAFETY: the name has one number.
        unsafe { gl::get_texture_integers(target, GL_GENERATE_MIPMAP, &raw mut makes_levels) };
        if makes_levels != 0 {
            emitter
                .command(GL_TEX_PARAMETERI)
                .arg(target)
                .arg(GL_GENERATE_MIPMAP)
                .arg(1_i32)
                .done();
        }
        if driver.has("GL_OES_draw_texture") {
            let mut crop = [0_i32; 4];
            // SAFETY: the name has four numbers.
            unsafe { gl::get_texture_integers(target, GL_TEXTURE_CROP_RECT, crop.as_mut_ptr()) };
            let bytes: Vec<u8> = crop.iter().flat_map(|it| it.to_le_bytes()).collect();
            let command = emitter.command(GL_TEX_PARAMETERIV).arg(target);
            let command = command.arg(GL_TEXTURE_CROP_RECT).arg(bytes.as_ptr());
            command.range(2, &bytes).done();
        }
    }
    gl::bind_texture(GL_TEXTURE_2D, bound);
}

/// All but the content of the surface.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let Some(driver) = Gl::current() else { return };
    let has = |extension: &str| extension.is_empty() || driver.has(extension);
    describe_arrays(emitter, &context.default_arrays, context);
    describe_lights(emitter);
    describe_parameters(emitter);
    describe_units(emitter, &has);
    es1_matrices::describe(emitter);
    describe_pixel_operations(emitter, &has);
    describe_rasterization(emitter);
    for (name, _) in CAPABILITIES.iter().filter(|(_, extension)| has(extension)) {
        describe_capability(emitter, *name);
    }
    for name in [GL_UNPACK_ALIGNMENT, GL_PACK_ALIGNMENT] {
        emitter.command(GL_PIXEL_STOREI).arg(name).arg(gl::integer(name)).done();
    }
    if has("GL_OES_matrix_palette") {
        emitter.leave_out("matrix palettes");
    }
    if has("GL_OES_framebuffer_object") {
        framebuffers::describe(emitter, context);
        let renderbuffer = gl::integer(GL_RENDERBUFFER_BINDING);
        emitter.command(GL_BIND_RENDERBUFFER_OES).arg(GL_RENDERBUFFER).arg(renderbuffer).done();
    }
}

fn describe_capability(emitter: &mut Emitter, name: u32) {
    let id = if gl::is_enabled(name) != 0 { GL_ENABLE } else { GL_DISABLE };
    emitter.command(id).arg(name).done();
}

fn describe_lights(emitter: &mut Emitter) {
    for light in (GL_LIGHT0..).take(gl::integer(GL_MAX_LIGHTS).clamp(0, 8) as usize) {
        for (name, count) in OF_LIGHTS {
            let mut values = [0.0; 4];
            // SAFETY: no name has more numbers.
            unsafe { gl::get_light(light, name, values.as_mut_ptr()) };
            let command = emitter.command(GL_LIGHTFV).arg(light).arg(name);
            command.numbers(&values[..count]).done();
        }
        describe_capability(emitter, light);
    }
    let ambient = gl::floats::<4>(0x0B53);
    emitter.command(GL_LIGHT_MODELFV).arg(0x0B53_u32).numbers(&ambient).done();
    let [two_side] = gl::floats::<1>(0x0B52);
    emitter.command(GL_LIGHT_MODELF).arg(0x0B52_u32).arg(two_side).done();
    for (name, count) in OF_MATERIALS {
        let mut values = [0.0; 4];
        // SAFETY: no name has more numbers.
        unsafe { gl::get_material(GL_FRONT, name, values.as_mut_ptr()) };
        let command = emitter.command(GL_MATERIALFV).arg(GL_FRONT_AND_BACK).arg(name);
        command.numbers(&values[..count]).done();
    }
    for plane in (GL_CLIP_PLANE0..).take(gl::integer(GL_MAX_CLIP_PLANES).clamp(0, 6) as usize) {
        let mut equation = [0.0; 4];
        // SAFETY: a plane has four numbers.
        unsafe { gl::get_clip_plane(plane, equation.as_mut_ptr()) };
        emitter.command(GL_CLIP_PLANEF).arg(plane).numbers(&equation).done();
        describe_capability(emitter, plane);
    }
}

/// Fog, points, and what vertices have that no array gives them.
fn describe_parameters(emitter: &mut Emitter) {
    for (name, count) in OF_FOG {
        let values = gl::floats::<4>(name);
        emitter.command(GL_FOGFV).arg(name).numbers(&values[..count]).done();
    }
    for (name, count) in OF_POINTS {
        let values = gl::floats::<4>(name);
        emitter.command(GL_POINT_PARAMETERFV).arg(name).numbers(&values[..count]).done();
    }
    let [r, g, b, a] = gl::floats::<4>(0x0B00);
    emitter.command(GL_COLOR4F).arg(r).arg(g).arg(b).arg(a).done();
    let [x, y, z] = gl::floats::<3>(0x0B02);
    emitter.command(GL_NORMAL3F).arg(x).arg(y).arg(z).done();
    let [size] = gl::floats::<1>(0x0B11);
    emitter.command(GL_POINT_SIZE).arg(size).done();
}

fn describe_units(emitter: &mut Emitter, has: &impl Fn(&str) -> bool) {
    let active = gl::integer(GL_ACTIVE_TEXTURE_NAME) as u32;
    for number in 0..units() {
        let unit = GL_TEXTURE0 + number;
        gl::active_texture(unit);
        emitter.command(GL_ACTIVE_TEXTURE).arg(unit).done();
        for (target, binding, _) in TEXTURE_TARGETS.iter().filter(|(.., it)| has(it)) {
            emitter.command(GL_BIND_TEXTURE).arg(*target).arg(gl::integer(*binding)).done();
        }
        describe_environment(emitter, has);
        let [s, t, r, q] = gl::floats::<4>(0x0B03);
        let command = emitter.command(GL_MULTI_TEX_COORD4F).arg(unit);
        command.arg(s).arg(t).arg(r).arg(q).done();
        for (name, _) in OF_UNITS.iter().filter(|(_, extension)| has(extension)) {
            describe_capability(emitter, *name);
        }
        es1_matrices::describe_of_unit(emitter);
    }
    gl::active_texture(active);
    emitter.command(GL_ACTIVE_TEXTURE).arg(active).done();
}

fn units() -> u32 {
    gl::integer(GL_MAX_TEXTURE_UNITS).clamp(1, 32) as u32
}

fn describe_environment(emitter: &mut Emitter, has: &impl Fn(&str) -> bool) {
    let ask = |target, name| {
        let mut values = [0.0_f32; 4];
        // SAFETY: no name has more numbers.
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
        // SAFETY: the name has one number.
        unsafe { gl::get_texture_generation(coord, name, &raw mut mode) };
        emitter.command(GL_TEX_GENI_OES).arg(coord).arg(name).arg(mode).done();
    }
}

fn describe_pixel_operations(emitter: &mut Emitter, has: &impl Fn(&str) -> bool) {
    let ([reference], function) = (gl::floats::<1>(0x0BC2), gl::integer(0x0BC1));
    emitter.command(GL_ALPHA_FUNC).arg(function).arg(reference).done();
    if has("GL_OES_blend_func_separate") {
        let [source, target, alpha, to_alpha] = [0x80C9, 0x80C8, 0x80CB, 0x80CA].map(gl::integer);
        let command = emitter.command(GL_BLEND_FUNC_SEPARATE_OES).arg(source).arg(target);
        command.arg(alpha).arg(to_alpha).done();
    } else {
        let [source, target] = [0x0BE1, 0x0BE0].map(gl::integer);
        emitter.command(GL_BLEND_FUNC).arg(source).arg(target).done();
    }
    if has("GL_OES_blend_equation_separate") {
        let [color, alpha] = [0x8009, 0x883D].map(gl::integer);
        emitter.command(GL_BLEND_EQUATION_SEPARATE_OES).arg(color).arg(alpha).done();
    } else if has("GL_OES_blend_subtract") {
        emitter.command(GL_BLEND_EQUATION_OES).arg(gl::integer(0x8009)).done();
    }
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
    let [function, reference, mask] = [0x0B92, 0x0B97, 0x0B93].map(gl::integer);
    emitter.command(GL_STENCIL_FUNC).arg(function).arg(reference).arg(mask).done();
    let [fail, depth_fail, pass] = [0x0B94, 0x0B95, 0x0B96].map(gl::integer);
    emitter.command(GL_STENCIL_OP).arg(fail).arg(depth_fail).arg(pass).done();
    emitter.command(GL_STENCIL_MASK).arg(gl::integer(0x0B98)).done();
    emitter.command(GL_LOGIC_OP).arg(gl::integer(0x0BF0)).done();
}

fn describe_rasterization(emitter: &mut Emitter) {
    let [x, y, width, height] = gl::integers::<4>(0x0C10);
    emitter.command(GL_SCISSOR).arg(x).arg(y).arg(width).arg(height).done();
    let [x, y, width, height] = gl::integers::<4>(0x0BA2);
    emitter.command(GL_VIEWPORT).arg(x).arg(y).arg(width).arg(height).done();
    emitter.command(GL_CULL_FACE).arg(gl::integer(0x0B45)).done();
    emitter.command(GL_FRONT_FACE).arg(gl::integer(0x0B46)).done();
    emitter.command(GL_SHADE_MODEL).arg(gl::integer(0x0B54)).done();
    let [width] = gl::floats::<1>(0x0B21);
    emitter.command(GL_LINE_WIDTH).arg(width).done();
    let ([factor], [units]) = (gl::floats::<1>(0x8038), gl::floats::<1>(0x2A00));
    emitter.command(GL_POLYGON_OFFSET).arg(factor).arg(units).done();
    let ([value], [inverted]) = (gl::floats::<1>(0x80AA), gl::booleans::<1>(0x80AB));
    emitter.command(GL_SAMPLE_COVERAGE).arg(value).arg(inverted).done();
    for name in HINTS {
        emitter.command(GL_HINT).arg(name).arg(gl::integer(name)).done();
    }
}

/// Arrays, what they are of, and buffers that are bound.
fn describe_arrays(emitter: &mut Emitter, arrays: &VertexArrays, context: &Context) {
    let kinds = [
        (32, GL_VERTEX_POINTER, 0x8074),
        (33, GL_NORMAL_POINTER, 0x8075),
        (34, GL_COLOR_POINTER, 0x8076),
        (35, GL_POINT_SIZE_POINTER_OES, 0x8B9C),
    ];
    for (slot, id, array) in kinds {
        describe_array(emitter, arrays, slot, id, array);
    }
    for unit in 0..units().min(8) {
        emitter.command(GL_CLIENT_ACTIVE_TEXTURE).arg(GL_TEXTURE0 + unit).done();
        describe_array(emitter, arrays, 38 + unit as usize, GL_TEX_COORD_POINTER, 0x8078);
    }
    let client_active = gl::integer(GL_CLIENT_ACTIVE_TEXTURE_NAME);
    emitter.command(GL_CLIENT_ACTIVE_TEXTURE).arg(client_active).done();
    let buffers =
        [(GL_ARRAY_BUFFER, context.array_buffer), (GL_ELEMENT_ARRAY_BUFFER, arrays.element_buffer)];
    for (target, buffer) in buffers {
        emitter.command(GL_BIND_BUFFER).arg(target).arg(buffer.name() as u32).done();
    }
}

fn describe_array(emitter: &mut Emitter, arrays: &VertexArrays, slot: usize, id: u16, array: u32) {
    let (Some(attrib), Some(binding)) = (arrays.attribs.get(slot), arrays.binding_of(slot)) else {
        return;
    };
    if *attrib == VertexAttrib::default() && *binding == VertexBinding::default() {
        return;
    }
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(binding.buffer.name() as u32).done();
    let has_size = !matches!(id, GL_NORMAL_POINTER | GL_POINT_SIZE_POINTER_OES);
    let command: Command<'_> = emitter.command(id);
    let command = if has_size { command.arg(attrib.size) } else { command };
    command.arg(attrib.kind).arg(binding.stride).arg(binding.offset).done();
    if attrib.enabled {
        emitter.command(GL_ENABLE_CLIENT_STATE).arg(array).done();
    }
}
