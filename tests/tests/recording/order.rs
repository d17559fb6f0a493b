//! The merged stream is a linear extension of happens-before; the long forms are in the soak run.

use gapii_tests::order::{check_current, check_first_call, check_names, check_token};

#[test]
fn token_of_four_threads_is_recorded_in_hand_over_order() {
    check_token("threads", "up", 4, 50_000);
}

/// A reader that scans the rings in slot order meets the hops backwards.
#[test]
fn token_handed_against_the_order_of_rings_is_recorded_in_hand_over_order() {
    check_token("threads", "down", 4, 50_000);
}

#[test]
fn token_of_two_processes_is_recorded_in_hand_over_order() {
    check_token("processes", "up", 2, 50_000);
}

#[test]
fn name_is_deleted_before_it_is_given_out_again() {
    check_names(100_000);
}

#[test]
fn context_is_released_before_it_is_acquired() {
    check_current(20_000);
}

#[test]
fn first_call_of_a_thread_stands_in_its_place() {
    check_first_call(1_000);
}
