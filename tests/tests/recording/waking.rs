//! Processes in which the shim is active, and how long it waits for a daemon: `GAPII_WAIT`, `GAPII_PROCESS`, no daemon.

use std::process::Command as Process;

use gapii_tests::artifacts::artifact;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::{names, offscreen, same_behaviour};
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
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
