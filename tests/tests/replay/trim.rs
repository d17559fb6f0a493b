//! `gapii-ctl trim`: some frames of a trace as a trace that replays alone, pixel for pixel.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::run;
use gapii_tests::replays::{images, record_app_once};
use gapii_tests::search::driver::PERTURB;
use gapii_tests::search::lab::Lab;
use gapii_tests::search::program::Program;

fn trim(session: &Session, trace: &Path, frames: &str, part: &Path) -> Command {
    let mut command = session.ctl(["trim", "--frames", frames, "--json", "-o"]);
    command.arg(part).arg(trace);
    surfaceless(&mut command);
    command
}

/// The picture of a frame among files of pictures.
fn picture(files: &[PathBuf], frame: u64) -> Vec<u8> {
    let name = format!("frame-{frame:06}.png");
    let found = files.iter().find(|path| path.ends_with(&name));
    fs::read(found.unwrap_or_else(|| panic!("no {name} in {files:?}"))).expect("a picture")
}

/// Trims an app's frames from `first` on and compares all their pictures.
fn check(app: &str, first: u64, end: u64) {
    let session = Session::new();
    let recorded = record_app_once(&session, app, &[]).expect(app);
    let part = Trace::new(session.path("part.gapii"));
    run(&mut trim(&session, &recorded.trace.path, &format!("{first}..{end}"), &part.path)).ok();
    part.is_whole("exit");
    assert_eq!(part.info()["frames"], end - first, "{app}");
    let whole = images(&session, &recorded.trace.path, "whole").expect(app);
    let own = images(&session, &part.path, "own").expect(app);
    for frame in first..end {
        assert!(picture(&whole, frame) == picture(&own, frame - first), "{app}: frame {frame}");
    }
    assert_eq!(own.len() as u64, end - first);
}

#[test]
fn frames_of_a_trace_are_played_alone() {
    for app in ["animation", "framebuffers", "texture_updates", "transform_feedback"] {
        check(app, 2, 4);
    }
}

#[test]
fn part_from_the_first_frame_on_has_no_snapshot() {
    check("uniform_buffers", 0, 3);
}

/// A command that names more memory than the program had is recorded with what it had.
#[test]
fn commands_that_read_too_far_are_as_they_were() {
    check("bad_enums", 2, 4);
}

/// The contexts of the first snapshot have ended for what records the replay, and Mesa still uses what they drew to.
#[test]
fn objects_that_a_snapshot_drew_are_used_after_its_contexts() {
    let program: Program = include_str!("../../data/trimmed.txt").parse().expect("a program");
    let mut lab = Lab::new(&[]);
    let native = lab.native(&program).expect("the program runs");
    lab.check(&program, &native).expect("it is captured exactly");
    let session = Session::new();
    let part = Trace::new(session.path("part.gapii"));
    let mut trim = trim(&session, &lab.trace().path, "2..4", &part.path);
    run(trim.env(PERTURB, "165")).ok();
    part.is_whole("exit");
    assert_eq!(part.info()["frames"], 2);
}

#[test]
fn what_cannot_be_trimmed_is_refused_and_leaves_no_file() {
    let session = Session::new();
    let recorded = record_app_once(&session, "animation", &[]).expect("a trace");
    let part = session.path("part.gapii");
    let refused = |frames: &str, words: &str| {
        let finished = run(&mut trim(&session, &recorded.trace.path, frames, &part)).exited_with(1);
        assert!(finished.stderr.contains(words), "{finished}");
        assert!(!part.exists(), "{frames}");
    };
    refused("1000..1002", "has no such frame");
    refused("1..3", "type `--frames 0..3`");
    let older = Path::new(env!("CARGO_MANIFEST_DIR")).join("data/traces/level_zero.gapii");
    let finished = run(&mut trim(&session, &older, "0..1", &part)).exited_with(1);
    assert!(finished.stderr.contains("Level Zero"), "{finished}");
    assert!(!part.exists());
}

#[test]
fn trace_of_another_user_is_not_played_outside_of_the_sandbox() {
    if !rustix::process::geteuid().is_root() {
        eprintln!("not checked: only root can give a trace away");
        return;
    }
    let session = Session::new();
    let recorded = record_app_once(&session, "animation", &[]).expect("a trace");
    let others = session.path("others.gapii");
    fs::copy(&recorded.trace.path, &others).expect("a copy");
    std::os::unix::fs::chown(&others, Some(12_345), None).expect("root");
    let part = session.path("part.gapii");
    let finished = run(&mut trim(&session, &others, "2..4", &part)).exited_with(1);
    assert!(finished.stderr.contains("belongs to another user"), "{finished}");
    assert!(!part.exists());
}
