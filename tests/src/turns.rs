//! Tests that take many programs through the same steps, each test in its own way: from their first frame, from their third.
//! `cargo xtask test` has each program take its turn in one of them, and runs every second one of very many foreign
//! programs and of very many cases; a test that repeats its steps at other moments does so a quarter as often. In the run of the release build, and in
//! one of tests by name, every program goes through each, as often as the test says.

/// Set for a run in which programs take turns.
const VARIABLE: &str = "GAPII_TEST_TURNS";

/// Every second program where programs take turns, otherwise all.
pub fn some<T>(programs: Vec<T>) -> Vec<T> {
    taken(programs, 0, 2)
}

/// How often steps are repeated that are meant to be repeated `all` times.
pub fn times(all: usize) -> usize {
    match std::env::var_os(VARIABLE) {
        Some(_) => all.div_ceil(4),
        None => all,
    }
}

/// The programs of way `way` of `ways`, counted from 0: where programs take turns those at every `ways`th place from `way` on,
/// otherwise all.
pub fn taken<T>(programs: Vec<T>, way: usize, ways: usize) -> Vec<T> {
    match std::env::var_os(VARIABLE) {
        Some(_) => programs.into_iter().skip(way).step_by(ways).collect(),
        None => programs,
    }
}
