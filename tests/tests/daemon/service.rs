//! The daemon as a service: many programs and clients at once, and changes of the system's clock.

use std::process::Command;
use std::time::Duration;

use gapii_tests::attaching::run_idle;
use gapii_tests::crowd::capture_crowd;
use gapii_tests::fake_driver;
use gapii_tests::gapii::Session;
use gapii_tests::process::LIMIT;
use gapii_tests::programs::{clock_set_back, program};
use gapii_tests::sharing::{number, start, until};

#[test]
fn sixteen_programs_and_eight_clients_get_what_is_theirs() {
    println!("{}", capture_crowd(1, Duration::from_secs(1)));
}

#[test]
fn calendar_that_is_set_back_is_said_and_changes_nothing() {
    let session = Session::new();
    let set_back = session.path("set-back");
    let clock = clock_set_back();
    let _daemon =
        session.daemon_with(&[], &[("LD_PRELOAD", &clock), ("CLOCK_SET_BACK", &set_back)]);
    let mut calling = Command::new(program("draw_forever"));
    calling.arg("2");
    fake_driver::use_in(&mut calling, None);
    let _program = run_idle(&session, &calling);
    let (running, trace) = start(&session, "clock", &["--seconds", "1"]);
    until(&session, "clock", "it has frames", |progress| number(&progress["frames"]) > 0);
    std::fs::write(&set_back, "").expect("the session's folder is writable");
    running.finish(LIMIT).ok();
    trace.is_whole("stop");
    let info = trace.info();
    assert!(number(&info["frames"]) > 0, "{info:#}");
    let hour = 3_600_000_000_000;
    assert!(number(&info["set_back_ns"]).abs_diff(hour) < 1_000_000_000, "{info:#}");
    let said = trace.ask("info", &[]).ok();
    assert!(said.stdout.contains("clock      was set back by 3600.0s"), "{said}");
}
