//! Compute shaders that write to buffers and images, and draws whose arguments are in a buffer.

use crate::search::generate::buffers::{with_numbers, with_storage};
use crate::search::world::{Source, World};

/// Writes 16 numbers to a buffer, counts, and writes a row of texels, in a program of its own.
pub fn dispatch(world: &mut World) -> bool {
    if world.version() < (3, 1) || world.is_feeding_back() || world.may_use_freed_shaders() {
        return false;
    }
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.is_immutable && it.format == 0 && it.target == "GL_TEXTURE_2D"
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    let Some(texture) = world.some_of(&all) else { return false };
    let (shader, program, location) = (world.count('h'), world.count('g'), world.count('u'));
    world.step(format!("h{shader}= glCreateShader GL_COMPUTE_SHADER"));
    world.step(format!("glShaderSource h{shader} 1 shader:compute310 0"));
    world.step(format!("glCompileShader h{shader}"));
    world.step(format!("g{program}= glCreateProgram"));
    world.step(format!("glAttachShader g{program} h{shader}"));
    world.step(format!("glLinkProgram g{program}"));
    let before = world.here().program.filter(|before| world.names().programs.contains(before));
    world.step(format!("glUseProgram g{program}"));
    world.step(format!("u{location}= glGetUniformLocation g{program} text:factor"));
    let factor = world.below(9);
    world.step(format!("glUniform1ui u{location} {factor}"));
    let [numbers, counter] = [64, 64].map(|size| with_storage(world, size));
    world.step(format!("glBindBufferRange GL_SHADER_STORAGE_BUFFER 1 b{numbers} 0 64"));
    world.step(format!("glBindBufferBase GL_ATOMIC_COUNTER_BUFFER 0 b{counter}"));
    let context = world.context();
    context.buffers.insert("GL_SHADER_STORAGE_BUFFER", numbers);
    context.buffers.insert("GL_ATOMIC_COUNTER_BUFFER", counter);
    world.step(format!("glBindImageTexture 1 t{texture} 0 0 0 GL_WRITE_ONLY GL_RGBA8"));
    if numbers != counter {
        if world.chance(50) {
            world.step("glDispatchCompute 4 1 1");
        } else {
            with_numbers(world, "GL_DISPATCH_INDIRECT_BUFFER", &[2, 1, 1, 0]);
            world.step("glDispatchComputeIndirect 0");
        }
        world.step("glMemoryBarrier GL_ALL_BARRIER_BITS");
    }
    world.step("? glGetError");
    match before {
        Some(before) => world.use_program(before),
        None => {
            world.step("glUseProgram 0");
            world.context().program = None;
        }
    }
    if world.chance(60) {
        world.step(format!("glDeleteProgram g{program}"));
    }
    true
}

/// Draws with arguments from a buffer, which a vertex array with a name has to have all attributes of.
pub fn draw(world: &mut World) -> bool {
    let context = world.here();
    let array = &world.vertex_arrays[context.array];
    let is_whole =
        context.array != context.default_array && !array.sources.contains(&Source::Client);
    if world.version() < (3, 1) || world.is_feeding_back() || !is_whole {
        return false;
    }
    if !world.may_draw() || world.may_use_freed_shaders() {
        return false;
    }
    let elements = world.array().elements;
    let is_indexed = elements.is_some_and(|buffer| world.buffers[buffer].size >= 64);
    if is_indexed && world.chance(50) {
        with_numbers(world, "GL_DRAW_INDIRECT_BUFFER", &[6, 2, 4, 0, 0]);
        world.step("glDrawElementsIndirect GL_TRIANGLES GL_UNSIGNED_BYTE 0");
    } else {
        with_numbers(world, "GL_DRAW_INDIRECT_BUFFER", &[6, 2, 1, 0]);
        world.step("glDrawArraysIndirect GL_TRIANGLES 0");
    }
    world.drawn();
    world.step("? glGetError");
    true
}
