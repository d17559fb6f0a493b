//! The commands of the build: `cargo xtask demo`, `test` and their parts.
//!
//! Runs other programs and reports their results. Nothing here is part of the product.

#![forbid(unsafe_code)]

mod arm64;
mod browser;
mod build;
mod check;
mod child;
mod chroot;
mod demo;
mod doctests;
mod drivers;
mod exports;
mod file_list;
mod fleet;
mod fuzz;
mod generate;
mod impact;
mod lint;
mod mcp;
mod miri;
mod models;
mod own_workspace;
mod package;
mod packages;
mod piglit;
mod piglit_desktop;
mod programs;
mod python;
mod python_package;
mod step;
mod suite;
mod summary;
mod test;
mod tests_bin;
mod tidy;
mod tree;
mod xserver;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Build, try and test gapii
#[derive(Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Record 100 frames of glmark2-es2 and print what was recorded
    Demo,
    /// Run every check: lints, generated code, unit, model and whole-system tests; with --release, run the
    /// whole-system tests against the product as it ships; with --target, run tests of programs for another processor
    Test(test::Test),
    /// Check what has changed since the last commit: formatting, lints, and the tests that the changed files
    /// touch
    Check(check::Check),
    /// Check the form of the project: imports, arrows between crates, references in docs, constants
    Tidy(tidy::Tidy),
    /// Run the loom models of code that several threads or processes run at the same time
    Models(models::Models),
    /// Run under Miri the unit tests that need no system call; installs a nightly toolchain if there is none
    Miri,
    /// Test the viewer's page in Chromium; with --screenshots, make the pictures of docs/viewer.md anew
    Browser(browser::Browser),
    /// Type-check the fuzzers, which are workspaces of their own
    CheckFuzz,
    /// Build the daemon, the control tool, the shim with its headers, Level Zero's layer, the server for agents, and the program
    /// that writes tables, in release
    Build(build::Build),
    /// Make what people install, in target/package: Debian packages; with --tar, an archive that works wherever it is
    /// unpacked
    Package(package::Package),
    /// Compile the API descriptions to the committed Rust
    Generate(generate::Generate),
    /// Record glmark2-es2, export the trace for Perfetto and the Firefox Profiler, and read both files with other people's
    /// code
    CheckExports,
    /// Play a trace with piglit's replayer and the backend in contrib/piglit, and compile the trace's programs with its
    /// shader_runner
    CheckPiglit,
    /// Run piglit's programs of desktop OpenGL natively, recorded and as replays, and print a table of the results
    Piglit(piglit_desktop::Piglit),
    /// Test the server for agents: its unit tests, and questions of the protocol's own client about recorded traces
    CheckMcp,
    /// Test the programs for many traces and many machines: upload to an S3 server, and compare tables of traces in DuckDB with
    /// what gapii-ctl prints; with --engines, also in Spark, and replay the traces on workers of Ray
    CheckFleet(fleet::Fleet),
    /// Test the Python package: builds and installs its wheel, and compares what it reads of recorded traces with what
    /// gapii-ctl prints
    CheckPython,
    /// Check the API descriptions, and count what they don't say
    CheckApi,
    /// Check formatting, and clippy without warnings
    Lint,
    /// Measure the bars of speed and print a table of them with verdicts; with --calls, --tracked, --glmark2, --replay,
    /// --uploads, --attach or --tracers, one measurement in detail; with --make-trace, record a trace of any size
    Bench(tests_bin::Arguments),
    /// Record and replay the test programs on every driver at hand, from their start and after an attach, and print
    /// a table of the results; makes a folder with Debian's newest Mesa the first time
    Drivers(drivers::Drivers),
    /// Record Debian's programs as people start them (browsers, toolkits, compositors, players), replay them, and print a table
    /// of the results
    Programs(programs::Programs),
    /// Run the long forms of the tests: fuzzing, kills, hours of capture
    Soak(tests_bin::Arguments),
}

fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Command::Demo => demo::run(),
        Command::Test(args) => test::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Models(args) => models::run(&args),
        Command::Miri => miri::run(),
        Command::Browser(args) => browser::run(&args),
        Command::CheckFuzz => fuzz::run(),
        Command::Build(args) => build::run(&args),
        Command::Package(args) => package::run(&args),
        Command::Generate(args) => generate::run(&args),
        Command::CheckExports => exports::run(),
        Command::CheckPiglit => piglit::run(),
        Command::Piglit(args) => piglit_desktop::run(&args),
        Command::CheckMcp => mcp::run(),
        Command::CheckFleet(args) => fleet::run(&args),
        Command::CheckPython => python_package::run(),
        Command::CheckApi => generate::check_api(),
        Command::Lint => lint::run(),
        Command::Bench(args) => tests_bin::run("bench", &args),
        Command::Drivers(args) => drivers::run(&args),
        Command::Programs(args) => programs::run(&args),
        Command::Soak(args) => tests_bin::run("soak", &args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}
