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

/// Where Level Zero's loader finds the tracing layer, by the folder's being on its library path.
const LAYER_FOLDER: &str = "level-zero";
const LAYER_SONAME: &str = "libze_tracing_layer.so.1";

pub fn run() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapiid", "-p", "gapii-ctl"]))?;
    // By itself, or cargo would give the shim the features that the tools need.
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapii-shim"]))?;
    // The null driver is the tests' own, which build nothing.
    let level_zero = ["build", "--release", "-p", "gapii-ze-layer", "-p", "gapii-ze-null-driver"];
    step::run(&mut step::cargo(&level_zero))?;
    link(SONAMES_FOLDER, &SONAMES, "libgapii.so")?;
    link(LAYER_FOLDER, &[LAYER_SONAME], "libze_tracing_layer.so")
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
