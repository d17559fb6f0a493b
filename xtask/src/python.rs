//! Virtual environments with a package of PyPI, for checks with other people's code.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step;

/// Returns the Python of the virtual environment `environment`, which has `package`; makes it the first time.
pub fn with(package: &str, environment: &Path) -> anyhow::Result<PathBuf> {
    let python = environment.join("bin/python");
    let has_package = || {
        let import = Command::new(&python).args(["-c", &format!("import {package}")]).output();
        import.is_ok_and(|output| output.status.success())
    };
    if !has_package() {
        step::run_aside(step::command("python3", &["-m", "venv", "--clear"]).arg(environment))?;
        let install = ["-m", "pip", "install", "--quiet", package];
        step::run_aside(Command::new(&python).args(install))?;
    }
    Ok(python)
}
