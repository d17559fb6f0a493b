//! Programs that make no EGL command after their start: captures begin and end at any command.

use std::time::{Duration, Instant};

use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{self, LIMIT};
use gapii_tests::programs::program;
use gapii_tests::{headless, replays};
use rustix::process::Signal;

/// The longest time that a command may take, besides a snapshot. The shim waits 20 ms at most; a busy machine adds to it,
/// and a program that is kept waits for 2 s.
const LONGEST_WAIT: Duration = Duration::from_millis(200);

/// Captures the running program for `seconds`.
fn capture_for(session: &Session, name: &str, seconds: f64) -> Trace {
    let trace = Trace::new(session.path(name));
    let mut start = session.ctl(["start", "--seconds", &seconds.to_string(), "--force", "-o"]);
    process::run(start.arg(&trace.path)).ok();
    trace.is_whole("stop");
    trace
}

#[test]
fn program_without_egl_commands_is_attached_to_ten_times_and_does_not_wait() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &headless::on_fake_driver(None));
    let mut held = Duration::ZERO;
    for number in 0..10 {
        let began = Instant::now();
        let trace = capture_for(&session, "headless.gapii", 0.2);
        // The commands of 0.2 s: a round of 256 takes about a millisecond.
        let commands = trace.commands().len();
        assert!(commands > 2_000, "capture {number}: {commands} commands");
        let held_us = trace.info()["held_us"].as_u64().expect("a number");
        held = held.max(Duration::from_micros(held_us));
        session.app_in_mode("idle");
        println!("capture {number}: {commands} commands, {:?}", began.elapsed());
    }
    let times = headless::end(running);
    println!("{times:?}, {held:?} of them for a snapshot");
    assert!(times.longest <= LONGEST_WAIT + held, "{times:?}");
}

#[test]
fn drawing_without_egl_commands_is_replayed_exactly_after_each_attach() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &offscreen(&program("headless"), ["2000", "check"]));
    let traces: Vec<Trace> = (0..3)
        .map(|number| {
            let trace = capture_for(&session, &format!("headless-{number}.gapii"), 0.2);
            session.app_in_mode("idle");
            trace
        })
        .collect();
    running.signal(Signal::TERM);
    running.finish(LIMIT).ok();
    for trace in &traces {
        assert!(trace.commands().iter().any(|command| command.name == "glReadPixels"));
        replays::verified(&session, trace, &[]).unwrap_or_else(|why| panic!("{why}"));
    }
}

/// The program makes no command at all meanwhile, so the capture has nothing.
#[test]
fn capture_without_a_command_says_so_and_fails() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let running = run_idle(&session, &headless::on_fake_driver(None));
    let pid = session.app_in_mode("idle")["pid"].as_u64().expect("a number") as u32;
    process::send_signal(pid, Signal::STOP);
    let mut start = session.ctl(["start", "--seconds", "0.2", "-o"]);
    let ended = process::run(start.arg(session.path("empty.gapii")));
    process::send_signal(pid, Signal::CONT);
    let ended = ended.exited_with(1);
    assert!(ended.stderr.contains("nothing was recorded: the program made no command"), "{ended}");
    headless::end(running);
}
