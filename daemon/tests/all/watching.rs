//! Clients that ask again and again what the daemon does, or read its status page, and applications that say hello
//! meanwhile.

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use gapii_abi::app::{AppHello, HelloReply, REPLY_LEN, reply_status};
use gapii_control::status::{self, Report};
use gapii_control::{Event, Request};

use crate::metrics;
use crate::support::{App, Daemon, LIMIT, until};

/// Number of connected applications.
const APPS: usize = 200;
/// Number of clients that ask.
const CLIENTS: usize = 4;
/// Number of hellos meanwhile.
const HELLOS: usize = 40;
/// Shortest time between two looks at all applications, in seconds: `SPACING` in `daemon/src/reporter.rs`.
const SPACING_S: f64 = 0.02;

/// Ends the clients, also if the test fails.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Says hello, and returns how long the reply took.
fn hello(daemon: &Daemon) -> Duration {
    let mut socket = UnixStream::connect(daemon.path("app.sock")).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    let hello = AppHello::new(std::process::id()).to_bytes();
    let began = Instant::now();
    socket.write_all(&hello).unwrap();
    let mut reply = [0; REPLY_LEN];
    socket.read_exact(&mut reply).unwrap();
    assert_eq!(HelloReply::from_bytes(&reply).unwrap().status, reply_status::OK);
    began.elapsed()
}

#[test]
fn questions_of_many_clients_share_looks_at_the_applications() {
    let (daemon, place) = metrics::daemon();
    let apps: Vec<App> = (0..APPS).map(|_| daemon.app()).collect();
    let (is_over, asked) = (AtomicBool::new(false), AtomicU64::new(0));
    let (slowest, looks, took) = std::thread::scope(|scope| {
        let _over = Over(&is_over);
        for _ in 0..CLIENTS {
            scope.spawn(|| {
                let mut client = daemon.client();
                while !is_over.load(Ordering::Relaxed) {
                    let Event::Apps(seen) = client.ask(&Request::Apps) else { panic!("apps") };
                    assert!(seen.len() >= APPS, "{} applications", seen.len());
                    asked.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        until("the clients to ask", || (asked.load(Ordering::Relaxed) > 8).then_some(()));
        let began = Instant::now();
        let before = metrics::sample(&place, "gapiid_reports_total");
        let slowest = (0..HELLOS).map(|_| hello(&daemon)).max().unwrap();
        let more = asked.load(Ordering::Relaxed) + 50;
        until("more answers", || (asked.load(Ordering::Relaxed) > more).then_some(()));
        let looks = metrics::sample(&place, "gapiid_reports_total") - before;
        (slowest, looks, began.elapsed())
    });
    drop(apps);
    println!("the slowest of {HELLOS} hellos took {slowest:?}; {looks} looks in {took:?}");
    assert!(looks <= took.as_secs_f64() / SPACING_S + 2.0, "{looks} looks in {took:?}");
}

/// A program that connects again and again does not fill the disk with lines about it.
#[test]
fn lines_that_applications_cause_are_limited_and_counted() {
    const LINES_MAX: usize = 100;
    const TIMES: usize = 350;
    let (daemon, place) = metrics::daemon();
    let began = Instant::now();
    for _ in 0..TIMES {
        hello(&daemon);
    }
    let periods = began.elapsed().as_secs() as usize / 10 + 1;
    let lines = |what: &str| daemon.log().lines().filter(|line| line.contains(what)).count();
    until("the lines", || {
        (lines("further lines like the one before are only counted") > 0).then_some(())
    });
    let connected = lines("is connected");
    assert!((LINES_MAX..=periods * LINES_MAX).contains(&connected), "{connected} lines");
    let left_out = metrics::sample(&place, "gapiid_log_left_out_total");
    assert!(left_out as usize >= TIMES - connected, "{left_out} lines left out");
    let written = metrics::sample(&place, "gapiid_log_lines_total");
    assert!(written as usize >= connected, "{written} lines written");
}

/// Reads the daemon's status page.
fn report(daemon: &Daemon) -> Option<Report> {
    let folder = daemon.folder.path().metadata().unwrap();
    let name = status::name(rustix::process::geteuid().as_raw(), (folder.dev(), folder.ino()));
    let file = File::open(format!("/dev/shm{name}")).unwrap();
    Report::read(|at, into| file.read_exact_at(into, at as u64)).unwrap()
}

#[test]
fn page_lacks_no_application_that_has_its_reply_without_saying_so() {
    let daemon = Daemon::serving(&[], &[]);
    let mut lacking = 0;
    for number in 0..60 {
        let mut socket = UnixStream::connect(daemon.path("app.sock")).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        socket.write_all(&AppHello::new(std::process::id()).to_bytes()).unwrap();
        socket.read_exact(&mut [0; REPLY_LEN]).unwrap();
        // The application is replaced by the next one, which has the same pid.
        let seen = |report: &Report| report.info.apps.iter().any(|app| app.process == number);
        if let Some(report) = report(&daemon).filter(|report| !seen(report)) {
            assert!(
                !report.is_current,
                "application {number} is connected: {:?}",
                report.info.apps
            );
            lacking += 1;
        }
        let current = || report(&daemon).filter(|report| report.is_current);
        let report = until("the next report", current);
        assert!(seen(&report), "application {number} is not in {:?}", report.info.apps);
    }
    println!("{lacking} of 60 applications were not on the page yet");
}
