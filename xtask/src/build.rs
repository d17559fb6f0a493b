//! `build`: the product in release, as `gapii-ctl run` finds it in the build folder.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::symlink;

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

pub fn run() -> anyhow::Result<()> {
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapiid", "-p", "gapii-ctl"]))?;
    // By itself, or cargo would give the shim the features that the tools need.
    step::run(&mut step::cargo(&["build", "--release", "-p", "gapii-shim"]))?;
    link_sonames().context("can't make the folder of sonames")
}

fn link_sonames() -> std::io::Result<()> {
    let folder = tree::release().join("sonames");
    fs::create_dir_all(&folder)?;
    for name in SONAMES {
        match symlink("../libgapii.so", folder.join(name)) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
            _ => {}
        }
    }
    Ok(())
}
