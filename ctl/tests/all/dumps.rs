//! `gapii-ctl dump` and `stats` of a trace: choice, order and number of the commands, and the slowest ones.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::{WrittenTrace, range};

/// `glDrawArrays` of this number of vertices.
fn draw(trace: &mut WrittenTrace, thread: u32, count: i32, driver_ns: Option<u64>) {
    let args = [4, 0, count].map(i32::to_le_bytes).concat();
    trace.command(thread, "glDrawArrays", &args, driver_ns);
}

/// Two frames of two threads. With times, the draw of command 5 takes longest.
fn folder(is_timed: bool) -> TempDir {
    let time = |ns| is_timed.then_some(ns);
    let mut trace = WrittenTrace::new(is_timed);
    trace.command(0, "glFlush", &[], time(9_000));
    draw(&mut trace, 0, 3, time(700));
    draw(&mut trace, 1, 30, time(800));
    trace.swap(0, time(50_000));
    draw(&mut trace, 0, 3, time(700));
    draw(&mut trace, 0, 300, time(60_000));
    trace.command(1, "glFinish", &[], None);
    trace.swap(0, time(40_000));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(3_000_000_000)).unwrap();
    folder
}

fn dump(folder: &TempDir, options: &[&str], status: i32) -> (String, String) {
    run(ctl(folder.path()).args(["dump", "t.gapii"]).args(options), status)
}

/// The numbers of the commands that `dump` lists, as text and as JSON.
fn check(folder: &TempDir, options: &[&str], expected: &[u64]) {
    let (text, _) = dump(folder, options, 0);
    let seqs = text.lines().map(|line| line.split_whitespace().next().unwrap().parse().unwrap());
    assert_eq!(seqs.collect::<Vec<u64>>(), expected, "{options:?}");
    let (json, _) = dump(folder, &[options, &["--json"]].concat(), 0);
    let seqs = json.lines().map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        line["seq"].as_u64().unwrap()
    });
    assert_eq!(seqs.collect::<Vec<u64>>(), expected, "{options:?} --json");
}

#[test]
fn commands_are_chosen_by_function_thread_and_frame() {
    let folder = folder(false);
    check(&folder, &[], &[0, 1, 2, 3, 4, 5, 6, 7]);
    check(&folder, &["--function", "glDraw*"], &[1, 2, 4, 5]);
    check(&folder, &["--function", "glF*", "--function", "glDrawArrays"], &[0, 1, 2, 4, 5, 6]);
    check(&folder, &["--thread", "4712"], &[2, 6]);
    check(&folder, &["--thread", "load*"], &[2, 6]);
    check(&folder, &["--thread", "load*", "--thread", "4711", "--frames", "1"], &[4, 5, 6, 7]);
    check(&folder, &["--thread", "main", "--function", "glDraw*", "--frames", "1"], &[4, 5]);
    check(&folder, &["--commands", "2..5"], &[2, 3, 4]);
    check(&folder, &["--commands", "6"], &[6]);
    check(&folder, &["--commands", "6..", "--top", "1"], &[6]);
    check(&folder, &["--commands", "..5", "--function", "glDraw*", "--frames", "1"], &[4]);
    let refused = |options: &[&str], status, hint: &str| {
        let (_, stderr) = dump(&folder, options, status);
        assert!(one_sentence(&stderr).contains(hint), "{options:?}: {stderr}");
    };
    refused(&["--commands", "8.."], 1, "has no command 8; its last one is 7");
    refused(
        &["--commands", "0..2", "--frames", "1"],
        1,
        "no command with these numbers in these frames",
    );
    refused(
        &["--commands", "0", "--function", "glFinish"],
        1,
        "with these numbers of functions glFinish",
    );
    check(&folder, &["--top", "2"], &[0, 1]);
    check(&folder, &["--top", "2", "--function", "glDraw*", "--frames", "1.."], &[4, 5]);
    check(&folder, &["--top", "100", "--function", "eglSwap*"], &[3, 7]);
}

#[test]
fn commands_have_roles_and_are_chosen_by_them() {
    let mut trace = WrittenTrace::new(false);
    let says = |trace: &mut WrittenTrace, name: &str, values: &[u64], text: &[u8]| {
        let args = trace.args(name, values);
        trace.call(name, &args, &[text], &[], &[]);
    };
    says(&mut trace, "glPushDebugGroup", &[0x824A, 1, u64::MAX, 0x1000], b"sky"); // 0
    says(&mut trace, "glInsertEventMarkerEXT", &[5, 0x1000], b"clouds"); // 1
    draw(&mut trace, 0, 3, None);
    trace.does("glPopDebugGroup", &[]); // 3
    trace.does("glDispatchCompute", &[1, 1, 1]);
    trace.does("glFlush", &[]); // 5
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    let (json, _) = dump(&folder, &["--json"], 0);
    let lines = json.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let roles: Vec<_> = lines.map(|line| (line["role"].clone(), line["text"].clone())).collect();
    let expected = [
        (json!("group-begin"), json!("sky")),
        (json!("mark"), json!("clouds")),
        (json!("draw"), Value::Null),
        (json!("group-end"), Value::Null),
        (json!("dispatch"), Value::Null),
        (Value::Null, Value::Null),
    ];
    assert_eq!(roles, expected);
    check(&folder, &["--role", "group-begin", "--role", "group-end"], &[0, 3]);
    check(&folder, &["--role", "draw", "--commands", "1..4"], &[2]);
    let (_, stderr) = dump(&folder, &["--role", "draw", "--commands", "3..5"], 1);
    assert!(one_sentence(&stderr).contains("with the role draw"), "{stderr}");
}

#[test]
fn commands_are_chosen_by_their_text() {
    let folder = folder(false);
    check(&folder, &["--match", "count = 30"], &[2, 5]);
    check(&folder, &["--match", "GLDRAW"], &[1, 2, 4, 5]);
    check(&folder, &["--match", "gldraw", "--top", "3"], &[1, 2, 4]);
    check(&folder, &["--match", "count = 3", "--function", "glDraw*", "--frames", "1"], &[4, 5]);
    check(&folder, &["--match", "gl_triangles", "--commands", "2..5"], &[2, 4]);
    let (_, stderr) = dump(&folder, &["--match", "count = 31", "--thread", "load*"], 1);
    let expected = "no command of threads load* whose text has \"count = 31\"";
    assert!(one_sentence(&stderr).contains(expected), "{stderr}");
}

#[test]
fn dearest_draw_comes_first() {
    let folder = folder(true);
    check(&folder, &["--sort", "driver-time"], &[5, 3, 7, 0, 2, 1, 4, 6]);
    check(&folder, &["--sort", "driver-time", "--top", "1", "--function", "glDraw*"], &[5]);
    check(&folder, &["--sort", "driver-time", "--function", "glDraw*"], &[5, 2, 1, 4]);
    check(&folder, &["--sort", "driver-time", "--top", "2", "--thread", "4712"], &[2, 6]);
    check(&folder, &["--sort", "driver-time", "--top", "2", "--frames", "0"], &[3, 0]);
    // Without --sort, the order stays that of the trace.
    check(&folder, &["--top", "3"], &[0, 1, 2]);
}

#[test]
fn order_by_times_of_a_trace_without_times_is_refused() {
    let folder = folder(false);
    for arguments in
        [["dump", "t.gapii", "--sort", "driver-time"], ["stats", "t.gapii", "--sort", "time"]]
    {
        let (stdout, stderr) = run(ctl(folder.path()).args(arguments), 2);
        let sentence = one_sentence(&stderr);
        assert!(sentence.contains("gapii-ctl run --timing -- CMD"), "{stderr}");
        assert!(sentence.contains("t.gapii"), "{stderr}");
        assert_eq!(stdout, "");
    }
}

#[test]
fn choice_that_fits_no_command_is_said() {
    let folder = folder(true);
    let check = |options: &[&str], status, expected: &str| {
        let (stdout, stderr) = dump(&folder, options, status);
        assert_eq!(stdout, "", "{options:?}");
        assert!(one_sentence(&stderr).contains(expected), "{options:?}: {stderr}");
    };
    check(&["--function", "gldrawarrays"], 2, "no function \"gldrawarrays\"");
    check(&["--function", "glUniform*"], 1, "no command of functions glUniform*");
    check(&["--thread", "nosuch", "--sort", "driver-time"], 1, "no command of threads nosuch");
    check(&["--function", "glFlush", "--frames", "1"], 1, "no command in these frames of");
    check(&["--function", "glFlush", "--frames", "7"], 1, "no such frame");
    let (_, stderr) = dump(&folder, &["--top", "0"], 2);
    assert!(stderr.contains("--top"), "{stderr}");
}

#[test]
fn listed_part_of_a_cut_trace_is_sorted_and_the_cut_is_said() {
    let mut trace = WrittenTrace::new(true);
    draw(&mut trace, 0, 3, Some(700));
    draw(&mut trace, 0, 3, Some(900));
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.cut()).unwrap();
    let (stdout, stderr) = dump(&folder, &["--sort", "driver-time"], 1);
    let seqs: Vec<_> = stdout.lines().map(|line| line.split_whitespace().next()).collect();
    assert_eq!(seqs, [Some("1"), Some("0")]);
    assert!(one_sentence(&stderr).contains("is cut"), "{stderr}");
}

#[test]
fn statistics_name_the_slowest_commands() {
    let folder = folder(true);
    let (json, _) = run(ctl(folder.path()).args(["stats", "t.gapii", "--json"]), 0);
    let stats: Value = serde_json::from_str(&json).unwrap();
    let slowest = stats["slowest"].as_array().unwrap();
    let seqs: Vec<_> = slowest.iter().map(|slow| slow["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, [5, 3, 7, 0, 2, 1, 4]);
    let first = json!({
        "seq": 5, "name": "glDrawArrays", "process": 0, "frame": 1, "tid": 4711, "driver_ns": 60_000,
    });
    assert_eq!(slowest[0], first);
    let functions = stats["functions"].as_array().unwrap();
    let draws = functions.iter().find(|function| function["name"] == "glDrawArrays").unwrap();
    let longest = (&draws["driver"]["max_ns"], &draws["driver"]["max_seq"]);
    assert_eq!(longest, (&json!(60_000), &json!(5)));
    let (text, _) = run(ctl(folder.path()).args(["stats", "t.gapii"]), 0);
    let rows: Vec<_> = text.lines().rev().take_while(|line| !line.starts_with("SEQ")).collect();
    assert_eq!(rows.len(), 7, "{text}");
    assert!(rows[6].starts_with("5 ") && rows[6].ends_with("glDrawArrays"), "{text}");
}

#[test]
fn at_most_ten_slowest_commands_are_listed() {
    let mut trace = WrittenTrace::new(true);
    for count in 0..30 {
        draw(&mut trace, 0, count, Some(1_000 + u64::from(count.unsigned_abs()) % 7));
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1)).unwrap();
    let (json, _) = run(ctl(folder.path()).args(["stats", "t.gapii", "--json"]), 0);
    let stats: Value = serde_json::from_str(&json).unwrap();
    let slowest = stats["slowest"].as_array().unwrap();
    let seqs: Vec<_> = slowest.iter().map(|slow| slow["seq"].as_u64().unwrap()).collect();
    // Of equal times the first ones.
    assert_eq!(seqs, [6, 13, 20, 27, 5, 12, 19, 26, 4, 11]);
}

#[test]
fn statistics_list_what_is_asked_for() {
    let folder = folder(true);
    let stats = |options: &[&str]| -> Value {
        let (json, _) =
            run(ctl(folder.path()).args(["stats", "t.gapii", "--json"]).args(options), 0);
        serde_json::from_str(&json).unwrap()
    };
    let names = |of: &Value, list: &str| -> Vec<String> {
        let listed = of[list].as_array().unwrap().iter();
        listed.map(|one| one["name"].as_str().unwrap().to_owned()).collect()
    };
    let whole = stats(&[]);
    let draws = stats(&["--function", "glDraw*"]);
    assert_eq!(names(&draws, "functions"), ["glDrawArrays"]);
    assert_eq!(names(&draws, "slowest"), ["glDrawArrays"; 4]);
    // Totals are those of the trace.
    assert_eq!((&draws["commands"], &draws["driver"]), (&whole["commands"], &whole["driver"]));
    let top = stats(&["--top", "1"]);
    assert_eq!(names(&top, "functions"), ["eglSwapBuffers"]);
    assert_eq!(
        (&top["slowest"].as_array().unwrap()[..], 1),
        (&whole["slowest"].as_array().unwrap()[..1], 1)
    );
    assert_eq!(names(&stats(&["--top", "1", "--sort", "count"]), "functions"), ["glDrawArrays"]);
    let (text, _) = run(ctl(folder.path()).args(["stats", "t.gapii", "--function", "glF*"]), 0);
    assert!(text.contains("glFlush") && !text.contains("eglSwapBuffers"), "{text}");
    let (_, stderr) =
        run(ctl(folder.path()).args(["stats", "t.gapii", "--function", "glclear"]), 2);
    assert!(one_sentence(&stderr).contains("no function"), "{stderr}");
    let (_, stderr) =
        run(ctl(folder.path()).args(["stats", "t.gapii", "--function", "glClear"]), 1);
    assert!(stderr.contains("has no command of glClear"), "{stderr}");
}

/// A trace of two contexts that share a labelled texture, of one that does not, and of an array of enums.
fn named_objects() -> TempDir {
    let mut trace = WrittenTrace::new(false);
    let gives = |trace: &mut WrittenTrace, name: &str, values: &[u64], result: u64| {
        let args = trace.args(name, values);
        trace.call(name, &args, &[], &result.to_le_bytes(), &[]);
    };
    gives(&mut trace, "eglGetDisplay", &[0], 0xD0);
    gives(&mut trace, "eglGetDisplay", &[0], 0xD0);
    gives(&mut trace, "eglCreateContext", &[0xD0, 0xC0, 0, 0], 0x66);
    gives(&mut trace, "eglCreateContext", &[0xD0, 0xC0, 0x66, 0], 0x77);
    gives(&mut trace, "eglCreateWindowSurface", &[0xD0, 0xC0, 9, 0], 0x5F);
    let args = trace.args("glObjectLabel", &[0x1702, 7, u64::MAX, 0x1000]);
    trace.call("glObjectLabel", &args, &[b"shadow\x1b[2J"], &[], &[]);
    let bind = trace.args("glBindTexture", &[0x0DE1, 7]);
    trace.command(0, "glBindTexture", &bind, None);
    let bind_other = trace.args("glBindBuffer", &[0x8892, 7]);
    trace.command(0, "glBindBuffer", &bind_other, None);
    let args = trace.args("glDeleteTextures", &[1]);
    trace.exchange("glDeleteTextures", &args, &[&7_u32.to_le_bytes()], &[]);
    trace.command(0, "glBindTexture", &bind, None);
    for count in [2, 17] {
        let enums = [0x8CE0_u32, 0].map(u32::to_le_bytes).concat();
        let enums = enums.into_iter().cycle().take(4 * count).collect::<Vec<_>>();
        let args = trace.args("glDrawBuffers", &[count as u64, 0x5555]);
        trace.command(0, "glDrawBuffers", &[args, range(1, &enums)].concat(), None);
    }
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    folder
}

#[test]
fn objects_have_numbers_and_labels() {
    let folder = named_objects();
    let (text, _) = dump(&folder, &[], 0);
    let lines: Vec<&str> = text.lines().collect();
    let ends = [
        "eglGetDisplay(display_id = 0x0) = 0xd0 (display 1)",
        "eglGetDisplay(display_id = 0x0) = 0xd0 (display 1)",
        "= 0x66 (context 1)",
        "= 0x77 (context 2)",
        "= 0x5f (surface 1)",
        r#"label = "shadow\u{1b}[2J")"#,
        r#"glBindTexture(target = GL_TEXTURE_2D, texture = 7 "shadow\u{1b}[2J")"#,
        // Another object of that name.
        "glBindBuffer(target = GL_ARRAY_BUFFER, buffer = 7)",
        r#"textures = [7 "shadow\u{1b}[2J"])"#,
        "glBindTexture(target = GL_TEXTURE_2D, texture = 7)",
    ];
    for (line, end) in lines.iter().zip(ends) {
        assert!(line.ends_with(end), "{line}\n{end}");
    }
    assert!(lines[3].contains("share_context = 0x66 (context 1)"), "{}", lines[3]);
    assert!(lines[3].contains("dpy = 0xd0 (display 1)"), "{}", lines[3]);

    let (json, _) = dump(&folder, &["--json"], 0);
    let names: Vec<Value> = json
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["names"].clone())
        .collect();
    let expected = json!({"dpy": "display 1", "share_context": "context 1", "result": "context 2"});
    assert_eq!(names[3], expected);
    assert_eq!(names[6], json!({"texture": "shadow\u{1b}[2J"}));
    assert_eq!([&names[7], &names[9]], [&Value::Null; 2]);

    // The text is searched as it is shown. A list that begins later does not know the words.
    let (matching, _) = dump(&folder, &["--match", "context 2"], 0);
    assert_eq!(matching.lines().count(), 1, "{matching}");
    let (later, _) = dump(&folder, &["--commands", "3..7"], 0);
    assert!(!later.contains("(context") && later.contains("= 0x77\n"), "{later}");
    let (first, _) = dump(&folder, &["--commands", "..7"], 0);
    assert!(first.contains("(context 2)"), "{first}");
}

#[test]
fn short_arrays_of_enums_are_shown_by_name_in_place_of_their_address() {
    let (text, _) = dump(&named_objects(), &["--function", "glDrawBuffers"], 0);
    let lines: Vec<&str> = text.lines().collect();
    let call = "glDrawBuffers(n = 2, bufs = [GL_COLOR_ATTACHMENT0, GL_NONE])";
    assert!(lines[0].ends_with(call), "{}", lines[0]);
    let call = "glDrawBuffers(n = 17, bufs = 0x5555)  reads bufs <68 bytes at 0x5555>";
    assert!(lines[1].ends_with(call), "{}", lines[1]);
}

#[test]
fn frames_of_a_trace_without_their_times_are_not_plotted() {
    let folder = folder(true);
    let plot = |options: &[&str], status| {
        run(ctl(folder.path()).args(["stats", "t.gapii"]).args(options), status).1
    };
    let error = plot(&["--plot", "frames.svg"], 1);
    assert!(error.contains("t.gapii has no two frames with times"), "{error}");
    assert!(!folder.path().join("frames.svg").exists());
    let error = plot(&["--plot", "-"], 2);
    assert!(error.contains("`--plot frames.svg`"), "{error}");
}
