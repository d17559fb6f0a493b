//! Several captures of one program at a time: each is whole, none disturbs another, and a client that reads too
//! slowly is told of its losses.

use std::process::Command;
use std::time::Duration;

use gapii_tests::attaching::run_idle;
use gapii_tests::fake_driver;
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, run, send_signal};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use gapii_tests::sharing::{Piped, frames_in, listed, number, start, until};
use gapii_tests::wait;
use rustix::process::Signal;
use serde_json::{Value, json};

/// Threads that share their objects and check their own pictures.
fn drawing() -> Command {
    offscreen(&program("threads_forever"), ["2", "3600", "500"])
}

/// Threads that only make calls, on the fake driver.
fn calling() -> Command {
    let mut process = Command::new(program("draw_forever"));
    process.args(["2"]).env("FAKE_DRIVER_SLEEP", "200");
    fake_driver::use_in(&mut process, None);
    process
}

fn has_frames(frames: u64) -> impl Fn(&Value) -> bool {
    move |progress| number(&progress["frames"]) >= frames
}

#[test]
fn captures_of_one_program_overlap_and_are_each_played_exactly() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _program = run_idle(&session, &drawing());
    // The first capture reaches its limit while the second continues; the third ends during the second.
    let observe = ["--observe-frames", "1"];
    let (first, first_trace) =
        start(&session, "first", &[&observe[..], &["--frames", "1500"]].concat());
    until(&session, "first", "it has frames", has_frames(5));
    let (second, second_trace) = start(&session, "second", &observe);
    until(&session, "second", "it has frames", has_frames(5));
    let (third, third_trace) =
        start(&session, "third", &[&observe[..], &["--frames", "9"]].concat());
    third.finish(LIMIT).ok();
    assert!(listed(&session, "first").is_some(), "the first one is over: nothing overlapped");
    first.finish(LIMIT).ok();
    until(&session, "second", "it goes on", has_frames(1500));
    run(&mut session.ctl(["stop", "second"])).ok();
    second.finish(LIMIT).ok();
    session.app_in_mode("idle");

    for (trace, reason, frames) in [
        (&first_trace, "frames", Some(1500)),
        (&second_trace, "stop", None),
        (&third_trace, "frames", Some(9)),
    ] {
        trace.is_whole(reason);
        let info = trace.info();
        assert!(frames.is_none_or(|frames| info["frames"] == frames), "{info:#}");
        assert_eq!(info["snapshot"], true, "{info:#}");
        assert!(verified_frames(&session, trace) >= frames.unwrap_or(1500), "{info:#}");
    }
}

#[test]
fn capture_from_the_first_call_goes_on_as_it_was_when_another_begins() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let trace = gapii_tests::gapii::Trace::new(session.path("run.gapii"));
    let options = ["--observe-frames", "1", "--quit", "--frames", "1500"];
    let recording = gapii_tests::process::Running::start(&mut session.run_command(
        &options,
        &trace.path,
        &drawing(),
    ));
    session.app_in_mode("capturing");
    let (other, other_trace) =
        start(&session, "other", &["--observe-frames", "1", "--frames", "20"]);
    other.finish(LIMIT).ok();
    recording.finish(LIMIT).ok();
    for (trace, frames) in [(&trace, 1500), (&other_trace, 20)] {
        trace.is_whole("frames");
        let info = trace.info();
        assert_eq!((&info["frames"], &info["missing"]), (&frames.into(), &json!([])), "{info:#}");
        assert!(verified_frames(&session, trace) >= frames, "{info:#}");
    }
    // The trace creates each object once.
    let made = |name: &str| trace.commands().iter().filter(|command| command.name == name).count();
    assert_eq!(made("eglCreateContext"), 3);
}

#[test]
fn option_that_the_running_capture_lacks_is_named() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _program = run_idle(&session, &calling());
    let (first, _) = start(&session, "first", &[]);
    until(&session, "first", "it runs", |_| true);
    for (option, named) in [("--timing", "--timing"), ("--observe-frames=1", "--observe-frames")] {
        let path = session.path("no.gapii");
        let refused = run(session.ctl(["start", option, "-o"]).arg(&path)).exited_with(3);
        assert!(
            refused.stderr.contains(named) && refused.stderr.contains("capture 1"),
            "{refused}"
        );
        assert!(!path.exists());
    }
    let path = session.path("no.gapii");
    let refused = run(session.ctl(["start", "--name", "first", "-o"]).arg(&path)).exited_with(3);
    assert!(refused.stderr.contains("has the name \"first\""), "{refused}");
    run(&mut session.ctl(["stop", "first"])).ok();
    first.finish(LIMIT).ok();
    let none = run(&mut session.ctl(["stop", "first"])).exited_with(1);
    assert!(none.stderr.contains("no capture called \"first\""), "{none}");
    // It did not end: it never was.
    let none = run(&mut session.ctl(["stop", "99"])).exited_with(1);
    assert!(none.stderr.contains("there is no capture 99"), "{none}");
}

#[test]
fn stalled_reader_slows_nobody_and_hears_what_it_missed() {
    let session = Session::new();
    let _daemon = session.daemon(&["--ring-size", "256K", "--spill", "256K"]);
    let _program = run_idle(&session, &calling());
    let (fast, fast_trace) = start(&session, "fast", &[]);
    until(&session, "fast", "it has frames", has_frames(100));
    let alone = frames_in(&session, Duration::from_secs(1));
    let command = session.ctl(["start", "--name", "stalled", "-o", "-"]);
    let stalled = Piped::start(&session, "stalled", command);
    until(&session, "stalled", "its limit is reached", |progress| {
        progress["is_missing"] == true && number(&progress["spilled_bytes"]) > 0
    });
    let beside = frames_in(&session, Duration::from_secs(1));
    // The work of two captures on two processors would halve the rate.
    assert!(beside > 0.5 * alone, "{alone} frames/s alone, {beside} beside a stalled reader");
    run(&mut session.ctl(["stop"])).ok();
    fast.finish(LIMIT).ok();
    fast_trace.is_whole("stop");

    let (stalled_trace, said) = stalled.read(Duration::ZERO);
    stalled_trace.verify();
    let info = stalled_trace.info();
    assert!(number(&info["lost"]["commands"]) > 0 && number(&info["frames"]) > 0, "{info:#}");
    assert!(!said.contains(" 0 lost"), "{said}");
    let fast_calls = number(&fast_trace.info()["commands"]);
    assert!(
        number(&info["commands"]) + number(&info["lost"]["commands"]) <= fast_calls,
        "{info:#}"
    );
}

#[test]
fn slow_reader_gets_everything_and_one_who_wants_no_gap_is_waited_for() {
    let session = Session::new();
    let daemon = session.daemon(&["--ring-size", "256K"]);
    let _program = run_idle(&session, &calling());
    let (fast, fast_trace) = start(&session, "fast", &[]);
    let command = session.ctl(["start", "--name", "slow", "-o", "-"]);
    let slow = Piped::start(&session, "slow", command);
    until(&session, "slow", "something waits for its reader", |progress| {
        number(&progress["spilled_bytes"]) > 100_000
    });
    run(&mut session.ctl(["stop", "slow"])).ok();
    let (slow_trace, said) = slow.read(Duration::from_micros(100));
    slow_trace.is_whole("stop");
    assert!(said.contains(" 0 lost"), "{said}");
    run(&mut session.ctl(["stop", "fast"])).ok();
    fast.finish(LIMIT).ok();
    fast_trace.is_whole("stop");

    let command = session.ctl(["start", "--name", "strict", "--if-slow", "wait", "-o", "-"]);
    let strict = Piped::start(&session, "strict", command);
    until(&session, "strict", "the program waits", |progress| number(&progress["waits"]) > 0);
    let (trace, _) = std::thread::scope(|scope| {
        let reading = scope.spawn(|| strict.read(Duration::ZERO));
        run(&mut session.ctl(["stop", "strict"])).ok();
        reading.join().expect("the reader reads")
    });
    trace.is_whole("stop");
    drop(daemon);
}

#[test]
fn capture_that_is_begun_before_the_program_hears_of_the_one_before_it_is_begun_too() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let _program = run_idle(&session, &calling());
    let pid = number(&session.app_in_mode("idle")["pid"]) as u32;
    send_signal(pid, Signal::STOP);
    let (first, first_trace) = start(&session, "first", &[]);
    until(&session, "first", "it waits for the program", |_| true);
    let (second, second_trace) = start(&session, "second", &["--frames", "100"]);
    wait::until("the second one to wait, too", LIMIT, || {
        daemon.log().contains("capture 2 records").then_some(())
    });
    send_signal(pid, Signal::CONT);
    second.finish(LIMIT).ok();
    second_trace.is_whole("frames");
    run(&mut session.ctl(["stop", "first"])).ok();
    first.finish(LIMIT).ok();
    first_trace.is_whole("stop");
    assert_eq!(number(&second_trace.info()["frames"]), 100);
    assert!(number(&first_trace.info()["frames"]) >= 100, "{:#}", first_trace.info());
}

#[test]
fn pause_is_a_gap_and_the_capture_goes_on_with_all_described_anew() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _program = run_idle(&session, &drawing());
    let (paused, trace) = start(&session, "paused", &["--observe-frames", "1"]);
    until(&session, "paused", "it has frames", has_frames(5));
    run(&mut session.ctl(["pause", "paused"])).ok();
    let before = until(&session, "paused", "it misses frames", |progress| {
        progress["is_paused"] == true && number(&progress["lost_commands"]) > 100
    });
    run(&mut session.ctl(["resume", "paused"])).ok();
    let frames = number(&before["progress"]["frames"]);
    until(&session, "paused", "it goes on", |progress| {
        progress["is_paused"] == false && has_frames(frames + 5)(progress)
    });
    run(&mut session.ctl(["stop", "paused"])).ok();
    let said = paused.finish(LIMIT).ok().stderr;
    assert!(said.contains(" lost (") && said.contains("), all while it was paused"), "{said}");
    trace.verify();
    let info = trace.info();
    assert!(number(&info["lost"]["commands"]) > 100, "{info:#}");
    // Five before the pause and five behind it.
    assert!(verified_frames(&session, &trace) >= 10, "{info:#}");
}

#[test]
fn capture_ends_with_its_bytes() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _program = run_idle(&session, &calling());
    let (limited, trace) = start(&session, "limited", &["--bytes", "2M"]);
    limited.finish(LIMIT).ok();
    trace.is_whole("stop");
    let bytes = std::fs::metadata(&trace.path).expect("it was written").len();
    assert!((2 << 20..8 << 20).contains(&bytes), "{bytes} bytes");
}
