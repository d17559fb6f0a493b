//! `check-python`: the Python package. Its lints; then its wheel is built and installed in a virtual environment, programs
//! are recorded, and `python/tests` compares what the package reads with what `gapii-ctl` prints, also of damaged traces, of traces
//! in an object store, and of captures that run; the notebooks of `python/examples` run, too.
//! Prints how fast commands are read. Not part of `test`, because it downloads, and because Python's and Arrow's crates
//! are built for nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::Context;

use crate::tree::Profile;
use crate::{build, exports, packages, python, step, tree};

/// The package's workspace.
const MANIFEST: &str = "python/Cargo.toml";
/// Packages that build the wheel, run the tests and the notebooks, take tables, compress damaged blocks, and are an object store.
const PACKAGES: [&str; 15] = [
    "maturin",
    "numpy",
    "pandas",
    "polars",
    "pyarrow",
    "pytest",
    "zstandard",
    "ipykernel",
    "matplotlib",
    "nbclient",
    "fsspec",
    "s3fs",
    "moto",
    "flask",
    "flask_cors",
];
/// The program of the tests that runs until it is ended.
const ENDLESS: &str = "programs/counted_forever";
/// Programs of the tests that are recorded, with options of `run`, and their own arguments.
const PROGRAMS: [(&str, &[&str], &[&str]); 4] = [
    ("apps/animation", &["--gpu-timing"], &[]),
    ("apps/client_arrays", &[], &[]),
    ("apps/attribute_lists", &["--timing"], &[]),
    // Threads, runs, calls of a run, pause in ms, runs to warm up: a million commands, to measure how fast they are read.
    ("programs/bench_calls", &[], &["1", "10", "100000", "0", "0"]),
];

pub fn run() -> anyhow::Result<()> {
    packages::install(&[packages::DEMO, packages::TEST, packages::EXPORTS])?;
    // In release, as the wheel, so that C code is compiled once.
    step::run(cargo(&["clippy", "--release"]).args(["--", "-D", "warnings"]))?;
    step::run(step::cargo(&["fmt", "--check", "--manifest-path"]).arg(MANIFEST))?;
    build::product(Profile::Dev)?;
    let folder = tree::target().join("python-check");
    let traces = folder.join("traces");
    // What an earlier run has recorded would be tested, too.
    _ = fs::remove_dir_all(&traces);
    fs::create_dir_all(&traces)?;
    let python = python::with(&PACKAGES, &folder.join("venv"))?;
    install(&python, &folder.join("wheels"))?;
    exports::record(&traces.join("glmark2-es2.gapii"))?;
    for (program, options, arguments) in PROGRAMS {
        let compiled = compile(program, &folder)?;
        let trace = traces.join(compiled.with_extension("gapii").file_name().unwrap_or_default());
        let mut command = Command::new(tool());
        command.args(["run", "--force", "-o"]).arg(&trace).args(options);
        command.arg("--").arg(compiled).args(arguments);
        step::output(command.env("EGL_PLATFORM", "surfaceless").stdin(Stdio::null()))?;
    }
    let endless = compile(ENDLESS, &folder)?;
    // Its commands are compared by the rate alone: as text they would take most of the time.
    let long = folder.join("bench_calls.gapii");
    fs::rename(traces.join("bench_calls.gapii"), &long)?;
    let ours = tree::root().join("python/tests");
    let mut tests = Command::new(&python);
    // In another folder than `python/`, where Python would find the package without its compiled part.
    tests.args(["-m", "pytest", "-q", "-p", "no:cacheprovider"]).arg(&ours).current_dir(&folder);
    tests.env("GAPII_CTL", tool()).env("GAPII_TRACES", &traces).env("GAPII_LONG_TRACE", &long);
    tests.env("GAPII_PROGRAM", folder.join("animation")).env("GAPII_ENDLESS_PROGRAM", endless);
    tests.env("EGL_PLATFORM", "surfaceless");
    step::run(tests.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    step::run(Command::new(&python).arg(ours.join("rate.py")).arg(long))
}

/// Builds the wheel, and installs it.
fn install(python: &Path, wheels: &Path) -> anyhow::Result<()> {
    _ = fs::remove_dir_all(wheels);
    let mut build = Command::new(python);
    build.args(["-m", "maturin", "build", "--release", "--locked", "--quiet"]);
    build.args(["--manifest-path", MANIFEST, "--out"]).arg(wheels).current_dir(tree::root());
    step::run_aside(build.env("CARGO_TARGET_DIR", own_target()))?;
    let wheel = fs::read_dir(wheels)?.next().context("maturin makes no wheel")??.path();
    let install = ["-m", "pip", "install", "--quiet", "--no-deps", "--force-reinstall"];
    step::run_aside(Command::new(python).args(install).arg(wheel))
}

/// Compiles a program of the tests.
pub fn compile(program: &str, folder: &Path) -> anyhow::Result<PathBuf> {
    let source = tree::root().join("tests").join(program).with_extension("c");
    let compiled = folder.join(source.file_stem().context("a program has a name")?);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-O2", "-o"]).arg(&compiled).arg(source);
    step::run(compiler.args(["-lEGL", "-lGLESv2", "-lpthread", "-lm"]))?;
    Ok(compiled)
}

fn tool() -> PathBuf {
    tree::artifacts(Profile::Dev).join(gapii_package::CTL)
}

/// Cargo in the package's workspace.
fn cargo(words: &[&str]) -> Command {
    let mut cargo = step::cargo(words);
    cargo.args(["--locked", "--manifest-path", MANIFEST]).env("CARGO_TARGET_DIR", own_target());
    cargo
}

fn own_target() -> PathBuf {
    tree::target().join("python")
}
