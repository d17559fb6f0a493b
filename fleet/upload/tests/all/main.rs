//! The whole service, beside a real S3 server behind a proxy that cuts connections, holds them up and answers 500.
//!
//! `cargo xtask check-fleet` installs the server and runs these tests.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod proxy;
mod s3;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::os::unix::net::UnixDatagram;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering::SeqCst;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::FlockOperation;
use rustix::process::{Pid, Signal, kill_process};

use crate::proxy::{Faults, Proxy, Random};
use crate::s3::{BUCKET, S3};

/// How long a test waits for what must happen.
const PATIENCE: Duration = Duration::from_secs(120);
const MIB: usize = 1 << 20;
const CALM: Faults = Faults { seed: 0, one_of: 0, pause: Duration::ZERO, answers: u64::MAX };

/// A spool, and words for the service of it.
struct Spool {
    folder: tempfile::TempDir,
    to: SocketAddr,
}

/// A running service, killed when it is dropped.
struct Service {
    child: Child,
    said: Receiver<String>,
    lines: Vec<String>,
}

impl Spool {
    fn new(to: SocketAddr) -> Spool {
        Spool { folder: tempfile::tempdir().unwrap(), to }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Copies a trace of the project into the spool.
    fn add(&self, trace: &str, name: &str) -> Vec<u8> {
        let bytes = fs::read(traces().join(trace)).unwrap();
        fs::write(self.path().join(name), &bytes).unwrap();
        bytes
    }

    /// Makes a file that ends as a table does.
    fn add_table(&self, name: &str, bytes: usize, seed: u64) -> Vec<u8> {
        let mut random = Random(seed);
        let mut table: Vec<u8> =
            (0..bytes / 8).flat_map(|_| random.below(u64::MAX).to_le_bytes()).collect();
        table.extend_from_slice(b"PAR1");
        let path = self.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // Under its name when it is whole, as `gapii-tables` does it.
        let draft = path.with_extension("part");
        fs::write(&draft, &table).unwrap();
        fs::rename(draft, path).unwrap();
        table
    }

    /// Names of the files that are left.
    fn left(&self) -> Vec<String> {
        let mut folders = vec![self.path().to_owned()];
        let mut names = Vec::new();
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    names.push(path.strip_prefix(self.path()).unwrap().display().to_string());
                }
            }
        }
        names.retain(|it| !it.starts_with(".gapii-upload/"));
        names.sort();
        names
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gapii-upload"));
        command.arg("--spool").arg(self.path()).args(["--to", &format!("s3://{BUCKET}/fleet")]);
        command.args(["--every", "0.1", "--host", "render-7"]).args(words);
        command.env("AWS_ENDPOINT", format!("http://{}", self.to)).env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ACCESS_KEY_ID", "key").env("AWS_SECRET_ACCESS_KEY", "secret");
        command
    }

    fn start(&self, words: &[&str]) -> Service {
        Service::start(self.command(words))
    }

    fn once(&self, words: &[&str]) -> Output {
        self.command(&[&["--once"], words].concat()).output().unwrap()
    }

    /// Returns the status, and whether it ends with 0.
    fn status(&self) -> (bool, serde_json::Value) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gapii-upload"));
        let output =
            command.args(["status", "--json", "--spool"]).arg(self.path()).output().unwrap();
        let status = serde_json::from_slice(&output.stdout);
        (output.status.success(), status.unwrap_or_else(|_| panic!("{output:?}")))
    }
}

impl Service {
    fn start(mut command: Command) -> Service {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let (sender, said) = channel();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Service { child, said, lines: Vec::new() }
    }

    /// Waits for a line with this text. Returns the line.
    fn says(&mut self, text: &str) -> String {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(line) = self.lines.iter().find(|line| line.contains(text)) {
                return line.clone();
            }
            match self.said.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(line) => self.lines.push(line),
                Err(_) => panic!("no line with {text:?} in {:#?}", self.lines),
            }
        }
    }

    fn kill(&mut self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
        self.child.wait().unwrap();
    }

    /// All lines of a service that has ended.
    fn all_lines(mut self) -> Vec<String> {
        let _ = self.child.wait();
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(self.said.iter());
        lines
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/data/traces")
}

/// Waits until something is so.
fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < end, "waited {PATIENCE:?} for: {what}");
        thread::park_timeout(Duration::from_millis(20));
    }
}

/// What the service has written of itself, if it has yet.
fn kept_status(spool: &Spool) -> Option<serde_json::Value> {
    let text = fs::read(spool.path().join(".gapii-upload/status.json")).ok()?;
    serde_json::from_slice(&text).ok()
}

/// Fails unless the store has these files, each once and whole, and nothing else.
fn must_hold(s3: &S3, expected: &[Vec<u8>]) -> BTreeMap<String, Vec<u8>> {
    let objects = s3.objects();
    let mut held: Vec<_> = objects.values().collect();
    let mut expected: Vec<_> = expected.iter().collect();
    held.sort();
    expected.sort();
    let names: Vec<_> = objects.iter().map(|(name, bytes)| (name, bytes.len())).collect();
    assert!(held == expected, "{} files were to arrive, and there are {names:?}", expected.len());
    objects
}

const FINISHED: [&str; 6] = [
    "attached.gapii",
    "es1.gapii",
    "filtered.gapii",
    "images.gapii",
    "kept.gapii",
    "level_zero.gapii",
];

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn bad_connections_and_kills_lose_and_double_nothing() {
    let s3 = S3::start();
    let faults = Faults { seed: 7, one_of: 2, pause: Duration::from_micros(300), ..CALM };
    let proxy = Proxy::start(s3.address, faults);
    let spool = Spool::new(proxy.address);
    let mut files: Vec<_> = FINISHED.iter().map(|it| spool.add(it, it)).collect();
    for (at, mib) in [20, 1, 33].into_iter().enumerate() {
        files.push(spool.add_table(
            &format!("table=frames/day=2026-11-30/{at}.parquet"),
            mib * MIB,
            at as u64,
        ));
    }
    let mut random = Random(3);
    let mut kills = 0;
    until("all files are uploaded", || {
        let service = spool.start(if kills % 2 == 0 { &[] } else { &["--read-back"] });
        let end = Instant::now() + Duration::from_millis(300 + 50 * kills + random.below(1_500));
        while Instant::now() < end && !spool.left().is_empty() {
            thread::park_timeout(Duration::from_millis(5));
        }
        kills += 1;
        drop(service);
        spool.left().is_empty()
    });
    let objects = must_hold(&s3, &files);
    let count = proxy.count();
    assert!(kills > 3, "{kills} kills");
    assert!(count.cut.load(SeqCst) > 0 && count.answers_lost.load(SeqCst) > 0, "{count:?}");
    assert!(count.answered_500.load(SeqCst) > 0, "{count:?}");
    let is_trace = |name: &&String| name.starts_with("fleet/traces/day=2026-");
    assert_eq!(objects.keys().filter(is_trace).count(), FINISHED.len(), "{:?}", objects.keys());
    assert!(objects.contains_key("fleet/tables/table=frames/day=2026-11-30/1.parquet"));
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn killed_service_goes_on_after_the_last_part() {
    let s3 = S3::start();
    let slow = Proxy::start(s3.address, Faults { pause: Duration::from_millis(3), ..CALM });
    let spool = Spool::new(slow.address);
    let table = spool.add_table("x.parquet", 48 * MIB, 1);
    let mut first = spool.start(&[]);
    until("three parts are there", || {
        kept_status(&spool)
            .is_some_and(|it| it["uploading"][0]["sent_bytes"].as_u64() >= Some(24 << 20))
    });
    first.kill(Signal::KILL);
    let fast = Proxy::start(s3.address, CALM);
    let spool = Spool { to: fast.address, ..spool };
    let output = spool.once(&[]);
    assert!(output.status.success(), "{output:?}");
    must_hold(&s3, &[table]);
    let up = fast.count().up.load(SeqCst);
    assert!(
        up < (25 << 20),
        "the second process sent {up} bytes of 48 MiB, half of which were there"
    );
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn repeated_upload_replaces_the_same_object() {
    let s3 = S3::start();
    let spool = Spool::new(s3.address);
    let trace = spool.add("es1.gapii", "one.gapii");
    assert!(spool.once(&[]).status.success());
    // The acknowledgment was lost, and the trace has another name meanwhile.
    spool.add("es1.gapii", "other.gapii");
    let output = spool.once(&["--read-back"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("which had it already"), "{said}");
    must_hold(&s3, &[trace]);
    assert!(spool.left().is_empty());
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn reading_goes_on_behind_the_byte_at_which_it_broke_off() {
    let s3 = S3::start();
    let proxy = Proxy::start(s3.address, Faults { answers: MIB as u64, ..CALM });
    let spool = Spool::new(proxy.address);
    let table = spool.add_table("x.parquet", 12 * MIB, 1);
    let output = spool.once(&["--read-back"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && !said.contains("can't upload"), "{said}");
    assert!(proxy.count().answers_lost.load(SeqCst) >= 11, "{:?}", proxy.count());
    must_hold(&s3, &[table]);
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn newer_table_replaces_the_older_one_of_its_name_and_length() {
    let s3 = S3::start();
    let spool = Spool::new(s3.address);
    for seed in [1, 2] {
        let table = spool.add_table("table=traces/x.parquet", MIB, seed);
        assert!(spool.once(&[]).status.success());
        must_hold(&s3, &[table]);
    }
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn file_that_changes_on_its_way_is_uploaded_anew() {
    let s3 = S3::start();
    let slow = Proxy::start(s3.address, Faults { pause: Duration::from_millis(1), ..CALM });
    let spool = Spool::new(slow.address);
    spool.add_table("x.parquet", 24 * MIB, 1);
    let service = spool.start(&[]);
    until("a part is there", || {
        kept_status(&spool)
            .is_some_and(|it| it["uploading"][0]["sent_bytes"].as_u64() >= Some(8 << 20))
    });
    let path = spool.path().join("x.parquet");
    let mut changed = fs::read(&path).unwrap();
    changed[5] ^= 1;
    let byte = &changed[5..6];
    std::os::unix::fs::FileExt::write_at(&File::options().write(true).open(path).unwrap(), byte, 5)
        .unwrap();
    until("it is uploaded", || spool.left().is_empty());
    drop(service);
    must_hold(&s3, &[changed]);
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn only_what_is_finished_is_uploaded_and_the_rest_is_said() {
    let s3 = S3::start();
    let spool = Spool::new(s3.address);
    let finished = spool.add("es1.gapii", "finished.gapii");
    spool.add("cut.gapii", "cut.gapii");
    let written = spool.add("images.gapii", "written.gapii");
    fs::write(spool.path().join("notes.txt"), "x").unwrap();
    fs::write(spool.path().join("es2.gapii.x.part"), "x").unwrap();
    std::os::unix::fs::symlink(traces().join("kept.gapii"), spool.path().join("link.gapii"))
        .unwrap();
    let lock = File::open(spool.path().join("written.gapii")).unwrap();
    rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
    let output = spool.once(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("cut.gapii is not uploaded: it has no footer"),
        "{said}"
    );
    must_hold(&s3, std::slice::from_ref(&finished));
    let left = ["cut.gapii", "es2.gapii.x.part", "link.gapii", "notes.txt", "written.gapii"];
    assert_eq!(spool.left(), left);
    let (_, status) = spool.status();
    assert_eq!(status["unfinished"][0]["name"], "cut.gapii", "{status}");
    assert_eq!((&status["written_files"], &status["unfinished_files"]), (&1.into(), &1.into()));
    // The capture ends.
    drop(lock);
    assert!(spool.once(&[]).status.success());
    must_hold(&s3, &[finished, written]);
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn crash_report_goes_with_its_trace() {
    let s3 = S3::start();
    let spool = Spool::new(s3.address);
    let trace = spool.add("es1.gapii", "x.gapii");
    fs::write(spool.path().join("x.gapii.crash.txt"), "glClear").unwrap();
    fs::write(spool.path().join("x.gapii.checkpoints"), "made again").unwrap();
    assert!(spool.once(&[]).status.success());
    let objects = must_hold(&s3, &[trace, b"glClear".to_vec()]);
    let names: Vec<_> = objects.keys().collect();
    assert_eq!(*names[1], format!("{}.crash.txt", names[0]));
    assert!(spool.left().is_empty());
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn full_spool_is_said_and_nothing_is_deleted_unless_that_is_allowed() {
    let s3 = S3::start();
    // Nobody listens there.
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    let spool = Spool::new(nowhere);
    let mut tables = Vec::new();
    for at in 0..6 {
        tables.push(spool.add_table(&format!("{at}.parquet"), MIB, at));
        // Their order is that of their times.
        let time = std::time::SystemTime::UNIX_EPOCH + Duration::from_secs(1_000 + at);
        File::open(spool.path().join(format!("{at}.parquet"))).unwrap().set_modified(time).unwrap();
    }
    let limit = ["--spool-limit", "4M"];
    let mut service = spool.start(&limit);
    service.says("THE SPOOL IS FULL");
    service.says("trying again until it works");
    let (has_room, status) = spool.status();
    assert!(!has_room && status["is_full"] == true && status["is_running"] == true, "{status}");
    until("a second failure", || spool.status().1["trouble"]["failures"].as_u64() >= Some(2));
    service.kill(Signal::TERM);
    let lines = service.all_lines();
    assert_eq!(lines.iter().filter(|it| it.contains("can't upload")).count(), 1, "{lines:#?}");
    assert_eq!(lines.iter().filter(|it| it.contains("FULL")).count(), 1, "{lines:#?}");
    assert_eq!(spool.left().len(), 6, "nothing is lost");
    // The oldest ones make room.
    let mut service = spool.start(&["--drop-oldest", "--spool-limit", "4M"]);
    service.says("2.parquet is deleted, and is in no store");
    until("it is counted", || spool.status().1["dropped_files"] == 3);
    assert_eq!(spool.left(), ["3.parquet", "4.parquet", "5.parquet"]);
    assert!(spool.status().0, "there is room again");
    drop(service);
    let spool = Spool { to: s3.address, ..spool };
    assert!(spool.once(&limit).status.success());
    must_hold(&s3, &tables[3..]);
    assert_eq!(spool.status().1["dropped_files"], 3, "the count goes on");
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn service_goes_on_when_its_store_is_back() {
    let s3 = S3::start();
    let unused = Proxy::start(s3.address, CALM).address;
    // A port of this range is given to nobody who asks for any.
    let at = SocketAddr::from(([127, 0, 0, 1], 20_000 + unused.port() % 10_000));
    let spool = Spool::new(at);
    let trace = spool.add("es1.gapii", "x.gapii");
    let mut service = spool.start(&[]);
    service.says("trying again until it works");
    let _proxy = Proxy::start_at(at, s3.address, CALM);
    service.says("uploaded x.gapii to s3://captures/fleet/traces/day=2026-");
    service.says("uploading works again after");
    until("the status has no trouble", || spool.status().1["trouble"].is_null());
    must_hold(&s3, &[trace]);
}

#[test]
#[ignore = "needs moto; `cargo xtask check-fleet` has it"]
fn service_manager_hears_of_readiness_and_state() {
    let s3 = S3::start();
    let spool = Spool::new(s3.address);
    let folder = tempfile::tempdir().unwrap();
    let socket = UnixDatagram::bind(folder.path().join("notify")).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    let mut command = spool.command(&[]);
    command.env("NOTIFY_SOCKET", folder.path().join("notify"));
    let mut service = Service::start(command);
    let heard = |text: &str| {
        let mut message = [0; 1024];
        let end = Instant::now() + PATIENCE;
        loop {
            assert!(Instant::now() < end, "the manager hears no {text:?}");
            let bytes = socket.recv(&mut message).expect("the service tells its manager");
            let message = String::from_utf8_lossy(&message[..bytes]).into_owned();
            if message.contains(text) {
                return message;
            }
        }
    };
    heard("READY=1");
    heard("STATUS=0 files uploading, 0 waiting, 0 being written");
    spool.add("cut.gapii", "cut.gapii");
    heard("; 1 unfinished");
    let second = spool.once(&[]);
    assert_eq!(second.status.code(), Some(3));
    assert!(
        String::from_utf8(second.stderr).unwrap().contains("another gapii-upload has this spool")
    );
    kill_process(Pid::from_child(&service.child), Signal::TERM).unwrap();
    heard("STOPPING=1");
    assert!(service.child.wait().unwrap().success());
}

#[test]
fn folder_that_another_user_has_made_in_the_spool_is_not_used() {
    let spool = Spool::new(SocketAddr::from(([127, 0, 0, 1], 9)));
    // A link is somebody else's as well.
    let elsewhere = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), spool.path().join(".gapii-upload")).unwrap();
    let output = spool.once(&[]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(3) && said.contains("is not this user's folder"),
        "{said}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 0);
}

#[test]
fn folder_is_a_store_and_wrong_places_are_refused() {
    let nowhere = SocketAddr::from(([127, 0, 0, 1], 9));
    let (spool, store) = (Spool::new(nowhere), tempfile::tempdir().unwrap());
    let trace = spool.add("es1.gapii", "x.gapii");
    let upload = |to: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gapii-upload"));
        command.arg("--spool").arg(spool.path()).args(["--once", "--to", to]);
        for variable in ["AWS_ACCESS_KEY_ID", "AZURE_STORAGE_ACCOUNT_NAME"] {
            command.env_remove(variable);
        }
        command.env("AWS_SECRET_ACCESS_KEY", "secret").output().unwrap()
    };
    let cases = [
        ("s3://bucket", "AWS_ACCESS_KEY_ID is not set"),
        ("az://container/x", "AZURE_STORAGE_ACCOUNT_NAME is not set"),
        ("ftp://x/y", "its scheme is none of"),
        ("s3:///x", "it names no bucket"),
    ];
    for (place, expected) in cases {
        let output = upload(place);
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(3) && said.contains(expected), "{place}: {said}");
    }
    assert_eq!(spool.left(), ["x.gapii"]);
    let output = upload(&format!("file://{}", store.path().display()));
    assert!(output.status.success() && spool.left().is_empty(), "{output:?}");
    let uploaded = Spool { folder: store, ..spool };
    let left = uploaded.left();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(fs::read(uploaded.path().join(&left[0])).unwrap(), trace);
}
