//! Programs with thousands of threads, alive at the same time or one after the other: every command is recorded, no command
//! waits, and ended threads leave little memory. A thread that gets no ring does not wait either, and its commands are
//! counted.

use std::process::Command as Process;
use std::time::Duration;

use gapii_tests::artifacts::artifact;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::{offscreen, same_behaviour};
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::program;
use gapii_tests::sharing::number;
use gapii_tests::{fake_driver, replays};

/// Commands of a thread each time that it draws.
const COMMANDS: u64 = 5;
/// The longest time that a command may take. Two to three milliseconds are seen; a busy machine adds to them, and a
/// thread that waits for a slot waits for hundreds.
const LONGEST: Duration = Duration::from_millis(100);
/// Most memory of the rings of ended threads, in KiB: what a few hundred slots keep.
const RINGS_KIB_MAX: u64 = 100 << 10;

/// The program `many_threads` on the fake driver.
fn many_threads(arguments: &[&str]) -> Process {
    let mut process = Process::new(program("many_threads"));
    process.args(arguments);
    fake_driver::use_in(&mut process, None);
    process
}

/// The number in a line of the program's output, after `name`.
fn said(output: &Finished, name: &str) -> u64 {
    let number = output.stdout.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    number.expect("the program says it").parse().expect("a number")
}

fn longest_command(output: &Finished) -> Duration {
    Duration::from_micros(said(output, "longest"))
}

/// Checks that a trace has all commands of so many threads, each of which has drawn `rounds` times, and of the first
/// one.
#[track_caller]
fn has_all(trace: &Trace, threads: u64, rounds: u64) {
    trace.is_whole("exit");
    let info = trace.info();
    assert_eq!(info["threads"], threads + 1, "{info:#}");
    assert!(number(&info["commands"]) > threads * rounds * COMMANDS, "{info:#}");
    assert_eq!(info["lost"]["records"], 0, "{info:#}");
}

#[test]
fn two_thousand_threads_that_take_turns_are_recorded_without_waiting() {
    const THREADS: u64 = 2_000;
    const ROUNDS: u64 = 5;
    let session = Session::new();
    let process = many_threads(&["turns", &THREADS.to_string(), &ROUNDS.to_string()]);
    let native = run(&mut { process }).ok();
    let process = many_threads(&["turns", &THREADS.to_string(), &ROUNDS.to_string()]);
    let recording = session.record(&[], &process);
    let output = recording.run.clone().ok();
    let [natively, longest] = [&native, &output].map(longest_command);
    println!(
        "longest command: {longest:?}, natively {natively:?}; rings: {} KiB",
        said(&output, "rings")
    );
    has_all(&recording.trace, THREADS, ROUNDS);
    assert!(longest <= LONGEST, "{longest:?}");
}

#[test]
fn twenty_thousand_threads_one_after_the_other_are_recorded_and_leave_little_memory() {
    const THREADS: u64 = 20_000;
    let session = Session::new();
    let recording = session.record(&[], &many_threads(&["after", &THREADS.to_string()]));
    let output = recording.run.clone().ok();
    let (longest, rings_kib) = (longest_command(&output), said(&output, "rings"));
    println!("longest command: {longest:?}; rings: {rings_kib} KiB");
    has_all(&recording.trace, THREADS, 1);
    assert!(longest <= LONGEST, "{longest:?}");
    assert!((1..=RINGS_KIB_MAX).contains(&rings_kib), "{rings_kib} KiB");
}

#[test]
fn program_with_a_thousand_short_lived_threads_is_replayed_exactly() {
    const THREADS: u64 = 1_000;
    let session = Session::new();
    let process = offscreen(&program("short_threads"), [&THREADS.to_string()]);
    let recording = session.record(&["--observe-frames", "1"], &process);
    recording.run.clone().ok();
    has_all(&recording.trace, THREADS, 1);
    let report = replays::verified(&session, &recording.trace, &[]);
    let report = report.unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(report["threads"], THREADS + 1, "{report:#}");
    assert_eq!(report["verified"]["frames"], 1, "{report:#}");
}

#[test]
fn threads_without_a_slot_do_not_wait_and_their_commands_are_counted() {
    const SLOTS: u64 = 16;
    const THREADS: u64 = 100;
    const ROUNDS: u64 = 20;
    let session = Session::new();
    let _daemon = session.daemon(&["--slots", &SLOTS.to_string()]);
    let process = many_threads(&["turns", &THREADS.to_string(), &ROUNDS.to_string()]);
    let recording = session.record(&[], &process);
    let longest = longest_command(&recording.run.clone().ok());
    recording.trace.verify();
    let info = recording.trace.info();
    println!("longest command: {longest:?}");
    assert_eq!(info["threads"], SLOTS, "{info:#}");
    let calls = |threads: u64| threads * ROUNDS * COMMANDS;
    assert!(number(&info["commands"]) >= calls(SLOTS - 1), "{info:#}");
    assert_eq!(info["lost"]["commands"], calls(THREADS + 1 - SLOTS), "{info:#}");
    assert!(longest <= LONGEST, "{longest:?}");
}

#[test]
fn program_that_cannot_map_the_rings_goes_on_unrecorded() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let limited = |preload: bool| {
        let mut process = Process::new("sh");
        process.args(["-c", "ulimit -v 8388608 && exec \"$@\"", "sh"]);
        if preload {
            process.arg("env").arg(format!("LD_PRELOAD={}", artifact("libgapii.so").display()));
        }
        process.arg(program("load_linked"));
        session.adopt(&mut process);
        fake_driver::use_in(&mut process, None);
        run(&mut process)
    };
    let native = limited(false).ok();
    same_behaviour(&native, &limited(true));
}
