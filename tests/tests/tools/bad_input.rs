//! Bad input: one clear sentence, the right exit status, and earlier recordings stay.

use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command as Process;

use gapii_tests::damage::{assert_rejected, assert_says_one_sentence};
use gapii_tests::fake_driver;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, LIMIT, run};
use gapii_tests::programs::program;
use gapii_tests::set_uid::{daemon_of_nobody, folder_of_nobody};
use rustix::process::Signal;

const USAGE: i32 = 2;
const UNREACHABLE: i32 = 3;
/// Statuses of a `run` that fails itself.
const RUN_FAILED: i32 = 125;
const NOT_EXECUTABLE: i32 = 126;
const NO_PROGRAM: i32 = 127;

/// Checks that a command is refused and that its message names the cause.
#[track_caller]
fn check(finished: &Finished, code: i32, mentions: &str) {
    assert_rejected(finished, code);
    assert!(finished.stderr.contains(mentions), "{mentions:?} is not mentioned: {finished}");
}

#[test]
fn unknown_command_is_rejected() {
    let session = Session::new();
    let finished = run(&mut session.ctl(["dance"]));
    assert_eq!(finished.status.code(), Some(USAGE), "{finished}");
    assert!(finished.stderr.contains("dance"), "{finished}");
}

#[test]
fn capture_of_no_frames_is_rejected() {
    let session = Session::new();
    let finished = run(&mut session.ctl(["run", "--frames", "0", "--", "true"]));
    assert_eq!(finished.status.code(), Some(RUN_FAILED), "{finished}");
    assert!(finished.stderr.contains("frames"), "{finished}");
}

#[test]
fn negative_time_is_rejected() {
    let session = Session::new();
    let finished = run(&mut session.ctl(["start", "--seconds", "-1"]));
    check(&finished, USAGE, "the time must be greater than 0 seconds");
}

#[test]
fn cut_trace_is_told_from_one_that_differs() {
    let session = Session::new();
    let whole = session.record(&[], &offscreen(&program("load_linked"), [""; 0])).trace.path;
    let bytes = std::fs::read(&whole).unwrap();
    let cut = session.path("cut.gapii");
    std::fs::write(&cut, &bytes[..bytes.len() - 200]).unwrap();
    let compared = run(session.ctl(["diff", "--no-frames"]).args([&whole, &cut]));
    assert_eq!(compared.status.code(), Some(UNREACHABLE), "{compared}");
    assert!(compared.stderr.contains("the traces were compared up to there"), "{compared}");
}

#[test]
fn missing_program_is_rejected() {
    let session = Session::new();
    let recording = session.record(&[], &Process::new("no-such-program-here"));
    check(&recording.run, NO_PROGRAM, "no-such-program-here");
    let recording = session.record(&[], &Process::new("/etc/passwd"));
    check(&recording.run, NOT_EXECUTABLE, "/etc/passwd");
}

#[test]
fn program_without_a_display_fails_by_itself() {
    let session = Session::new();
    let mut process = Process::new("es2gears_x11");
    process.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY");
    let native = run(&mut process);
    let recording = session.record(&["--frames", "10"], &process);
    assert_eq!(recording.run.status.code(), native.status.code(), "{}", recording.run);
    assert!(recording.run.stderr.contains("display"), "{}", recording.run);
    recording.trace.is_whole("exit");
}

#[test]
fn output_that_can_not_be_opened_is_rejected_before_the_program_starts() {
    let session = Session::new();
    let witness = session.path("witness");
    let check_output = |path: &str| {
        let mut process = Process::new("touch");
        process.arg(&witness);
        let finished = run(&mut session.run_command(&[], Path::new(path), &process));
        check(&finished, RUN_FAILED, path);
        assert!(!witness.exists(), "the program was started");
    };
    check_output("/no/such/folder/x.gapii");
    check_output("/proc/x.gapii");
    check_output("/tmp");
}

#[test]
fn device_without_space_ends_the_capture_and_not_the_program() {
    let session = Session::new();
    let mut process = Process::new(program("draw_forever"));
    process.args(["2", "20000"]);
    fake_driver::use_in(&mut process, None);
    let finished = run(&mut session.run_command(&[], Path::new("/dev/full"), &process));
    // The program has succeeded, and its recording has not.
    assert_eq!(finished.status.code(), Some(125), "{finished}");
    assert_says_one_sentence(&finished);
    assert!(finished.stderr.contains("/dev/full"), "{finished}");
}

/// On a file system with room for a few blocks.
#[test]
fn disk_that_fills_up_keeps_what_was_recorded() {
    /// $0 is the trace, $1 the disk; after -- come the words of the command.
    const SCRIPT: &str = r#"
        mount -t tmpfs -o size=512k none "$1" && shift 2 || exit
        "$@"; status=$?
        cp "$0" "$KEPT"
        exit $status"#;
    let session = Session::new();
    let (disk, kept) = (session.path("disk"), session.path("kept.gapii"));
    std::fs::create_dir(&disk).unwrap();
    let mut process = Process::new(program("draw_forever"));
    process.args(["2", "100000"]);
    let record = session.run_command(&[], &disk.join("x.gapii"), &process);
    // Mounted in a mount namespace of its own, which ends with the shell.
    let mut command = Process::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
    command.arg(SCRIPT).arg(disk.join("x.gapii")).arg(&disk).env("KEPT", &kept);
    gapii_tests::gapii::append(&mut command, &record);
    fake_driver::use_in(&mut command, None);
    let finished = run(&mut command);
    // The program has succeeded, and its recording has not.
    assert_eq!(finished.status.code(), Some(125), "{finished}");
    assert_says_one_sentence(&finished);
    let trace = Trace::new(kept);
    let info = trace.info();
    assert!(info["commands"].as_u64().unwrap() > 10_000, "{info:#}");
    // The index and footer may or may not still fit on the disk.
    let listed = gapii_tests::gapii::commands(&trace.ask("dump", &["--json"]));
    let took_effect = listed.iter().filter(|command| command.seq.is_some()).count();
    assert_eq!(info["commands"], took_effect, "{info:#}");
    let lost = finished.stderr.split("; ").find_map(|part| part.split_once(" lost"));
    let lost = lost.map_or_else(|| panic!("{finished}"), |(count, _)| count.replace(',', ""));
    assert_ne!(lost, "0", "{finished}");
    // Only a footer tells what was lost.
    if info["complete"] == true {
        assert_eq!(
            (&info["lost"]["commands"].to_string(), &info["lost_is_known"]),
            (&lost, &true.into())
        );
    } else {
        assert_eq!(info["lost_is_known"], false, "{info:#}");
        let text = trace.ask("info", &[]).exited_with(1);
        assert!(text.stdout.contains("\nlost       not known: the trace is cut off"), "{text}");
    }
}

#[test]
fn daemon_of_another_version_is_rejected() {
    let session = Session::new();
    let socket = session.path("other.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let _ = stream.read(&mut [0; 4096]);
        // {"Error": {"code": "version", "message": "speaks 98 to 99"}} in MessagePack
        let mut message = b"\x81\xa5Error\x82\xa4code\xa7version\xa7message\xaf".to_vec();
        message.extend(b"speaks 98 to 99");
        let _ = stream.write_all(&(message.len() as u32).to_le_bytes());
        let _ = stream.write_all(&message);
    });
    let finished =
        run(&mut session.ctl(["status", "--connect", &format!("unix:{}", socket.display())]));
    check(&finished, UNREACHABLE, "98 to 99");
    server.join().unwrap();
}

#[test]
fn daemon_that_is_not_there_is_named() {
    let session = Session::new();
    for question in ["apps", "stop", "start"] {
        check(&run(&mut session.ctl([question])), UNREACHABLE, "gapii");
    }
    for question in ["status", "apps", "stop", "start"] {
        let finished = run(&mut session.ctl([question, "--connect", "unix:/no/such/socket"]));
        check(&finished, UNREACHABLE, "/no/such/socket");
    }
}

/// root can open any socket, so for root the daemon belongs to another user; for others the folder is closed.
#[test]
fn socket_of_another_user_is_not_used() {
    let session = Session::new();
    let status_of = |folder: &Path| {
        let address = format!("unix:{}/ctl.sock", folder.display());
        let status = run(&mut session.ctl(["status", "--connect", &address]));
        check(&status, UNREACHABLE, &address["unix:".len()..]);
        status
    };
    if rustix::process::geteuid().is_root() {
        let folder = folder_of_nobody();
        let daemon = daemon_of_nobody(&session, folder.path());
        check(&status_of(folder.path()), UNREACHABLE, "`unset XDG_RUNTIME_DIR`");
        daemon.signal(Signal::TERM);
        daemon.finish(LIMIT).ok();
    } else {
        let folder = session.path("theirs");
        std::fs::create_dir(&folder).unwrap();
        std::fs::set_permissions(&folder, Permissions::from_mode(0o000)).unwrap();
        status_of(&folder);
    }
}

#[test]
fn trace_that_is_not_there_is_named() {
    for question in ["info", "dump", "verify"] {
        let finished = Trace::new("/no/such/trace.gapii".into()).ask(question, &[]);
        check(&finished, UNREACHABLE, "/no/such/trace.gapii");
    }
}

#[test]
fn program_that_draws_nothing_is_recorded_as_nothing() {
    let session = Session::new();
    let mut process = offscreen("sh".as_ref(), ["-c", "exit 5"]);
    process.env_remove("EGL_PLATFORM");
    let recording = session.record(&[], &process);
    recording.run.clone().exited_with(5);
    recording.trace.verify();
    assert_eq!(recording.trace.info()["commands"], 0);
}
