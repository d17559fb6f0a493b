//! Instructions of recording and of decoding, compared with those of `data/instructions.json`: a change of more than 3 %
//! fails. With other compilers, another C library or another valgrind the test only reports. It counts in the product
//! as it ships, so in `cargo xtask test --release`; in the profile of the tests it says that it counts nothing. Without
//! counts of before, as for arm64, it prints those that it has found.
//!
//! A change that is meant writes the file anew: `GAPII_UPDATE_EXPECTED=1 cargo xtask test --release instruction_counts`.

use std::io::Write as _;

use gapii_tests::artifacts;
use gapii_tests::instruction_counts::{Counted, expected, expected_file};
use gapii_tests::process::require;

const UPDATE: &str = "GAPII_UPDATE_EXPECTED=1 cargo xtask test --release instruction_counts";

#[test]
fn calls_and_decoding_take_as_many_instructions_as_before() {
    if !artifacts::are_release() {
        return note(
            "instructions are counted in the product as it ships: cargo xtask test --release",
        );
    }
    require("valgrind");
    let found = Counted::now();
    if std::env::var_os("GAPII_UPDATE_EXPECTED").is_some() {
        let text = serde_json::to_string_pretty(&found).expect("counts are JSON");
        std::fs::write(expected_file(), text + "\n").expect("the folder is writable");
    }
    compare(&found, UPDATE);
}

#[test]
#[ignore = "`cargo xtask test --target aarch64` has it run, with the shim as it ships"]
fn calls_take_as_many_instructions_as_before_on_arm64() {
    let found = Counted::of_calls_under_qemu();
    if !expected_file().exists() {
        let counts = serde_json::to_string(&found).expect("counts are JSON");
        return note(&format!("no counts of before are there to compare with: {counts}"));
    }
    compare(&found, "change tests/data/instructions-arm64.json");
}

/// Fails if counts differ from those of before. `update` says what to do if that is meant.
#[track_caller]
fn compare(found: &Counted, update: &str) {
    let expected = expected();
    let differences = found.differences(&expected);
    let list = differences.join("\n  ");
    if found.build != expected.build {
        let (now, before) = (&found.build, &expected.build);
        note(&format!(
            "instructions are not compared, because the builds differ: {now:?}, before {before:?}"
        ));
        differences.iter().for_each(|difference| note(difference));
        return;
    }
    assert!(differences.is_empty(), "counts differ; if this is meant: {update}\n  {list}");
}

/// Prints a line that `cargo xtask test` shows although the test passes. The test's name may stand on the line before, without
/// its end.
fn note(line: &str) {
    let written = writeln!(std::io::stderr(), "\nnote: {line}");
    written.expect("standard error takes lines");
}
