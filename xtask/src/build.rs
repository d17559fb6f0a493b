//! `build`: the product, laid out in the build folder as `gapii-ctl run` expects it: the shim under the names of EGL's
//! and OpenGL ES' libraries, the tracing layer, headers and files of pkg-config for tools. In release by default, with
//! `--dev` in the profile of the tests.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::Context;
use clap::Args;
use gapii_package::{
    CTL, CTL_SHORT, HEADERS, HEADERS_FOLDER, LAYER, LAYER_FOLDER, LAYER_SONAME, Place, SHARED,
    SONAMES, SONAMES_FOLDER, STATIC,
};

use crate::own_workspace::{FLEET, MCP};
use crate::suite::{self, Built};
use crate::tree::Profile;
use crate::{step, tree};

/// The shim's package.
pub const SHIM: &str = "gapii-shim";

/// The package that requests the features of all packages.
const FEATURES: &str = "gapii-features";

#[derive(Args)]
pub struct Build {
    /// Build in the profile of the tests, into target/debug: with debug assertions and overflow checks
    #[arg(long)]
    dev: bool,
}

pub fn run(args: &Build) -> anyhow::Result<()> {
    match args.dev {
        true => product(Profile::Dev),
        false => all(),
    }
}

/// Builds all that people install.
pub fn all() -> anyhow::Result<()> {
    product(Profile::Release)?;
    MCP.build(Profile::Release)?;
    FLEET.build(Profile::Release)
}

/// Builds the product without the programs of other workspaces, which no test and no demonstration needs.
pub fn product(profile: Profile) -> anyhow::Result<()> {
    match profile {
        Profile::Release => release(),
        Profile::Dev => dev(Tests::None).map(drop),
    }
}

/// In one command, so that no core waits while the other compiles the shim, which is one unit of code.
fn release() -> anyhow::Result<()> {
    // The tests build neither their operator nor the null driver.
    let product = ["gapiid", "gapii-ctl", SHIM, "gapii-ze-layer"];
    let of_tests = ["gapii-test-operator", "gapii-ze-null-driver"];
    let packages = product.into_iter().chain(of_tests).flat_map(|package| ["-p", package]);
    cargo_build(&packages.collect::<Vec<_>>())?;
    // An example of a tool in Rust.
    cargo_build(&["-p", "gapii", "--examples"])?;
    lay_out(&tree::artifacts(Profile::Release))
}

fn cargo_build(packages: &[&str]) -> anyhow::Result<()> {
    step::run(step::cargo(&["build", "--release"]).args(packages))
}

/// The tests that are built beside the product.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Tests {
    None,
    System,
    All,
}

/// What of every package is built besides tests. Naming examples requests the features of all dependencies of tests.
const PRODUCTS: [&str; 3] = ["--lib", "--bins", "--examples"];

/// Builds the product in the profile of the tests, with `tests`, and lints it on the way.
///
/// Cargo compiles a dependency anew for every set of features, and the features follow from the packages on the command
/// line. So this always names the same packages, and only the targets differ; [`unit_tests`] and [`dev_shim`] name
/// `FEATURES`.
pub fn dev(tests: Tests) -> anyhow::Result<Built> {
    let built =
        suite::build(&[&["build", "--workspace"], &PRODUCTS[..], &targets(tests)].concat())?;
    lay_out(&tree::artifacts(Profile::Dev))?;
    Ok(built)
}

/// Builds all of the product but the shim, with `tests`.
pub fn dev_without_shim(tests: Tests) -> anyhow::Result<Built> {
    let packages = ["build", "--workspace", "--exclude", SHIM];
    suite::build(&[&packages, &PRODUCTS[..], &targets(tests)].concat())
}

fn targets(tests: Tests) -> Vec<&'static str> {
    match tests {
        Tests::None => Vec::new(),
        Tests::System => suite::TARGETS.iter().flat_map(|name| ["--test", name]).collect(),
        Tests::All => vec!["--tests"],
    }
}

/// Builds the shim, with its tests or without, and lays out the product.
pub fn dev_shim(with_tests: bool) -> anyhow::Result<Built> {
    let packages = ["build", "-p", SHIM, "-p", FEATURES];
    // Both take a compiler most of its time on one core, so they take little longer together than alone.
    let tests: &[&str] = if with_tests { &["--tests"] } else { &[] };
    let built = suite::build(&[&packages, &PRODUCTS[..], tests].concat())?;
    lay_out(&tree::artifacts(Profile::Dev))?;
    Ok(built)
}

/// Builds the compiler of the API descriptions. It shares its dependencies with [`dev`].
pub fn apigen() -> anyhow::Result<()> {
    suite::build(&["build", "--workspace", "--bin", "apigen"]).map(drop)
}

/// Builds `packages` and their unit tests. Shares all dependencies with [`dev`].
pub fn unit_tests(packages: &BTreeSet<String>) -> anyhow::Result<Built> {
    if packages.is_empty() {
        return Ok(Built::default());
    }
    let packages = packages.iter().map(String::as_str).chain([FEATURES]);
    let packages: Vec<_> = packages.flat_map(|package| ["-p", package]).collect();
    suite::build(&[&["build"], &PRODUCTS[..], &["--tests"], &packages].concat())
}

/// Puts links, headers and the files of pkg-config beside the built libraries in `folder`, where users and tests look.
pub fn lay_out(folder: &Path) -> anyhow::Result<()> {
    link(folder, &[CTL_SHORT], CTL)?;
    let shim = format!("../{}", gapii_package::SHIM);
    link(&folder.join(SONAMES_FOLDER), &SONAMES, &shim)?;
    link(&folder.join(LAYER_FOLDER), &[LAYER_SONAME], &format!("../{LAYER}"))?;
    lay_out_headers(folder)
}

/// Puts the headers, and the files of pkg-config with their path, beside the shim.
fn lay_out_headers(folder: &Path) -> anyhow::Result<()> {
    let include = tree::root().join("tool/include");
    for name in HEADERS {
        write(&folder.join(HEADERS_FOLDER).join(name), &read(&include.join(name))?)?;
    }
    for name in [SHARED, STATIC] {
        write(&folder.join("pkgconfig").join(name), &Place::of_build().file(name))?;
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("can't write {}", path.display()))
}

/// Makes `names` in `folder` lead to `target`.
pub fn link(folder: &Path, names: &[&str], target: &str) -> anyhow::Result<()> {
    let made = fs::create_dir_all(folder).and_then(|()| {
        names.iter().try_for_each(|name| match symlink(target, folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        })
    });
    made.with_context(|| format!("can't make {}", folder.display()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    /// The crates that a build of `packages` compiles, with their features. A crate has several sets of features if it
    /// is also a part of procedural macros.
    fn features(packages: &[&str]) -> BTreeMap<String, BTreeSet<String>> {
        let form = ["--prefix", "none", "--format", "{p}|{f}", "--edges", "normal,build,dev"];
        let mut tree = step::cargo(&["tree", "--locked", "--offline"]);
        let printed = step::output(tree.args(packages).args(form)).unwrap();
        let mut crates = BTreeMap::<_, BTreeSet<_>>::new();
        for line in printed.lines().filter(|line| !line.is_empty()) {
            let (package, features) = line.split_once('|').unwrap();
            let features = features.trim_end_matches(" (*)");
            crates.entry(package.to_owned()).or_default().insert(features.to_owned());
        }
        crates
    }

    /// Or `check` would compile the dependency a second time.
    #[test]
    fn every_dependency_has_the_features_that_the_whole_workspace_requests() {
        let root = tree::root().to_str().unwrap();
        let requested = features(&["-p", FEATURES]);
        for (package, expected) in features(&["--workspace"]) {
            if !package.contains(root) {
                assert_eq!(
                    requested.get(&package),
                    Some(&expected),
                    "{package}: to be mended in tests/features/Cargo.toml"
                );
            }
        }
    }
}
