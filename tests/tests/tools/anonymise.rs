//! `gapii-ctl anonymise`: nothing of a program's texts, pixels and names is left in the trace, and everything else is.

use std::collections::HashSet;
use std::path::Path;
use std::process::Command as Process;

use gapii_test_json::{value, values};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::loading::offscreen;
use gapii_tests::process::run;
use gapii_tests::programs::{app, level_zero, program};
use gapii_tests::replays::replay;
use gapii_tests::stream::{decompress, decompress_file, frames, unpack};
use serde_json::Value;

/// Id of a record with a piece of a blob.
const BLOB: u16 = 0xFF06;

/// Writes a trace without its contents.
#[track_caller]
fn anonymised(session: &Session, trace: &Trace, options: &[&str]) -> Trace {
    let new = Trace::new(session.path("anonymised.gapii"));
    let mut command = session.ctl(["anonymise", "--force", "-o"]);
    let said = run(command.arg(&new.path).arg(&trace.path).args(options)).ok().stderr;
    assert!(said.contains(" bytes of memory without contents -> "), "{said}");
    new
}

/// All that is in a trace: the file, its records, and the bodies of header and descriptions.
fn everything(path: &Path) -> Vec<u8> {
    let file = std::fs::read(path).expect("a trace");
    let bodies = frames(&file).into_iter().filter(|frame| frame.skippable).filter_map(|frame| {
        // Those of index and footer are not compressed.
        let body = file[frame.bytes].get(24..).filter(|body| body.starts_with(&[0x28, 0xB5]))?;
        Some(decompress(body))
    });
    let bodies: Vec<_> = bodies.collect();
    let records = unpack(&decompress_file(path));
    [&[file, records][..], &bodies].concat().concat()
}

/// The windows of eight bytes, without those of fewer than five different bytes, which are everywhere.
fn windows(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.windows(8).filter(|window| window.iter().collect::<HashSet<_>>().len() > 4)
}

/// The pieces of blobs in a trace.
fn blobs(path: &Path) -> Vec<Vec<u8>> {
    let records = unpack(&decompress_file(path));
    let (mut at, mut blobs) = (0, Vec::new());
    while at < records.len() {
        let header = &records[at..at + 8];
        let len = u32::from_le_bytes(header[..4].try_into().expect("four bytes")) as usize;
        if u16::from_le_bytes(header[4..6].try_into().expect("two bytes")) == BLOB {
            // Behind the header, or behind header and stamp, the blob's size and the place of the piece.
            blobs.push(records[at + 24..at + len].to_vec());
        }
        at += len.next_multiple_of(8);
    }
    blobs
}

fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

/// A word of an API, an address or a hash, none of which is a text of the program.
fn is_public(text: &str) -> bool {
    let is_enumerant = text.split(['|', ',']).all(|word| {
        word.starts_with("0x") || word == "0" || !word.contains(|c: char| c.is_ascii_lowercase())
    });
    is_enumerant && !text.contains(' ')
}

/// Checks that a value of a tool's answer is as before, or noise of the same form.
#[track_caller]
fn alike(before: &Value, after: &Value, key: &str) {
    let differ = || format!("{key}: {before} became {after}");
    match (before, after) {
        (Value::Object(before), Value::Object(after)) => {
            assert!(before.keys().eq(after.keys()), "{}", differ());
            for (key, before) in before {
                alike(before, &after[key], key);
            }
        }
        (Value::Array(before), Value::Array(after)) => {
            assert_eq!(before.len(), after.len(), "{}", differ());
            // The bytes of a UUID are memory.
            let key = if key == "id" { "values" } else { key };
            before.iter().zip(after).for_each(|(before, after)| alike(before, after, key));
        }
        (Value::String(old), Value::String(new)) => match is_public(old) && key != "hash" {
            true => assert_eq!(old, new, "{}", differ()),
            false => assert_eq!(old.len(), new.len(), "{}", differ()),
        },
        // Memory, numbers of floating point, and ids.
        (Value::Number(_), Value::Number(new)) => {
            let is_noise = new.is_f64() || matches!(key, "values" | "pid" | "tid");
            assert!(is_noise || before == after, "{}", differ());
        }
        _ => assert_eq!(before, after, "{}", differ()),
    }
}

/// Anonymises a trace, in which these texts and at least so many windows of pixels are, and compares it with the trace.
#[track_caller]
fn check(session: &Session, trace: &Trace, secrets: &[&str], least_windows: usize) -> Trace {
    let new = anonymised(session, trace, &[]);
    let (old_bytes, new_bytes) = (everything(&trace.path), everything(&new.path));
    for secret in secrets {
        assert!(has(&old_bytes, secret), "{secret} is nowhere in the trace");
        assert!(!has(&new_bytes, secret), "{secret} is left");
    }
    let pixels = blobs(&trace.path);
    // Texts are among the secrets; lists of extensions are not, and the trace keeps their names.
    let pixels = pixels.iter().filter(|blob| !blob.is_ascii());
    let pixels: HashSet<&[u8]> = pixels.flat_map(|blob| windows(blob)).collect();
    assert!(pixels.len() >= least_windows, "{} windows", pixels.len());
    let left = windows(&new_bytes).filter(|window| pixels.contains(window)).count();
    assert_eq!(left, 0, "of {} windows", pixels.len());

    assert_eq!(trace.info()["anonymised"], Value::Null);
    assert_eq!(new.info()["anonymised"], true);
    new.is_whole("exit");
    let dumped = |trace: &Trace| values(&trace.ask("dump", &["--json"]).ok().stdout);
    let (before, after) = (dumped(trace).expect("commands"), dumped(&new).expect("commands"));
    assert_eq!(before.len(), after.len());
    for (before, after) in before.iter().zip(&after) {
        assert_eq!(before["name"], after["name"]);
        alike(before, after, "command");
    }
    let counted = |trace: &Trace| value(&trace.ask("stats", &["--json"]).ok().stdout);
    alike(&counted(trace).expect("JSON"), &counted(&new).expect("JSON"), "stats");
    new
}

#[test]
fn trace_of_opengl_es_loses_its_contents_keeps_its_structure_and_is_not_played() {
    let session = Session::new();
    let mut program = offscreen(&app("kept_labels"), ["argument-s3cret"]);
    program.env("NOBODYS_BUSINESS", "environment-s3cret");
    let options = ["--observe-frames", "1", "--frame-pixels"];
    let recording = session.record(&options, &program);
    recording.run.clone().ok();
    let secrets = [
        "kept_labels",
        "argument-s3cret",
        "a renderbuffer",
        "a vertex array",
        "outer",
        "inner",
        "gl_Position",
        "void main",
        "texture2D",
        "llvmpipe",
    ];
    let new = check(&session, &recording.trace, &secrets, 200);
    assert!(!has(&everything(&new.path), "environment-s3cret"));
    let shown = new.ask("info", &[]).ok().stdout;
    assert!(shown.contains("anonymised texts, memory and names are noise"), "{shown}");
    // A name of two letters stays the same once in 4,000 times.
    let [host, noise] = [&recording.trace, &new].map(|it| it.info()["host"].clone());
    assert!(host.is_string() && noise.is_string() && host != noise, "{host} became {noise}");
    let played = run(&mut replay(&session, &new.path, &[])).exited_with(1);
    assert!(played.stderr.contains("can't be played: it is anonymised"), "{played}");

    // The key is another one each time.
    let again = std::fs::read(&new.path).expect("a trace");
    anonymised(&session, &recording.trace, &[]);
    assert!(std::fs::read(&new.path).expect("a trace") != again);
    let kept = anonymised(&session, &recording.trace, &["--keep", "marks,driver"]);
    let kept = everything(&kept.path);
    assert!(["outer", "a renderbuffer", "llvmpipe"].iter().all(|text| has(&kept, text)));
    assert!(!has(&kept, "kept_labels") && !has(&kept, "gl_Position"));

    let mut onto_itself = session.ctl(["anonymise", "--force", "-o"]);
    let refused = run(onto_itself.args([&recording.trace.path; 2])).exited_with(2);
    assert!(refused.stderr.contains("is the trace itself"), "{refused}");
    recording.trace.is_whole("exit");
}

#[test]
fn trace_of_desktop_opengl_loses_its_contents_and_keeps_its_structure() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("desktop_compatibility"), [""; 0]));
    recording.run.clone().ok();
    check(&session, &recording.trace, &["desktop_compatibility", "llvmpipe"], 1_000);
}

#[test]
fn trace_of_level_zero_loses_its_contents_and_keeps_its_structure() {
    let session = Session::new();
    let mut pipeline: Process = on_null_driver(&level_zero("pipeline"));
    let recording = session.record(&[], pipeline.arg("1"));
    recording.run.clone().ok();
    // Its memory is of few different bytes. Kernel, flags of the build, name and UUID of the device:
    let secrets = ["pipeline", "twice", "-fast", "gapii null device", "gapii null devic"];
    check(&session, &recording.trace, &secrets, 0);
}
