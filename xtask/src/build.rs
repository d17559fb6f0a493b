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

use crate::suite::{self, Built};
use crate::tree::Profile;
use crate::{mcp_server, step, tree};

/// The shim's package.
pub const SHIM: &str = "gapii-shim";

/// The package that requests the features of all packages but the shim.
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
    mcp_server::build(Profile::Release)
}

/// Builds the product without the server for agents, which no test and no demonstration needs.
pub fn product(profile: Profile) -> anyhow::Result<()> {
    match profile {
        Profile::Release => release(),
        Profile::Dev => dev(Tests::None).map(drop),
    }
}

fn release() -> anyhow::Result<()> {
    // The operator belongs to the tests, which build nothing themselves. Alone it would get its dependencies built anew.
    cargo_build(&["-p", "gapiid", "-p", "gapii-ctl", "-p", "gapii-test-operator"])?;
    // Built alone, or cargo would give libraries of the shim the features that the tools' libraries request.
    cargo_build(&["-p", SHIM])?;
    // So does the null driver.
    cargo_build(&["-p", "gapii-ze-layer", "-p", "gapii-ze-null-driver"])?;
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

/// Builds the product in the profile of the tests, with `tests`, and lints it on the way.
pub fn dev(tests: Tests) -> anyhow::Result<Built> {
    let mut built = dev_without_shim(tests)?;
    built.extend(dev_shim(tests == Tests::All)?);
    Ok(built)
}

/// Builds all of the product but the shim, with `tests`.
///
/// Cargo compiles a dependency anew for every set of features, and the features follow from the packages on the command
/// line. So this always names the same packages, and only the targets differ; [`unit_tests`] names `FEATURES`.
pub fn dev_without_shim(tests: Tests) -> anyhow::Result<Built> {
    let mut arguments =
        vec!["build", "--workspace", "--exclude", SHIM, "--lib", "--bins", "--examples"];
    match tests {
        Tests::None => {}
        Tests::System => arguments.extend(suite::TARGETS.iter().flat_map(|name| ["--test", name])),
        Tests::All => arguments.push("--tests"),
    }
    suite::build(&arguments)
}

/// Builds the shim, with its tests or without, and lays out the product.
///
/// It is built alone, or cargo would give its libraries the features that the tools' libraries request.
pub fn dev_shim(with_tests: bool) -> anyhow::Result<Built> {
    let mut arguments = vec!["build", "-p", SHIM, "--lib"];
    if with_tests {
        // Both take a compiler most of its time on one core, so they take little longer together than alone.
        arguments.push("--tests");
    }
    let built = suite::build(&arguments)?;
    lay_out(&tree::artifacts(Profile::Dev))?;
    Ok(built)
}

/// Builds the compiler of the API descriptions. It shares its dependencies with [`dev`].
pub fn apigen() -> anyhow::Result<()> {
    suite::build(&["build", "--workspace", "--exclude", SHIM, "--bin", "apigen"]).map(drop)
}

/// Builds `packages`, which the shim is none of, and their unit tests. Shares all dependencies with [`dev`].
pub fn unit_tests(packages: &BTreeSet<String>) -> anyhow::Result<Built> {
    if packages.is_empty() {
        return Ok(Built::default());
    }
    let packages = packages.iter().map(String::as_str).chain([FEATURES]);
    let targets = ["build", "--lib", "--bins", "--examples", "--tests"];
    let packages = packages.flat_map(|package| ["-p", package]);
    suite::build(&targets.into_iter().chain(packages).collect::<Vec<_>>())
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
        for (package, expected) in features(&["--workspace", "--exclude", SHIM]) {
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
