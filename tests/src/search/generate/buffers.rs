//! Buffers: storage, copies, mappings, deletion.

use crate::search::world::{Api, BLOCKS, Buffer, Mapping, World};

pub const TARGETS: &[(&str, (u8, u8))] = &[
    ("GL_ARRAY_BUFFER", (1, 0)),
    ("GL_COPY_READ_BUFFER", (3, 0)),
    ("GL_COPY_WRITE_BUFFER", (3, 0)),
    ("GL_UNIFORM_BUFFER", (3, 0)),
    ("GL_SHADER_STORAGE_BUFFER", (3, 1)),
    ("GL_ATOMIC_COUNTER_BUFFER", (3, 1)),
    ("GL_DRAW_INDIRECT_BUFFER", (3, 1)),
    ("GL_DISPATCH_INDIRECT_BUFFER", (3, 1)),
    ("GL_TEXTURE_BUFFER", (3, 2)),
];
const SIZES: &[usize] = &[64, 64, 256, 256, 640];

fn target(world: &mut World) -> &'static str {
    let version = world.version();
    let known: Vec<_> =
        TARGETS.iter().filter(|(_, since)| version >= *since).map(|(name, _)| *name).collect();
    world.one_of(&known)
}

/// A target with a buffer that is not mapped; mapped ones too if `mapped`.
fn bound(world: &mut World, fits: impl Fn(&Buffer) -> bool) -> Option<(&'static str, usize)> {
    let all: Vec<_> = world
        .here()
        .buffers
        .iter()
        .map(|(target, buffer)| (*target, *buffer))
        .filter(|(_, buffer)| fits(&world.buffers[*buffer]))
        .collect();
    world.some_of(&all)
}

/// Binds the buffer of a target again if another context has given it a data store: a context need not see that before
/// (OpenGL ES 3.2, 5.3.3). False if it cannot be bound again.
fn see(world: &mut World, target: &str, buffer: usize) -> bool {
    let (is_new, has_name) =
        (world.was_stored_elsewhere(buffer), world.names().buffers.contains(&buffer));
    if is_new && has_name {
        world.step(format!("glBindBuffer {target} b{buffer}"));
    }
    has_name || !is_new
}

/// A named buffer with storage, made if there is none.
pub fn with_storage(world: &mut World, size: usize) -> usize {
    let group = world.here().group;
    let fits = |world: &World, buffer: &usize| {
        let known = &world.buffers[*buffer];
        known.size >= size && known.mapping.is_none() && known.group == group
    };
    let all: Vec<usize> =
        world.names().buffers.iter().copied().filter(|buffer| fits(world, buffer)).collect();
    if let Some(buffer) = world.some_of(&all)
        && world.chance(85)
    {
        return buffer;
    }
    let buffer = add(world);
    world.step(format!("glGenBuffers 1 new:b{buffer}"));
    world.step(format!("glBindBuffer GL_ARRAY_BUFFER b{buffer}"));
    let seed = world.seed();
    world.step(format!("glBufferData GL_ARRAY_BUFFER {size} bytes:{size}:{seed} GL_STATIC_DRAW"));
    world.stored(buffer, size);
    world.context().buffers.insert("GL_ARRAY_BUFFER", buffer);
    buffer
}

/// A new buffer with numbers of 32 bits, bound to a target.
pub fn with_numbers(world: &mut World, target: &'static str, numbers: &[u32]) {
    let buffer = add(world);
    let (size, texts) = (4 * numbers.len(), numbers.iter().map(u32::to_string));
    let numbers = texts.collect::<Vec<_>>().join(",");
    world.step(format!("glGenBuffers 1 new:b{buffer}"));
    world.step(format!("glBindBuffer {target} b{buffer}"));
    world.step(format!("glBufferData {target} {size} ints:{numbers} GL_STATIC_DRAW"));
    world.stored(buffer, size);
    world.context().buffers.insert(target, buffer);
}

fn add(world: &mut World) -> usize {
    let group = world.here().group;
    let buffer = world.count('b');
    world.buffers.resize(buffer + 1, Buffer::default());
    world.buffers[buffer].group = group;
    world.group().buffers.push(buffer);
    buffer
}

pub fn make(world: &mut World) -> bool {
    let buffer = add(world);
    world.step(format!("glGenBuffers 1 new:b{buffer}"));
    let target = target(world);
    world.step(format!("glBindBuffer {target} b{buffer}"));
    world.context().buffers.insert(target, buffer);
    if world.chance(80) {
        define(world, target, buffer);
    }
    true
}

/// A name that the program chooses itself: buffers need no generated names.
pub fn name_by_choice(world: &mut World) -> bool {
    if world.api() == Api::Core {
        return false;
    }
    let buffer = add(world);
    let name = {
        let group = world.group();
        group.chosen_names -= 1;
        group.chosen_names
    };
    world.step(format!("@name b{buffer} {name}"));
    let target = target(world);
    world.step(format!("glBindBuffer {target} b{buffer}"));
    world.context().buffers.insert(target, buffer);
    define(world, target, buffer);
    true
}

fn define(world: &mut World, target: &'static str, buffer: usize) {
    let size = world.one_of(SIZES);
    let usages = ["GL_STATIC_DRAW", "GL_DYNAMIC_DRAW", "GL_STREAM_DRAW"];
    // OpenGL ES 1 has two of them.
    let known = if world.version() < (2, 0) { 2 } else { usages.len() };
    let usage = world.one_of(&usages[..known]);
    let seed = world.seed();
    world.step(format!("glBufferData {target} {size} bytes:{size}:{seed} {usage}"));
    world.stored(buffer, size);
}

pub fn bind(world: &mut World) -> bool {
    let all = world.names().buffers.clone();
    let Some(buffer) = world.some_of(&all) else { return false };
    let target = target(world);
    if world.chance(12) {
        world.step(format!("glBindBuffer {target} 0"));
        world.context().buffers.remove(target);
    } else {
        world.step(format!("glBindBuffer {target} b{buffer}"));
        world.context().buffers.insert(target, buffer);
    }
    true
}

pub fn fill(world: &mut World) -> bool {
    let Some((target, buffer)) = bound(world, |buffer| !buffer.is_immutable) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    define(world, target, buffer);
    true
}

pub fn change(world: &mut World) -> bool {
    let Some((target, buffer)) = bound(world, |buffer| buffer.size > 0) else { return false };
    if !see(world, target, buffer) {
        return false;
    }
    let (offset, size) = part(world, buffer);
    let seed = world.seed();
    world.step(format!("glBufferSubData {target} {offset} {size} bytes:{size}:{seed}"));
    true
}

/// Offset and size within a buffer, multiples of 16 bytes.
fn part(world: &mut World, buffer: usize) -> (usize, usize) {
    let parts = world.buffers[buffer].size / 16;
    let first = world.below(parts);
    (first * 16, (1 + world.below(parts - first)) * 16)
}

pub fn make_immutable(world: &mut World) -> bool {
    let Some((target, buffer)) = bound(world, |buffer| !buffer.is_immutable) else { return false };
    if world.version() < (3, 1) || world.is_feeding_back() {
        return false;
    }
    let flags = world.one_of(&[
        "GL_DYNAMIC_STORAGE_BIT_EXT",
        "GL_DYNAMIC_STORAGE_BIT_EXT|GL_MAP_READ_BIT",
        "GL_MAP_WRITE_BIT",
        "GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT_EXT|GL_MAP_COHERENT_BIT_EXT",
        "GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT_EXT|GL_MAP_COHERENT_BIT_EXT|GL_DYNAMIC_STORAGE_BIT_EXT",
        "0",
    ]);
    let (size, seed) = (world.one_of(SIZES), world.seed());
    world.step(format!("glBufferStorageEXT {target} {size} bytes:{size}:{seed} {flags}"));
    world.stored(buffer, size);
    world.buffers[buffer].is_immutable = true;
    true
}

pub fn copy(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.is_feeding_back() {
        return false;
    }
    let (Some((from, a)), Some((to, b))) =
        (bound(world, |buffer| buffer.size > 0), bound(world, |buffer| buffer.size > 0))
    else {
        return false;
    };
    if !see(world, from, a) || !see(world, to, b) {
        return false;
    }
    let size = world.buffers[a].size.min(world.buffers[b].size) / 2 / 16 * 16;
    let offset = world.buffers[b].size - size;
    world.step(format!("glCopyBufferSubData {from} {to} 0 {offset} {size}"));
    true
}

pub fn map(world: &mut World) -> bool {
    let fits = |buffer: &Buffer| buffer.size > 0 && buffer.mapping.is_none();
    let Some((target, buffer)) = bound(world, fits) else { return false };
    if world.is_feeding_back() || !see(world, target, buffer) {
        return false;
    }
    if world.version() < (3, 0) || world.chance(10) {
        return map_whole(world, target, buffer);
    }
    let (mut offset, mut size) = part(world, buffer);
    if world.chance(30) {
        (offset, size) = (0, world.buffers[buffer].size);
    }
    let persistent = world.buffers[buffer].is_immutable && world.chance(70);
    let access = match persistent {
        true => world.one_of(&[
            "GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT_EXT|GL_MAP_COHERENT_BIT_EXT",
            "GL_MAP_READ_BIT|GL_MAP_WRITE_BIT|GL_MAP_PERSISTENT_BIT_EXT|GL_MAP_COHERENT_BIT_EXT",
        ]),
        false => world.one_of(&[
            "GL_MAP_READ_BIT",
            "GL_MAP_WRITE_BIT",
            "GL_MAP_READ_BIT|GL_MAP_WRITE_BIT",
            "GL_MAP_WRITE_BIT|GL_MAP_FLUSH_EXPLICIT_BIT",
            "GL_MAP_WRITE_BIT|GL_MAP_UNSYNCHRONIZED_BIT",
        ]),
    };
    let pointer = world.count('p');
    world.step(format!("p{pointer}= glMapBufferRange {target} {offset} {size} {access}"));
    world.buffers[buffer].mapping = Some(Mapping {
        pointer,
        size,
        reads: access.contains("READ"),
        writes: access.contains("WRITE"),
        explicit: access.contains("EXPLICIT"),
        persistent: access.contains("PERSISTENT"),
    });
    true
}

/// Maps all of a buffer for writing (GL_OES_mapbuffer). Immutable storage may be without the right to it.
fn map_whole(world: &mut World, target: &str, buffer: usize) -> bool {
    if world.buffers[buffer].is_immutable {
        return false;
    }
    let (pointer, size) = (world.count('p'), world.buffers[buffer].size);
    world.step(format!("p{pointer}= glMapBufferOES {target} GL_WRITE_ONLY_OES"));
    world.buffers[buffer].mapping = Some(Mapping {
        pointer,
        size,
        reads: false,
        writes: true,
        explicit: false,
        persistent: false,
    });
    true
}

/// The command that ends a mapping.
pub fn unmap_command(world: &World) -> &'static str {
    if world.version() < (3, 0) { "glUnmapBufferOES" } else { "glUnmapBuffer" }
}

pub fn use_mapping(world: &mut World) -> bool {
    let Some((target, buffer)) = bound(world, |buffer| buffer.mapping.is_some()) else {
        return false;
    };
    let Some(mapping) = world.buffers[buffer].mapping.clone() else { return false };
    let offset = world.below(mapping.size / 16) * 16;
    if mapping.writes {
        let seed = world.seed();
        world.step(format!("@write p{} {offset} 16 {seed}", mapping.pointer));
        if mapping.explicit {
            world.step(format!("glFlushMappedBufferRange {target} {offset} 16"));
        }
    }
    if mapping.reads {
        world.step(format!("@read p{} {offset} 16", mapping.pointer));
    }
    true
}

pub fn unmap(world: &mut World) -> bool {
    let Some((target, buffer)) = bound(world, |buffer| buffer.mapping.is_some()) else {
        return false;
    };
    world.step(format!("?8 {} {target}", unmap_command(world)));
    world.buffers[buffer].mapping = None;
    true
}

pub fn delete(world: &mut World) -> bool {
    let all = world.names().buffers.clone();
    let Some(buffer) = world.some_of(&all) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    world.step(format!("glDeleteBuffers 1 ints:b{buffer}"));
    world.group().buffers.retain(|named| *named != buffer);
    // Its deletion ends the mapping.
    world.buffers[buffer].mapping = None;
    world.unbind_buffer(buffer);
    if world.chance(50) {
        return make(world);
    }
    true
}

pub fn bind_indexed(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.is_feeding_back() {
        return false;
    }
    let buffer = with_storage(world, 256);
    let target = match world.version() >= (3, 1) {
        true => {
            world.one_of(&["GL_UNIFORM_BUFFER", "GL_UNIFORM_BUFFER", "GL_SHADER_STORAGE_BUFFER"])
        }
        false => "GL_UNIFORM_BUFFER",
    };
    let index = world.below(BLOCKS);
    match world.chance(50) {
        true => world.step(format!("glBindBufferBase {target} {index} b{buffer}")),
        false => world.step(format!("glBindBufferRange {target} {index} b{buffer} 0 64")),
    }
    world.context().buffers.insert(target, buffer);
    if target == "GL_UNIFORM_BUFFER" {
        world.set_block(index, buffer);
    }
    true
}

/// Gives memory to the uniform blocks of programs, without which a draw has undefined results (OpenGL ES 3.2, 7.6.3).
pub fn bind_blocks(world: &mut World) {
    if world.version() < (3, 0) {
        return;
    }
    for index in 0..BLOCKS {
        if world.here().blocks[index].is_none() {
            let buffer = with_storage(world, 64);
            world.step(format!("glBindBufferBase GL_UNIFORM_BUFFER {index} b{buffer}"));
            world.context().buffers.insert("GL_UNIFORM_BUFFER", buffer);
            world.set_block(index, buffer);
        }
    }
}
