//! `--timing`: how long the driver takes for each command.

use std::collections::{HashMap, HashSet};
use std::process::Command as Process;

use gapii_test_json::{value, values};
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Recording, Session, Trace};
use gapii_tests::kill::kill_once;
use gapii_tests::loading::offscreen;
use gapii_tests::process::LIMIT;
use gapii_tests::programs::{app, program};
use gapii_tests::random::Random;
use gapii_tests::{fake_driver, process, replays};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;

/// Rounds of each of two threads; every 16th round ends in glFinish and a swap.
const ROUNDS: u64 = 320;

/// Records `draw_forever` on the fake driver, which is in glFinish for a while.
fn record(options: &[&str]) -> (Session, Recording) {
    let session = Session::new();
    let mut process = Process::new(program("draw_forever"));
    process.args(["2", &ROUNDS.to_string()]).env("FAKE_DRIVER_SLEEP", "1000");
    fake_driver::use_in(&mut process, None);
    let recording = session.record(options, &process);
    recording.run.clone().ok();
    (session, recording)
}

fn stats(trace: &Trace) -> Value {
    let stats = trace.ask("stats", &["--json"]).ok();
    serde_json::from_str(&stats.stdout).unwrap_or_else(|error| panic!("{error}: {stats}"))
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn function<'a>(stats: &'a Value, name: &str) -> &'a Value {
    let functions = stats["functions"].as_array().expect("functions");
    functions.iter().find(|entry| entry["name"] == name).expect(name)
}

fn monotonic_ns() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// When the frame of a command ended.
fn time_of(line: &&Value) -> u64 {
    number(&line["time_ns"])
}

fn lines(trace: &Trace) -> Vec<Value> {
    let dump = trace.ask("dump", &["--json"]).ok();
    values(&dump.stdout).expect("JSON")
}

#[test]
fn every_command_of_a_timed_capture_has_its_time_in_the_driver() {
    let (session, recording) = record(&["--timing"]);
    let trace = &recording.trace;
    trace.is_whole("exit");
    let info = trace.info();
    assert_eq!((&info["format_version"], &info["frames"]), (&15.into(), &(2 * ROUNDS / 16).into()));
    // It describes the functions of the program, and not all that there are.
    let header_bytes = number(&info["header_bytes"]);
    assert!((1_000..10_000).contains(&header_bytes), "{header_bytes} bytes");
    let lines = lines(trace);
    commands_of_a_thread_follow_each_other(&lines);
    let times: Vec<u64> = lines.iter().map(|line| number(&line["driver_ns"])).collect();
    assert!(times.len() as u64 > 2 * 10 * ROUNDS, "{} commands", times.len());
    for format in ["perfetto", "firefox-profiler"] {
        let file = session.path(format);
        let options = ["--format", format, "--json", "-o", file.to_str().expect("a plain name")];
        let exported = value(&trace.ask("export", &options).ok().stdout).expect("JSON");
        assert_eq!(number(&exported["commands"]), times.len() as u64, "{format}");
        assert_eq!(number(&exported["frames"]), 2 * ROUNDS / 16, "{format}");
        assert_eq!(exported["untimed"], serde_json::json!({"commands": 0, "frames": 0}));
    }
    let stats = stats(trace);
    let driver = &stats["driver"];
    assert_eq!(number(&driver["commands"]), times.len() as u64);
    assert_eq!(number(&driver["total_ns"]), times.iter().sum::<u64>());
    assert_eq!(number(&driver["max_ns"]), *times.iter().max().expect("commands"));
    for list in ["frames", "threads"] {
        let entries = stats[list].as_array().expect(list);
        let sum: u64 = entries.iter().map(|entry| number(&entry["driver_ns"])).sum();
        assert_eq!(sum, number(&driver["total_ns"]), "{list}");
    }
    let spread = &stats["driver_in_frames"];
    assert!(number(&spread["min_ns"]) <= number(&spread["median_ns"]), "{spread}");
    assert!(number(&spread["median_ns"]) <= number(&spread["max_ns"]), "{spread}");
}

/// Each command of a thread begins when the one before has returned, and a frame ends behind the command that ends it.
#[track_caller]
fn commands_of_a_thread_follow_each_other(lines: &[Value]) {
    let mut ends: HashMap<u64, u64> = HashMap::new();
    for line in lines {
        let (tid, begin_ns) = (number(&line["tid"]), number(&line["begin_ns"]));
        let returned_ns = begin_ns + number(&line["driver_ns"]);
        let end_ns = line["time_ns"].as_u64().unwrap_or(returned_ns);
        let before_ns = ends.insert(tid, end_ns).unwrap_or(0);
        assert!(before_ns <= begin_ns && returned_ns <= end_ns, "{before_ns} {line}");
    }
    // The main thread prepares what the two others draw with.
    assert_eq!(ends.len(), 3);
}

#[test]
fn slow_commands_have_longer_times_and_are_listed_first() {
    let (_session, recording) = record(&["--timing"]);
    let stats = stats(&recording.trace);
    let mean = |name| number(&function(&stats, name)["driver"]["mean_ns"]);
    let [finish, uniform, draw] = ["glFinish", "glUniform4f", "glDrawArrays"].map(mean);
    assert!(finish > 10 * uniform && finish > 10 * draw, "{finish} {uniform} {draw}");
    let share = function(&stats, "glFinish")["driver"]["share"].as_f64();
    assert!(share.is_some_and(|share| share > 0.5 && share <= 1.0), "{share:?}");
    let first_function = |options: &[&str]| {
        let table = recording.trace.ask("stats", options).ok().stdout;
        let head = table.lines().position(|line| line.starts_with("FUNCTION")).expect("a head");
        assert!(table.contains("TIME") && table.contains("driver"), "{table}");
        let row = table.lines().nth(head + 1).expect("a row");
        row.split_whitespace().next().expect("a name").to_owned()
    };
    assert_eq!(first_function(&[]), "glFinish");
    assert_eq!(first_function(&["--sort", "time"]), "glFinish");
    assert_ne!(first_function(&["--sort", "count"]), "glFinish");
}

#[test]
fn untimed_capture_has_times_of_its_frames_alone_and_says_so() {
    let began_ns = monotonic_ns();
    let (session, recording) = record(&[]);
    let trace = &recording.trace;
    trace.is_whole("exit");
    assert_eq!(trace.info()["format_version"], 14);
    let lines = lines(trace);
    assert!(lines.len() as u64 > 2 * 10 * ROUNDS, "{} commands", lines.len());
    assert!(lines.iter().all(|line| line.get("driver_ns").is_none()));
    let ends: Vec<_> = lines.iter().filter(|line| line.get("time_ns").is_some()).collect();
    assert_eq!(ends.len() as u64, 2 * ROUNDS / 16);
    let now_ns = monotonic_ns();
    for tid in ends.iter().map(|end| &end["tid"]).collect::<HashSet<_>>() {
        let times: Vec<_> = ends.iter().filter(|end| end["tid"] == *tid).map(time_of).collect();
        // The program is in glFinish for a millisecond in each frame.
        let are_apart = |pair: &[u64]| pair[0] + 1_000_000 <= pair[1];
        assert!(times.windows(2).all(are_apart), "{times:?}");
        let all = began_ns..=now_ns;
        assert!(times.iter().all(|time_ns| all.contains(time_ns)), "{times:?} {all:?}");
    }
    let picture = session.path("frames.svg");
    trace.ask("stats", &["--plot", picture.to_str().expect("a plain name")]).ok();
    let svg = std::fs::read_to_string(&picture).expect("the picture was written");
    let frames = format!(": {} frames, median ", 2 * ROUNDS / 16 - 1);
    assert!(svg.contains(&frames) && svg.ends_with("</svg>\n"), "{svg}");
    let stats = stats(trace);
    assert!(stats["driver"].is_null() && stats["driver_in_frames"].is_null(), "{stats}");
    assert!(function(&stats, "glFinish")["driver"].is_null());
    let table = trace.ask("stats", &[]).ok().stdout;
    assert!(!table.contains("TIME") && !table.contains("driver"), "{table}");
    let refused = trace.ask("stats", &["--sort", "time"]).exited_with(2);
    assert!(refused.stderr.contains("--timing"), "{refused}");
}

#[test]
fn trace_with_times_is_played_compared_and_exported_like_one_without() {
    let session = Session::new();
    let untimed = session.record(&[], &offscreen(&app("client_arrays"), [""; 0]));
    let timed = session.record(&["--timing"], &offscreen(&app("client_arrays"), [""; 0]));
    for recording in [&untimed, &timed] {
        recording.run.clone().ok();
        recording.trace.is_whole("exit");
    }
    let mut diff = session.ctl(["diff", "--json"]);
    process::run(diff.args([&untimed.trace.path, &timed.trace.path])).ok();
    replays::verified(&session, &timed.trace, &[]).unwrap_or_else(|why| panic!("{why}"));
    let exported = [(&untimed, "a.trace"), (&timed, "b.trace")].map(|(recording, name)| {
        let path = session.path(name);
        let mut export = session.ctl(["export"]);
        let options = ["--format", "apitrace", "-o"];
        process::run(export.arg(&recording.trace.path).args(options).arg(&path)).ok();
        path.metadata().expect("the export is there").len()
    });
    assert!(exported[0].abs_diff(exported[1]) < exported[0] / 10, "{exported:?}");
    let slowest = stats(&timed.trace);
    let mean = |name| number(&function(&slowest, name)["driver"]["mean_ns"]);
    assert!(mean("glReadPixels") > mean("glEnableVertexAttribArray"), "{slowest:#}");
}

#[test]
fn program_killed_in_a_timed_capture_leaves_a_whole_trace() {
    let mut random = Random::seeded("timed kill");
    for _ in 0..8 {
        kill_once(&mut random, 150_000, &["--timing"]);
    }
}

#[test]
fn program_is_timed_in_one_capture_and_not_in_the_next() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut process = Process::new(program("draw_forever"));
    process.arg("2");
    fake_driver::use_in(&mut process, None);
    let running = run_idle(&session, &process);
    for (options, version) in [(["--timing"].as_slice(), 15), (&[], 14), (&["--timing"], 15)] {
        let trace = Trace::new(session.path("attached.gapii"));
        let mut start = session.ctl(["start", "--force", "--frames", "5"]);
        process::run(start.args(options).arg("-o").arg(&trace.path)).ok();
        trace.is_whole("frames");
        assert_eq!(trace.info()["format_version"], version);
        // Commands of a snapshot, which the program did not call, have no driver time.
        let lines: Vec<_> =
            lines(&trace).into_iter().filter(|line| line.get("setup").is_none()).collect();
        let timed = lines.iter().filter(|line| line.get("driver_ns").is_some()).count();
        let commands = lines.len();
        // Five frames of two threads, which swap after 16 rounds of ten commands. Each thread's first recorded frame
        // may have begun before the capture.
        assert!(commands >= 3 * 16 * 10, "{commands} commands");
        // Commands in flight at the end have no leave record.
        assert!(
            if version == 15 { timed + 2 >= commands } else { timed == 0 },
            "{timed} of {commands}"
        );
        session.app_in_mode("idle");
    }
    running.signal(rustix::process::Signal::TERM);
    running.finish(LIMIT);
}
