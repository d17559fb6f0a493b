//! `--frame-end`: captures of a program that never swaps have frames that end at the commands that the user names. All readers
//! count the same frames, and replay shows what each has drawn. In a trace without frames they say where frames may end.

use std::process::Command;

use gapii_test_json::value;
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::{names, offscreen, same_behaviour};
use gapii_tests::process::{Finished, LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::replay;
use gapii_tests::sharing::number;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Commands of each frame of `compositor.c` after the first.
const COMMANDS: u64 = 10;

fn compositor(arguments: &[&str]) -> Command {
    offscreen(&program("compositor"), arguments)
}

fn answer(finished: &Finished) -> Value {
    value(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished}"))
}

/// The list of `frames --json`.
fn frames(trace: &Trace) -> Vec<Value> {
    let frames = answer(&trace.ask("frames", &["--json"]).ok())["frames"].take();
    frames.as_array().cloned().expect("a list")
}

/// The digest of a frame of `compositor.c`: a square of 64 pixels with one colour.
fn digest(frame: u64) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&[64_u32.to_le_bytes(), 64_u32.to_le_bytes()].concat());
    let pixel = [(frame * 20 % 256) as u8, 128, 255, 255];
    hasher.update(&pixel.repeat(64 * 64));
    hasher.finalize().to_hex().to_string()
}

/// Checks that replay draws these frames of the program.
#[track_caller]
fn shows(session: &Session, trace: &Trace, drawn: impl Iterator<Item = u64>) {
    let report = answer(&run(&mut replay(session, &trace.path, &["--checksum", "--json"])).ok());
    let shown = report["checksums"].as_array().expect("a list").iter();
    let shown: Vec<_> = shown.map(|it| it["blake3"].as_str().expect("a digest")).collect();
    assert_eq!(shown, drawn.map(digest).collect::<Vec<_>>());
}

/// Records the program with frames that end at `rules`, and checks the number of frames and the last command of each.
#[track_caller]
fn check(arguments: &[&str], rules: &[&str], frames_of: u64, last: &[&str]) -> (Session, Trace) {
    let session = Session::new();
    let mut app = compositor(arguments);
    let native = run(&mut app).ok();
    let rules: Vec<_> = rules.iter().map(|rule| format!("--frame-end={rule}")).collect();
    let options: Vec<_> = rules.iter().map(String::as_str).collect();
    let recording = session.record(&options, &app);
    same_behaviour(&native, &recording.run);
    let trace = recording.trace;
    trace.is_whole("exit");
    assert_eq!(number(&trace.info()["frames"]), frames_of);
    let listed = frames(&trace);
    assert_eq!(listed.len() as u64, frames_of);
    let commands = trace.commands();
    let names = names(&commands);
    for frame in &listed {
        let name = names[number(&frame["seq"]) as usize];
        assert!(last.contains(&name), "{frame} ends at {name}");
        assert!(number(&frame["time_ns"]) > 0, "{frame}");
    }
    (session, trace)
}

#[test]
fn frames_end_at_the_functions_that_are_named() {
    let (session, trace) = check(&["12"], &["glFlush"], 12, &["glFlush"]);
    let listed = frames(&trace);
    assert!(listed[1..].iter().all(|it| number(&it["commands"]) == COMMANDS), "{listed:?}");
    shows(&session, &trace, 0..12);
    let said = trace.ask("info", &[]).ok();
    assert!(said.stdout.contains("frames     12, which end at glFlush\n"), "{said}");
    assert_eq!(trace.info()["frame_rule"], json!(["glFlush"]));
    let stats = answer(&trace.ask("stats", &["--json"]).ok());
    let complete = stats["frames"].as_array().expect("a list").iter();
    assert_eq!(complete.filter(|frame| frame["is_complete"] != false).count(), 12);
    let dump = trace.ask("dump", &["--frames", "3", "--json"]).ok();
    assert_eq!(dump.stdout.lines().count() as u64, COMMANDS, "{dump}");

    // A part of the trace has the same frames.
    let part = Trace::new(session.path("part.gapii"));
    let mut trim = session.ctl(["trim", "--frames", "4..7", "-o"]);
    run(trim.arg(&part.path).arg(&trace.path)).ok();
    part.is_whole("exit");
    shows(&session, &part, 4..7);
}

#[test]
fn frames_end_where_debug_groups_of_that_name_end() {
    let (session, trace) = check(&["12"], &["group:fr?me"], 12, &["glPopDebugGroupKHR"]);
    shows(&session, &trace, 0..12);
    let part = Trace::new(session.path("part.gapii"));
    let mut trim = session.ctl(["trim", "--frames", "4..7", "-o"]);
    run(trim.arg(&part.path).arg(&trace.path)).ok();
    shows(&session, &part, 4..7);
    // The name has a length, and the program's string goes on behind it. The group ends ahead of the fence.
    let (_session, inner) = check(&["12"], &["group:pass"], 12, &["glPopDebugGroupKHR"]);
    let [outer_seq, inner_seq] = [&trace, &inner].map(|trace| number(&frames(trace)[0]["seq"]));
    assert_eq!(outer_seq, inner_seq + 3);
}

#[test]
fn named_functions_end_frames_in_place_of_swaps_or_beside_them() {
    check(&["12", "swap"], &[], 6, &["eglSwapBuffers"]);
    check(&["12", "swap"], &["eglCreateSync*"], 12, &["eglCreateSyncKHR"]);
    let both = ["glFlush", "eglSwapBuffers*"];
    check(&["12", "swap"], &both, 18, &["glFlush", "eglSwapBuffers"]);
}

#[test]
fn capture_of_as_many_frames_ends_after_them() {
    let session = Session::new();
    let recording = session.record(&["--frame-end=glFlush", "--frames=5"], &compositor(&["12"]));
    recording.run.ok();
    recording.trace.is_whole("frames");
    shows(&session, &recording.trace, 0..5);
    // Other commands are left out, and the frames stay.
    let options = ["--frame-end=glFlush", "--frames=5", "--function=glClear", "--timing"];
    let filtered = session.record(&options, &compositor(&["12"]));
    filtered.run.ok();
    filtered.trace.is_whole("frames");
    let commands = filtered.trace.commands();
    assert_eq!(names(&commands), ["glClear", "glFlush"].repeat(5));
    let said = filtered.trace.ask("info", &[]).ok();
    assert!(said.stdout.contains("only functions glClear, and ends of frames\n"), "{said}");
}

#[test]
fn attached_captures_begin_and_end_with_such_frames() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &compositor(&["0"]));
    for rule in ["glFlush", "group:frame"] {
        let trace = Trace::new(session.path("attached.gapii"));
        let mut start = session.ctl(["start", "--force", "--frames=4", "--frame-end", rule]);
        run(start.arg("-o").arg(&trace.path)).ok();
        trace.is_whole("frames");
        let listed = frames(&trace);
        assert_eq!(listed.len(), 4);
        assert!(listed[1..].iter().all(|it| number(&it["commands"]) == COMMANDS), "{listed:?}");
        session.app_in_mode("idle");
    }
    // A capture with another rule beside the first one would have frames that end elsewhere.
    let mut first = session.ctl(["start", "--frame-end=glFlush", "-o"]);
    let first = Running::start(first.arg(session.path("first.gapii")));
    session.app_in_mode("capturing");
    let second = run(session.ctl(["start", "--frames=1", "-o"]).arg(session.path("second.gapii")));
    let second = second.exited_with(3);
    assert!(second.stderr.contains("whose frames end at glFlush"), "{second}");
    running.signal(Signal::TERM);
    running.finish(LIMIT);
    first.finish(LIMIT).ok();
}

#[test]
fn frames_are_kept_that_end_at_named_functions() {
    let session = Session::new();
    let kept = Trace::new(session.path("kept.gapii"));
    let mut command =
        session.ctl(["run", "--keep-frames=5", "--keyframe-every=5", "--frame-end=glFlush", "-o"]);
    append(command.arg(&kept.path), &compositor(&["23"]));
    run(&mut command).ok();
    kept.verify();
    let listed = frames(&kept);
    assert_eq!(listed.last().map(|frame| number(&frame["frame"])), Some(22), "{listed:?}");
    let first = number(&listed[0]["frame"]);
    assert!(first.is_multiple_of(5) && first <= 18, "{listed:?}");
    shows(&session, &kept, first..23);
}

#[test]
fn trace_without_frames_says_where_they_may_end() {
    let session = Session::new();
    let recording = session.record(&[], &compositor(&["12"]));
    let said = "frames that end at eglCreateSyncKHR would be 12: record with `--frame-end eglCreateSyncKHR`";
    assert!(recording.run.stderr.contains(said), "{}", recording.run);
    let trace = recording.trace;
    let failed = trace.ask("frames", &[]).exited_with(1);
    assert!(failed.stderr.contains(said), "{failed}");
    let info = trace.ask("info", &[]).ok();
    assert!(info.stdout.contains(&format!("frames     0; {said}\n")), "{info}");
    let guess = json!({"function": "eglCreateSyncKHR", "frames": 12, "is_of_whole_trace": true});
    assert_eq!(trace.info()["frame_guess"], guess);
    let images = session.path("images");
    let played = run(replay(&session, &trace.path, &["--images"]).arg(&images)).ok();
    assert!(played.stderr.contains(said), "{played}");
    // What the guess says holds.
    check(&["12"], &["eglCreateSyncKHR"], 12, &["eglCreateSyncKHR"]);
}

#[test]
fn words_that_name_no_function_are_refused() {
    let session = Session::new();
    for (word, why) in
        [("glflush", "no function \"glflush\" is recorded"), ("group:", "group:frame")]
    {
        let refused = session.record(&["--frame-end", word], &compositor(&["1"])).run;
        assert_eq!(refused.status.code(), Some(125), "{refused}");
        assert!(refused.stderr.contains(why), "{refused}");
    }
}
