//! Commands of extensions that did not become part of OpenGL ES.

use crate::search::generate::textures::FORMATS;
use crate::search::world::World;

/// Gives a level of a texture, or a part of it, one value (GL_EXT_clear_texture).
pub fn clear_texture(world: &mut World) -> bool {
    let fits = |texture: &&usize| {
        let it = &world.textures[**texture];
        it.levels > 0 && !it.is_compressed && FORMATS.get(it.format).is_some()
    };
    let all: Vec<usize> = world.names().textures.iter().filter(fits).copied().collect();
    // In Mesa 22.3 the color depends on whether the driver has looked at the parameters of glPixelTransfer since they were set.
    let may_clear = world.version() >= (3, 1) && !world.transfers_pixels;
    let Some(texture) = world.some_of(&all).filter(|_| may_clear) else { return false };
    let it = world.textures[texture].clone();
    let (format, level) = (&FORMATS[it.format], world.below(it.levels as usize));
    let (kind, seed) = (format!("{} {}", format.format, format.kind), world.seed());
    let value = format!("bytes:{}:{seed}", format.bytes);
    let place = format!("t{texture} {level}");
    let is_whole = world.chance(50);
    world.step(match is_whole {
        true => format!("glClearTexImageEXT {place} {kind} {value}"),
        false => format!("glClearTexSubImageEXT {place} 1 2 0 5 4 1 {kind} {value}"),
    });
    true
}

/// Records a time (GL_EXT_disjoint_timer_query), which differs from run to run: nothing asks for it.
pub fn time(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    let query = world.count('q');
    world.step(format!("glGenQueries 1 new:q{query}"));
    world.step(format!("glQueryCounterEXT q{query} GL_TIMESTAMP_EXT"));
    world.step(format!("?8 glIsQuery q{query}"));
    if world.chance(50) {
        world.step(format!("glDeleteQueries 1 ints:q{query}"));
    }
    true
}

/// Makes, changes or deletes a memory object (GL_EXT_memory_object) that has no memory of another API.
pub fn memory_object(world: &mut World) -> bool {
    let all = world.names().memory_objects.clone();
    match world.some_of(&all) {
        Some(memory) if world.chance(30) => {
            world.step(format!("glDeleteMemoryObjectsEXT 1 ints:o{memory}"));
            world.group().memory_objects.retain(|named| *named != memory);
        }
        Some(memory) if world.chance(50) => {
            let value = world.below(2);
            world.step(format!(
                "glMemoryObjectParameterivEXT o{memory} GL_DEDICATED_MEMORY_OBJECT_EXT ints:{value}"
            ));
        }
        _ => {
            let memory = world.count('o');
            world.step(format!("glCreateMemoryObjectsEXT 1 new:o{memory}"));
            world.group().memory_objects.push(memory);
        }
    }
    true
}

/// Commands that order others, and the number of the compiler's threads (GL_KHR_parallel_shader_compile).
pub fn barrier(world: &mut World) -> bool {
    let threads = world.below(3);
    match world.chance(50) {
        true => world.step("glFramebufferFetchBarrierEXT"),
        false => world.step(format!("glMaxShaderCompilerThreadsKHR {threads}")),
    }
    true
}

/// Asks for what these commands have set.
pub fn ask(world: &mut World) {
    for memory in world.names().memory_objects.clone() {
        world.step(format!("?8 glIsMemoryObjectEXT o{memory}"));
        world.step(format!(
            "glGetMemoryObjectParameterivEXT o{memory} GL_DEDICATED_MEMORY_OBJECT_EXT out:4"
        ));
    }
    world.step("glGetIntegerv GL_MAX_SHADER_COMPILER_THREADS_KHR out:4");
    world.step("? glGetError");
}
