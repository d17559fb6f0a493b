//! `gapii-ctl state --since`: what commands have changed.

use std::fs;

use serde_json::{Value, json};

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::WrittenTrace;

#[test]
fn changes_are_those_of_the_commands_between() {
    let mut trace = WrittenTrace::new(false);
    let viewport = |trace: &mut WrittenTrace, width: i32| {
        trace.command(0, "glViewport", &[0, 0, width, 20].map(i32::to_le_bytes).concat(), None);
    };
    viewport(&mut trace, 10);
    trace.command(0, "glFlush", &[], None);
    viewport(&mut trace, 30);
    trace.command(0, "glLineWidth", &2.5f32.to_le_bytes(), None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000)).unwrap();
    let state = |options: &[&str], status| {
        run(ctl(folder.path()).args(["state", "t.gapii"]).args(options), status)
    };
    let changes = |options: &[&str]| -> Vec<(String, Value, Value)> {
        let (stdout, _) = state(&[options, &["--json"]].concat(), 0);
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        let changes = answer["changes"].as_array().unwrap().iter();
        let path = |it: &Value| it["path"].as_array().unwrap()[0].as_str().unwrap().to_owned();
        changes.map(|it| (path(it), it["before"].clone(), it["after"].clone())).collect()
    };
    let viewport =
        |from, to| ("viewport".to_owned(), json!([0, 0, from, 20]), json!([0, 0, to, 20]));
    let line_width = ("line_width".to_owned(), json!(1.0), json!(2.5));
    assert_eq!(changes(&["--at", "1", "--since", "0"]), []);
    assert_eq!(changes(&["--at", "2", "--since", "1"]), [viewport(10, 30)]);
    let both = changes(&["--since", "0"]);
    assert_eq!(both.len(), 2, "{both:?}");
    assert!(both.contains(&viewport(10, 30)) && both.contains(&line_width), "{both:?}");
    assert_eq!(changes(&["--since", "0", "--section", "line_width"]), [line_width]);
    let (text, _) = state(&["--at", "3", "--since", "2"], 0);
    assert!(text.contains("line_width: 1.0 -> 2.5"), "{text}");
    let (_, stderr) = state(&["--at", "2", "--since", "2"], 2);
    assert!(one_sentence(&stderr).contains("type `--at 2 --since 1`"), "{stderr}");
    let (_, stderr) = state(&["--since", "9"], 1);
    assert!(one_sentence(&stderr).contains("no command between 9 and 3"), "{stderr}");
}
