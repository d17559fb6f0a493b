//! `gapii-ctl diff` of two traces whose driver has chosen other locations and indices: they count by name.

use std::fs;

use gapii_commands::constants::{GL_FLOAT, GL_PROGRAM_INPUT, GL_UNIFORM, GL_UNIFORM_BLOCK};
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

#[test]
fn name_that_the_driver_does_not_know_is_another_answer() {
    let other = Run { block: -1, ..FIRST };
    let found = diff(&written(FIRST), &written(other), 1);
    // Both functions that ask for the block, and the command that binds it.
    assert_eq!((&found["answers"], &found["differing"]), (&2.into(), &1.into()), "{found:#}");
}
