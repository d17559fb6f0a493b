//! Captures that begin, end or break while the program runs on.

use std::process::Command as Process;
use std::time::Duration;

use gapii_tests::attaching::run_idle;
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::order::{counts_up, uniforms};
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use gapii_tests::sharing::{number, start, until};
use gapii_tests::wait;
use rustix::process::Signal;

/// A program that draws on the fake driver until it is killed, or for a number of rounds.
fn drawing(session: &Session, arguments: &[&str]) -> (Process, Page) {
    let path = session.path("page");
    let mut process = Process::new(program("draw_forever"));
    process.args(arguments);
    fake_driver::use_in(&mut process, Some(&path));
    (process, Page::new(&path))
}

/// The file has blocks in it.
fn wait_for_blocks(trace: &Trace) {
    wait::until("blocks in the trace", LIMIT, || {
        trace.path.metadata().ok().filter(|file| file.len() > 200_000).map(drop)
    });
}

/// Checks that each thread's numbered calls are in the trace from the first on, without a gap; at least 1,000 in all.
#[track_caller]
fn check_prefixes(trace: &Trace) {
    let commands = trace.ask("dump", &["--json"]);
    let commands = gapii_tests::gapii::commands(&commands);
    let mut threads: Vec<_> = commands.iter().map(|command| command.tid).collect();
    threads.sort_unstable();
    threads.dedup();
    let mut numbered = 0;
    for thread in threads {
        let of_thread: Vec<_> =
            commands.iter().filter(|command| command.tid == thread).cloned().collect();
        let drawn = uniforms(&of_thread, 2);
        assert_eq!(counts_up(&drawn, drawn.len() as u64), Ok(()), "thread {thread}");
        numbered += drawn.len();
    }
    assert!(numbered >= 1000, "{numbered} numbered calls");
}

#[test]
fn commands_in_another_terminal_find_the_private_daemon_of_a_run() {
    let session = Session::new();
    let idle = |page: &str| {
        let mut process = Process::new(program("draw_forever"));
        fake_driver::use_in(process.arg("1"), Some(&session.path(page)));
        let mut command = session.ctl(["run", "--idle"]);
        append(&mut command, &process);
        Running::start(&mut command)
    };
    let first = idle("page");
    wait::until("the program to be connected", LIMIT, || {
        let apps = run(&mut session.ctl(["apps"]));
        (apps.shell_status() == 0 && apps.stdout.contains("draw_forever")).then_some(())
    });
    for command in ["apps", "list", "status"] {
        let said = run(&mut session.ctl([command])).ok().stderr;
        assert!(said.contains("using the daemon of `gapii-ctl run -- /"), "{command}: {said}");
    }
    let trace = Trace::new(session.path("found.gapii"));
    let capture = ["start", "--seconds", "0.2", "-o"];
    run(session.ctl(capture).arg(&trace.path)).ok();
    trace.is_whole("stop");

    let second = idle("another-page");
    // Before the second run has its daemon, the first one is the only one.
    let refused = wait::until("the second daemon to listen", LIMIT, || {
        let refused = run(&mut session.ctl(["apps"]));
        (refused.shell_status() == 2).then_some(refused.stderr)
    });
    let typed: Vec<&str> = refused.split('`').skip(1).step_by(2).collect();
    assert_eq!(typed.len(), 2, "{refused}");
    for line in typed {
        let words: Vec<&str> = line.split(' ').skip(1).collect();
        wait::until("the program of that run", LIMIT, || {
            let apps = run(&mut session.ctl(&words)).ok().stdout;
            apps.contains("draw_forever").then_some(())
        });
    }
    for run in [first, second] {
        run.signal(Signal::TERM);
        run.finish(LIMIT);
    }
}

#[test]
fn program_whose_daemon_is_killed_runs_on_and_leaves_a_readable_trace() {
    const ROUNDS: u64 = 100_000;
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let (process, page) = drawing(&session, &["2", &ROUNDS.to_string()]);
    let trace = Trace::new(session.path("orphan.gapii"));
    let run = Running::start(&mut session.run_command(&[], &trace.path, &process));
    wait_for_blocks(&trace);
    daemon.kill();
    let finished = run.finish(LIMIT);
    // The program has succeeded, and its recording has not.
    assert_eq!(finished.status.code(), Some(125), "{finished}");
    assert!(!finished.stderr.is_empty(), "the broken capture is mentioned: {finished}");
    let drawn: u64 = page.threads().iter().filter_map(|t| t.counts.get("glDrawArrays")).sum();
    assert_eq!(drawn, 2 * ROUNDS);
    let info = trace.info();
    assert_eq!(info["complete"], false, "{info:#}");
    check_prefixes(&trace);
}

#[test]
fn daemon_told_to_end_finishes_its_traces() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let (process, page) = drawing(&session, &["2"]);
    let trace = Trace::new(session.path("shutdown.gapii"));
    let run = Running::start(&mut session.run_command(&[], &trace.path, &process));
    wait_for_blocks(&trace);
    daemon.end().ok();
    let calls = page.calls();
    wait::until("the program to go on", LIMIT, || (page.calls() > calls + 10_000).then_some(()));
    trace.is_whole("shutdown");
    check_prefixes(&trace);
    drop(run);
}

#[test]
fn program_whose_daemon_hangs_leaves_the_capture() {
    const ROUNDS: u64 = 200_000;
    let session = Session::new();
    let daemon = session.daemon(&["--ring-size", "256K"]);
    let (process, page) = drawing(&session, &["2", &ROUNDS.to_string()]);
    let trace = Trace::new(session.path("stalled.gapii"));
    let options = ["--stall-ms", "3000"];
    let run = Running::start(&mut session.run_command(&options, &trace.path, &process));
    wait_for_blocks(&trace);
    daemon.signal(Signal::STOP);
    wait::until("the program's end", LIMIT, || {
        let drawn: u64 = page.threads().iter().filter_map(|t| t.counts.get("glDrawArrays")).sum();
        (drawn == 2 * ROUNDS).then_some(())
    });
    daemon.signal(Signal::CONT);
    let finished = run.finish(LIMIT);
    // The program has succeeded, and its recording has not.
    assert_eq!(finished.status.code(), Some(125), "{finished}");
    trace.verify();
    let info = trace.info();
    assert_eq!(info["end_of_stream"]["reason"], "lost", "{info:#}");
    // The first record that found no room may be a leave record, whose call is in the trace.
    assert!(number(&info["lost"]["records"]) > 0, "{info:#}");
    assert_eq!(info["lost_by_cause"]["stalled"], info["lost"], "{info:#}");
    check_prefixes(&trace);
}

#[test]
fn running_program_is_captured_again_and_again() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (process, _page) = drawing(&session, &["2"]);
    let running = run_idle(&session, &process);
    for number in 0..10 {
        let trace = Trace::new(session.path(&format!("{number}.gapii")));
        run(session.ctl(["start", "--frames", "5", "-o"]).arg(&trace.path)).ok();
        trace.is_whole("frames");
        let info = trace.info();
        assert_eq!((&info["frames"], &info["snapshot"]), (&5.into(), &true.into()), "{info:#}");
        session.app_in_mode("idle");
    }
    drop(running);
}

#[test]
fn capture_that_is_stopped_is_complete() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (process, page) = drawing(&session, &["2"]);
    let running = run_idle(&session, &process);
    let trace = Trace::new(session.path("stopped.gapii"));
    let start = Running::start(session.ctl(["start", "-o"]).arg(&trace.path));
    wait_for_blocks(&trace);
    run(&mut session.ctl(["stop"])).ok();
    start.finish(LIMIT).ok();
    trace.is_whole("stop");
    let calls = page.calls();
    wait::until("the program to go on", LIMIT, || (page.calls() > calls + 10_000).then_some(()));
    drop(running);
}

/// A program in the middle of a long frame has not noticed yet that the first capture is over when the second begins.
#[test]
fn capture_has_nothing_of_the_one_before_it_that_the_program_has_not_left() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut program = run_idle(&session, &offscreen(&program("told"), [""; 0]));
    let (first, left) = start(&session, "left", &[]);
    until(&session, "left", "it has frames", |progress| number(&progress["frames"]) > 2);
    program.say("l");
    wait::until("the long frame", LIMIT, || {
        let frames = || number(&session.apps()[0]["frames"]);
        let before = frames();
        std::thread::sleep(Duration::from_millis(200));
        (frames() == before).then_some(())
    });
    run(&mut session.ctl(["stop"])).ok();
    first.finish(LIMIT).ok();
    left.is_whole("stop");
    let (second, next) = start(&session, "next", &["--frames", "5", "--observe-frames", "1"]);
    second.finish(LIMIT).ok();
    next.is_whole("frames");
    let info = next.info();
    assert_eq!((&info["frames"], &info["snapshot"]), (&5.into(), &true.into()), "{info:#}");
    assert_eq!(verified_frames(&session, &next), 5);
    program.finish(LIMIT).ok();
}

#[test]
fn commands_that_are_dropped_are_counted() {
    const ROUNDS: u64 = 100_000;
    let session = Session::new();
    let daemon = session.daemon(&["--ring-size", "64K"]);
    let (process, page) = drawing(&session, &["2", &ROUNDS.to_string()]);
    let trace = Trace::new(session.path("dropped.gapii"));
    let options = ["--overflow", "drop"];
    let run = Running::start(&mut session.run_command(&options, &trace.path, &process));
    wait_for_blocks(&trace);
    daemon.signal(Signal::STOP);
    let calls = page.calls();
    wait::until("calls without a daemon", LIMIT, || (page.calls() > calls + 50_000).then_some(()));
    daemon.signal(Signal::CONT);
    run.finish(LIMIT).ok();
    trace.verify();
    let info = trace.info();
    assert_eq!(info["end_of_stream"]["reason"], "exit", "{info:#}");
    let drawn: u64 = page.threads().iter().filter_map(|t| t.counts.get("glDrawArrays")).sum();
    assert_eq!(drawn, 2 * ROUNDS);
    let lost = info["lost"]["commands"].as_u64().unwrap();
    assert!(lost > 10_000, "{info:#}");
    let ours = |name: &str| gapii_tests::kill::CALLED.contains(&name);
    let made: u64 = page
        .threads()
        .iter()
        .flat_map(|thread| thread.counts.iter().filter(|(name, _)| ours(name)).map(|(_, n)| *n))
        .sum();
    assert_eq!(
        info["commands"].as_u64().unwrap() + lost,
        made,
        "recorded and lost are what was made"
    );
}

#[test]
fn capture_after_one_that_dropped_has_no_gap_of_it() {
    let session = Session::new();
    let daemon = session.daemon(&["--ring-size", "64K"]);
    let (process, page) = drawing(&session, &["2"]);
    let running = run_idle(&session, &process);
    let dropped = Trace::new(session.path("dropped.gapii"));
    let mut command = session.ctl(["start", "--overflow", "drop", "-o"]);
    let capture = Running::start(command.arg(&dropped.path));
    wait_for_blocks(&dropped);
    daemon.signal(Signal::STOP);
    let calls = page.calls();
    wait::until("calls without a daemon", LIMIT, || (page.calls() > calls + 50_000).then_some(()));
    daemon.signal(Signal::CONT);
    run(&mut session.ctl(["stop"])).ok();
    capture.finish(LIMIT).ok();
    dropped.verify();
    assert!(number(&dropped.info()["lost"]["commands"]) > 0);
    session.app_in_mode("idle");
    let next = Trace::new(session.path("next.gapii"));
    run(session.ctl(["start", "--frames", "5", "-o"]).arg(&next.path)).ok();
    next.is_whole("frames");
    drop(running);
}

#[test]
fn frames_of_each_process_are_counted_apart() {
    let session = Session::new();
    let script = format!("{0} & {0} & wait", program("load_linked").display());
    let process = gapii_tests::loading::offscreen("sh".as_ref(), ["-c", &script]);
    let recording = session.record(&["--frames", "3"], &process);
    recording.run.ok();
    recording.trace.is_whole("frames");
    let info = recording.trace.info();
    let processes = info["processes"].as_array().unwrap();
    assert_eq!(processes.len(), 2, "{info:#}");
    assert!(processes.iter().all(|process| process["frames"] == 3), "{info:#}");
}

#[test]
fn frames_that_are_to_pass_are_left_out() {
    let session = Session::new();
    let process = gapii_tests::loading::offscreen(&program("load_linked"), [""; 0]);
    let recording = session.record(&["--skip-frames", "2", "--frames", "2"], &process);
    recording.run.ok();
    recording.trace.is_whole("frames");
    let commands = recording.trace.commands();
    let clears = commands.iter().filter(|command| command.name == "glUniform4f");
    let green: Vec<_> = clears.map(|command| command.argument("v1").as_f64().unwrap()).collect();
    assert_eq!(green, [0.5, 0.75]);
}

/// Only the kernel can tell: `start` is not the program's parent.
#[test]
fn program_that_a_signal_ends_in_an_attached_capture_has_ended_by_it() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    for (signal, reason) in [(Signal::TERM, "exit"), (Signal::KILL, "crash")] {
        let (process, _page) = drawing(&session, &["2"]);
        let running = run_idle(&session, &process);
        let name = format!("{reason}-attached");
        let (capture, trace) = start(&session, &name, &[]);
        wait_for_blocks(&trace);
        let pid = number(&session.apps()[0]["pid"]);
        let pid = rustix::process::Pid::from_raw(pid as i32).expect("a pid");
        rustix::process::kill_process(pid, signal).expect("it is running");
        let said = capture.finish(LIMIT).ok().stderr;
        let end = &trace.info()["end_of_stream"];
        assert_eq!(
            (&end["reason"], &end["signal"]),
            (&reason.into(), &signal.as_raw().into()),
            "{said}"
        );
        assert!(!said.contains("disappeared"), "{said}");
        running.finish(LIMIT);
    }
}

#[test]
fn capture_of_a_time_ends_by_itself() {
    let session = Session::new();
    let (process, _page) = drawing(&session, &["1"]);
    let trace = Trace::new(session.path("seconds.gapii"));
    let options = ["--seconds", "0.5", "--quit"];
    let run = Running::start(&mut session.run_command(&options, &trace.path, &process));
    run.finish(Duration::from_secs(30)).ok();
    trace.is_whole("stop");
    assert!(number(&trace.info()["commands"]) > 1000, "{:#}", trace.info());
}
