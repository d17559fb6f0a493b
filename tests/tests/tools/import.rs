//! Recordings of apitrace, imported: they show what `eglretrace` shows, and what the program read back; an export of an import,
//! and an import of an export, are the recording again.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;

use gapii_tests::exporting::{Exported, export_app};
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::importing::{app_by_apitrace, frames, import};
use gapii_tests::loading::offscreen;
use gapii_tests::pictures::played;
use gapii_tests::process::run;
use gapii_tests::programs::program;
use gapii_tests::{apitrace, dumps};
use serde_json::{Map, Value, json};

/// Programs with arrays in their memory, mapped buffers, buffers that uniforms read, two threads with shared objects,
/// textures, and indices in their memory.
const PROGRAMS: &[&str] = &[
    "client_arrays",
    "mapped_buffers",
    "uniform_buffers",
    "shared_contexts",
    "texture_updates",
    "client_indices",
];

#[test]
fn apitrace_s_recording_shows_what_eglretrace_shows() {
    let session = Session::new();
    for name in PROGRAMS {
        let recording = app_by_apitrace(&session, name);
        let (trace, said) = import(&session, &recording, name);
        assert_eq!(said["cut"], false, "{name}: {said}");
        assert_eq!(said["unknown"], json!({}), "{name}: {said}");
        let (theirs, eglretrace) = played(&recording);
        let ours = frames(&session, &trace, name);
        assert!(ours.len() >= 3 && ours.iter().all(|it| it.shows_something()), "{name}");
        assert!(ours == theirs, "{name}: {} and {}: {eglretrace}", ours.len(), theirs.len());
        let info = trace.info();
        assert_eq!(info["processes"][0]["name"], *name, "{info}");
        let writer = info["writer"].as_str().unwrap_or_default();
        assert!(writer.ends_with(", imported from apitrace"), "{info}");
    }
}

/// Programs whose exports are imported. The first are those of above.
const EXPORTED: &[&str] = &[
    "client_arrays",
    "mapped_buffers",
    "uniform_buffers",
    "shared_contexts",
    "debug_messages",
    "egl_image",
    "fixed_function",
    "index_sources",
    "persistent_maps",
    "program_binary",
    "sync_objects",
    "transform_feedback",
];

/// Functions of which the format does not hold everything, and what it lacks.
const NOT_HELD: &[(&str, &str)] = &[
    ("glDraw", "arrays that adjoin are one piece of memory, or several"),
    ("glGet", "answers whose extent depends on state"),
    ("glMapBufferRange", "what was in the buffer"),
    ("glReadPixels", "what was read"),
    ("glUniform1iv", "an array that is not read"),
];

/// Functions that an export adds, or writes at another place: arrays in client memory before each draw, and sizes of surfaces.
const MOVED: &[&str] = &[
    "glBindBuffer",
    "glClientActiveTexture",
    "glColorPointer",
    "glNormalPointer",
    "glPointSizePointerOES",
    "glScissor",
    "glTexCoordPointer",
    "glVertexAttribIPointer",
    "glVertexAttribPointer",
    "glVertexPointer",
    "glViewport",
];

/// A command without what is different in each run: numbers and addresses.
fn content(command: &Value) -> Value {
    let kept = |key: &&String| {
        !["seq", "pid", "tid", "context", "stamps", "addresses", "time_ns", "begin_ns", "names"]
            .contains(&key.as_str())
    };
    match command {
        Value::Object(fields) => {
            let kept = fields.iter().filter(|(key, _)| kept(key) && *key != "address");
            Value::Object(kept.map(|(key, value)| (key.clone(), content(value))).collect())
        }
        Value::Array(elements) => Value::Array(elements.iter().map(content).collect()),
        Value::String(text) if text.starts_with("0x") && text.len() > 6 => json!("address"),
        other => other.clone(),
    }
}

/// The commands of a trace that an export has at their place.
fn contents(trace: &Trace) -> Vec<Value> {
    let dump = trace.ask("dump", &["--json"]).ok();
    let lines = dump.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let mut all: Vec<Value> = lines.map(|line: Value| content(&line)).collect();
    all.retain(|it| !MOVED.contains(&it["name"].as_str().unwrap_or_default()));
    all
}

/// Fields of two commands that differ, unless the format does not hold them.
fn difference(one: &Value, two: &Value) -> Option<String> {
    let name = one["name"].as_str().unwrap_or_default();
    if one == two {
        return None;
    }
    let is_held = !NOT_HELD.iter().any(|(begin, _)| name.starts_with(begin));
    let without = |of: &Value| {
        let mut fields: Map<String, Value> = of.as_object().expect("a command").clone();
        fields.retain(|key, _| is_held || key != "args" && key != "reads" && key != "writes");
        fields
    };
    (without(one) != without(two)).then(|| format!("{one} is not {two}"))
}

#[test]
fn import_of_an_export_is_the_trace_again_and_shows_the_same() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut found = Vec::new();
    let mut compared = 0;
    for name in EXPORTED {
        let Exported { trace: exported, read_back } =
            export_app(&session, name, &[]).unwrap_or_else(|why| panic!("{why}"));
        let recorded = gapii_tests::replays::record_app_once(&session, name, &[])
            .unwrap_or_else(|why| panic!("{why}"));
        let (trace, said) = import(&session, &exported, name);
        assert_eq!((&said["unread"], &said["nested"]), (&json!(0), &json!(0)), "{name}: {said}");
        let shown = frames(&session, &trace, name);
        if shown != read_back {
            found.push(format!("{name} shows other pictures"));
        }
        let (ours, theirs) = (contents(&recorded.trace), contents(&trace));
        if ours.len() != theirs.len() {
            found.push(format!("{name}: {} commands, not {}", theirs.len(), ours.len()));
        }
        compared += ours.len();
        let differing = ours.iter().zip(&theirs).filter_map(|(one, two)| difference(one, two));
        found.extend(differing.take(3).map(|what| format!("{name}: {what}")));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(compared > 2000, "{compared}");
}

/// Differences of an import that was exported, and why they are there.
const ADDED: &[(&str, &str)] = &[
    ("only ours: glViewport", "apitrace's fake one is a command now, and an export adds one"),
    ("only ours: glScissor", "likewise"),
    ("only ours: glBindAttribLocation", "apitrace's fake one is a command now"),
    ("client_arrays: only theirs: fake glVertexAttribPointer", "before a draw of nothing"),
];

/// Compares the dump of apitrace's recording with that of its import, exported.
fn check_exported_again(session: &Session, recording: &Path, name: &str) -> Vec<String> {
    let (trace, _) = import(session, recording, name);
    let again = session.path(&format!("{name}-again.trace"));
    let mut export = session.ctl(["export", "--format", "apitrace", "-o"]);
    run(export.arg(&again).arg(&trace.path)).ok();
    let (ours, theirs) = (dumps::calls(&again), dumps::calls(recording));
    assert!(theirs.len() > 100, "{name}: {} calls", theirs.len());
    dumps::differences(&ours, &theirs)
}

#[test]
fn export_of_an_import_is_apitrace_s_recording_again() {
    let session = Session::new();
    let mut found = Vec::new();
    let programs = ["compare_es2", "compare_es3", "compare_threads"].map(|name| {
        let recording = session.path(&format!("{name}.trace"));
        apitrace::record(&offscreen(&program(name), [""; 0]), &recording).ok();
        (name, recording)
    });
    let apps =
        ["client_arrays", "shared_contexts"].map(|name| (name, app_by_apitrace(&session, name)));
    for (name, recording) in programs.into_iter().chain(apps) {
        let differences = check_exported_again(&session, &recording, name);
        found.extend(differences.into_iter().map(|what| format!("{name}: {what}")));
    }
    found.retain(|what| !ADDED.iter().any(|(begin, _)| what.contains(begin)));
    assert!(found.is_empty(), "{} differences:\n{}", found.len(), found.join("\n"));
}

#[test]
fn import_says_what_it_leaves_out() {
    let session = Session::new();
    let bytes = std::fs::read(app_by_apitrace(&session, "client_arrays")).expect("a recording");
    let (file, out) = (session.path("x.trace"), session.path("x.gapii"));
    let import = |bytes: &[u8], options: &[&str]| {
        std::fs::write(&file, bytes).expect("the folder is writable");
        let mut import = session.ctl(["import", "--force", "-o"]);
        run(import.arg(&out).arg(&file).args(options))
    };
    let check = |bytes: &[u8], options: &[&str], status: i32, says: &str| {
        let finished = import(bytes, options);
        assert_eq!(finished.status.code(), Some(status), "{finished}");
        assert!(finished.stderr.contains(says), "{says}: {finished}");
    };
    check(&bytes, &[], 0, "4 frames, ");

    // The name is in the file as it is, because Snappy has seen nothing like it before.
    let name = b"eglBindAPI";
    let at = bytes.windows(name.len()).position(|part| part == name).expect("the name");
    let mut unknown = bytes.clone();
    unknown[at + 3] = b'X';
    let says = "left out 1 call of functions that gapii does not record: eglXindAPI (1)";
    check(&unknown, &[], 1, says);
    Trace::new(out.clone()).verify();
    check(&unknown, &["--skip-unknown"], 0, says);
    let said = import(&unknown, &["--skip-unknown", "--json"]).ok();
    let said: Value = serde_json::from_str(&said.stdout).expect("JSON");
    assert_eq!(said["unknown"], json!({"eglXindAPI": 1}));

    // A second chunk that is cut.
    let cut = [&bytes[..], &[9, 0, 0, 0, 1]].concat();
    check(&cut, &[], 1, "ends within a call; the trace has the calls before it");
    Trace::new(out.clone()).verify();

    // A file that was there stays.
    let before = std::fs::read(&out).expect("a trace");
    let damaged = [&bytes[..], &[1, 0, 0, 0, 0xFF, 0xFF]].concat();
    check(&damaged, &[], 1, "at byte");
    check(b"PK", &[], 1, "it does not begin as apitrace's recordings do");
    assert_eq!(std::fs::read(&out).expect("a trace"), before);
    let mut missing = session.ctl(["import", "nothing.trace", "-o", "y.gapii"]);
    let finished = run(&mut missing);
    assert_eq!(finished.status.code(), Some(3), "{finished}");
    assert!(finished.stderr.contains("`apitrace trace --api egl -o nothing.trace PROGRAM`"));
}

#[test]
fn stopped_import_leaves_no_file() {
    let session = Session::new();
    let fifo = session.path("x.trace");
    run(std::process::Command::new("mkfifo").arg(&fifo)).ok();
    let out = session.path("out");
    std::fs::create_dir(&out).expect("a folder");
    let mut import = session.ctl(["import", "-o"]);
    import.arg(out.join("x.gapii")).arg(&fifo).stderr(Stdio::null());
    let mut child = import.spawn().expect("gapii-ctl");
    // Opening waits for the reader.
    let writer = std::fs::OpenOptions::new().write(true).open(&fifo).expect("a pipe");
    let files = || std::fs::read_dir(&out).expect("a folder").count();
    gapii_tests::wait::until("the draft", gapii_tests::process::LIMIT, || {
        (files() == 1).then_some(())
    });
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it runs");
    let status = child.wait().expect("it ends");
    drop(writer);
    assert!(!status.success() || status.signal().is_some(), "{status}");
    assert_eq!(files(), 0);
}
