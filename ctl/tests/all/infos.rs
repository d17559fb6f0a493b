//! `gapii-ctl info` and `verify`: when and for how long a trace was recorded, its size, surfaces and drivers, and what a cut trace
//! does not tell.

use std::fs;

use serde_json::{Value, json};

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::{BEGAN_NS, BEGAN_UNIX_NS, WrittenTrace};

const GL_VENDOR: u32 = 0x1F00;
const GL_RENDERER: u32 = 0x1F01;
const GL_VERSION: u32 = 0x1F02;
const EGL_HEIGHT: u32 = 0x3056;
const EGL_WIDTH: u32 = 0x3057;
const SECOND: u64 = 1_000_000_000;

/// The text and the JSON of `info`, and its message.
fn info(file: &[u8], status: i32) -> (String, Value, String) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), file).unwrap();
    let ask = |options: &[&str]| {
        let mut command = ctl(folder.path());
        run(command.env("TZ", "UTC0").args(["info", "t.gapii"]).args(options), status)
    };
    let (text, stderr) = ask(&[]);
    let (json, _) = ask(&["--json"]);
    (text, serde_json::from_str(&json).unwrap(), stderr)
}

fn line<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let found = text.lines().find_map(|line| line.strip_prefix(name));
    found.map(str::trim_start)
}

#[test]
fn date_duration_and_bytes_a_frame_are_said() {
    let mut trace = WrittenTrace::new(false);
    for _ in 0..4 {
        trace.command(0, "glFlush", &[], None);
        trace.swap(0, None);
    }
    // The first record came one second after the capture began.
    let header_bytes = trace.header_bytes();
    let file = trace.finish(3_500_000_000);
    let bytes = file.len() as u64 - header_bytes;
    // It describes the two functions.
    assert!(
        (400..2_000).contains(&header_bytes) && bytes < 4_000,
        "{header_bytes} and {bytes} bytes"
    );
    let (text, json, _) = info(&file, 0);
    assert_eq!(line(&text, "recorded"), Some("2023-11-14 22:13:21, for 2.5s"), "{text}");
    assert!(line(&text, "bytes").is_some_and(|bytes| bytes.ends_with(" a frame")), "{text}");
    let recorded = json!({
        "began_unix_ns": BEGAN_UNIX_NS + SECOND, "duration_ns": 2_500_000_000_u64, "is_least": false,
    });
    assert_eq!(json["recorded"], recorded);
    assert_eq!(
        (&json["header_bytes"], &json["bytes_per_frame"]),
        (&header_bytes.into(), &(bytes / 4).into())
    );
    assert!(
        line(&text, "bytes").is_some_and(|bytes| bytes.contains(" of them describe commands)")),
        "{text}"
    );
    assert_eq!(json["lost_is_known"], true);
}

#[test]
fn trace_without_frames_has_no_bytes_a_frame() {
    let (text, json, _) = info(&WrittenTrace::new(false).finish(SECOND), 0);
    assert!(!text.contains("a frame"), "{text}");
    assert_eq!(json.get("bytes_per_frame"), Some(&Value::Null));
}

#[test]
fn driver_of_a_context_is_said_without_a_question_of_the_program() {
    let mut trace = WrittenTrace::new(false);
    trace.limits_and_driver(0x77, [640, 480], b"llvmpipe\0OpenGL ES 3.2\0");
    trace.command(0, "glFlush", &[], None);
    // The program asks for the same.
    trace.get_string(GL_RENDERER, "llvmpipe");
    let (text, json, _) = info(&trace.finish(SECOND), 0);
    assert_eq!(line(&text, "driver"), Some("llvmpipe; OpenGL ES 3.2"), "{text}");
    let drivers = json!([{"renderer": "llvmpipe", "version": "OpenGL ES 3.2"}]);
    assert_eq!(json["drivers"], drivers);
}

#[test]
fn surfaces_and_drivers_of_an_older_trace_are_those_that_the_program_asked_for() {
    let mut trace = WrittenTrace::new(false);
    trace.limits(0x77, 640, 480);
    trace.get_string(GL_VENDOR, "Mesa");
    trace.get_string(GL_RENDERER, "llvmpipe\u{1b}[2J");
    trace.get_string(GL_VERSION, "OpenGL ES 3.2");
    trace.get_string(GL_RENDERER, "llvmpipe\u{1b}[2J");
    for (attribute, answer) in
        [(EGL_WIDTH, 640), (EGL_HEIGHT, 480), (EGL_HEIGHT, 600), (EGL_WIDTH, 800)]
    {
        trace.query_surface(5, attribute, answer);
    }
    // Half of an answer is no size.
    trace.query_surface(6, EGL_WIDTH, 99);
    let (text, json, _) = info(&trace.finish(SECOND), 0);
    assert_eq!(line(&text, "surfaces"), Some("640 x 480, 800 x 600"), "{text}");
    assert_eq!(line(&text, "driver"), Some("llvmpipe\\u{1b}[2J; OpenGL ES 3.2"), "{text}");
    let sizes = json!([{"width": 640, "height": 480}, {"width": 800, "height": 600}]);
    assert_eq!(json["surface_sizes"], sizes);
    let drivers = json!([{"renderer": "llvmpipe\u{1b}[2J", "version": "OpenGL ES 3.2"}]);
    assert_eq!(json["drivers"], drivers);
}

#[test]
fn every_context_and_frame_tells_its_size_once() {
    let mut trace = WrittenTrace::new(false);
    trace.limits(0x77, 640, 480);
    trace.observed_swap(640, 480);
    trace.observed_swap(320, 200);
    trace.observed_swap(640, 480);
    let (text, json, _) = info(&trace.finish(SECOND), 0);
    assert_eq!(line(&text, "surfaces"), Some("640 x 480, 320 x 200"), "{text}");
    assert_eq!(json["drivers"], json!([]));
}

#[test]
fn answer_of_a_driver_that_is_too_long_is_left_out() {
    for (len, is_said) in [(4096, true), (4097, false)] {
        let mut trace = WrittenTrace::new(false);
        let answer = "x".repeat(len);
        trace.get_string_in_a_blob(GL_RENDERER, &answer);
        let (text, _, _) = info(&trace.finish(SECOND), 0);
        assert_eq!(line(&text, "driver"), is_said.then_some(&*answer), "{len} bytes");
    }
}

#[test]
fn nothing_is_said_of_surfaces_and_drivers_that_the_trace_does_not_know() {
    let mut trace = WrittenTrace::new(false);
    trace.limits(0x77, 0, 0);
    trace.get_string(GL_VENDOR, "Mesa");
    let (text, json, _) = info(&trace.finish(SECOND), 0);
    assert_eq!((line(&text, "surfaces"), line(&text, "driver")), (None, None), "{text}");
    assert_eq!((&json["surface_sizes"], &json["drivers"]), (&json!([]), &json!([])));
}

#[test]
fn cut_trace_does_not_say_that_nothing_was_lost() {
    let mut trace = WrittenTrace::new(false);
    trace.command(0, "glFlush", &[], None);
    trace.begin_block(BEGAN_NS + 4 * SECOND);
    trace.swap(0, None);
    let (text, json, stderr) = info(&trace.cut(), 1);
    assert!(one_sentence(&stderr).contains("is cut"), "{stderr}");
    for name in ["ended", "waits", "lost"] {
        assert_eq!(line(&text, name), Some("not known: the trace is cut off"), "{text}");
    }
    assert_eq!(json["lost_is_known"], false);
    // The last block that is there began three seconds after the first one.
    assert_eq!(line(&text, "recorded"), Some("2023-11-14 22:13:21, for at least 3.0s"), "{text}");
    assert_eq!(json["recorded"]["is_least"], true);
}

#[test]
fn time_without_a_daemon_is_said_with_its_place_in_the_capture() {
    let mut trace = WrittenTrace::new(false);
    trace.command(0, "glFlush", &[], None);
    trace.seam(BEGAN_NS + 2 * SECOND, BEGAN_NS + 5 * SECOND);
    trace.swap(0, None);
    let (text, json, _) = info(&trace.cut(), 1);
    assert_eq!(line(&text, "seam"), Some("3.0s without a daemon, at 2.000000 s"), "{text}");
    let unix_ns = json!([{ "from": BEGAN_UNIX_NS + 2 * SECOND, "to": BEGAN_UNIX_NS + 5 * SECOND }]);
    assert_eq!(json["seams_unix_ns"], unix_ns);
}

#[test]
fn verification_of_a_cut_trace_does_not_say_that_nothing_was_lost() {
    let folder = tempfile::tempdir().unwrap();
    let verify = |file: &[u8], options: &[&str], status| {
        fs::write(folder.path().join("t.gapii"), file).unwrap();
        run(ctl(folder.path()).args(["verify", "t.gapii"]).args(options), status).0
    };
    let written = || {
        let mut trace = WrittenTrace::new(false);
        trace.swap(0, None);
        trace
    };
    let text = verify(&written().cut(), &[], 1);
    assert!(text.ends_with("; what was produced and lost is not known\n"), "{text}");
    let found: Value = serde_json::from_str(&verify(&written().cut(), &["--json"], 1)).unwrap();
    assert_eq!(found["checked"]["lost_is_known"], false);
    // Its ledger does not fit its records, but it is there.
    let text = verify(&written().finish(SECOND), &[], 1);
    assert!(text.ends_with(" produced, 0 records lost\n"), "{text}");
    let found = verify(&written().finish(SECOND), &["--json"], 1);
    let found: Value = serde_json::from_str(&found).unwrap();
    assert_eq!(found["checked"]["lost_is_known"], true);
}

#[test]
fn losses_that_a_cut_trace_tells_of_are_said_as_a_part() {
    let mut trace = WrittenTrace::new(false);
    trace.gap(3);
    let (text, json, _) = info(&trace.cut(), 1);
    assert_eq!(line(&text, "recorded"), Some("2023-11-14 22:13:21"), "{text}");
    let expected =
        "not known: the trace is cut off; before that 3 commands, 96 B (dropped 3 records)";
    assert_eq!(line(&text, "lost"), Some(expected), "{text}");
    assert_eq!((&json["lost"]["commands"], &json["lost_is_known"]), (&json!(3), &json!(false)));
}

#[test]
fn trace_with_a_damaged_footer_is_not_called_cut() {
    let mut file = WrittenTrace::new(false).finish(SECOND);
    let at = file.len() - 40;
    file[at] ^= 1;
    let (text, json, stderr) = info(&file, 1);
    assert!(one_sentence(&stderr).contains("is damaged"), "{stderr}");
    assert_eq!(line(&text, "lost"), Some("not known: the trace is damaged"), "{text}");
    assert_eq!(json["lost_is_known"], false);
}
