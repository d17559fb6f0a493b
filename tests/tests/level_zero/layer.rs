//! The tracing layer of Level Zero as a library: its name and exports, and its writes to the tables that a
//! loader gives it.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use gapii_tests::artifacts::artifact;
use gapii_tests::level_zero::{DRIVER, layer_tables};
use gapii_tests::process::run;
use gapii_tests::programs::level_zero;
use gapii_tests::set_uid::SetUid;
use serde_json::Value;

const DEBIANS: &str = "/usr/lib/x86_64-linux-gnu/libze_tracing_layer.so.1";
const FUNCTIONS: &str = include_str!("../../../apis/level_zero/functions.json");
const TABLES: &str = include_str!("../../../apis/level_zero/tables.json");
/// Names that belong to no function and no table of the API.
const OTHERS: [&str; 3] =
    ["zelGetTracerApiProcAddrTable", "zelLoaderGetVersion", "zelTracerResetAllCallbacks"];

const LAYER: &str = "libze_tracing_layer.so";
/// Functions that are written to tables of a version. Releases with 1.9 to 1.11 had other orders of
/// `CommandListExp`, which stays unchanged.
const WRITTEN: &[&str] = &[
    "1.0: 26 of CommandList, 0 of CommandListExp, 0 of KernelExp",
    "1.4: 28 of CommandList, 0 of CommandListExp, 2 of KernelExp",
    "1.9: 34 of CommandList, 0 of CommandListExp, 2 of KernelExp",
    "1.11: 34 of CommandList, 0 of CommandListExp, 2 of KernelExp",
    "1.12: 36 of CommandList, 8 of CommandListExp, 3 of KernelExp",
    "1.17: 52 of CommandList, 9 of CommandListExp, 4 of KernelExp",
    "of the future: 52 of CommandList",
];

#[track_caller]
fn check(case: &str, expected: &[&str]) {
    check_of(LAYER, case, expected);
}

#[track_caller]
fn check_of(library: &str, case: &str, expected: &[&str]) {
    let said = layer_tables(case, library).stdout;
    assert_eq!(said.lines().collect::<Vec<_>>(), expected, "{library} {case}");
}

fn exports(library: &Path) -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(["--dynamic", "--defined-only", "--format=just-symbols"]).arg(library);
    run(&mut nm).ok().stdout.lines().map(str::to_owned).collect()
}

/// The values of `key` in the list `list` of a description.
fn listed(description: &str, list: &str, key: &str) -> Vec<String> {
    let description: Value = serde_json::from_str(description).expect("it is JSON");
    let items = description[list].as_array().expect("a list").iter();
    items.map(|item| item[key].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn layer_exports_registration_tables_and_nothing_else() {
    let mut expected: BTreeSet<String> = OTHERS.map(str::to_owned).into();
    expected.extend(listed(FUNCTIONS, "functions", "register"));
    expected.extend(listed(TABLES, "tables", "get"));
    assert_eq!(exports(&artifact(LAYER)), expected);
    assert_eq!(expected.len(), 288);
}

#[test]
fn layer_exports_what_debians_exports() {
    let ours = exports(&artifact(LAYER));
    let theirs = exports(Path::new(DEBIANS));
    let missing: Vec<_> =
        theirs.iter().filter(|name| !name.starts_with("_Z") && !ours.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
    assert!(theirs.contains("zeGetContextProcAddrTable"), "{DEBIANS} is the layer");
}

#[test]
fn layer_has_its_soname_stays_loaded_and_binds_to_itself() {
    let layer = artifact(LAYER);
    let finished = run(Command::new("readelf").arg("--dynamic").arg(layer)).ok();
    for wanted in ["Library soname: [libze_tracing_layer.so.1]", "NODELETE", "SYMBOLIC"] {
        assert!(finished.stdout.contains(wanted), "no {wanted}: {finished}");
    }
}

#[test]
fn closed_layer_goes_on_working() {
    check("closed", &["closed: 7"]);
}

#[test]
fn layer_says_what_it_is() {
    check("own_version", &["tracing layer of 1.17"]);
}

#[test]
fn layer_sleeps_in_a_set_uid_program() {
    let program = SetUid::copy(&level_zero("layer_tables"));
    let said = |mut command: Command| run(command.arg("secure").arg(artifact(LAYER))).ok().stdout;
    assert_eq!(said(program.as_owner()), "create: SUCCESS\n52 of CommandList\n");
    assert_eq!(said(program.as_nobody()), "create: UNSUPPORTED_FEATURE\n0 of CommandList\n");
}

#[test]
fn query_without_a_table_has_an_error_code() {
    check(
        "no_table",
        &[
            "context: INVALID_NULL_POINTER",
            "runtime: INVALID_NULL_POINTER",
            "tracers: INVALID_NULL_POINTER",
            "version: INVALID_NULL_POINTER",
        ],
    );
}

#[test]
fn table_is_written_as_far_as_its_version_goes_and_no_version_is_refused() {
    check("versions", WRITTEN);
    check("tracer_table_versions", &["tracers: SUCCESS"; 3]);
}

/// Loaders with shorter tables crash otherwise.
#[test]
fn null_driver_writes_as_far_as_a_tables_version_goes() {
    check_of(DRIVER, "versions", WRITTEN);
}

#[test]
fn function_that_is_missing_answers_that_it_is() {
    check(
        "missing_functions",
        &[
            "zeContextCreate: UNSUPPORTED_FEATURE",
            "zerGetLastErrorDescription: UNSUPPORTED_FEATURE",
            "zerTranslateDeviceHandleToIdentifier: 0xffffffff",
            "zerTranslateIdentifierToDeviceHandle: null",
            "zerGetDefaultContext: null",
        ],
    );
}

#[test]
fn function_that_is_missing_runs_no_callbacks() {
    check(
        "missing_functions_traced",
        &[
            "without a callee: UNSUPPORTED_FEATURE",
            "callback, result 0",
            "callback, result 7",
            "with one: 7",
        ],
    );
}

#[test]
fn query_is_repeated_and_the_last_callee_counts() {
    check(
        "queries_again",
        &[
            "the same entry: yes, answers 7",
            "of a wrapped table: answers 7",
            "of another callee: answers 8",
        ],
    );
}

#[test]
fn all_callbacks_of_a_disabled_tracer_are_taken_back() {
    check(
        "reset",
        &[
            "null: INVALID_NULL_HANDLE",
            "enabled: INVALID_ARGUMENT",
            "callback, result 0",
            "callback, result 7",
            "disabled: SUCCESS",
            "call: 7",
        ],
    );
}
