//! The Debian packages: a manifest for cargo-deb for each, whose assets are the staged files of the package. Their texts
//! are in package/debian/.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use gapii_package::{Content, File, Layout, Package};

use super::stage::{empty, stage};
use crate::{step, tree};

/// The version of cargo-deb that is installed.
const CARGO_DEB: &str = "3.8.0";

const MAINTAINER: &str = "gapii maintainers <maintainers@gapii.example>";

/// What the control file says about a package. `$auto` stands for the packages that its programs and libraries need.
struct Control {
    section: &'static str,
    depends: &'static str,
    recommends: &'static str,
    suggests: &'static str,
    synopsis: &'static str,
    /// Stands behind [`ABOUT_ALL`].
    description: &'static str,
}

/// What the description of each package begins with.
const ABOUT_ALL: &str = "gapii records every command that a program issues to EGL, GLX, OpenGL,\n\
                         OpenGL ES and Level Zero, from all threads and processes.\n";

fn control(package: Package) -> Control {
    match package {
        Package::Tools => Control {
            section: "devel",
            depends: "$auto, libgapii0 (= @VERSION@)",
            recommends: "libegl1, libgles2",
            suggests: "gapii-level-zero, libgles1",
            synopsis: "records and replays the graphics commands of a program",
            description: "This package has the tool gapii-ctl, which records, inspects and\n\
                          replays, and the daemon gapiid.",
        },
        Package::Shim => Control {
            section: "libs",
            depends: "$auto",
            recommends: "",
            suggests: "",
            synopsis: "records graphics commands: the library inside the program",
            description: "This package has the library that gapii-ctl puts between a program and\n\
                          its driver.",
        },
        Package::Development => Control {
            section: "libdevel",
            depends: "libgapii0 (= @VERSION@)",
            recommends: "",
            suggests: "pkgconf",
            synopsis: "headers for code around graphics commands that gapii records",
            description: "This package has the headers for tools that run code before and after\n\
                          a command, an example, and the library for programs that contain\n\
                          gapii.",
        },
        Package::LevelZero => Control {
            section: "libs",
            depends: "$auto, libgapii0 (= @VERSION@)",
            recommends: "libze1",
            suggests: "",
            synopsis: "records the Level Zero commands of a program: the tracing layer",
            description: "This package has the layer through which it records Level Zero. gapii-\n\
                          ctl run finds it.",
        },
        Package::Agents => Control {
            section: "devel",
            depends: "$auto, gapii (= @VERSION@)",
            recommends: "",
            suggests: "",
            synopsis: "lets an agent ask about recorded graphics commands",
            description: "This package has the server of the Model Context Protocol that gapii-\n\
                          ctl mcp starts: an agent asks it about recordings.",
        },
        Package::Fleet => Control {
            section: "devel",
            depends: "$auto, gapii (= @VERSION@)",
            recommends: "ca-certificates",
            suggests: "",
            synopsis: "recorded graphics commands of many machines",
            description: "This package has the program that gapii-ctl export starts to write\n\
                          recordings as tables in Parquet, also to object stores, and a service\n\
                          that uploads recordings of a folder to an object store.",
        },
    }
}

/// Makes all packages in `folder`, and returns their paths.
pub fn make(folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    install_cargo_deb()?;
    let work = folder.join("deb");
    let root = work.join("stage");
    let files = stage(&Layout::Debian, &root.join("usr"))?;
    let made = Package::ALL.iter().map(|package| {
        let manifest = write_manifest(*package, &files, &root, &work)?;
        let deb = folder.join(format!("{}_{}_{}.deb", package.name(), version(), architecture()?));
        let mut cargo_deb = Command::new(cargo_deb());
        cargo_deb.args(["--no-build", "--no-strip", "--deb-version", version(), "--manifest-path"]);
        cargo_deb.arg(&manifest).arg("--output").arg(&deb);
        if ![Package::Tools, Package::Agents, Package::Fleet].contains(package) {
            cargo_deb.args(["--multiarch", "same"]);
        }
        step::run_aside(&mut cargo_deb)?;
        Ok(deb)
    });
    made.collect()
}

/// Fails if lintian finds an error or a warning.
pub fn judge(debs: &[PathBuf]) -> anyhow::Result<()> {
    let options = ["--fail-on", "error,warning", "--allow-root"];
    step::run(step::command("lintian", &options).args(debs))
}

fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Debian's name of this processor.
fn architecture() -> anyhow::Result<String> {
    let said = step::output(&mut step::command("dpkg", &["--print-architecture"]))?;
    Ok(said.trim().to_owned())
}

/// Writes the manifest of `package`, and what else its assets need. Returns its path.
fn write_manifest(
    package: Package,
    files: &[File],
    root: &Path,
    work: &Path,
) -> anyhow::Result<PathBuf> {
    let folder = work.join(package.name());
    empty(&folder)?;
    let texts = tree::root().join("package/debian");
    let own = texts.join(package.name());
    let mut assets = String::new();
    let documents = format!("usr/share/doc/{}", package.name());
    for name in ["changelog", "copyright"] {
        let source = texts.join(name);
        assets += &asset(&source, &format!("{documents}/{name}"), "644");
    }
    let overrides = own.join("lintian-overrides");
    if overrides.exists() {
        let place = format!("usr/share/lintian/overrides/{}", package.name());
        assets += &asset(&overrides, &place, "644");
    }
    for file in files.iter().filter(|file| file.package == package) {
        let path = format!("usr/{}", file.path);
        assets += &match &file.content {
            Content::Link(target) => {
                format!("    {{ dest = {path:?}, link_name = {target:?} }},\n")
            }
            _ => asset(&root.join(&path), &path, if file.is_program { "755" } else { "644" }),
        };
    }
    let control = control(package);
    let description = format!("{ABOUT_ALL}{}", control.description);
    let depends = control.depends.replace("@VERSION@", version());
    let depends = match depends.contains("$auto") {
        true => depends.replace("$auto", &needed(package, files, root)?),
        false => depends,
    };
    let mut values = BTreeMap::from([
        ("maintainer", MAINTAINER),
        ("section", control.section),
        ("priority", "optional"),
        ("depends", &depends),
        ("recommends", control.recommends),
        ("suggests", control.suggests),
        ("extended-description", &description),
    ]);
    values.retain(|_, value| !value.is_empty());
    let scripts = own.to_string_lossy();
    if own.join("postinst").exists() {
        values.insert("maintainer-scripts", &scripts);
    }
    let values: String = values.iter().map(|(key, value)| format!("{key} = {value:?}\n")).collect();
    let manifest = folder.join("Cargo.toml");
    let text = format!(
        "[package]\nname = {:?}\nversion = {:?}\nedition = \"2024\"\nlicense = \"Apache-2.0\"\n\
         description = {:?}\n\n[lib]\npath = \"lib.rs\"\n\n[workspace]\n\n\
         [package.metadata.deb]\n{values}assets = [\n{assets}]\n",
        package.name(),
        version(),
        control.synopsis,
    );
    let written = fs::write(&manifest, text).and_then(|()| fs::write(folder.join("lib.rs"), ""));
    written.with_context(|| format!("can't write {}", manifest.display()))?;
    Ok(manifest)
}

/// Packages that the programs and libraries of `package` need, with versions, as dpkg-shlibdeps finds them.
///
/// cargo-deb does not ask about libraries whose names end with a version.
fn needed(package: Package, files: &[File], root: &Path) -> anyhow::Result<String> {
    let is_elf = |path: &PathBuf| {
        let mut magic = [0; 4];
        let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
        read.is_ok() && magic == *b"\x7fELF"
    };
    let own = files.iter().filter(|file| file.package == package);
    let built = own.filter(|file| matches!(file.content, Content::Built(_)));
    let paths = built.map(|file| root.join("usr").join(&file.path)).filter(is_elf);
    let folder = tempfile::tempdir().context("can't make a temporary folder")?;
    let control = folder.path().join("debian/control");
    fs::create_dir_all(folder.path().join("debian")).and_then(|()| fs::write(control, ""))?;
    let mut command = Command::new("dpkg-shlibdeps");
    command.arg("-O").args(paths).current_dir(folder.path());
    let said = step::output(&mut command)?;
    let depends = said.lines().find_map(|line| line.strip_prefix("shlibs:Depends="));
    depends.map(str::to_owned).with_context(|| format!("dpkg-shlibdeps says `{said}`"))
}

fn asset(source: &Path, path: &str, mode: &str) -> String {
    let source = source.to_string_lossy();
    format!("    [{source:?}, {path:?}, {mode:?}],\n")
}

fn cargo_deb() -> PathBuf {
    tree::target().join("package/tools/bin/cargo-deb")
}

/// Builds cargo-deb in the build folder if it is not there.
fn install_cargo_deb() -> anyhow::Result<()> {
    if cargo_deb().exists() {
        return Ok(());
    }
    let tools = tree::target().join("package/tools");
    eprintln!("installing cargo-deb {CARGO_DEB} in {}, which takes some minutes", tools.display());
    let mut install = step::cargo(&["install", "cargo-deb", "--version", CARGO_DEB, "--locked"]);
    install.arg("--root").arg(&tools).arg("--target-dir").arg(tools.join("build"));
    step::run_aside(&mut install)?;
    ensure!(cargo_deb().exists(), "cargo install has put no {}", cargo_deb().display());
    Ok(())
}
