//! Captures that go on after their daemon was killed.

use std::time::Duration;

use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::{LIMIT, Running, run, send_signal};
use gapii_tests::programs::kills_daemon;
use gapii_tests::restarts::{check, counted_forever, has_blocks, kill_daemons, numbered_in_order};
use gapii_tests::sharing::{number, start, until};
use gapii_tests::wait;
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn daemons_that_are_killed_leave_one_whole_trace() {
    kill_daemons(3, 5);
}

fn children(pid: u32) -> Vec<u32> {
    let listed = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
    let listed = listed.unwrap_or_default();
    listed.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

/// Process id of the daemon that `gapii-ctl run` started.
fn private_daemon(ctl: u32) -> Option<u32> {
    let is_daemon = |pid: &u32| {
        std::fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name == "gapiid\n")
    };
    children(ctl).into_iter().find(is_daemon)
}

/// Process id of the program that `gapii-ctl run` started.
fn program_of(ctl: u32, daemon: u32) -> Option<u32> {
    children(ctl).into_iter().find(|pid| *pid != daemon)
}

/// Returns true if a program has mapped the memory that it shares with a daemon.
fn is_connected(program: u32) -> bool {
    let maps = std::fs::read_to_string(format!("/proc/{program}/maps")).unwrap_or_default();
    maps.contains("memfd:gapii")
}

#[test]
fn daemon_of_one_run_is_started_again() {
    let session = Session::new();
    let trace = Trace::new(session.path("private.gapii"));
    let ctl = Running::start(&mut session.run_command(&[], &trace.path, &counted_forever(2, 1000)));
    let first = wait::until("a daemon with a trace", LIMIT, || {
        let daemon = private_daemon(ctl.pid())?;
        let program = program_of(ctl.pid(), daemon).filter(|program| is_connected(*program));
        program.filter(|_| has_blocks(&trace, 20_000)).map(|_| daemon)
    });
    send_signal(first, Signal::KILL);
    ctl.wait_for_words("the capture continues in", LIMIT);
    let second = private_daemon(ctl.pid()).expect("a daemon");
    assert_ne!(first, second);
    wait::until("blocks behind the seam", LIMIT, || has_blocks(&trace, 40_000).then_some(()));
    let program = program_of(ctl.pid(), second).expect("the program");
    send_signal(program, Signal::TERM);
    check(&trace, &ctl.finish(LIMIT).ok(), 1);
}

/// Records a program whose first daemon is killed at a moment that `kills_daemon.c` knows. The next daemon's trace has
/// every command from the first on.
#[track_caller]
fn kill_before_the_first_command(moment: &str) {
    let session = Session::new();
    let trace = Trace::new(session.path("nothing.gapii"));
    let mut process = counted_forever(2, 1000);
    process.env("LD_PRELOAD", kills_daemon()).env("KILLS_DAEMON", moment);
    let ctl = Running::start(&mut session.run_command(&[], &trace.path, &process));
    ctl.wait_for_words("the capture continues in", LIMIT);
    wait::until("blocks in the trace", LIMIT, || has_blocks(&trace, 40_000).then_some(()));
    let daemon = private_daemon(ctl.pid()).expect("a daemon");
    let program = program_of(ctl.pid(), daemon).expect("the program");
    send_signal(program, Signal::TERM);
    check(&trace, &ctl.finish(LIMIT).ok(), 1);
}

#[test]
fn daemon_that_dies_before_it_answers_is_started_again_before_the_first_command() {
    kill_before_the_first_command("hello");
}

#[test]
fn daemon_that_dies_with_its_answer_is_started_again_before_the_first_command() {
    kill_before_the_first_command("answer");
}

#[test]
fn capture_that_nobody_wants_to_go_on_ends_and_the_program_runs_on() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(2, 1000));
    let trace = Trace::new(session.path("unwanted.gapii"));
    let client = Running::start(session.ctl(["start", "-o"]).arg(&trace.path));
    wait::until("blocks in the trace", LIMIT, || has_blocks(&trace, 20_000).then_some(()));
    client.signal(Signal::KILL);
    daemon.kill();
    let _next = session.daemon(&[]);
    session.app_in_mode("idle");
    let again = Trace::new(session.path("again.gapii"));
    run(session.ctl(["start", "--frames", "3", "-o"]).arg(&again.path)).ok();
    again.is_whole("frames");
    program.signal(Signal::TERM);
    let finished = program.finish(LIMIT).ok();
    assert!(finished.stdout.contains("longest pause"), "{finished}");
}

#[test]
fn capture_into_a_pipe_says_why_it_does_not_go_on() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(1, 1000));
    let client = Running::start(&mut session.ctl(["start", "-o", "-"]));
    session.app_in_mode("capturing");
    daemon.kill();
    let finished = client.finish(Duration::from_secs(30));
    assert_eq!(finished.status.code(), Some(3), "{}", finished.stderr);
    assert!(finished.stderr.contains("into a regular file"), "{}", finished.stderr);
    program.signal(Signal::TERM);
    program.finish(LIMIT).ok();
}

#[test]
fn captures_of_one_program_go_on_each_in_its_file() {
    let session = Session::new();
    let mut daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(2, 2000));
    let keeps_all = ["--if-slow", "wait"];
    let (first, first_trace) = start(&session, "first", &keeps_all);
    until(&session, "first", "it has frames", |progress| number(&progress["frames"]) > 20);
    let (second, second_trace) = start(&session, "second", &keeps_all);
    for kills in 1..=3 {
        wait::until("blocks in both traces", LIMIT, || {
            let traces = [&first_trace, &second_trace];
            traces.iter().all(|trace| has_blocks(trace, kills * 20_000)).then_some(())
        });
        daemon.kill();
        daemon = session.daemon(&[]);
        for client in [&first, &second] {
            wait::until("the capture to go on", LIMIT, || {
                let said = client.stderr_so_far();
                assert!(!client.ended_within(Duration::ZERO), "ended: {said}{}", daemon.log());
                (said.matches("the capture continues in").count() as u64 == kills).then_some(())
            });
        }
    }
    // The snapshot is sent again for the third daemon.
    let (third, third_trace) = start(&session, "third", &["--frames", "20"]);
    third.finish(LIMIT).ok();
    until(&session, "first", "it goes on", |progress| number(&progress["frames"]) > 20);
    for (client, name) in [(first, "first"), (second, "second")] {
        let stopped = run(&mut session.ctl(["stop", name]));
        assert!(stopped.status.success(), "{}{}", client.stderr_so_far(), daemon.log());
        client.finish(LIMIT).ok();
    }
    third_trace.is_whole("frames");
    for trace in [&first_trace, &second_trace] {
        trace.is_whole("stop");
        let info = trace.info();
        // A daemon that is killed before it writes its first block leaves no seam.
        let seams = info["seams"].as_array().map_or(0, Vec::len);
        assert!((1..=3).contains(&seams), "{info:#}");
        assert!(numbered_in_order(trace) > 1000);
    }
    program.signal(Signal::TERM);
    program.finish(LIMIT).ok();
}

#[test]
fn paused_capture_is_paused_behind_the_seam_and_says_what_it_misses() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(2, 2000));
    let (client, trace) = start(&session, "paused", &[]);
    until(&session, "paused", "it has frames", |progress| number(&progress["frames"]) > 20);
    run(&mut session.ctl(["pause", "paused"])).ok();
    let is_missing = |progress: &Value| progress["is_missing"] == true;
    until(&session, "paused", "it misses something", is_missing);
    let frames = || session.apps().iter().map(|app| number(&app["frames"])).sum::<u64>();
    let before = frames();
    wait::until("frames that are missed", LIMIT, || (frames() > before + 20).then_some(()));
    daemon.kill();
    let _next = session.daemon(&[]);
    client.wait_for_words("the capture continues in", LIMIT);
    let paused = until(&session, "paused", "it misses what comes", is_missing);
    run(&mut session.ctl(["resume", "paused"])).ok();
    let had = number(&paused["progress"]["frames"]);
    until(&session, "paused", "it goes on", |progress| number(&progress["frames"]) > had + 20);
    run(&mut session.ctl(["stop", "paused"])).ok();
    client.finish(LIMIT).ok();
    trace.verify();
    let info = trace.info();
    assert!(number(&info["lost"]["records"]) > 20 * 40, "{info:#}");
    assert_eq!(info["seams"].as_array().map(Vec::len), Some(1), "{info:#}");
    program.signal(Signal::TERM);
    program.finish(LIMIT).ok();
}

#[test]
fn part_of_a_program_is_the_same_part_behind_the_seam() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(2, 2000));
    let options = ["--if-slow", "wait", "--function", "glStencil*"];
    let (client, trace) = start(&session, "part", &options);
    until(&session, "part", "it has frames", |progress| number(&progress["frames"]) > 20);
    daemon.kill();
    let _next = session.daemon(&[]);
    client.wait_for_words("the capture continues in", LIMIT);
    until(&session, "part", "it has more frames", |progress| number(&progress["frames"]) > 20);
    run(&mut session.ctl(["stop", "part"])).ok();
    client.finish(LIMIT).ok();
    trace.is_whole("stop");
    let info = trace.info();
    assert_eq!(info["seams"].as_array().map(Vec::len), Some(1), "{info:#}");
    assert!(numbered_in_order(&trace) > 40 * 20);
    // A thread may describe its state late, in any frame.
    let called = trace.commands().into_iter().filter(|command| !command.setup);
    let is_wanted = |name: &str| matches!(name, "glStencilFunc" | "eglSwapBuffers");
    let unwanted: Vec<_> =
        called.filter(|command| !is_wanted(&command.name)).map(|command| command.name).collect();
    assert!(unwanted.is_empty(), "{unwanted:?}");
    program.signal(Signal::TERM);
    program.finish(LIMIT).ok();
}
