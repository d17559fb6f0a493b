//! `gapii-ctl trim`: some frames or commands of a trace as a trace that replays alone, pixel for pixel.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use gapii_test_json::value;
use gapii_tests::gapii::{Command as Recorded, Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::replays::{Recorded as Played, record_app_once, replay, verified};
use gapii_tests::search::driver::{Driver, PERTURB};
use gapii_tests::search::lab::Lab;
use gapii_tests::search::program::Program;
use gapii_tests::trims::{Whole, called, trim, trim_by};
use serde_json::Value;

/// Trims an app's frames from `first` on and compares them.
fn check(app: &str, first: u64, end: u64) {
    let session = Session::new();
    let recorded = record_app_once(&session, app, &[]).expect(app);
    let whole = Whole::played(&session, recorded.trace);
    whole.check_frames(&session, first..end, "part.gapii");
}

#[test]
fn commands_of_a_trace_are_played_alone() {
    for app in ["animation", "framebuffers", "texture_updates"] {
        let session = Session::new();
        let Played { trace, .. } = record_app_once(&session, app, &[]).expect(app);
        let whole = Whole::new(&session, trace, "whole");
        let seq = |command: Option<&Recorded>| command.and_then(|it| it.seq).expect("a command");
        let last = seq(whole.commands.last());
        let draw = seq(whole.commands.iter().rev().find(|it| it.name.starts_with("glDraw")));
        // From any command to any, within the first frame and later; from the last draw to the end.
        for (at, range) in [3..last / 2, last / 2..last - 5, draw..last + 1].into_iter().enumerate()
        {
            let first = range.start;
            let (_, said) = whole.check(&session, (range, first), &format!("{at}.gapii"));
            assert!(!said.contains("begins with"), "{app}: {said}");
        }
        let range = last / 2..last + 1;
        let first = range.start;
        let (_, said) =
            whole.check_with(&session, (range, first), "unused.gapii", &["--drop-unused"]);
        assert!(said.contains("objects that the part does not use are not in it"), "{app}: {said}");
    }
}

#[test]
fn device_without_space_is_a_failure_of_trim() {
    let session = Session::new();
    let Played { trace, .. } = record_app_once(&session, "animation", &[]).expect("a trace");
    for frames in ["..2", "1..2"] {
        let trimmed = run(&mut trim(&session, &trace.path, frames, Path::new("/dev/full")));
        // Not a status of the program that plays the trace, which has succeeded.
        assert_eq!(trimmed.status.code(), Some(3), "{trimmed}");
        let error = &value(&trimmed.stdout).expect("an answer")["error"];
        assert_eq!((&error["command"], &error["status"]), (&"trim".into(), &3.into()), "{trimmed}");
        assert!(error["message"].as_str().expect("a sentence").contains("/dev/full"), "{trimmed}");
    }
}

#[test]
fn part_of_a_part_is_that_part_of_the_whole() {
    let session = Session::new();
    let Played { trace, .. } = record_app_once(&session, "animation", &[]).expect("a trace");
    let whole = Whole::new(&session, trace, "whole");
    let (first, _) = whole.check(&session, (100..250, 100), "first.gapii");
    let (once, _) = whole.check(&session, (133..201, 133), "once.gapii");
    let first = Whole::new(&session, first, "first");
    let begin = first.commands.iter().find(|it| !it.setup).and_then(|it| it.seq);
    let begin = begin.expect("a command") + 33;
    let (twice, _) = first.check(&session, (begin..begin + 68, begin), "twice.gapii");
    assert_eq!(called(&once.commands()), called(&twice.commands()));
}

/// Contexts that are not current where the first part begins are described in its middle. What describes them is not the
/// program's own in a part of that part either, nor is the snapshot at its beginning. What the snapshot lacks, the part lacks.
#[test]
fn set_up_commands_of_a_part_are_set_up_commands_in_its_parts() {
    let session = Session::new();
    let Played { trace, .. } = record_app_once(&session, "kept_programs", &[]).expect("a trace");
    let whole = Whole::new(&session, trace, "whole");
    let mut swapped = whole.commands.iter().filter(|it| it.name == "eglSwapBuffers");
    let begin = swapped.next().and_then(|it| it.seq).expect("a frame") + 1;
    let end = swapped.next_back().and_then(|it| it.seq).expect("a frame");
    let (first, _) = whole.check(&session, (begin..end, begin), "first.gapii");
    let first = Whole::new(&session, first, "first");
    let own = |commands: &[Recorded]| commands.iter().position(|it| !it.setup);
    let from = own(&first.commands).expect("a command");
    let late = first.commands[from..].iter().filter(|it| it.setup).count();
    assert!(late > 0, "no context is described in the middle");
    let missing = |trace: &Trace| -> BTreeSet<String> {
        serde_json::from_value(trace.info()["missing"].clone()).expect("sentences")
    };
    let whole = missing(&first.trace);
    assert!(!whole.is_empty(), "a program whose last link failed can't be described");
    let seq = first.commands[from].seq.expect("a number");
    let last = first.commands.last().and_then(|it| it.seq).expect("a number");
    for (range, part) in [(0..last + 1, "whole.gapii"), (seq + 1..last + 1, "rest.gapii")] {
        let (part, _) = first.check(&session, (range.clone(), range.start.max(seq)), part);
        assert!(missing(&part).is_superset(&whole), "{range:?}");
        let commands = part.commands();
        let from = own(&commands).expect("a command");
        assert!(from > 0, "{range:?} begins with the snapshot");
        // The recorded replay describes what it finds in such a context, too.
        let again = commands[from..].iter().filter(|it| it.setup).count();
        assert!(again >= late, "{range:?}: {again} of {late}");
    }
}

/// Six textures are made and cleared, one after the other; the part clears the last one.
#[test]
fn part_without_unused_objects_is_smaller_and_draws_the_same() {
    let session = Session::new();
    let words = ["many", "6"];
    let recording = session.record(&[], &offscreen(&program("many_textures"), words));
    let commands = recording.trace.commands();
    let clear = commands.iter().rfind(|it| it.name == "glClear").and_then(|it| it.seq);
    let clear = clear.expect("a clear");
    let parts =
        [("whole.gapii", None), ("part.gapii", Some("--drop-unused"))].map(|(part, option)| {
            let part = Trace::new(session.path(part));
            let from = clear.to_string();
            let mut trim = trim_by(&session, &recording.trace.path, &["--from", &from], &part.path);
            let said = run(trim.args(option)).ok().stderr;
            verified(&session, &part, &["--strict"]).unwrap_or_else(|why| panic!("{why}"));
            let commands = part.commands();
            assert_eq!(called(&commands), ["glClear", "glFinish"]);
            let made = commands.iter().filter(|it| it.name.starts_with("glTexStorage2D")).count();
            let at = commands.iter().find(|it| !it.setup).and_then(|it| it.seq).expect("the clear");
            let folder = session.path(&format!("{made}-textures"));
            let options = ["--at", &at.to_string(), "--images", folder.to_str().expect("a path")];
            run(&mut replay(&session, &part.path, &options)).ok();
            let entries = fs::read_dir(folder).expect("a folder").flatten();
            let pictures = entries.map(|it| fs::read(it.path()).expect("a picture"));
            (said, made, pictures.collect::<Vec<_>>())
        });
    let [(_, of_all, whole), (said, of_used, part)] = parts;
    assert!(said.contains("5 objects that the part does not use are not in it"), "{said}");
    assert_eq!((of_all, of_used, whole.len()), (6, 1, 1));
    assert!(whole == part);
}

/// A command between glBegin and glEnd in a list, one in the list behind them, and one in a snapshot.
#[test]
fn part_begins_where_a_snapshot_can_be_made_and_says_so() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("desktop_lists"), [""; 0]));
    let whole = Whole::new(&session, recording.trace, "whole");
    let commands = &whole.commands;
    let behind = |name: &str, from: usize| {
        from + 1 + commands[from..].iter().position(|it| it.name == name).expect(name)
    };
    let seq = |at: usize| commands[at].seq.expect("a number");
    let (begun, ended) = (behind("glBegin", 0), behind("glEnd", 0));
    let (listed, swapped) = (behind("glEndList", 0), behind("eglSwapBuffers", 0));
    assert!(begun < ended && ended < listed && listed < swapped);
    // Lists have names in their commands, so all objects stay.
    let range = seq(listed)..seq(swapped);
    let unused = ["--drop-unused"];
    let (_, said) = whole.check_with(&session, (range, seq(listed)), "unused.gapii", &unused);
    assert!(said.contains("0 objects"), "{said}");
    for (at, from) in [begun, ended].into_iter().enumerate() {
        let range = seq(from)..seq(swapped);
        let part = format!("{at}.gapii");
        let (_, said) = whole.check(&session, (range, seq(listed)), &part);
        let words = format!("it begins with command {}", seq(listed));
        assert!(said.contains(&words), "{said}");
    }
    let part = Whole::new(&session, Trace::new(session.path("1.gapii")), "part");
    let mut own = part.commands.iter().filter(|it| !it.setup).filter_map(|it| it.seq);
    let (first, end) = (own.next().expect("a command"), own.next_back().expect("a command"));
    let (_, said) = part.check(&session, (first - 1..end, first), "of_part.gapii");
    assert!(said.contains(&format!("it begins with command {first}")), "{said}");
}

#[test]
fn frames_of_a_trace_are_played_alone() {
    for app in ["animation", "framebuffers", "texture_updates", "transform_feedback"] {
        check(app, 2, 4);
    }
    check("animation", 1, 3);
}

#[test]
fn part_from_the_first_frame_on_has_no_snapshot() {
    check("uniform_buffers", 0, 3);
}

/// The answers to glGetError.
fn errors(commands: &[Recorded]) -> Vec<&Value> {
    commands.iter().filter(|it| it.name == "glGetError").map(|it| &it.result).collect()
}

#[test]
fn errors_that_are_pending_where_a_part_begins_are_in_the_part() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("pending_errors"), [""; 0]));
    let whole = recording.trace.commands();
    let expected = errors(&whole);
    let part = |frame: u64| {
        let part = Trace::new(session.path(&format!("{frame}.gapii")));
        let frames = format!("{frame}..99");
        let said = run(&mut trim(&session, &recording.trace.path, &frames, &part.path)).ok().stderr;
        (part, said)
    };
    // Each frame asks twice, first for the error of the frame before.
    for frame in 1..=5 {
        let (part, said) = part(frame);
        let commands = part.commands();
        assert_eq!(errors(&commands), expected[2 * (frame as usize - 1)..], "{frame}: {said}");
        assert!(!said.contains("is not in the part"), "{said}");
        verified(&session, &part, &["--strict"]).unwrap_or_else(|why| panic!("{frame}: {why}"));
    }
    // No command fails with the error and changes nothing.
    let (part, said) = part(6);
    let commands = part.commands();
    assert_eq!(errors(&commands)[1..], expected[11..]);
    assert!(
        said.contains("the error 0x504, which is pending where the part begins, is not in"),
        "{said}"
    );
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
    let mut lab = Lab::new(Driver::Llvmpipe, &[]);
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
    let end = recorded.trace.commands().last().and_then(|it| it.seq).expect("commands") + 1;
    for (range, status, words) in [
        (&["--from", &end.to_string()][..], 1, format!("its last one is {}", end - 1)),
        (&["--to", &(end + 1).to_string()], 1, format!("type `--to {end}`")),
        (&["--from", "34", "--to", "34"], 2, "type `--from 34 --to 35`".to_owned()),
        (&["--from", "34", "--to", "30"], 2, "type `--from 34 --to 35`".to_owned()),
        (&[], 2, "type `--from SEQ --to SEQ`".to_owned()),
    ] {
        let mut trim = trim_by(&session, &recorded.trace.path, range, &part);
        let finished = run(&mut trim).exited_with(status);
        assert!(finished.stderr.contains(&words), "{finished}");
        assert!(!part.exists(), "{range:?}");
    }
    let recording = session.record(&[], &offscreen(&program("desktop_extensions"), [""; 0]));
    let range = ["--from", "200", "--drop-unused"];
    let mut trim_unused = trim_by(&session, &recording.trace.path, &range, &part);
    let finished = run(&mut trim_unused).exited_with(1);
    assert!(finished.stderr.contains("calls glPush"), "{finished}");
    assert!(!part.exists());
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
