//! `stats` and `diff` of recordings of real programs.

use gapii_tests::gapii::{Recording, Session};
use gapii_tests::loading::offscreen;
use gapii_tests::process::Finished;
use gapii_tests::{process, programs};
use serde_json::Value;

fn record(app: &str) -> (Session, Recording) {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&programs::app(app), [""; 0]));
    recording.run.clone().ok();
    (session, recording)
}

fn json(answer: &Finished) -> Value {
    serde_json::from_str(&answer.stdout).unwrap_or_else(|error| panic!("{error}: {answer}"))
}

#[test]
fn statistics_add_up() {
    let (_session, recording) = record("client_arrays");
    let stats = recording.trace.ask("stats", &["--json"]).ok();
    let stats = json(&stats);
    let sum = |of: &str, what: &str| -> u64 {
        let entries = stats[of].as_array().expect(of);
        entries.iter().map(|entry| entry[what].as_u64().expect(what)).sum()
    };
    let dumped = recording.trace.commands().len() as u64;
    assert!(dumped > 100, "{dumped} commands");
    assert_eq!(stats["commands"], dumped);
    for of in ["functions", "frames", "threads"] {
        assert_eq!(sum(of, "commands"), dumped, "{of}");
    }
    assert_eq!(stats["draws"], sum("frames", "draws"));
    assert!(stats["draws"].as_u64() > Some(0), "{stats}");
    assert!(stats["client_bytes"].as_u64() > Some(0), "{stats}");
}

#[test]
fn two_runs_of_a_program_are_the_same_and_two_programs_are_not() {
    let (_a, first) = record("client_arrays");
    let (session, second) = record("client_arrays");
    let (_c, other) = record("primitive_restart");
    let compare = |b: &Recording| {
        process::run(session.ctl(["diff", "--json"]).args([&first.trace.path, &b.trace.path]))
    };
    let same = compare(&second).ok();
    assert!(json(&same)["first"].is_null(), "{same}");
    let different = compare(&other);
    assert_eq!(different.status.code(), Some(1), "{different}");
    assert!(json(&different)["first"]["a"].is_u64(), "{different}");
    let frames = json(&different)["frames"].as_array().map_or(0, Vec::len);
    assert!(frames > 0, "{different}");
}
