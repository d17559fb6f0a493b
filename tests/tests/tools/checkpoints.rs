//! Checkpoints beside a trace: the state that is followed from one is the state that is followed from the first command, and
//! no file that is found there can change what is shown.

use std::fs;
use std::path::PathBuf;
use std::process::Command as Process;

use gapii_tests::artifacts::artifact;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::{app, program};

/// A checkpoint before every block.
const AT_EVERY_BLOCK: &[&str] = &["--checkpoint-spacing", "0"];

fn file_of(trace: &Trace) -> PathBuf {
    PathBuf::from(format!("{}.checkpoints", trace.path.display()))
}

fn state(trace: &Trace, options: &[&str]) -> Finished {
    trace.ask("state", &[options, &["--json"]].concat())
}

fn with_checkpoints(trace: &Trace, options: &[&str]) -> String {
    state(trace, &[options, AT_EVERY_BLOCK].concat()).ok().stdout
}

fn without(trace: &Trace, options: &[&str]) -> String {
    state(trace, &[options, &["--no-checkpoints"]].concat()).ok().stdout
}

/// Records with rings that are small, so that the trace has many blocks.
fn record(session: &Session, options: &[&str], process: &Process) -> Trace {
    let _daemon = session.daemon(&["--ring-size", "64K"]);
    session.record(options, process).trace
}

/// Returns the number of checkpoints in a file.
fn count(trace: &Trace) -> usize {
    let bytes = fs::read(file_of(trace)).expect("the file was written");
    let table = bytes.len() - 24;
    let offset = u64::from_le_bytes(std::array::from_fn(|i| bytes[table + i]));
    (table - offset as usize) / 32
}

/// Checks the state at every frame, and after commands all over the trace.
#[track_caller]
fn state_is_the_same(trace: &Trace, frames: std::ops::Range<u64>) {
    let commands = trace.commands();
    let last = with_checkpoints(trace, &[]);
    assert_eq!(last, without(trace, &[]));
    // Of blocks that follow each other without a command, one has a checkpoint.
    let made = count(trace);
    assert!(made >= 8, "{made}");
    let bytes = fs::read(file_of(trace)).expect("it is there");
    for frame in frames {
        let at = ["--frame", &frame.to_string()];
        assert!(with_checkpoints(trace, &at) == without(trace, &at), "frame {frame}");
    }
    let seqs: Vec<_> = commands.iter().filter_map(|command| command.seq).collect();
    for seq in seqs.iter().step_by(seqs.len() / 24 + 1) {
        let at = ["--at", &seq.to_string()];
        assert!(with_checkpoints(trace, &at) == without(trace, &at), "command {seq}");
    }
    assert!(fs::read(file_of(trace)).expect("it is there") == bytes, "nothing was left to add");
}

#[test]
fn state_of_an_animation_is_the_same_from_a_checkpoint() {
    let session = Session::new();
    let trace = record(&session, &[], &offscreen(&app("animation"), [""; 0]));
    state_is_the_same(&trace, 0..30);
}

/// Commands of one thread are in flight while others go on.
#[test]
fn state_of_many_threads_is_the_same_from_a_checkpoint() {
    let session = Session::new();
    let process = offscreen(&program("many_threads"), ["turns", "8", "40"]);
    state_is_the_same(&record(&session, &[], &process), 0..0);
}

/// Descriptions at further keyframes are skipped.
#[test]
fn state_of_a_kept_trace_is_the_same_from_a_checkpoint() {
    let session = Session::new();
    let keep = ["--keep-frames", "9", "--keyframe-every", "4"];
    let trace = record(&session, &keep, &offscreen(&app("animation"), [""; 0]));
    state_is_the_same(&trace, 21..29);
}

fn animation(session: &Session) -> Trace {
    let trace = record(session, &[], &offscreen(&app("animation"), [""; 0]));
    // Up to the middle: what is behind is added later.
    with_checkpoints(&trace, &["--frame", "9"]);
    trace
}

#[test]
fn checkpoints_are_added_behind_the_last_one() {
    let session = Session::new();
    let trace = animation(&session);
    let (few, expected) = (count(&trace), without(&trace, &[]));
    assert_eq!(with_checkpoints(&trace, &[]), expected);
    assert!(few > 0 && count(&trace) > few, "{few}");
    assert_eq!(with_checkpoints(&trace, &["--frame", "9"]), without(&trace, &["--frame", "9"]));
}

#[test]
fn file_that_is_damaged_or_of_another_trace_is_made_anew() {
    let session = Session::new();
    let trace = animation(&session);
    let (file, at) = (file_of(&trace), ["--frame", "9"]);
    let (good, expected) = (fs::read(&file).expect("it is there"), without(&trace, &at));
    let check = |bad: &[u8], what: &str| {
        fs::write(&file, bad).expect("a file");
        assert_eq!(with_checkpoints(&trace, &at), expected, "{what}");
        assert!(fs::read(&file).expect("it is there") == good, "{what}: it is not made anew");
    };
    for place in [0, 8, 40, good.len() - 40, good.len() - 24, good.len() - 8, good.len() - 1] {
        let mut bad = good.clone();
        bad[place] ^= 0x10;
        check(&bad, &format!("byte {place} is wrong"));
    }
    // Every checkpoint is damaged, and the table is whole.
    let mut bad = good.clone();
    let end = good.len() - 24 - 32 * count(&trace);
    bad[72..end].iter_mut().for_each(|byte| *byte ^= 0x10);
    check(&bad, "the checkpoints are damaged");
    for len in [0, 8, 71, 72, good.len() / 2, good.len() - 1] {
        check(&good[..len], &format!("it is cut at byte {len}"));
    }
    let other = animation(&session);
    check(&fs::read(file_of(&other)).expect("it is there"), "it is another trace's");
}

#[test]
fn trace_without_its_end_has_no_checkpoints() {
    let session = Session::new();
    let trace = record(&session, &[], &offscreen(&app("animation"), [""; 0]));
    let bytes = fs::read(&trace.path).expect("it is there");
    fs::write(&trace.path, &bytes[..bytes.len() - 30]).expect("it is ours");
    let at = ["--frame", "9"];
    assert_eq!(with_checkpoints(&trace, &at), without(&trace, &at));
    assert!(!file_of(&trace).exists());
    // Whole again, and grown.
    fs::write(&trace.path, &bytes).expect("it is ours");
    with_checkpoints(&trace, &at);
    let old = fs::read(file_of(&trace)).expect("it is there");
    fs::write(&trace.path, [&bytes[..], &[0; 8]].concat()).expect("it is ours");
    assert_eq!(with_checkpoints(&trace, &at), without(&trace, &at));
    assert!(fs::read(file_of(&trace)).expect("it is there") == old, "nobody rewrites it");
}

#[test]
fn folder_that_cannot_be_written_only_means_no_checkpoints() {
    const SCRIPT: &str = r#"
        mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" || exit 99
        exec "$@""#;
    let session = Session::new();
    let trace = record(&session, &[], &offscreen(&app("animation"), [""; 0]));
    let mut shown = Process::new(artifact("gapii-ctl"));
    shown.arg("state").arg(&trace.path).args(["--frame", "9", "--json"]).args(AT_EVERY_BLOCK);
    let mut command = Process::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c", SCRIPT]);
    command.arg(trace.path.parent().expect("a folder"));
    command.arg(shown.get_program()).args(shown.get_args());
    let finished = run(&mut command).ok();
    assert_eq!(finished.stdout, without(&trace, &["--frame", "9"]));
    assert!(finished.stderr.is_empty() && !file_of(&trace).exists(), "{finished}");
    // A folder in its place stays, too.
    fs::create_dir(file_of(&trace)).expect("a folder");
    assert_eq!(with_checkpoints(&trace, &["--frame", "9"]), finished.stdout);
}

#[test]
fn frame_that_the_trace_lacks_is_refused() {
    let session = Session::new();
    let trace = record(&session, &[], &offscreen(&app("animation"), [""; 0]));
    let finished = state(&trace, &["--frame", "1000"]).exited_with(1);
    assert!(finished.stderr.contains("has no such frame; it has 30 frames"), "{finished}");
}
