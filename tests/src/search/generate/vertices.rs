//! Vertex arrays: formats, bindings, divisors, values.

use crate::search::generate::buffers::with_storage;
use crate::search::world::{ATTRIBUTES, Api, CLIENT_BYTES, Source, VertexArray, World};

/// Types whose bytes are numbers whatever they are, with the bytes of a component.
const KINDS: &[(&str, usize)] = &[
    ("GL_UNSIGNED_BYTE", 1),
    ("GL_UNSIGNED_BYTE", 1),
    ("GL_BYTE", 1),
    ("GL_SHORT", 2),
    ("GL_UNSIGNED_SHORT", 2),
];

/// The first attribute that may have integers: the shaders' attributes are vectors of floats at lower locations.
const FIRST_OF_INTEGERS: usize = 4;

pub fn make_array(world: &mut World) -> bool {
    if world.version() < (3, 0) || world.is_feeding_back() {
        return false;
    }
    let array = world.count('v');
    world.step(format!("glGenVertexArrays 1 new:v{array}"));
    // Default vertex arrays take indices of the model that no object has.
    let at = world.vertex_arrays.len();
    world.vertex_arrays.push(VertexArray::new());
    world.context().named_arrays.push(at);
    world.array_names.insert(at, array);
    world.step(format!("glBindVertexArray v{array}"));
    world.set_array(at);
    if world.chance(80) {
        pointer(world);
        pointer(world);
    }
    true
}

pub fn bind_array(world: &mut World) -> bool {
    if world.version() < (3, 0) {
        return false;
    }
    let all = world.here().named_arrays.clone();
    match world.some_of(&all) {
        Some(array) if !world.chance(25) => {
            let name = world.array_names[&array];
            world.step(format!("glBindVertexArray v{name}"));
            world.set_array(array);
        }
        _ => {
            world.step("glBindVertexArray 0");
            let array = world.here().default_array;
            world.set_array(array);
        }
    }
    true
}

pub fn delete_array(world: &mut World) -> bool {
    let all = world.here().named_arrays.clone();
    let Some(array) = world.some_of(&all) else { return false };
    if world.is_feeding_back() {
        return false;
    }
    let name = world.array_names[&array];
    world.step(format!("glDeleteVertexArrays 1 ints:v{name}"));
    world.context().named_arrays.retain(|named| *named != array);
    if world.here().array == array {
        let array = world.here().default_array;
        world.set_array(array);
    }
    true
}

fn attribute(world: &mut World) -> usize {
    match world.chance(75) {
        true => world.below(3),
        false => world.below(ATTRIBUTES),
    }
}

pub fn pointer(world: &mut World) -> bool {
    let index = attribute(world);
    let is_default = world.here().array == world.here().default_array;
    if is_default && world.api() == Api::Core {
        // Mesa 22.3 answers with the stride of a command that it has refused.
        return false;
    }
    let (kind, bytes) = world.one_of(KINDS);
    let size = 1 + world.below(4);
    let stride = world.one_of(&[0, size * bytes, 8, 16]);
    let normalized = usize::from(world.chance(85));
    let source = match is_default && world.chance(25) {
        true => {
            let seed = world.seed();
            world.step("glBindBuffer GL_ARRAY_BUFFER 0");
            world.context().buffers.remove("GL_ARRAY_BUFFER");
            world.step(format!(
                "glVertexAttribPointer {index} {size} {kind} {normalized} {stride} bytes:{CLIENT_BYTES}:{seed}"
            ));
            Source::Client
        }
        false => {
            let buffer = with_storage(world, 256);
            world.step(format!("glBindBuffer GL_ARRAY_BUFFER b{buffer}"));
            world.context().buffers.insert("GL_ARRAY_BUFFER", buffer);
            let offset = world.below(4) * 4;
            if world.version() >= (3, 0) && index >= FIRST_OF_INTEGERS && world.chance(50) {
                world.step(format!(
                    "glVertexAttribIPointer {index} {size} {kind} {stride} {offset}"
                ));
            } else {
                world.step(format!(
                    "glVertexAttribPointer {index} {size} {kind} {normalized} {stride} {offset}"
                ));
            }
            Source::Buffer(buffer)
        }
    };
    world.array().binding[index] = index;
    world.set_source(index, source);
    if world.chance(80) {
        world.step(format!("glEnableVertexAttribArray {index}"));
        world.array().enabled[index] = true;
    }
    true
}

/// True where formats and bindings are separate: the default vertex array keeps client arrays from it.
fn has_bindings(world: &World) -> bool {
    world.version() >= (3, 1) && world.here().array != world.here().default_array
}

pub fn format(world: &mut World) -> bool {
    if !has_bindings(world) {
        return false;
    }
    let index = attribute(world);
    let (kind, _) = world.one_of(KINDS);
    let (size, offset) = (1 + world.below(4), world.below(4) * 4);
    if index >= FIRST_OF_INTEGERS && world.chance(50) {
        world.step(format!("glVertexAttribIFormat {index} {size} {kind} {offset}"));
    } else {
        world.step(format!("glVertexAttribFormat {index} {size} {kind} 1 {offset}"));
    }
    true
}

pub fn attribute_binding(world: &mut World) -> bool {
    if !has_bindings(world) {
        return false;
    }
    let (index, binding) = (attribute(world), world.below(ATTRIBUTES));
    world.step(format!("glVertexAttribBinding {index} {binding}"));
    world.array().binding[index] = binding;
    true
}

pub fn bind_vertex_buffer(world: &mut World) -> bool {
    if !has_bindings(world) {
        return false;
    }
    let binding = world.below(ATTRIBUTES);
    if world.chance(8) {
        world.step(format!("glBindVertexBuffer {binding} 0 0 16"));
        world.set_source(binding, Source::None);
        return true;
    }
    let buffer = with_storage(world, 256);
    let (offset, stride) = (world.below(4) * 4, world.one_of(&[0, 4, 8, 12, 16]));
    world.step(format!("glBindVertexBuffer {binding} b{buffer} {offset} {stride}"));
    world.set_source(binding, Source::Buffer(buffer));
    true
}

pub fn divisor(world: &mut World) -> bool {
    let value = world.below(3);
    let index = attribute(world);
    if has_bindings(world) && world.chance(60) {
        world.step(format!("glVertexBindingDivisor {index} {value}"));
    } else if world.version() >= (3, 0) {
        // Also moves the attribute to the binding of its own number.
        world.step(format!("glVertexAttribDivisor {index} {value}"));
        world.array().binding[index] = index;
    } else {
        return false;
    }
    true
}

pub fn enable(world: &mut World) -> bool {
    let index = attribute(world);
    let is_on = world.array().enabled[index];
    let command = if is_on { "glDisableVertexAttribArray" } else { "glEnableVertexAttribArray" };
    world.step(format!("{command} {index}"));
    world.array().enabled[index] = !is_on;
    true
}

pub fn value(world: &mut World) -> bool {
    let index = attribute(world);
    // The first attribute is the vertex there. Mesa 22.3 keeps a value of it, which no query tells.
    if world.api() == Api::Compatibility && index == 0 {
        return false;
    }
    let [x, y, z] = [(); 3].map(|()| world.one_of(&["0f", "0.25f", "0.5f", "1f"]));
    if world.version() >= (3, 0) && index >= FIRST_OF_INTEGERS && world.chance(50) {
        let step = match world.below(4) {
            0 => format!("glVertexAttribI4i {index} 1 -2 3 {index}"),
            1 => format!("glVertexAttribI4iv {index} ints:-1,2,-3,{index}"),
            2 => format!("glVertexAttribI4ui {index} 0xffffffff 2 3 {index}"),
            _ => format!("glVertexAttribI4uiv {index} ints:1,2,0x7fffffff,{index}"),
        };
        world.step(step);
    } else {
        let step = match world.below(12) {
            0 => format!("glVertexAttrib1f {index} {x}"),
            1 => format!("glVertexAttrib1fv {index} floats:0.5"),
            2 => format!("glVertexAttrib2f {index} {x} {y}"),
            3 => format!("glVertexAttrib2fv {index} floats:0.25,0.5"),
            4 => format!("glVertexAttrib3f {index} {x} {y} {z}"),
            5 => format!("glVertexAttrib3fv {index} floats:0.5,0.25,0.75"),
            6 => format!("glVertexAttrib4fv {index} floats:0.5,0.25,0.75,0.5"),
            _ => format!("glVertexAttrib4f {index} {x} {y} {z} 1f"),
        };
        world.step(step);
    }
    true
}

pub fn elements(world: &mut World) -> bool {
    if world.is_feeding_back() {
        return false;
    }
    let buffer = with_storage(world, 64);
    world.step(format!("glBindBuffer GL_ELEMENT_ARRAY_BUFFER b{buffer}"));
    world.set_elements(buffer);
    true
}
