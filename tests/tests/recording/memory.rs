//! Memory that a program passes to commands: the trace has its contents once, and an unreadable address does not crash the
//! program.

use std::collections::BTreeSet;
use std::process::Command as Process;

use gapii_test_json::values;
use gapii_tests::attaching::run_idle;
use gapii_tests::fake_driver;
use gapii_tests::gapii::{Command, Recording, Session, Trace};
use gapii_tests::loading::{behaves_as_natively, offscreen};
use gapii_tests::process::{LIMIT, run};
use gapii_tests::programs::program;
use rustix::process::Signal;
use serde_json::{Value, json};

const MIB: u64 = 1 << 20;

/// The bytes that `memory.c` makes of a seed.
fn bytes_of(size: u64, seed: u64) -> Vec<u8> {
    let words = (0..size / 8).map(|i| (i + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    words.flat_map(u64::to_le_bytes).collect()
}

/// Name of a blob by its definition, computed without code of the project.
fn name_of(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex()[..32].to_owned()
}

/// The program `memory` on the fake driver, which reads no memory.
fn on_fake_driver(arguments: &[&str]) -> Process {
    let mut process = Process::new(program("memory"));
    process.args(arguments);
    fake_driver::use_in(&mut process, None);
    process
}

fn record(arguments: &[&str]) -> (Session, Recording) {
    let session = Session::new();
    let recording = behaves_as_natively(&session, &mut on_fake_driver(arguments));
    recording.trace.is_whole("exit");
    (session, recording)
}

/// The argument `value` of each upload.
fn uploads(commands: &[Command]) -> Vec<&Value> {
    let uploads = commands.iter().filter(|command| command.name == "glUniform4fv");
    uploads.map(|command| command.argument("value")).collect()
}

/// Contents of a blob in a trace; their hash must equal the name.
#[track_caller]
fn blob(trace: &Trace, hash: &str) -> Vec<u8> {
    let path = trace.path.with_extension("blob");
    let path = path.to_str().expect("a plain name");
    trace.ask("blob", &[hash, "--force", "-o", path]).ok();
    let bytes = std::fs::read(path).expect("the blob was written");
    assert!(name_of(&bytes).starts_with(hash), "{hash} is not {}", name_of(&bytes));
    bytes
}

fn memory(trace: &Trace, what: &str) -> u64 {
    let info = trace.info();
    info["memory"][what].as_u64().unwrap_or_else(|| panic!("{what}: {info:#}"))
}

#[test]
fn array_that_is_uploaded_a_hundred_times_is_there_once() {
    let (_session, recording) = record(&["same", "100"]);
    let trace = &recording.trace;
    let expected = bytes_of(MIB, 1);
    let hash = name_of(&expected);
    let commands = trace.commands();
    let uploads = uploads(&commands);
    assert_eq!(uploads.len(), 100);
    for upload in uploads {
        assert_eq!((&upload["hash"], &upload["size"]), (&json!(hash), &json!(MIB)));
    }
    assert_eq!(blob(trace, &hash), expected);
    assert_eq!(blob(trace, &hash[..6]), expected);
    assert_eq!((memory(trace, "blobs"), memory(trace, "blob_bytes")), (1, MIB));
    assert_eq!((memory(trace, "references"), memory(trace, "saved_bytes")), (100, 99 * MIB));
    assert!(trace.path.metadata().unwrap().len() < 2 * MIB);
}

#[test]
fn array_that_four_threads_upload_is_there_once_for_each_at_most() {
    let (_session, recording) = record(&["threads", "25"]);
    let trace = &recording.trace;
    assert_eq!(memory(trace, "references"), 100);
    let blobs = memory(trace, "blobs");
    assert!((1..=4).contains(&blobs), "{blobs}");
    assert_eq!(blob(trace, &name_of(&bytes_of(MIB, 1))), bytes_of(MIB, 1));
}

#[test]
fn more_blobs_than_the_shim_remembers_are_all_there() {
    let (_session, recording) = record(&["distinct", "70000"]);
    let trace = &recording.trace;
    assert_eq!((memory(trace, "blobs"), memory(trace, "saved_bytes")), (70_000, 0));
    for n in [0, 32_767, 32_768, 69_999] {
        let expected = bytes_of(1024, n << 32);
        assert_eq!(blob(trace, &name_of(&expected)), expected, "{n}");
    }
}

#[test]
fn memory_that_changes_while_it_is_looked_at_is_what_its_hash_says() {
    let (_session, recording) = record(&["changing", "40"]);
    let trace = &recording.trace;
    let commands = trace.commands();
    let hashes: BTreeSet<&str> =
        uploads(&commands).iter().map(|upload| upload["hash"].as_str().unwrap()).collect();
    assert!(hashes.len() > 1, "nothing has changed");
    for hash in hashes {
        assert_eq!(blob(trace, hash).len() as u64, MIB);
    }
}

#[test]
fn blob_larger_than_a_ring_comes_in_pieces() {
    for ring_size in ["64K", "4M"] {
        let session = Session::new();
        let _daemon = session.daemon(&["--ring-size", ring_size]);
        let recording = session.record(&[], &on_fake_driver(&["large", "24"]));
        recording.trace.is_whole("exit");
        let expected = bytes_of(24 * MIB, 3);
        assert_eq!(blob(&recording.trace, &name_of(&expected)), expected, "rings of {ring_size}");
        assert_eq!(memory(&recording.trace, "blobs"), 1, "rings of {ring_size}");
    }
}

#[test]
fn blobs_that_find_no_room_are_lost_with_their_command() {
    let session = Session::new();
    let _daemon = session.daemon(&["--ring-size", "64K"]);
    let process = on_fake_driver(&["changing", "200"]);
    let recording = session.record(&["--overflow", "drop"], &process);
    let trace = &recording.trace;
    trace.verify();
    let (info, commands) = (trace.info(), trace.commands());
    let lost = info["lost"]["commands"].as_u64().unwrap();
    assert_ne!(lost, 0, "{info:#}");
    let uploads = uploads(&commands);
    assert_eq!(uploads.len() as u64 + lost, 200, "{info:#}");
    for upload in uploads {
        blob(trace, upload["hash"].as_str().unwrap());
    }
}

#[test]
fn memory_that_is_not_there_is_said_not_to_be() {
    let (_session, recording) = record(&["unreadable"]);
    let commands = recording.trace.commands();
    let uploads = uploads(&commands);
    let unrecorded: Vec<_> = uploads.iter().map(|upload| upload["unrecorded"] == true).collect();
    // The readable part of a partly readable array is recorded, up to 64 KiB.
    let large = [true, false, true, false, true, true];
    let small = [true, false, false, true];
    assert_eq!(unrecorded, [&large[..], &small].concat());
    assert!(
        uploads.iter().zip(unrecorded).all(|(u, unrecorded)| u["hash"].is_null() == unrecorded)
    );
    assert_eq!(uploads[1]["size"], 64 << 10);
    assert_eq!(uploads[3]["hash"], name_of(&vec![7; 2 * MIB as usize]));
    let names = commands.iter().filter(|command| command.name == "glGetUniformLocation");
    let names: Vec<_> = names.map(|command| command.argument("name")).collect();
    assert_eq!(names[1], "\x07\x07\x07\x07");
    assert_eq!(names[0]["unrecorded"], true);
}

#[test]
fn long_text_is_there_once_and_shown() {
    let session = Session::new();
    let mut process = offscreen(&program("memory"), ["text", "10"]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let names = commands.iter().filter(|command| command.name == "glGetUniformLocation");
    let names: Vec<_> = names.map(|command| command.argument("name")).collect();
    assert_eq!(names, [&json!("x".repeat(4999)); 10]);
    let name = name_of("x".repeat(4999).as_bytes());
    assert_eq!(blob(&recording.trace, &name), "x".repeat(4999).as_bytes());
    assert_eq!(
        (memory(&recording.trace, "blobs"), memory(&recording.trace, "references")),
        (1, 10)
    );
}

#[test]
fn what_a_driver_wrote_is_known_when_it_is_read() {
    let session = Session::new();
    let mut process = offscreen(&program("memory"), ["written"]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let of = |name: &str| {
        let command = commands.iter().find(|command| command.name == name);
        command.unwrap_or_else(|| panic!("no {name}")).argument("textures")
    };
    let (made, deleted) = (of("glGenTextures"), of("glDeleteTextures"));
    assert_eq!((&made["size"], &made["hash"]), (&json!(800), &deleted["hash"]));
    let bytes = blob(&recording.trace, made["hash"].as_str().unwrap());
    let (names, _) = bytes.as_chunks::<4>();
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), 200);
    assert_eq!((memory(&recording.trace, "blobs"), memory(&recording.trace, "references")), (1, 2));
}

#[test]
fn memory_that_depends_on_state_is_a_range_of_its_parameter() {
    let session = Session::new();
    let mut process = offscreen(&program("memory"), ["buffer", "10"]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let dump = recording.trace.ask("dump", &["--json"]).ok();
    let commands = values(&dump.stdout).unwrap();
    let of = |name: &str| -> Vec<&Value> {
        let commands = commands.iter().filter(|command| command["name"] == name);
        commands.map(|command| &command["reads"]).collect()
    };
    let (expected, uploads) = (bytes_of(MIB, 1), of("glBufferData"));
    assert_eq!(uploads.len(), 10);
    for reads in uploads {
        let range = &reads[0];
        assert_eq!((&range["param"], &range["size"]), (&json!("data"), &json!(MIB)));
        assert_eq!((&range["hash"], &range["blob"]), (&json!(name_of(&expected)), &json!(true)));
    }
    let [reads] = of("glBufferSubData")[..] else { panic!("one part is uploaded") };
    assert_eq!(reads[0]["hash"], name_of(&expected[8..108]), "{reads}");
    assert_eq!(memory(&recording.trace, "blobs"), 1);
}

#[test]
fn child_of_a_fork_sends_its_own() {
    let session = Session::new();
    let mut process = offscreen(&program("memory"), ["fork", "3"]);
    let recording = behaves_as_natively(&session, &mut process);
    recording.trace.is_whole("exit");
    let commands = recording.trace.commands();
    let processes: BTreeSet<i64> = commands.iter().map(|command| command.pid).collect();
    assert_eq!(processes.len(), 2, "parent and child");
    let hash = json!(name_of(&bytes_of(MIB, 1)));
    let uploads = uploads(&commands);
    assert!(uploads.iter().all(|upload| upload["hash"] == hash), "{uploads:?}");
    // The parent uploads before and after the child's uploads, three times each.
    assert_eq!(uploads.len(), 3 * 3);
    assert_eq!(memory(&recording.trace, "blobs"), 2);
}

#[test]
fn second_capture_of_a_program_has_its_own_blobs() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let process = run_idle(&session, &on_fake_driver(&["forever"]));
    for name in ["first.gapii", "second.gapii", "third.gapii"] {
        let trace = Trace::new(session.path(name));
        let mut start = session.ctl(["start", "--frames", "3", "-o"]);
        run(start.arg(&trace.path)).ok();
        trace.is_whole("frames");
        assert_eq!((memory(&trace, "blobs"), memory(&trace, "references")), (1, 3), "{name}");
        assert_eq!(blob(&trace, &name_of(&bytes_of(MIB, 1))), bytes_of(MIB, 1), "{name}");
    }
    process.signal(Signal::TERM);
    process.finish(LIMIT);
}

#[test]
fn blob_that_is_not_meant_is_not_written() {
    let (_session, recording) = record(&["distinct", "100"]);
    let trace = &recording.trace;
    let status = |arguments: &[&str]| trace.ask("blob", arguments).status.code();
    let hash = name_of(&bytes_of(1024, 0));
    let other = if hash.starts_with('0') { "1" } else { "0" }.to_owned() + &hash[1..];
    assert_eq!(status(&[&other]), Some(1), "no such blob");
    assert_eq!(status(&[&hash[..1]]), Some(2), "more than one of a hundred begins so");
    assert_eq!(status(&["hello"]), Some(2), "no hash");
    let described = trace.ask("blob", &[&hash, "--json"]).ok();
    let described: Value = serde_json::from_str(&described.stdout).unwrap();
    assert_eq!((&described["hash"], &described["size"]), (&json!(hash), &json!(1024)));
}
