//! Compares the committed generated code that needs no Khronos registry with the generator's current output: the code
//! of the toy API that the tests run, and the code of Level Zero.

use std::fs;
use std::path::Path;

use apigen::Inputs;

#[test]
fn committed_code_of_the_toy_is_that_of_its_descriptions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above");
    let files = apigen::generate_toy(root).expect("the toy has no mistakes");
    assert!(files.keys().any(|path| path.ends_with("commands.rs")));
    for (path, text) in &files {
        let committed = fs::read_to_string(root.join(path)).unwrap_or_default();
        let path = path.display();
        assert!(committed == *text, "{path} is stale; run `cargo xtask generate`");
    }
    let folders = ["apigen/tests/toy/run/generated", "apigen/tests/toy/run/follow/generated"];
    let count = |folder| fs::read_dir(root.join(folder)).expect("the folder exists").count();
    let committed: usize = folders.into_iter().map(count).sum();
    assert_eq!(committed, files.len(), "a file is left over; run `cargo xtask generate`");
}

#[test]
fn committed_code_of_level_zero_is_that_of_its_description() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above");
    let inputs = Inputs::read_without_khronos(root).expect("the files are there");
    let mut files = apigen::generate(&inputs).expect("the description has no mistakes").files;
    // Other crates have code of all APIs.
    files.retain(|path, _| {
        ["level-zero", "tests/null-driver"].iter().any(|folder| path.starts_with(folder))
    });
    assert!(files.keys().any(|path| path.ends_with("functions.rs")));
    for (path, text) in &files {
        let committed = fs::read_to_string(root.join(path)).unwrap_or_default();
        let path = path.display();
        assert!(committed == *text, "{path} is stale; run `cargo xtask generate`");
    }
}
