//! The driver gets the program's calls, and besides them only the queries that gapii makes once per context, however many
//! calls the program makes.

use std::collections::BTreeMap;
use std::process::Command;

use gapii_tests::bench::{Way, run_as};
use gapii_tests::fake_driver::{self, Page};
use gapii_tests::gapii::Session;
use gapii_tests::programs::program;

const THREADS: u64 = 2;

/// Returns the calls by function, over all threads, of a program that makes `rounds` rounds.
fn calls(rounds: u64, way: Way) -> BTreeMap<String, u64> {
    let session = Session::new();
    let page = session.path("page");
    let mut process = Command::new(program("draw_forever"));
    process.args([THREADS.to_string(), rounds.to_string()]);
    fake_driver::use_in(&mut process, Some(&page));
    let page = Page::new(&page);
    run_as(way, &session, &session.path("trace.gapii"), process).ok();
    let mut sum = BTreeMap::new();
    for (name, count) in page.threads().into_iter().flat_map(|thread| thread.counts) {
        *sum.entry(name).or_default() += count;
    }
    sum
}

/// Calls that the driver gets with the shim and not without it.
fn added(with: &BTreeMap<String, u64>, without: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let without = |name: &String| without.get(name).copied().unwrap_or(0);
    let differences = with.iter().map(|(name, count)| (name.clone(), count - without(name)));
    differences.filter(|(_, count)| *count > 0).collect()
}

fn check(way: Way) {
    let [few, many] =
        [16, 1600].map(|rounds| added(&calls(rounds, way), &calls(rounds, Way::Native)));
    assert_eq!(few, many, "what is asked does not depend on what the program does");
    for name in ["glGetIntegerv", "glGetString"] {
        assert!(few.get(name) >= Some(&THREADS), "each context is asked for its limits: {few:?}");
    }
    let asks = |name: &str| ["glGet", "eglGet", "eglQuery"].iter().any(|it| name.starts_with(it));
    assert!(few.keys().all(|name| asks(name)), "only questions: {few:?}");
    assert!(few.values().all(|count| count % THREADS == 0), "the same for each context: {few:?}");
}

#[test]
fn monitored_program_adds_questions_of_each_context_alone() {
    check(Way::Idle);
}

#[test]
fn captured_program_adds_questions_of_each_context_alone() {
    check(Way::Captured);
}
