//! `gapii-ctl merge`: traces of one daemon as one trace, which has what a single capture has, in the same order.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gapii_test_json::value;
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Command as Recorded, Session, Trace, commands};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::{replay, verified_frames};
use gapii_tests::sharing::{number, start, until};
use serde::Deserialize;
use serde_json::Value;

/// Two threads that share their objects and check their own pictures.
fn drawing() -> Command {
    offscreen(&program("threads_forever"), ["2", "3600", "3000"])
}

/// A capture that has some frames.
fn begun(session: &Session, name: &str, options: &[&str]) -> (Running, Trace) {
    let (running, trace) = start(session, name, &[&["--observe-frames", "1"], options].concat());
    go_on(session, name);
    (running, trace)
}

/// Waits until the capture has eight frames more.
fn go_on(session: &Session, name: &str) {
    let frames = |progress: &Value| number(&progress["frames"]);
    let before = frames(&until(session, name, "it runs", |_| true)["progress"]);
    until(session, name, "it has frames", |progress| frames(progress) >= before + 8);
}

fn stop(session: &Session, name: &str, capture: Running) {
    run(&mut session.ctl(["stop", name])).ok();
    capture.finish(LIMIT).ok();
}

fn merge(session: &Session, traces: &[&Path], output: &Path) -> Finished {
    let mut command = session.ctl(["merge", "--force", "--json", "-o"]);
    run(command.arg(output).args(traces))
}

/// Merges the traces into one that is whole.
#[track_caller]
fn merged(session: &Session, traces: &[&Trace]) -> Trace {
    let merged = Trace::new(session.path("merged.gapii"));
    let paths: Vec<&Path> = traces.iter().map(|trace| trace.path.as_path()).collect();
    let answer = value(&merge(session, &paths, &merged.path).ok().stdout).expect("an answer");
    merged.is_whole("stop");
    let info = merged.info();
    assert_eq!((&answer["frames"], &answer["commands"]), (&info["frames"], &info["commands"]));
    merged
}

/// Part of a line of `gapii-ctl dump --json`.
#[derive(Deserialize)]
struct Stamps {
    /// Of the command's begin, and of its end.
    stamps: (u64, Option<u64>),
}

/// The commands that the programs called, as they are the same in each capture: in the order of their stamps, of which equal ones
/// are one thread's. A thread that is preempted behind its stamp publishes a command late, and each capture has that command in
/// another place (docs/memory-model.md); of other commands, few stand behind one with a higher stamp.
#[track_caller]
fn own(trace: &Trace) -> Vec<Recorded> {
    let dump = trace.ask("dump", &["--json"]).ok();
    let stamp = |line: &str| serde_json::from_str::<Stamps>(line).expect("stamps").stamps.0;
    let mut own: Vec<_> = dump.stdout.lines().map(stamp).zip(commands(&dump)).collect();
    own.retain(|(_, it)| !it.setup && !it.in_flight);
    let mut highest = 0;
    let is_late = |(stamp, _): &&(u64, _)| {
        highest = highest.max(*stamp);
        *stamp < highest
    };
    let late = own.iter().filter(is_late).count();
    assert!(late * 10 < own.len(), "{late} of {} commands are late", own.len());
    own.sort_by_key(|(stamp, _)| *stamp);
    own.into_iter().map(|(_, it)| Recorded { seq: None, frame: 0, ..it }).collect()
}

/// The commands while every thread was recorded.
fn inner(commands: &[Recorded]) -> &[Recorded] {
    let first = |tid: i64| commands.iter().position(|it| it.tid == tid).expect("a thread");
    let last = |tid: i64| commands.iter().rposition(|it| it.tid == tid).expect("a thread");
    let tids = || commands.iter().map(|it| it.tid).collect::<HashSet<_>>().into_iter();
    &commands[tids().map(first).max().expect("threads")..tids().map(last).min().expect("threads")]
}

/// Checks that `whole` has `part`, one command after the other.
#[track_caller]
fn has(whole: &[Recorded], part: &[Recorded]) {
    assert!(part.len() > 200, "{} commands", part.len());
    assert!(whole.windows(part.len()).any(|it| it == part), "the commands are others");
}

/// Digests of the frames of a process.
fn digests(session: &Session, trace: &Trace, pid: u64) -> Vec<String> {
    // A command in which the capture ended cannot be played, which is status 1.
    let report = run(&mut replay(session, &trace.path, &["--checksum", "--json"])).stdout;
    let report = value(&report).expect("a report");
    let processes = trace.info()["processes"].as_array().cloned().expect("processes");
    let process = processes.iter().position(|it| it["pid"] == pid).expect("the process");
    let all = report["checksums"].as_array().expect("digests").iter();
    let of_process = all.filter(|it| it["process"] == process);
    of_process.map(|it| it["blake3"].as_str().expect("a digest").to_owned()).collect()
}

#[test]
fn two_programs_are_as_in_one_capture_of_both() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let programs = [run_idle(&session, &drawing()), run_idle(&session, &drawing())];
    let pids: Vec<u64> = session.apps().iter().map(|app| number(&app["pid"])).collect();
    let of = |name, pid: u64| begun(&session, name, &["--app", &pid.to_string()]);
    let both = begun(&session, "both", &["--all"]);
    let [one, two] = [of("one", pids[0]), of("two", pids[1])];
    go_on(&session, "one");
    stop(&session, "one", one.0);
    stop(&session, "two", two.0);
    stop(&session, "both", both.0);
    drop(programs);

    let merged = merged(&session, &[&two.1, &one.1]);
    has(&own(&both.1), inner(&own(&merged)));
    let info = merged.info();
    assert_eq!(info["processes"].as_array().map(Vec::len), Some(2), "{info:#}");
    assert!(verified_frames(&session, &merged) >= 32);
    for (trace, pid) in [(&one.1, pids[0]), (&two.1, pids[1])] {
        assert_eq!(digests(&session, &merged, pid), digests(&session, trace, pid));
    }
}

#[test]
fn overlapping_captures_of_a_program_are_one_and_others_are_two_processes() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &drawing());
    let union = begun(&session, "union", &[]);
    let early = begun(&session, "early", &[]);
    let late = begun(&session, "late", &[]);
    stop(&session, "early", early.0);
    go_on(&session, "late");
    stop(&session, "late", late.0);
    let last = begun(&session, "last", &[]);
    stop(&session, "last", last.0);
    stop(&session, "union", union.0);
    drop(running);

    let all = own(&union.1);
    let frames = |trace: &Trace| number(&trace.info()["frames"]);
    let joined = merged(&session, &[&late.1, &early.1]);
    has(&all, inner(&own(&joined)));
    assert!(
        frames(&joined) > frames(&early.1) && frames(&joined) < frames(&early.1) + frames(&late.1)
    );
    assert_eq!(verified_frames(&session, &joined), frames(&joined));
    let info = joined.info();
    assert_eq!(info["processes"].as_array().map(Vec::len), Some(1), "{info:#}");

    // Nothing is known of the time between.
    let apart = merged(&session, &[&early.1, &last.1]);
    let info = apart.info();
    assert_eq!(info["processes"].as_array().map(Vec::len), Some(2), "{info:#}");
    assert_eq!(verified_frames(&session, &apart), frames(&early.1) + frames(&last.1));

    // A merged trace is a trace of the session, too.
    let early_and_last = session.path("early_and_last.gapii");
    fs::rename(&apart.path, &early_and_last).expect("the session's folder is writable");
    let all = merged(&session, &[&union.1, &Trace::new(early_and_last)]);
    assert_eq!(frames(&all), frames(&union.1));
    assert_eq!(all.info()["processes"].as_array().map(Vec::len), Some(1));
}

#[test]
fn traces_that_do_not_belong_together_are_refused_and_nothing_is_written() {
    let session = Session::new();
    let record = |name: &str| {
        let trace = session.path(name);
        let program = offscreen(&program("many_textures"), ["many", "1"]);
        run(&mut session.run_command(&[], &trace, &program)).ok();
        trace
    };
    let [one, two] = [record("one.gapii"), record("two.gapii")];
    let cut = session.path("cut.gapii");
    let bytes = fs::read(&one).expect("a trace");
    fs::write(&cut, &bytes[..bytes.len() - 30]).expect("the session's folder is writable");
    let older = |name: &str| -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("data/traces").join(name)
    };
    let (kept, copy) = (older("kept.gapii"), session.path("copy.gapii"));
    fs::copy(&one, &copy).expect("a copy");
    let output = session.path("merged.gapii");
    let refused = |traces: &[&Path], status: i32, words: &str| {
        let finished = merge(&session, traces, &output).exited_with(status);
        assert!(finished.stderr.contains(words), "{words}: {finished}");
        assert!(!output.exists(), "{words}");
    };
    refused(&[&one, &two], 1, "are of different sessions");
    refused(&[&one, &one], 2, "is given twice");
    refused(&[&one, &copy], 1, "are the same capture");
    refused(&[&one, &cut], 1, "is cut or damaged");
    refused(&[&one, &kept], 1, "was saved from memory");
    refused(&[&one, &older("threads.gapii")], 1, "was written by another version");
    refused(&[&one], 2, "2 values");
    let itself = merge(&session, &[&one, &two], &one).exited_with(2);
    assert!(itself.stderr.contains("is one of the traces"), "{itself}");
    assert_eq!(fs::read(&one).expect("it is there"), bytes);
}
