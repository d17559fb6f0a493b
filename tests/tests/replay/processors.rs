//! Traces that were recorded on another processor. `cargo xtask test --target aarch64` runs these tests: it records on this
//! processor and on arm64, and plays each trace on the other one.

use std::path::PathBuf;

use gapii_tests::gapii::{Session, Trace};
use gapii_tests::programs::program;
use gapii_tests::replays::{record_app, verified};

/// Programs of `tests/apps/`: vertices in memory, mapped memory, and two contexts in two threads.
const APPS: &[&str] = &["client_arrays", "mapped_buffers", "shared_contexts"];

/// The folder with the traces of one processor, and a program for it.
fn exchanged() -> PathBuf {
    std::env::var_os("GAPII_TEST_EXCHANGED").map(PathBuf::from).expect("the command names it")
}

#[test]
#[ignore = "`cargo xtask test --target aarch64` names a folder for the traces"]
fn traces_are_recorded_for_another_processor() {
    let session = Session::new();
    let folder = exchanged();
    std::fs::create_dir_all(&folder).expect("the folder is writable");
    for name in APPS {
        let recorded = record_app(&session, name, &["--observe-frames", "1"])
            .unwrap_or_else(|why| panic!("{name}: {why}"));
        recorded.trace.is_whole("exit");
        std::fs::copy(&recorded.trace.path, folder.join(name)).expect("a copy");
    }
    std::fs::copy(program("waits"), folder.join("program")).expect("a copy");
}

#[test]
#[ignore = "`cargo xtask test --target aarch64` names the folder with the traces"]
fn traces_of_another_processor_are_played_exactly() {
    let session = Session::new();
    for name in APPS {
        let trace = Trace::new(exchanged().join(name));
        trace.verify();
        let report = verified(&session, &trace, &[]).unwrap_or_else(|why| panic!("{name}: {why}"));
        assert_eq!(report["skipped"], 0, "{name}: {report:#}");
        assert!(report["verified"]["frames"].as_u64() > Some(0), "{name}: {report:#}");
    }
}
