//! Tracers of Level Zero: which callbacks run, in which order and with which arguments, under our layer and Debian's.

use gapii_tests::artifacts::artifact;
use gapii_tests::level_zero::{DRIVER, Layer, both_say, traced};
use gapii_tests::process::run;
use gapii_tests::programs::{level_zero, level_zero_tool};

#[test]
fn prologues_and_epilogues_run_in_the_order_of_enabling() {
    both_say(
        "tracer_calls",
        "order",
        &[
            "b, a, c enabled: +b +a +c -b -a -c",
            "b disabled: +a +c -a -c",
            "b enabled again: +a +c +b -a -c -b",
        ],
    );
}

/// Loaders put their own functions in place if they are told to, or if several drivers are installed.
#[test]
fn layer_is_above_the_loaders_own_functions() {
    let driver = artifact(DRIVER).display().to_string();
    let program = level_zero("tracer_calls");
    let alone = run(traced(Layer::Ours, &program).arg("order")).ok();
    for (variable, value) in [
        ("ZE_ENABLE_LOADER_INTERCEPT", "1"),
        ("ZE_ENABLE_ALT_DRIVERS", &format!("{driver},{driver}")),
    ] {
        for layer in [Layer::Ours, Layer::Debians] {
            let finished = run(traced(layer, &program).arg("order").env(variable, value)).ok();
            assert_eq!(finished.stdout, alone.stdout, "{variable} {layer:?}");
        }
    }
}

#[test]
fn tracer_may_have_one_of_the_two() {
    both_say("tracer_calls", "halves", &["halves: +prologue -epilogue"]);
}

#[test]
fn callbacks_get_result_user_data_and_what_the_prologue_left() {
    let prologue =
        |size| format!("prologue: size {size}, result SUCCESS, user data ours, instance null");
    let epilogue = |size, result: &str| {
        format!("epilogue: size {size}, result {result}, user data ours, instance the prologue's")
    };
    let call = |size, what: &str, result: &str| {
        let said = format!("{what}: {result}");
        [prologue(size), prologue(size), epilogue(size, result), epilogue(size, result), said]
    };
    let expected = [call(64, "64 bytes", "SUCCESS"), call(0, "none", "UNSUPPORTED_SIZE")].concat();
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    both_say("tracer_calls", "arguments", &expected);
}

#[test]
fn changed_parameter_is_seen_by_later_callbacks_and_by_the_callee() {
    both_say(
        "tracer_calls",
        "changed_parameters",
        &["size 64", "size 4096", "size 4096", "64 bytes: SUCCESS", "allocated: 4096"],
    );
}

#[test]
fn calls_of_callbacks_are_not_traced_and_those_of_other_threads_are() {
    let call = "+a [thread: +a +b -a -b ] +b -a -b";
    both_say("tracer_calls", "reentry", &[&format!("call: {call}"), &format!("and again: {call}")]);
}

#[test]
fn tracers_that_change_during_a_call_run_in_pairs() {
    both_say(
        "tracer_calls",
        "changes_during_a_call",
        &["during: +swapper +disabled -swapper -disabled", "after: +enabled -enabled"],
    );
}

#[test]
fn structure_of_callbacks_sets_and_clears_those_it_has_and_leaves_the_rest() {
    both_say(
        "tracer_calls",
        "callbacks_in_one_structure",
        &[
            "prologues: SUCCESS",
            "epilogues: SUCCESS",
            "all: +a -a allocation allocation address",
            "no prologues: SUCCESS",
            "without prologues: -a allocation address",
        ],
    );
}

#[test]
fn later_initialisation_is_traced() {
    both_say("tracer_calls", "later_init", &["zeInit: SUCCESS", "later: SUCCESS"]);
}

#[test]
fn tool_measures_launches_of_a_program_that_knows_nothing_of_it() {
    let work = [
        "before: fence low",
        "after: sum 87d30800",
        "launched: 1000",
        "images: UNSUPPORTED_FEATURE",
    ];
    for layer in [Layer::Ours, Layer::Debians] {
        let alone = run(traced(layer, &level_zero("work")).arg("1000")).ok();
        assert_eq!(alone.stdout.lines().collect::<Vec<_>>(), work, "{layer:?}");
        let mut measured = traced(layer, &level_zero("work"));
        let measured =
            run(measured.arg("1000").env("LD_PRELOAD", level_zero_tool("launch_times"))).ok();
        let expected = [&work[..], &["zeCommandListAppendLaunchKernel: 1000 calls"]].concat();
        assert_eq!(measured.stdout.lines().collect::<Vec<_>>(), expected, "{layer:?}");
        assert!(measured.stderr.contains("ns each"), "{measured}");
    }
}
