//! Uniforms: their numbers of components, and their values. The type comes from the driver's answers to the program's
//! queries, else from the sources (`glsl.rs`); if neither tells it, a uniform counts as one component.

#![allow(non_upper_case_globals, reason = "the registry spells GL_FLOAT_MAT2x3")]

use super::glsl;
use crate::Values as _;
use crate::{Memory, Program, Ref, Scope, Thread, Whole};

/// Returns the number of components of the uniform at a location: from the driver's query results, or else from the
/// sources from which the program was linked; 1 if both are missing.
pub fn uniform_components<S: Scope, M: Memory + ?Sized>(
    thread: &mut Thread<S>,
    _memory: &M,
    program: Ref<Program>,
    location: i32,
) -> i64 {
    let Some(context) = thread.context.as_deref() else { return 1 };
    let group = context.group.lock();
    group.programs.get(program).and_then(|it| components_at(it, location)).unwrap_or(1)
}

fn components_at<S: Scope>(program: &Program<S>, location: i32) -> Option<i64> {
    let sources = || program.last_link.stages.iter().map(|stage| stage.source.as_str());
    let named = || type_of(program, program.uniform_names.get(&location)?);
    let placed = || sources().find_map(|source| glsl::type_at(source, location));
    // The elements of an array follow the first, whose location may be the only one that was queried.
    let element = || {
        let (_, name) = program.uniform_names.range(..location).next_back()?;
        let array = without_last_index(name);
        let is_array = program.uniform_types.keys().any(|it| it.strip_suffix("[0]") == Some(array))
            || sources().any(|source| glsl::is_array(source, array));
        is_array.then(|| type_of(program, name)).flatten()
    };
    if program.uniform_names.contains_key(&location) {
        return glsl::components(named()?);
    }
    glsl::components(placed().or_else(element)?)
}

/// Returns the type of a uniform by name: from the driver's query results, or else from the sources.
fn type_of<S: Scope>(program: &Program<S>, name: &str) -> Option<u32> {
    let same =
        |known: &str| known == name || known.strip_suffix("[0]") == Some(without_last_index(name));
    let told = program.uniform_types.iter().find(|(known, _)| same(known)).map(|(_, ty)| *ty);
    let declared =
        || program.last_link.stages.iter().find_map(|it| glsl::uniform_type(&it.source, name));
    told.or_else(declared)
}

/// Returns the name without its last index: `lights[1].bones[3]` is an element of `lights[1].bones`.
fn without_last_index(name: &str) -> &str {
    match name.strip_suffix(']').and_then(|rest| rest.rsplit_once('[')) {
        Some((array, _)) => array,
        None => name,
    }
}

/// glUniform*: sets the floats of `count` elements.
pub fn set_uniform_floats<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    program: Ref<Program>,
    location: i32,
    ty: u32,
    count: i32,
    transpose: bool,
    value: u64,
) {
    set(thread, program, location, (ty, count), |uniform| {
        let numbers = |index| memory.element::<f32>(value, index);
        uniform.floats = in_columns(ty, count, transpose).map(numbers).collect();
    });
}

/// glUniform*: sets the numbers of double precision of `count` elements.
pub fn set_uniform_doubles<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    program: Ref<Program>,
    location: i32,
    ty: u32,
    count: i32,
    transpose: bool,
    value: u64,
) {
    set(thread, program, location, (ty, count), |uniform| {
        let numbers = |index| memory.element::<f64>(value, index);
        uniform.doubles = in_columns(ty, count, transpose).map(numbers).collect();
    });
}

/// Returns the places of the numbers of `count` elements in memory, in the order of columns.
fn in_columns(ty: u32, count: i32, transpose: bool) -> impl Iterator<Item = i64> {
    let each = glsl::components(ty).unwrap_or(0);
    let columns = if transpose { columns(ty) } else { 0 };
    crate::number::range(0, i64::from(count).saturating_mul(each)).map(move |index| {
        if columns == 0 {
            return index;
        }
        let (element, at) = (index / each, index % each);
        let rows = each / columns;
        element * each + at % rows * columns + at / rows
    })
}

/// Returns the number of columns of a matrix type; 0 for other types.
fn columns(ty: u32) -> i64 {
    use gapii_commands::constants::*;
    match ty {
        GL_FLOAT_MAT2 | GL_FLOAT_MAT2x3 | GL_FLOAT_MAT2x4 => 2,
        GL_FLOAT_MAT3 | GL_FLOAT_MAT3x2 | GL_FLOAT_MAT3x4 => 3,
        GL_FLOAT_MAT4 | GL_FLOAT_MAT4x2 | GL_FLOAT_MAT4x3 => 4,
        GL_DOUBLE_MAT2 | GL_DOUBLE_MAT2x3 | GL_DOUBLE_MAT2x4 => 2,
        GL_DOUBLE_MAT3 | GL_DOUBLE_MAT3x2 | GL_DOUBLE_MAT3x4 => 3,
        GL_DOUBLE_MAT4 | GL_DOUBLE_MAT4x2 | GL_DOUBLE_MAT4x3 => 4,
        _ => 0,
    }
}

/// glUniform*: sets the integers of `count` elements.
pub fn set_uniform_integers<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    program: Ref<Program>,
    location: i32,
    ty: u32,
    count: i32,
    value: u64,
) {
    let each = glsl::components(ty).unwrap_or(0);
    let is_unsigned = (gapii_commands::constants::GL_UNSIGNED_INT_VEC2
        ..=gapii_commands::constants::GL_UNSIGNED_INT_VEC4)
        .contains(&ty)
        || ty == gapii_commands::constants::GL_UNSIGNED_INT;
    let number = |index| match is_unsigned {
        true => i64::from(memory.element::<u32>(value, index)),
        false => i64::from(memory.element::<i32>(value, index)),
    };
    set(thread, program, location, (ty, count), |uniform| {
        let all = i64::from(count).saturating_mul(each);
        uniform.integers = crate::number::range(0, all).map(number).collect();
    });
}

fn set(
    thread: &mut Thread<Whole>,
    program: Ref<Program>,
    location: i32,
    (kind, count): (u32, i32),
    fill: impl FnOnce(&mut crate::Uniform),
) {
    let Some(context) = thread.context.as_deref() else { return };
    if location < 0 || count < 0 {
        return;
    }
    // Reading the tools' memory does not block, so it is harmless to read it under this lock.
    if let Some(program) = context.group.lock().programs.get_mut(program) {
        let uniform = program.uniforms.entry(location).or_default();
        uniform.kind = kind;
        uniform.count = count;
        fill(uniform);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{context, thread};
    use super::*;
    use crate::{Nothing, Stage};
    use gapii_commands::constants::*;

    const SOURCE: &str = "uniform vec3 tint; uniform mat4 bones[4]; uniform float alpha;";

    fn with_uniforms(
        names: &[(i32, &str)],
        types: &[(&str, u32)],
    ) -> (Thread<Whole>, Ref<Program>) {
        let mut thread = thread((3, 2));
        let mut group = context(&mut thread).group.lock();
        let made = group.programs.create(7);
        let program = group.programs.get_mut(made).unwrap();
        program.last_link.stages.push(Stage { source: SOURCE.to_owned(), ..Stage::default() });
        program.uniform_names = names.iter().map(|(at, name)| (*at, (*name).to_owned())).collect();
        program.uniform_types = types.iter().map(|(name, ty)| ((*name).to_owned(), *ty)).collect();
        drop(group);
        (thread, made)
    }

    #[test]
    fn components_come_from_query_results_or_declarations() {
        let names =
            [(0, "tint"), (1, "bones[0]"), (5, "alpha"), (6, "told"), (7, "list[2]"), (9, "gone")];
        let types = [("told", GL_FLOAT_MAT2x3), ("list[0]", GL_INT_VEC2)];
        let (mut thread, program) = with_uniforms(&names, &types);
        let cases =
            [(0, 3), (1, 16), (4, 16), (5, 1), (6, 6), (7, 2), (8, 2), (9, 1), (10, 1), (-1, 1)];
        for (location, components) in cases {
            let found = uniform_components(&mut thread, &Nothing, program, location);
            assert_eq!(found, components, "{location}");
        }
    }

    #[test]
    fn uniform_without_a_program_has_one_component() {
        let (mut thread, _) = with_uniforms(&[], &[]);
        assert_eq!(uniform_components(&mut thread, &Nothing, Ref::NONE, 3), 1);
        thread.context = None;
        assert_eq!(uniform_components(&mut thread, &Nothing, Ref::NONE, 3), 1);
    }

    #[test]
    fn matrices_are_stored_column_major() {
        use crate::memory::tests::Bytes;
        let check = |ty, transpose, expected: &[f32]| {
            let (mut thread, program) = with_uniforms(&[], &[]);
            let numbers = (0..12u8).flat_map(|number| f32::from(number).to_le_bytes()).collect();
            let memory = Bytes(0x1000, numbers);
            set_uniform_floats(&mut thread, &memory, program, 4, ty, 1, transpose, 0x1000);
            let group = context(&mut thread).group.lock();
            let uniform = &group.programs.get(program).unwrap().uniforms[&4];
            assert_eq!(uniform.floats, expected, "{ty:#x} {transpose}");
        };
        check(GL_FLOAT_VEC3, false, &[0.0, 1.0, 2.0]);
        check(GL_FLOAT_MAT2x3, false, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
        // Three rows of two numbers.
        check(GL_FLOAT_MAT2x3, true, &[0.0, 2.0, 4.0, 1.0, 3.0, 5.0]);
    }
}
