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

/// Copies the units of a folder, with a path of this machine as that of their programs.
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
            let here = env!("CARGO_BIN_EXE_gapiid");
            let text = text.replace("/usr/bin/gapiid", here).replace("/usr/bin/gapii-upload", here);
            fs::write(&copy, text).unwrap();
            copy
        })
        .collect()
}

#[test]
fn units_have_no_mistake() {
    for (folder, user, count) in [("", false, 5), ("user", true, 4)] {
        let place = tempfile::tempdir().unwrap();
        let copies = copies(folder, place.path());
        assert_eq!(copies.len(), count, "{copies:?}");
        // It accepts a unit with an unknown key, so its output counts, too.
        let (passed, said) = analyze(user, &["verify", "--man=no"], &copies);
        assert!(passed && said.is_empty(), "{said}");
    }
}

#[test]
fn services_are_hardly_exposed() {
    let threshold = format!("--threshold={EXPOSURE_MAX_TENTHS}");
    for (unit, user) in
        [("gapiid.service", false), ("gapii-upload.service", false), ("user/gapiid.service", true)]
    {
        let unit = units(unit);
        let (passed, said) =
            analyze(user, &["security", "--offline=true", "--no-pager", &threshold], &[unit]);
        assert!(passed && said.contains("Overall exposure level"), "{said}");
    }
}

/// The part of the product that has credentials is none that reads what programs write.
#[test]
fn daemon_has_no_network_and_the_uploads_have_no_daemon() {
    for folder in ["", "user"] {
        let daemon = fs::read_to_string(units(folder).join("gapiid.service")).unwrap();
        for line in ["PrivateNetwork=yes", "RestrictAddressFamilies=AF_UNIX", "IPAddressDeny=any"] {
            assert!(daemon.lines().any(|it| it == line), "{line} in {folder}gapiid.service");
        }
        assert!(!daemon.contains("Credential") && !daemon.contains("EnvironmentFile"));
    }
    let uploads = fs::read_to_string(units("gapii-upload.service")).unwrap();
    assert!(!uploads.lines().any(|it| !it.starts_with('#') && it.contains("gapiid")), "{uploads}");
}
