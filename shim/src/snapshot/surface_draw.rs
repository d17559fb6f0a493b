//! Draws pixels to a surface where a replay cannot blit: in OpenGL ES 2 and 1, and to multisampled surfaces. Before and
//! after, the context has its initial state, but for a texture that is bound.

use gapii_abi::spare_names;
use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ARRAY_BUFFER, GL_FLOAT, GL_FRAGMENT_SHADER, GL_RGBA, GL_STATIC_DRAW, GL_TEXTURE_2D,
    GL_TEXTURE_COORD_ARRAY, GL_TEXTURE_ENV, GL_TEXTURE_ENV_MODE, GL_TEXTURE_MAG_FILTER,
    GL_TEXTURE_MIN_FILTER, GL_TEXTURE_WRAP_S, GL_TEXTURE_WRAP_T, GL_TRIANGLE_STRIP,
    GL_UNSIGNED_BYTE, GL_VERTEX_ARRAY, GL_VERTEX_SHADER,
};

use gapii_state::Context;

use super::emit::Emitter;
use super::glsl;
use super::picture::Picture;
use super::spare;
use crate::generated::ids::*;

const GL_NEAREST: i32 = constants::GL_NEAREST as i32;
const GL_CLAMP_TO_EDGE: i32 = constants::GL_CLAMP_TO_EDGE as i32;
const GL_REPLACE: i32 = constants::GL_REPLACE as i32;
const GL_MODULATE: i32 = constants::GL_MODULATE as i32;
/// Texture parameters with which each pixel gets its texel unchanged.
const PLAIN: [(u32, i32); 4] = [
    (GL_TEXTURE_MIN_FILTER, GL_NEAREST),
    (GL_TEXTURE_MAG_FILTER, GL_NEAREST),
    (GL_TEXTURE_WRAP_S, GL_CLAMP_TO_EDGE),
    (GL_TEXTURE_WRAP_T, GL_CLAMP_TO_EDGE),
];

const VERTEX_SOURCE: &str = "attribute vec4 corner;
varying vec2 at;
void main() {
    gl_Position = vec4(corner.xy, 0.0, 1.0);
    at = corner.zw;
}
";
/// OpenGL has no precisions below 3.0.
const FRAGMENT_SOURCE: &str = "#ifdef GL_ES
#ifdef GL_FRAGMENT_PRECISION_HIGH
precision highp float;
#else
precision mediump float;
#endif
#endif
varying vec2 at;
uniform sampler2D picture;
void main() {
    gl_FragColor = texture2D(picture, at);
}
";

/// The same for OpenGL from 3.0 on. A line with the version precedes them.
const VERTEX_SOURCE_3: &str = "
in vec4 corner;
out vec2 at;
void main() {
    gl_Position = vec4(corner.xy, 0.0, 1.0);
    at = corner.zw;
}
";
const FRAGMENT_SOURCE_3: &str = "
in vec2 at;
out vec4 color;
uniform sampler2D picture;
void main() {
    color = texture(picture, at);
}
";

/// Draws with a program, in OpenGL ES 2 and higher, and in OpenGL.
pub fn with_a_program(emitter: &mut Emitter, picture: &Picture<'_>, context: &Context) {
    const PROGRAM_NAME: u32 = spare_names::FIRST + 2;
    let has_arrays = context.api.is_desktop(context.version, (3, 0));
    let sources = match has_arrays {
        true => {
            let version = glsl::version_in(context.api, context.version, 300);
            [VERTEX_SOURCE_3, FRAGMENT_SOURCE_3].map(|source| format!("{version}{source}"))
        }
        false => [VERTEX_SOURCE, FRAGMENT_SOURCE].map(str::to_owned),
    };
    let [vertices, fragments] = &sources;
    let stages = [(GL_VERTEX_SHADER, vertices.as_str()), (GL_FRAGMENT_SHADER, fragments.as_str())];
    if has_arrays {
        // The core profile draws nothing without one.
        emitter.make(GL_GEN_VERTEX_ARRAYS, spare_names::FIRST);
        emitter.command(GL_BIND_VERTEX_ARRAY).arg(spare_names::FIRST).done();
    }
    set_plain(emitter);
    picture.upload(emitter, GL_RGBA);
    spare::make_program(emitter, PROGRAM_NAME, spare_names::FIRST, &stages);
    let command = emitter.command(GL_BIND_ATTRIB_LOCATION).arg(PROGRAM_NAME).arg(0_u32);
    command.text(c"corner").done();
    emitter.command(GL_LINK_PROGRAM).arg(PROGRAM_NAME).done();
    emitter.command(GL_USE_PROGRAM).arg(PROGRAM_NAME).done();
    make_corners(emitter, [1.0, 1.0]);
    set_pointer(emitter, 16);
    emitter.command(GL_ENABLE_VERTEX_ATTRIB_ARRAY).arg(0_u32).done();
    draw(emitter, picture);
    emitter.command(GL_DISABLE_VERTEX_ATTRIB_ARRAY).arg(0_u32).done();
    if has_arrays {
        spare::delete(emitter, GL_DELETE_VERTEX_ARRAYS, &[spare_names::FIRST]);
        end_corners(emitter);
    } else {
        end_corners(emitter);
        set_pointer(emitter, 0);
    }
    emitter.command(GL_USE_PROGRAM).arg(0_u32).done();
    emitter.command(GL_DELETE_PROGRAM).arg(PROGRAM_NAME).done();
}

fn set_pointer(emitter: &mut Emitter, stride: i32) {
    let command = emitter.command(GL_VERTEX_ATTRIB_POINTER).arg(0_u32).arg(4_i32).arg(GL_FLOAT);
    command.arg(0_u8).arg(stride).arg(0_u64).done();
}

/// Draws with one texture unit, in OpenGL ES 1. Sides of textures are powers of two.
pub fn with_fixed_functions(emitter: &mut Emitter, picture: &Picture<'_>) {
    let power = |side: i32| side.clamp(1, 1 << 16).cast_unsigned().next_power_of_two() as i32;
    let (width, height) = (power(picture.width), power(picture.height));
    set_plain(emitter);
    let command = emitter.command(GL_TEX_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32).arg(GL_RGBA);
    let command = command.arg(width).arg(height).arg(0_i32).arg(GL_RGBA);
    command.arg(GL_UNSIGNED_BYTE).arg(0_u64).done();
    let command = emitter.command(GL_TEX_SUB_IMAGE2D).arg(GL_TEXTURE_2D).arg(0_i32);
    let command = command.arg(0_i32).arg(0_i32).arg(picture.width).arg(picture.height);
    let command = command.arg(GL_RGBA).arg(GL_UNSIGNED_BYTE).arg(picture.pixels.as_ptr());
    command.range(8, picture.pixels).done();
    let share = |part: i32, whole: i32| part as f32 / whole as f32;
    make_corners(emitter, [share(picture.width, width), share(picture.height, height)]);
    emitter.command(GL_ENABLE).arg(GL_TEXTURE_2D).done();
    set_environment(emitter, GL_REPLACE);
    for (id, offset) in [(GL_VERTEX_POINTER, 0_u64), (GL_TEX_COORD_POINTER, 8)] {
        emitter.command(id).arg(2_i32).arg(GL_FLOAT).arg(16_i32).arg(offset).done();
    }
    for array in [GL_VERTEX_ARRAY, GL_TEXTURE_COORD_ARRAY] {
        emitter.command(GL_ENABLE_CLIENT_STATE).arg(array).done();
    }
    draw(emitter, picture);
    for array in [GL_VERTEX_ARRAY, GL_TEXTURE_COORD_ARRAY] {
        emitter.command(GL_DISABLE_CLIENT_STATE).arg(array).done();
    }
    end_corners(emitter);
    for id in [GL_VERTEX_POINTER, GL_TEX_COORD_POINTER] {
        emitter.command(id).arg(4_i32).arg(GL_FLOAT).arg(0_i32).arg(0_u64).done();
    }
    set_environment(emitter, GL_MODULATE);
    emitter.command(GL_DISABLE).arg(GL_TEXTURE_2D).done();
}

fn set_environment(emitter: &mut Emitter, mode: i32) {
    emitter.command(GL_TEX_ENVI).arg(GL_TEXTURE_ENV).arg(GL_TEXTURE_ENV_MODE).arg(mode).done();
}

fn set_plain(emitter: &mut Emitter) {
    for (name, value) in PLAIN {
        emitter.command(GL_TEX_PARAMETERI).arg(GL_TEXTURE_2D).arg(name).arg(value).done();
    }
}

/// Makes and binds a buffer with the viewport's corners: x, y, and texture coordinates.
fn make_corners(emitter: &mut Emitter, [s, t]: [f32; 2]) {
    let corners: [[f32; 4]; 4] =
        [[-1.0, -1.0, 0.0, 0.0], [1.0, -1.0, s, 0.0], [-1.0, 1.0, 0.0, t], [1.0, 1.0, s, t]];
    let bytes: Vec<u8> = corners.iter().flatten().flat_map(|it| it.to_le_bytes()).collect();
    emitter.make(GL_GEN_BUFFERS, spare_names::FIRST);
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(spare_names::FIRST).done();
    let command = emitter.command(GL_BUFFER_DATA).arg(GL_ARRAY_BUFFER).arg(bytes.len() as i64);
    command.arg(bytes.as_ptr()).arg(GL_STATIC_DRAW).range(2, &bytes).done();
}

fn end_corners(emitter: &mut Emitter) {
    emitter.command(GL_BIND_BUFFER).arg(GL_ARRAY_BUFFER).arg(0_u32).done();
    spare::delete(emitter, GL_DELETE_BUFFERS, &[spare_names::FIRST]);
}

fn draw(emitter: &mut Emitter, picture: &Picture<'_>) {
    let command = emitter.command(GL_VIEWPORT).arg(0_i32).arg(0_i32);
    command.arg(picture.width).arg(picture.height).done();
    emitter.command(GL_DRAW_ARRAYS).arg(GL_TRIANGLE_STRIP).arg(0_i32).arg(4_i32).done();
}
