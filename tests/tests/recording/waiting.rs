//! Programs that wait for a capture before their first command: `run --wait`, and `GAPII_WAIT` before there is a daemon.

use std::path::Path;
use std::process::Command as Process;
use std::time::{Duration, Instant};

use gapii_tests::artifacts::artifact;
use gapii_tests::fake_driver;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::names;
use gapii_tests::process::{Finished, LIMIT, Running, run, send_signal};
use gapii_tests::programs::program;
use gapii_tests::remote::NOTICE;
use gapii_tests::sharing::Piped;
use gapii_tests::wait;
use rustix::process::Signal;

/// A program on the fake driver.
fn faked(name: &str, arguments: &[&str]) -> Process {
    let mut process = Process::new(program(name));
    process.args(arguments);
    fake_driver::use_in(&mut process, None);
    process
}

/// One thread that makes few commands.
fn drawing() -> Process {
    faked("draw_forever", &["1", "32"])
}

/// `run --wait OPTIONS`, with the program.
fn run_wait(session: &Session, options: &[&str], process: &Process) -> Running {
    let mut command = session.ctl(["run", "--wait"]);
    command.args(options);
    append(&mut command, process);
    Running::start(&mut command)
}

/// The program with the shim preloaded by hand, told to wait.
fn preloaded(session: &Session, mut process: Process, seconds: &str) -> Process {
    session.adopt(&mut process);
    process.env("LD_PRELOAD", artifact("libgapii.so"));
    process.env("GAPII_WAIT", "1").env("GAPII_WAIT_SECONDS", seconds);
    process
}

/// `gapii-ctl start --app PID` into a file of the session.
fn start(session: &Session, pid: &str) -> (Running, Trace) {
    let trace = Trace::new(session.path("held.gapii"));
    let start = Running::start(session.ctl(["start", "--app", pid, "-o"]).arg(&trace.path));
    (start, trace)
}

/// Pid of the only application, once it waits.
fn held(session: &Session) -> String {
    session.app_in_mode("waiting")["pid"].to_string()
}

/// The trace has exactly the commands that a trace of `run` has, and no description of earlier ones.
#[track_caller]
fn begins_with_the_first_command(session: &Session, trace: &Trace, process: &Process) {
    let whole = session.record(&[], process).trace;
    let (held, whole) = (trace.commands(), whole.commands());
    assert_eq!(names(&held), names(&whole));
    assert!(whole.len() > 100 && held.iter().all(|command| !command.setup), "{}", whole.len());
    trace.is_whole("exit");
}

#[track_caller]
fn says(finished: &Finished, sentences: &[&str]) {
    let lines: Vec<_> = finished.stderr.lines().collect();
    assert_eq!(lines.len(), sentences.len(), "{finished}");
    for (line, sentence) in lines.iter().zip(sentences) {
        assert!(line.contains(sentence), "{sentence:?} is not said: {finished}");
    }
}

#[test]
fn held_program_is_recorded_from_its_first_command_from_a_second_terminal() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_wait(&session, &[], &drawing());
    let (start, trace) = start(&session, &held(&session));
    let finished = running.finish(LIMIT).ok();
    start.finish(LIMIT).ok();
    begins_with_the_first_command(&session, &trace, &drawing());
    assert!(!finished.stderr.contains("unrecorded"), "{finished}");
}

#[test]
fn held_program_says_how_to_begin_and_what_it_says_works() {
    let session = Session::new();
    // Without a daemon: `run` starts one, on a socket of its own.
    let running = run_wait(&session, &[], &drawing());
    running.wait_for_words("begin a capture with `gapii-ctl start --connect unix:", LIMIT);
    let said = running.stderr_so_far();
    let (_, rest) = said.split_once("begin a capture with `gapii-ctl ").expect("just said");
    let (words, _) = rest.split_once('`').expect("the sentence is written at once");
    let trace = Trace::new(session.path("said.gapii"));
    let mut start = session.ctl(words.split(' '));
    let start = Running::start(start.arg("-o").arg(&trace.path));
    running.finish(LIMIT).ok();
    start.finish(LIMIT).ok();
    begins_with_the_first_command(&session, &trace, &drawing());
}

#[test]
fn program_that_waits_for_a_daemon_is_recorded_from_its_first_command() {
    let session = Session::new();
    let process = Running::start(&mut preloaded(&session, drawing(), "100"));
    process.wait_for_words("no daemon answers on ", LIMIT);
    let _daemon = session.daemon(&[]);
    let pid = held(&session);
    assert_eq!(pid, process.pid().to_string());
    let (start, trace) = start(&session, &pid);
    let finished = process.finish(LIMIT).ok();
    let sentence = "gapii/app.sock; begin with `gapiid`, then `gapii-ctl start --app ";
    assert!(finished.stderr.contains(sentence), "{finished}");
    assert!(!finished.stderr.contains("unrecorded"), "{finished}");
    start.finish(LIMIT).ok();
    begins_with_the_first_command(&session, &trace, &drawing());
}

#[test]
fn wait_goes_on_when_the_daemon_dies_and_ends_when_it_is_told_to_end() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let running = run_wait(&session, &[], &drawing());
    running.wait_for_words("begin a capture with `", LIMIT);
    daemon.kill();
    running.wait_for_words("no daemon answers on ", LIMIT);
    let daemon = session.daemon(&[]);
    held(&session);
    daemon.end().ok();
    let finished = running.finish(LIMIT).ok();
    assert!(finished.stderr.contains("goes on unrecorded: its wait was ended"), "{finished}");
}

#[test]
fn wait_without_a_daemon_is_bounded() {
    let session = Session::new();
    let finished = run(&mut preloaded(&session, drawing(), "0.4")).ok();
    says(
        &finished,
        &[
            "is held before its first command for up to 1 s: no daemon answers on ",
            "goes on unrecorded: no capture of it began within 0.4 s",
        ],
    );
}

#[test]
fn program_whose_wait_has_ended_can_be_attached_to() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_wait(&session, &["--timeout", "0.4"], &faked("draw_forever", &["1"]));
    running.wait_for_words("no capture of it began within 0.4 s", LIMIT);
    // It no longer waits, and the daemon knows.
    session.app_in_mode("idle");
    let trace = Trace::new(session.path("attached.gapii"));
    run(session.ctl(["start", "--frames", "2", "-o"]).arg(&trace.path)).ok();
    trace.is_whole("frames");
    assert!(trace.commands().iter().any(|command| command.setup));
}

#[test]
fn process_of_a_run_that_has_ended_does_not_wait_for_a_daemon() {
    let session = Session::new();
    let mut process = preloaded(&session, drawing(), "100");
    let began = Instant::now();
    says(&run(process.env("GAPII_LAUNCH", "0123456789abcdef0123456789abcdef")).ok(), &[]);
    assert!(began.elapsed() < Duration::from_secs(60));
}

#[test]
fn process_that_comes_while_its_launch_s_capture_ends_is_not_held() {
    let session = Session::new();
    let done = session.path("done");
    // The capture cannot end while nobody reads the pipe.
    let mut shell = Process::new("sh");
    shell.args(["-c", r#""$0" 1 100000 && "$0" 1 32 && : > "$1""#]);
    shell.arg(program("draw_forever")).arg(&done);
    fake_driver::use_in(&mut shell, None);
    let mut command = session.ctl(["run", "--frames", "3000", "-o", "-"]);
    append(&mut command, &shell);
    let piped = Piped::start(&session, "piped", command);
    wait::until("both programs to end", LIMIT, || done.exists().then_some(()));
    let (trace, said) = piped.read(Duration::ZERO);
    assert!(!said.contains("is held"), "{said}");
    trace.is_whole("frames");
}

#[test]
fn stop_lets_a_held_program_go_on_unrecorded() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_wait(&session, &[], &drawing());
    let pid = held(&session);
    // A held program is no capture.
    run(&mut session.ctl(["stop"])).exited_with(1);
    held(&session);
    let stopped = run(&mut session.ctl(["stop", "--app", &pid])).ok();
    assert_eq!(stopped.stdout, "let 1 waiting program go on unrecorded\n");
    let finished = running.finish(LIMIT).ok();
    assert!(finished.stderr.contains("goes on unrecorded: its wait was ended"), "{finished}");
}

#[test]
fn signals_end_a_held_program_as_they_would_without_the_wait() {
    let check = |program: &Process, signal, status| {
        let session = Session::new();
        let _daemon = session.daemon(&[]);
        let running = run_wait(&session, &[], program);
        held(&session);
        running.signal(signal);
        running.finish(LIMIT).exited_with(status)
    };
    // Not SIGINT, which a shell's background jobs ignore, and with them this test's programs.
    check(&drawing(), Signal::TERM, 143);
    // A handler that sets a flag: the program has to go on to see it.
    let finished = check(&faked("held", &["stop"]), Signal::TERM, 7);
    assert_eq!(finished.stdout, "main\nmain on\n");
}

#[test]
fn command_of_a_signal_handler_ends_the_wait() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_wait(&session, &[], &faked("held", &["signal"]));
    let pid = held(&session).parse().expect("a pid");
    running.wait_for_words("main\n", LIMIT);
    send_signal(pid, Signal::USR1);
    let finished = running.finish(LIMIT).ok();
    assert_eq!(finished.stdout, "main\nhandler\nhandler on\nmain on\n");
    let sentence = "goes on unrecorded: a signal handler made a command during the wait";
    assert!(finished.stderr.contains(sentence), "{finished}");
}

#[test]
fn all_threads_of_a_held_program_are_held() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut running = run_wait(&session, &[], &faked("held", &["threads"]));
    let pid = held(&session);
    running.say("x");
    running.wait_for_words("main\n", LIMIT);
    wait_until_asleep(&pid, 2);
    let (start, trace) = start(&session, &pid);
    let finished = running.finish(LIMIT).ok();
    start.finish(LIMIT).ok();
    let mut commands: Vec<_> = names(&trace.commands()).into_iter().map(str::to_owned).collect();
    commands.sort_unstable();
    assert_eq!(commands, ["eglGetDisplay", "eglGetError"], "{finished}");
    let mut lines: Vec<_> = finished.stdout.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["main", "main on", "thread", "thread on"]);
}

#[test]
fn child_that_is_forked_during_the_wait_waits_by_itself() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut running = run_wait(&session, &[], &faked("held", &["fork"]));
    let parent = held(&session);
    running.say("x");
    let child = wait::until("the child to wait, too", NOTICE, || {
        let apps = session.apps();
        assert!(apps.iter().all(|app| app["mode"] == "waiting"), "{apps:?}");
        let pids = apps.iter().map(|app| app["pid"].to_string());
        pids.into_iter().find(|pid| *pid != parent)
    });
    run(&mut session.ctl(["stop", "--app", &child])).ok();
    running.wait_for_words("main\n", LIMIT);
    let (start, trace) = start(&session, &parent);
    let finished = running.finish(LIMIT).ok();
    start.finish(LIMIT).ok();
    let commands = trace.commands();
    assert_eq!(commands.len(), 2, "{:?}", names(&commands));
    for name in ["eglGetError", "eglGetDisplay"] {
        assert!(commands.iter().any(|command| command.name == name), "{name}: {finished}");
    }
    assert!(finished.stdout.contains("child on\n"), "{finished}");
}

/// Waits until the process has `threads` threads, and all sleep.
fn wait_until_asleep(pid: &str, threads: usize) {
    let tasks = Path::new("/proc").join(pid).join("task");
    wait::until("all threads to be held", NOTICE, || {
        let tasks = std::fs::read_dir(&tasks).ok()?.flatten();
        let stats: Vec<_> = tasks
            .filter_map(|task| std::fs::read_to_string(task.path().join("stat")).ok())
            .collect();
        let asleep = stats.iter().filter(|stat| stat.contains(") S ")).count();
        (stats.len() == threads && asleep == threads).then_some(())
    });
}
