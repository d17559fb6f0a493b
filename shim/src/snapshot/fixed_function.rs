//! State of a context of the compatibility profile that the core profile lacks: lights, materials, fog, texture environments
//! and generation, clip planes, current values, raster position, matrices, evaluators, pixel transfer and maps, selection and
//! feedback (OpenGL 4.6, compatibility profile, chapter 23). All of it is asked of the driver.
//!
//! The driver returns lights, clip planes and planes of generated coordinates in eye coordinates, so they are set while the
//! modelview matrix is the identity.
//!
//! Missing, and named: the accumulation buffer, tables of `GL_ARB_imaging`,
//! fixed arrays of vertex array objects that are not bound, and what a mode of selection or feedback has written so far.

use gapii_commands::constants;
use gapii_commands::constants::*;
use gapii_state::Context;
use gapii_state::read_back::{Driver, NEVER, TRANSFERS};

use super::emit::Emitter;
use super::plain_pixels::Plain;
use super::{assembly_programs, capability, client_arrays, es1, es1_matrices, gl};
use crate::driver_calls::Gl;
use crate::generated::ids;

/// Capabilities, and the version of OpenGL that adds each.
const CAPABILITIES: [(u32, (u8, u8)); 31] = [
    (GL_ALPHA_TEST, (1, 0)),
    (GL_AUTO_NORMAL, (1, 0)),
    (GL_COLOR_SUM, (1, 4)),
    (GL_FOG, (1, 0)),
    (GL_INDEX_LOGIC_OP, (1, 1)),
    (GL_LIGHTING, (1, 0)),
    (GL_LINE_STIPPLE, (1, 0)),
    (GL_NORMALIZE, (1, 0)),
    (GL_POINT_SMOOTH, (1, 0)),
    (GL_POINT_SPRITE, (2, 0)),
    (GL_POLYGON_STIPPLE, (1, 0)),
    (GL_RESCALE_NORMAL, (1, 2)),
    (GL_VERTEX_PROGRAM_TWO_SIDE, (2, 0)),
    (GL_MAP1_COLOR_4, (1, 0)),
    (GL_MAP1_INDEX, (1, 0)),
    (GL_MAP1_NORMAL, (1, 0)),
    (GL_MAP1_TEXTURE_COORD_1, (1, 0)),
    (GL_MAP1_TEXTURE_COORD_2, (1, 0)),
    (GL_MAP1_TEXTURE_COORD_3, (1, 0)),
    (GL_MAP1_TEXTURE_COORD_4, (1, 0)),
    (GL_MAP1_VERTEX_3, (1, 0)),
    (GL_MAP1_VERTEX_4, (1, 0)),
    (GL_MAP2_COLOR_4, (1, 0)),
    (GL_MAP2_INDEX, (1, 0)),
    (GL_MAP2_NORMAL, (1, 0)),
    (GL_MAP2_TEXTURE_COORD_1, (1, 0)),
    (GL_MAP2_TEXTURE_COORD_2, (1, 0)),
    (GL_MAP2_TEXTURE_COORD_3, (1, 0)),
    (GL_MAP2_TEXTURE_COORD_4, (1, 0)),
    (GL_MAP2_VERTEX_3, (1, 0)),
    (GL_MAP2_VERTEX_4, (1, 0)),
];
/// Capabilities of each texture unit, and the version of OpenGL that adds each; also `GL_TEXTURE_RECTANGLE`.
const OF_UNITS: [(u32, (u8, u8)); 8] = [
    (GL_TEXTURE_1D, (1, 0)),
    (GL_TEXTURE_2D, (1, 0)),
    (GL_TEXTURE_3D, (1, 2)),
    (GL_TEXTURE_CUBE_MAP, (1, 3)),
    (GL_TEXTURE_GEN_S, (1, 0)),
    (GL_TEXTURE_GEN_T, (1, 0)),
    (GL_TEXTURE_GEN_R, (1, 0)),
    (GL_TEXTURE_GEN_Q, (1, 0)),
];
const HINTS: [(u32, (u8, u8)); 4] = [
    (GL_FOG_HINT, (1, 0)),
    (GL_PERSPECTIVE_CORRECTION_HINT, (1, 0)),
    (GL_POINT_SMOOTH_HINT, (1, 0)),
    (GL_GENERATE_MIPMAP_HINT, (1, 4)),
];
/// Numbers of a control point of an evaluator's map, in the order of the maps.
const CONTROL_POINT: [usize; 9] = [4, 1, 3, 1, 2, 3, 4, 3, 4];
/// The matrix stacks whose matrix is replaced: the queries of their depth and of their largest depth.
const STACKS: [(u32, u32); 2] = [
    (GL_PROJECTION_STACK_DEPTH, GL_MAX_PROJECTION_STACK_DEPTH),
    (GL_MODELVIEW_STACK_DEPTH, GL_MAX_MODELVIEW_STACK_DEPTH),
];
const MAPS_OF_PIXELS: u32 = 10;
/// Largest number of values of a map of pixels that is described.
const VALUES_MAX: i32 = 1 << 16;

/// Whether the matrices of texture units are described with the units.
#[derive(Clone, Copy)]
enum Matrices {
    Described,
    Kept,
}

/// Describes it for the current context, before what every profile has: that sets the active texture and the range of depths,
/// which are others in between.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let Some(driver) = Gl::current().filter(|_| context.api.has_fixed_function(context.version))
    else {
        return;
    };
    let has = |version| driver.is_at_least(NEVER, version);
    client_arrays::describe(emitter, context.arrays(), true);
    leave_out_arrays(emitter, context);
    load_identity(emitter);
    let [has_position] = gl::booleans::<1>(GL_CURRENT_RASTER_POSITION_VALID);
    if has_position == 0 {
        // Mesa keeps the position and what belongs to it when a command makes it invalid.
        set_window_position(emitter, &has);
        set_raster_position(emitter, 2.0);
    }
    describe_lighting(emitter, &has);
    describe_units(emitter, &driver, Matrices::Described);
    if assembly_programs::are_in(&driver) {
        es1_matrices::describe_of_programs(emitter);
    }
    es1_matrices::describe(emitter);
    if has_position != 0 {
        describe_raster_position(emitter, &has);
    }
    describe_current(emitter, &has);
    describe_rasterization(emitter, &driver, &has);
    describe_maps(emitter);
    describe_grids(emitter);
    describe_pixel_operations(emitter);
    assembly_programs::describe_own(emitter, context, &driver);
    describe_capabilities(emitter, &has);
    es1::describe_materials(emitter, describe_materials);
    if gl::integer(GL_ACCUM_RED_BITS) > 0 {
        emitter.leave_out("the accumulation buffer");
    }
    if driver.has("GL_ARB_imaging") {
        emitter.leave_out("tables, filters and histograms of GL_ARB_imaging");
    }
}

/// Describes what glPopAttrib may have restored, after any other state of the context. `groups` are those that it has restored. Pixels
/// are read from memory, row by row without gaps.
pub fn describe_again(emitter: &mut Emitter, driver: &Gl, groups: u32) {
    let has = |version| driver.is_at_least(NEVER, version);
    let mode = gl::integer(constants::GL_MATRIX_MODE);
    let has_room = |(depth, max): (u32, u32)| gl::integer(depth) < gl::integer(max);
    if STACKS.into_iter().all(has_room) {
        in_identity(emitter, |emitter| {
            describe_lighting(emitter, &has);
            describe_units(emitter, driver, Matrices::Kept);
            if groups & GL_CURRENT_BIT != 0 {
                describe_position(emitter, &has);
            }
        });
    } else {
        emitter.leave_out("lights and planes that glPopAttrib restored: the matrix stack is full");
    }
    if groups & GL_CURRENT_BIT != 0 {
        describe_current(emitter, &has);
    }
    describe_rasterization(emitter, driver, &has);
    describe_grids(emitter);
    describe_pixel_operations(emitter);
    describe_pixel_transfers(emitter, driver);
    describe_capabilities(emitter, &has);
    emitter.command(ids::GL_DISABLE).arg(GL_COLOR_MATERIAL).done();
    es1::describe_materials(emitter, describe_materials);
    emitter.command(ids::GL_MATRIX_MODE).arg(mode).done();
}

/// Describes what `describe` does while the matrices of the replay are the identity.
fn in_identity(emitter: &mut Emitter, describe: impl FnOnce(&mut Emitter)) {
    for mode in [GL_PROJECTION, GL_MODELVIEW] {
        emitter.command(ids::GL_MATRIX_MODE).arg(mode).done();
        emitter.command(ids::GL_PUSH_MATRIX).done();
        emitter.command(ids::GL_LOAD_IDENTITY).done();
    }
    describe(emitter);
    for mode in [GL_PROJECTION, GL_MODELVIEW] {
        emitter.command(ids::GL_MATRIX_MODE).arg(mode).done();
        emitter.command(ids::GL_POP_MATRIX).done();
    }
}

/// Describes the raster position of a context whose matrices are the identity.
fn describe_position(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    let [is_valid] = gl::booleans::<1>(GL_CURRENT_RASTER_POSITION_VALID);
    if is_valid != 0 {
        describe_raster_position(emitter, has);
    } else {
        set_window_position(emitter, has);
        set_raster_position(emitter, 2.0);
        describe_fog_source(emitter);
    }
}

/// Describes selection and feedback, after all other state: they begin anew.
pub fn describe_mode(emitter: &mut Emitter, context: &Context) {
    if !context.api.has_fixed_function(context.version) {
        return;
    }
    if context.selection_size > 0 {
        let command = emitter.command(ids::GL_SELECT_BUFFER).arg(context.selection_size);
        command.arg(context.selection_buffer).done();
    }
    if context.feedback_size > 0 {
        let command = emitter.command(ids::GL_FEEDBACK_BUFFER).arg(context.feedback_size);
        command.arg(context.feedback_type).arg(context.feedback_buffer).done();
    }
    let mode = gl::integer(constants::GL_RENDER_MODE).cast_unsigned();
    if mode != GL_RENDER {
        emitter.command(ids::GL_RENDER_MODE).arg(mode).returns(0_i32, []);
        emitter.leave_out("hits, values and names so far of glRenderMode");
    }
}

fn describe_capabilities(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    for (name, _) in CAPABILITIES.iter().filter(|(_, version)| has(*version)) {
        capability::describe(emitter, *name);
    }
}

fn leave_out_arrays(emitter: &mut Emitter, context: &Context) {
    let is_set = |arrays: &gapii_state::VertexArrays| client_arrays::has_any(arrays);
    let others = context.vertex_arrays.named().filter(|(it, _)| *it != context.vertex_array);
    let is_bound = context.vertex_array.is_some();
    let is_default_set = is_bound && is_set(&context.default_arrays);
    if is_default_set || others.into_iter().any(|(_, other)| is_set(&other.arrays)) {
        emitter.leave_out("fixed arrays of vertex array objects that are not bound");
    }
}

/// Loads the identity, with which positions and planes are in the coordinates that queries return.
fn load_identity(emitter: &mut Emitter) {
    for mode in [GL_PROJECTION, GL_MODELVIEW] {
        emitter.command(ids::GL_MATRIX_MODE).arg(mode).done();
        emitter.command(ids::GL_LOAD_IDENTITY).done();
    }
}

/// Sets a raster position by the matrices, with all three coordinates `at`.
fn set_raster_position(emitter: &mut Emitter, at: f32) {
    let command = emitter.command(ids::GL_RASTER_POS4F).arg(at).arg(at).arg(at);
    command.arg(1.0_f32).done();
}

/// Describes a valid raster position.
///
/// Before that it sets one by the matrices. Mesa takes a matrix that was loaded for a general one, also after glLoadIdentity,
/// until something uses the matrix, and rounds the inverse of a general one otherwise.
fn describe_raster_position(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    set_raster_position(emitter, 0.0);
    set_window_position(emitter, has);
    describe_fog_source(emitter);
}

/// Sets the raster position with glWindowPos, which takes the current values, and a fog coordinate for the distance. It
/// clamps colors, which Mesa 22.3 does not do in glRasterPos.
fn set_window_position(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    let [x, y, z, w] = gl::floats::<4>(GL_CURRENT_RASTER_POSITION);
    if !has((1, 4)) {
        return emitter.leave_out("the raster position");
    }
    if w != 1.0 {
        emitter.leave_out("the fourth coordinate of the raster position");
    }
    let colors = [GL_CURRENT_RASTER_COLOR, GL_CURRENT_RASTER_SECONDARY_COLOR];
    let count = if has((2, 1)) { 2 } else { 1 };
    let mut numbers = colors.into_iter().take(count).flat_map(gl::floats::<4>);
    if numbers.any(|number| !(0.0..=1.0).contains(&number)) {
        emitter.leave_out("colors of the raster position outside of 0 to 1");
    }
    let [distance] = gl::floats::<1>(GL_CURRENT_RASTER_DISTANCE);
    emitter.command(ids::GL_FOGI).arg(GL_FOG_COORD_SRC).arg(GL_FOG_COORD).done();
    emitter.command(ids::GL_FOG_COORDF).arg(distance).done();
    emitter.command(ids::GL_DEPTH_RANGE).arg(0.0_f64).arg(1.0_f64).done();
    describe_values(emitter, has, GL_CURRENT_RASTER_COLOR, GL_CURRENT_RASTER_SECONDARY_COLOR);
    let [index] = gl::floats::<1>(GL_CURRENT_RASTER_INDEX);
    emitter.command(ids::GL_INDEXF).arg(index).done();
    describe_coordinates(emitter, GL_CURRENT_RASTER_TEXTURE_COORDS);
    emitter.command(ids::GL_WINDOW_POS3F).arg(x).arg(y).arg(z).done();
}

fn describe_materials(emitter: &mut Emitter) {
    for face in [GL_FRONT, GL_BACK] {
        es1::describe_material(emitter, face, face);
        let mut indexes = [0.0; 4];
        // SAFETY: the parameter has three values.
        unsafe { gl::get_material(face, GL_COLOR_INDEXES, indexes.as_mut_ptr()) };
        let command = emitter.command(ids::GL_MATERIALFV).arg(face).arg(GL_COLOR_INDEXES);
        command.numbers(&indexes[..3]).done();
    }
}

/// Describes current values of vertices.
fn describe_current(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    describe_values(emitter, has, GL_CURRENT_COLOR, GL_CURRENT_SECONDARY_COLOR);
    describe_coordinates(emitter, GL_CURRENT_TEXTURE_COORDS);
    let [x, y, z] = gl::floats::<3>(GL_CURRENT_NORMAL);
    emitter.command(ids::GL_NORMAL3F).arg(x).arg(y).arg(z).done();
    let [index] = gl::floats::<1>(GL_CURRENT_INDEX);
    emitter.command(ids::GL_INDEXF).arg(index).done();
    if has((1, 4)) {
        let [coordinate] = gl::floats::<1>(GL_CURRENT_FOG_COORD);
        emitter.command(ids::GL_FOG_COORDF).arg(coordinate).done();
    }
    let [flag] = gl::booleans::<1>(constants::GL_EDGE_FLAG);
    emitter.command(ids::GL_EDGE_FLAG).arg(flag).done();
}

fn describe_values(
    emitter: &mut Emitter,
    has: &impl Fn((u8, u8)) -> bool,
    color: u32,
    secondary: u32,
) {
    let [r, g, b, a] = gl::floats::<4>(color);
    emitter.command(ids::GL_COLOR4F).arg(r).arg(g).arg(b).arg(a).done();
    if has((2, 1)) || has((1, 4)) && secondary == GL_CURRENT_SECONDARY_COLOR {
        let [r, g, b, _] = gl::floats::<4>(secondary);
        emitter.command(ids::GL_SECONDARY_COLOR3F).arg(r).arg(g).arg(b).done();
    }
}

fn describe_coordinates(emitter: &mut Emitter, name: u32) {
    let active = gl::integer(constants::GL_ACTIVE_TEXTURE).cast_unsigned();
    for unit in (GL_TEXTURE0..).take(units() as usize) {
        gl::active_texture(unit);
        let [s, t, r, q] = gl::floats::<4>(name);
        let command = emitter.command(ids::GL_MULTI_TEX_COORD4F).arg(unit);
        command.arg(s).arg(t).arg(r).arg(q).done();
    }
    gl::active_texture(active);
}

/// Number of texture units that have an environment, coordinates and a matrix.
fn units() -> u32 {
    let [units, coordinates] = [GL_MAX_TEXTURE_UNITS, GL_MAX_TEXTURE_COORDS].map(gl::integer);
    units.min(coordinates).clamp(1, 32).cast_unsigned()
}

fn describe_lighting(emitter: &mut Emitter, has: &impl Fn((u8, u8)) -> bool) {
    es1::describe_lights(emitter);
    for name in [GL_LIGHT_MODEL_LOCAL_VIEWER, GL_LIGHT_MODEL_COLOR_CONTROL] {
        if name == GL_LIGHT_MODEL_LOCAL_VIEWER || has((1, 2)) {
            emitter.command(ids::GL_LIGHT_MODELI).arg(name).arg(gl::integer(name)).done();
        }
    }
    let [face, mode] = [GL_COLOR_MATERIAL_FACE, GL_COLOR_MATERIAL_PARAMETER].map(gl::integer);
    emitter.command(ids::GL_COLOR_MATERIAL).arg(face).arg(mode).done();
    for plane in (GL_CLIP_PLANE0..).take(gl::integer(GL_MAX_CLIP_PLANES).clamp(0, 8) as usize) {
        let mut equation = [0.0; 4];
        // SAFETY: an equation has four coefficients.
        unsafe { gl::get_clip_plane_doubles(plane, equation.as_mut_ptr()) };
        emitter.command(ids::GL_CLIP_PLANE).arg(plane).numbers(&equation).done();
        capability::describe(emitter, plane);
    }
    es1::describe_fog(emitter);
    let [index] = gl::floats::<1>(GL_FOG_INDEX);
    emitter.command(ids::GL_FOGF).arg(GL_FOG_INDEX).arg(index).done();
    if has((1, 4)) {
        describe_fog_source(emitter);
    }
}

fn describe_fog_source(emitter: &mut Emitter) {
    let source = gl::integer(GL_FOG_COORD_SRC);
    emitter.command(ids::GL_FOGI).arg(GL_FOG_COORD_SRC).arg(source).done();
}

fn describe_units(emitter: &mut Emitter, driver: &Gl, matrices: Matrices) {
    let has = |version| driver.is_at_least(NEVER, version);
    let active = gl::integer(constants::GL_ACTIVE_TEXTURE).cast_unsigned();
    for unit in (GL_TEXTURE0..).take(units() as usize) {
        gl::active_texture(unit);
        emitter.command(ids::GL_ACTIVE_TEXTURE).arg(unit).done();
        es1::describe_environment(emitter, &|extension: &str| {
            extension == "GL_OES_point_sprite" && has((2, 0))
                || extension == "GL_EXT_texture_lod_bias" && has((1, 4))
        });
        for coord in [GL_S, GL_T, GL_R, GL_Q] {
            describe_generation(emitter, coord);
        }
        for (name, _) in OF_UNITS.iter().filter(|(_, version)| has(*version)) {
            capability::describe(emitter, *name);
        }
        if has((3, 1)) || driver.has("GL_ARB_texture_rectangle") {
            capability::describe(emitter, GL_TEXTURE_RECTANGLE);
        }
        if let Matrices::Described = matrices {
            es1_matrices::describe_of_unit(emitter);
        }
    }
    gl::active_texture(active);
    emitter.command(ids::GL_ACTIVE_TEXTURE).arg(active).done();
    emitter.command(ids::GL_MATRIX_MODE).arg(GL_MODELVIEW).done();
}

fn describe_generation(emitter: &mut Emitter, coord: u32) {
    for (name, count) in [(GL_TEXTURE_GEN_MODE, 1), (GL_OBJECT_PLANE, 4), (GL_EYE_PLANE, 4)] {
        let mut values = [0.0; 4];
        // SAFETY: no parameter has more than four values.
        unsafe { gl::get_texture_generation_floats(coord, name, values.as_mut_ptr()) };
        let command = emitter.command(ids::GL_TEX_GENFV).arg(coord).arg(name);
        command.numbers(&values[..count]).done();
    }
}

fn describe_rasterization(emitter: &mut Emitter, driver: &Gl, has: &impl Fn((u8, u8)) -> bool) {
    let shading = gl::integer(constants::GL_SHADE_MODEL);
    emitter.command(ids::GL_SHADE_MODEL).arg(shading).done();
    let (pattern, factor) =
        (gl::integer(GL_LINE_STIPPLE_PATTERN), gl::integer(GL_LINE_STIPPLE_REPEAT));
    emitter.command(ids::GL_LINE_STIPPLE).arg(factor).arg(pattern as u16).done();
    match Plain::in_program(driver) {
        Some(plain) => {
            let stipple = plain.polygon_stipple();
            let command = emitter.command(ids::GL_POLYGON_STIPPLE).arg(stipple.as_ptr());
            command.range(0, &stipple).done();
        }
        None => emitter.leave_out("the polygon stipple: a deleted buffer would get it"),
    }
    if has((1, 4)) {
        for (name, count) in
            [(GL_POINT_SIZE_MIN, 1), (GL_POINT_SIZE_MAX, 1), (GL_POINT_DISTANCE_ATTENUATION, 3)]
        {
            let values = gl::floats::<4>(name);
            let command = emitter.command(ids::GL_POINT_PARAMETERFV).arg(name);
            command.numbers(&values[..count]).done();
        }
    }
    for (name, _) in HINTS.iter().filter(|(_, version)| has(*version)) {
        emitter.command(ids::GL_HINT).arg(*name).arg(gl::integer(*name)).done();
    }
    if has((3, 0)) {
        let clamp = gl::integer(GL_CLAMP_VERTEX_COLOR);
        emitter.command(ids::GL_CLAMP_COLOR).arg(GL_CLAMP_VERTEX_COLOR).arg(clamp).done();
    }
}

fn describe_maps(emitter: &mut Emitter) {
    let active = gl::integer(constants::GL_ACTIVE_TEXTURE).cast_unsigned();
    // No other unit takes a map (OpenGL 2.1, 5.1).
    emitter.command(ids::GL_ACTIVE_TEXTURE).arg(GL_TEXTURE0).done();
    for (at, size) in CONTROL_POINT.into_iter().enumerate() {
        let target = GL_MAP1_COLOR_4 + at as u32;
        let ([order, _], [u1, u2, ..]) = (map_order(target), map_domain(target));
        let points = map_points(target, size * order as usize);
        let command = emitter.command(ids::GL_MAP1F).arg(target).arg(u1).arg(u2);
        let command = command.arg(size as i32).arg(order).arg(points.as_ptr());
        command.range(5, &points).done();
    }
    for (at, size) in CONTROL_POINT.into_iter().enumerate() {
        let target = GL_MAP2_COLOR_4 + at as u32;
        let ([u_order, v_order], [u1, u2, v1, v2]) = (map_order(target), map_domain(target));
        let points = map_points(target, size * (u_order * v_order) as usize);
        let command = emitter.command(ids::GL_MAP2F).arg(target).arg(u1).arg(u2);
        let command = command.arg(size as i32 * v_order).arg(u_order);
        let command = command.arg(v1).arg(v2).arg(size as i32).arg(v_order);
        command.arg(points.as_ptr()).range(9, &points).done();
    }
    emitter.command(ids::GL_ACTIVE_TEXTURE).arg(active).done();
}

fn describe_grids(emitter: &mut Emitter) {
    let segments = gl::integer(GL_MAP1_GRID_SEGMENTS);
    let [u1, u2] = gl::floats::<2>(GL_MAP1_GRID_DOMAIN);
    emitter.command(ids::GL_MAP_GRID1F).arg(segments).arg(u1).arg(u2).done();
    let [u, v] = gl::integers::<2>(GL_MAP2_GRID_SEGMENTS);
    let [u1, u2, v1, v2] = gl::floats::<4>(GL_MAP2_GRID_DOMAIN);
    let command = emitter.command(ids::GL_MAP_GRID2F).arg(u).arg(u1).arg(u2);
    command.arg(v).arg(v1).arg(v2).done();
}

fn map_order(target: u32) -> [i32; 2] {
    let mut order = [1; 2];
    // SAFETY: a map has at most two orders.
    unsafe { gl::get_map_integers(target, GL_ORDER, order.as_mut_ptr()) };
    order.map(|order| order.clamp(1, 64))
}

fn map_domain(target: u32) -> [f32; 4] {
    let mut domain = [0.0; 4];
    // SAFETY: a map has at most two domains.
    unsafe { gl::get_map_floats(target, GL_DOMAIN, domain.as_mut_ptr()) };
    domain
}

fn map_points(target: u32, count: usize) -> Vec<u8> {
    let mut points = vec![0.0_f32; count];
    // SAFETY: the map has as many numbers.
    unsafe { gl::get_map_floats(target, GL_COEFF, points.as_mut_ptr()) };
    points.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn describe_pixel_operations(emitter: &mut Emitter) {
    let ([reference], function) =
        (gl::floats::<1>(GL_ALPHA_TEST_REF), gl::integer(GL_ALPHA_TEST_FUNC));
    emitter.command(ids::GL_ALPHA_FUNC).arg(function).arg(reference).done();
    let [r, g, b, a] = gl::floats::<4>(GL_ACCUM_CLEAR_VALUE);
    emitter.command(ids::GL_CLEAR_ACCUM).arg(r).arg(g).arg(b).arg(a).done();
    let [index] = gl::floats::<1>(GL_INDEX_CLEAR_VALUE);
    emitter.command(ids::GL_CLEAR_INDEX).arg(index).done();
    emitter.command(ids::GL_INDEX_MASK).arg(gl::integer(GL_INDEX_WRITEMASK)).done();
    let ([x], [y]) = (gl::floats::<1>(GL_ZOOM_X), gl::floats::<1>(GL_ZOOM_Y));
    emitter.command(ids::GL_PIXEL_ZOOM).arg(x).arg(y).done();
    emitter.command(ids::GL_LIST_BASE).arg(gl::integer(constants::GL_LIST_BASE)).done();
}

/// Describes what changes the pixels that commands upload, read and draw: after the last upload of the context's description, and
/// before a buffer is bound from which maps would be taken.
pub fn describe_pixel_transfer(emitter: &mut Emitter, driver: &Gl) {
    if !driver.has_pixel_transfer() {
        return;
    }
    describe_pixel_transfers(emitter, driver);
    let Some(plain) = Plain::in_program(driver) else {
        return emitter.leave_out("maps of pixels: a deleted buffer would get them");
    };
    for at in 0..MAPS_OF_PIXELS {
        let map = GL_PIXEL_MAP_I_TO_I + at;
        let size = gl::integer(GL_PIXEL_MAP_I_TO_I_SIZE + at).clamp(1, VALUES_MAX);
        let values = plain.pixel_map(map, size as usize);
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let command = emitter.command(ids::GL_PIXEL_MAPFV).arg(map).arg(size);
        command.arg(bytes.as_ptr()).range(2, &bytes).done();
    }
}

fn describe_pixel_transfers(emitter: &mut Emitter, driver: &Gl) {
    for (name, _) in TRANSFERS {
        emitter.command(ids::GL_PIXEL_TRANSFERF).arg(name).arg(driver.float(name)).done();
    }
}
