//! `gapii-ctl watch`: its figures of programs that are captured and of programs that are not.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{LIMIT, Running, run, send_signal};
use gapii_tests::programs::program;
use gapii_tests::sharing::{number, start, until};
use gapii_tests::terminal::OnTerminal;
use gapii_tests::wait;
use rustix::process::Signal;
use serde_json::Value;

/// A program that draws a frame of four commands every few milliseconds.
fn told() -> Command {
    offscreen(&program("told"), [""; 0])
}

/// Figures of the only program, for an interval of half a second.
fn watched(session: &Session) -> Value {
    let mut watch = session.ctl(["watch", "--json", "--interval", "0.5", "--count", "2"]);
    let said = run(&mut watch).ok();
    let last: Value = serde_json::from_str(said.stdout.lines().nth(1).unwrap()).unwrap();
    let [app] = &last["apps"].as_array().unwrap()[..] else { panic!("{last:#}") };
    app.clone()
}

fn rate(app: &Value, name: &str) -> f64 {
    app[name].as_f64().unwrap_or_else(|| panic!("no {name}: {app:#}"))
}

#[test]
fn program_has_frames_and_in_captures_commands_that_count_once() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let has_drawn = || session.apps().iter().any(|app| number(&app["frames"]) > 0);
    wait::until("frames", LIMIT, || has_drawn().then_some(()));
    let idle = watched(&session);
    assert_eq!((&idle["mode"], rate(&idle, "commands_per_s")), (&"idle".into(), 0.0), "{idle:#}");
    assert!(rate(&idle, "frames_per_s") > 10.0, "{idle:#}");

    let (first, _) = start(&session, "first", &[]);
    until(&session, "first", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let (second, _) = start(&session, "second", &["--function", "glClear"]);
    until(&session, "second", "it has frames", |progress| number(&progress["frames"]) >= 5);
    let both = watched(&session);
    assert_eq!(both["mode"], "capturing", "{both:#}");
    assert!(rate(&both, "ring_bytes_per_s") > 1000.0, "{both:#}");
    let of_a_frame = rate(&both, "commands_per_s") / rate(&both, "frames_per_s");
    assert!((3.0..5.0).contains(&of_a_frame), "{of_a_frame} commands a frame: {both:#}");

    run(&mut session.ctl(["stop", "first"])).ok();
    first.finish(LIMIT).ok();
    let filtered = watched(&session);
    let of_a_frame = rate(&filtered, "commands_per_s") / rate(&filtered, "frames_per_s");
    assert!((3.0..5.0).contains(&of_a_frame), "{of_a_frame} commands a frame: {filtered:#}");
    run(&mut session.ctl(["stop", "second"])).ok();
    second.finish(LIMIT).ok();
    program.finish(LIMIT).ok();
}

#[test]
fn program_that_is_measured_runs_unrecorded_and_then_recorded() {
    let session = Session::new();
    let options = ["--measure=1", "--seconds", "0.5", "--quit", "--json"];
    let trace = Trace::new(session.path("run.gapii"));
    // Its input stays open; closing the input would end the program.
    let running = Running::start(&mut session.run_command(&options, &trace.path, &told()));
    assert!(running.ended_within(LIMIT));
    let answer: Value = serde_json::from_str(&running.finish(LIMIT).ok().stdout).unwrap();
    let slowdown = &answer["slowdown"];
    assert!(slowdown["factor"].as_f64().is_some_and(|factor| factor > 0.1), "{slowdown:#}");
    assert!(number(&slowdown["before"]["frames"]) >= 10, "{slowdown:#}");
    assert_eq!(slowdown["pid"], answer["program"]["pid"]);
    assert_eq!(answer["capture"]["summary"]["snapshot"], true, "it began in the middle");
    trace.is_whole("stop");
}

/// The only trace in the session's folder besides `known`.
fn only_trace(session: &Session, known: &[&Path]) -> Trace {
    let entries = std::fs::read_dir(session.path("")).unwrap().map(|entry| entry.unwrap().path());
    let is_new = |path: &PathBuf| {
        path.extension().is_some_and(|it| it == "gapii") && !known.contains(&path.as_path())
    };
    let traces: Vec<_> = entries.filter(is_new).collect();
    let [path] = &traces[..] else { panic!("{traces:?}") };
    Trace::new(path.clone())
}

/// `gapii-ctl watch` on a terminal, in the session's folder.
fn view(session: &Session, options: &[&str], size: (u16, u16)) -> OnTerminal {
    let mut watch = session.ctl(["watch", "--interval", "0.1"]);
    OnTerminal::start(watch.args(options).current_dir(session.path("")), size)
}

/// Waits until the view shows `words`. By itself it writes only the letters that change.
fn until_shown(watch: &OnTerminal, words: &str) {
    let deadline = Instant::now() + LIMIT;
    loop {
        let known = watch.shown().len();
        watch.press("\x0c");
        // The last line is drawn last.
        watch.wait_for("leave", known);
        let shown = &watch.shown()[known..];
        if shown.contains(words) {
            return;
        }
        assert!(Instant::now() < deadline, "no {words:?} in {shown:?}");
    }
}

/// Waits until a capture has recorded some frames.
fn until_recorded(session: &Session) {
    wait::until("a capture with frames", LIMIT, || {
        let list = run(&mut session.ctl(["list", "--json"])).ok();
        let captures: Value = serde_json::from_str(&list.stdout).unwrap();
        (captures[0]["progress"]["frames"].as_u64()? >= 5).then_some(())
    });
}

#[test]
fn view_captures_by_keys_and_gives_the_terminal_back() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let watch = view(&session, &[], (100, 30));
    watch.wait_for("FRAMES/S", 0);
    assert!(!watch.has_its_modes(), "keys are read at once");
    watch.press("s");
    session.app_in_mode("capturing");
    until_recorded(&session);
    let known = watch.shown().len();
    watch.resize((40, 10));
    watch.wait_for("\x1b[2J", known);

    // Ctrl-Z gives the terminal back while the view is stopped.
    watch.press("\x1a");
    let is_stopped = |stat: &str| stat.contains(") T ");
    let stat = || std::fs::read_to_string(format!("/proc/{}/stat", watch.pid())).unwrap();
    wait::until("the view to stop", LIMIT, || is_stopped(&stat()).then_some(()));
    assert!(watch.has_its_modes());
    // What the view has written may reach the test later.
    let is_given_back = || watch.shown().ends_with("\x1b[?1049l").then_some(());
    wait::until("the terminal's own screen", LIMIT, is_given_back);
    let known = watch.shown().len();
    send_signal(watch.pid(), Signal::CONT);
    watch.wait_for("FRAMES/S", known);
    assert!(!watch.has_its_modes());

    watch.resize((250, 30));
    watch.press("x");
    session.app_in_mode("idle");
    until_shown(&watch, "->");
    let first = only_trace(&session, &[]);
    first.is_whole("stop");
    watch.press("q");
    let (status, shown) = watch.finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    let (_, said) = shown.rsplit_once("\x1b[?1049l").unwrap();
    assert!(said.contains(first.path.file_name().unwrap().to_str().unwrap()), "{said}");

    // Ctrl-C ends the view and its capture.
    let watch = view(&session, &[], (100, 30));
    watch.wait_for("FRAMES/S", 0);
    watch.press("f1000000\r");
    session.app_in_mode("capturing");
    until_recorded(&session);
    watch.press("q");
    until_shown(&watch, "y/n");
    watch.press("n\x03");
    let (status, shown) = watch.finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(shown.contains("gapii-ctl: ending 1 capture\r\n"), "{shown}");
    only_trace(&session, &[&first.path]).is_whole("stop");
    program.finish(LIMIT).ok();
}

#[test]
fn view_of_a_number_of_refreshes_leaves_a_table_and_one_of_a_daemon_that_ends_says_so() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let (status, shown) = view(&session, &["--count", "3"], (100, 30)).finish();
    assert_eq!(status.code(), Some(0), "{shown}");
    let (view_shown, table) = shown.rsplit_once("\x1b[?1049l").unwrap();
    assert!(view_shown.starts_with("\x1b[?1049h") && table.contains("PID "), "{shown}");
    assert_eq!(table.lines().count(), 2, "{table}");

    let watch = view(&session, &[], (100, 30));
    watch.wait_for("FRAMES/S", 0);
    let pid = daemon.pid();
    daemon.signal(Signal::STOP);
    until_shown(&watch, "stopped;");
    daemon.signal(Signal::CONT);
    daemon.end();
    let (status, shown) = watch.finish();
    assert_eq!(status.code(), Some(3), "{shown}");
    let (_, said) = shown.rsplit_once("\x1b[?1049l").unwrap();
    assert!(said.contains(&format!("gapii-ctl: gapiid (process {pid}) has ended;")), "{said}");
    program.finish(LIMIT).ok();
}

/// What `gapii-ctl` prints about a daemon that does not answer.
fn seen(session: &Session, arguments: &[&str]) -> (String, String) {
    let said = run(&mut session.ctl(arguments)).ok();
    (said.stdout, said.stderr)
}

#[test]
fn stopped_daemon_is_looked_at_and_says_how_old_its_status_is() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let program = run_idle(&session, &told());
    let (capture, _) = start(&session, "first", &[]);
    until(&session, "first", "it has frames", |progress| number(&progress["frames"]) >= 5);
    daemon.signal(Signal::STOP);
    let pid = daemon.pid();
    wait::until("the daemon to be stopped", LIMIT, || {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        stat.contains(") T ").then_some(())
    });
    let commands: [(&[&str], &str); 4] = [
        (&["apps"], "capturing"),
        (&["list"], "recording"),
        (&["status"], "capture 1  of"),
        (&["watch", "--count", "2", "--interval", "0.1"], "frames/s"),
    ];
    for (arguments, wanted) in commands {
        let began = Instant::now();
        let (stdout, stderr) = seen(&session, arguments);
        assert!(began.elapsed() < Duration::from_secs(4), "{arguments:?}: {:?}", began.elapsed());
        assert!(stdout.contains(wanted), "{arguments:?}: {stdout}");
        let said = format!("gapii-ctl: gapiid (process {pid}) is stopped; this is its status ");
        assert!(
            stderr.starts_with(&said) && stderr.lines().count() == 1,
            "{arguments:?}: {stderr}"
        );
    }
    let (json, stderr) = seen(&session, &["status", "--json"]);
    let status: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((status["pid"].as_u64(), stderr.lines().count()), (Some(pid.into()), 1), "{json}");
    daemon.signal(Signal::CONT);
    wait::until("the status to be new", LIMIT, || {
        seen(&session, &["list"]).1.is_empty().then_some(())
    });
    run(&mut session.ctl(["stop"])).ok();
    capture.finish(LIMIT).ok();
    program.finish(LIMIT).ok();
}

#[test]
fn watching_sends_the_daemon_nothing() {
    let session = Session::new();
    let metrics = session.path("metrics.sock");
    let daemon = session.daemon(&["--metrics", metrics.to_str().unwrap(), "--log", "debug"]);
    let program = run_idle(&session, &told());
    session.app_in_mode("idle");
    let connections = |log: &str| log.matches("is connected: gapii-ctl").count();
    let before = connections(&daemon.log());
    let watchers: Vec<_> = (0..4)
        .map(|_| {
            let mut watch = session.ctl(["watch", "--json", "--interval", "0.1", "--count", "8"]);
            Running::start(&mut watch)
        })
        .collect();
    for watcher in watchers {
        let said = watcher.finish(LIMIT).ok();
        assert_eq!(said.stdout.lines().count(), 8, "{said}");
    }
    for command in ["apps", "list", "status"] {
        seen(&session, &[command]);
    }
    assert_eq!(connections(&daemon.log()), before, "{}", daemon.log());
    program.finish(LIMIT).ok();
}

#[test]
fn program_whose_frames_are_kept_is_listed() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut command = session.ctl(["run", "--keep-frames", "5"]);
    append(&mut command, &told());
    let program = Running::start(&mut command);
    let app = session.app_in_mode("capturing");
    let (list, _) = seen(&session, &["list"]);
    let row = list.lines().nth(1).unwrap_or_else(|| panic!("nothing is listed: {list}"));
    assert!(row.contains(&format!("({})", app["pid"])) && row.ends_with("keeping"), "{list}");
    let (json, _) = seen(&session, &["list", "--json"]);
    let captures: Value = serde_json::from_str(&json).unwrap();
    assert_eq!((&captures[0]["keeps"], &captures[0]["pids"][0]), (&true.into(), &app["pid"]));
    program.finish(LIMIT).ok();
}
