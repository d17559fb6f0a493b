//! Kills daemons in the middle of a capture and compares the resulting trace with the program's own counts.
//!
//! The trace must have every call of every thread once and in order, whichever daemon wrote it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Command as Process, Stdio};
use std::time::Duration;

use rustix::process::Signal;

use crate::artifacts::artifact;
use crate::gapii::{Command, Session, Trace};
use crate::loading::offscreen;
use crate::process::{Finished, LIMIT, Running, send_signal};
use crate::programs::program;
use crate::random::Random;
use crate::wait;

/// Message of `gapii-ctl` when a capture continues.
const GOES_ON: &str = "the capture continues in";
/// Message of `gapii-ctl` when a capture does not continue.
const GIVES_UP: &str = "holds what it had written";
/// Rings large enough for the records of a thread until the next daemon runs, on a busy machine.
const ROOM: &[&str] = &["--ring-size", "16M"];
/// With a slow disk the program waits; the daemon buffers nothing.
const KEEPS_ALL: &[&str] = &["--if-slow", "wait"];
/// Pause of each thread after a frame, in microseconds; leaves about 40,000 calls per second and thread.
const REST_US: u32 = 1000;
/// Most bytes by which a trace grows between two kills.
const GROWTH_MAX: u64 = 300_000;

/// A program that numbers and counts its calls, and pauses for `rest_us` microseconds between two frames.
pub fn counted_forever(threads: usize, rest_us: u32) -> Process {
    let [threads, rest] = [threads.to_string(), rest_us.to_string()];
    offscreen(&program("counted_forever"), [&threads[..], "3600", &rest])
}

/// Kills the daemon of a program with `threads` threads `kills` times; starts a new daemon each time.
#[track_caller]
pub fn kill_daemons(threads: usize, kills: usize) {
    let session = Session::new();
    let mut daemon = session.daemon(ROOM);
    let trace = Trace::new(session.path("restarts.gapii"));
    let process = counted_forever(threads, REST_US);
    let run = Running::start(&mut session.run_command(KEEPS_ALL, &trace.path, &process));
    session.app_in_mode("capturing");
    let mut random = Random::seeded("the moments to kill the daemon at");
    // The next daemon writes a seam into its first block. The last daemon writes the end, and so has a block.
    let (mut blocks, mut seams) = (0, 1);
    for number in 0..kills {
        // One time in eight, before the first block or right after the last kill.
        let growth = if random.below(8) == 0 { 0 } else { 1 + random.below(GROWTH_MAX) };
        let (began, enough) = (length(&trace), length(&trace) + growth);
        wait::until("the trace to grow", LIMIT, || {
            (growth == 0 || length(&trace) >= enough).then_some(())
        });
        daemon.kill();
        let written = whole_blocks(&trace);
        seams += usize::from(number > 0 && written > blocks);
        blocks = written;
        daemon = session.daemon(ROOM);
        wait::until("the capture to go on", LIMIT, || {
            let said = run.stderr_so_far();
            let is_over = run.ended_within(Duration::ZERO) || said.contains(GIVES_UP);
            assert!(!is_over, "after {number} kills: {said}");
            (said.matches(GOES_ON).count() > number).then_some(())
        });
        assert!(length(&trace) >= began, "the trace has lost {began} bytes");
    }
    let app = session.app_in_mode("capturing");
    send_signal(app["pid"].as_u64().expect("a pid") as u32, Signal::TERM);
    let finished = run.finish(LIMIT).ok();
    drop(daemon);
    check(&trace, &finished, seams);
}

/// Number of whole blocks in the trace of a daemon that was killed, perhaps before the header or in the middle of a block.
fn whole_blocks(trace: &Trace) -> u64 {
    let info = trace.ask("info", &["--json"]);
    let info =
        gapii_test_json::value(&info.stdout).unwrap_or_else(|error| panic!("{error} {info}"));
    info["blocks"].as_u64().unwrap_or(0)
}

/// Checks that the trace is whole, has this number of seams, and has all calls that the program says it made.
#[track_caller]
pub fn check(trace: &Trace, finished: &Finished, seams: usize) {
    trace.is_whole("exit");
    let info = trace.info();
    assert_eq!(info["lost"]["records"], 0, "{info:#}");
    let found = info["seams"].as_array().map_or(0, Vec::len);
    assert_eq!(found, seams, "seams of {info:#}");
    check_calls(trace, &finished.stdout);
    let pause = longest_pause(&finished.stdout);
    println!("{seams} seams, longest pause of the program: {pause} ms");
    assert!(pause < 1000, "{finished}");
}

/// Checks that each thread's numbered calls are in the trace from 0 on, once and in order, and its other calls as often as
/// the program says.
#[track_caller]
fn check_calls(trace: &Trace, said: &str) {
    let mut recorded: BTreeMap<i64, BTreeMap<String, u64>> = BTreeMap::new();
    let mut dump = Process::new(artifact("gapii-ctl"));
    let mut dump = dump
        .args(["dump", "--json"])
        .arg(&trace.path)
        .stdout(Stdio::piped())
        .spawn()
        .expect("gapii-ctl is there");
    let lines = BufReader::new(dump.stdout.take().expect("stdout is a pipe")).lines();
    for line in lines {
        let line = line.expect("text");
        let command: Command =
            serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line}"));
        let counts = recorded.entry(command.tid).or_default();
        if command.name == "glStencilFunc" {
            let next = counts.get(&command.name).copied().unwrap_or(0);
            assert_eq!(command.integer("ref"), next as i64, "{line}");
        }
        *counts.entry(command.name).or_default() += 1;
    }
    assert!(dump.wait().expect("a child can be waited for").success());
    let threads = said.lines().filter_map(|line| line.strip_prefix("thread "));
    let mut calls = 0;
    for thread in threads {
        let words: Vec<_> = thread.split(' ').collect();
        let tid: i64 = words[0].parse().expect("a thread id");
        for count in words[1..].chunks(2) {
            let made: u64 = count[1].parse().expect("a number");
            let there = recorded.get(&tid).and_then(|counts| counts.get(count[0]));
            assert_eq!(there.copied().unwrap_or(0), made, "{} of thread {tid}", count[0]);
            calls += made;
        }
    }
    assert!(calls > 0, "the program says nothing of its calls: {said}");
    println!("{calls} calls, each recorded once");
}

/// Checks that each thread's numbered calls follow one another without a gap, from any first number; returns their count.
#[track_caller]
pub fn numbered_in_order(trace: &Trace) -> u64 {
    let mut last: BTreeMap<i64, i64> = BTreeMap::new();
    let mut count = 0;
    for command in trace.commands().iter().filter(|command| command.name == "glStencilFunc") {
        let number = command.integer("ref");
        let before = last.insert(command.tid, number);
        assert!(before.is_none_or(|before| number == before + 1), "{before:?} {command:?}");
        count += 1;
    }
    count
}

fn longest_pause(said: &str) -> u64 {
    let pause = said.split("longest pause ").nth(1).and_then(|rest| rest.split(' ').next());
    let pause = pause.and_then(|ms| ms.parse().ok());
    pause.unwrap_or_else(|| panic!("the program says its longest pause: {said}"))
}

/// Returns true if a trace has more than `bytes` of blocks after its header, which describes all commands.
pub fn has_blocks(trace: &Trace, bytes: u64) -> bool {
    const HEADER_BYTES_MAX: u64 = 160_000;
    length(trace) > HEADER_BYTES_MAX + bytes
}

fn length(trace: &Trace) -> u64 {
    trace.path.metadata().map_or(0, |file| file.len())
}
