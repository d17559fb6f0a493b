//! `gapii-ctl diff` of two traces whose driver has chosen other locations and indices: they count by name.

use std::fs;

use gapii_commands::constants::{
    GL_FLOAT, GL_LOCATION, GL_PROGRAM_INPUT, GL_TYPE, GL_UNIFORM, GL_UNIFORM_BLOCK,
    GL_UNIFORM_OFFSET,
};
use serde_json::Value;

use crate::support::{ctl, run};
use crate::written_trace::WrittenTrace;

/// Numbers that a driver chooses, and names that a program uses.
#[derive(Clone, Copy)]
struct Run<'a> {
    /// Names of the two programs.
    programs: [u32; 2],
    /// Locations of `mvp` in both programs, and of `tint` in the first.
    uniforms: [i32; 3],
    /// Locations of the attribute `position` in both programs.
    attributes: [i32; 2],
    /// The programs whose attribute gets the first array and the second.
    arrays: [usize; 2],
    /// Index of the block `lights`.
    block: i32,
    /// The uniform of the first program that is set before the draw.
    set: &'a str,
}

const FIRST: Run<'_> = Run {
    programs: [3, 6],
    uniforms: [0, 1, 1],
    attributes: [0, 1],
    arrays: [0, 1],
    block: 0,
    set: "tint",
};
const SECOND: Run<'_> =
    Run { programs: [11, 9], uniforms: [7, 4, 2], attributes: [5, 0], block: 3, ..FIRST };

fn written(run: Run<'_>) -> Vec<u8> {
    let Run { programs: [first, second], uniforms, attributes, arrays, block, set } = run;
    let words = |words: &[u32]| words.iter().flat_map(|it| it.to_le_bytes()).collect::<Vec<_>>();
    let mut trace = WrittenTrace::new(false);
    let command = |trace: &mut WrittenTrace, name: &str, args: &[u32]| {
        trace.command(0, name, &words(args), None);
    };
    for program in [first, second] {
        trace.create("glCreateProgram", program);
        command(&mut trace, "glLinkProgram", &[program]);
    }
    let ask = WrittenTrace::ask_by_name;
    ask(&mut trace, "glGetUniformLocation", (first, None), "mvp", uniforms[0]);
    ask(&mut trace, "glGetUniformLocation", (second, None), "mvp", uniforms[1]);
    let of_first = (first, Some(GL_UNIFORM));
    ask(&mut trace, "glGetProgramResourceLocation", of_first, "tint", uniforms[2]);
    ask(&mut trace, "glGetUniformLocation", (second, None), "absent", -1);
    ask(&mut trace, "glGetAttribLocation", (first, None), "position", attributes[0]);
    let input = (second, Some(GL_PROGRAM_INPUT));
    ask(&mut trace, "glGetProgramResourceLocation", input, "position", attributes[1]);
    ask(&mut trace, "glGetUniformBlockIndex", (first, None), "lights", block);
    let block_of = (first, Some(GL_UNIFORM_BLOCK));
    ask(&mut trace, "glGetProgramResourceIndex", block_of, "lights", block);

    command(&mut trace, "glUniformBlockBinding", &[first, block as u32, 2]);
    command(&mut trace, "glUseProgram", &[first]);
    let location = if set == "tint" { uniforms[2] } else { uniforms[0] };
    command(&mut trace, "glUniform1f", &[location as u32, 1.5_f32.to_bits()]);
    for program in arrays {
        let attribute = attributes[program] as u32;
        command(&mut trace, "glEnableVertexAttribArray", &[attribute]);
        let pointer = [attribute, 3, GL_FLOAT, 0, 12, 0, 64, 0];
        command(&mut trace, "glVertexAttribPointer", &pointer);
    }
    command(&mut trace, "glProgramUniform1f", &[second, uniforms[1] as u32, 2.5_f32.to_bits()]);
    command(&mut trace, "glUniform1f", &[u32::MAX, 0]);
    trace.swap(0, None);
    trace.finish(2_000_000_000)
}

/// The differences of two traces.
fn diff(a: &[u8], b: &[u8], status: i32) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (name, trace) in [("a.gapii", a), ("b.gapii", b)] {
        fs::write(folder.path().join(name), trace).unwrap();
    }
    let mut command = ctl(folder.path());
    let (stdout, _) =
        run(command.args(["diff", "a.gapii", "b.gapii", "--json", "--no-frames"]), status);
    serde_json::from_str(&stdout).unwrap()
}

#[test]
fn locations_that_the_driver_chose_differently_are_no_difference() {
    let found = diff(&written(FIRST), &written(SECOND), 0);
    assert_eq!((&found["differing"], &found["answers"]), (&0.into(), &0.into()), "{found:#}");
}

#[test]
fn other_uniform_at_an_equal_location_is_a_difference() {
    // `mvp` has the location that `tint` has in the other trace.
    let other = Run { uniforms: [1, 5, 0], set: "mvp", ..FIRST };
    let found = diff(&written(FIRST), &written(other), 1);
    assert_eq!(found["differing"], 1, "{found:#}");
    let cause = &found["causes"][0];
    assert_eq!(
        (&cause["function"], &cause["parts"]),
        (&"glUniform1f".into(), &serde_json::json!(["location"]))
    );
}

#[test]
fn attribute_of_another_program_is_a_difference() {
    // The attributes of both programs have one name.
    let found = diff(&written(FIRST), &written(Run { arrays: [1, 0], ..SECOND }), 1);
    assert_eq!(found["differing"], 4, "{found:#}");
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|it| it.to_le_bytes()).collect()
}

/// Numbers of differences and of other answers.
fn counts(a: &[u8], b: &[u8], status: i32) -> [u64; 2] {
    let found = diff(a, b, status);
    ["differing", "answers"].map(|field| found[field].as_u64().unwrap())
}

/// A trace with a linked program of this name.
fn with_program(program: u32) -> WrittenTrace {
    let mut trace = WrittenTrace::new(false);
    trace.create("glCreateProgram", program);
    trace.command(0, "glLinkProgram", &words(&[program]), None);
    trace
}

#[test]
fn indices_that_were_asked_for_together_count_by_their_names() {
    // Indices of `near`, `far` and `absent`, and those of which the program asks for the offsets.
    let written = |[near, far]: [u32; 2], asked: [u32; 2]| {
        let mut trace = with_program(3);
        let names = ["near", "far", "absent"];
        let names =
            names.map(|name| [&(name.len() as u32).to_le_bytes(), name.as_bytes()].concat());
        let args = words(&[3, 3, 64, 0, 64, 0]);
        let indices = words(&[near, far, u32::MAX]);
        trace.exchange("glGetUniformIndices", &args, &[&names.concat()], &[&indices]);
        let args = words(&[3, 2, 64, 0, GL_UNIFORM_OFFSET, 0, 64, 0]);
        let offsets = words(&[0, 16]);
        trace.exchange("glGetActiveUniformsiv", &args, &[&words(&asked)], &[&offsets]);
        trace.swap(0, None);
        trace.finish(2_000_000_000)
    };
    let first = written([0, 1], [0, 1]);
    assert_eq!(counts(&first, &written([5, 3], [5, 3]), 0), [0, 0]);
    assert_eq!(counts(&first, &written([5, 3], [3, 5]), 1), [1, 0]);
    assert_eq!(counts(&first, &written([u32::MAX, 3], [0, 3]), 1), [1, 1]);
}

#[test]
fn index_whose_name_was_asked_for_counts_by_it_where_it_is_used() {
    // Names of the blocks 0 and 1, and the one that is bound.
    let written = |names: [&str; 2], bound: u32| {
        let mut trace = with_program(3);
        for (index, name) in (0..).zip(names) {
            let args = words(&[3, index, 32, 0, 64, 0, 64, 0]);
            let length = words(&[name.len() as u32]);
            let text = format!("{name}\0");
            let answers: [&[u8]; 2] = [&length, text.as_bytes()];
            trace.exchange("glGetActiveUniformBlockName", &args, &[], &answers);
        }
        trace.command(0, "glUniformBlockBinding", &words(&[3, bound, 2]), None);
        trace.swap(0, None);
        trace.finish(2_000_000_000)
    };
    let first = written(["lights", "shadow"], 0);
    // The driver lists the blocks in another order, and the program binds the same one.
    assert_eq!(counts(&first, &written(["shadow", "lights"], 1), 0), [0, 2]);
    assert_eq!(counts(&first, &written(["shadow", "lights"], 0), 1), [1, 2]);
}

#[test]
fn location_among_the_properties_of_a_resource_counts_by_its_name() {
    let written = |index: i32, location: u32| {
        let mut trace = with_program(3);
        let uniforms = (3, Some(GL_UNIFORM));
        trace.ask_by_name("glGetProgramResourceIndex", uniforms, "tint", index);
        let args = words(&[3, GL_UNIFORM, index as u32, 2, 64, 0, 2, 0, 64, 0, 64, 0]);
        let props = words(&[GL_TYPE, GL_LOCATION]);
        let answers = [words(&[2]), words(&[GL_FLOAT, location])];
        let answers = answers.each_ref().map(|it| &**it);
        trace.exchange("glGetProgramResourceiv", &args, &[&props], &answers);
        trace.command(0, "glUseProgram", &words(&[3]), None);
        trace.command(0, "glUniform1f", &words(&[location, 0]), None);
        trace.swap(0, None);
        trace.finish(2_000_000_000)
    };
    assert_eq!(counts(&written(0, 7), &written(4, 2), 0), [0, 0]);
}

#[test]
fn uniforms_of_the_active_program_of_a_pipeline_count_by_their_names() {
    // The locations of `tint` in both programs, and the program that is active.
    let written = |locations: [i32; 2], active: usize| {
        let programs = [3, 4];
        let mut trace = WrittenTrace::new(false);
        for (program, location) in programs.into_iter().zip(locations) {
            trace.create("glCreateProgram", program);
            trace.command(0, "glLinkProgram", &words(&[program]), None);
            trace.ask_by_name("glGetUniformLocation", (program, None), "tint", location);
        }
        let args = words(&[1, 0, 64, 0]);
        trace.exchange("glGenProgramPipelines", &args, &[], &[&words(&[8])]);
        trace.command(0, "glBindProgramPipeline", &words(&[8]), None);
        trace.command(0, "glActiveShaderProgram", &words(&[8, programs[active]]), None);
        let location = locations[active] as u32;
        trace.command(0, "glUniform1f", &words(&[location, 0]), None);
        trace.swap(0, None);
        trace.finish(2_000_000_000)
    };
    let first = written([0, 1], 0);
    assert_eq!(counts(&first, &written([6, 2], 0), 0), [0, 0]);
    // The program that is made active is another object, and its uniform has the same name.
    assert_eq!(counts(&first, &written([6, 2], 1), 1), [1, 0]);
}

#[test]
fn block_that_was_asked_for_alone_counts_by_its_own_name() {
    let written = |index: i32, name: &str| {
        let mut trace = with_program(3);
        trace.ask_by_name("glGetUniformBlockIndex", (3, None), "lights", index);
        trace.ask_by_name("glGetUniformBlockIndex", (3, None), "shadow", 9);
        let bound = if name == "lights" { index as u32 } else { 9 };
        trace.command(0, "glUniformBlockBinding", &words(&[3, bound, 2]), None);
        trace.swap(0, None);
        trace.finish(2_000_000_000)
    };
    assert_eq!(counts(&written(0, "lights"), &written(5, "lights"), 0), [0, 0]);
    assert_eq!(counts(&written(0, "lights"), &written(5, "shadow"), 1), [1, 0]);
}

#[test]
fn name_that_the_driver_does_not_know_is_another_answer() {
    let other = Run { block: -1, ..FIRST };
    let found = diff(&written(FIRST), &written(other), 1);
    // Both functions that ask for the block, and the command that binds it.
    assert_eq!((&found["answers"], &found["differing"]), (&2.into(), &1.into()), "{found:#}");
}
