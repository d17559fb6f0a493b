//! Traces that earlier builds recorded: this build reads, verifies, plays and exports them as those did.
//!
//! `data/traces/` holds one small trace of each kind, and `expected.json` holds the answers of the build that
//! recorded them. A change that is meant to alter an answer writes the file anew: `GAPII_UPDATE_EXPECTED=1 cargo
//! test --release -p gapii-tests older_traces`.

use std::path::{Path, PathBuf};

use gapii_tests::artifacts::artifact;
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::level_zero::DRIVER;
use gapii_tests::process::{Finished, run};
use serde_json::{Map, Value, json};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("data/traces")
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).expect("the traces are there").flatten();
    let traces = entries
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "gapii"));
    let stems = traces.filter_map(|path| Some(path.file_stem()?.to_str()?.to_owned()));
    let mut names: Vec<_> = stems.collect();
    names.sort_unstable();
    names
}

/// The first 16 hexadecimal digits of the BLAKE3 hash.
fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..16].to_owned()
}

/// Exit status and hash of what a command printed on standard output.
fn answer(finished: &Finished) -> Value {
    json!({ "status": finished.shell_status(), "stdout": digest(finished.stdout.as_bytes()) })
}

/// Counts of a replay that compares every recorded answer and frame; null if the trace was not played.
fn played(session: &Session, trace: &Path) -> Value {
    let mut replay = session.ctl(["replay", "--verify", "--json"]);
    surfaceless(&mut replay);
    let finished = run(replay.arg(trace).env("ZE_ENABLE_ALT_DRIVERS", artifact(DRIVER)));
    let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let verified = &report["verified"];
    json!({
        "status": finished.shell_status(),
        "played": report["played"],
        "skipped": report["skipped"],
        "frames": verified["frames"],
        "compared": verified["compared"],
        "different": verified["different"],
    })
}

/// Exit status of an export for apitrace, and the hash of the file that it wrote.
fn exported(session: &Session, name: &str, trace: &Path) -> Value {
    let file = session.path(&format!("{name}.trace"));
    let finished = run(session.ctl(["export", "--format", "apitrace", "-o"]).arg(&file).arg(trace));
    let status = finished.shell_status();
    // A cut trace is exported up to the cut; a filtered one not at all.
    let file = std::fs::read(&file).ok().map(|bytes| digest(&bytes));
    json!({ "status": status, "file": file })
}

fn answers(session: &Session, name: &str) -> Value {
    let trace = Trace::new(folder().join(format!("{name}.gapii")));
    let info = trace.info();
    json!({
        "frames": info["frames"],
        "calls": info["commands"],
        "records": info["records"],
        "end": info["end_of_stream"]["reason"],
        "verify": trace.ask("verify", &[]).shell_status(),
        "dump": answer(&trace.ask("dump", &[])),
        "dump_json": answer(&trace.ask("dump", &["--json"])),
        "replay": played(session, &trace.path),
        "export": exported(session, name, &trace.path),
    })
}

#[test]
fn traces_of_earlier_builds_are_read_played_and_exported_as_before() {
    let session = Session::new();
    let names = names();
    assert!(names.len() >= 10, "{names:?}");
    let found = names.into_iter().map(|name| {
        let answers = answers(&session, &name);
        (name, answers)
    });
    let found: Map<String, Value> = found.collect();
    let file = folder().join("expected.json");
    if std::env::var_os("GAPII_UPDATE_EXPECTED").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("answers are JSON");
        std::fs::write(&file, text + "\n").expect("the folder is writable");
    }
    let expected = std::fs::read_to_string(&file).expect("the expected answers are there");
    let expected: Map<String, Value> = serde_json::from_str(&expected).expect("they are JSON");
    for (name, answers) in &found {
        assert_eq!(Some(answers), expected.get(name), "{name}");
    }
    assert_eq!(found.len(), expected.len(), "a trace is missing");
}
