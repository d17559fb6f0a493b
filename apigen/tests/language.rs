//! Compiles descriptions of the toy API: each file of `toy/pass` must give the outline next to it, each file of
//! `toy/fail` the diagnostics next to it.
//!
//! `UPDATE=1 cargo test -p apigen --test language` rewrites the expected files; review the diff.

mod outline;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use apigen::apis::ApiFacts;
use apigen::lang::check::{Api, compile};
use apigen::lang::source::{Source, Sources};
use apigen::registry::{self, Registry};

static TOY: LazyLock<ApiFacts> = LazyLock::new(apigen::toy);

static REGISTRY: LazyLock<Registry> = LazyLock::new(|| {
    let xml = include_str!("toy/toy.xml");
    registry::parse("toy.xml", xml, &apigen::toy(), &BTreeMap::new())
        .expect("the registry has no mistakes")
});

fn apis() -> [Api<'static>; 1] {
    [Api::new(&TOY, &REGISTRY)]
}

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/toy").join(name)
}

/// The descriptions of a folder, sorted. Their paths are file names.
fn sources(name: &str) -> Vec<Source> {
    let entries = fs::read_dir(folder(name)).expect("the folder exists");
    let mut paths: Vec<_> =
        entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "api"));
    paths.sort();
    assert!(!paths.is_empty(), "{name} has descriptions");
    let read = |path: PathBuf| Source {
        text: fs::read_to_string(&path).expect("the file is readable"),
        path: path.file_name().expect("the path has a file name").to_string_lossy().into_owned(),
    };
    paths.into_iter().map(read).collect()
}

/// Compares `found` with the expected file next to a description, or writes that file.
fn expect(folder_name: &str, source: &Source, found: &str) -> Result<(), String> {
    let path = folder(folder_name).join(&source.path).with_extension("txt");
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&path, found).expect("the file is writable");
    }
    let expected = fs::read_to_string(&path).unwrap_or_default();
    if expected == found {
        return Ok(());
    }
    Err(format!("{}: expected\n{expected}\nfound\n{found}", source.path))
}

fn assert_all(results: impl Iterator<Item = Result<(), String>>) {
    let wrong: Vec<String> = results.filter_map(Result::err).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn descriptions_of_the_toy_mean_what_their_outlines_say() {
    let sources = Sources { files: sources("pass") };
    let program = compile(&sources, &apis()).unwrap_or_else(|report| panic!("{report}"));
    assert_all(sources.files.iter().enumerate().map(|(file, source)| {
        let found = outline::outline(&program, &sources, file as u32);
        expect("pass", source, &found)
    }));
}

#[test]
fn mistakes_are_all_reported_with_their_places() {
    assert_all(sources("fail").into_iter().map(|source| {
        let alone = Sources { files: vec![source.clone()] };
        match compile(&alone, &apis()) {
            Ok(_) => Err(format!("{} has no mistakes", source.path)),
            Err(report) => expect("fail", &source, &format!("{report}\n")),
        }
    }));
}

#[test]
fn every_command_of_the_toy_is_described_or_has_its_extents_from_the_registry() {
    let sources = Sources { files: sources("pass") };
    let program = compile(&sources, &apis()).unwrap_or_else(|report| panic!("{report}"));
    let unknown: Vec<_> = program
        .commands
        .iter()
        .flat_map(|command| command.params.iter().map(move |param| (command, param)))
        .filter(|(_, param)| param.memory == apigen::lang::typed::MemoryUse::Unknown)
        .map(|(command, param)| format!("{}.{}", command.name, param.name))
        .collect();
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn answers_of_an_api_in_a_second_file_are_refused() {
    let source = |path: &str, target: &str| Source {
        path: path.to_owned(),
        text: format!("api toy;\n\nanswers exact: {target};\n"),
    };
    let files = vec![source("one.api", "toyFind"), source("two.api", "toyQuery")];
    let report = compile(&Sources { files }, &apis()).expect_err("their order counts");
    let messages: Vec<_> = report.diagnostics.iter().map(|it| it.message.as_str()).collect();
    assert_eq!(messages, ["all `answers` of an API stand in one file: their order counts"]);
}
