//! `run` and `start` with a fake daemon whose answers the test chooses: the program keeps its own exit status, and the
//! result of the capture is reported.

use crate::support;
use std::io::{BufRead, BufReader, Write};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::support::{FakeDaemon, contents, run, summary};
use crate::written_trace::WrittenTrace;
use gapii_abi::atom::EndReason;
use gapii_control::{AppInfo, Event, ExitedRequest, Request, Stopped, Summary, Target};
use rustix::fs::{FileType, Mode};
use rustix::process::{Pid, Signal};

/// A daemon that ends its capture when the program has ended.
fn ends_with_the_program(daemon: &FakeDaemon) -> std::thread::JoinHandle<()> {
    daemon.serve(|mut conversation| {
        conversation.greet();
        match conversation.hear() {
            // `run` first checks whether a daemon listens.
            None => return false,
            Some(Request::Start(start)) => assert!(matches!(start.target, Target::Launch(_))),
            Some(other) => panic!("{other:?}"),
        }
        conversation.say(&started());
        conversation.output.take().unwrap().write_all(b"a trace").unwrap();
        let Some(Request::Exited(ExitedRequest { capture: 7, signal, .. })) = conversation.hear()
        else {
            panic!("the end of the program was not told");
        };
        let reason =
            if signal.is_some() { EndReason::Crash.name() } else { EndReason::Exit.name() };
        conversation.end_capture(Summary { reason: reason.into(), signal, ..summary() });
        true
    })
}

fn started() -> Event {
    Event::Started(gapii_control::Started { capture: 7, ..Default::default() })
}

#[test]
fn status_and_streams_are_those_of_the_program() {
    for (script, status) in [("exit 0", 0), ("exit 9", 9), ("kill -SEGV $$", 139)] {
        let daemon = FakeDaemon::new();
        let serving = ends_with_the_program(&daemon);
        let script = format!("echo hello; {script}");
        let mut command = daemon.ctl();
        command.args(["run", "--frames", "100", "-o", "x.gapii", "--", "sh", "-c", &script]);
        let (stdout, stderr) = run(&mut command, status);
        assert_eq!(stdout, "hello\n");
        assert!(stderr.starts_with("gapii-ctl: 100 frames, 4,200 commands"), "{stderr}");
        // A program that a signal killed gets a crash report only if the file is a trace.
        let no_report =
            "gapii-ctl: a report of its last commands could not be written: x.gapii: not a trace";
        let more: Vec<_> = stderr.lines().skip(1).collect();
        assert_eq!(more.len(), usize::from(status == 139), "{stderr}");
        assert!(more.iter().all(|line| line.starts_with(no_report)), "{stderr}");
        assert_eq!(contents(&daemon.folder.path().join("x.gapii")), "a trace");
        serving.join().unwrap();
    }
}

/// `run` with standard error on a terminal, of a program whose trace is `written`. Returns what the terminal shows.
fn run_on_a_terminal(written: Vec<u8>, output: &str) -> String {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(move |mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&started());
        conversation.output.take().unwrap().write_all(&written).unwrap();
        assert!(matches!(conversation.hear(), Some(Request::Exited(_))));
        let (file_bytes, reason) = (written.len() as u64, EndReason::Exit.name().into());
        conversation.end_capture(Summary { file_bytes, reason, ..summary() });
        true
    });
    let mut command = daemon.ctl();
    command.args(["run", "-o", output, "--", "true"]);
    let (status, shown) = support::on_a_terminal(command);
    assert!(status.success(), "{shown}");
    serving.join().unwrap();
    shown
}

#[test]
fn terminal_shows_how_fast_the_trace_grows() {
    let mut trace = WrittenTrace::new(false);
    trace.swap(0, None);
    let header_bytes = trace.header_bytes();
    // Its first record came a second after the capture began, so it was recorded for 3 s.
    let written = trace.finish(4_000_000_000);
    let a_minute = (written.len() as u64 - header_bytes) * 20;
    let shown = run_on_a_terminal(written.clone(), "x.gapii");
    let line = shown.lines().find(|line| line.contains("100 frames, 4,200 commands")).unwrap();
    let growth = format!(", {:.2} kB a minute at this rate; ", a_minute as f64 / 1000.0);
    assert!(line.contains(&growth), "{line}, expected {growth}");
    // Nothing is read from a device.
    let shown = run_on_a_terminal(written, "/dev/null");
    assert!(shown.contains("100 frames") && !shown.contains("a minute"), "{shown}");
}

#[test]
fn quit_ends_a_script_and_its_program_also_when_the_output_fails() {
    for (error, status) in [(None, 0), (Some("No space left on device"), 125)] {
        let daemon = FakeDaemon::new();
        let pid_file = daemon.folder.path().join("pid");
        let begun = pid_file.clone();
        let serving = daemon.serve(move |mut conversation| {
            conversation.greet();
            if conversation.hear().is_none() {
                return false;
            }
            conversation.say(&started());
            while !std::fs::read_to_string(&begun).is_ok_and(|pid| pid.ends_with('\n')) {
                std::thread::yield_now();
            }
            conversation.end_capture(Summary { error: error.map(Into::into), ..summary() });
            true
        });
        let script = "sleep 60 & echo $! > pid; wait; exit 9";
        let mut command = daemon.ctl();
        command.args(["run", "--quit", "-o", "x.gapii", "--", "sh", "-c", script]);
        run(&mut command, status);
        serving.join().unwrap();
        let stat = format!("/proc/{}/stat", contents(&pid_file).trim());
        // Nobody may have waited for it yet.
        let state = std::fs::read_to_string(stat).unwrap_or_default();
        assert!(state.is_empty() || state.contains(") Z "), "it goes on: {state}");
    }
}

#[test]
fn program_finds_the_shim_the_daemon_and_its_launch() {
    let daemon = FakeDaemon::new();
    let serving = ends_with_the_program(&daemon);
    let script = "echo $GAPII_WAIT ${#GAPII_LAUNCH} $GAPII_SOCKET; echo $LD_PRELOAD; \
                  ls ${LD_LIBRARY_PATH%%:*}; echo ${LD_LIBRARY_PATH#*:}";
    let mut command = daemon.ctl();
    command.env("LD_LIBRARY_PATH", "/mine").env("LD_PRELOAD", "");
    command.args(["run", "--", "sh", "-c", script]);
    let (stdout, _) = run(&mut command, 0);
    let lines: Vec<_> = stdout.lines().collect();
    let socket = daemon.folder.path().join("gapii/app.sock");
    assert_eq!(lines[0], format!("1 32 {}", socket.display()));
    assert!(lines[1].ends_with("libc.so.6"), "{stdout}");
    assert_eq!(
        lines[2..8].join(" "),
        "libEGL.so libEGL.so.1 libGLESv1_CM.so \
                                       libGLESv1_CM.so.1 libGLESv2.so libGLESv2.so.2"
    );
    assert_eq!(lines[8], "/mine");
    serving.join().unwrap();
    // Without -o the file is named after the program.
    let names = std::fs::read_dir(daemon.folder.path()).unwrap();
    let named = names.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name().into_string().unwrap();
        name.starts_with("sh-20") && name.ends_with(".gapii")
    });
    assert_eq!(named.count(), 1);
}

#[test]
fn program_begins_with_the_signal_mask_that_we_began_with() {
    let daemon = FakeDaemon::new();
    let serving = ends_with_the_program(&daemon);
    let mut command = daemon.ctl();
    command.args(["run", "-o", "x.gapii", "--", "grep", "SigBlk", "/proc/self/status"]);
    let (stdout, _) = run(&mut command, 0);
    assert_eq!(stdout.trim_end(), "SigBlk:\t0000000000000000");
    serving.join().unwrap();
}

#[test]
fn trace_on_standard_output_is_alone_there() {
    let daemon = FakeDaemon::new();
    let serving = ends_with_the_program(&daemon);
    let mut command = daemon.ctl();
    command.args(["run", "-o", "-", "--", "echo", "hello"]);
    let (stdout, stderr) = run(&mut command, 0);
    assert_eq!(stdout, "a trace");
    assert!(stderr.starts_with("hello\n"), "{stderr}");
    assert!(stderr.ends_with("standard output (the program ended)\n"), "{stderr}");
    serving.join().unwrap();
}

/// A daemon that ends its capture at once with `reason`, and then waits until the client closes the connection.
fn ends_at_once(daemon: &FakeDaemon, reason: &'static str) -> std::thread::JoinHandle<()> {
    daemon.serve(move |mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&started());
        conversation.end_capture(Summary { reason: reason.into(), ..summary() });
        while conversation.hear().is_some() {}
        true
    })
}

/// A daemon that dies once its capture has started.
fn dies_in_capture(daemon: &FakeDaemon) -> std::thread::JoinHandle<()> {
    daemon.serve(|mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&started());
        true
    })
}

#[test]
fn quit_ends_the_program_once_the_capture_is_complete() {
    let daemon = FakeDaemon::new();
    let serving = ends_at_once(&daemon, EndReason::Frames.name());
    run(daemon.ctl().args(["run", "--quit", "-o", "x.gapii", "--", "sleep", "60"]), 0);
    serving.join().unwrap();
}

#[test]
fn quit_kills_a_program_that_will_not_end() {
    let daemon = FakeDaemon::new();
    let trapped = daemon.folder.path().join("trapped");
    let (kind, mode) = (FileType::Fifo, Mode::RUSR | Mode::WUSR);
    rustix::fs::mknodat(rustix::fs::CWD, &trapped, kind, mode, 0).unwrap();
    let serving = daemon.serve(move |mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&started());
        assert_eq!(contents(&trapped), "SIGTERM\n");
        conversation.end_capture(summary());
        while conversation.hear().is_some() {}
        true
    });
    let script = "trap '' TERM; echo SIGTERM >trapped; while :; do sleep 1; done";
    let began = Instant::now();
    run(daemon.ctl().args(["run", "--quit", "-o", "x.gapii", "--", "sh", "-c", script]), 0);
    assert!(began.elapsed() >= Duration::from_secs(5), "it was asked first");
    serving.join().unwrap();
}

/// A program that succeeds does not hide that its capture has failed.
#[test]
fn status_is_not_0_if_what_was_asked_for_is_missing() {
    let with = |summary: Summary, options: &[&str], script: &str, status: i32| {
        let daemon = FakeDaemon::new();
        let serving = daemon.serve(move |mut conversation| {
            conversation.greet();
            if conversation.hear().is_none() {
                return false;
            }
            conversation.say(&started());
            assert!(matches!(conversation.hear(), Some(Request::Exited(_))));
            conversation.end_capture(summary.clone());
            true
        });
        let mut command = daemon.ctl();
        command.arg("run").args(options);
        command.args(["--json", "-o", "x.gapii", "--", "sh", "-c", script]);
        let (stdout, _) = run(&mut command, status);
        let answer: serde_json::Value = serde_json::from_str(&stdout).unwrap();
        assert_eq!(answer["status"], status, "{answer:#}");
        assert_eq!(answer["capture"]["error"].is_null(), status == 0, "{answer:#}");
        let of = if script == "exit 0" && status != 0 { "capture" } else { "program" };
        assert_eq!(answer["status_of"], of, "{answer:#}");
        serving.join().unwrap();
    };
    let ended = Summary { reason: EndReason::Exit.name().into(), ..summary() };
    let empty = Summary { calls: 0, frames: 0, ..ended.clone() };
    let full = Summary { error: Some("No space left on device".into()), ..ended.clone() };
    with(ended.clone(), &[], "exit 0", 0);
    with(empty.clone(), &[], "exit 0", 125);
    with(empty, &["--quit"], "exit 0", 125);
    with(full.clone(), &[], "exit 0", 125);
    with(full, &[], "exit 4", 4);
    // Of 100 frames, the program made 100 and 60.
    with(ended.clone(), &["--quit", "--frames", "100"], "exit 0", 0);
    let short = Summary { frames: 60, ..ended };
    with(short.clone(), &["--quit", "--frames", "100"], "exit 0", 125);
    with(short.clone(), &["--quit", "--seconds", "60"], "exit 0", 125);
    // Without --quit, the number is a limit.
    with(short, &["--frames", "100"], "exit 0", 0);
}

#[test]
fn status_is_not_0_after_the_daemon_died() {
    let check = |options: &[&str]| {
        let daemon = FakeDaemon::new();
        let serving = dies_in_capture(&daemon);
        let (_, stderr) = run(daemon.ctl().args(options).args(["--", "sh", "-c", "sleep 1"]), 125);
        assert!(stderr.contains("the daemon has died"), "{stderr}");
        serving.join().unwrap();
    };
    // Side by side: each waits for another daemon.
    std::thread::scope(|scope| {
        scope.spawn(|| check(&["run", "-o", "x.gapii"]));
        scope.spawn(|| check(&["run", "--quit", "-o", "x.gapii"]));
    });
}

#[test]
fn quit_leaves_a_program_alone_whose_capture_was_lost() {
    let daemon = FakeDaemon::new();
    let serving = ends_at_once(&daemon, EndReason::Lost.name());
    let mut command = daemon.ctl();
    command.args(["run", "--quit", "-o", "x.gapii", "--", "sh", "-c", "sleep 1; exit 4"]);
    let (_, stderr) = run(&mut command, 4);
    assert!(stderr.contains("the capture was lost"), "{stderr}");
    serving.join().unwrap();
}

#[test]
fn program_outlives_a_daemon_that_dies() {
    let daemon = FakeDaemon::new();
    let serving = dies_in_capture(&daemon);
    let mut command = daemon.ctl();
    command.args(["run", "-o", "x.gapii", "--", "sh", "-c", "sleep 1; exit 5"]);
    let (_, stderr) = run(&mut command, 5);
    assert!(stderr.contains("the daemon has died"), "{stderr}");
    serving.join().unwrap();
}

#[test]
fn failed_start_takes_the_output_back() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        let busy = gapii_control::ControlError::new(
            "busy",
            "it is in another capture",
            "`gapii-ctl list` shows what is captured",
        );
        conversation.say(&Event::Error(busy));
        true
    });
    let (_, stderr) = run(daemon.ctl().args(["run", "-o", "x.gapii", "--", "true"]), 125);
    assert_eq!(
        support::one_sentence(&stderr),
        "it is in another capture; `gapii-ctl list` shows what is captured"
    );
    assert!(!daemon.folder.path().join("x.gapii").exists());
    serving.join().unwrap();
}

#[test]
fn signal_stops_the_capture_and_then_the_program() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&started());
        assert!(matches!(conversation.hear(), Some(Request::Stop(_))), "asked to stop first");
        conversation.say(&Event::Stopped(Stopped { captures: vec![7], ..Stopped::default() }));
        conversation.end_capture(Summary { reason: EndReason::Stop.name().into(), ..summary() });
        assert_eq!(conversation.hear(), None);
        true
    });
    let mut command = daemon.ctl();
    command.args(["run", "-o", "x.gapii", "--", "sh", "-c", "echo running; exec sleep 60"]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    rustix::process::kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(128 + 15));
    serving.join().unwrap();
}

#[test]
fn start_captures_the_application_that_is_named() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        assert_eq!(conversation.hear(), Some(Request::Apps));
        let gears = AppInfo { pid: 41, name: "gears".into(), ..AppInfo::default() };
        let mpv = AppInfo { pid: 42, name: "mpv".into(), ..AppInfo::default() };
        conversation.say(&Event::Apps(vec![gears, mpv]));
        match conversation.hear() {
            Some(Request::Start(start)) => {
                assert_eq!(start.target, Target::App("42".into()));
                assert_eq!(start.frames, Some(3));
            }
            other => panic!("{other:?}"),
        }
        conversation.say(&started());
        conversation.end_capture(summary());
        true
    });
    let mut command = daemon.ctl();
    let (stdout, stderr) = run(command.args(["start", "--app", "mpv", "--frames", "3"]), 0);
    assert_eq!(stdout, "");
    assert!(stderr.contains("-> mpv-20"), "{stderr}");
    serving.join().unwrap();
}

#[test]
fn output_that_fills_up_is_said_and_start_has_status_3() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        conversation.hear();
        conversation.say(&Event::Apps(vec![AppInfo { pid: 41, ..AppInfo::default() }]));
        conversation.start_capture();
        let error = Some("no space left on device".into());
        conversation.end_capture(Summary { error, ..summary() });
        true
    });
    let (_, stderr) = run(daemon.ctl().args(["start", "-o", "x.gapii"]), 3);
    assert!(stderr.contains("no space left on device"), "{stderr}");
    serving.join().unwrap();
}
