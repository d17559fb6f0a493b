//! Invalid input fails with one sentence and the right exit status, and loses no data.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;

use crate::support::{FakeDaemon, ctl, one_sentence, run};
use gapii_control::{AppInfo, ControlError, Event, Request, Started, code};
use gapii_trace::TraceHeader;
use rustix::pty::OpenptFlags;

fn check(arguments: &[&str], status: i32, word: &str) {
    let folder = tempfile::tempdir().unwrap();
    let (stdout, stderr) = run(ctl(folder.path()).args(arguments), status);
    assert!(one_sentence(&stderr).contains(word), "{arguments:?}: {stderr}");
    assert_eq!(stdout, "");
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().collect();
    assert!(left.is_empty(), "{arguments:?} left {left:?}");
}

#[test]
fn usage_errors_have_status_2() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (&["dance"][..], "dance"),
        (&["start", "--frames", "many"], "many"),
        (&["dump", "x.gapii", "--frames", "3,5"], "A..B"),
        (
            &["export", "x.gapii", "-o", "y", "--format", "bmp"],
            "[possible values: apitrace, json, perfetto, firefox-profiler, shader-test, parquet]",
        ),
        (&["export", "x.gapii", "--format", "json"], "--output"),
        (&["montage", "x.gapii", "-o", "sheet.JPG"], "`-o sheet.png`"),
        (&["save", "--last", "0"], "a whole number, 1 or more, is expected"),
        (&["dump", "x.gapii", "--top", "0"], "a whole number, 1 or more, is expected"),
        (&["watch", "--count", "0"], "a whole number, 1 or more, is expected"),
        (&["apps", "--connect", "localhost:1"], "unix:PATH"),
        (&["apps", "--connect", "tcp://localhost:1"], "--via tls://HOST"),
        (&["apps", "--via", "http://localhost:1"], "tls://"),
    ] {
        let (stdout, stderr) = run(ctl(folder.path()).args(arguments), 2);
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
        assert_eq!(stdout, "");
    }
}

#[test]
fn run_that_fails_itself_has_a_status_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, word) in [
        (&["run"][..], "CMD"),
        (&["run", "--frames", "0", "--", "true"], "0 frames"),
        (&["run", "--frmaes", "5", "true"], "--frames"),
        (&["run", "-x", "true"], "-x"),
        (&["--connect", "unix:/no/such", "run", "-x", "true"], "-x"),
    ] {
        let (stdout, stderr) = run(ctl(folder.path()).args(arguments), 125);
        assert!(stderr.contains(word), "{arguments:?}: {stderr}");
        assert_eq!(stdout, "");
    }
    check(&["run", "--", "true"], 125, "/no/such/gapiid");
    check(&["run", "--", "/etc/passwd"], 126, "chmod +x");
    check(&["run", "--", "/etc"], 126, "folder");
    check(&["run", "--", "no-such-program"], 127, "no-such-program");
    check(&["run", "--", "./no-such-program"], 127, "./no-such-program");
}

#[test]
fn file_that_the_system_cannot_start_has_status_126() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.greet();
        if conversation.hear().is_none() {
            return false;
        }
        conversation.say(&Event::Started(Started { capture: 7, ..Started::default() }));
        true
    });
    let script = daemon.folder.path().join("script");
    fs::write(&script, "#!/no/such/interpreter\n").unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    let (_, stderr) = run(daemon.ctl().args(["run", "-o", "x.gapii", "--", "./script"]), 126);
    assert!(one_sentence(&stderr).contains("can't start ./script: its interpreter"), "{stderr}");
    assert!(!daemon.folder.path().join("x.gapii").exists());
    serving.join().unwrap();
}

#[test]
fn failure_is_a_line_of_json_on_standard_error() {
    let folder = tempfile::tempdir().unwrap();
    for (arguments, status, command, kind, hint) in [
        (&["apps", "--json"][..], 3, "apps", "unreachable", "gapiid"),
        (&["info", "--json", "no-such.gapii"], 3, "info", "unreachable", ""),
        (&["start", "--json", "-o", "-"], 2, "start", "usage", "-o FILE"),
        (&["start", "--json", "--frames", "many"], 2, "start", "usage", ""),
        (&["run", "--json", "--frames", "many", "--", "true"], 125, "run", "usage", ""),
        (&["run", "--json", "--", "no-such-program"], 127, "run", "unreachable", ""),
        (&["pair", "revoke", "--json", "nobody"], 1, "pair", "negative", ""),
        (&["dance", "--json"], 2, "", "usage", ""),
    ] {
        let (stdout, stderr) = run(ctl(folder.path()).args(arguments), status);
        let line: serde_json::Value = serde_json::from_str(&stderr).unwrap();
        let error = &line["error"];
        assert_eq!(stdout, "", "{arguments:?}");
        assert_eq!((&error["command"], &error["kind"]), (&command.into(), &kind.into()), "{line}");
        assert_eq!(error["status"], status, "{line}");
        let hints = error["try"].as_array().unwrap().iter();
        let offered: String = hints.map(|hint| hint.as_str().unwrap()).collect();
        assert!(offered.contains(hint), "{line}");
    }
    // The program's own --json is not ours.
    let (_, stderr) = run(ctl(folder.path()).args(["run", "--", "no-such-program", "--json"]), 127);
    assert!(one_sentence(&stderr).contains("no-such-program"), "{stderr}");
}

#[test]
fn missing_things_have_status_3() {
    check(&["apps"], 3, "no daemon");
    check(&["status", "--connect", "unix:/no/such.sock"], 3, "/no/such.sock");
    check(&["start"], 3, "no daemon");
    check(&["info", "no-such.gapii"], 3, "no-such.gapii");
    check(&["dump", "/"], 3, "folder");
    check(&["verify", "no-such.gapii"], 3, "no-such.gapii");
    check(&["export", "no-such.gapii", "--format", "json", "-o", "x"], 3, "no-such.gapii");
    check(&["man", "/proc/no-such"], 3, "/proc/no-such");
}

#[test]
fn hint_for_an_absent_daemon_fits_the_address() {
    let folder = tempfile::tempdir().unwrap();
    let own = format!("{}/gapii/ctl.sock", folder.path().display());
    let message = |connect: &[&str]| {
        let (_, stderr) = run(ctl(folder.path()).arg("apps").args(connect), 3);
        one_sentence(&stderr).to_owned()
    };
    let usual = message(&[]);
    assert!(usual.contains("start one with `gapiid`, or use `gapii-ctl run`"), "{usual}");
    // There, a daemon without options does not listen, and `run` brings none.
    let other = message(&["--connect", "unix:/no/such/ctl.sock"]);
    assert!(other.contains("with `gapiid --socket-dir /no/such`"), "{other}");
    assert!(other.contains(&own) && !other.contains("gapii-ctl run"), "{other}");
    let strange = message(&["--connect", "unix:/no/such.sock"]);
    assert!(strange.contains("a daemon's socket is named") && strange.contains(&own), "{strange}");
}

#[test]
fn hints_for_another_machine_name_its_port_folder_and_checks() {
    let folder = tempfile::tempdir().unwrap();
    let here = ["--folder", "here", "-o", "me.json"];
    let (said, _) = run(ctl(folder.path()).args(["pair", "new", "me"]).args(here), 0);
    let wanted = "gapiid --remote 0.0.0.0:9820 --remote-credentials /";
    let command =
        said.lines().find(|line| line.contains(wanted)).unwrap_or_else(|| panic!("{said}"));
    assert!(command.ends_with("/here") && !said.contains("systemctl"), "{said}");
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let via = format!("tls://{free}");
    let reach = |command: &[&str], status| {
        let mut ctl = ctl(folder.path());
        run(ctl.args(command).args(["--via", &via, "--credentials", "me.json"]), status)
    };
    let (_, stderr) = reach(&["apps"], 3);
    let port = format!("start gapiid there with --remote 0.0.0.0:{}", free.port());
    assert!(one_sentence(&stderr).ends_with(&port), "{stderr}");
    let (report, _) = reach(&["doctor", "--json"], 1);
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let checks = report["checks"].as_array().unwrap();
    let names: Vec<_> = checks.iter().map(|found| found["check"].as_str().unwrap()).collect();
    assert_eq!(names, ["daemon", "other machine"], "{report:#}");
    assert_eq!(checks[1]["mend"], "ssh 127.0.0.1 gapii-ctl doctor");
}

#[test]
fn program_in_this_folder_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("my-program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let (_, stderr) = run(ctl(folder.path()).args(["run", "--", "my-program"]), 127);
    assert!(
        one_sentence(&stderr).ends_with("`./my-program` is the one in this folder"),
        "{stderr}"
    );
}

#[test]
fn output_that_cannot_be_written_starts_no_program() {
    let daemon = FakeDaemon::new();
    daemon.serve(|mut conversation| {
        conversation.greet();
        // The daemon is not asked: the output is opened first.
        assert_eq!(conversation.hear(), None);
        false
    });
    let folder = daemon.folder.path();
    let controller = rustix::pty::openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    rustix::pty::unlockpt(&controller).unwrap();
    let terminal = rustix::pty::ptsname(&controller, Vec::new()).unwrap();
    for (output, word) in [
        ("missing/x.gapii", "mkdir -p missing"),
        (".", "folder"),
        (terminal.to_str().unwrap(), "a trace is not written to a terminal"),
    ] {
        let mut command = daemon.ctl();
        command.args(["run", "-o", output, "--", "touch", "started"]);
        let (_, stderr) = run(&mut command, 125);
        assert!(one_sentence(&stderr).contains(word), "{stderr}");
        assert!(!folder.join("started").exists());
    }
}

#[test]
fn trace_that_exists_is_overwritten_only_with_force() {
    let check = |output: &str, options: &[&str], status| {
        let daemon = FakeDaemon::new();
        let serving = daemon.serve(|mut conversation| {
            conversation.greet();
            if let Some(Request::Apps) = conversation.hear() {
                conversation.say(&Event::Apps(vec![AppInfo { pid: 41, ..AppInfo::default() }]));
            }
            if conversation.hear().is_some() {
                conversation.say(&Event::Error(ControlError::new(
                    code::NO_CAPTURE,
                    "no more",
                    "`gapii-ctl list` shows what is captured",
                )));
            }
            true
        });
        let folder = daemon.folder.path();
        fs::write(folder.join("old.gapii"), "precious").unwrap();
        fs::write(folder.join("empty.gapii"), "").unwrap();
        let mut command = daemon.ctl();
        let (_, stderr) = run(command.args(["start", "-o", output]).args(options), status);
        serving.join().unwrap();
        (one_sentence(&stderr).to_owned(), fs::read_to_string(folder.join("old.gapii")).unwrap())
    };
    let (said, kept) = check("old.gapii", &[], 2);
    assert!(said.contains("old.gapii exists") && said.contains("--force"), "{said}");
    assert_eq!(kept, "precious");
    let no_more = "no more; `gapii-ctl list` shows what is captured";
    for (output, options) in [("empty.gapii", &[][..]), ("/dev/null", &[])] {
        assert_eq!(check(output, options, 1), (no_more.to_owned(), "precious".to_owned()));
    }
    assert_eq!(check("old.gapii", &["--force"], 1), (no_more.to_owned(), "precious".to_owned()));
}

#[test]
fn unknown_option_is_no_value_unless_a_program_may_have_it() {
    let folder = tempfile::tempdir().unwrap();
    for words in [&["state", "x", "--what", "t"][..], &["stats", "x", "--frames", "3"]] {
        let (_, said) = run(ctl(folder.path()).args(words), 2);
        assert!(said.contains("unexpected argument") && !said.contains("as a value"), "{said}");
        let (_, said) = run(ctl(folder.path()).args(words).arg("--json"), 2);
        let help = format!("gapii-ctl {} --help", words[0]);
        assert!(said.contains(&help) && !said.contains("as a value"), "{said}");
    }
}

#[test]
fn daemon_of_another_version_is_named() {
    let daemon = FakeDaemon::new();
    let serving = daemon.serve(|mut conversation| {
        conversation.hear();
        let message = "this daemon speaks versions 2 to 3, the client 1";
        conversation.say(&Event::Error(ControlError::new(code::VERSION, message, "")));
        true
    });
    let (_, stderr) = run(daemon.ctl().args(["run", "--", "true"]), 125);
    let sentence = one_sentence(&stderr);
    assert!(
        sentence.starts_with("this daemon speaks versions 2 to 3, the client 1; "),
        "{sentence}"
    );
    serving.join().unwrap();
}

#[test]
fn listener_that_is_no_daemon_is_refused() {
    for bytes in [&b"HTTP/1.1 400 Bad Request\r\n\r\n"[..], &[4, 0, 0, 0, 0xc1, 1, 2, 3], b""] {
        let daemon = FakeDaemon::new();
        let serving = daemon.serve(move |mut conversation| {
            conversation.hear();
            conversation.raw(bytes);
            true
        });
        let (_, stderr) = run(daemon.ctl().arg("apps"), 3);
        assert!(one_sentence(&stderr).contains("gapii/ctl.sock"), "{stderr}");
        serving.join().unwrap();
    }
}

#[test]
fn file_that_is_no_trace_has_status_1() {
    let folder = tempfile::tempdir().unwrap();
    for (name, bytes) in [("empty", &b""[..]), ("text", b"what is in here is no trace at all")] {
        fs::write(folder.path().join(name), bytes).unwrap();
        for command in ["info", "dump", "verify"] {
            let (_, stderr) = run(ctl(folder.path()).args([command, name]), 1);
            assert!(one_sentence(&stderr).contains("not a trace"), "{stderr}");
        }
    }
}

#[test]
fn header_cut_at_every_byte_is_refused_and_a_whole_one_is_described() {
    let folder = tempfile::tempdir().unwrap();
    let header = TraceHeader::new("test", [7; 16], 0, 0).encode().unwrap();
    let path = folder.path().join("cut.gapii");
    for end in (0..header.len()).step_by(header.len().div_ceil(50)) {
        fs::write(&path, &header[..end]).unwrap();
        let (_, stderr) = run(ctl(folder.path()).args(["info", "cut.gapii"]), 1);
        one_sentence(&stderr);
    }
    fs::write(&path, &header).unwrap();
    for (command, word) in [("info", "is cut"), ("dump", "is cut"), ("verify", "problem")] {
        let (_, stderr) = run(ctl(folder.path()).args([command, "cut.gapii"]), 1);
        assert!(one_sentence(&stderr).contains(word), "{stderr}");
    }
    let (stdout, _) = run(ctl(folder.path()).args(["info", "--json", "cut.gapii"]), 1);
    let info: serde_json::Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(info["complete"], false);
    assert_eq!(info["frames"], 0);
}

#[test]
fn reader_that_goes_away_ends_us_quietly() {
    let folder = tempfile::tempdir().unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = ctl(folder.path());
    command.args(["completions", "bash"]).stdout(writer);
    let (_, stderr) = run(&mut command, 0);
    assert_eq!(stderr, "");
}
