//! Values of uniforms, by kind: `3f`, `2i` and `4ui` are vectors, `1b` is a boolean, `m3x2` is a matrix of three columns
//! and two rows, `image` is a sampler.

use crate::search::world::{UNITS, World};

/// Sets the uniform at a location to values that shaders can show.
///
/// The program is current.
pub fn set(world: &mut World, program: usize, location: usize, kind: &str) {
    let (command, whose) = match world.version() >= (3, 1) && world.chance(40) {
        true => ("glProgramUniform", format!("g{program} u{location}")),
        false => ("glUniform", format!("u{location}")),
    };
    if kind == "image" {
        let unit = world.below(UNITS);
        return world.step(format!("{command}1i {whose} {unit}"));
    }
    if let Some(shape) = kind.strip_prefix('m') {
        return set_matrix(world, (command, &whose), shape);
    }
    let (count, of) = kind.split_at(1);
    let length: usize = count.parse().expect("kinds begin with a digit");
    // A boolean can be set as any type.
    let of = if of == "b" { world.one_of(&["f", "i", "ui"]) } else { of };
    let known: &[&str] = match of {
        "f" => &["0", "0.25", "0.5", "-0.25", "1"],
        "i" => &["0", "1", "2", "-3"],
        _ => &["0", "1", "7", "0x80000000"],
    };
    let values: Vec<&str> = (0..length).map(|_| world.one_of(known)).collect();
    let is_array = world.chance(40);
    world.step(if is_array {
        let array = if of == "f" { "floats" } else { "ints" };
        format!("{command}{count}{of}v {whose} 1 {array}:{}", values.join(","))
    } else {
        let end = if of == "f" { "f " } else { " " };
        let values: String = values.iter().map(|value| format!("{value}{end}")).collect();
        format!("{command}{count}{of} {whose} {}", values.trim_end())
    });
}

fn set_matrix(world: &mut World, (command, whose): (&str, &str), shape: &str) {
    let (columns, rows) = shape.split_once('x').unwrap_or((shape, shape));
    let [columns, rows] =
        [columns, rows].map(|side: &str| -> usize { side.parse().expect("a digit") });
    let values: Vec<&str> =
        (0..columns * rows).map(|_| world.one_of(&["0", "0.25", "0.5", "-0.25", "1"])).collect();
    // Contexts of OpenGL ES 2 do not transpose.
    let transposed = if world.version() >= (3, 0) { world.below(2) } else { 0 };
    world.step(format!(
        "{command}Matrix{shape}fv {whose} 1 {transposed} floats:{}",
        values.join(",")
    ));
}

/// The command that asks for a uniform, and the bytes that it writes at most.
pub fn question(kind: &str) -> (&'static str, usize) {
    match kind {
        "image" => ("glGetUniformiv", 4),
        _ if kind.starts_with('m') => ("glGetUniformfv", 64),
        _ if kind.ends_with("ui") => ("glGetUniformuiv", 16),
        _ if kind.ends_with('f') => ("glGetUniformfv", 16),
        _ => ("glGetUniformiv", 16),
    }
}
