//! The configuration, as the program reads and prints it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the daemon as a user whose configuration is in `folder`, and returns its output.
fn gapiid(folder: &Path, options: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_gapiid"))
        .args(options)
        .env("XDG_CONFIG_HOME", folder)
        .env("XDG_RUNTIME_DIR", folder)
        .env_remove("RUNTIME_DIRECTORY")
        .env_remove("GAPIID_LOG")
        .output()
        .unwrap()
}

fn said(output: Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the lines that set something, without the source of the value.
fn settings(held: &str) -> Vec<&str> {
    held.lines().filter_map(|line| line.rsplit_once("  # ")).map(|(setting, _)| setting).collect()
}

#[test]
fn printed_configuration_names_sources_and_can_be_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gapii/gapiid.toml");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "slots = 7\nlevel = -2\nsocket-dir = \"/a \\\"b\\\"\\\\c\"\n").unwrap();
    let held = said(gapiid(folder.path(), &["--check-config", "--level", "5"]));
    let file = file.display();
    for line in [
        format!("# {file}: read"),
        format!("slots = 7  # {file}:1"),
        "level = 5  # command line".to_owned(),
        "max-apps = 256  # default".to_owned(),
        "# metrics is not set".to_owned(),
    ] {
        assert!(held.lines().any(|said| said == line), "{line} is not in\n{held}");
    }
    let copy = folder.path().join("copy.toml");
    fs::write(&copy, &held).unwrap();
    let again = gapiid(folder.path(), &["--check-config", "--config", copy.to_str().unwrap()]);
    assert_eq!(settings(&said(again)), settings(&held));
}

#[test]
fn daemon_with_a_mistake_in_its_file_says_where_and_does_not_begin() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gapii/gapiid.toml");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "slots = 16\nring-sise = \"4M\"\n").unwrap();
    let output = gapiid(folder.path(), &[]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.contains(&format!("{}:2:1", file.display())), "{text}");
    assert!(text.contains("is ring-size meant?"), "{text}");
}
