//! Captures with a filter: commands that do not match are left out and counted, and the others are recorded as they would
//! be without a filter.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use gapii_test_json::values;
use gapii_tests::attaching::run_idle;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, run};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use gapii_tests::sharing::{number, start, until};
use serde_json::Value;

/// Threads that only make calls, on the fake driver.
fn calling(session: &Session, arguments: &[&str]) -> (Command, Page) {
    let path = session.path("page");
    let mut process = Command::new(program("draw_forever"));
    process.args(arguments);
    fake_driver::use_in(&mut process, Some(&path));
    (process, Page::new(&path))
}

/// The lines of `dump --json` for commands that the program called.
fn lines(trace: &Trace) -> Vec<Value> {
    let dump = trace.ask("dump", &["--json"]).ok();
    let lines = values(&dump.stdout).unwrap().into_iter();
    lines.filter(|line| line["setup"] != true).collect()
}

/// Returns the number of calls of each function.
fn counts(lines: &[Value]) -> BTreeMap<&str, u64> {
    let mut counts = BTreeMap::new();
    for line in lines {
        *counts.entry(line["name"].as_str().unwrap()).or_default() += 1;
    }
    counts
}

#[test]
fn functions_that_are_not_wanted_are_left_out_and_accounted_for() {
    const ROUNDS: u64 = 50_000;
    let session = Session::new();
    let (process, _page) = calling(&session, &["2", &ROUNDS.to_string()]);
    let options = ["--function", "glDraw*", "--function", "glGetError"];
    let recording = session.record(&options, &process);
    let trace = recording.trace;
    recording.run.ok();
    trace.is_whole("exit");
    let expected = [
        ("eglSwapBuffers", 2 * ROUNDS / 16),
        ("glDrawArrays", 2 * ROUNDS),
        ("glGetError", 2 * ROUNDS),
    ];
    assert_eq!(counts(&lines(&trace)), expected.into());

    let info = trace.info();
    assert_eq!(number(&info["frames"]), 2 * ROUNDS / 16, "{info:#}");
    assert_eq!(info["filter"]["functions"][0], "glDraw*", "{info:#}");
    let said = trace.ask("info", &[]).ok();
    let line = "filtered   only functions glDraw*, glGetError, and swaps\n";
    assert!(said.stdout.contains(line), "{said}");
    let verified: Value =
        serde_json::from_str(&trace.ask("verify", &["--json"]).ok().stdout).unwrap();
    let checked = &verified["checked"];
    assert!(number(&checked["left_out"]) > 2 * 7 * ROUNDS, "{verified:#}");
    assert_eq!(
        number(&checked["produced"]),
        number(&checked["records"]) + number(&checked["left_out"]),
        "{verified:#}"
    );
}

#[test]
fn part_of_a_program_is_not_played() {
    let session = Session::new();
    let (process, _page) = calling(&session, &["1", "100"]);
    let recording = session.record(&["--api", "egl"], &process);
    recording.run.ok();
    let names = lines(&recording.trace);
    assert!(names.len() > 10, "{} commands", names.len());
    assert!(names.iter().all(|line| line["name"].as_str().unwrap().starts_with("egl")));
    let out = session.path("out.trace").display().to_string();
    for (command, options) in [
        ("replay", &[][..]),
        ("state", &[]),
        ("montage", &["-o", &out]),
        ("export", &["--format", "apitrace", "-o", &out]),
    ] {
        let refused = recording.trace.ask(command, options).exited_with(1);
        assert!(
            refused.stderr.contains("recorded with a filter, and has only APIs egl"),
            "{refused}"
        );
    }
    recording.trace.ask("stats", &[]).ok();
    recording.trace.ask("export", &["--format", "json", "-o", &out]).ok();
}

#[test]
fn what_is_wanted_is_as_it_is_in_a_capture_of_all() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (mut process, _page) = calling(&session, &["2"]);
    // More than a millisecond per frame, so that the capture of everything is no larger than the comparison needs.
    let _program = run_idle(&session, process.env("FAKE_DRIVER_SLEEP", "1000"));
    let (all, all_trace) = start(&session, "all", &[]);
    until(&session, "all", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let options = ["--frames", "60", "--function", "glBindTexture", "--function", "glIsEnabled"];
    let (part, part_trace) = start(&session, "part", &options);
    part.finish(LIMIT).ok();
    run(&mut session.ctl(["stop", "all"])).ok();
    all.finish(LIMIT).ok();
    part_trace.is_whole("frames");
    all_trace.is_whole("stop");

    let key = |line: &Value| {
        ["tid", "name", "stamps", "args", "result"].map(|field| line[field].to_string())
    };
    let whole: BTreeSet<_> = lines(&all_trace).iter().map(key).collect();
    let lines = lines(&part_trace);
    assert!(lines.len() > 60 * 16 * 2, "{} commands", lines.len());
    let strange = lines.iter().find(|line| !whole.contains(&key(line)));
    assert_eq!(strange, None, "not in the capture of all");
}

#[test]
fn thread_that_is_wanted_is_recorded_alone_and_another_capture_has_all() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    // The rest after each frame leaves the processors to the clients, and few frames to play.
    let drawing = offscreen(&program("threads_forever"), ["3", "3600", "2000"]);
    let _program = run_idle(&session, &drawing);
    let (all, all_trace) = start(&session, "all", &["--observe-frames", "1"]);
    until(&session, "all", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let tid = {
        let (probe, trace) = start(&session, "probe", &["--frames", "9"]);
        probe.finish(LIMIT).ok();
        number(&lines(&trace)[0]["tid"])
    };
    let (part, part_trace) =
        start(&session, "part", &["--frames", "30", "--thread", &tid.to_string()]);
    part.finish(LIMIT).ok();
    run(&mut session.ctl(["stop", "all"])).ok();
    all.finish(LIMIT).ok();

    part_trace.is_whole("frames");
    let lines = lines(&part_trace);
    let of_it = lines.iter().filter(|line| number(&line["tid"]) == tid).count();
    assert!(of_it > 30, "{of_it} commands of the thread");
    let of_others: Vec<_> = lines.into_iter().filter(|line| number(&line["tid"]) != tid).collect();
    assert_eq!(counts(&of_others).into_keys().collect::<Vec<_>>(), ["eglSwapBuffers"]);
    assert_eq!(part_trace.info()["snapshot"], true);
    all_trace.is_whole("stop");
    // Five before the others began, and the frames that the others took.
    assert!(verified_frames(&session, &all_trace) > 5 + 9 + 30);
}

#[test]
fn word_that_fits_nothing_is_refused() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (process, _page) = calling(&session, &["1"]);
    let _program = run_idle(&session, &process);
    let path = session.path("no.gapii");
    let refused =
        run(session.ctl(["start", "--function", "glclear", "-o"]).arg(&path)).exited_with(2);
    assert!(refused.stderr.contains("no function \"glclear\""), "{refused}");
    assert!(!path.exists());
}
