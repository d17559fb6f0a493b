//! A replay that is confined: what a process can do that a trace has taken over.

use std::fs;
use std::os::unix::fs::chown;
use std::path::{Path, PathBuf};
use std::process::Command as Process;

use gapii_tests::display::surfaceless;
use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::{app, preloaded};

fn recorded(session: &Session) -> PathBuf {
    session.record(&[], &offscreen(&app("animation"), [""; 0])).trace.path
}

/// `gapii-ctl` with a command that plays a trace.
fn playing(session: &Session, command: &str, trace: &Path, options: &[&str]) -> Process {
    let mut ctl = session.ctl([command]);
    surfaceless(&mut ctl);
    ctl.arg(trace).args(options);
    ctl
}

/// Replays a trace in a process that tries to do other things than to draw.
fn replay_taken_over(session: &Session, trace: &Path, options: &[&str]) -> Finished {
    let mut replay = playing(session, "replay", trace, options);
    replay.env("LD_PRELOAD", preloaded("escape")).env("ESCAPE_TO", session.path("file"));
    run(&mut replay).ok()
}

#[test]
fn confined_replay_writes_no_files_and_has_no_network_and_no_programs() {
    let session = Session::new();
    let trace = recorded(&session);
    let free = replay_taken_over(&session, &trace, &[]);
    assert_eq!(free.stderr, "escaped: file network program\n", "{free}");
    fs::remove_file(session.path("file")).unwrap();
    let pictures = session.path("pictures");
    let options = ["--sandbox", "--images", pictures.to_str().unwrap()];
    let confined = replay_taken_over(&session, &trace, &options);
    assert!(confined.stderr.lines().any(|line| line == "escaped:"), "{confined}");
    assert!(!session.path("file").exists());
}

#[test]
fn trace_of_another_user_is_confined() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not checked: only root can give a trace away");
        return;
    }
    let session = Session::new();
    let trace = recorded(&session);
    chown(&trace, Some(65534), None).unwrap();
    let confined = replay_taken_over(&session, &trace, &[]);
    assert!(confined.stderr.contains("the trace belongs to user 65534"), "{confined}");
    assert!(confined.stderr.contains("\nescaped:\n"), "{confined}");
    let free = replay_taken_over(&session, &trace, &["--sandbox=never"]);
    assert_eq!(free.stderr, "escaped: file network program\n", "{free}");
}

#[test]
fn confined_commands_write_what_they_are_asked_for() {
    let session = Session::new();
    let trace = recorded(&session);
    let pictures = |sandbox: &str| session.path(&format!("pictures-{sandbox}"));
    let sheet = |sandbox: &str| session.path(&format!("sheet-{sandbox}"));
    let page = |sandbox: &str| session.path(&format!("page-{sandbox}"));
    for sandbox in ["never", "always"] {
        let wish = format!("--sandbox={sandbox}");
        let to_folder = ["--images", pictures(sandbox).to_str().unwrap(), &wish].map(str::to_owned);
        let to_file = ["-o", sheet(sandbox).to_str().unwrap(), &wish].map(str::to_owned);
        let to_page = ["-o", page(sandbox).to_str().unwrap(), &wish].map(str::to_owned);
        for (command, options) in
            [("replay", &to_folder), ("montage", &to_file), ("report", &to_page)]
        {
            let options = options.each_ref().map(String::as_str);
            let played = run(&mut playing(&session, command, &trace, &options)).ok();
            assert!(!played.stderr.contains("cache"), "{played}");
        }
        run(&mut playing(&session, "diff", &trace, &[trace.to_str().unwrap(), &wish])).ok();
    }
    let count = |sandbox| fs::read_dir(pictures(sandbox)).unwrap().count();
    assert!(count("never") > 0);
    assert_eq!(count("never"), count("always"));
    assert_eq!(fs::read(sheet("never")).unwrap(), fs::read(sheet("always")).unwrap());
    assert_eq!(fs::read(page("never")).unwrap(), fs::read(page("always")).unwrap());
    let names = fs::read_dir(session.path("")).unwrap().map(|entry| entry.unwrap().path());
    let drafts: Vec<_> =
        names.filter(|path| path.extension().is_some_and(|it| it == "part")).collect();
    assert!(drafts.is_empty(), "{drafts:?}");
}
