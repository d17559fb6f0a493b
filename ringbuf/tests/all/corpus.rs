//! The seeds of the fuzz target, as ordinary tests.

use std::path::Path;

#[path = "../../fuzz/hostile_ring.rs"]
mod hostile_ring;

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn fuzz_seeds_are_handled() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/consumer");
    let mut seeds = 0;
    for entry in folder.read_dir().expect("the corpus is committed") {
        let path = entry.expect("a readable folder").path();
        hostile_ring::check(&std::fs::read(&path).expect("a readable seed"));
        seeds += 1;
    }
    assert!(seeds >= 10, "only {seeds} seeds in {}", folder.display());
}

#[test]
#[cfg_attr(miri, ignore = "needs a second mapping of a memory file")]
fn input_of_any_length_is_handled() {
    for len in 0..200 {
        hostile_ring::check(&vec![0xFF; len]);
        hostile_ring::check(&vec![8; len]);
    }
}
