//! Observed frames: a program's pictures are in its trace, and the program cannot notice that they were read.

use std::path::Path;

use gapii_test_json::values;
use gapii_tests::display::Display;
use gapii_tests::gapii::{Command, Recording, Session, Trace};
use gapii_tests::loading::{behaves_as_natively, offscreen, same_behaviour};
use gapii_tests::process::{require, run};
use gapii_tests::programs::{app, program};
use serde_json::{Value, json};

/// Name of a blob by its definition, computed without code of the project.
fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// Returns the pictures that the program itself read back: sizes and rows of RGBA from the bottom.
fn written_by_the_program(folder: &Path) -> Vec<(u32, u32, Vec<u8>)> {
    let entries = std::fs::read_dir(folder).expect("the program wrote it").flatten();
    let mut paths: Vec<_> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let frame = |path| {
        let bytes = std::fs::read(path).expect("a file of the program");
        let number = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        (number(0), number(4), bytes[8..].to_vec())
    };
    paths.into_iter().map(frame).collect()
}

/// Records `program` with observed frames; its output must be the same as without.
fn observed(
    session: &Session,
    program: &Path,
    options: &[&str],
) -> (Recording, Vec<(u32, u32, Vec<u8>)>) {
    let folder = session.path("frames");
    std::fs::create_dir(&folder).expect("a folder of the session");
    let mut command = offscreen(program, [""; 0]);
    command.env("GAPII_APP_FRAMES", &folder);
    let native = run(&mut command);
    let recording = session.record(options, &command);
    same_behaviour(&native, &recording.run);
    recording.trace.is_whole("exit");
    (recording, written_by_the_program(&folder))
}

fn swaps(trace: &Trace) -> Vec<Value> {
    let dump = trace.ask("dump", &["--json"]).ok().stdout;
    let all = values(&dump).expect("lines of JSON").into_iter();
    all.filter(|command| command["name"].as_str().is_some_and(|name| name.starts_with("eglSwap")))
        .collect()
}

/// Checks that the trace of a program has `drawn` frames, each with the pixels that the program read back itself.
#[track_caller]
fn holds_every_frame(program: &Path, drawn: usize) {
    let session = Session::new();
    let (recording, frames) =
        observed(&session, program, &["--observe-frames", "1", "--frame-pixels"]);
    let swaps = swaps(&recording.trace);
    assert_eq!((swaps.len(), frames.len()), (drawn, drawn));
    for (swap, (width, height, pixels)) in swaps.iter().zip(frames) {
        let seen = &swap["observed_frame"];
        assert_eq!((&seen["width"], &seen["height"]), (&json!(width), &json!(height)), "{swap}");
        assert_eq!(seen["hash"], json!(name_of(&pixels)), "{swap}");
        assert_eq!(seen["surface"], swap["args"]["surface"]);
        let file = session.path("blob");
        let file = file.to_str().expect("a plain name");
        let hash = seen["hash"].as_str().expect("a hash is text");
        recording.trace.ask("blob", &[hash, "--force", "-o", file]).ok();
        assert_eq!(std::fs::read(file).expect("the blob was written"), pixels);
    }
}

#[test]
fn frames_of_surfaces_of_all_kinds_are_what_the_program_reads_itself() {
    holds_every_frame(&program("bent_swaps"), 10);
}

#[test]
fn frames_of_es_1_are_what_the_program_reads_itself() {
    holds_every_frame(&app("fixed_function"), 4);
}

#[test]
fn frames_of_many_contexts_and_threads_are_what_the_program_reads_itself() {
    for (name, drawn) in
        [("animation", 30), ("framebuffers", 4), ("pack_parameters", 4), ("moving_contexts", 6)]
    {
        holds_every_frame(&app(name), drawn);
    }
}

#[test]
fn every_second_frame_is_hashed_and_no_pixels_are_kept() {
    let session = Session::new();
    let (recording, frames) = observed(&session, &app("animation"), &["--observe-frames", "2"]);
    let swaps = swaps(&recording.trace);
    assert_eq!((swaps.len(), frames.len()), (30, 30));
    for (number, (swap, (.., pixels))) in swaps.iter().zip(frames).enumerate() {
        let seen = &swap["observed_frame"];
        if number % 2 == 0 {
            assert_eq!(seen["hash"], json!(name_of(&pixels)), "{swap}");
            assert_eq!(seen["blob"], Value::Null);
        } else {
            assert_eq!(*seen, Value::Null, "{swap}");
        }
    }
}

#[test]
fn frames_are_not_observed_unless_asked_for() {
    let session = Session::new();
    let recording = behaves_as_natively(&session, &mut offscreen(&app("animation"), [""; 0]));
    let swaps = swaps(&recording.trace);
    assert_eq!(swaps.len(), 30);
    assert!(swaps.iter().all(|swap| swap["observed_frame"] == Value::Null), "{swaps:?}");
}

#[test]
fn commands_are_the_same_with_and_without_observed_frames() {
    let session = Session::new();
    let record = |options: &[&str]| {
        let recording = session.record(options, &offscreen(&program("bent_swaps"), [""; 0]));
        recording.run.ok();
        recording.trace.commands()
    };
    let names = |commands: &[Command]| -> Vec<String> {
        commands.iter().map(|command| command.name.clone()).collect()
    };
    let plain = record(&[]);
    let observed = record(&["--observe-frames", "1", "--frame-pixels"]);
    assert!(plain.len() > 100, "{} commands", plain.len());
    assert_eq!(names(&plain), names(&observed));
}

/// A window of X11, whose size the shim asks the driver for.
#[test]
fn window_shows_frames_of_its_size() {
    require("es2gears_x11");
    let display = Display::start();
    let session = Session::new();
    let gears = display.command(&["es2gears_x11"]);
    let recording = session.record(&["--observe-frames", "1", "--frames", "5", "--quit"], &gears);
    let swaps = swaps(&recording.trace);
    assert_eq!(swaps.len(), 5);
    let hashes: Vec<_> = swaps.iter().map(|swap| &swap["observed_frame"]["hash"]).collect();
    assert!(hashes.iter().all(|hash| hash.is_string()), "{hashes:?}");
    for swap in &swaps {
        let seen = &swap["observed_frame"];
        assert_eq!((&seen["width"], &seen["height"]), (&json!(300), &json!(300)), "{swap}");
    }
}
