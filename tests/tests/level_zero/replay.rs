//! Replays of Level Zero on the null driver, which behaves like the driver of the recording or has a flaw.

use std::process::Command as Process;

use gapii_tests::artifacts::artifact;
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Command, Session, Trace};
use gapii_tests::level_zero::{DRIVER, on_null_driver};
use gapii_tests::process::{Finished, LIMIT, Running, run, send_signal};
use gapii_tests::programs::{level_zero, level_zero_and_gles};
use gapii_tests::replays;
use gapii_tests::wait::until;
use rustix::process::Signal;
use serde_json::Value;

fn program(name: &str, arguments: &[&str]) -> Process {
    let mut program = on_null_driver(&level_zero(name));
    program.args(arguments);
    program
}

#[track_caller]
fn recorded(session: &Session, program: &Process) -> Trace {
    let recording = session.record(&[], program);
    recording.run.ok();
    recording.trace
}

/// `gapii-ctl replay` on the null driver.
fn replay(session: &Session, trace: &Trace, options: &[&str]) -> Process {
    let mut replay = replays::replay(session, &trace.path, options);
    replay.env("ZE_ENABLE_ALT_DRIVERS", artifact(DRIVER));
    for inherited in ["LD_LIBRARY_PATH", "ZE_ENABLE_TRACING_LAYER"] {
        replay.env_remove(inherited);
    }
    replay
}

/// Plays and compares on a driver with a flaw; returns the finished process and the report.
#[track_caller]
pub fn verify(session: &Session, trace: &Trace, flaw: &str) -> (Finished, Value) {
    let mut replay = replay(session, trace, &["--verify", "--json"]);
    let finished = run(replay.env("GAPII_NULL_FLAW", flaw));
    let report = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished}"));
    (finished, report)
}

/// Checks that a trace plays completely and exactly, with at least one equal answer; returns the report.
#[track_caller]
pub fn plays_alike(session: &Session, trace: &Trace) -> Value {
    let (finished, report) = verify(session, trace, "");
    assert!(finished.status.success(), "{finished}");
    assert_eq!(report["skipped"], 0, "{report:#}");
    assert_eq!(report["verified"]["different"], 0, "{report:#}");
    assert!(report["verified"]["equal"].as_u64() > Some(0), "{report:#}");
    report
}

fn functions_of(differences: &Value) -> Vec<String> {
    let all = differences.as_array().cloned().unwrap_or_default();
    all.iter().map(|it| it["function"].as_str().unwrap_or_default().to_owned()).collect()
}

#[test]
fn thousand_kernels_and_copies_are_played_and_verified() {
    let session = Session::new();
    let trace = recorded(&session, &program("pipeline", &["1000"]));
    let report = plays_alike(&session, &trace);
    assert_eq!(report["frames"], 1000, "{report:#}");
    assert_eq!(report["played"], trace.commands().len(), "{report:#}");
    // Each step's result, shared memory and the program's own.
    assert!(report["verified"]["equal"].as_u64() > Some(2000), "{report:#}");
}

#[test]
fn immediate_lists_and_synchronous_queues_are_played_and_verified() {
    let session = Session::new();
    for way in ["immediate", "synchronous"] {
        let trace = recorded(&session, &program("pipeline", &["20", way]));
        let report = plays_alike(&session, &trace);
        assert_eq!(report["played"], trace.commands().len(), "{way}: {report:#}");
        // Each step's result, shared memory and the program's own.
        assert!(report["verified"]["equal"].as_u64() > Some(2 * 20), "{way}: {report:#}");
    }
}

#[test]
fn answers_are_what_they_were() {
    let session = Session::new();
    let trace = recorded(&session, &program("answers", &[]));
    let report = plays_alike(&session, &trace);
    let reasons = &report["verified"]["reasons"];
    // The driver chooses the addresses of allocations.
    assert_eq!(reasons["a driver-specific form"], 2, "{report:#}");
}

#[test]
fn driver_that_copies_wrongly_is_found_out() {
    let session = Session::new();
    let trace = recorded(&session, &program("pipeline", &["3"]));
    let (finished, report) = verify(&session, &trace, "copies");
    assert_eq!(finished.status.code(), Some(1), "{finished}");
    let differences = &report["verified"]["differences"];
    // The program's own memory, in each step; in shared memory two wrong copies make a right one.
    assert_eq!(functions_of(differences), ["zeCommandQueueSynchronize"; 3], "{differences:#}");
    let part = differences[0]["part"].as_str().unwrap_or_default();
    assert!(part.starts_with("memory at 0x"), "{differences:#}");
}

#[test]
fn another_device_may_have_other_properties_and_must_do_the_same() {
    let session = Session::new();
    let trace = recorded(&session, &program("answers", &[]));
    let (finished, report) = verify(&session, &trace, "device");
    finished.ok();
    let tolerated =
        &report["verified"]["reasons"]["the driver is not known to be that of the recording"];
    // The device's name and three group sizes, each twice.
    assert_eq!(tolerated, 7, "{report:#}");
}

#[test]
fn object_that_was_not_made_is_missed_wherever_it_is_named() {
    let session = Session::new();
    let trace = recorded(&session, &program("pipeline", &["1"]));
    let (finished, report) = verify(&session, &trace, "kernels");
    assert_eq!(finished.status.code(), Some(1), "{finished}");
    let skips = functions_of(&report["skips"]);
    let of_kernel =
        ["zeKernelSetGroupSize", "zeKernelSetArgumentValue", "zeCommandListAppendLaunchKernel"];
    assert_eq!(skips, of_kernel, "{report:#}");
    let why = report["skips"][0]["why"].as_str().unwrap_or_default();
    assert!(why.contains("an object that was not made"), "{why}");
}

/// A replay can be recorded: the trace has the program's commands again, at this process' addresses.
#[test]
fn recorded_again_a_replay_makes_the_same_commands() {
    let session = Session::new();
    let first = recorded(&session, &program("answers", &[]));
    let again = session.record(&[], &replay(&session, &first, &[]));
    again.run.ok();
    let (first, again) = (first.commands(), again.trace.commands());
    // Debian's loader initialises a driver that it has not chosen yet; calls that failed are not replayed, the
    // number of queries depends on timing, and a replay waits before it changes memory.
    let is_again = |command: &&Command| {
        let failed = command.result.as_str().is_some_and(|it| it.starts_with("ZE_RESULT_ERROR"));
        let is_waiting =
            ["QueryStatus", "QueueSynchronize"].iter().any(|it| command.name.ends_with(it));
        command.name != "zeInit" && !is_waiting && !failed
    };
    let of = |commands: &[Command]| {
        let again = commands.iter().filter(is_again);
        again.map(|command| command.name.clone()).collect::<Vec<_>>()
    };
    assert_eq!(of(&again), of(&first));
    for commands in [&first, &again] {
        let made = || commands.iter().filter(is_again);
        let of_name = |name| made().filter(move |command| command.name == name);
        let address = |command: &Command| command.argument("pptr")["values"][0].clone();
        let shared: Vec<_> = of_name("zeMemAllocShared").map(address).collect();
        let device: Vec<_> = of_name("zeMemAllocDevice").map(address).collect();
        let arguments: Vec<_> =
            of_name("zeKernelSetArgumentValue").map(|it| words(it.argument("pArgValue"))).collect();
        let number = |address: &Value| {
            let text =
                address.as_str().and_then(|text| text.strip_prefix("0x")).expect("an address");
            u64::from_str_radix(text, 16).expect("an address")
        };
        for step in 0..2 {
            assert_eq!(arguments[3 * step], [number(&shared[step])]);
            assert_eq!(arguments[3 * step + 1], [number(&device[step]) + 16, 3]);
        }
    }
}

/// Bytes of an array as words of eight.
fn words(array: &Value) -> Vec<u64> {
    let bytes: Vec<u8> = array["values"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|byte| byte.as_u64().expect("a byte") as u8)
        .collect();
    bytes.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

#[test]
fn program_of_two_apis_is_played_in_one_order() {
    let session = Session::new();
    let mut both = on_null_driver(&level_zero_and_gles("graphics_too"));
    surfaceless(&mut both);
    let trace = recorded(&session, &both);
    let report = plays_alike(&session, &trace);
    assert_eq!(report["frames"], 2, "{report:#}");
}

#[test]
fn killed_program_is_played_up_to_the_call_in_flight() {
    let session = Session::new();
    let path = session.path("killed.gapii");
    let run = Running::start(&mut session.run_command(&[], &path, &program("pipeline", &["0"])));
    let pid = until("the program to run", LIMIT, || run.stdout_line()?.parse().ok());
    send_signal(pid, Signal::KILL);
    run.finish(LIMIT);
    let trace = Trace::new(path);
    let (_, report) = verify(&session, &trace, "");
    assert_eq!(report["verified"]["different"], 0, "{report:#}");
    assert!(report["skipped"].as_u64().is_some_and(|skipped| skipped <= 1), "{report:#}");
    assert!(report["frames"].as_u64() > Some(1), "{report:#}");
    assert!(report["verified"]["equal"].as_u64() > Some(2), "{report:#}");
}

#[test]
fn machine_without_a_driver_is_told_so() {
    let session = Session::new();
    let trace = recorded(&session, &program("pipeline", &["1"]));
    let mut replay = replays::replay(&session, &trace.path, &["--verify"]);
    let finished = run(replay.env("ZE_ENABLE_ALT_DRIVERS", session.path("no-driver.so")));
    assert_eq!(finished.status.code(), Some(1), "{finished}");
    assert!(finished.stdout.contains("Level Zero's loader finds no driver"), "{finished}");
}
