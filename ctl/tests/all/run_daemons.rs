//! Commands without `--connect` find the private daemon of `gapii-ctl run`, if it is the only one and safe to use.

use std::fs::{self, DirBuilder, Permissions};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::os::unix::net::UnixListener;
use std::path::Path;

use gapii_control::{Event, Request, Stopped};

use crate::support::{FakeDaemon, ctl, one_sentence, run};

/// Makes the folder of a run of `command`, and a socket that listens there.
fn listening_run(folder: &Path, name: &str, command: &str) -> UnixListener {
    let below = folder.join(name);
    DirBuilder::new().mode(0o700).create(&below).unwrap();
    fs::write(below.join("command"), command).unwrap();
    UnixListener::bind(below.join("ctl.sock")).unwrap()
}

#[test]
fn command_uses_the_daemon_of_the_only_run_and_says_which() {
    let daemon = FakeDaemon::of_a_run();
    let below = daemon.folder.path().join("gapii-run-1");
    fs::write(below.join("command"), "gears\0-n\u{1b}").unwrap();
    // A run that was killed has left this one.
    drop(listening_run(daemon.folder.path(), "gapii-run-2", "mpv"));
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        assert!(matches!(conversation.hear(), Some(Request::Stop(_))));
        conversation.say(&Event::Stopped(Stopped { captures: vec![3], ..Stopped::default() }));
        true
    });
    let (stdout, stderr) = run(daemon.ctl().arg("stop"), 0);
    serving.join().unwrap();
    assert_eq!(stdout, "stopped 1 capture\n");
    let wanted = format!(
        r"using the daemon of `gapii-ctl run -- gears -n\u{{1b}}`, unix:{}/ctl.sock",
        below.display()
    );
    assert_eq!(one_sentence(&stderr), wanted);
}

#[test]
fn daemon_of_a_run_in_a_folder_that_others_can_enter_is_not_used() {
    let daemon = FakeDaemon::of_a_run();
    let below = daemon.folder.path().join("gapii-run-1");
    for mode in [0o770, 0o755, 0o707] {
        fs::set_permissions(&below, Permissions::from_mode(mode)).unwrap();
        let (_, stderr) = run(daemon.ctl().arg("stop"), 3);
        assert!(one_sentence(&stderr).starts_with("no daemon listens on "), "{mode:o}: {stderr}");
    }
    let elsewhere = tempfile::tempdir().unwrap();
    fs::set_permissions(&below, Permissions::from_mode(0o700)).unwrap();
    std::os::unix::fs::symlink(&below, elsewhere.path().join("gapii-run-1")).unwrap();
    let (_, stderr) = run(ctl(elsewhere.path()).arg("stop"), 3);
    assert!(one_sentence(&stderr).starts_with("no daemon listens on "), "a link: {stderr}");
}

#[test]
fn several_runs_are_refused_with_a_command_for_each() {
    let folder = tempfile::tempdir().unwrap();
    let _listening = [("gapii-run-1", "gears"), ("gapii-run-2", "mpv\0a b.mkv")]
        .map(|(name, command)| listening_run(folder.path(), name, command));
    let typed = ["start", "--frames", "9", "-o", "my file.gapii"];
    let (_, stderr) = run(ctl(folder.path()).args(typed), 2);
    for (name, command) in [("gapii-run-1", "gears"), ("gapii-run-2", "mpv a b.mkv")] {
        let wanted = format!(
            "for {command} `gapii-ctl --connect unix:{}/{name}/ctl.sock start --frames 9 -o 'my file.gapii'`",
            folder.path().display()
        );
        assert!(one_sentence(&stderr).contains(&wanted), "{stderr}");
    }
    // A daemon that is named is used, and none of these.
    let named = ["apps", "--connect", "unix:/no/such/ctl.sock"];
    let (_, stderr) = run(ctl(folder.path()).args(named), 3);
    assert!(one_sentence(&stderr).starts_with("no daemon listens on /no/such"), "{stderr}");
}
