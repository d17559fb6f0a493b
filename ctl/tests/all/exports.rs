//! `gapii-ctl export`: the output gets its name only when it is complete.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::support::{self, ctl, one_sentence, run};
use crate::written_trace::{BEGAN_NS, WrittenTrace};
use gapii_abi::atom::{self, EFFECT, EndReason, Header};
use gapii_commands::constants::GL_RENDERER;
use gapii_trace::append::AppendTo;
use gapii_trace::meta;
use gapii_trace::used::Used;
use gapii_trace::{BlobName, TraceHeader, encode_block};
use serde_json::Value;

/// A trace of commands without arguments, cut after its last block.
fn trace(path: &Path, commands: usize) {
    let header = TraceHeader::new("test", [7; 16], 0, 0);
    let functions = header.description.functions();
    let flush = functions.iter().find(|function| function.name == "glFlush").unwrap().id;
    let mut raw = Vec::new();
    atom::Block { number: 0, first_seq: 0, start_ns: 0 }.append_to(&mut raw);
    let name = b"p".as_slice();
    meta::Process { process: 0, pid: 4711, start_ns: 0, frames: 0, name }.append_to(&mut raw);
    let (api, context, stamp, name) = (0x30A0, 1, 1, [0; 16]);
    atom::ThreadState { thread: 0, process: 0, tid: 4711, api, context, stamp, name }
        .append_to(&mut raw);
    atom::SwitchThread { thread: 0 }.append_to(&mut raw);
    for _ in 0..commands {
        raw.extend_from_slice(&Header::new(flush, EFFECT, 8).0.to_le_bytes());
    }
    meta::End { reason: EndReason::Exit, in_flight: Vec::new() }.append_to(&mut raw);
    let mut file = header.encode().unwrap();
    let described =
        header.description_writer().unwrap().frame(&Used::by(&raw), header.version).unwrap();
    file.extend_from_slice(&described.unwrap());
    file.extend_from_slice(&encode_block(&raw, 1).unwrap());
    fs::write(path, file).unwrap();
}

fn files(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn cut_trace_is_exported_up_to_the_cut_and_said_to_be_cut() {
    let folder = tempfile::tempdir().unwrap();
    trace(&folder.path().join("t.gapii"), 3);
    for format in ["apitrace", "json"] {
        let arguments = ["export", "t.gapii", "--format", format, "--force", "-o", "out"];
        let (stdout, stderr) = run(ctl(folder.path()).args(arguments), 1);
        assert!(one_sentence(&stderr).contains("is cut"), "{stderr}");
        assert_eq!(
            (stdout.as_str(), files(folder.path())),
            ("", vec!["out".into(), "t.gapii".into()])
        );
    }
    let out = fs::read_to_string(folder.path().join("out")).unwrap();
    assert_eq!(out.matches("glFlush").count(), 3);
    let (dump, _) = run(ctl(folder.path()).args(["dump", "--json", "t.gapii"]), 1);
    assert_eq!(out, dump);
}

#[test]
fn other_process_than_there_is_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    trace(&folder.path().join("t.gapii"), 1);
    let arguments = ["export", "t.gapii", "--format", "json", "-o", "out", "--pid", "12"];
    let (_, stderr) = run(ctl(folder.path()).args(arguments), 1);
    assert!(one_sentence(&stderr).contains("4711 (p)"), "{stderr}");
    assert_eq!(files(folder.path()), ["t.gapii"]);
}

#[test]
fn interrupted_export_leaves_what_was_there_before() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough that the signal arrives before the export is complete.
    trace(&folder.path().join("t.gapii"), 900_000);
    fs::write(folder.path().join("out"), "before").unwrap();
    let mut command = ctl(folder.path());
    command.args(["export", "t.gapii", "--format", "json", "--force", "-o", "out"]);
    let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
    let deadline = Instant::now() + Duration::from_secs(20);
    while files(folder.path()).len() < 3 {
        assert!(Instant::now() < deadline, "no draft");
        assert!(child.try_wait().unwrap().is_none(), "it ended before there was a draft");
        std::thread::yield_now();
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(130));
    assert_eq!(files(folder.path()), ["out", "t.gapii"]);
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "before");
}

#[test]
fn long_commands_show_on_a_terminal_how_far_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = WrittenTrace::new(false);
    (0..100_000).for_each(|_| trace.swap(0, None));
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    let shown = |arguments: &[&str], to_file: bool| {
        let mut command = ctl(folder.path());
        command.args(arguments).stdout(match to_file {
            true => Stdio::from(fs::File::create(folder.path().join("list")).unwrap()),
            false => Stdio::null(),
        });
        support::on_a_terminal(command).1
    };
    for arguments in [
        &["verify", "t.gapii"][..],
        &["stats", "t.gapii"],
        &["state", "t.gapii"],
        &["export", "t.gapii", "--format", "json", "-o", "out"],
        &["dump", "t.gapii", "--function", "glClear"],
        &["diff", "t.gapii", "t.gapii"],
    ] {
        let shown = shown(arguments, false);
        assert!(shown.contains(" left"), "{arguments:?}: {shown}");
    }
    assert!(shown(&["dump", "t.gapii"], true).contains(" left"));
    // Lines that are listed elsewhere are sign enough.
    let listed = shown(&["dump", "t.gapii"], false);
    assert!(!listed.contains("commands, "), "{listed}");
}

#[test]
fn interrupted_command_erases_its_progress() {
    const ERASED: &str = "\u{1b}[2K";
    let folder = tempfile::tempdir().unwrap();
    // Long enough that no command is complete before the signal arrives.
    let mut trace = WrittenTrace::new(false);
    for block in 1..=4 {
        (0..100_000).for_each(|_| trace.swap(0, None));
        trace.begin_block(BEGAN_NS + block * 2_000_000_000);
    }
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    for arguments in [
        &["verify", "t.gapii"][..],
        &["stats", "t.gapii"],
        &["state", "t.gapii"],
        &["export", "t.gapii", "--format", "json", "-o", "out"],
        &["dump", "t.gapii", "--function", "glClear"],
    ] {
        let mut command = ctl(folder.path());
        command.args(arguments).stdout(Stdio::null());
        let mut is_interrupted = false;
        let (status, shown) = support::watched_on_a_terminal(command, |pid, shown| {
            if !is_interrupted && shown.contains(" left") {
                is_interrupted = true;
                rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
            }
        });
        assert_eq!(status.code(), Some(130), "{arguments:?}: {shown:?}");
        let end = shown.rsplit_once(ERASED).map(|(_, end)| end.trim());
        assert_eq!(end, Some(""), "{arguments:?}: {shown:?}");
        assert_eq!(files(folder.path()), ["t.gapii"]);
    }
}

/// A full disk, played by a limit on the size of files.
#[test]
fn blob_that_cannot_be_written_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = WrittenTrace::new(false);
    let answer = "x".repeat(100_000);
    trace.get_string_in_a_blob(GL_RENDERER, &answer);
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    fs::write(folder.path().join("out"), "before").unwrap();
    let hash = BlobName::of(answer.as_bytes()).to_string();
    let script = "ulimit -f 1; trap '' XFSZ; exec \"$@\"";
    let own = ctl(folder.path());
    let mut command = Command::new("sh");
    command.current_dir(folder.path()).args(["-c", script, "sh"]).arg(own.get_program());
    command.args(["blob", "t.gapii", &hash, "--force", "-o", "out"]).stdout(Stdio::piped());
    let (_, stderr) = run(&mut command, 3);
    assert!(one_sentence(&stderr).contains("can't write out"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "before");
    assert_eq!(files(folder.path()), ["out", "t.gapii"]);
    run(ctl(folder.path()).args(["blob", "t.gapii", &hash, "--force", "-o", "out"]), 0);
    assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), answer);
}

#[test]
fn file_that_exists_is_overwritten_only_with_force() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = WrittenTrace::new(false);
    let answer = "x".repeat(100_000);
    trace.get_string_in_a_blob(GL_RENDERER, &answer);
    trace.swap(0, None);
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    let hash = BlobName::of(answer.as_bytes()).to_string();
    let export = |format| vec!["export", "t.gapii", "--format", format];
    let blob = vec!["blob", "t.gapii", &hash];
    for command in [export("json"), export("apitrace"), blob, vec!["montage", "t.gapii"]] {
        fs::write(folder.path().join("out"), "before").unwrap();
        let with = |more: &[&str]| {
            let mut ctl = ctl(folder.path());
            ctl.args(&command).args(more);
            ctl
        };
        let (_, stderr) = run(&mut with(&["-o", "out"]), 2);
        assert!(
            one_sentence(&stderr).contains("out exists; overwrite it with `--force`"),
            "{stderr}"
        );
        assert_eq!(fs::read_to_string(folder.path().join("out")).unwrap(), "before");
        assert_eq!(files(folder.path()), ["out", "t.gapii"]);
        // A picture of this trace needs a driver.
        if command[0] != "montage" {
            run(&mut with(&["-o", "out", "--force"]), 0);
            assert_ne!(fs::read_to_string(folder.path().join("out")).unwrap_or_default(), "before");
            run(&mut with(&["-o", "/dev/null"]), 0);
        }
    }
}

#[test]
fn profile_has_a_marker_for_each_frame_in_the_time_of_the_trace() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = WrittenTrace::new(false);
    for frame in 1..=3 {
        trace.command(0, "glFlush", &[], None);
        trace.swap_at(BEGAN_NS + frame * 1_000_000_000);
    }
    fs::write(folder.path().join("t.gapii"), trace.finish(4_000_000_000)).unwrap();
    let export = ["export", "t.gapii", "--format", "firefox-profiler", "-o"];
    let (profile, stderr) = run(ctl(folder.path()).args(export).arg("-"), 0);
    assert!(one_sentence(&stderr).contains("record with `--timing`"), "{stderr}");
    let profile: Value = serde_json::from_str(&profile).unwrap();
    let threads = profile["threads"].as_array().unwrap();
    let frames = threads.iter().find(|thread| thread["name"] == "frames").unwrap();
    let ends = serde_json::json!([1000.0, 2000.0, 3000.0]);
    assert_eq!(frames["markers"]["endTime"], ends, "milliseconds since the begin of the trace");
    assert_eq!(profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"], BEGAN_NS);
    assert_eq!(files(folder.path()), ["t.gapii"]);
}

#[test]
fn reader_of_the_export_that_goes_away_ends_it_quietly() {
    let folder = tempfile::tempdir().unwrap();
    trace(&folder.path().join("t.gapii"), 1000);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = ctl(folder.path());
    command.args(["export", "t.gapii", "--format", "json", "-o", "-"]).stdout(writer);
    let (_, stderr) = run(&mut command, 0);
    assert_eq!(stderr, "");
}
