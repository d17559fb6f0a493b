//! State of a context that OpenGL has in every profile and OpenGL ES lacks: points, polygon modes, the logic operation,
//! clip control, provoking vertices, restart indices, and what tessellation uses without a control shader. Capabilities
//! and parameters for pixels are in [`super::context`].

use gapii_commands::constants::{
    GL_CLAMP_READ_COLOR, GL_CLIP_DEPTH_MODE, GL_CLIP_ORIGIN, GL_FRONT_AND_BACK, GL_LOGIC_OP_MODE,
    GL_PATCH_DEFAULT_INNER_LEVEL, GL_PATCH_DEFAULT_OUTER_LEVEL, GL_POINT_FADE_THRESHOLD_SIZE,
    GL_POINT_SIZE, GL_POINT_SPRITE_COORD_ORIGIN, GL_POLYGON_MODE, GL_PRIMITIVE_RESTART_INDEX,
    GL_PROVOKING_VERTEX,
};
use gapii_state::read_back::{Driver, NEVER};
use gapii_state::{Context, ContextApi};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids;
use crate::generated::ids::*;

/// Describes it for the current context, which is one of OpenGL.
pub fn describe(emitter: &mut Emitter, context: &Context, driver: &Gl) {
    let has = |version| driver.is_at_least(NEVER, version);
    emitter.command(GL_LOGIC_OP).arg(gl::integer(GL_LOGIC_OP_MODE)).done();
    let [size] = gl::floats::<1>(GL_POINT_SIZE);
    emitter.command(ids::GL_POINT_SIZE).arg(size).done();
    describe_polygon_modes(emitter, context);
    if has((1, 4)) {
        let [fade] = gl::floats::<1>(GL_POINT_FADE_THRESHOLD_SIZE);
        let command = emitter.command(GL_POINT_PARAMETERF).arg(GL_POINT_FADE_THRESHOLD_SIZE);
        command.arg(fade).done();
    }
    if has((2, 0)) {
        let command = emitter.command(GL_POINT_PARAMETERI).arg(GL_POINT_SPRITE_COORD_ORIGIN);
        command.arg(gl::integer(GL_POINT_SPRITE_COORD_ORIGIN)).done();
    }
    if has((3, 0)) {
        let clamp = gl::integer(GL_CLAMP_READ_COLOR);
        emitter.command(GL_CLAMP_COLOR).arg(GL_CLAMP_READ_COLOR).arg(clamp).done();
    }
    if has((3, 1)) {
        let index = gl::integer(GL_PRIMITIVE_RESTART_INDEX);
        emitter.command(ids::GL_PRIMITIVE_RESTART_INDEX).arg(index).done();
    }
    if has((3, 2)) || driver.has("GL_ARB_provoking_vertex") {
        emitter.command(ids::GL_PROVOKING_VERTEX).arg(gl::integer(GL_PROVOKING_VERTEX)).done();
    }
    if has((4, 0)) {
        describe_patches(emitter);
    }
    if has((4, 5)) || driver.has("GL_ARB_clip_control") {
        let [origin, depth] = [GL_CLIP_ORIGIN, GL_CLIP_DEPTH_MODE].map(gl::integer);
        emitter.command(GL_CLIP_CONTROL).arg(origin).arg(depth).done();
    }
}

/// The core profile has one mode for both faces; the driver tells two numbers in any profile.
fn describe_polygon_modes(emitter: &mut Emitter, context: &Context) {
    use gapii_commands::constants::{GL_BACK, GL_FRONT};
    let [front, back] = gl::integers::<2>(GL_POLYGON_MODE);
    let faces: &[(u32, i32)] = match context.api {
        ContextApi::Core => &[(GL_FRONT_AND_BACK, front)],
        _ => &[(GL_FRONT, front), (GL_BACK, back)],
    };
    for (face, mode) in faces {
        emitter.command(ids::GL_POLYGON_MODE).arg(*face).arg(*mode).done();
    }
}

fn describe_patches(emitter: &mut Emitter) {
    let outer = gl::floats::<4>(GL_PATCH_DEFAULT_OUTER_LEVEL);
    let inner = gl::floats::<2>(GL_PATCH_DEFAULT_INNER_LEVEL);
    for (name, levels) in
        [(GL_PATCH_DEFAULT_OUTER_LEVEL, &outer[..]), (GL_PATCH_DEFAULT_INNER_LEVEL, &inner[..])]
    {
        let bytes: Vec<u8> = levels.iter().flat_map(|level| level.to_le_bytes()).collect();
        let command = emitter.command(GL_PATCH_PARAMETERFV).arg(name).arg(bytes.as_ptr());
        command.range(1, &bytes).done();
    }
}
