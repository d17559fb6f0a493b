//! `doctor --bundle`: the files in the archive, and what is not in them.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use super::support::{ctl, one_sentence, run};

/// The files of a bundle, in the order in which they are written.
const FILES: [&str; 9] = [
    "doctor.json",
    "versions.txt",
    "configuration.txt",
    "environment.txt",
    "driver.txt",
    "system.txt",
    "units.txt",
    "daemon-log.txt",
    "status.json",
];

/// `doctor --bundle` of a user al, whose home is `folder`.
fn doctor(folder: &Path) -> Command {
    let mut command = ctl(folder);
    command.args(["doctor", "--bundle", "report.tar.zst"]).env("HOME", folder).env("USER", "al");
    command
}

/// What `tar --zstd` prints about a bundle.
fn tar(folder: &Path, options: &[&str]) -> String {
    let mut tar = Command::new("tar");
    let archive = folder.join("report.tar.zst");
    let output = tar.arg("--zstd").args(options).arg("-f").arg(archive).output().unwrap();
    assert!(output.status.success(), "{output:?}: apt-get install zstd");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn bundle_has_its_files_and_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut command = doctor(folder);
    command
        .env("LD_LIBRARY_PATH", folder.join("lib"))
        .env("MESA_DEBUG", "silent by al")
        .env("GAPII_LAUNCH", "f00df00d")
        .env("GAPII_ACCESS_TOKEN", "cafecafe")
        .env("EGL_LOG_LEVEL", "0123456789abcdef0123456789abcdef")
        .env("AWS_SECRET_ACCESS_KEY", "beefbeef")
        .env("EDITOR", "unrelated-editor");
    // There is no daemon to start.
    let (stdout, _) = run(&mut command, 1);
    assert!(stdout.contains("wrote report.tar.zst with:\n"), "{stdout}");
    let names: Vec<_> = FILES.iter().map(|name| format!("gapii-report/{name}")).collect();
    for name in &names {
        assert!(stdout.contains(&format!("  {name} (")), "{name}: {stdout}");
    }
    assert_eq!(tar(folder, &["-t"]).lines().collect::<Vec<_>>(), names);
    let environment = tar(folder, &["--to-stdout", "-x", "gapii-report/environment.txt"]);
    for line in [
        "EGL_LOG_LEVEL=(left out)",
        "GAPII_ACCESS_TOKEN=(left out)",
        "GAPII_LAUNCH=(left out)",
        "LD_LIBRARY_PATH=~/lib",
        "MESA_DEBUG=silent by USER",
        "XDG_RUNTIME_DIR=~",
    ] {
        assert!(environment.lines().any(|it| it == line), "{line}: {environment}");
    }
    assert!(!environment.contains("PATH=/usr"), "{environment}");
    let all = tar(folder, &["--to-stdout", "-x"]);
    let home = folder.to_str().unwrap();
    for secret in ["f00df00d", "cafecafe", "beefbeef", "0123456789abcdef", "unrelated-editor", home]
    {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

#[test]
fn bundle_without_a_daemon_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let mut command = doctor(folder);
    let (stdout, _) = run(command.arg("--json"), 1);
    let answer: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(answer["bundle"]["output"], "report.tar.zst");
    assert_eq!(answer["bundle"]["files"].as_array().unwrap().len(), FILES.len());
    let text = |name: &str| tar(folder, &["--to-stdout", "-x", &format!("gapii-report/{name}")]);
    let status: Value = serde_json::from_str(&text("status.json")).unwrap();
    assert!(status["error"].as_str().unwrap().contains("no daemon listens on ~/"), "{status}");
    assert!(text("configuration.txt").contains("GAPIID names /no/such/gapiid"));
    let checks: Value = serde_json::from_str(&text("doctor.json")).unwrap();
    let expected = answer["checks"].to_string().replace(folder.to_str().unwrap(), "~");
    assert_eq!(checks.to_string(), expected);
    assert!(text("system.txt").contains("Max open files"));
}

#[test]
fn bundle_that_exists_is_overwritten_with_force_only() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("report.tar.zst");
    std::fs::write(&path, "precious").unwrap();
    let (stdout, stderr) = run(&mut doctor(folder.path()), 2);
    assert!(stdout.is_empty(), "{stdout}");
    assert!(one_sentence(&stderr).contains("report.tar.zst exists; overwrite it with `--force`"));
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "precious");
    run(doctor(folder.path()).arg("--force"), 1);
    assert!(tar(folder.path(), &["-t"]).contains("gapii-report/versions.txt"));
    let mut to_output = ctl(folder.path());
    let (_, stderr) = run(to_output.args(["doctor", "--bundle", "-"]), 2);
    assert!(one_sentence(&stderr).contains("is not written to standard output"), "{stderr}");
}
