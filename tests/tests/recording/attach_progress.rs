//! Progress messages of an attach while the snapshot is written, which lasts as long as the trace is not read.

use std::fs::File;
use std::process::Command;
use std::time::Duration;

use gapii_tests::artifacts::artifact;
use gapii_tests::attaching::{UnreadPipe, run_idle};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::wait;
use rustix::process::Signal;
use serde_json::Value;

/// `gapii-ctl start` on a terminal, for one frame into `trace`.
fn start(session: &Session, trace: &str) -> Running {
    let ctl = artifact("gapii-ctl");
    let words = format!(
        "{} start --frames 1 --if-slow wait --stall-ms {} -o {trace}",
        ctl.display(),
        LIMIT.as_millis()
    );
    let mut command = Command::new("script");
    session.adopt(command.args(["-qec", &words, "/dev/null"]).env("TERM", "xterm"));
    Running::start(&mut command)
}

/// Waits until the snapshot of the only capture has `least_bytes`.
fn described(session: &Session, least_bytes: u64) {
    wait::until("a program that is described", LIMIT, || {
        let status = run(&mut session.ctl(["status", "--json"])).ok();
        let status: Value = serde_json::from_str(&status.stdout).ok()?;
        let progress = status["captures"].get(0)?["progress"].clone();
        let bytes = progress["blob_bytes"].as_u64()?;
        (progress["describing"] == true && bytes >= least_bytes).then_some(())
    });
}

#[test]
fn client_says_how_much_of_the_program_was_copied() {
    const LEAST_BYTES: u64 = 1 << 20;
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = offscreen(&program("holds_images"), ["rgba8", "64"]);
    let running = run_idle(&session, &program);
    wait::until("frames", LIMIT, || session.apps()[0]["frames"].as_u64().filter(|&n| n > 0));
    let pipe = UnreadPipe::new(session.path("pipe"));
    let client = start(&session, pipe.path.to_str().expect("a plain name"));

    described(&session, LEAST_BYTES);
    client.wait_for_words("copying the program's state: ", LIMIT);
    let status = run(&mut session.ctl(["status"])).ok();
    assert!(status.stdout.contains(" of the program's state, "), "{status}");

    let trace = Trace::new(session.path("attached.gapii"));
    pipe.read_into(&mut File::create(&trace.path).expect("a file"));
    let finished = client.finish(Duration::from_secs(20)).ok();
    assert!(finished.stdout.contains("gapii-ctl: 1 frame, "), "{finished}");
    trace.is_whole("frames");
    running.signal(Signal::TERM);
    running.finish(LIMIT).ok();
}
