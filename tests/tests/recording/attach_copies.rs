//! Contents that an attach copies while the program is held, and that the shim sends while the program runs on.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use gapii_tests::attaching::{UnreadPipe, run_idle};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, LIMIT, Running, ended_within, run, send_signal};
use gapii_tests::programs::program;
use gapii_tests::wait;
use rustix::process::Signal;
use serde_json::Value;

/// Contents of the program: more than rings and the daemon's memory take while nobody reads the trace.
const MIB: &str = "64";

/// A program with 64 MiB of textures, and its pid.
fn holder(session: &Session) -> (Running, u32) {
    let running = run_idle(session, &offscreen(&program("holds_images"), ["rgba8", MIB]));
    wait::until("frames", LIMIT, || session.apps()[0]["frames"].as_u64().filter(|&n| n > 0));
    let pid = session.apps()[0]["pid"].as_u64().expect("a pid");
    (running, pid as u32)
}

fn start(session: &Session, options: &[&str], trace: &Path) -> Finished {
    let mut start = session.ctl(["start", "--frames", "1", "--force"]);
    run(start.args(options).arg("-o").arg(trace)).ok()
}

/// Whether the trace has a thread that sends copies, besides the program's only one.
fn has_sender(trace: &Trace) -> bool {
    trace.info()["threads"] == 2
}

/// A capture of one frame into a pipe that nobody reads, once it has 1 MiB of the contents.
fn unread(session: &Session) -> (UnreadPipe, Running) {
    let pipe = UnreadPipe::new(session.path("pipe"));
    let options = ["start", "--frames", "1", "--if-slow", "wait", "--stall-ms", "60000", "-o"];
    let client = Running::start(session.ctl(options).arg(&pipe.path));
    wait::until("contents in the trace", LIMIT, || {
        let status = run(&mut session.ctl(["status", "--json"])).ok();
        let status: Value = serde_json::from_str(&status.stdout).ok()?;
        let progress = &status["captures"].get(0)?["progress"];
        let bytes = progress["blob_bytes"].as_u64()?;
        (progress["describing"] == true && bytes >= 1 << 20).then_some(())
    });
    (pipe, client)
}

/// Reads the pipe to its end.
fn read(session: &Session, pipe: UnreadPipe) -> Trace {
    let trace = Trace::new(session.path("attached.gapii"));
    pipe.read_into(&mut File::create(&trace.path).expect("a file"));
    trace
}

#[test]
fn copies_are_sent_by_a_thread_of_their_own_as_far_as_they_have_room() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (_running, _) = holder(&session);
    let trace = Trace::new(session.path("attached.gapii"));
    let check = |memory: &str, is_sent_later: bool, all_fit: bool| {
        let ended = start(&session, &["--attach-memory", memory], &trace.path);
        trace.is_whole("frames");
        assert_eq!(has_sender(&trace), is_sent_later, "{memory}: {ended}");
        assert_eq!(!ended.stderr.contains("also to send"), all_fit, "{memory}: {ended}");
        session.app_in_mode("idle");
    };
    check("512M", true, true);
    check("8M", true, false);
    check("0", false, true);
}

#[test]
fn program_that_exits_sends_its_copies_first() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (running, pid) = holder(&session);
    let (pipe, client) = unread(&session);
    running.signal(Signal::TERM);
    assert!(!ended_within(pid, Duration::from_millis(500)), "it has not waited");
    let trace = read(&session, pipe);
    client.finish(LIMIT).ok();
    running.finish(LIMIT).ok();
    trace.is_whole("frames");
}

#[test]
fn trace_of_a_program_that_was_killed_says_which_contents_it_lacks() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let (running, pid) = holder(&session);
    let (pipe, client) = unread(&session);
    send_signal(pid, Signal::KILL);
    running.finish(LIMIT);
    let trace = read(&session, pipe);
    client.finish(LIMIT);
    let missing = trace.info()["missing"].to_string();
    assert!(missing.contains("levels or buffers: they were not sent"), "{missing}");
    let verified = trace.ask("verify", &[]).exited_with(1);
    assert!(verified.stdout.contains("have no blob"), "{verified}");
}
