//! The daemon's configuration file, also for users who never start a daemon themselves.

use std::fs;
use std::process::Command as Process;

use gapii_tests::gapii::Session;
use gapii_tests::loading;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use rustix::process::Signal;
use serde_json::Value;

/// Writes the file of the session's user.
fn configure(session: &Session, text: &str) {
    let folder = session.path("config/gapii");
    fs::create_dir_all(&folder).expect("the session's folder is ours");
    fs::write(folder.join("gapiid.toml"), text).expect("and so is the file");
}

/// State and findings of `gapii-ctl doctor` for the configuration.
fn diagnosis(session: &Session) -> (String, String) {
    // Its exit status covers all checks, so it is ignored here.
    let answer = run(&mut session.ctl(["doctor", "--json"])).stdout;
    let report: Value = serde_json::from_str(&answer).expect("doctor --json is JSON");
    let checks = report["checks"].as_array().expect("there are checks");
    let check = checks.iter().find(|check| check["check"] == "configuration");
    let text = |field: &str| check.and_then(|check| check[field].as_str()).unwrap_or_default();
    (text("state").to_owned(), text("found").to_owned())
}

#[test]
fn doctor_says_what_a_daemon_would_run_with() {
    let session = Session::new();
    configure(&session, "level = 7\n");
    let (state, found) = diagnosis(&session);
    assert!(state == "ok" && found.contains("level = 7 ("), "{state}: {found}");
    configure(&session, "level = 7\nring-sise = '4M'\n");
    let (state, found) = diagnosis(&session);
    assert_eq!((&state[..], &found[..]), ("wrong", "there is no option ring-sise"));
}

#[test]
fn bundle_has_the_report_of_the_daemon_and_the_log_of_a_run() {
    let session = Session::new();
    let text = |name: &str| {
        let path = session.path("report.tar.zst");
        run(session.ctl(["doctor", "--force", "--bundle"]).arg(&path));
        let mut tar = Process::new("tar");
        let tar = tar.args(["--zstd", "--to-stdout", "-x", name, "-f"]).arg(&path);
        run(tar).ok().stdout
    };
    let waits = program("waits");
    let mut idle = session.ctl(["run", "--idle", "--"]);
    let idle = Running::start(idle.arg(&waits).env("GAPIID_LOG", "info"));
    idle.wait_for_words("waits\n", LIMIT);
    let log = text("gapii-report/daemon-log.txt");
    assert!(log.contains("/gapii-run-") && log.contains("gapiid.log\n"), "{log}");
    assert!(log.contains("INFO session (left out) listens\n"), "{log}");
    idle.signal(Signal::TERM);
    idle.finish(LIMIT);
    let daemon = session.daemon(&[]);
    let status: Value = serde_json::from_str(&text("gapii-report/status.json")).expect("JSON");
    assert_eq!(status["pid"], daemon.pid(), "{status}");
}

#[test]
fn run_uses_the_configuration_and_says_what_is_wrong_with_it() {
    let session = Session::new();
    let process = loading::offscreen(&program("load_linked"), [""; 0]);
    configure(&session, "ring-size = '64K'\nmetrics = 9819\n");
    let recording = session.record(&["--frames", "2"], &process);
    recording.run.ok();
    recording.trace.is_whole("frames");

    configure(&session, "max-apps = 0\n");
    let trace = session.path("none.gapii");
    let finished = run(&mut session.run_command(&[], &trace, &process)).exited_with(125);
    for words in ["does not begin", "gapiid.toml:1:12", "0 is not in 1..=4096"] {
        assert!(finished.stderr.contains(words), "{words:?} is not in {finished}");
    }
}
