//! `gapii-ctl install`: an installation records programs, a second one replaces it, files of others stay, and `--remove`
//! leaves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use gapii_tests::damage::assert_rejected;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::program;

const NO: i32 = 1;

/// Everything below `folder`.
fn everything(folder: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("the folder is readable").path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(everything(&path));
        }
        found.insert(path);
    }
    found
}

/// Runs `gapii-ctl install` with `prefix`.
fn install(session: &Session, prefix: &Path, options: &[&str]) -> Finished {
    let mut command = session.ctl(["install", "--prefix"]);
    run(command.arg(prefix).args(options))
}

/// Checks units with `systemd-analyze`.
fn verify(session: &Session, user: bool, units: &Path) {
    let mut command = Process::new("systemd-analyze");
    session.adopt(&mut command);
    if user {
        command.arg("--user");
    }
    let files = fs::read_dir(units).expect("units were put");
    let files = files.map(|entry| entry.expect("the folder is readable").path());
    let said = run(command.args(["verify", "--man=no"]).args(files)).ok();
    // It accepts a unit with an unknown key, so its output counts, too.
    assert!(said.stdout.is_empty() && said.stderr.is_empty(), "{said}");
}

#[test]
fn installation_records_and_its_removal_leaves_nothing() {
    let session = Session::new();
    let prefix = session.path("prefix");
    install(&session, &prefix, &["--dry-run"]).ok();
    assert!(!prefix.exists());
    install(&session, &prefix, &["--system"]).ok();
    for unit in ["system", "user"] {
        let units = prefix.join("lib/systemd").join(unit);
        let service = fs::read_to_string(units.join("gapiid.service")).unwrap();
        let daemon = format!("\nExecStart={}/bin/gapiid\n", prefix.display());
        assert!(service.contains(&daemon), "{service}");
        verify(&session, unit == "user", &units);
    }
    // By the short name, with the installation's own shim and daemon, which no variable names.
    let trace = session.path("installed.gapii");
    let mut record = Process::new(prefix.join("bin/gapii"));
    session.adopt(&mut record);
    record.env_remove("GAPII_SHIM").env_remove("GAPIID").args(["record", "-o"]).arg(&trace);
    let recorded = offscreen(&program("load_linked"), [""; 0]);
    record.arg("--").arg(recorded.get_program()).args(recorded.get_args());
    let variables = recorded.get_envs().filter_map(|(name, value)| Some((name, value?)));
    run(record.envs(variables)).ok();
    assert!(!Trace { path: trace }.commands().is_empty());
    let page = fs::read_to_string(prefix.join("share/man/man1/gapii-ctl-install.1")).unwrap();
    assert!(page.contains(".TH"), "{page}");
    for (name, file) in [("gapii", "gapii"), ("gapii-ctl", "gapii-ctl")] {
        let script = prefix.join("share/bash-completion/completions").join(file);
        let script = fs::read_to_string(script).unwrap();
        assert!(script.lines().any(|line| line.ends_with(&format!(" {name}"))), "{script}");
    }
    // A second installation replaces the first one, here by itself.
    let before = everything(&prefix);
    let mut again = Process::new(prefix.join("bin/gapii-ctl"));
    session.adopt(&mut again);
    run(again.args(["install", "--system", "--prefix"]).arg(&prefix)).ok();
    assert_eq!(everything(&prefix), before);
    // Licences are in an archive, and go with the installation.
    let (licences, second) = ("share/doc/gapii/THIRD-PARTY", session.path("second"));
    fs::create_dir_all(prefix.join(licences).parent().unwrap()).unwrap();
    fs::write(prefix.join(licences), "texts").unwrap();
    let mut elsewhere = Process::new(prefix.join("bin/gapii-ctl"));
    session.adopt(&mut elsewhere);
    run(elsewhere.args(["install", "--prefix"]).arg(&second)).ok();
    assert_eq!(fs::read_to_string(second.join(licences)).unwrap(), "texts");
    install(&session, &second, &["--remove"]).ok();
    assert!(!second.exists(), "{:?}", everything(&second));
    fs::remove_file(prefix.join(licences)).unwrap();
    install(&session, &prefix, &["--remove"]).ok();
    assert!(!prefix.exists(), "{:?}", everything(&prefix));
    assert_rejected(&install(&session, &prefix, &["--remove"]), NO);
}

#[test]
fn files_of_others_are_neither_overwritten_nor_removed() {
    let session = Session::new();
    let prefix = session.path("prefix");
    let foreign = prefix.join("bin/gapiid");
    fs::create_dir_all(prefix.join("bin")).unwrap();
    fs::write(&foreign, "another's").unwrap();
    let refused = install(&session, &prefix, &[]);
    assert_rejected(&refused, NO);
    assert!(refused.stderr.contains("bin/gapiid"), "{refused}");
    assert_eq!(everything(&prefix).len(), 2);
    fs::remove_file(&foreign).unwrap();

    install(&session, &prefix, &[]).ok();
    assert!(!prefix.join("lib/systemd").exists());
    // An enabled unit has a link to the one that was put, which would then lead nowhere.
    let wants = session.path("config/systemd/user/sockets.target.wants");
    fs::create_dir_all(&wants).unwrap();
    let link = wants.join("gapiid.socket");
    symlink(prefix.join("share/systemd/user/gapiid.socket"), &link).unwrap();
    let refused = install(&session, &prefix, &["--remove"]);
    assert_rejected(&refused, NO);
    let advice = "`systemctl --user disable --now gapiid.socket`";
    assert!(refused.stderr.contains(advice), "{refused}");
    fs::remove_file(link).unwrap();

    let changed = prefix.join("share/systemd/user/gapiid.socket");
    fs::write(&changed, "[Unit]\n").unwrap();
    assert_rejected(&install(&session, &prefix, &[]), NO);
    let own = prefix.join("lib/own");
    fs::write(&own, "").unwrap();
    let removed = install(&session, &prefix, &["--remove"]).ok();
    assert!(removed.stderr.contains("gapiid.socket"), "{removed}");
    let files = everything(&prefix).into_iter().filter(|path| path.is_file());
    assert_eq!(files.collect::<Vec<_>>(), [own, changed]);
}
