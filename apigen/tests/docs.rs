//! Checks docs/apilang.md: its examples compile and are formatted, and the worked example equals the description in
//! the repository.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use apigen::lang::check::{Api, compile};
use apigen::lang::format::format;
use apigen::lang::source::{Source, Sources};
use apigen::registry;

fn read(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    fs::read_to_string(root.join(path)).expect("the file is readable")
}

/// The examples of the reference, and the worked example, which is a whole file.
fn examples() -> (Vec<String>, String) {
    let text = read("docs/apilang.md");
    let blocks = text.split("```api\n").skip(1);
    let blocks = blocks.map(|block| block.split("```").next().unwrap_or_default().to_owned());
    let (mut whole, parts): (Vec<_>, Vec<_>) = blocks.partition(|block| block.starts_with("//!"));
    assert_eq!(whole.len(), 1, "there is a worked example");
    (parts, whole.remove(0))
}

#[test]
fn examples_of_the_reference_compile_together() {
    let xml = include_str!("toy/toy.xml");
    let toy = apigen::toy();
    let registry = registry::parse("toy.xml", xml, &toy, &BTreeMap::new())
        .expect("the registry has no mistakes");
    let (parts, _) = examples();
    let text = format!("api toy;\n\n{}", parts.join("\n"));
    assert_eq!(format(0, &text).as_deref(), Ok(text.as_str()));
    let files = vec![Source { path: "docs/apilang.md".to_owned(), text }];
    let api = Api::new(&toy, &registry);
    compile(&Sources { files }, &[api]).unwrap_or_else(|report| panic!("{report}"));
}

#[test]
fn worked_example_is_the_description_of_the_extension() {
    let (_, whole) = examples();
    assert_eq!(whole, read("apis/gles/ext/EXT_window_rectangles.api"));
}
