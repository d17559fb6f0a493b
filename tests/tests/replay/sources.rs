//! Programs whose replay needs more than one record tells: names in refused commands, many threads, indices that only
//! the driver has.

use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::replays::{record_app, replay, verified};
use serde_json::Value;

/// Two commands of the program read more memory than a replay has, and the driver had refused both.
#[test]
fn commands_that_the_driver_refused_are_no_failure_of_a_replay() {
    let session = Session::new();
    let recorded = record_app(&session, "bad_names", &[]).unwrap();
    let played = run(replay(&session, &recorded.trace.path, &["--json"]).env("LC_ALL", "C"));
    let played = played.ok();
    let report: Value = serde_json::from_str(&played.stdout).expect("a report");
    assert_eq!(report["skipped"], 0, "{report:#}");
    assert!(report["refused"].as_u64() >= Some(2), "{report:#}");
}

/// The threads live one after the other, so that a replay has two of them at a time: the first one never ends.
#[test]
fn short_lived_threads_are_all_played_and_end_with_their_last_command() {
    const THREADS: u64 = 400;
    let session = Session::new();
    let threads = THREADS.to_string();
    let recording = session
        .record(&["--observe-frames", "1"], &offscreen(&program("short_threads"), [&threads]));
    recording.run.clone().ok();
    let report = verified(&session, &recording.trace, &[]).unwrap();
    assert_eq!(report["threads"], THREADS + 1, "{report:#}");
    assert_eq!(report["threads_at_once"], 2, "{report:#}");
    assert_eq!(report["skipped"], 0, "{report:#}");
    assert_eq!(report["verified"]["frames"], 1, "{report:#}");
}

#[test]
fn draws_whose_indices_only_the_driver_has_are_listed() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("unread_indices"), [""; 0]));
    let summary = recording.run.clone().ok().stderr;
    assert!(summary.contains("; 2 draws without vertices"), "{summary}");
    let info = recording.trace.ask("info", &[]).ok().stdout;
    assert!(info.contains("incomplete 2 draws without vertices"), "{info}");
    let found = recording.trace.ask("verify", &[]).exited_with(1);
    assert!(found.stdout.contains("2 draws lack their vertices"), "{found}");
    let commands = recording.trace.commands();
    let lacking = commands.iter().filter(|command| command.name == "glDrawElements");
    assert_eq!(lacking.count(), 2);
}
