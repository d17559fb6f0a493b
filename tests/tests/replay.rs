//! The programs of `tests/apps/`, recorded and played: every answer is what it was, every frame is
//! what it was, and what is played twice is the same twice.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use gapii_tests::gapii::{Session, Trace};
use gapii_tests::process::run;
use gapii_tests::programs::names_in;
use gapii_tests::random::Random;
use gapii_tests::replays::{images, record_app, replay, verified};

/// Records a program, plays it and compares: answers, and each frame as the shim saw it.
fn check(session: &Session, name: &str) -> Result<(), String> {
    let recorded = record_app(session, name)?;
    let report = verified(session, &recorded.trace, &[])?;
    let frames = recorded.read_back.len() as u64;
    if report["verified"]["frames"] != frames {
        return Err(format!("{frames} frames: {report}"));
    }
    match report["verified"]["equal"].as_u64() {
        Some(1..) => Ok(()),
        _ => Err("nothing was compared".to_owned()),
    }
}

/// Runs `check` with each name, on both cores; what is the matter with some, a line each.
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

/// The frames that are compared are hashes of what the program drew, and the read-backs that are
/// compared are its own.
#[test]
fn every_answer_and_frame_is_as_it_was_recorded() {
    let session = Session::new();
    none(&complaints(&names_in("apps"), |name| check(&session, name)));
}

#[test]
fn programs_of_several_threads_are_played_alike_twenty_times() {
    let names = ["shared_contexts", "moving_contexts", "bad_context"];
    let names: Vec<_> = names.iter().flat_map(|name| vec![(*name).to_owned(); 20]).collect();
    none(&complaints(&names, |name| {
        // A folder of its own for each.
        let session = Session::new();
        check(&session, name)
    }));
}

#[test]
fn played_twice_the_images_are_the_same() {
    let session = Session::new();
    for name in ["animation", "framebuffers", "shared_contexts"] {
        let recorded = record_app(&session, name).unwrap();
        let play = |folder| images(&session, &recorded.trace.path, folder).unwrap();
        let (one, two) = (play(&format!("{name}-1")), play(&format!("{name}-2")));
        assert_eq!(one.len(), recorded.read_back.len(), "{name}");
        assert_eq!(one.len(), two.len(), "{name}");
        for (one, two) in one.iter().zip(&two) {
            assert_eq!(std::fs::read(one).unwrap(), std::fs::read(two).unwrap(), "{one:?}");
        }
    }
}

/// The program writes to a buffer that stays mapped, which takes an extension.
#[test]
fn extension_that_the_driver_lacks_is_named_before_anything_is_played() {
    let session = Session::new();
    let recorded = record_app(&session, "persistent_maps").expect("it runs");
    let mut replay = replay(&session, &recorded.trace.path, &[]);
    let without = replay.env("MESA_EXTENSION_OVERRIDE", "-GL_EXT_buffer_storage");
    let finished = run(without).exited_with(1);
    let lack =
        "the driver has no GL_EXT_buffer_storage, which glBufferStorageEXT in the trace needs";
    assert!(finished.stderr.contains(lack), "{finished}");
    assert_eq!(finished.stdout, "", "{finished}");
}

/// The names of a trace's commands of OpenGL ES, in order.
fn gl_names(trace: &Trace) -> Vec<String> {
    let names = trace.commands().into_iter().map(|command| command.name);
    names.filter(|name| name.starts_with("gl")).collect()
}

/// Among them are questions of the player's own.
#[test]
fn replay_that_is_recorded_has_all_commands_in_their_order() {
    let session = Session::new();
    for name in ["animation", "mapped_buffers", "shared_contexts"] {
        let recorded = record_app(&session, name).unwrap();
        let again = session.record(&[], &replay(&session, &recorded.trace.path, &[]));
        again.run.clone().ok();
        let names = gl_names(&again.trace);
        let mut rest = names.iter();
        let missing = gl_names(&recorded.trace).into_iter().position(|name| {
            // Goes on behind the one that is found.
            !rest.any(|other| *other == name)
        });
        assert_eq!(missing, None, "{name}");
        assert_eq!(again.trace.info()["frames"], recorded.trace.info()["frames"], "{name}");
    }
}

#[test]
fn bytes_that_are_changed_end_no_replay_in_a_crash() {
    let session = Session::new();
    let mut random = Random::seeded("replay");
    let recorded = record_app(&session, "client_arrays").unwrap();
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
