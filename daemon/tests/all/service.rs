//! The daemon under a service manager: the sockets that it gets, its messages, and where its log goes.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::support::{Client, Daemon, LIMIT, until};
use gapii_control::{Event, Request};
use rustix::process::Signal;

/// A socket that receives datagrams.
fn datagrams(path: &Path) -> UnixDatagram {
    let socket = UnixDatagram::bind(path).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket
}

fn next(socket: &UnixDatagram) -> Vec<u8> {
    let mut bytes = vec![0; 1 << 16];
    let len = socket.recv(&mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}

fn next_text(socket: &UnixDatagram) -> String {
    String::from_utf8(next(socket)).unwrap().trim_end().to_owned()
}

/// A process that is killed when the value is dropped.
struct Owned(Child);

impl Drop for Owned {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn manager_is_notified_of_start_work_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notify");
    let manager = datagrams(&path);
    let mut daemon = Daemon::serving(&[], &[("NOTIFY_SOCKET", &path)]);
    // The order of the two is the daemon's choice.
    let mut begun = [next_text(&manager), next_text(&manager)];
    begun.sort();
    assert_eq!(begun, ["READY=1", "STATUS=0 applications connected, 0 captures under way"]);
    let app = daemon.app();
    assert_eq!(next_text(&manager), "STATUS=1 application connected, 0 captures under way");
    drop(app);
    assert_eq!(next_text(&manager), "STATUS=0 applications connected, 0 captures under way");
    daemon.signal(Signal::TERM);
    assert_eq!(next_text(&manager), "STOPPING=1");
    assert!(daemon.wait().success());
}

#[test]
fn watchdog_is_notified_only_while_the_daemon_runs() {
    let folder = tempfile::tempdir().unwrap();
    let notify = folder.path().join("notify");
    let manager = datagrams(&notify);
    // The shell becomes the daemon, because only the shell knows the pid that the watchdog is for.
    let script = format!(
        "WATCHDOG_PID=$$ exec {} --config /dev/null --socket-dir {}",
        env!("CARGO_BIN_EXE_gapiid"),
        folder.path().display(),
    );
    let daemon = Command::new("sh")
        .args(["-c", &script])
        .env("NOTIFY_SOCKET", &notify)
        .env("WATCHDOG_USEC", "100000")
        .spawn();
    let daemon = Owned(daemon.unwrap());
    let alive = |times: usize| {
        (0..times).for_each(|_| while next_text(&manager) != "WATCHDOG=1" {});
    };
    alive(5);
    let pid = rustix::process::Pid::from_child(&daemon.0);
    rustix::process::kill_process(pid, Signal::STOP).unwrap();
    // Messages on their way may still come.
    manager.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let falls_silent = (0..100).any(|_| manager.recv(&mut [0; 64]).is_err());
    assert!(falls_silent, "a stopped process says nothing");
    rustix::process::kill_process(pid, Signal::CONT).unwrap();
    manager.set_read_timeout(Some(LIMIT)).unwrap();
    alive(2);
}

#[test]
fn sockets_that_systemd_hands_over_are_served() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let mut command = Command::new("systemd-socket-activate");
    for name in ["app.sock", "ctl.sock", "metrics.sock"] {
        command.arg("--listen").arg(path(name));
    }
    let activator = command
        .args(["--fdname=app:ctl:metrics", env!("CARGO_BIN_EXE_gapiid"), "--config", "/dev/null"])
        .stderr(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("apt-get install systemd has it: {error}"));
    let _activator = Owned(activator);
    let connect = |name: &str| until(name, || UnixStream::connect(path(name)).ok());
    // The first connection starts the daemon, and is the first that it serves.
    let mut metrics = connect("metrics.sock");
    metrics.set_read_timeout(Some(LIMIT)).unwrap();
    metrics.write_all(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
    let mut answer = String::new();
    metrics.read_to_string(&mut answer).unwrap();
    assert!(answer.contains("gapiid_applications 0\n"), "{answer}");
    let mut client = Client::greet(connect("ctl.sock"));
    let Event::Status(status) = client.ask(&Request::Status) else { panic!("no status") };
    assert!(status.apps.is_empty());
    // The daemon also answers on the socket that was passed.
    drop(connect("app.sock"));
    until("the hello that does not come to be counted", || {
        let Event::Status(status) = client.ask(&Request::Status) else { return None };
        (status.rejected.app_timeouts == 1).then_some(())
    });
}

/// A record of the journal's native protocol: names and values.
fn record(bytes: &[u8]) -> BTreeMap<String, String> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let (mut fields, mut rest) = (BTreeMap::new(), bytes);
    while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
        let (line, after) = (&rest[..end], &rest[end + 1..]);
        if let Some(sign) = line.iter().position(|byte| *byte == b'=') {
            fields.insert(text(&line[..sign]), text(&line[sign + 1..]));
            rest = after;
        } else {
            let (len, after) = after.split_first_chunk().unwrap();
            let (value, after) = after.split_at(u64::from_le_bytes(*len) as usize);
            fields.insert(text(line), text(value));
            rest = &after[1..];
        }
    }
    fields
}

#[test]
fn journal_gets_records_with_fields() {
    let folder = tempfile::tempdir().unwrap();
    // The journal of a mount namespace in which this folder is /run.
    let run = folder.path().join("run");
    std::fs::create_dir_all(run.join("systemd/journal")).unwrap();
    let journal = datagrams(&run.join("systemd/journal/socket"));
    let sockets = folder.path().join("s");
    let (mut said, stderr) = std::io::pipe().unwrap();
    let stat = rustix::fs::fstat(stderr.as_fd()).unwrap();
    let script = "mount --bind \"$1\" /run && shift && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args(["--user", "--map-current-user", "--keep-caps", "--mount", "sh", "-c", script, "sh"])
        .arg(&run)
        .args([env!("CARGO_BIN_EXE_gapiid"), "--config", "/dev/null", "--log", "debug"])
        .arg("--socket-dir")
        .arg(&sockets)
        .env("JOURNAL_STREAM", format!("{}:{}", stat.st_dev, stat.st_ino))
        .stderr(stderr);
    let daemon = Owned(command.spawn().unwrap());
    drop(command);
    let until = |message: &str| loop {
        let fields = record(&next(&journal));
        if fields.get("MESSAGE").is_some_and(|text| text.contains(message)) {
            return fields;
        }
    };
    assert_eq!(until("listens")["PRIORITY"], "6");
    let client = Client::greet(UnixStream::connect(sockets.join("ctl.sock")).unwrap());
    let fields = until("is connected: test");
    assert_eq!(fields["GAPII_CLIENT"], std::process::id().to_string(), "{fields:#?}");
    assert_eq!((&fields["PRIORITY"][..], &fields["GAPII_PROGRAM"][..]), ("7", "test"));
    assert_eq!(fields["SYSLOG_IDENTIFIER"], "gapiid");
    drop(client);
    let mut stranger = UnixStream::connect(sockets.join("ctl.sock")).unwrap();
    stranger.write_all(&[0xFF; 64]).unwrap();
    assert_eq!(until("is refused")["PRIORITY"], "4");
    drop((stranger, daemon));
    let mut text = String::new();
    said.read_to_string(&mut text).unwrap();
    assert_eq!(text, "", "nothing is said twice");
}

#[test]
fn text_log_has_a_sentence_for_each_event() {
    let daemon = Daemon::serving(&["--log", "debug"], &[]);
    let app = daemon.app();
    let pid = app.pid();
    let client = daemon.client();
    drop((app, client));
    until("the log to have it", || {
        daemon.log().contains(&format!("INFO fake-app (pid {pid}) is gone\n")).then_some(())
    });
    let log = daemon.log();
    assert!(log.contains(&format!("INFO fake-app (pid {pid}) is connected\n")), "{log}");
    let client = std::process::id();
    assert!(log.contains(&format!("DEBUG client {client} is connected: test\n")), "{log}");
    assert!(!log.contains('\u{1b}'), "a file is no terminal: {log}");
}
