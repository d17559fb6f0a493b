//! Draws, queries, transform feedback, and answers.

use crate::search::generate::buffers::{bind_blocks, with_storage};
use crate::search::generate::framebuffers::settle_read_buffer;
use crate::search::generate::questions::{BINDINGS, attribute_of};
use crate::search::world::World;

/// Bytes that `glReadPixels` of 8 by 8 pixels may write, whatever the pack parameters are.
const READ_BYTES: usize = 4096;

pub fn draw(world: &mut World) -> bool {
    if world.here().program.is_some() && !world.is_feeding_back() {
        bind_blocks(world);
    }
    if !world.may_draw() || world.may_use_freed_shaders() {
        return false;
    }
    let program = world.here().program.and_then(|program| world.programs.get(program));
    let has_patches = program.is_some_and(|program| program.recipe.has_patches());
    let mode = match world.is_feeding_back() {
        _ if has_patches && world.chance(80) => "GL_PATCHES",
        true => "GL_TRIANGLES",
        // Pipelines may have stages for patches, too.
        false if world.version() >= (3, 2) && world.chance(8) => "GL_PATCHES",
        false => world.one_of(&[
            "GL_TRIANGLES",
            "GL_TRIANGLE_STRIP",
            "GL_TRIANGLE_FAN",
            "GL_POINTS",
            "GL_LINES",
        ]),
    };
    let (first, count) = (world.below(3), 3 + world.below(9));
    let array = world.here().array;
    let elements = world.vertex_arrays[array].elements;
    match world.below(4) {
        0 if elements.is_some_and(|buffer| world.buffers[buffer].size >= 64)
            && !world.is_feeding_back() =>
        {
            draw_elements(world, mode, count);
        }
        1 if world.version() >= (3, 0) => {
            let way = world.below(4);
            world.step(match way {
                0 => format!("glDrawArraysInstancedBaseInstanceEXT {mode} {first} {count} 3 1"),
                _ => format!("glDrawArraysInstanced {mode} {first} {count} 3"),
            });
        }
        2 if world.chance(20) => {
            world.step(format!("glMultiDrawArraysEXT {mode} ints:{first},0 ints:{count},3 2"));
        }
        _ => world.step(format!("glDrawArrays {mode} {first} {count}")),
    }
    world.drawn();
    world.step("? glGetError");
    read_pixels(world);
    true
}

/// Draws with the bound indices, in one of the ways that the version has.
fn draw_elements(world: &mut World, mode: &str, count: usize) {
    let way = match world.version() {
        version if version >= (3, 2) => world.below(10),
        version if version >= (3, 0) => world.below(3),
        _ => 0,
    };
    world.step(match way {
        1 => format!("glDrawRangeElements {mode} 0 255 {count} GL_UNSIGNED_BYTE 4"),
        2 => format!("glDrawElementsInstanced {mode} {count} GL_UNSIGNED_BYTE 4 2"),
        3 => format!("glDrawElementsBaseVertex {mode} {count} GL_UNSIGNED_BYTE 4 1"),
        4 => format!(
            "glDrawRangeElementsBaseVertex {mode} 0 255 {count} GL_UNSIGNED_BYTE 4 1"
        ),
        5 => format!(
            "glDrawElementsInstancedBaseVertex {mode} {count} GL_UNSIGNED_BYTE 4 2 1"
        ),
        6 => format!(
            "glDrawElementsInstancedBaseInstanceEXT {mode} {count} GL_UNSIGNED_BYTE 4 2 1"
        ),
        7 => format!(
            "glDrawElementsInstancedBaseVertexBaseInstanceEXT {mode} {count} GL_UNSIGNED_BYTE 4 2 1 1"
        ),
        // The offsets are of 64 bits.
        8 => format!(
            "glMultiDrawElementsEXT {mode} ints:{count},3 GL_UNSIGNED_BYTE ints:4,0,0,0 2"
        ),
        9 => format!(
            "glMultiDrawElementsBaseVertexEXT {mode} ints:{count},3 GL_UNSIGNED_BYTE ints:4,0,0,0 2 ints:0,1"
        ),
        _ => format!("glDrawElements {mode} {count} GL_UNSIGNED_BYTE 4"),
    });
}

fn read_pixels(world: &mut World) {
    settle_read_buffer(world);
    // Bytes that the command does not write are the same on every run.
    let format = "GL_RGBA GL_UNSIGNED_BYTE";
    let is_bounded = world.version() >= (3, 2) && world.chance(20);
    world.step(match is_bounded {
        true => format!("glReadnPixels 0 0 8 8 {format} {READ_BYTES} out:{READ_BYTES}"),
        false => format!("glReadPixels 0 0 8 8 {format} out:{READ_BYTES}"),
    });
    world.step("? glGetError");
}

pub fn read(world: &mut World) -> bool {
    read_pixels(world);
    true
}

pub fn query(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    if let Some((query, target)) = world.here().active_query {
        world.step(format!("glEndQuery {target}"));
        world.context().active_query = None;
        if world.chance(50) {
            world.step(format!("glGetQueryObjectuiv q{query} GL_QUERY_RESULT out:4"));
        }
        return true;
    }
    let all = world.here().queries.clone();
    if let Some((query, _)) = world.some_of(&all)
        && world.chance(20)
    {
        world.step(format!("glDeleteQueries 1 ints:q{query}"));
        world.context().queries.retain(|(named, _)| *named != query);
        return true;
    }
    let query = world.count('q');
    let known = if world.version() >= (3, 2) { 4 } else { 3 };
    let target = world.one_of(
        &[
            "GL_ANY_SAMPLES_PASSED",
            "GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN",
            "GL_ANY_SAMPLES_PASSED_CONSERVATIVE",
            "GL_PRIMITIVES_GENERATED",
        ][..known],
    );
    world.step(format!("glGenQueries 1 new:q{query}"));
    if world.chance(85) {
        world.step(format!("glBeginQuery {target} q{query}"));
        let context = world.context();
        context.active_query = Some((query, target));
        context.queries.push((query, true));
    }
    true
}

/// Begins, pauses, resumes or ends a transform feedback.
pub fn feedback(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    if world.is_feeding_back() {
        let paused = world.here().feedback_paused;
        match world.below(3) {
            0 if paused => {
                world.step("glResumeTransformFeedback");
                world.context().feedback_paused = false;
            }
            0 => {
                world.step("glPauseTransformFeedback");
                world.context().feedback_paused = true;
            }
            _ => {
                world.step("glEndTransformFeedback");
                let context = world.context();
                (context.feedback_active, context.feedback_paused) = (false, false);
            }
        }
        return true;
    }
    if world.here().program.is_none() {
        return false;
    }
    if world.chance(40) {
        let feedback = world.count('x');
        world.step(format!("glGenTransformFeedbacks 1 new:x{feedback}"));
        world.step(format!("glBindTransformFeedback GL_TRANSFORM_FEEDBACK x{feedback}"));
        world.context().feedbacks.push(feedback);
    }
    let buffer = with_storage(world, 640);
    for index in 0..2 {
        let offset = index * 320;
        world.step(format!(
            "glBindBufferRange GL_TRANSFORM_FEEDBACK_BUFFER {index} b{buffer} {offset} 320"
        ));
    }
    world.step("glBeginTransformFeedback GL_TRIANGLES");
    let context = world.context();
    (context.feedback_active, context.feedback_buffer) = (true, Some(buffer));
    true
}

/// Binds a transform feedback, or none, or deletes one.
pub fn feedback_object(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.is_feeding_back() {
        return false;
    }
    let all = world.here().feedbacks.clone();
    match world.some_of(&all) {
        Some(feedback) if world.chance(30) => {
            world.step(format!("glDeleteTransformFeedbacks 1 ints:x{feedback}"));
            world.context().feedbacks.retain(|named| *named != feedback);
        }
        Some(feedback) if world.chance(60) => {
            world.step(format!("glBindTransformFeedback GL_TRANSFORM_FEEDBACK x{feedback}"));
        }
        _ => world.step("glBindTransformFeedback GL_TRANSFORM_FEEDBACK 0"),
    }
    true
}

/// Begins or ends conditional rendering (GL_NV_conditional_render), with a query that has counted nothing: a replay has no other
/// result.
pub fn condition(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.here().active_query.is_some() {
        return false;
    }
    if world.here().is_conditional {
        world.step("glEndConditionalRenderNV");
    } else {
        let query = world.count('q');
        world.step(format!("glGenQueries 1 new:q{query}"));
        world.step(format!("glBeginQuery GL_ANY_SAMPLES_PASSED q{query}"));
        world.step("glEndQuery GL_ANY_SAMPLES_PASSED");
        world.step(format!("glBeginConditionalRenderNV q{query} GL_QUERY_WAIT_NV"));
    }
    let context = world.context();
    context.is_conditional = !context.is_conditional;
    true
}

/// Makes a fence, or waits for one, or deletes one.
pub fn fence(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    let all = world.names().syncs.clone();
    match world.some_of(&all) {
        Some(sync) if world.chance(30) => {
            world.step(format!("glDeleteSync y{sync}"));
            world.group().syncs.retain(|known| *known != sync);
        }
        Some(sync) if world.chance(30) => {
            world.step(format!("glWaitSync y{sync} 0 0xffffffffffffffff"));
        }
        _ => {
            let sync = world.count('y');
            world.step(format!("y{sync}= glFenceSync GL_SYNC_GPU_COMMANDS_COMPLETE 0"));
            world.group().syncs.push(sync);
        }
    }
    true
}

pub fn ask(world: &mut World) -> bool {
    let version = world.version();
    match world.below(5) {
        0 | 1 => {
            let known: Vec<_> = BINDINGS.iter().filter(|(.., since)| version >= *since).collect();
            let (name, kind, _) = world.one_of(&known);
            world.step(format!("glGetIntegerv {name} name:{kind}"));
        }
        2 => attribute(world),
        3 => {
            let programs = world.names().programs.clone();
            let Some(program) = world.some_of(&programs) else { return false };
            if world.chance(30) {
                world.step(format!("glValidateProgram g{program}"));
            }
            let name = world.one_of(world.programs[program].recipe.attributes);
            world.step(format!("? glGetAttribLocation g{program} text:{name}"));
            for name in
                ["GL_LINK_STATUS", "GL_ATTACHED_SHADERS", "GL_DELETE_STATUS", "GL_ACTIVE_UNIFORMS"]
            {
                world.step(format!("glGetProgramiv g{program} {name} out:4"));
            }
        }
        _ => {
            let buffers = world.names().buffers.clone();
            let Some(buffer) = world.some_of(&buffers) else { return false };
            world.step(format!("?8 glIsBuffer b{buffer}"));
        }
    }
    true
}

/// Asks for the state of an attribute.
pub fn attribute(world: &mut World) {
    let index = world.below(6);
    attribute_of(world, index);
}
