//! Tables of recorded traces: totals in DuckDB must be those that `gapii-ctl` prints, and an export from an object store to it must
//! give the same tables, although connections break. With `--engines` 100 traces, also with Spark, and
//! the script for Ray replays them on two workers and has to find a planted difference.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::Value;

use crate::own_workspace::FLEET;
use crate::tree::Profile;
use crate::{build, packages, python, python_package, step, tree};

/// Compares tables with traces. Its arguments are in it.
const COMPARING: &str = "xtask/src/fleet/compare.py";
/// Exports from an object store to it. Its arguments are in it.
const STORING: &str = "xtask/src/fleet/object_store.py";
/// Queries, and scripts for Spark and Ray.
const SCRIPTS: &str = "contrib/fleet";

/// Programs of the tests, with options of `run`. They end by themselves, or have to.
const PROGRAMS: [(&str, &[&str]); 5] = [
    ("apps/animation", &["--gpu-timing", "--frames", "10", "--quit"]),
    // With a snapshot.
    ("apps/animation", &["--timing", "--skip-frames", "3", "--frames", "20", "--quit"]),
    ("apps/client_arrays", &["--timing"]),
    ("apps/debug_messages", &["--timing"]),
    ("apps/bad_enums", &[]),
];

/// Traces that are recorded: each program is recorded several times.
const TRACES: usize = 10;
const TRACES_OF_ENGINES: usize = 100;

/// Records, exports and compares.
pub fn check(engines: bool) -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST, packages::EXPORTS])?;
    build::product(Profile::Dev)?;
    FLEET.build(Profile::Dev)?;
    let folder = tree::target().join("fleet-check");
    let (traces, tables) = (folder.join("traces"), folder.join("tables"));
    // What an earlier run has recorded would be compared, too.
    for old in [&traces, &tables] {
        _ = fs::remove_dir_all(old);
        fs::create_dir_all(old)?;
    }
    record(&folder, &traces, if engines { TRACES_OF_ENGINES } else { TRACES })?;
    let began = Instant::now();
    // Half of the traces have other tags than the rest.
    for (half, tag) in [("even", "build=1"), ("odd", "build=2")] {
        let mut command = Command::new(tool());
        command.arg("export").arg(traces.join(half)).args(["--format", "parquet", "--commands"]);
        command.args(["--tag", tag, "--tag", "scene=test", "--tag", "version=1.0", "-o"]);
        step::run(command.arg(&tables).stdin(Stdio::null()))?;
    }
    println!("exported in {:.1?}", began.elapsed());
    compare("duckdb", &["duckdb"], &folder)?;
    export_from_store(&folder)?;
    if engines {
        packages::install(&[packages::ENGINES])?;
        compare("spark", &["pyspark"], &folder)?;
        replay_on_workers(&folder)?;
    }
    Ok(())
}

/// Records `count` traces into two folders.
fn record(folder: &Path, traces: &Path, count: usize) -> anyhow::Result<()> {
    println!("recording {count} traces");
    for half in ["even", "odd"] {
        fs::create_dir_all(traces.join(half))?;
    }
    let compiled = PROGRAMS.iter().map(|(program, _)| python_package::compile(program, folder));
    let compiled = compiled.collect::<anyhow::Result<Vec<_>>>()?;
    for number in 0..count {
        let (_, options) = PROGRAMS[number % PROGRAMS.len()];
        let half = if number.is_multiple_of(2) { "even" } else { "odd" };
        let mut command = Command::new(tool());
        command.args(["run", "--force", "-o"]);
        command.arg(traces.join(half).join(format!("{number:03}.gapii"))).args(options);
        command.arg("--").arg(&compiled[number % PROGRAMS.len()]);
        step::output(command.env("EGL_PLATFORM", "surfaceless").stdin(Stdio::null()))?;
    }
    Ok(())
}

/// Compares the tables in an engine with the traces.
fn compare(engine: &str, packages: &[&str], folder: &Path) -> anyhow::Result<()> {
    let python = python::with(packages, &folder.join(engine))?;
    let began = Instant::now();
    let mut comparing = Command::new(python);
    comparing.arg(tree::root().join(COMPARING)).arg(engine).arg(tool());
    comparing.args([folder.join("traces"), folder.join("tables"), tree::root().join(SCRIPTS)]);
    step::run(comparing.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    println!("compared in {engine} in {:.1?}", began.elapsed());
    Ok(())
}

/// Exports some of the traces from an object store to it.
fn export_from_store(folder: &Path) -> anyhow::Result<()> {
    let python = python::with(&["boto3", "flask", "flask_cors", "moto"], &folder.join("moto"))?;
    let local = folder.join("local");
    _ = fs::remove_dir_all(&local);
    let mut exporting = Command::new(python);
    exporting
        .arg(tree::root().join(STORING))
        .arg(tool())
        .arg(folder.join("traces/even"))
        .arg(local);
    step::run(&mut exporting)
}

/// Replays the traces on two workers: they pass, until the list expects another frame of one.
fn replay_on_workers(folder: &Path) -> anyhow::Result<()> {
    let python = python::with(&["ray"], &folder.join("ray"))?;
    let list = folder.join("traces/traces.toml");
    let mut paths: Vec<PathBuf> = Vec::new();
    for half in ["even", "odd"] {
        for entry in fs::read_dir(folder.join("traces").join(half))? {
            paths.push(Path::new(half).join(entry?.file_name()));
        }
    }
    paths.sort();
    let entries = paths.iter().map(|path| format!("[[trace]]\npath = \"{}\"\n\n", path.display()));
    fs::write(&list, entries.collect::<String>())?;
    let mut update = Command::new(tool());
    update.arg("check").arg(&list).args(["--update", "--json"]);
    step::output(update.env("EGL_PLATFORM", "surfaceless"))?;
    let began = Instant::now();
    let answer = on_workers(&python, &list)?;
    ensure!(answer["failed"] == 0 && answer["passed"] == paths.len(), "not all pass: {answer}");
    println!("replayed on two workers in {:.1?}", began.elapsed());
    let workers = answer["traces"].as_array().context("no list of traces")?;
    let mut workers: Vec<_> = workers.iter().filter_map(|trace| trace["pid"].as_u64()).collect();
    workers.sort_unstable();
    workers.dedup();
    ensure!(workers.len() >= 2, "one worker has played all traces");
    // The planted difference: the digest of one trace with its first digit changed.
    let text = fs::read_to_string(&list)?;
    let at = text.rfind("= \"").context("the list has no digest")? + 3;
    let other = if text[at..].starts_with('0') { "1" } else { "0" };
    fs::write(&list, [&text[..at], other, &text[at + 1..]].concat())?;
    let answer = on_workers(&python, &list)?;
    let differ = answer["traces"].as_array().context("no list of traces")?.iter();
    let differ: Vec<_> = differ.filter(|trace| trace["verdict"] == "different").collect();
    ensure!(differ.len() == 1 && answer["failed"] == 1, "the planted difference: {answer}");
    println!("the planted difference is found: {}", differ[0]["trace"]);
    Ok(())
}

fn on_workers(python: &Path, list: &Path) -> anyhow::Result<Value> {
    let mut command = Command::new(python);
    command.arg(tree::root().join(SCRIPTS).join("replay_on_workers.py")).arg(list).arg("--tool");
    command.arg(tool()).args(["--workers", "2", "--json"]).env("EGL_PLATFORM", "surfaceless");
    // Status 1 says that traces fail, which the answer has.
    let output = command.stderr(Stdio::inherit()).output().context("can't start Python")?;
    serde_json::from_slice(&output.stdout).context("the script prints no JSON")
}

fn tool() -> PathBuf {
    tree::artifacts(Profile::Dev).join(gapii_package::CTL)
}
