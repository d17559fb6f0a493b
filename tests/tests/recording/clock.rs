//! One clock: marks of the program, holds for snapshots, keyframes and waits have times of `CLOCK_MONOTONIC`, and
//! `gapii-ctl threads` lists them.

use gapii_test_json::{value, values};
use gapii_tests::fake_driver;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::programs::{app, program};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn threads(trace: &Trace) -> Value {
    let listed = trace.ask("threads", &["--json"]).ok();
    value(&listed.stdout).unwrap_or_else(|error| panic!("{error}: {listed}"))
}

/// Returns what `threads` lists, without what it leaves out: nothing.
fn list(threads: &Value, name: &str) -> Vec<Value> {
    assert_eq!(threads[format!("{name}_left_out")], 0);
    threads[name].as_array().expect("a list").clone()
}

fn lines(trace: &Trace) -> Vec<Value> {
    let dump = trace.ask("dump", &["--json"]).ok();
    let lines = values(&dump.stdout).expect("JSON").into_iter();
    lines.filter(|line| line["setup"] != true).collect()
}

fn is_mark(line: &Value) -> bool {
    let name = line["name"].as_str().expect("a name");
    ["glPushDebugGroup", "glPopDebugGroup", "glDebugMessageInsert"].contains(&name)
}

/// Records a program with marks, and returns its trace and the times around it.
fn marked(session: &Session, options: &[&str]) -> (Trace, [u64; 2]) {
    let began_ns = monotonic_ns();
    let recording = session.record(options, &offscreen(&app("debug_messages"), [""; 0]));
    recording.run.ok();
    recording.trace.is_whole("exit");
    (recording.trace, [began_ns, monotonic_ns()])
}

#[test]
fn marks_have_the_times_at_which_the_program_called_them() {
    let session = Session::new();
    for options in [&[][..], &["--timing"]] {
        let (trace, [began_ns, ended_ns]) = marked(&session, options);
        let mut last_ns = began_ns;
        for line in lines(&trace) {
            let begin_ns = line["begin_ns"].as_u64();
            assert_eq!(begin_ns.is_some(), is_mark(&line) || !options.is_empty(), "{line}");
            if let Some(begin_ns) = begin_ns {
                assert!(last_ns <= begin_ns && begin_ns <= ended_ns, "{last_ns} {line}");
                last_ns = begin_ns;
            }
        }
        let threads = threads(&trace);
        let cells: u64 = threads["threads"][0]["cells"]
            .as_array()
            .expect("cells")
            .iter()
            .map(|cell| number(&cell["commands"]))
            .sum();
        assert_eq!(cells, number(&threads["threads"][0]["commands"]));
        let marks = list(&threads, "marks");
        // Four frames with two groups and four messages each.
        let of = |kind: &str| marks.iter().filter(|mark| mark["kind"] == kind).count();
        assert_eq!((of("group"), of("mark")), (4 * 2, 4 * 4));
        let texts: Vec<_> = marks[..4].iter().map(|mark| mark["text"].as_str()).collect();
        assert_eq!(texts, [Some("a group"), Some("a mark"), Some("seven"), Some("inner")]);
        let [outer, inner] = [&marks[0], &marks[3]];
        assert!(outer["duration_ns"].as_u64() > inner["duration_ns"].as_u64(), "{outer} {inner}");
        assert!(number(&outer["end_seq"]) > number(&inner["end_seq"]), "{outer} {inner}");
        assert!(list(&threads, "events").is_empty(), "{threads}");
    }
}

#[test]
fn times_of_marks_that_a_filter_leaves_out_are_no_times_of_other_commands() {
    let session = Session::new();
    let (trace, _) = marked(&session, &["--function", "glClear", "--function", "glDrawArrays"]);
    let lines = lines(&trace);
    assert!(lines.iter().any(|line| line["name"] == "glDrawArrays"));
    let begun: Vec<_> = lines.iter().filter(|line| line.get("begin_ns").is_some()).collect();
    assert!(begun.is_empty(), "{begun:?}");
}

#[test]
fn holds_and_keyframes_have_their_times() {
    let session = Session::new();
    let began_ns = monotonic_ns();
    let keep = ["--keep-frames", "9", "--keyframe-every", "4"];
    let recording = session.record(&keep, &offscreen(&app("animation"), [""; 0]));
    recording.run.ok();
    let now_ns = monotonic_ns();
    let trace = &recording.trace;
    let events = list(&threads(trace), "events");
    let of = |kind: &str| {
        let it = events.iter().filter(|event| event["kind"] == kind).cloned();
        it.collect::<Vec<Value>>()
    };
    let keyframes = of("keyframe");
    // Frames 20 to 29 are kept.
    let frames: Vec<u64> = keyframes.iter().map(|it| number(&it["frame"])).collect();
    assert_eq!(frames, [20, 24, 28]);
    let holds = of("hold");
    assert_eq!(holds.len(), 3);
    let mut last_ns = began_ns;
    for (keyframe, hold) in keyframes.iter().zip(&holds) {
        let (at_ns, begin_ns) = (number(&keyframe["begin_ns"]), number(&hold["begin_ns"]));
        let end_ns = begin_ns + number(&hold["duration_ns"]);
        assert!(last_ns <= at_ns && at_ns <= begin_ns && end_ns <= now_ns, "{keyframe} {hold}");
        last_ns = end_ns;
    }
    let longest_ns = holds.iter().map(|hold| number(&hold["duration_ns"])).max();
    assert_eq!(longest_ns.map(|ns| ns / 1000), trace.info()["held_us"].as_u64());
}

#[test]
fn every_wait_is_told() {
    let session = Session::new();
    let _daemon = session.daemon(&["--ring-size", "64K"]);
    let mut process = std::process::Command::new(program("draw_forever"));
    process.args(["2", "20000"]);
    fake_driver::use_in(&mut process, None);
    let recording = session.record(&[], &process);
    recording.run.ok();
    let trace = &recording.trace;
    trace.is_whole("exit");
    let info = trace.info();
    let events = list(&threads(trace), "events");
    assert!(events.iter().all(|event| event["kind"] == "wait"), "{events:?}");
    assert!(!events.is_empty() && events.len() as u64 == number(&info["waits"]), "{info}");
    let told_ns: u64 = events.iter().map(|event| number(&event["duration_ns"])).sum();
    assert!(told_ns >= number(&info["wait_ns"]), "{told_ns} {info}");
}
