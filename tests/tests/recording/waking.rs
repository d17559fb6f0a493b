//! Processes in which the shim is active, and how long it waits for a daemon: `GAPII_WAIT`, `GAPII_PROCESS`, no daemon.

use std::collections::BTreeMap;
use std::process::Command as Process;

use gapii_tests::artifacts::artifact;
use gapii_tests::fake_driver;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::{names, offscreen, same_behaviour};
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::{program, slow_atexit};
use gapii_tests::scene;

/// The scene with the shim preloaded by hand.
fn preloaded(session: &Session) -> Process {
    let mut process = offscreen(&program("load_linked"), [""; 0]);
    session.adopt(&mut process);
    process.env("LD_PRELOAD", artifact("libgapii.so"));
    process
}

#[test]
fn program_without_a_daemon_runs_as_if_alone() {
    let session = Session::new();
    let native = run(&mut offscreen(&program("load_linked"), [""; 0])).ok();
    let with_the_shim = run(&mut preloaded(&session));
    same_behaviour(&native, &with_the_shim);
    // The loader would say that it cannot preload the shim.
    assert_eq!(with_the_shim.stderr, native.stderr);
}

#[test]
fn program_told_to_wait_without_a_daemon_goes_on_after_its_time() {
    let session = Session::new();
    let native = run(&mut offscreen(&program("load_linked"), [""; 0])).ok();
    let process = &mut preloaded(&session);
    process.env("GAPII_WAIT", "1").env("GAPII_WAIT_SECONDS", "0.1");
    same_behaviour(&native, &run(process));
}

#[test]
fn program_told_to_wait_is_recorded_from_its_first_call() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let native = run(&mut offscreen(&program("load_linked"), [""; 0])).ok();
    let process = Running::start(preloaded(&session).env("GAPII_WAIT", "1"));
    let app = session.app_in_mode("waiting");
    assert_eq!(app["pid"], process.pid());
    let trace = Trace::new(session.path("waited.gapii"));
    let mut start = session.ctl(["start", "--app", &process.pid().to_string(), "-o"]);
    let start = Running::start(start.arg(&trace.path));
    same_behaviour(&native, &process.finish(LIMIT));
    start.finish(LIMIT).ok();
    trace.verify();
    assert_eq!(names(&trace.commands()), scene::scene());
}

#[test]
fn only_processes_of_the_wanted_name_are_recorded() {
    let check = |wanted: &str| {
        let session = Session::new();
        let script = format!(
            "{} && {} && {}",
            program("compare_es2").display(),
            program("load_linked").display(),
            program("compare_es3").display()
        );
        let mut process = offscreen("sh".as_ref(), ["-c", &script]);
        let native = run(&mut process).ok();
        process.env("GAPII_PROCESS", wanted);
        let recording = session.record(&[], &process);
        same_behaviour(&native, &recording.run);
        recording.trace.is_whole("exit");
        assert_eq!(names(&recording.trace.commands()), scene::scene(), "GAPII_PROCESS={wanted}");
    };
    check("load_linked");
    check("load_*");
}

/// Records threads whose first commands come at the same time. `launcher` is a command that runs its arguments. Returns
/// false if the capture began later than the program's first command.
#[track_caller]
fn records_first_commands_of_all_threads(launcher: &[&str]) -> bool {
    const THREADS: usize = 8;
    let session = Session::new();
    let path = program("first_at_once");
    let mut process = Process::new(launcher[0]);
    process.args(&launcher[1..]).arg(path).arg(THREADS.to_string());
    fake_driver::use_in(&mut process, None);
    process.env("LD_PRELOAD", slow_atexit());
    let recording = session.record(&[], &process);
    recording.run.ok();
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    if commands.iter().any(|command| command.setup) {
        return false;
    }
    let mut of_threads: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
    for command in commands.iter().filter(|command| command.name == "glStencilFunc") {
        of_threads.entry(command.tid).or_default().push(command.integer("ref"));
    }
    assert_eq!(of_threads.len(), THREADS);
    for numbers in of_threads.values() {
        assert!(numbers.iter().copied().eq(0..100), "{numbers:?}");
    }
    true
}

#[test]
fn first_commands_of_threads_that_wait_together_are_recorded() {
    assert!(records_first_commands_of_all_threads(&["env"]));
}

/// A process without `GAPII_WAIT` waits 20 ms for the daemon's answer. A busy machine may need longer; the test then runs
/// another process.
#[test]
fn first_commands_of_threads_are_recorded_in_a_process_that_does_not_wait() {
    let without_wait = ["env", "-u", "GAPII_WAIT"];
    assert!((0..10).any(|_| records_first_commands_of_all_threads(&without_wait)));
}
