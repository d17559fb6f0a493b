//! The edges that comments name are those that docs/memory-model.md lists, and each has both ends.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Folders whose comments name edges.
const FOLDERS: [&str; 4] = ["ringbuf/src", "shim", "daemon", "tracers/src"];
/// Words in capitals that begin a comment and do not name an edge.
const NO_EDGES: [&str; 1] = ["SAFETY"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the crate is in the repository")
}

fn sources(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("the folder exists") {
        let path = entry.expect("an entry").path();
        if path.is_dir() && !["generated", "tests"].iter().any(|name| path.ends_with(name)) {
            sources(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.push(path);
        }
    }
}

fn is_name(word: &str) -> bool {
    word.len() >= 4 && word.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The names at the beginning of a comment: `// NAME: …`, `// NAME, in …: …` and `// NAME and NAME, in …: …`.
fn names_of(line: &str) -> Vec<&str> {
    let Some(comment) = line.trim_start().strip_prefix("// ") else { return Vec::new() };
    let Some((head, _)) = comment.split_once([':', ',']) else { return Vec::new() };
    let names: Vec<&str> = head.split(" and ").collect();
    let are_names = names.iter().all(|name| is_name(name) && !NO_EDGES.contains(name));
    if are_names { names } else { Vec::new() }
}

/// Returns the number of comments that name each edge.
fn named() -> BTreeMap<String, usize> {
    let mut files = Vec::new();
    FOLDERS.iter().for_each(|folder| sources(&root().join(folder), &mut files));
    let mut names = BTreeMap::new();
    for file in files {
        let text = fs::read_to_string(&file).expect("sources are text");
        for name in text.lines().flat_map(names_of) {
            *names.entry(name.to_owned()).or_default() += 1;
        }
    }
    names
}

/// The edges in the first column of the document's tables.
fn listed() -> BTreeSet<String> {
    let text = fs::read_to_string(root().join("docs/memory-model.md")).expect("it is a text");
    let cells = text.lines().filter_map(|line| line.strip_prefix("| ")?.split(" | ").next());
    cells.filter(|cell| is_name(cell)).map(str::to_owned).collect()
}

#[test]
#[cfg_attr(miri, ignore = "reads files")]
fn comments_name_the_edges_of_the_memory_model_and_both_ends_of_each() {
    let (named, listed) = (named(), listed());
    assert!(listed.len() > 10, "the document lists {listed:?}");
    let unlisted: Vec<_> = named.keys().filter(|name| !listed.contains(*name)).collect();
    assert!(unlisted.is_empty(), "docs/memory-model.md does not list {unlisted:?}");
    let one_ended: Vec<_> = listed
        .iter()
        .filter(|name| named.get(*name).is_none_or(|comments| *comments < 2))
        .collect();
    assert!(one_ended.is_empty(), "comments do not name both ends of {one_ended:?}");
}

#[test]
fn name_of_an_edge_begins_a_comment() {
    assert_eq!(names_of("    // PUBLISH: pairs with the release in X."), ["PUBLISH"]);
    assert_eq!(names_of("// OUTSIDE and BEGIN, in Gate::enter_slowly: why."), ["OUTSIDE", "BEGIN"]);
    let no_edges =
        ["// SAFETY: a fact.", "/// RGBA rows, from the bottom.", "// Relaxed: a hint.", "x"];
    assert!(no_edges.iter().all(|line| names_of(line).is_empty()));
}
