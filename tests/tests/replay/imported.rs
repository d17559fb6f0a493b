//! EGL images of imported memory: a trace has what was written there between commands, and a replay shows it on a driver that
//! imports nothing. The program runs on `preload/dma_buf.c`, where files of memory stand for dma-bufs; the replay does not.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::Command;

use gapii_tests::gapii::{Recording, Session, Trace};
use gapii_tests::loading::{offscreen, same_behaviour};
use gapii_tests::process::run;
use gapii_tests::programs::{preloaded, program};
use gapii_tests::replays::{played, replay, verified_frames};
use gapii_tests::sharing::number;
use serde_json::Value;

/// Frames of `imported.c`.
const FRAMES: u64 = 6;

fn imported(kind: &str) -> Command {
    let mut command = offscreen(&program("imported"), [kind]);
    command.env("LD_PRELOAD", preloaded("dma_buf"));
    command
}

fn record(session: &Session, kind: &str, options: &[&str]) -> Recording {
    let options = [&["--observe-frames", "1"], options].concat();
    session.record(&options, &imported(kind))
}

/// Checks that the replay draws `frames` frames of a recording as the program did, and that nothing is missing.
#[track_caller]
fn check(kind: &str, options: &[&str], frames: u64) -> (Session, Trace) {
    let session = Session::new();
    let native = run(&mut imported(kind)).ok();
    let recording = record(&session, kind, options);
    let app = played(&session, &recording, &native.stdout).unwrap_or_else(|why| panic!("{why}"));
    app.has_verified(frames).unwrap_or_else(|why| panic!("{kind} {options:?}: {why}"));
    assert!(app.info["missing"].as_array().is_none_or(Vec::is_empty), "{:#}", app.info);
    (session, recording.trace)
}

#[test]
fn imported_rgb_is_played_exactly() {
    let (session, trace) = check("rgb", &[], FRAMES);
    // A part is recorded from a replay, which imports nothing.
    let part = Trace::new(session.path("part.gapii"));
    let mut trim = session.ctl(["trim", "--frames", "3..6", "-o"]);
    run(trim.arg(&part.path).arg(&trace.path)).ok();
    assert_eq!(number(&part.info()["frames"]), 3);
    let checksums = |trace: &Trace| {
        let played = run(&mut replay(&session, &trace.path, &["--checksum", "--json"])).ok();
        let report: Value = serde_json::from_str(&played.stdout).expect("a report");
        let all = report["checksums"].as_array().cloned().expect("a list");
        all.iter().map(|it| it["blake3"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(checksums(&part), checksums(&trace)[3..]);
    // Tools that do not know imported memory go on.
    let exported = session.path("exported.trace");
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    run(export.arg(&exported).arg(&trace.path)).ok();
}

#[test]
fn imported_yuv_is_played_exactly() {
    check("nv12", &[], FRAMES);
}

#[test]
fn imported_memory_is_in_a_snapshot() {
    check("rgb", &["--skip-frames", "1"], FRAMES - 1);
    // Here the image of a texture is destroyed.
    check("rgb", &["--skip-frames", "3"], FRAMES - 3);
    check("nv12", &["--skip-frames", "2"], FRAMES - 2);
}

#[test]
fn imported_memory_is_in_a_keyframe() {
    let session = Session::new();
    let recording = record(&session, "rgb", &["--keep-frames", "2", "--keyframe-every", "2"]);
    recording.run.clone().ok();
    assert_eq!(verified_frames(&session, &recording.trace), 2);
}

/// Checks that the trace names why it lacks memory, and that a replay says so and shows a pattern.
#[track_caller]
fn check_missing(kind: &str, options: &[&str], sentence: &str) {
    let session = Session::new();
    let native = run(&mut imported(kind)).ok();
    let Recording { trace, run: recorded } = record(&session, kind, options);
    same_behaviour(&native, &recorded);
    assert!(recorded.stderr.contains(&format!("missing: {sentence}")), "{recorded}");
    let missing = &trace.info()["missing"];
    let mut named = missing.as_array().expect("a list").iter().filter_map(Value::as_str);
    assert!(named.any(|it| it == sentence), "{missing}");
    if options.is_empty() {
        let verified = trace.ask("verify", &[]).ok();
        assert!(verified.stdout.contains(&format!("the trace lacks {sentence}")), "{verified}");
    }
    let folder = session.path("pictures");
    let mut shown = replay(&session, &trace.path, &["--json", "--images"]);
    let shown = run(shown.arg(&folder)).ok();
    assert!(shown.stdout.contains("shows a pattern"), "{shown}");
    assert_eq!(corner(&folder.join("frame-000003.png")), [255, 0, 255]);
}

/// Red, green and blue in the lower left corner of a picture, where the program draws the first image.
#[track_caller]
fn corner(path: &Path) -> [u8; 3] {
    let file = File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut reader = png::Decoder::new(BufReader::new(file)).read_info().expect("a PNG");
    let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
    let info = reader.next_frame(&mut samples).expect("a whole PNG");
    let row = (info.width as usize) * info.color_type.samples();
    let last = &samples[row * (info.height as usize - 1)..];
    [last[0], last[1], last[2]]
}

#[test]
fn memory_in_tiles_is_named_as_missing() {
    let sentence = "memory of an imported EGL image: its layout (XR24, modifier 0x100000000000001) is not linear";
    check_missing("tiled", &[], sentence);
    check_missing("tiled", &["--skip-frames", "2"], sentence);
}

#[test]
fn memory_that_cannot_be_read_is_named_as_missing() {
    let sentence = "memory of an imported EGL image (32 x 32, XR24): its descriptor cannot be read";
    check_missing("unreadable", &[], sentence);
}
