//! Applies the diff in docs/apilang.md, which adds an API by files under `apis/` and an entry in the list there, and
//! compiles the crates that contain generated code of every API.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use apigen::lang::source::Source;
use apigen::{Error, Inputs, apis};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the repository is above")
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_default()
}

/// The files in the reference's diff, after applying it.
fn changed() -> BTreeMap<String, String> {
    let reference = read("docs/apilang.md");
    let (_, diff) = reference.split_once("```diff\n").expect("the reference shows a difference");
    let (diff, _) = diff.split_once("```").expect("the difference ends");
    let mut files = BTreeMap::new();
    for file in diff.split("diff --git ").skip(1) {
        let (_, path) = file.split_once("\n+++ b/").expect("a file has a path");
        let (path, hunk) = path.split_once('\n').expect("a file has lines");
        let lines = || hunk.lines().filter(|line| !line.starts_with("@@"));
        let side = |sign: char| -> String {
            let lines = lines().filter_map(|line| match line.strip_prefix(sign) {
                Some(rest) => Some(rest),
                None => line.strip_prefix(' '),
            });
            lines.map(|line| format!("{line}\n")).collect()
        };
        let before = read(path);
        let (old, new) = (side('-'), side('+'));
        let after = if before.is_empty() { new } else { before.replacen(&old, &new, 1) };
        assert_ne!(before, after, "{path} is as the difference says");
        files.insert(path.to_owned(), after);
    }
    files
}

/// The generator's inputs from the repository, with the files of the diff.
fn inputs() -> Inputs {
    let registry = apigen_registry::files(&root().join("target")).expect("the registry is there");
    let mut inputs = Inputs::read(root(), &registry).expect("the repository has no mistakes");
    for (path, text) in changed() {
        match path.rsplit_once('.').expect("files have extensions").1 {
            "json" => inputs.apis = apis::parse(&text).expect("the list has no mistakes"),
            "xml" => drop(inputs.registries.insert(path, text)),
            "txt" => inputs.exports.push((path, text)),
            _ => inputs.descriptions.files.push(Source { path, text }),
        }
    }
    inputs
}

/// Copies the hand-written files of a crate.
fn copy(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("the folder is there").flatten() {
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() && !path.ends_with("generated") {
            copy(&path, &target);
        } else if path.is_file() {
            fs::create_dir_all(to).expect("the target takes folders");
            fs::copy(&path, &target).expect("the target takes files");
        }
    }
}

/// Checks a crate under `folder` without generating code. Writes `libNAME.rmeta` for the crates that depend on it.
fn compile(folder: &Path, root: &str, name: &str, others: &[&str]) {
    let mut rustc = Command::new("rustc");
    rustc.args(["--edition=2024", "--crate-type=rlib", "--emit=metadata", "--cap-lints=allow"]);
    rustc.args(["--crate-name", name, "--out-dir"]).arg(folder).arg(folder.join(root));
    for other in others {
        let path = folder.join(format!("lib{other}.rmeta"));
        rustc.arg("--extern").arg(format!("{other}={}", path.display()));
    }
    let output = rustc.output().expect("rustc runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn api_is_added_by_files_in_apis_alone_and_compiles() {
    assert!(changed().keys().all(|path| path.starts_with("apis/")));
    let files = apigen::generate_unformatted(&inputs()).unwrap_or_else(|error| panic!("{error}"));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("third");
    let _ = fs::remove_dir_all(&folder);
    for part in ["commands/src", "state/src"] {
        copy(&root().join(part), &folder.join(part));
    }
    for (path, text) in &files {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().expect("files are in folders"))
            .expect("the folder can be created");
        fs::write(path, text).expect("the file is writable");
    }
    let uses = "use gapii_commands::{Api, CommandId, descriptions};\n\
                use gapii_state::{Memory, Observer, Scope, commands, state};\n\
                const _: Api = Api::Toy;\n\
                const _: CommandId = CommandId::TOY_PRESENT;\n\
                use commands::toyPresent;\n";
    fs::write(folder.join("uses.rs"), uses).expect("the file is writable");
    compile(&folder, "commands/src/lib.rs", "gapii_commands", &[]);
    compile(&folder, "state/src/lib.rs", "gapii_state", &["gapii_commands"]);
    compile(&folder, "uses.rs", "uses", &["gapii_commands", "gapii_state"]);

    let generated = |path: &str| &files[Path::new(path)];
    let handlers = generated("shim/src/generated/handlers_toy.rs");
    assert_eq!(handlers.matches("! {").count(), 10, "{handlers}");
    assert!(generated("shim/src/generated/entries.rs").contains("exported! { toyRun, TOY_RUN }"));
    assert!(generated("shim/src/generated/frames.rs").contains("pub fn toyPresent_leave_flags("));
    assert!(generated("commands/src/generated/descriptions.txt").contains("\napi toy\n"));
    assert!(generated("state/follow/src/generated/describe.rs").contains("ToyDevice"));
}

#[test]
fn api_out_of_name_order_is_refused() {
    let list = r#"[
        {"name": "late", "title": "", "about": "", "registry": "b.xml", "features": ["toy"],
         "folders": [], "names": "B", "state": "process", "replay": "by_hand"},
        {"name": "early", "title": "", "about": "", "registry": "a.xml", "features": ["toy"],
         "folders": [], "names": "A", "state": "process", "replay": "by_hand"}]"#;
    let registry = |command: &str| {
        format!(
            "<registry><commands><command><proto>void <name>{command}</name></proto></command>\
             </commands><feature api=\"toy\" number=\"1.0\"><require><command name=\"{command}\"/>\
             </require></feature></registry>"
        )
    };
    let inputs = Inputs {
        apis: apis::parse(list).expect("the list has no mistakes"),
        registries: [("a.xml", "aFirst"), ("b.xml", "bSecond")]
            .map(|(file, command)| (file.to_owned(), registry(command)))
            .into(),
        ..Inputs::default()
    };
    let Err(Error::Inputs(problems)) = apigen::generate_unformatted(&inputs) else {
        unreachable!()
    };
    let message = "apis/apis.json: bSecond of late comes behind aFirst of early; list the APIs in \
                   the order of their commands' names";
    assert_eq!(problems.iter().map(|found| found.to_string()).collect::<Vec<_>>(), [message]);
}
