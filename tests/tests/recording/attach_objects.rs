//! Captures that begin in the middle follow objects, not names: each program plays exactly, sees no error, and misses
//! nothing but what a driver cannot tell.

use std::path::Path;

use gapii_tests::gapii::Session;
use gapii_tests::loading::offscreen;
use gapii_tests::process::run;
use gapii_tests::programs::{app, program};
use gapii_tests::replays::verified_frames;
use serde_json::{Value, json};

/// Records a program from its frame `skip` on, and returns the trace's list of missing state. The program's output and the
/// replay must be those of the native run, with at least two verified frames.
#[track_caller]
fn missing(name: &str, skip: u64) -> Value {
    missing_of(&app(name), skip)
}

/// [`missing`] for the program at a path.
#[track_caller]
fn missing_of(path: &Path, skip: u64) -> Value {
    let session = Session::new();
    let native = run(&mut offscreen(path, [""; 0]));
    let skip = skip.to_string();
    let options = ["--observe-frames", "1", "--skip-frames", &skip];
    let recording = session.record(&options, &offscreen(path, [""; 0]));
    assert_eq!(recording.run.stdout, native.stdout, "{}", recording.run);
    recording.run.clone().ok();
    recording.trace.verify();
    let info = recording.trace.info();
    assert_eq!(info["snapshot"], true, "{info:#}");
    assert!(verified_frames(&session, &recording.trace) >= 2, "{info:#}");
    info["missing"].clone()
}

#[test]
fn vertex_formats_and_binding_points_are_kept_apart() {
    for skip in [1, 4] {
        assert_eq!(missing("kept_vertex_formats", skip), json!([]));
    }
}

#[test]
fn deleted_buffers_that_are_in_use_keep_their_contents() {
    for skip in [1, 4] {
        assert_eq!(missing("kept_deleted_buffers", skip), json!([]));
    }
}

#[test]
fn contents_of_buffers_that_cannot_be_mapped_are_read() {
    for skip in [1, 4] {
        assert_eq!(missing("kept_contents", skip), json!([]));
    }
}

#[test]
fn all_state_that_can_be_asked_for_is_described() {
    for skip in [1, 4] {
        let missing = missing_of(&program("all_state"), skip);
        let lines = missing.as_array().expect("a list").iter();
        // The pixels of an external texture without an image, which is bound.
        let is_other = |line: &&Value| {
            line.as_str().is_none_or(|line| !line.starts_with("of a target that is not read"))
        };
        assert_eq!(lines.filter(is_other).collect::<Vec<_>>(), [&Value::Null; 0]);
    }
}

#[test]
fn deleted_buffer_of_a_texture_is_still_the_texture_s() {
    for skip in [1, 4] {
        assert_eq!(missing("kept_texture_buffer", skip), json!([]));
    }
}
