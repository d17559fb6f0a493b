//! The fuzzer's committed inputs, played as ordinary tests. docs/replay.md says how to fuzz.

use std::path::Path;

#[path = "../fuzz/fake_driver.rs"]
mod fake_driver;
#[path = "../fuzz/played.rs"]
mod played;
#[path = "../fuzz/script.rs"]
mod script;

/// One test, since the inputs share one driver.
#[test]
fn fuzz_inputs_are_played_or_refused() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus/play");
    let mut count = 0;
    for entry in folder.read_dir().expect("replay/fuzz/corpus/play is committed") {
        let path = entry.expect("a readable folder").path();
        played::check(&std::fs::read(&path).expect("a readable input"));
        count += 1;
    }
    assert!(count >= 20, "only {count} inputs in {}", folder.display());
    // Inputs that need no file.
    for byte in 0..=255 {
        played::check(&[byte; 64]);
    }
}
