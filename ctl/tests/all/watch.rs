//! `watch` with a fake daemon whose answers the test chooses.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::thread::JoinHandle;

use crate::support::{FakeDaemon, one_sentence, run};
use gapii_control::{AppCounts, AppInfo, Event, Request, StatusInfo};
use rustix::process::{Pid, Signal};
use serde_json::Value;

/// Answers with one program that makes 60 frames and 6000 commands per second.
fn counting(daemon: &FakeDaemon) -> JoinHandle<()> {
    daemon.serve(|mut conversation| {
        conversation.greet();
        let mut second = 0;
        while let Some(request) = conversation.hear() {
            assert_eq!(request, Request::Status);
            second += 1;
            let counts = AppCounts { calls: 6000 * second, lost_calls: 7, ..AppCounts::default() };
            let app = AppInfo {
                pid: 41,
                name: "gears".into(),
                frames: 60 * second,
                connected_ns: second * 1_000_000_000,
                counts: Some(counts),
                ..AppInfo::default()
            };
            conversation.say(&status(vec![app]));
        }
        true
    })
}

fn status(apps: Vec<AppInfo>) -> Event {
    Event::Status(StatusInfo { apps, ..StatusInfo::default() })
}

fn watch<'a>(command: &'a mut Command, options: &[&str]) -> &'a mut Command {
    command.args(["watch", "--interval", "0.1"]).args(options)
}

#[test]
fn each_refresh_is_a_line_of_json() {
    let daemon = FakeDaemon::new();
    let serving = counting(&daemon);
    let (stdout, stderr) = run(watch(&mut daemon.ctl(), &["--json", "--count", "3"]), 0);
    serving.join().unwrap();
    assert_eq!(stderr, "");
    let lines: Vec<Value> =
        stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3, "{stdout}");
    for line in lines {
        let app = &line["apps"][0];
        assert_eq!((&app["pid"], &app["name"]), (&41.into(), &"gears".into()), "{line}");
        assert_eq!((&app["frames_per_s"], &app["commands_per_s"]), (&60.0.into(), &6000.0.into()));
        assert_eq!(app["total"]["lost_commands"], 7, "{line}");
    }
}

#[test]
fn program_is_a_line_where_there_is_no_terminal() {
    let daemon = FakeDaemon::new();
    let serving = counting(&daemon);
    let (stdout, _) = run(watch(&mut daemon.ctl(), &["--count", "2"]), 0);
    serving.join().unwrap();
    let line = "41 gears  : 60.0 frames/s, 6,000 commands/s, 0 B/s into rings, waits 0, lost 7\n";
    assert_eq!(stdout, line.repeat(2));
}

#[test]
fn interrupt_ends_it_as_done_and_the_daemons_end_does_not() {
    let daemon = FakeDaemon::new();
    let serving = counting(&daemon);
    let mut command = daemon.ctl();
    let mut child = watch(&mut command, &[]).spawn().unwrap();
    let mut line = String::new();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    output.read_line(&mut line).unwrap();
    assert!(line.starts_with("41 gears"), "{line}");
    rustix::process::kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0));
    serving.join().unwrap();

    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        conversation.hear();
        conversation.say(&status(Vec::new()));
        conversation.hear();
        true
    });
    let (stdout, stderr) = run(watch(&mut daemon.ctl(), &[]), 3);
    serving.join().unwrap();
    assert!(stdout.starts_with("no application is connected; start one with"), "{stdout}");
    assert!(one_sentence(&stderr).contains("closed the connection"), "{stderr}");
}
