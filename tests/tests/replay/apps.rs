//! The programs of `tests/apps/`, recorded and played: every answer and every frame equals the recorded one, and two
//! replays of a trace are equal.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::run;
use gapii_tests::programs::apps_but;
use gapii_tests::random::Random;
use gapii_tests::replays::{Recorded, images, record_app, record_app_once, replay, verified};
use gapii_tests::turns;

/// Every frame is compared with the replayed one.
const OBSERVED: &[&str] = &["--observe-frames", "1"];

/// Plays a recording and compares: answers, and each frame as the shim saw it.
fn check(session: &Session, recorded: &Recorded) -> Result<(), String> {
    let report = verified(session, &recorded.trace, &[])?;
    let frames = recorded.read_back().len() as u64;
    if frames == 0 {
        return Err("the program has drawn nothing".to_owned());
    }
    if report["verified"]["frames"] != frames {
        return Err(format!("{frames} frames: {report}"));
    }
    // Each frame is an answer, and so are those of the commands.
    match report["verified"]["equal"].as_u64() {
        Some(equal) if equal > frames => Ok(()),
        _ => Err(format!("no answer was compared: {report}")),
    }
}

/// Runs `check` with each name, two at a time; returns one line per failure.
fn complaints(names: &[String], check: impl Fn(&str) -> Result<(), String> + Sync) -> Vec<String> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        // Relaxed: it hands out numbers, and nothing else depends on it.
        while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
            if let Err(what) = check(name) {
                found.lock().expect("no check panics").push(format!("{name}: {what}"));
            }
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    found.into_inner().expect("no check panics")
}

#[track_caller]
fn none(found: &[String]) {
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

/// Compares hashes of the frames that the program drew, and the program's own read-backs.
#[test]
fn every_answer_and_frame_is_as_it_was_recorded() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    none(&complaints(&apps_but(&[]), |name| {
        check(&session, &record_app_once(&session, name, OBSERVED)?)
    }));
}

#[test]
fn programs_of_several_threads_are_played_alike_twenty_times() {
    let names = ["shared_contexts", "moving_contexts", "bad_context"];
    let names: Vec<_> =
        names.iter().flat_map(|name| vec![(*name).to_owned(); turns::times(20)]).collect();
    none(&complaints(&names, |name| {
        // Each run has a folder of its own.
        let session = Session::new();
        check(&session, &record_app(&session, name, OBSERVED)?)
    }));
}

#[test]
fn played_twice_the_images_are_the_same() {
    let session = Session::new();
    for name in ["animation", "framebuffers", "shared_contexts"] {
        let recorded = record_app(&session, name, OBSERVED).unwrap();
        let play = |folder| images(&session, &recorded.trace.path, folder).unwrap();
        let (one, two) = (play(&format!("{name}-1")), play(&format!("{name}-2")));
        assert!(one.len() >= 4 && one.len() == recorded.read_back().len(), "{name}: {}", one.len());
        assert_eq!(one.len(), two.len(), "{name}");
        for (one, two) in one.iter().zip(&two) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap(), "{one:?}");
        }
    }
}

/// The program writes to a persistently mapped buffer, which needs an extension.
#[test]
fn extension_that_the_driver_lacks_is_named_before_anything_is_played() {
    let session = Session::new();
    let recorded = record_app(&session, "persistent_maps", OBSERVED).expect("it runs");
    let mut replay = replay(&session, &recorded.trace.path, &[]);
    let without = replay.env("MESA_EXTENSION_OVERRIDE", "-GL_EXT_buffer_storage");
    let finished = run(without).exited_with(1);
    let lack =
        "the driver has no GL_EXT_buffer_storage, which glBufferStorageEXT in the trace needs";
    assert!(finished.stderr.contains(lack), "{finished}");
    assert_eq!(finished.stdout, "", "{finished}");
}

/// Programs whose replay, recorded, begins to differ from their recording with a command of this
/// name; docs/replay.md says why.
const DIFFERENT: &[(&str, &str)] = &[
    // Configurations with windows.
    ("attribute_lists", "eglChooseConfig"),
    // The program's code is not there.
    ("debug_messages", "glDebugMessageCallback"),
    // The recorded command failed.
    ("moving_contexts", "eglMakeCurrent"),
    // The player destroys a context of its own before.
    ("kept_deleted_buffers", "eglTerminate"),
    // A name that the driver did not give out.
    ("names_reused", "glBindTexture"),
    // An infinite wait, which a replay limits to ten seconds.
    ("kept_queries", "eglClientWaitSyncKHR"),
    ("sync_objects", "eglClientWaitSyncKHR"),
    // An invalid pointer.
    ("stale_arrays", "glVertexAttribPointer"),
];

/// Fewest commands of a program of `tests/apps/`: those that open and close it, and four frames.
const COMMANDS_MIN: u64 = 30;

/// Records a program and its replay, and compares the two traces: same commands, same memory.
fn compare_again(session: &Session, name: &str, options: &[&str]) -> Result<(), String> {
    let recorded = record_app_once(session, name, OBSERVED)?;
    let again = session.record(&[], &replay(session, &recorded.trace.path, options));
    if !again.run.status.success() {
        return Err(again.run.to_string());
    }
    let mut diff = session.ctl(["diff", "--json", "--no-frames"]);
    let found = run(diff.arg(&recorded.trace.path).arg(&again.trace.path));
    let diff: serde_json::Value =
        serde_json::from_str(&found.stdout).map_err(|error| format!("{error}: {found}"))?;
    let first = diff["first"]["a"].as_u64();
    let compared = diff["commands"]["b"].as_u64();
    if compared < Some(COMMANDS_MIN) {
        return Err(format!("{compared:?} commands were played again: {}", found.stdout));
    }
    let commands = recorded.trace.commands();
    let first = first.and_then(|seq| commands.iter().find(|command| command.seq == Some(seq)));
    let expected = DIFFERENT.iter().find(|(program, _)| *program == name).map(|(_, first)| *first);
    match first.map(|command| &*command.name) == expected {
        true => Ok(()),
        false => Err(format!("the first difference is at {first:?}: {}", found.stdout)),
    }
}

/// Programs whose subject is failing commands are left out.
#[test]
fn replay_that_is_recorded_has_the_same_commands() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut names = apps_but(&[]);
    names.retain(|name| !name.starts_with("bad_"));
    // The other way of two: with pictures, in `images`.
    let names = turns::taken(names, 1, 2);
    none(&complaints(&names, |name| compare_again(&session, name, &[])));
}

#[test]
fn what_replay_reads_back_for_itself_is_not_recorded() {
    let session = Session::new();
    for name in ["framebuffers", "unpack_buffers", "shared_contexts"] {
        let folder = session.path(&format!("{name}-again"));
        let folder = folder.to_str().expect("a path of letters");
        compare_again(&session, name, &["--verify", "--images", folder]).unwrap();
    }
}

/// The replay has a pbuffer in place of the window; everything else is equal.
#[test]
fn replay_of_a_program_with_a_window_has_the_same_commands() {
    let (display, session) = (Display::start(), Session::new());
    let words = ["glmark2-es2", "-s", "200x200", "-b", "build:use-vbo=false:duration=20.0"];
    let program = display.command(&words);
    let recorded = session.record(&["--frames", "4", "--quit"], &program);
    recorded.run.clone().ok();
    let again = session.record(&[], &replay(&session, &recorded.trace.path, &[]));
    again.run.clone().ok();
    let names = |trace: &Trace| -> Vec<String> {
        trace.commands().into_iter().map(|command| command.name).collect()
    };
    let with_a_pbuffer = |name: String| match &*name {
        "eglCreateWindowSurface" => "eglCreatePbufferSurface".to_owned(),
        _ => name,
    };
    let expected: Vec<_> = names(&recorded.trace).into_iter().map(with_a_pbuffer).collect();
    assert_eq!(names(&again.trace), expected);
    let images = |trace: &Trace, folder| -> Vec<_> {
        let paths = images(&session, &trace.path, folder).unwrap();
        paths.iter().map(|path| std::fs::read(path).unwrap()).collect()
    };
    let (one, two) = (images(&recorded.trace, "one"), images(&again.trace, "two"));
    assert_eq!(one.len(), 4);
    assert!(one == two, "pictures differ");
}

#[test]
fn bytes_that_are_changed_end_no_replay_in_a_crash() {
    let session = Session::new();
    let mut random = Random::seeded("replay");
    let recorded = record_app(&session, "client_arrays", OBSERVED).unwrap();
    let whole = std::fs::read(&recorded.trace.path).unwrap();
    for number in 0..24 {
        let mut changed = whole.clone();
        for _ in 0..1 + number % 4 {
            let at = random.below(changed.len() as u64) as usize;
            changed[at] ^= 1 << random.below(8);
        }
        let path = session.path("changed.gapii");
        std::fs::write(&path, &changed).unwrap();
        let finished = run(&mut replay(&session, &path, &["--verify"]));
        let status = finished.status.code();
        assert!(matches!(status, Some(0..=2)), "{finished}");
    }
}
