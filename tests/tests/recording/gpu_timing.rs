//! `--gpu-timing`: how long the GPU takes for each command that it executes. On llvmpipe, whose timestamps are those of
//! `CLOCK_MONOTONIC`.

use std::collections::HashMap;

use gapii_test_json::{value, values};
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Recording, Session, Trace};
use gapii_tests::loading::{offscreen, same_behaviour};
use gapii_tests::process::{self, LIMIT};
use gapii_tests::programs::program;
use serde_json::Value;

/// Commands of `gpu_timers` in each frame that the GPU executes: a clear, and six draws.
const WORK: u64 = 7;
const FRAMES: u64 = 6;

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn ask(trace: &Trace, command: &str) -> Value {
    let answer = trace.ask(command, &["--json"]).ok();
    value(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

/// Records the program, which has to behave as it does natively.
fn record(session: &Session, argument: &str) -> Recording {
    let mut app = offscreen(&program("gpu_timers"), [argument]);
    let native = process::run(&mut app).ok();
    let recording = session.record(&["--gpu-timing"], &app);
    same_behaviour(&native, &recording.run);
    recording.trace.is_whole("exit");
    recording
}

fn lines(trace: &Trace) -> Vec<Value> {
    values(&trace.ask("dump", &["--json"]).ok().stdout).expect("JSON")
}

fn is_work(line: &Value) -> bool {
    ["glClear", "glDrawArrays"].iter().any(|name| line["name"] == *name)
}

#[test]
fn every_draw_and_clear_has_its_time_on_the_gpu() {
    let session = Session::new();
    let trace = record(&session, "plain").trace;
    let lines = lines(&trace);
    let (mut last_ns, mut in_frames) = (0, HashMap::<u64, u64>::new());
    for line in &lines {
        assert_eq!(line.get("gpu_ns").is_some(), is_work(line), "{line}");
        if !is_work(line) {
            continue;
        }
        let (begin_ns, gpu_ns) = (number(&line["gpu_begin_ns"]), number(&line["gpu_ns"]));
        // The two clocks are read one after the other, so the begin is late by the time between.
        assert!(last_ns <= begin_ns + 1_000_000, "{last_ns} {line}");
        assert!(number(&line["begin_ns"]) < begin_ns + 1_000_000, "{line}");
        last_ns = begin_ns + gpu_ns;
        *in_frames.entry(number(&line["frame"])).or_default() += gpu_ns;
    }
    assert_eq!(lines.iter().filter(|line| is_work(line)).count() as u64, WORK * FRAMES);
    let sum: u64 = in_frames.values().sum();
    assert!(sum > 0);

    let info = ask(&trace, "info");
    assert_eq!(
        info["gpu_times"],
        serde_json::json!({"commands": WORK * FRAMES, "times": WORK * FRAMES, "without": []})
    );
    let stats = ask(&trace, "stats");
    assert_eq!(number(&stats["gpu"]["total_ns"]), sum);
    let functions = stats["functions"].as_array().expect("functions");
    let timed = |function: &&Value| !function["gpu"].is_null();
    let names: Vec<_> = functions.iter().filter(timed).map(|it| it["name"].clone()).collect();
    assert_eq!(names, ["glClear", "glDrawArrays"]);
    for list in [&stats["frames"], &ask(&trace, "frames")["frames"]] {
        let frames = list.as_array().expect("frames").iter();
        for frame in frames.filter(|frame| frame["is_complete"] != false) {
            assert_eq!(number(&frame["gpu_ns"]), in_frames[&number(&frame["frame"])], "{frame}");
            let duration_ns = frame["duration_ns"].as_u64().unwrap_or(u64::MAX);
            assert!(number(&frame["gpu_ns"]) <= duration_ns, "{frame}");
        }
    }
    let shown = trace.ask("dump", &["--function", "glClear"]).ok().stdout;
    assert_eq!(shown.matches("on the GPU").count() as u64, FRAMES, "{shown}");
    let file = session.path("x.perfetto");
    let options = ["--format", "perfetto", "--json", "-o", file.to_str().expect("a plain name")];
    let exported = value(&trace.ask("export", &options).ok().stdout).expect("JSON");
    assert_eq!(number(&exported["gpu"]), WORK * FRAMES);
}

#[test]
fn program_with_timer_queries_of_its_own_keeps_them_and_the_trace_says_so() {
    let session = Session::new();
    let recording = record(&session, "own");
    let why = "without times on the GPU: commands of a context in which the program uses timer queries itself";
    assert!(recording.run.stderr.contains(why), "{}", recording.run);
    let trace = recording.trace;
    let timed: Vec<_> = lines(&trace).into_iter().filter(|it| it.get("gpu_ns").is_some()).collect();
    // The program begins in its third frame; results of the frame before may be missing.
    assert!(timed.iter().all(|line| number(&line["frame"]) < 2), "{timed:?}");
    let without = &ask(&trace, "info")["gpu_times"]["without"];
    assert_eq!(without.as_array().map(Vec::len), Some(1), "{without}");
    assert_eq!(without[0]["reason"], "own_queries");
    let info = trace.ask("info", &[]).ok().stdout;
    assert!(info.contains("gpu        1 context without times: own_queries\n"), "{info}");
}

#[test]
fn attached_captures_have_times_if_they_were_asked_for() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &offscreen(&program("gpu_timers"), ["forever"]));
    for is_timed in [true, false, true] {
        let trace = Trace::new(session.path("attached.gapii"));
        let mut start = session.ctl(["start", "--force", "--frames", "4"]);
        start.args(is_timed.then_some("--gpu-timing"));
        process::run(start.arg("-o").arg(&trace.path)).ok();
        trace.is_whole("frames");
        let lines = lines(&trace).into_iter().filter(|line| line["setup"] != true);
        let work: Vec<_> = lines.filter(is_work).collect();
        let of_frame =
            |frame| work.iter().filter(|it| number(&it["frame"]) == frame).count() as u64;
        // A capture of a program with slow frames begins within one.
        assert!(of_frame(0) <= WORK, "{work:?}");
        assert_eq!([1, 2, 3].map(of_frame), [WORK; 3]);
        assert_eq!(work.len() as u64, of_frame(0) + 3 * WORK);
        let has_time = |line: &Value| line.get("gpu_ns").is_some();
        if is_timed {
            // The results of the last frame come within 100 ms, or not at all.
            let in_last = |line: &Value| number(&line["frame"]) == 3;
            let late: Vec<_> = work.iter().filter(|it| !has_time(it) && !in_last(it)).collect();
            assert!(late.is_empty(), "{late:?}");
        } else {
            assert!(!work.iter().any(has_time), "times without the option");
        }
        session.app_in_mode("idle");
    }
    running.signal(rustix::process::Signal::TERM);
    running.finish(LIMIT);
}
