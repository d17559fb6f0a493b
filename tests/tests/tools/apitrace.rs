//! A program recorded by gapii and by Debian's apitrace: the recordings do not differ.
//!
//! apitrace's own calls (`// fake`) are left out by the reader. Both runs have their addresses
//! randomized or not, as the kernel decides: handles are compared one to one, see `compare`.

use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::programs::program;
use gapii_tests::{apitrace, compare, process};

/// Differences that apitrace causes: the program, the beginning of the sentence, and the reason.
const EXPLAINED: &[(&str, &str, &str)] = &[];

fn check(name: &str) {
    let session = Session::new();
    let process = offscreen(&program(name), [""; 0]);
    let native = process::run(&mut offscreen(&program(name), [""; 0])).ok();
    let recording = session.record(&[], &process);
    assert_eq!(recording.run.clone().ok().stdout, native.stdout);
    recording.trace.is_whole("exit");

    let trace = session.path("apitrace.trace");
    assert_eq!(apitrace::record(&process, &trace).ok().stdout, native.stdout);
    let commands = recording.trace.commands();
    let calls = apitrace::calls(&trace);
    assert!(calls.len() > 100, "apitrace recorded {} calls", calls.len());
    let unexplained: Vec<_> = compare::differences(&commands, &calls)
        .into_iter()
        .filter(|found| {
            !EXPLAINED.iter().any(|(of, begins, _)| *of == name && found.starts_with(begins))
        })
        .collect();
    assert!(
        unexplained.is_empty(),
        "{} differences:\n{}",
        unexplained.len(),
        unexplained.join("\n")
    );
}

#[test]
fn es2_program_is_recorded_as_apitrace_records_it() {
    check("compare_es2");
}

#[test]
fn es3_program_is_recorded_as_apitrace_records_it() {
    check("compare_es3");
}

#[test]
fn es1_program_of_three_threads_is_recorded_as_apitrace_records_it() {
    check("compare_threads");
}
