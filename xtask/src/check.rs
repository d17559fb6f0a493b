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
use crate::suite::{self, Built};
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
    let summary = Summary::default();
    let mut built = Built::default();
    // After a small change the build waits for one crate after the other, and leaves a core to these.
    std::thread::scope(|scope| {
        scope.spawn(|| {
            summary.check_aside("formatting", lint::FORMAT_COMMAND, lint::format_command());
            summary.check_aside("tidy", "cargo xtask tidy", step::own(&["tidy"]));
        });
        summary.check_beside("build of tests and products", "cargo build --all-targets", || {
            built = needs.build()?;
            Ok(())
        });
    });
    summary.check("clippy", lint::CLIPPY_COMMAND, || built.require_no_warnings());
    if needs.is_generated {
        for (name, again, arguments) in generate::CHECKS {
            summary.check(name, again, || step::run(&mut step::own(arguments)));
        }
    }
    let tests = built.tests;
    if !needs.tested.is_empty() {
        summary.check_measured("unit tests", "cargo test -p PACKAGE", || test::unit_tests(&tests));
    }
    if !needs.system.is_empty() {
        summary.check_measured("whole-system tests", "cargo xtask test NAME", || {
            let only: Vec<_> = needs.system.iter().cloned().collect();
            test::system_tests(&tests, Profile::Dev, &only, None)
        });
    }
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

    /// Builds the product and the needed tests, and returns the test programs. Unlike `cargo xtask test`, builds no
    /// unit tests of other packages, which would take most of the time.
    fn build(&self) -> anyhow::Result<Built> {
        let mut built = Built::default();
        let mut others = self.tested.clone();
        if !self.system.is_empty() {
            packages::install(&[packages::DEMO, packages::TEST])?;
            let with_shim = others.remove(build::SHIM);
            built.extend(build::dev(if with_shim { Tests::SystemAndShim } else { Tests::System })?);
        }
        built.extend(build::unit_tests(&others)?);
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
