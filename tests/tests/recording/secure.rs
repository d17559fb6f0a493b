//! Secure execution, daemons of other users, and folders of other users that `su` and `sudo -E` leave in the environment.

use std::io::Read;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

use gapii_tests::artifacts::artifact;
use gapii_tests::display::surfaceless;
use gapii_tests::gapii::Session;
use gapii_tests::headless;
use gapii_tests::process::{Finished, LIMIT, Running, run};
use gapii_tests::programs::static_program;
use gapii_tests::set_uid::{SetUid, be_nobody, daemon_of_nobody, folder_of_nobody};
use gapii_tests::wait::until;
use rustix::process::Signal;
use serde_json::Value;

/// Runs a program with gapii's variables. Returns how many bytes it sent to the socket which they name; `None` if it did
/// not connect.
fn sent(mut command: Command) -> (Option<usize>, Finished) {
    let session = Session::new();
    let socket = session.path("app.sock");
    let listener = UnixListener::bind(&socket).expect("a socket");
    listener.set_nonblocking(true).expect("a listener");
    surfaceless(&mut command);
    session.adopt(&mut command);
    command.env("GAPII_SOCKET", &socket).env("GAPII_WAIT", "1").env("GAPII_WAIT_SECONDS", "1");
    let ended = run(&mut command).ok();
    let sent = listener.accept().ok().map(|(mut stream, _)| {
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).expect("the program has ended")
    });
    (sent, ended)
}

#[test]
fn set_uid_program_opens_no_socket_and_obeys_no_variable() {
    let program = SetUid::copy(&static_program());
    let (bytes, ended) = sent(program.as_owner());
    assert!(bytes > Some(0) && ended.stderr.contains("gapii:"), "{bytes:?} {ended}");
    let (bytes, ended) = sent(program.as_nobody());
    assert!(bytes.is_none() && ended.stderr.is_empty(), "{bytes:?} {ended}");
}

/// The program of `headless` with the shim, for the daemon of a folder.
fn preloaded(session: &Session, folder: &Path) -> Command {
    let mut process = headless::on_fake_driver(None);
    session.adopt(&mut process);
    process.env("LD_PRELOAD", artifact("libgapii.so")).env("GAPII_SOCKET", folder.join("app.sock"));
    process
}

/// Root's program would be the daemon's application: the daemon of any user serves root.
#[test]
fn daemon_of_another_user_gets_no_hello() {
    let (session, folder) = (Session::new(), folder_of_nobody());
    let daemon = daemon_of_nobody(&session, folder.path());
    let apps = || {
        let mut apps = session.ctl(["apps", "--json", "--connect"]);
        be_nobody(apps.arg(format!("unix:{}/ctl.sock", folder.path().display())));
        let apps: Vec<Value> = serde_json::from_str(&run(&mut apps).ok().stdout).expect("a list");
        apps.iter().map(|app| app["pid"].as_u64().expect("a pid")).collect::<Vec<_>>()
    };
    let waits = ["GAPII_WAIT", "GAPII_WAIT_SECONDS"];
    let mut refused = preloaded(&session, folder.path());
    let refused = Running::start(refused.envs(waits.map(|name| (name, "1"))));
    // It has looked for a daemon by then.
    refused.wait_for_words("goes on unrecorded", LIMIT);
    let mut accepted = preloaded(&session, folder.path());
    be_nobody(&mut accepted);
    let accepted = Running::start(&mut accepted);
    until("an application", LIMIT, || (!apps().is_empty()).then_some(()));
    assert_eq!(apps(), [u64::from(accepted.pid())], "{}", refused.stderr_so_far());
    let said = refused.stderr_so_far();
    assert!(said.contains("belongs to user 65534"), "{said}");
    headless::end(refused);
    headless::end(accepted);
    daemon.signal(Signal::TERM);
    daemon.finish(LIMIT).ok();
}

/// Number of memory files that a process has open.
fn memory_files(pid: u32) -> usize {
    let open = std::fs::read_dir(format!("/proc/{pid}/fd")).expect("root may look").flatten();
    let targets = open.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    targets.filter(|target| target.to_string_lossy().contains("/memfd:")).count()
}

/// A program whose daemon has died hands its rings to the next daemon on the socket's path.
#[test]
fn program_whose_daemon_died_hands_nothing_to_a_daemon_of_another_user() {
    let (session, folder) = (Session::new(), folder_of_nobody());
    let theirs = daemon_of_nobody(&session, folder.path());
    let ours = session.daemon(&[]);
    let places = session.path("places");
    std::fs::create_dir(&places).expect("a folder");
    let lead_to = |socket: &Path| {
        let draft = session.path("draft");
        std::os::unix::fs::symlink(socket, &draft).expect("a link");
        std::fs::rename(draft, places.join("app.sock")).expect("one file system");
    };
    lead_to(&session.path("gapii/app.sock"));
    let program = Running::start(&mut preloaded(&session, &places));
    session.app_in_mode("idle");
    let mut start = session.ctl(["start", "-o"]);
    let start = Running::start(start.arg(session.path("trace.gapii")));
    session.app_in_mode("capturing");
    let before = memory_files(theirs.pid());
    lead_to(&folder.path().join("app.sock"));
    ours.kill();
    // It looks every 5 ms.
    for _ in 0..200 {
        assert_eq!(memory_files(theirs.pid()), before);
        sleep(Duration::from_millis(5));
    }
    headless::end(program);
    start.signal(Signal::KILL);
    theirs.signal(Signal::TERM);
    theirs.finish(LIMIT).ok();
}

/// The folder's owner could replace the socket and the libraries of root's run.
#[test]
fn run_in_the_runtime_folder_of_another_user_has_its_files_elsewhere() {
    let (session, theirs) = (Session::new(), folder_of_nobody());
    let print = ["--", "sh", "-c", "echo $GAPII_SOCKET; echo $LD_PRELOAD; echo $LD_LIBRARY_PATH"];
    let mut command = session.ctl(["run", "--idle"]);
    command.args(print).env("XDG_RUNTIME_DIR", theirs.path()).env("TMPDIR", theirs.path());
    let ended = run(&mut command).ok();
    assert!(ended.stdout.contains("/gapii-run-"), "{ended}");
    assert!(!ended.stdout.contains(theirs.path().to_str().expect("a plain name")), "{ended}");
}

#[test]
fn daemon_in_the_runtime_folder_of_another_user_does_not_start() {
    let (session, theirs) = (Session::new(), folder_of_nobody());
    let mut daemon = Command::new(artifact("gapiid"));
    session.adopt(&mut daemon);
    let ended = run(daemon.env("XDG_RUNTIME_DIR", theirs.path())).exited_with(1);
    for part in ["belongs to user 65534", "unset XDG_RUNTIME_DIR", "--socket-dir"] {
        assert!(ended.stderr.contains(part), "{part}: {ended}");
    }
    assert!(!theirs.path().join("gapii").exists());
}

#[test]
fn doctor_finds_the_runtime_folder_of_another_user() {
    let (session, theirs) = (Session::new(), folder_of_nobody());
    let mut doctor = session.ctl(["doctor"]);
    let ended = run(doctor.env("XDG_RUNTIME_DIR", theirs.path()));
    for part in ["belongs to user 65534", "unset XDG_RUNTIME_DIR"] {
        assert!(ended.stdout.contains(part), "{part}: {ended}");
    }
}
