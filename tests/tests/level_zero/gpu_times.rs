//! `--gpu-timing` for Level Zero: how long the device takes for each command in a list, in each execution of the list. On the
//! null driver, whose device has a timer of 12,000,000 counts per second that begins anew 1 ms after its start.

use std::process::Command as Process;

use gapii_test_json::{value, values};
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Recording, Session, Trace};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::loading::same_behaviour;
use gapii_tests::process::{self, LIMIT};
use gapii_tests::programs::level_zero;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::replay::plays_alike;

const FILL: &str = "zeCommandListAppendMemoryFill";
const COPY: &str = "zeCommandListAppendMemoryCopy";
const LAUNCH: &str = "zeCommandListAppendLaunchKernel";
const EXECUTE: &str = "zeCommandQueueExecuteCommandLists";

/// Error of the begins on the trace's clock, in nanoseconds: how long a thread may not run between the readings of two clocks.
const CLOCK_ERROR_NS: u64 = 5_000_000;

fn gpu_times(case: &str) -> Process {
    let mut program = on_null_driver(&level_zero("gpu_times"));
    program.arg(case);
    program
}

/// Records the program, which has to behave as it does natively.
#[track_caller]
fn record(session: &Session, program: &mut Process) -> Recording {
    let native = process::run(program).ok();
    let recording = session.record(&["--gpu-timing"], program);
    same_behaviour(&native, &recording.run);
    recording.trace.is_whole("exit");
    recording
}

fn ask(trace: &Trace, command: &str) -> Value {
    let answer = trace.ask(command, &["--json"]).ok();
    value(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

fn lines(trace: &Trace) -> Vec<Value> {
    values(&trace.ask("dump", &["--json"]).ok().stdout).expect("JSON")
}

#[track_caller]
fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// Begins and durations of the executions of a command.
#[track_caller]
fn executions(line: &Value) -> Vec<[u64; 2]> {
    match line["gpu_executions"].as_array() {
        Some(all) => all.iter().map(|it| [&it["begin_ns"], &it["gpu_ns"]].map(number)).collect(),
        None if line["gpu_ns"].is_null() => Vec::new(),
        None => vec![[&line["gpu_begin_ns"], &line["gpu_ns"]].map(number)],
    }
}

fn named<'a>(lines: &'a [Value], names: &'a [&str]) -> Vec<&'a Value> {
    lines.iter().filter(|line| names.iter().any(|name| line["name"] == *name)).collect()
}

/// The reasons why commands have no times, with the numbers of the commands.
fn without(trace: &Trace) -> Vec<(String, u64)> {
    let info = ask(trace, "info");
    let notes = info["gpu_times"]["without"].as_array().expect("a list").iter();
    notes
        .map(|it| (it["reason"].as_str().expect("a reason").to_owned(), number(&it["commands"])))
        .collect()
}

#[test]
fn every_execution_of_a_command_has_its_time_on_the_device() {
    let session = Session::new();
    let trace = record(&session, &mut gpu_times("plain")).trace;
    let lines = lines(&trace);
    let work = named(&lines, &[FILL, COPY, LAUNCH]);
    let counts: Vec<_> = work.iter().map(|line| executions(line).len()).collect();
    // A list of three that is executed twice, the list filled anew, and the copies of the immediate list.
    assert_eq!(counts, [2, 2, 2, 1, 1, 1, 1, 1]);
    for line in &lines {
        let is_work = work.contains(&line);
        assert_eq!(line.get("gpu_ns").is_some(), is_work, "{line}");
        let sum: u64 = executions(line).iter().map(|[_, ns]| ns).sum();
        assert_eq!(line["gpu_ns"].as_u64().unwrap_or(0), sum, "{line}");
    }
    // The executions are behind their submits, and the waits for them behind the executions.
    let called = |line: &Value| number(&line["begin_ns"]);
    let submits: Vec<u64> = named(&lines, &[EXECUTE]).into_iter().map(called).collect();
    let waits = named(&lines, &["zeCommandQueueSynchronize"]);
    let waited = |line: &&Value| called(line) + number(&line["driver_ns"]);
    let waits: Vec<u64> = waits.iter().map(waited).collect();
    let mut in_frames = [0; 3];
    for (list, submit) in [(&work[..3], 0), (&work[..3], 1), (&work[3..6], 2)] {
        let execution = usize::from(submit == 1);
        let mut done_ns = submits[submit];
        for line in list {
            let [begin_ns, gpu_ns] = executions(line)[execution];
            assert!(begin_ns + CLOCK_ERROR_NS >= done_ns, "{submits:?} {line}");
            done_ns = begin_ns + gpu_ns;
            assert!(done_ns <= waits[submit] + CLOCK_ERROR_NS, "{waits:?} {line}");
            in_frames[submit] += gpu_ns;
        }
    }
    // A megabyte takes longer than a count.
    for line in named(&lines, &[FILL, COPY]) {
        assert!(executions(line).iter().all(|[_, ns]| *ns > 83), "{line}");
    }
    for line in &work[6..] {
        let [begin_ns, _] = executions(line)[0];
        assert!(begin_ns + CLOCK_ERROR_NS >= called(line), "{line}");
    }

    let info = ask(&trace, "info");
    assert_eq!(info["gpu_times"], json!({"commands": 8, "times": 11, "without": []}));
    let info = trace.ask("info", &[]).ok().stdout;
    let said = "gpu        8 commands with times on the GPU, 11 executions with those of lists\n";
    assert!(info.contains(said), "{info}");
    let stats = ask(&trace, "stats");
    let functions = stats["functions"].as_array().expect("functions");
    let timed = functions.iter().filter(|function| !function["gpu"].is_null());
    let timed: Vec<_> =
        timed.map(|it| (it["name"].as_str().unwrap(), number(&it["gpu"]["commands"]))).collect();
    assert_eq!(timed, [(LAUNCH, 3), (COPY, 5), (FILL, 3)]);
    // Those at once count where they are appended: one in the third frame, one behind it.
    let at_once: Vec<u64> = work[6..].iter().map(|line| number(&line["gpu_ns"])).collect();
    let at_once_in = [0, 0, at_once[0]];
    for list in [&stats["frames"], &ask(&trace, "frames")["frames"]] {
        let frames = list.as_array().expect("frames").iter();
        let frames = frames.filter(|frame| frame["is_complete"] != false);
        let sums: Vec<u64> = frames.map(|frame| number(&frame["gpu_ns"])).collect();
        let expected: Vec<u64> = (0..3).map(|at| in_frames[at] + at_once_in[at]).collect();
        assert_eq!(sums, expected);
    }
    let shown = trace.ask("dump", &["--function", LAUNCH]).ok().stdout;
    assert_eq!(shown.matches("on the GPU").count(), 2, "{shown}");
    assert_eq!(shown.matches(" in 2 executions").count(), 1, "{shown}");
    for format in ["perfetto", "firefox-profiler"] {
        let file = session.path(format);
        let options = ["--format", format, "--json", "-o", file.to_str().expect("a plain name")];
        let exported = value(&trace.ask("export", &options).ok().stdout).expect("JSON");
        assert_eq!(number(&exported["gpu"]), 11, "{format}");
    }
    plays_alike(&session, &trace);
}

#[test]
fn execution_that_the_next_one_overtakes_has_no_times_and_the_trace_says_so() {
    let session = Session::new();
    let trace = record(&session, &mut gpu_times("again")).trace;
    assert_eq!(without(&trace), [("lost".to_owned(), 3)]);
    let lines = lines(&trace);
    let counts = named(&lines, &[FILL, COPY, LAUNCH]).into_iter().map(|it| executions(it).len());
    assert_eq!(counts.collect::<Vec<_>>(), [2, 2, 2]);
    let info = trace.ask("info", &[]).ok().stdout;
    let said = "gpu        no results of 1 execution of lists: 3 commands without times\n";
    assert!(info.contains(said), "{info}");
}

#[test]
fn wait_for_events_is_no_time_of_the_command() {
    let session = Session::new();
    let trace = record(&session, &mut gpu_times("waits")).trace;
    let lines = lines(&trace);
    let called = |name| number(&named(&lines, &[name])[0]["begin_ns"]);
    let waited_ns = called("zeEventHostSignal") - called(EXECUTE);
    let [begin_ns, gpu_ns] = executions(named(&lines, &[COPY])[0])[0];
    assert!(gpu_ns < waited_ns / 2, "{gpu_ns} of {waited_ns}");
    assert!(begin_ns + CLOCK_ERROR_NS >= called("zeEventHostSignal"));
}

#[test]
fn device_without_a_timer_is_not_measured_and_the_trace_says_so() {
    let session = Session::new();
    let recording = record(&session, gpu_times("plain").env("GAPII_NULL_FLAW", "timer"));
    let why = "without times on the GPU: commands of a context or a list in which the driver counts no timestamps";
    assert!(recording.run.stderr.contains(why), "{}", recording.run);
    let trace = recording.trace;
    // Once for each list.
    assert_eq!(without(&trace), vec![("no_counter".to_owned(), 0); 2]);
    assert!(lines(&trace).iter().all(|line| line.get("gpu_ns").is_none()));
}

#[test]
fn attached_capture_has_times_except_of_commands_that_were_in_a_list_before() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &gpu_times("forever"));
    for is_timed in [true, false, true] {
        let trace = Trace::new(session.path("attached.gapii"));
        let mut start = session.ctl(["start", "--force", "--frames", "4"]);
        start.args(is_timed.then_some("--gpu-timing"));
        process::run(start.arg("-o").arg(&trace.path)).ok();
        trace.is_whole("frames");
        let lines = lines(&trace).into_iter().filter(|line| line["setup"] != true);
        let lines: Vec<_> = lines.collect();
        let copies = named(&lines, &[COPY]);
        assert!(copies.len() >= 3, "{copies:?}");
        let untimed = copies.iter().filter(|line| line.get("gpu_ns").is_none()).count();
        assert_eq!(untimed, if is_timed { 0 } else { copies.len() }, "{copies:?}");
        if is_timed {
            assert_eq!(without(&trace), [("earlier".to_owned(), 3)]);
        }
        // Timestamps that the capture before has appended are in no snapshot.
        plays_alike(&session, &trace);
        session.app_in_mode("idle");
    }
    running.signal(Signal::TERM);
    running.finish(LIMIT);
}
