//! `build`: the product in release, as `gapii-ctl run` finds it in the build folder.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;
use std::path::Path;

use anyhow::Context;

use crate::{step, tree};

/// The names under which programs load EGL and OpenGL ES; all are the shim.
const SONAMES: [&str; 6] = [
    "libEGL.so",
    "libEGL.so.1",
    "libGLESv1_CM.so",
    "libGLESv1_CM.so.1",
    "libGLESv2.so",
    "libGLESv2.so.2",
];

const SONAMES_FOLDER: &str = "sonames";

/// What tools in C are built with, in folders beside the shim.
const HEADERS: [&str; 2] = ["gapii.h", "gapii_commands.h"];
const PKG_CONFIG: &str = "gapii.pc";

/// Where Level Zero's loader finds the tracing layer, by the folder's being on its library path.
const LAYER_FOLDER: &str = "level-zero";
const LAYER_SONAME: &str = "libze_tracing_layer.so.1";

pub fn run() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapiid", "-p", "gapii-ctl"]))?;
    // By itself, or cargo would give the shim the feature `tools` of gapii-state.
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapii-shim"]))?;
    // The null driver is the tests' own, which build nothing.
    let level_zero = ["build", "--release", "-p", "gapii-ze-layer", "-p", "gapii-ze-null-driver"];
    step::run(&mut step::cargo(&level_zero))?;
    // A tool in Rust, to try.
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapii", "--examples"]))?;
    link(SONAMES_FOLDER, &SONAMES, "libgapii.so")?;
    link(LAYER_FOLDER, &[LAYER_SONAME], "libze_tracing_layer.so")?;
    lay_out_headers()
}

/// Puts the headers, and the file that says where they are, beside the shim.
fn lay_out_headers() -> anyhow::Result<()> {
    let tool = tree::root().join("tool");
    for name in HEADERS {
        let text = read(&tool.join("include").join(name))?;
        write(&tree::release().join("include").join(name), &text)?;
    }
    let text = read(&tool.join(PKG_CONFIG).with_extension("pc.in"))?;
    let text = text.replace("@VERSION@", env!("CARGO_PKG_VERSION"));
    write(&tree::release().join("pkgconfig").join(PKG_CONFIG), &text)
}

fn read(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("can't read {}", path.display()))
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("can't write {}", path.display()))
}

/// Makes `names` in a folder of the build lead to a library beside it.
fn link(folder: &str, names: &[&str], library: &str) -> anyhow::Result<()> {
    let folder = tree::release().join(folder);
    let made = fs::create_dir_all(&folder).and_then(|()| {
        let target = Path::new("..").join(library);
        names.iter().try_for_each(|name| match symlink(&target, folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        })
    });
    made.with_context(|| format!("can't make {}", folder.display()))
}
