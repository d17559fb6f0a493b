//! Captures that wait for an event: no command before the event is recorded, and the following ones replay exactly.

use std::process::Command;

use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use gapii_tests::restarts::counted_forever;
use gapii_tests::sharing::{number, start, until};
use gapii_tests::wait;
use rustix::process::Signal;

/// Draws frames, and obeys orders.
fn told() -> Command {
    offscreen(&program("told"), [""; 0])
}

/// Checks that the capture `name` waits while the program makes frames.
fn waits_for_frames(session: &Session, name: &str) {
    const MANY: u64 = 30;
    until(session, name, "it waits", |progress| progress["is_waiting"] == true);
    let frames = || number(&session.apps()[0]["frames"]);
    let first = frames();
    wait::until("frames to pass", LIMIT, || (frames() > first + MANY).then_some(()));
    until(session, name, "it still waits", |progress| progress["is_waiting"] == true);
}

/// Checks that the trace has five frames that replay exactly.
#[track_caller]
fn is_what_followed(session: &Session, trace: &Trace) {
    trace.is_whole("frames");
    let info = trace.info();
    assert_eq!((number(&info["frames"]), &info["snapshot"]), (5, &true.into()), "{info:#}");
    assert_eq!(verified_frames(session, trace), 5);
}

const OPTIONS: [&str; 4] = ["--frames", "5", "--observe-frames", "1"];

#[test]
fn capture_begins_when_what_it_waits_for_has_come() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut program = run_idle(&session, &told());
    for (trigger, letter) in
        [("function=glFl*", "f"), ("gl-error", "e"), ("frame-longer=500ms", "s")]
    {
        let options = [&OPTIONS[..], &["--when", trigger]].concat();
        let (capture, trace) = start(&session, "waiting", &options);
        waits_for_frames(&session, "waiting");
        program.say(letter);
        capture.finish(LIMIT).ok();
        is_what_followed(&session, &trace);
        session.app_in_mode("idle");
    }
    program.finish(LIMIT).ok();
}

#[test]
fn capture_whose_daemon_is_killed_waits_on() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let mut program = run_idle(&session, &told());
    let options = [&OPTIONS[..], &["--when", "function=glFlush"]].concat();
    let (capture, trace) = start(&session, "waiting", &options);
    waits_for_frames(&session, "waiting");
    daemon.kill();
    let _next = session.daemon(&[]);
    capture.wait_for_words("the capture continues in", LIMIT);
    waits_for_frames(&session, "waiting");
    program.say("f");
    capture.finish(LIMIT).ok();
    is_what_followed(&session, &trace);
    program.finish(LIMIT).ok();
}

#[test]
fn captures_of_one_program_wait_each_for_its_own() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut program = run_idle(&session, &told());
    let (all, all_trace) = start(&session, "all", &["--observe-frames", "1"]);
    until(&session, "all", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let error = [&OPTIONS[..], &["--when", "gl-error"]].concat();
    let (error, error_trace) = start(&session, "error", &error);
    let flush = [&OPTIONS[..], &["--when", "function=glFlush"]].concat();
    let (flush, flush_trace) = start(&session, "flush", &flush);
    waits_for_frames(&session, "error");
    waits_for_frames(&session, "flush");
    program.say("f");
    flush.finish(LIMIT).ok();
    waits_for_frames(&session, "error");
    program.say("e");
    error.finish(LIMIT).ok();
    run(&mut session.ctl(["stop", "all"])).ok();
    all.finish(LIMIT).ok();
    is_what_followed(&session, &flush_trace);
    is_what_followed(&session, &error_trace);
    all_trace.is_whole("stop");
    // Five before the others began, and the frames that the others waited for.
    assert!(verified_frames(&session, &all_trace) > 5 + 3 * 30);
    program.finish(LIMIT).ok();
}

#[test]
fn program_is_recorded_from_a_frame_on_that_it_was_started_for() {
    let session = Session::new();
    let trace = Trace::new(session.path("run.gapii"));
    let options = [&OPTIONS[..], &["--when", "frame=40", "--quit"]].concat();
    let running = Running::start(&mut session.run_command(&options, &trace.path, &told()));
    // Its input is still open; closing the input would end the program.
    assert!(running.ended_within(LIMIT));
    running.finish(LIMIT).ok();
    is_what_followed(&session, &trace);
}

/// Number of the frame with which a trace of `counted_forever` begins: the program numbers its calls, 40 in a frame.
fn first_frame(trace: &Trace) -> u64 {
    let called = trace.commands().into_iter().filter(|command| !command.setup);
    let mut numbered = called.filter(|command| command.name == "glStencilFunc");
    let number = numbered.next().expect("a numbered call").integer("ref") as u64;
    assert!(number.is_multiple_of(40), "the trace begins within a frame, at call {number}");
    number / 40
}

#[test]
fn recording_begins_behind_the_frame_that_it_waits_for_however_fast_frames_are() {
    let session = Session::new();
    let trace = Trace::new(session.path("run.gapii"));
    let options = ["--when", "frame=200", "--frames", "5", "--quit"];
    run(&mut session.run_command(&options, &trace.path, &counted_forever(1, 0))).ok();
    trace.is_whole("frames");
    assert_eq!(first_frame(&trace), 200);
}

#[test]
fn captures_of_one_program_wait_each_for_its_frame() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &counted_forever(1, 1000));
    let frames = || number(&session.apps()[0]["frames"]);
    let now = frames();
    let of_frame = |name: &str, frame: u64| {
        let trigger = format!("frame={frame}");
        let started = start(&session, name, &["--frames", "5", "--when", &trigger]);
        until(&session, name, "it waits", |progress| progress["is_waiting"] == true);
        started
    };
    let [early, late, paused] = [now + 2500, now + 3000, now + 3500];
    let late_one = of_frame("late", late);
    let early_one = of_frame("early", early);
    let paused_one = of_frame("paused", paused);
    run(&mut session.ctl(["pause", "paused"])).ok();
    let skipping = start(&session, "skipping", &["--frames", "5", "--skip-frames", "3000"]);
    until(&session, "skipping", "it is there", |_| true);
    // Its keyframe comes before those of the others, and begins none of them.
    let (at_once, trace) = start(&session, "now", &["--frames", "5"]);
    at_once.finish(LIMIT).ok();
    assert!(first_frame(&trace) < early, "the machine is too slow for this test");
    for ((capture, trace), frame) in [(early_one, early), (late_one, late)] {
        capture.finish(LIMIT).ok();
        trace.is_whole("frames");
        assert_eq!(first_frame(&trace), frame);
    }
    let (skipping, trace) = skipping;
    skipping.finish(LIMIT).ok();
    assert!(first_frame(&trace) >= now + 3000);
    wait::until("the frame of the paused capture", LIMIT, || {
        (frames() > paused + 50).then_some(())
    });
    // Nor does the keyframe of another capture begin it.
    start(&session, "other", &["--frames", "5"]).0.finish(LIMIT).ok();
    until(&session, "paused", "it waits", |progress| progress["frames"] == 0);
    let resumed = frames();
    run(&mut session.ctl(["resume", "paused"])).ok();
    let (capture, trace) = paused_one;
    capture.finish(LIMIT).ok();
    assert!(first_frame(&trace) >= resumed);
    program.signal(Signal::TERM);
    program.finish(LIMIT).ok();
}

#[test]
fn what_never_comes_is_said() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let said = "nothing was recorded: gl-error did not happen";
    let (capture, trace) = start(&session, "stopped", &["--when", "gl-error"]);
    waits_for_frames(&session, "stopped");
    capture.signal(Signal::INT);
    let stopped = capture.finish(LIMIT).exited_with(1);
    assert!(stopped.stderr.contains(said), "{stopped}");
    trace.is_whole("stop");
    assert_eq!(number(&trace.info()["commands"]), 0);
    session.app_in_mode("idle");

    let (capture, trace) = start(&session, "left", &["--when", "gl-error"]);
    waits_for_frames(&session, "left");
    program.finish(LIMIT).ok();
    let left = capture.finish(LIMIT).exited_with(1);
    assert!(left.stderr.contains(said), "{left}");
    trace.is_whole("exit");
}

/// The program ends with the event, so that the capture can't begin behind it.
#[test]
fn event_that_no_frame_follows_is_said_to_have_happened() {
    let session = Session::new();
    let trace = Trace::new(session.path("run.gapii"));
    let options = ["--when", "function=eglTerminate"];
    let program = offscreen(&program("short_threads"), ["1"]);
    let ended = run(&mut session.run_command(&options, &trace.path, &program)).exited_with(125);
    let said = "nothing was recorded: function=eglTerminate happened, and the program ended before a recording could begin behind it";
    assert!(ended.stderr.contains(said), "{ended}");
    trace.is_whole("exit");
}
