//! `gapii-ctl threads`: activity of threads, and what happened to them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::{BEGAN_NS, BEGAN_UNIX_NS, WrittenTrace};

fn written(folder: &Path) {
    let mut trace = WrittenTrace::new(false);
    let args = trace.args("glPushGroupMarkerEXT", &[0, 0x5555]);
    trace.call("glPushGroupMarkerEXT", &args, &[b"sky\x1b[2J"], &[], &[]);
    trace.swap(0, None);
    trace.wait(1, BEGAN_NS + 2_000_000, 1_500_000);
    trace.wait(1, BEGAN_NS + 5_000_000, 2_500_000);
    trace.command(1, "glFlush", &[], None);
    trace.command(0, "glPopGroupMarkerEXT", &[], None);
    fs::write(folder.join("t.gapii"), trace.finish(1_000_000)).unwrap();
}

#[test]
fn threads_are_listed_with_their_activity_and_events() {
    let folder = tempfile::tempdir().unwrap();
    written(folder.path());
    let threads =
        |options: &[&str]| run(ctl(folder.path()).args(["threads", "t.gapii"]).args(options), 0).0;
    let answer: Value = serde_json::from_str(&threads(&["--json"])).unwrap();
    let cell = |frame, seq, commands| json!({ "frame": frame, "seq": seq, "commands": commands });
    let [main, loader] = [&answer["threads"][0], &answer["threads"][1]];
    assert_eq!((&main["name"], &main["commands"]), (&json!("main"), &json!(3)));
    assert_eq!(main["cells"], json!([cell(0, 0, 2), cell(1, 3, 1)]));
    assert_eq!((&loader["name"], &loader["cells"]), (&json!("loader"), &json!([cell(1, 2, 1)])));
    let wait = &answer["events"][0];
    assert_eq!(
        (&wait["kind"], &wait["thread"], &wait["seq"]),
        (&json!("wait"), &json!(1), &json!(2))
    );
    assert_eq!(wait["begin_ns"], json!(BEGAN_NS + 2_000_000));
    assert_eq!(wait["begin_unix_ns"], json!(BEGAN_UNIX_NS + 2_000_000));
    assert_eq!(answer["events"].as_array().unwrap().len(), 2);
    let group = &answer["marks"][0];
    assert_eq!((&group["kind"], &group["end_seq"]), (&json!("group"), &json!(3)));
    assert_eq!(group["text"], "sky\u{1b}[2J");

    let text = threads(&["--events", "1"]);
    let line = |words: &str| text.lines().any(|line| line.split_whitespace().eq(words.split(' ')));
    assert!(line("0 0 4711 main 3 -") && line("1 0 4712 loader 1 -"), "{text}");
    assert!(line("wait 1 1 2 0.002000 s 1.500 ms") && line("1 event more"), "{text}");
    assert!(
        text.contains("sky") && !text.contains('\u{1b}') && !text.contains("mark more"),
        "{text}"
    );
}

#[test]
fn trace_without_a_command_has_no_threads() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), WrittenTrace::new(false).finish(1_000_000)).unwrap();
    let (stdout, _) = run(ctl(folder.path()).args(["threads", "t.gapii", "--json"]), 1);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&answer["threads"], &answer["events"]), (&json!([]), &json!([])));
    let (_, stderr) = run(ctl(folder.path()).args(["threads", "t.gapii"]), 1);
    assert!(one_sentence(&stderr).contains("has no command of a program"), "{stderr}");
}
