//! The units in systemd/, as systemd itself checks them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Largest exposure of a service by `systemd-analyze security`, in tenths.
const EXPOSURE_MAX_TENTHS: u32 = 20;

fn units(folder: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../systemd").join(folder)
}

/// Runs `systemd-analyze` for the system's manager or a user's. Returns its output.
fn analyze(user: bool, words: &[&str], paths: &[PathBuf]) -> (bool, String) {
    let runtime = tempfile::tempdir().unwrap();
    let mut command = Command::new("systemd-analyze");
    if user {
        command.arg("--user");
    }
    let output = command
        .args(words)
        .args(paths)
        .env("XDG_RUNTIME_DIR", runtime.path())
        .output()
        .unwrap_or_else(|error| panic!("apt-get install systemd has systemd-analyze: {error}"));
    let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.success(), said.concat())
}

/// Copies the units of a folder, with the daemon's path on this machine.
fn copies(folder: &str, into: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(units(folder)).unwrap().map(|entry| entry.unwrap().path());
    let is_unit = |path: &PathBuf| {
        path.extension().is_some_and(|extension| extension == "service" || extension == "socket")
    };
    files
        .filter(is_unit)
        .map(|path| {
            let text = fs::read_to_string(&path).unwrap();
            let copy = into.join(path.file_name().unwrap());
            fs::write(&copy, text.replace("/usr/bin/gapiid", env!("CARGO_BIN_EXE_gapiid")))
                .unwrap();
            copy
        })
        .collect()
}

#[test]
fn units_have_no_mistake() {
    for (folder, user) in [("", false), ("user", true)] {
        let place = tempfile::tempdir().unwrap();
        let copies = copies(folder, place.path());
        assert_eq!(copies.len(), 4, "{copies:?}");
        // It accepts a unit with an unknown key, so its output counts, too.
        let (passed, said) = analyze(user, &["verify", "--man=no"], &copies);
        assert!(passed && said.is_empty(), "{said}");
    }
}

#[test]
fn services_are_hardly_exposed() {
    let threshold = format!("--threshold={EXPOSURE_MAX_TENTHS}");
    for (folder, user) in [("", false), ("user", true)] {
        let unit = units(folder).join("gapiid.service");
        let (passed, said) =
            analyze(user, &["security", "--offline=true", "--no-pager", &threshold], &[unit]);
        assert!(passed && said.contains("Overall exposure level"), "{said}");
    }
}
