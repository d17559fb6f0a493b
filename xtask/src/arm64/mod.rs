//! `test --target aarch64`: tests of gapii as programs for arm64, which qemu-user runs on a machine with another processor,
//! in a folder with Debian for arm64. At the end it lists the tests that are left out, with the reasons.
//!
//! Records on each of the two processors, and plays the traces on the other. Measures no speed: qemu takes 10 to 30 times
//! as long as a processor.

mod emulation;
mod selection;

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, bail, ensure};

use emulation::Emulation;

use crate::build::{self, Tests};
use crate::chroot::{Chroot, Contents};
use crate::suite::{self, Built, Executable};
use crate::summary::Summary;
use crate::{lint, packages, step, tree};

/// The processor, as on the command line.
pub const PROCESSOR: &str = "aarch64";
/// Rust's name of the system.
const TARGET: &str = "aarch64-unknown-linux-gnu";
/// Debian's name of the processor.
const ARCHITECTURE: &str = "arm64";

/// How many times as long as a processor qemu takes, at least. Of tests that compare times, only those run whose limits depend on it.
const SLOWNESS: u32 = 10;

/// Packages with unit tests that depend on the processor: atomics, layouts, assembler, system calls.
const UNITS: &[&str] = &[
    "gapii-ringbuf",
    "gapii-edges",
    "gapii-recorder",
    "gapii-state",
    "gapii-capture",
    "gapii-tracers",
    "gapii-replay",
];

/// What the folder has besides the essential packages: the driver llvmpipe, and what compiles the programs of the tests.
const IN_CHROOT: &[&str] = &[
    "libegl1",
    "libegl-mesa0",
    "libgles1",
    "libgles2",
    "libgl1-mesa-dri",
    "gcc",
    "libc6-dev",
    "libegl-dev",
    "libgles-dev",
    "libgl-dev",
];

/// The command that runs all of this again.
const CHECK_AGAIN: &str = "cargo xtask test --target aarch64";

/// Runs the tests for arm64; of the whole-system tests only those whose names contain one of `only`, if there is one, and
/// then nothing else. Runs `jobs` at a time.
pub fn run(only: &[String], jobs: usize) -> anyhow::Result<()> {
    if std::env::consts::ARCH == PROCESSOR {
        bail!("this machine runs programs for {PROCESSOR} itself: `cargo xtask test`");
    }
    packages::install(&[packages::DEMO, packages::TEST, packages::ARM64])?;
    lint::install_components()?;
    install_target()?;
    let summary = Summary::default();
    let mut built = Built::default();
    summary.check("build for arm64", CHECK_AGAIN, || {
        built = build_for_target()?;
        built.require_no_warnings()
    });
    ensure!(!built.tests.is_empty(), "no test ran, because the build has failed");
    let _emulation = Emulation::begin()?;
    let guest = Guest::open()?;
    if only.is_empty() {
        summary
            .check_measured("unit tests", CHECK_AGAIN, || unit_tests(&guest, &built.tests, jobs));
    }
    let wanted = |name: &str| {
        selection::choice(name) == Some(true)
            && (only.is_empty() || only.iter().any(|part| name.contains(part)))
    };
    summary.check_measured("whole-system tests", CHECK_AGAIN, || {
        let mut all = Vec::new();
        for test in built.tests.iter().filter(|test| test.is_system()) {
            all.extend(test.each(&|test| guest.start(test), wanted)?);
        }
        ensure!(!all.is_empty(), "no whole-system test has such a name");
        suite::require_success(&suite::run(all, jobs)?)
    });
    if only.is_empty() {
        summary.check_measured("instructions of calls", CHECK_AGAIN, || {
            instructions(&guest, &built.tests)
        });
        let mut own = Vec::new();
        summary.check("build for this machine", "cargo xtask build --dev", || {
            own = build::dev(Tests::System)?.tests;
            Ok(())
        });
        summary.check_measured("traces of the other processor", CHECK_AGAIN, || {
            both_processors(&guest, &built.tests, &own)
        });
    }
    println!("\n== left out");
    selection::print_left_out();
    summary.finish()
}

/// Adds Rust's standard library for the target.
fn install_target() -> anyhow::Result<()> {
    let installed = step::output(&mut step::command("rustup", &["target", "list", "--installed"]))?;
    if installed.lines().any(|line| line == TARGET) {
        return Ok(());
    }
    eprintln!("installing Rust's standard library for {TARGET}");
    step::run_aside(&mut step::command("rustup", &["target", "add", TARGET]))
}

/// Builds for the target, and lints on the way.
fn build_with(arguments: &[&str]) -> anyhow::Result<Built> {
    let linker = format!("target.{TARGET}.linker=\"aarch64-linux-gnu-gcc\"");
    let begin = ["build", "--target", TARGET, "--config", &linker];
    suite::build(&[&begin[..], arguments].concat())
}

/// Builds the product and the tests for the target.
fn build_for_target() -> anyhow::Result<Built> {
    let tests = selection::TARGETS.iter().flat_map(|name| ["--test", name]);
    let product = ["-p", "gapiid", "-p", "gapii-ctl", "-p", suite::SYSTEM];
    let binaries = ["--bin", "gapiid", "--bin", "gapii-ctl"];
    let product: Vec<_> = product.into_iter().chain(binaries).chain(tests).collect();
    let mut built = build_with(&product)?;
    built.extend(build_with(&["-p", build::SHIM, "--lib", "--tests"])?);
    let units: Vec<_> = UNITS.iter().flat_map(|package| ["-p", package]).collect();
    built.extend(build_with(&[&units[..], &["--lib", "--tests"]].concat())?);
    build::lay_out(&tree::artifacts_for(TARGET))?;
    Ok(built)
}

/// Debian for arm64, and what its programs may write.
struct Guest {
    chroot: Chroot,
    /// Compiled programs of the tests, and what tests make once.
    writable: PathBuf,
    /// Lies in `writable`; for what tests make once.
    once: tempfile::TempDir,
}

impl Guest {
    fn open() -> anyhow::Result<Self> {
        // The cross compiler links with the C library of this system's release, so that release or a later one is needed.
        let suite = release()?;
        let contents =
            Contents { suite: &suite, architecture: Some(ARCHITECTURE), packages: IN_CHROOT };
        let chroot = Chroot::open(tree::target().join(ARCHITECTURE).join(&suite), &contents)?;
        // Where the tests look for compiled programs, in tests/src/artifacts.rs.
        let writable = tree::target().join(TARGET).join("gapii-tests");
        fs::create_dir_all(&writable)
            .with_context(|| format!("can't make {}", writable.display()))?;
        let once = tempfile::Builder::new().prefix("once-").tempdir_in(&writable)?;
        Ok(Self { chroot, writable, once })
    }

    /// A command that runs a test executable in the folder.
    fn start(&self, test: &Executable) -> anyhow::Result<Command> {
        self.start_with(test, &[])
    }

    fn start_with(
        &self,
        test: &Executable,
        variables: &[(&str, String)],
    ) -> anyhow::Result<Command> {
        let folders = [tree::root().to_path_buf(), tree::target()];
        let once = ("GAPII_TEST_ONCE", self.once.path().display().to_string());
        // As in a run on this machine: the shaders of most programs run once.
        let shaders = ("GALLIVM_PERF", "nopt".to_owned());
        let own = [once, shaders, ("GAPII_TEST_SLOWNESS", SLOWNESS.to_string())];
        let variables = [&own[..], variables].concat();
        self.chroot.command(&folders, &self.writable, &variables, test.path())
    }
}

/// Name of this system's release of Debian.
fn release() -> anyhow::Result<String> {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|line| line.strip_prefix("VERSION_CODENAME="));
    name.map(str::to_owned).context("/etc/os-release has no VERSION_CODENAME")
}

fn unit_tests(guest: &Guest, tests: &[Executable], jobs: usize) -> anyhow::Result<f64> {
    let mut all = Vec::new();
    for test in tests.iter().filter(|test| !test.is_system()) {
        let mut job = test.whole(&|test| guest.start(test), 2)?;
        let left_out = selection::UNITS_LEFT_OUT.iter();
        left_out
            .filter(|(package, _, _)| *package == test.package)
            .for_each(|(_, test, _)| job.skip(test));
        all.push(job);
    }
    suite::require_success(&suite::run(all, jobs)?)
}

/// Counts the instructions of calls with the shim as it ships. The tools around it are those of the tests.
fn instructions(guest: &Guest, tests: &[Executable]) -> anyhow::Result<f64> {
    const COUNT: &str = "instruction_counts::calls_take_as_many_instructions_as_before_on_arm64";
    build_with(&["--release", "-p", build::SHIM, "--lib"])?;
    let folder = tree::target().join(TARGET).join("counted");
    build::link(&folder, &[gapii_package::SHIM], "../release/libgapii.so")?;
    for tool in [gapii_package::CTL, gapii_package::DAEMON] {
        build::link(&folder, &[tool], &format!("../debug/{tool}"))?;
    }
    build::lay_out(&folder)?;
    let variable = ("GAPII_ARTIFACTS", folder.display().to_string());
    let start = |test: &Executable| guest.start_with(test, std::slice::from_ref(&variable));
    let job = target_of(tests, "recording")?.ignored(&start, COUNT)?;
    suite::require_success(&suite::run(vec![job], 1)?)
}

/// Records on each processor and plays on the other one; runs a program for the other processor.
fn both_processors(
    guest: &Guest,
    theirs: &[Executable],
    own: &[Executable],
) -> anyhow::Result<f64> {
    const RECORD: &str = "processors::traces_are_recorded_for_another_processor";
    const PLAY: &str = "processors::traces_of_another_processor_are_played_exactly";
    let folder = guest.once.path();
    let of_arm64 = ("GAPII_TEST_EXCHANGED", folder.join("of-arm64").display().to_string());
    let of_host = ("GAPII_TEST_EXCHANGED", folder.join("of-host").display().to_string());
    let there = |test: &str, variable: &(&str, String)| {
        let start = |test: &Executable| guest.start_with(test, std::slice::from_ref(variable));
        target_of(theirs, "replay")?.ignored(&start, test)
    };
    let here = |test: &str, (name, value): &(&str, String)| {
        let mut job = target_of(own, "replay")?.ignored(&Executable::here, test)?;
        job.set(name, value);
        anyhow::Ok(job)
    };
    let mut foreign = target_of(own, "recording")?
        .ignored(&Executable::here, "reasons::program_for_another_processor_is_named")?;
    foreign.set("GAPII_TEST_EXCHANGED", &of_arm64.1);
    foreign.set("QEMU_LD_PREFIX", guest.chroot.root());
    let rounds = [
        vec![there(RECORD, &of_arm64)?, here(RECORD, &of_host)?],
        vec![here(PLAY, &of_arm64)?, there(PLAY, &of_host)?, foreign],
    ];
    let mut cpu_seconds = 0.0;
    for round in rounds {
        cpu_seconds += suite::require_success(&suite::run(round, 1)?)?;
    }
    Ok(cpu_seconds)
}

fn target_of<'a>(tests: &'a [Executable], target: &str) -> anyhow::Result<&'a Executable> {
    let found = tests.iter().find(|test| test.is_system() && test.target == target);
    found.with_context(|| format!("the target {target} was not built"))
}
