//! Tracers of Level Zero: the answers of their functions in every state, and the calls that destroying a tracer
//! waits for. Under our layer, and under Debian's where it answers at all.

use std::time::Duration;

use gapii_tests::level_zero::{Layer, both_say, churn, ours_says, they_say, traced};
use gapii_tests::process::run;
use gapii_tests::programs::level_zero;

#[test]
fn tracers_need_an_initialised_api_and_a_layer() {
    both_say("tracer_states", "before_initialisation", &["create: UNINITIALIZED"]);
    both_say("tracer_states", "initialised", &["create: SUCCESS"]);
}

/// The loader's answer, with no layer loaded.
#[test]
fn layer_is_on_for_exactly_one() {
    for value in ["", "0", "2", "true"] {
        let mut program = traced(Layer::Ours, &level_zero("tracer_states"));
        let finished = run(program.arg("initialised").env("ZE_ENABLE_TRACING_LAYER", value)).ok();
        assert_eq!(finished.stdout, "create: UNINITIALIZED\n", "{value:?}");
    }
}

#[test]
fn tracer_is_created_without_user_data_and_from_any_type_of_description() {
    both_say("tracer_states", "any_description", &["create: SUCCESS"]);
}

#[test]
fn disabled_tracer_takes_everything() {
    both_say(
        "tracer_states",
        "disabled",
        &[
            "register: SUCCESS",
            "set prologues: SUCCESS",
            "set epilogues: SUCCESS",
            "disable: SUCCESS",
            "destroy: SUCCESS",
        ],
    );
}

#[test]
fn enabled_tracer_takes_no_callbacks_and_is_not_destroyed() {
    both_say(
        "tracer_states",
        "enabled",
        &[
            "enable: SUCCESS",
            "enable again: SUCCESS",
            "register: INVALID_ARGUMENT",
            "set prologues: INVALID_ARGUMENT",
            "set epilogues: INVALID_ARGUMENT",
            "destroy: HANDLE_OBJECT_IN_USE",
            "call:",
            "callback",
            "disable: SUCCESS",
            "disable again: SUCCESS",
            "call:",
            "destroy: SUCCESS",
        ],
    );
}

#[test]
fn any_other_moment_is_the_epilogue_and_null_unregisters() {
    both_say(
        "tracer_states",
        "other_moments",
        &["register: SUCCESS", "call:", "callback", "unregister epilogue: SUCCESS", "call:"],
    );
}

#[test]
fn draining_tracer_takes_nothing_but_its_end() {
    both_say(
        "tracer_states",
        "draining",
        &[
            "disable: SUCCESS",
            "register: INVALID_ARGUMENT",
            "set prologues: INVALID_ARGUMENT",
            "set epilogues: INVALID_ARGUMENT",
            "enable: HANDLE_OBJECT_IN_USE",
            "disable again: HANDLE_OBJECT_IN_USE",
            "destroy: SUCCESS",
        ],
    );
}

/// Under Debian's layer a tracer that drains does so until it is destroyed.
#[test]
fn drained_tracer_is_as_a_disabled_one() {
    they_say(
        "tracer_states",
        "drained",
        &[
            "register: SUCCESS",
            "set prologues: SUCCESS",
            "set epilogues: SUCCESS",
            "enable: SUCCESS",
        ],
        &[
            "register: INVALID_ARGUMENT",
            "set prologues: INVALID_ARGUMENT",
            "set epilogues: INVALID_ARGUMENT",
            "enable: HANDLE_OBJECT_IN_USE",
        ],
    );
}

/// As above.
#[test]
fn tracer_that_its_callback_disabled_is_enabled_again() {
    let call = ["call:", "disable: SUCCESS", "enable: HANDLE_OBJECT_IN_USE", "call:"];
    let and_then = |last| [&call[..], &[last]].concat();
    they_say(
        "tracer_states",
        "disabled_by_its_callback",
        &and_then("enable: SUCCESS"),
        &and_then("enable: HANDLE_OBJECT_IN_USE"),
    );
}

/// Debian's layer crashes.
#[test]
fn nulls_have_error_codes() {
    ours_says(
        "tracer_states",
        "nulls",
        &[
            "create without description: INVALID_NULL_POINTER",
            "create without a place: INVALID_NULL_POINTER",
            "no prologues: INVALID_NULL_POINTER",
            "no epilogues: INVALID_NULL_POINTER",
            "register: INVALID_NULL_HANDLE",
            "set prologues: INVALID_NULL_HANDLE",
            "set epilogues: INVALID_NULL_HANDLE",
            "enable: INVALID_NULL_HANDLE",
            "destroy: INVALID_NULL_HANDLE",
        ],
    );
}

/// Debian's layer uses memory that it has freed.
#[test]
fn handle_of_a_destroyed_tracer_has_an_error_code() {
    ours_says(
        "tracer_states",
        "destroyed",
        &[
            "register: INVALID_ARGUMENT",
            "set prologues: INVALID_ARGUMENT",
            "set epilogues: INVALID_ARGUMENT",
            "enable: INVALID_ARGUMENT",
            "destroy: INVALID_ARGUMENT",
        ],
    );
}

#[test]
fn destroying_waits_for_the_tracers_own_calls() {
    both_say("tracer_waits", "own_calls", &["destroyed after the call's end"]);
}

/// Debian's layer waits for these calls.
#[test]
fn destroying_does_not_wait_for_calls_of_other_tracers() {
    ours_says("tracer_waits", "other_calls", &["destroy: SUCCESS", "the call goes on"]);
}

/// Debian's layer waits for ever.
#[test]
fn tracer_is_destroyed_inside_its_own_call() {
    ours_says(
        "tracer_waits",
        "own_tracer",
        &["destroy: SUCCESS", "epilogue", "call: SUCCESS", "call: SUCCESS"],
    );
}

/// As above.
#[test]
fn calls_that_hold_each_others_tracers_destroy_them() {
    ours_says("tracer_waits", "each_others_calls", &["both destroyed"]);
}

/// As above: destroying holds the lock there that enabling needs.
#[test]
fn callback_enables_a_tracer_while_another_is_being_destroyed() {
    ours_says("tracer_waits", "callback_that_enables", &["enable: SUCCESS", "destroyed"]);
}

#[test]
fn tracers_that_come_and_go_while_threads_call_run_in_pairs() {
    churn(Duration::from_secs(1));
}
