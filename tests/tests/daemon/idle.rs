//! A connected program that does nothing costs the daemon next to nothing.

use std::time::Duration;

use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::LIMIT;
use gapii_tests::programs::program;

/// 0.1 s of CPU a minute.
const ALLOWED: f64 = 0.1 / 60.0;

#[test]
fn daemon_of_an_idle_program_sleeps() {
    const WATCHED: Duration = Duration::from_secs(10);
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let idle = run_idle(&session, &offscreen(&program("idle"), [""; 0]));
    idle.wait_for_words("idle", LIMIT);
    let before = daemon.cpu_time();
    assert!(!idle.ended_within(WATCHED), "the program was to wait for its input");
    let used = daemon.cpu_time() - before;
    idle.finish(LIMIT).ok();
    assert!(used.as_secs_f64() < ALLOWED * WATCHED.as_secs_f64(), "{used:?} in {WATCHED:?}");
}
