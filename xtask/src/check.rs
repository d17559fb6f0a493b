//! `check`: the checks that a change needs before a commit, for the files that differ from a revision (default HEAD) or
//! are new: formatting, clippy of the changed packages, tidy, generated code if `apis/` or `apigen/` changed, their
//! unit tests and the whole-system tests that `impact.rs` lists.
//!
//! `test` runs everything.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::build::{self, Tests};
use crate::generate;
use crate::suite::{self, Built, Executable};
use crate::summary::Summary;
use crate::tidy::Repository;
use crate::tree::Profile;
use crate::{impact, lint, packages, step, test, tree};

#[derive(Args)]
pub struct Check {
    /// Revision that the changes are counted from
    #[arg(long, default_value = "HEAD")]
    base: String,
}

/// Checks that the changed files need.
#[derive(Default, Debug)]
struct Needs {
    /// Packages with a changed file.
    changed: BTreeSet<String>,
    /// Packages whose unit tests run.
    tested: BTreeSet<String>,
    /// Parts of names of whole-system tests.
    system: BTreeSet<String>,
    /// True if descriptions or their compiler have changed.
    is_generated: bool,
}

pub fn run(args: &Check) -> anyhow::Result<()> {
    let repository = Repository::read(tree::root())?;
    let files = changed_files(&args.base)?;
    if files.is_empty() {
        println!("nothing differs from {}", args.base);
        return Ok(());
    }
    let needs = Needs::of(&files, &repository);
    println!("changed: {}", list(&needs.changed));
    println!("unit tests: {}", list(&needs.tested));
    println!("whole-system tests: {}", list(&needs.system));
    lint::install_components()?;
    if !needs.system.is_empty() {
        packages::install(&[packages::DEMO, packages::TEST])?;
    }
    let summary = Summary::default();
    let (mut built, mut shim) = (Built::default(), Built::default());
    // After a small change the build waits for one crate after the other, and leaves a core to these.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            summary.check_aside("formatting", lint::FORMAT_COMMAND, lint::format_command());
            summary.check_aside("tidy", "cargo xtask tidy", step::own(&["tidy"]));
        });
        summary.check_beside("build of tools and tests", "cargo build --all-targets", || {
            built = needs.build_without_shim()?;
            Ok(())
        });
    });
    let unit_tests = |name: &'static str, tests: &[Executable]| {
        summary.check_measured(name, "cargo test -p PACKAGE", || test::unit_tests(tests));
    };
    // The shim is one crate, so its build leaves a core, too.
    std::thread::scope(|scope| {
        if needs.tests_others() {
            scope.spawn(|| unit_tests("unit tests", &built.tests));
        }
        if needs.builds_shim() {
            summary.check_beside("build of the shim", "cargo xtask build --dev", || {
                shim = build::dev_shim(needs.tests_shim())?;
                Ok(())
            });
        }
    });
    if needs.tests_shim() {
        unit_tests("unit tests of the shim", &shim.tests);
    }
    built.extend(shim);
    summary.check("clippy", lint::CLIPPY_COMMAND, || built.require_no_warnings());
    std::thread::scope(|scope| {
        if needs.is_generated {
            scope.spawn(|| {
                for (name, again, arguments) in generate::CHECKS {
                    summary.check_aside(name, again, step::own(arguments));
                }
            });
        }
        if !needs.system.is_empty() {
            summary.check_measured("whole-system tests", "cargo xtask test NAME", || {
                let only: Vec<_> = needs.system.iter().cloned().collect();
                test::system_tests(&built.tests, Profile::Dev, &only, None)
            });
        }
    });
    summary.finish()
}

impl Needs {
    fn of(files: &[PathBuf], repository: &Repository) -> Self {
        let mut needs = Self::default();
        for file in files {
            let text = file.to_str().unwrap_or_default();
            if let Some(package) = repository.package_of(file) {
                needs.changed.insert(package.to_owned());
                if package != suite::SYSTEM {
                    needs.tested.insert(package.to_owned());
                }
            }
            if let Some(part) = impact::part_of(text) {
                needs.tested.extend(part.packages.iter().map(|&name| name.to_owned()));
                needs.system.extend(part.system.iter().map(|&name| name.to_owned()));
            }
            needs.system.extend(impact::module_of(text));
            needs.is_generated |= file.starts_with("apis") || file.starts_with("apigen");
        }
        needs
    }

    fn tests_shim(&self) -> bool {
        self.tested.contains(build::SHIM)
    }

    /// Whether unit tests of other packages than the shim run.
    fn tests_others(&self) -> bool {
        self.tested.iter().any(|package| package != build::SHIM)
    }

    fn builds_shim(&self) -> bool {
        self.tests_shim() || !self.system.is_empty()
    }

    /// Builds the product but the shim, and the needed tests. Unlike `cargo xtask test`, builds no unit tests of other
    /// packages, which would take most of the time.
    fn build_without_shim(&self) -> anyhow::Result<Built> {
        let mut built = Built::default();
        if !self.system.is_empty() {
            built.extend(build::dev_without_shim(Tests::System)?);
        }
        let others = self.tested.iter().filter(|package| *package != build::SHIM).cloned();
        built.extend(build::unit_tests(&others.collect())?);
        built.tests.retain(|test| test.is_system() || self.tested.contains(&test.package));
        Ok(built)
    }
}

/// Files that differ from `base` or that git does not know yet, from the root.
fn changed_files(base: &str) -> anyhow::Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    let commands: [&[&str]; 2] =
        [&["diff", "--name-only", base], &["ls-files", "--others", "--exclude-standard"]];
    for arguments in commands {
        let listed = step::output(&mut step::command("git", arguments))?;
        found.extend(listed.lines().map(|line| Path::new(line).to_path_buf()));
    }
    Ok(found.into_iter().collect())
}

fn list(names: &BTreeSet<String>) -> String {
    if names.is_empty() {
        return "none".to_owned();
    }
    names.iter().map(String::as_str).collect::<Vec<_>>().join(", ")
}
