//! `gapii-ctl history`: what commands do to an object, whatever name it has in another time, kind or context.

use std::fs;

use serde_json::Value;

use crate::support::{ctl, run};
use crate::written_trace::WrittenTrace;

const GL_ARRAY_BUFFER: u64 = 0x8892;
const GL_ELEMENT_ARRAY_BUFFER: u64 = 0x8893;
const GL_COPY_READ_BUFFER: u64 = 0x8F36;
const GL_COPY_WRITE_BUFFER: u64 = 0x8F37;
const GL_FRAMEBUFFER: u64 = 0x8D40;
const GL_READ_FRAMEBUFFER: u64 = 0x8CA8;
const GL_COLOR_ATTACHMENT0: u64 = 0x8CE0;
const GL_TEXTURE0: u64 = 0x84C0;
const GL_TEXTURE_2D: u64 = 0x0DE1;
const GL_TEXTURE_MAX_LEVEL: u64 = 0x813D;
const GL_RGBA: u64 = 0x1908;
const GL_UNSIGNED_BYTE: u64 = 0x1401;
const GL_FLOAT: u64 = 0x1406;
const GL_LINK_STATUS: u64 = 0x8B82;

struct Trace(WrittenTrace);

impl Trace {
    fn new() -> Trace {
        Trace(WrittenTrace::new(false))
    }

    fn does(&mut self, name: &str, values: &[u64]) {
        self.0.does(name, values);
    }

    fn makes(&mut self, function: &str, name: u32) {
        let args = self.0.args(function, &[1, 0x5555_0000]);
        self.0.call(function, &args, &[], &[], &[&name.to_le_bytes()]);
    }

    fn deletes(&mut self, function: &str, name: u32) {
        let args = self.0.args(function, &[1, 0x5555_0000]);
        self.0.exchange(function, &args, &[&name.to_le_bytes()], &[]);
    }

    fn defines_image(&mut self) {
        let args = [GL_TEXTURE_2D, 0, GL_RGBA, 4, 4, 0, GL_RGBA, GL_UNSIGNED_BYTE, 0];
        self.does("glTexImage2D", &args);
    }

    fn history(&self, words: &[&str]) -> Value {
        let folder = self.folder();
        let mut command = ctl(folder.path());
        let (text, _) = run(command.args(["history", "t.gapii", "--json"]).args(words), 0);
        serde_json::from_str(&text).unwrap()
    }

    fn folder(&self) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("t.gapii"), self.0.clone().finish(1_000_000_000)).unwrap();
        folder
    }

    /// Checks the events of each object: their commands and acts.
    fn check(&self, words: &[&str], expected: &[&[(u64, &str)]]) {
        let found = self.history(words);
        let of = |life: &Value| {
            let events = life["events"].as_array().unwrap().clone();
            events.iter().map(|it| (it["seq"].as_u64().unwrap(), it["act"].clone())).collect()
        };
        let shown: Vec<Vec<(u64, Value)>> =
            found["objects"].as_array().unwrap().iter().map(of).collect();
        let expected: Vec<Vec<(u64, Value)>> = expected
            .iter()
            .map(|events| events.iter().map(|(seq, act)| (*seq, Value::from(*act))).collect())
            .collect();
        assert_eq!(shown, expected, "{words:?}: {found:#}");
    }
}

#[test]
fn texture_is_followed_through_its_bindings() {
    let mut trace = Trace::new();
    trace.makes("glGenTextures", 5); // 0
    trace.does("glBindTexture", &[GL_TEXTURE_2D, 5]);
    trace.defines_image(); // 2
    trace.does("glTexParameteri", &[GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0]);
    trace.does("glDrawArrays", &[4, 0, 3]); // 4
    trace.does("glBindTexture", &[GL_TEXTURE_2D, 6]);
    trace.defines_image(); // 6: of another texture
    trace.does("glDrawArrays", &[4, 0, 3]);
    trace.makes("glGenFramebuffers", 5); // 8: another kind
    trace.does("glBindFramebuffer", &[GL_FRAMEBUFFER, 5]);
    trace.does(
        "glFramebufferTexture2D",
        &[GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, 5, 0],
    );
    trace.does("glClear", &[0x4000]); // 11
    trace.does("glBindFramebuffer", &[GL_READ_FRAMEBUFFER, 0]);
    trace.does("glReadPixels", &[0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, 0]);
    trace.does("glBindFramebuffer", &[GL_READ_FRAMEBUFFER, 5]);
    trace.does("glReadPixels", &[0, 0, 1, 1, GL_RGBA, GL_UNSIGNED_BYTE, 0]); // 15
    trace.deletes("glDeleteTextures", 5);
    let texture = [
        (0, "makes"),
        (1, "changes"),
        (2, "fills"),
        (3, "changes"),
        (4, "draws_with"),
        (10, "names"),
        (11, "draws_to"),
        (15, "reads"),
        (16, "deletes"),
    ];
    trace.check(&["texture:5"], &[&texture]);
    let framebuffer = [
        (8, "makes"),
        (9, "names"),
        (10, "changes"),
        (11, "draws_to"),
        (14, "names"),
        (15, "reads"),
        // The texture is detached.
        (16, "changes"),
    ];
    trace.check(&["framebuffer:5"], &[&framebuffer]);
}

#[test]
fn texture_takes_part_in_draws_if_a_uniform_selects_its_unit() {
    let mut trace = Trace::new();
    trace.0.create("glCreateProgram", 3); // 0
    trace.does("glUseProgram", &[3]);
    trace.does("glActiveTexture", &[GL_TEXTURE0 + 2]);
    trace.makes("glGenTextures", 5); // 3
    trace.does("glBindTexture", &[GL_TEXTURE_2D, 5]);
    trace.does("glDrawArrays", &[4, 0, 3]); // 5: unit 2 is not selected
    trace.does("glUniform1i", &[0, 2]);
    trace.does("glDrawArrays", &[4, 0, 3]); // 7
    trace.does("glDispatchCompute", &[1, 1, 1]);
    let args = trace.0.args("glGetProgramiv", &[3, GL_LINK_STATUS, 0x5555_0000]);
    trace.0.call("glGetProgramiv", &args, &[], &[], &[&1_u32.to_le_bytes()]); // 9
    let texture = [(3, "makes"), (4, "changes"), (7, "draws_with"), (8, "draws_with")];
    trace.check(&["texture:5"], &[&texture]);
    let program = [
        (0, "makes"),
        (1, "names"),
        (5, "draws_with"),
        (6, "changes"),
        (7, "draws_with"),
        (8, "draws_with"),
        (9, "names"),
    ];
    trace.check(&["program:3"], &[&program]);
}

#[test]
fn uniforms_of_a_program_name_the_commands_that_set_them_last() {
    let mut trace = Trace::new();
    trace.0.create("glCreateProgram", 3); // 0
    trace.0.create("glCreateProgram", 4);
    trace.does("glUseProgram", &[3]);
    trace.does("glUniform1i", &[7, 2]); // 3
    trace.does("glUniform1i", &[7, 2]); // 4: the same value
    trace.does("glUniform1i", &[8, 1]); // 5
    trace.does("glUniform1i", &[u64::from(u32::MAX), 1]); // ignored
    trace.does("glProgramUniform1i", &[4, 7, 5]); // 7: another program
    trace.does("glUniform1i", &[7, 9]); // 8
    trace.does("glLinkProgram", &[3]); // 9
    trace.does("glUniform1i", &[8, 9]); // 10
    let set = |words: &[&str]| {
        let found = trace.history(words);
        let uniforms = found["objects"][0]["uniforms"].as_array().cloned().unwrap_or_default();
        let number = |it: &Value, name: &str| it[name].as_u64().unwrap();
        uniforms.iter().map(|it| [number(it, "location"), number(it, "seq")]).collect::<Vec<_>>()
    };
    assert_eq!(set(&["program:3", "--at", "3"]), [[7, 3]]);
    assert_eq!(set(&["program:3", "--at", "7"]), [[7, 4], [8, 5]]);
    assert_eq!(set(&["program:3", "--at", "8"]), [[7, 8], [8, 5]]);
    assert!(set(&["program:3", "--at", "9"]).is_empty());
    assert_eq!(set(&["program:3"]), [[8, 10]]);
    assert_eq!(set(&["program:4"]), [[7, 7]]);
    let folder = trace.folder();
    let words = ["history", "t.gapii", "program:3"];
    let (text, _) = run(ctl(folder.path()).args(words), 0);
    let last: Vec<_> = text.lines().last().unwrap_or_default().split_whitespace().collect();
    assert_eq!(last, ["8", "10", "0", "glUniform1i"], "{text}");
}

#[test]
fn buffer_is_followed_through_vertex_arrays_and_copies() {
    let mut trace = Trace::new();
    trace.makes("glGenBuffers", 7); // 0
    trace.does("glBindBuffer", &[GL_ARRAY_BUFFER, 7]);
    trace.does("glBufferData", &[GL_ARRAY_BUFFER, 64, 0, 0x88E4]); // 2
    trace.does("glVertexAttribPointer", &[1, 2, GL_FLOAT, 0, 0, 0]);
    trace.does("glDrawArrays", &[4, 0, 3]); // 4: the array is not enabled
    trace.does("glEnableVertexAttribArray", &[1]);
    trace.does("glBindBuffer", &[GL_ARRAY_BUFFER, 0]);
    trace.does("glDrawArrays", &[4, 0, 3]); // 7
    trace.does("glBindBuffer", &[GL_COPY_READ_BUFFER, 7]); // 8
    trace.does("glBindBuffer", &[GL_COPY_WRITE_BUFFER, 9]);
    trace.does("glCopyBufferSubData", &[GL_COPY_READ_BUFFER, GL_COPY_WRITE_BUFFER, 0, 0, 4]);
    let source =
        [(0, "makes"), (1, "names"), (2, "fills"), (7, "draws_with"), (8, "names"), (10, "reads")];
    trace.check(&["buffer:7"], &[&source]);
    trace.check(&["buffer:9"], &[&[(9, "makes"), (10, "fills")]]);

    // Indices.
    trace.does("glBindBuffer", &[GL_ELEMENT_ARRAY_BUFFER, 8]); // 11
    trace.does("glBindBuffer", &[GL_ELEMENT_ARRAY_BUFFER, 0]);
    trace.does("glBindBuffer", &[GL_ELEMENT_ARRAY_BUFFER, 8]); // 13
    trace.does("glDrawArrays", &[4, 0, 3]);
    trace.does("glDrawElements", &[4, 3, 0x1403, 0]); // 15
    let indices = [(11, "makes"), (13, "names"), (15, "draws_with")];
    trace.check(&["buffer:8"], &[&indices]);
}

#[test]
fn objects_with_the_same_name_are_told_apart() {
    let mut trace = Trace::new();
    for _ in 0..2 {
        trace.makes("glGenTextures", 5);
        trace.does("glBindTexture", &[GL_TEXTURE_2D, 5]);
        trace.deletes("glDeleteTextures", 5);
    }
    let first = [(0, "makes"), (1, "changes"), (2, "deletes")];
    let second = [(3, "makes"), (4, "changes"), (5, "deletes")];
    trace.check(&["texture:5"], &[&first, &second]);
    trace.check(&["texture:5", "--at", "1"], &[&first]);
    trace.check(&["texture:5", "--at", "3"], &[&second]);
    // Nothing has the name then: the last one that had it.
    trace.check(&["texture:5", "--at", "2"], &[&first]);
    trace.check(&["texture:5", "--at", "9"], &[&second]);
}

#[test]
fn more_objects_than_are_kept_are_counted() {
    let mut trace = Trace::new();
    for _ in 0..70 {
        trace.makes("glGenTextures", 5);
        trace.deletes("glDeleteTextures", 5);
    }
    let found = trace.history(&["texture:5"]);
    assert_eq!(found["objects"].as_array().map(Vec::len), Some(64));
    assert_eq!(found["objects_left_out"], 6);
    assert_eq!(found["objects"][63]["made"], 138);
    let chosen = trace.history(&["texture:5", "--at", "0"]);
    assert_eq!(
        (&chosen["objects"][0]["made"], &chosen["objects_left_out"]),
        (&0.into(), &0.into())
    );
}

#[test]
fn first_events_of_each_sort_are_listed_and_all_are_counted() {
    let mut trace = Trace::new();
    trace.does("glBindTexture", &[GL_TEXTURE_2D, 5]);
    (0..9).for_each(|_| trace.does("glDrawArrays", &[4, 0, 3]));
    trace.defines_image();
    let words = ["texture:5", "--most", "2"];
    trace.check(&words, &[&[(0, "makes"), (1, "draws_with"), (2, "draws_with"), (10, "fills")]]);
    let counts = &trace.history(&words)["objects"][0]["counts"];
    assert_eq!(*counts, serde_json::json!({ "makes": 1, "draws_with": 9, "fills": 1 }));
    let folder = trace.folder();
    let (table, _) = run(ctl(folder.path()).args(["history", "t.gapii"]).args(words), 0);
    assert!(table.starts_with("texture 5, made by command 0 in context 0x77\n"), "{table}");
    assert!(table.contains("fills it") && table.ends_with("7 more: draws with it\n"), "{table}");
}

#[test]
fn name_that_nothing_has_and_kinds_without_history_are_refused() {
    let folder = Trace::new().folder();
    let refused = |object: &str, status| {
        run(ctl(folder.path()).args(["history", "t.gapii", object]), status).1
    };
    let sentence = refused("texture:5", 1);
    assert!(sentence.contains("no texture of the trace has the name 5"), "{sentence}");
    assert!(refused("config:1", 2).contains("have no history"));
    for object in ["texture", "colour:5", "texture:x", "texture:"] {
        refused(object, 2);
    }
}

#[test]
fn objects_of_other_contexts_are_told_apart() {
    let mut trace = Trace::new();
    trace.makes("glGenTextures", 5); // 0
    let args = trace.0.args("eglCreateContext", &[1, 7, 0, 0]);
    trace.0.call("eglCreateContext", &args, &[], &0x88_u64.to_le_bytes(), &[]);
    trace.0.context(0x88);
    trace.makes("glGenTextures", 5); // 2
    trace.does("glBindTexture", &[GL_TEXTURE_2D, 5]);
    trace.check(&["texture:5"], &[&[(0, "makes")], &[(2, "makes"), (3, "changes")]]);
    trace.check(&["texture:5", "--at", "3"], &[&[(2, "makes"), (3, "changes")]]);
    trace.check(&["texture:5", "--at", "0"], &[&[(0, "makes")]]);
    // That of a context other than the command's.
    trace.check(&["texture:5", "--at", "3", "--context", "0x77"], &[&[(0, "makes")]]);
    let own = ["texture:5", "--at", "3", "--context", "0x88", "--process", "0"];
    trace.check(&own, &[&[(2, "makes"), (3, "changes")]]);
    let folder = trace.folder();
    for option in [["--context", "0x99"], ["--process", "1"]] {
        let words = ["history", "t.gapii", "texture:5", "--at", "3"];
        let (_, stderr) = run(ctl(folder.path()).args(words).args(option), 1);
        assert!(stderr.contains("no texture of the trace has the name 5"), "{stderr}");
    }
    let found = trace.history(&["texture:5"]);
    let contexts = [&found["objects"][0]["context"], &found["objects"][1]["context"]];
    assert_eq!(contexts, [&Value::from(0x77), &Value::from(0x88)]);
}
