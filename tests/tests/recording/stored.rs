//! Stored contents: the daemon keeps the contents of earlier snapshots of a program, and later snapshots only name them.

use std::collections::BTreeSet;

use gapii_test_json::values;
use gapii_tests::attaching::{attach, run_idle};
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run};
use gapii_tests::programs::program;
use gapii_tests::replays::verified_frames;
use gapii_tests::wait;
use serde_json::Value;

const MIB: u64 = 1 << 20;
/// Bytes that the program holds, in images of 4 MiB.
const CONTENTS: u64 = 16 * MIB;
/// Most bytes of a snapshot that sends none of the contents.
const LITTLE: u64 = MIB;

/// A program that holds contents, and its captures.
struct Bench<'a> {
    session: &'a Session,
    _running: Running,
    attached: usize,
}

/// Figures of one capture.
struct Attached {
    trace: Trace,
    ring_bytes: u64,
    stored_bytes: u64,
}

impl<'a> Bench<'a> {
    fn new(session: &'a Session, kind: &str) -> Self {
        let mib = (CONTENTS / MIB).to_string();
        let program = offscreen(&program("holds_images"), [kind, &mib]);
        let running = run_idle(session, &program);
        wait::until("the program to hold all of it", LIMIT, || {
            session.apps().iter().any(|app| app["frames"].as_u64() > Some(0)).then_some(())
        });
        Self { session, _running: running, attached: 0 }
    }

    /// A capture that is played exactly.
    fn attach(&mut self) -> Attached {
        let before = totals(self.session);
        self.attached += 1;
        let trace = attach(self.session, &format!("{}.gapii", self.attached), "2");
        self.session.app_in_mode("idle");
        let info = trace.info();
        assert_eq!((&info["snapshot"], &info["missing"]), (&true.into(), &Value::Array(vec![])));
        assert_eq!(verified_frames(self.session, &trace), 2);
        let after = totals(self.session);
        let since = |what: &str| number(&after, what) - number(&before, what);
        Attached { trace, ring_bytes: since("ring_bytes"), stored_bytes: since("stored_bytes") }
    }
}

impl Attached {
    /// Checks that all contents were sent.
    #[track_caller]
    fn is_sent(&self) {
        assert_eq!(self.stored_bytes, 0);
        assert!(self.ring_bytes >= CONTENTS, "{}", self.ring_bytes);
    }

    /// Checks that no contents were sent.
    #[track_caller]
    fn is_named(&self) {
        assert!(self.stored_bytes >= CONTENTS, "{}", self.stored_bytes);
        assert!(self.ring_bytes < LITTLE, "{}", self.ring_bytes);
    }

    /// Returns the images or buffers of the trace.
    fn contents(&self) -> BTreeSet<String> {
        let dump = self.trace.ask("dump", &["--json"]).ok();
        let commands = values(&dump.stdout).expect("JSON").into_iter();
        let seen = commands.flat_map(|command| {
            let arguments = command["args"].as_object().cloned().unwrap_or_default();
            let reads = command["reads"].as_array().cloned().unwrap_or_default();
            arguments.into_iter().map(|(_, value)| value).chain(reads)
        });
        let large = seen.filter(|seen| seen["size"].as_u64() == Some(4 * MIB));
        large.map(|seen| seen["hash"].to_string()).collect()
    }
}

fn totals(session: &Session) -> Value {
    let status = run(&mut session.ctl(["status", "--json"])).ok();
    let status: Value = serde_json::from_str(&status.stdout).expect("it is JSON");
    status["totals"].clone()
}

fn number(totals: &Value, what: &str) -> u64 {
    totals[what].as_u64().unwrap_or_else(|| panic!("{what}: {totals:#}"))
}

#[test]
fn contents_are_sent_for_the_first_capture_alone() {
    for kind in ["rgba8", "depth24_stencil8", "buffers"] {
        let session = Session::new();
        let _daemon = session.daemon(&[]);
        let mut bench = Bench::new(&session, kind);
        let first = bench.attach();
        first.is_sent();
        let contents = first.contents();
        assert_eq!(contents.len() as u64, CONTENTS / (4 * MIB), "{kind}");
        for _ in 0..3 {
            let again = bench.attach();
            again.is_named();
            assert_eq!(again.contents(), contents, "{kind}");
        }
    }
}

#[test]
fn contents_are_sent_again_to_another_daemon() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let mut bench = Bench::new(&session, "rgba8");
    bench.attach().is_sent();
    bench.attach().is_named();
    daemon.kill();
    let _daemon = session.daemon(&[]);
    // Says hello again within a second or two.
    session.app_in_mode("idle");
    bench.attach().is_sent();
    bench.attach().is_named();
}

#[test]
fn contents_are_always_sent_where_none_are_kept() {
    let session = Session::new();
    let _daemon = session.daemon(&["--keep-contents", "0"]);
    let mut bench = Bench::new(&session, "rgba8");
    (0..3).for_each(|_| bench.attach().is_sent());
}

#[test]
fn contents_that_there_is_no_room_for_are_sent_and_the_others_are_not() {
    let session = Session::new();
    let _daemon = session.daemon(&["--keep-contents", "9M"]);
    let mut bench = Bench::new(&session, "rgba8");
    bench.attach().is_sent();
    for _ in 0..3 {
        let again = bench.attach();
        assert!((8 * MIB..=9 * MIB).contains(&again.stored_bytes), "{}", again.stored_bytes);
        assert!((8 * MIB..8 * MIB + LITTLE).contains(&again.ring_bytes), "{}", again.ring_bytes);
    }
}

#[test]
fn keyframes_name_what_an_earlier_one_has_sent() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let keep = ["run", "--keep-frames", "20", "--keyframe-every", "10", "--observe-frames", "1"];
    let mut command = session.ctl(keep);
    append(&mut command, &offscreen(&program("holds_images"), ["rgba8", "16"]));
    let _running = Running::start(&mut command);
    wait::until("three keyframes", LIMIT, || {
        (number(&totals(&session), "stored_bytes") >= 2 * CONTENTS).then_some(())
    });
    let trace = Trace::new(session.path("saved.gapii"));
    run(session.ctl(["save", "--last", "5", "-o"]).arg(&trace.path)).ok();
    trace.is_whole("stop");
    let info = trace.info();
    assert_eq!((&info["snapshot"], &info["missing"]), (&true.into(), &Value::Array(vec![])));
    assert!(verified_frames(&session, &trace) >= 5);
}
