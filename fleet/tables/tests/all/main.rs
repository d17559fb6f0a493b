//! `gapii-tables` with traces that have a header and no commands. Recorded ones are compared by `cargo xtask check-fleet`.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use gapii_trace::TraceHeader;
use parquet::file::reader::{FileReader, SerializedFileReader};
use serde_json::Value;
use tempfile::TempDir;

/// Noon of 2026-11-30.
const NOON_NS: u64 = 1_796_040_000_000_000_000;

const TABLES: [&str; 5] = ["frames", "functions", "objects", "problems", "traces"];

struct Lab {
    folder: TempDir,
}

impl Lab {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Writes a trace that is cut behind its header.
    fn trace(&self, name: &str, session: u8, host: &str) -> PathBuf {
        let mut header = TraceHeader::new("test", [session; 16], NOON_NS, 0);
        header.host = host.into();
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("it is in the lab")).expect("a folder");
        fs::write(&path, header.encode().expect("a header")).expect("a trace");
        path
    }

    fn export(&self, inputs: &[&Path], options: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gapii-tables"));
        command.arg("--output").arg(self.path("tables")).args(options).args(inputs);
        command.output().expect("it starts")
    }

    /// Exports, and returns the answer. The status has to be `status`.
    fn answer(&self, inputs: &[&Path], status: i32) -> Value {
        let output = self.export(inputs, &["--json", "2"]);
        assert_eq!(output.status.code(), Some(status), "{output:?}");
        serde_json::from_slice(&output.stdout).expect("JSON")
    }

    /// Returns the files of the tables, by their paths below the output.
    fn files(&self) -> BTreeMap<String, PathBuf> {
        let mut files = BTreeMap::new();
        let mut folders = vec![self.path("tables")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                match path.is_dir() {
                    true => folders.push(path),
                    false => {
                        let below = path.strip_prefix(self.path("tables")).expect("below");
                        files.insert(below.to_str().expect("UTF-8").to_owned(), path);
                    }
                }
            }
        }
        files
    }
}

/// Returns the number of rows of a file, and its metadata.
fn read(path: &Path) -> (i64, BTreeMap<String, String>) {
    let reader = SerializedFileReader::new(File::open(path).expect("a file")).expect("Parquet");
    let file = reader.metadata().file_metadata();
    let facts = file.key_value_metadata().cloned().unwrap_or_default();
    let facts = facts.into_iter().map(|it| (it.key, it.value.unwrap_or_default())).collect();
    (file.num_rows(), facts)
}

#[test]
fn each_trace_has_a_file_of_each_table_in_its_partition() {
    let lab = Lab::new();
    lab.trace("in/one.gapii", 1, "lab-7");
    lab.trace("in/deep/other.gapii", 2, "");
    fs::write(lab.path("in/notes.txt"), "no trace").expect("a file");
    let answer = lab.answer(&[&lab.path("in")], 1);
    assert_eq!((&answer["traces"], &answer["files"]), (&2.into(), &10.into()), "{answer}");
    assert_eq!(answer["json_version"], 2, "{answer}");
    let files = lab.files();
    for table in TABLES {
        for host in ["lab-7", "unknown"] {
            let folder = format!("table={table}/day=2026-11-30/host={host}/");
            let found: Vec<_> =
                files.iter().filter(|(path, _)| path.starts_with(&folder)).collect();
            let [(path, file)] = found[..] else { panic!("{folder}: {found:?}") };
            let trace = path[folder.len()..].strip_suffix(".parquet").expect("a name");
            let (rows, facts) = read(file);
            // That the trace is cut is a problem.
            assert_eq!(rows, i64::from(["problems", "traces"].contains(&table)), "{table}");
            assert_eq!(facts["gapii.schema"], "1");
            assert_eq!(facts["gapii.table"], table);
            assert_eq!(facts["gapii.trace"], trace);
        }
    }
    assert_eq!(files.len(), 10, "{files:?}");
}

#[test]
fn exporting_again_replaces_and_a_copy_is_passed_over() {
    let lab = Lab::new();
    let one = lab.trace("one.gapii", 1, "a");
    lab.answer(&[&one], 1);
    let before = lab.files();
    let copy = lab.trace("copy.gapii", 1, "a");
    let answer = lab.answer(&[&one, &copy], 1);
    assert_eq!((&answer["traces"], &answer["repeated"]), (&1.into(), &1.into()), "{answer}");
    assert_eq!(lab.files(), before);
}

#[test]
fn broken_traces_are_named_and_the_others_exported() {
    let lab = Lab::new();
    let cut = lab.trace("cut.gapii", 1, "a");
    let (none, absent) = (lab.path("none.gapii"), lab.path("absent.gapii"));
    fs::write(&none, "this is no trace").expect("a file");
    let answer = lab.answer(&[&none, &absent, &cut], 1);
    assert_eq!(answer["traces"], 1, "{answer}");
    let named = |list: &str| -> Vec<String> {
        let list = answer[list].as_array().expect("a list");
        list.iter().map(|it| it["file"].as_str().unwrap_or_default().to_owned()).collect()
    };
    assert_eq!(named("damaged"), [cut.display().to_string()]);
    assert_eq!(named("failed"), [&absent, &none].map(|path| path.display().to_string()));
    assert!(answer["damaged"][0]["why"].as_str().is_some_and(|why| why.starts_with("cut at byte")));
    assert_eq!(lab.files().len(), 5);
}

#[test]
fn output_that_cannot_be_written_ends_the_export() {
    let lab = Lab::new();
    let one = lab.trace("one.gapii", 1, "a");
    fs::write(lab.path("tables"), "a file").expect("a file");
    let output = lab.export(&[&one], &[]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("can't make the folder"), "{said}");
}

#[test]
fn tags_with_two_values_and_tags_without_a_value_are_refused() {
    let lab = Lab::new();
    let one = lab.trace("one.gapii", 1, "a");
    for tags in
        [&["--tag", "build=1", "--tag", "build=2"][..], &["--tag", "build"], &["--tag", "=1"]]
    {
        assert_eq!(lab.export(&[&one], tags).status.code(), Some(2), "{tags:?}");
    }
    assert_eq!(
        lab.export(&[&one], &["--tag", "build=1", "--tag", "scene="]).status.code(),
        Some(1)
    );
}

#[test]
fn parts_have_each_trace_once() {
    let lab = Lab::new();
    for session in 0..20 {
        lab.trace(&format!("in/{session}.gapii"), session, "a");
    }
    let input = lab.path("in");
    let export = |part: &str| {
        let output = lab.export(&[&input], &["--json", "2", "--part", part]);
        let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        answer["traces"].as_u64().expect("a number")
    };
    let counts = ["0/3", "1/3", "2/3"].map(export);
    assert!(counts.iter().all(|count| *count > 0), "{counts:?}");
    assert_eq!(counts.iter().sum::<u64>(), 20);
    assert_eq!(lab.files().len(), 5 * 20);
    for wrong in ["3/3", "0", "a/b"] {
        assert_eq!(lab.export(&[&input], &["--part", wrong]).status.code(), Some(2), "{wrong}");
    }
}
