//! `gapii-ctl frames`: the frames of a trace, and the commands that ended them.

use std::fs;

use serde_json::{Value, json};

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::WrittenTrace;

#[test]
fn frames_are_listed_with_the_commands_that_ended_them() {
    let mut trace = WrittenTrace::new(false);
    trace.command(0, "glFlush", &[], None);
    trace.swap(0, None);
    for _ in 0..4 {
        trace.command(1, "glFinish", &[], None);
    }
    trace.swap(0, None);
    trace.swap(0, None);
    trace.command(0, "glFlush", &[], None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000)).unwrap();
    let frames =
        |options: &[&str]| run(ctl(folder.path()).args(["frames", "t.gapii"]).args(options), 0).0;
    let answer: Value = serde_json::from_str(&frames(&["--json"])).unwrap();
    assert_eq!((&answer["first_seq"], &answer["end_seq"]), (&json!(0), &json!(9)));
    let found: Vec<_> = answer["frames"].as_array().unwrap().iter().collect();
    for (at, (seq, commands)) in [(1, 2), (6, 5), (7, 1)].into_iter().enumerate() {
        assert_eq!(found[at]["frame"], at, "{answer:#}");
        assert_eq!((&found[at]["seq"], &found[at]["commands"]), (&json!(seq), &json!(commands)));
    }
    assert_eq!(found.len(), 3);
    let first = |options: &[&str]| {
        frames(options).lines().nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(first(&[]), "0");
    assert_eq!(first(&["--sort", "commands", "--top", "1"]), "1");
}

#[test]
fn trace_without_a_frame_has_an_empty_list() {
    let mut trace = WrittenTrace::new(false);
    trace.command(0, "glFlush", &[], None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000)).unwrap();
    let (stdout, stderr) = run(ctl(folder.path()).args(["frames", "t.gapii", "--json"]), 1);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&answer["end_seq"], &answer["frames"]), (&json!(1), &json!([])));
    assert!(stderr.contains("no frame"), "{stderr}");
    let (_, stderr) = run(ctl(folder.path()).args(["frames", "t.gapii"]), 1);
    assert!(one_sentence(&stderr).contains("has no frame"), "{stderr}");
}
