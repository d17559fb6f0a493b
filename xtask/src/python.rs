//! Virtual environments with packages of PyPI, for checks with other people's code.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::step;

/// Returns the Python of the virtual environment `environment`, which has `packages`; makes it the first time.
pub fn with(packages: &[&str], environment: &Path) -> anyhow::Result<PathBuf> {
    let python = environment.join("bin/python");
    let has_packages = || {
        let import = format!("import {}", packages.join(", "));
        let import = Command::new(&python).args(["-c", &import]).output();
        import.is_ok_and(|output| output.status.success())
    };
    if !has_packages() {
        step::run_aside(step::command("python3", &["-m", "venv", "--clear"]).arg(environment))?;
        let install = ["-m", "pip", "install", "--quiet"];
        step::run_aside(Command::new(&python).args(install).args(packages))?;
    }
    Ok(python)
}
