//! Exports of `libgapii.so`: the names of the libraries that it stands in for, and the functions for tools. Programs probe
//! with `dlsym`, so no other name may be there.

use std::collections::BTreeSet;
use std::process::Command;

use gapii_tests::artifacts::artifact;

/// Exports beside the commands: the loader's functions through which programs open driver libraries and find functions, and
/// those that Level Zero's tracing layer looks up.
const OURS: [&str; 7] = [
    "dlopen",
    "dlsym",
    "gapii_intercept",
    "gapii_note_changed",
    "gapii_note_missing",
    "gapii_set_in_callback",
    "gapii_set_in_setup",
];
/// Functions that `gapii.h` declares.
const TRACERS: [&str; 13] = [
    "gapii_call_is_skipped",
    "gapii_call_name",
    "gapii_call_params",
    "gapii_call_result",
    "gapii_call_skip",
    "gapii_result_text",
    "gapii_tracer_create",
    "gapii_tracer_destroy",
    "gapii_tracer_disable",
    "gapii_tracer_enable",
    "gapii_tracer_register_epilogue",
    "gapii_tracer_register_prologue",
    "gapii_tracer_reset",
];
const LISTS: [&str; 4] = [
    include_str!("../../../apis/exports/libEGL.so.1.txt"),
    include_str!("../../../apis/exports/libGLESv2.so.2.txt"),
    include_str!("../../../apis/exports/libGLESv1_CM.so.1.txt"),
    include_str!("../../../apis/exports/libGL.so.1.txt"),
];

#[test]
fn shim_exports_what_the_real_libraries_export_and_tracers() {
    let commands = LISTS.iter().flat_map(|list| list.lines());
    let listed: BTreeSet<&str> = commands.chain(OURS).chain(TRACERS).collect();
    let output = Command::new("nm")
        .args(["--dynamic", "--defined-only", "--format=just-symbols"])
        .arg(artifact("libgapii.so"))
        .output()
        .expect("nm runs (apt-get install binutils)");
    let symbols = String::from_utf8(output.stdout).expect("symbols are ASCII");
    let exported: BTreeSet<&str> = symbols.lines().collect();
    let differ: Vec<_> = exported.symmetric_difference(&listed).collect();
    assert!(differ.is_empty(), "{differ:?}");
}
