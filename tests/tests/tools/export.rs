//! Recordings exported to apitrace's format, as apitrace's own tools see them.

use gapii_tests::display::Display;
use gapii_tests::gapii::Session;
use gapii_tests::importing::import;
use gapii_tests::loading::offscreen;
use gapii_tests::programs::program;
use gapii_tests::replays::verified;
use gapii_tests::{apitrace, dumps, process};

/// Compares the dump of `name`'s exported recording with that of apitrace's own recording.
fn check(name: &str) {
    let session = Session::new();
    let program = offscreen(&program(name), [""; 0]);
    let recording = session.record(&[], &program);
    recording.trace.is_whole("exit");
    let exported = session.path("exported.trace");
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    process::run(export.arg(&exported).arg(&recording.trace.path)).ok();

    let own = session.path("apitrace.trace");
    apitrace::record(&program, &own).ok();
    let (ours, theirs) = (dumps::calls(&exported), dumps::calls(&own));
    assert!(theirs.len() > 100, "apitrace recorded {} calls", theirs.len());
    let found = dumps::differences(&ours, &theirs);
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn es2_program_is_dumped_as_apitrace_s_own_recording_of_it() {
    check("compare_es2");
}

#[test]
fn es3_program_is_dumped_as_apitrace_s_own_recording_of_it() {
    check("compare_es3");
}

#[test]
fn es1_program_of_three_threads_is_dumped_as_apitrace_s_own_recording_of_it() {
    check("compare_threads");
}

#[test]
fn program_of_glx_is_played_by_glretrace_and_imported_again() {
    let display = Display::start();
    let session = Session::new();
    let mut program =
        offscreen(&program("load_glx_library"), ["libGL.so.1", "libGL.so.1", "dlsym"]);
    display.use_in(&mut program);
    let recording = session.record(&[], &program);
    let exported = session.path("exported.trace");
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    process::run(export.arg(&exported).arg(&recording.trace.path)).ok();

    let file = exported.to_str().expect("a path that is text");
    let played = process::run(&mut display.command(&["glretrace", "-b", file])).ok();
    assert!(played.stdout.contains("Rendered 5 frames"), "{played}");
    let (imported, _) = import(&session, &exported, "imported");
    assert_eq!(imported.info()["frames"], 5);
    verified(&session, &imported, &["--strict"]).unwrap_or_else(|why| panic!("{why}"));
}
