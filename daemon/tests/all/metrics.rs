//! Metrics, as a Prometheus server would read them, and peers that are no readers.

use crate::support;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Instant;

use crate::support::{Daemon, LIMIT, capture_of};
use gapii_control::{Event, Request, StartRequest, Target};
use rustix::process::Signal;
use tempfile::TempDir;

/// Number of connections that the daemon serves at the same time.
const PLACES: usize = 8;

/// The address of the metrics, which is removed with the value.
pub struct Place(TempDir);

impl Place {
    fn path(&self) -> PathBuf {
        self.0.path().join("metrics.sock")
    }
}

/// Starts a daemon that serves metrics on a socket.
pub fn daemon() -> (Daemon, Place) {
    daemon_with(&[])
}

/// Starts a daemon with these options that serves metrics on a socket.
pub fn daemon_with(options: &[&str]) -> (Daemon, Place) {
    let place = Place(tempfile::tempdir().unwrap());
    let path = place.path();
    let metrics = ["--metrics", path.to_str().unwrap()];
    (Daemon::serving(&[&metrics[..], options].concat(), &[]), place)
}

fn answer_to(mut socket: impl Read + Write, request: &str) -> (String, String) {
    // A refused peer may be cut off while it still writes.
    let _ = socket.write_all(request.as_bytes());
    let mut bytes = Vec::new();
    let _ = socket.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    (head.to_lowercase(), body.to_owned())
}

fn connect(place: &Place) -> UnixStream {
    let socket = UnixStream::connect(place.path()).unwrap();
    socket.set_read_timeout(Some(LIMIT)).unwrap();
    socket.set_write_timeout(Some(LIMIT)).unwrap();
    socket
}

/// Returns one sample of the metrics.
pub fn sample(place: &Place, name: &str) -> f64 {
    let samples = samples(&get(place));
    *samples.get(name).unwrap_or_else(|| panic!("no {name} in {samples:#?}"))
}

/// Returns the names of all metrics.
pub fn names(place: &Place) -> BTreeSet<String> {
    let text = get(place);
    let types = text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '));
    types.map(|(name, _)| name.to_owned()).collect()
}

/// Returns the text of the metrics.
pub fn get(place: &Place) -> String {
    let (head, body) = answer_to(connect(place), "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-type: text/plain; version=0.0.4"), "{head}");
    body
}

/// Returns the samples by name and labels of a text, after checking Prometheus' format and conventions.
pub fn samples(text: &str) -> BTreeMap<String, f64> {
    let (mut families, mut samples) = (BTreeSet::new(), BTreeMap::new());
    let mut family = String::new();
    assert!(text.ends_with('\n'), "the last line is a line");
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            let (name, help) = rest.split_once(' ').unwrap();
            assert!(!help.is_empty() && families.insert(name.to_owned()), "{line}");
            family = name.to_owned();
        } else if let Some(rest) = line.strip_prefix("# TYPE ") {
            let kind = rest.strip_prefix(&format!("{family} ")).unwrap();
            assert!(kind == "counter" || kind == "gauge", "{line}");
            assert_eq!(family.ends_with("_total"), kind == "counter", "{line}");
            let scaled = ["ms", "us", "ns", "kib", "mib", "percent"];
            assert!(!family.split('_').any(|word| scaled.contains(&word)), "{line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let rest = name.strip_prefix(&family[..]).unwrap();
            let is_labelled = rest.starts_with('{') && rest.ends_with("\"}");
            assert!(rest.is_empty() || is_labelled, "{line}");
            let value: f64 = value.parse().unwrap();
            assert!(value >= 0.0, "{line}");
            assert_eq!(samples.insert(name.to_owned(), value), None, "{line}");
        }
    }
    samples
}

#[test]
fn metrics_equal_the_status() {
    let (daemon, place) = daemon();
    let mut app = daemon.app();
    let mut client = daemon.client();
    let before = samples(&get(&place));
    let check = |samples: &BTreeMap<String, f64>, expected: &[(&str, f64)]| {
        for (name, value) in expected {
            assert_eq!(samples.get(*name), Some(value), "{name} in {samples:#?}");
        }
    };
    check(
        &before,
        &[
            ("gapiid_applications", 1.0),
            ("gapiid_applications_limit", 256.0),
            ("gapiid_slots_limit", 8.0),
            ("gapiid_ring_bytes", f64::from(4 << 20)),
            ("gapiid_clients", 1.0),
            ("gapiid_captures", 0.0),
            ("gapiid_calls_total", 0.0),
            ("gapiid_captures_ended_total{reason=\"frames\"}", 0.0),
        ],
    );

    let file = tempfile::tempfile().unwrap();
    let request = StartRequest { frames: Some(3), ..capture_of(Target::Only) };
    client.start(request, &file);
    app.obey(&["wait", "thread", "frames 2 10"]);
    check(&samples(&get(&place)), &[("gapiid_captures", 1.0), ("gapiid_slots_used", 1.0)]);
    app.obey(&["frames 1 10", "end 1"]);
    client.ended();
    client.socket.write_all(&gapii_control::encode(&"Dance").unwrap()).unwrap();
    assert!(matches!(client.receive(), Event::Error(_)));
    let Event::Status(status) = client.ask(&Request::Status) else { panic!("no status") };
    let totals = status.totals;
    let after = samples(&get(&place));
    check(
        &after,
        &[
            ("gapiid_captures", 0.0),
            ("gapiid_captures_ended_total{reason=\"frames\"}", 1.0),
            ("gapiid_frames_total", 3.0),
            ("gapiid_calls_total", 33.0),
            ("gapiid_records_total", totals.records as f64),
            ("gapiid_raw_bytes_total", totals.raw_bytes as f64),
            ("gapiid_blob_bytes_total", totals.blob_bytes as f64),
            ("gapiid_stored_bytes_total", totals.stored_bytes as f64),
            ("gapiid_file_bytes_total", file.metadata().unwrap().len() as f64),
            ("gapiid_lost_calls_total", 0.0),
            ("gapiid_lost_bytes_total", 0.0),
            ("gapiid_waits_total", totals.waits as f64),
            ("gapiid_refused_total{what=\"client_message\"}", 1.0),
            ("gapiid_refused_total{what=\"ring\"}", 0.0),
        ],
    );
    assert!(after["process_resident_memory_bytes"] > f64::from(1 << 20), "{after:#?}");
    assert!(after["process_open_fds"] > 5.0, "{after:#?}");
    for (name, value) in &before {
        let is_counter = name.split('{').next().unwrap().ends_with("_total");
        assert!(!is_counter || after[name] >= *value, "{name} went back");
    }
}

#[test]
fn losses_and_refused_rings_are_counted() {
    let (daemon, place) = daemon();
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "calls 5", "drop 3", "calls 5", "record 0xff10 0 24", "end 4"]);
    client.ended();
    let samples = samples(&get(&place));
    assert_eq!(samples["gapiid_refused_total{what=\"ring\"}"], 1.0);
    assert!(samples["gapiid_lost_calls_total"] >= 3.0, "{samples:#?}");
}

#[test]
fn contents_that_are_kept_are_counted_beside_their_bound() {
    let (daemon, place) = daemon();
    let mut app = daemon.app();
    let mut client = daemon.client();
    let contents = || {
        let now = samples(&get(&place));
        (now["gapiid_contents_bytes"], now["gapiid_contents_bytes_limit"])
    };
    assert_eq!(contents(), (0.0, f64::from(256 << 20)));
    let file = tempfile::tempfile().unwrap();
    client.start(capture_of(Target::Only), &file);
    app.obey(&["wait", "thread", "send a", "send b"]);
    app.obey(&["retire", "thread", "end 4", "retire"]);
    assert_eq!(client.ended().summary.blob_bytes, 120_000);
    assert_eq!(contents(), (120_000.0, f64::from(256 << 20)));
}

#[test]
fn port_serves_metrics_alone_and_only_to_be_read() {
    let daemon = Daemon::serving(&["--metrics", "127.0.0.1:0"], &[]);
    let log = daemon.log();
    let at = log.split("http://").nth(1).and_then(|rest| rest.split('/').next());
    let address = at.unwrap_or_else(|| panic!("the log says where: {log}"));
    let check = |request: &str, status: &str, text: &str| {
        let socket = TcpStream::connect(address).unwrap();
        socket.set_read_timeout(Some(LIMIT)).unwrap();
        let (head, body) = answer_to(socket, request);
        assert!(head.starts_with(&format!("http/1.1 {status}")), "{request}: {head}");
        assert!(head.contains(text) || body.contains(text), "{request}: {head}\n{body}");
    };
    check("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200", "gapiid_applications 0\n");
    check("GET /metrics?a=b HTTP/1.1\r\nHost: x\r\n\r\n", "200", "gapiid_applications 0\n");
    check("HEAD /metrics HTTP/1.1\r\nHost: x\r\n\r\n", "200", "content-length: ");
    check("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "404", "/metrics");
    check("GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "404", "/metrics");
    check(
        "POST /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n",
        "405",
        "allow: get, head",
    );
    check("no request\r\n\r\n", "400", "");
}

#[test]
fn private_daemon_serves_no_metrics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("metrics.sock");
    let _daemon = Daemon::start(&["--metrics", path.to_str().unwrap()]);
    assert!(!path.exists());
}

#[test]
fn socket_for_metrics_is_its_owners_and_goes_with_the_daemon() {
    let (mut daemon, place) = daemon();
    assert_eq!(place.path().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    daemon.signal(Signal::TERM);
    assert!(daemon.wait().success());
    assert!(!place.path().exists());
}

#[test]
fn head_without_an_end_is_refused() {
    let (_daemon, place) = daemon();
    let long = format!("GET /metrics HTTP/1.1\r\nX: {}", "y".repeat(4 << 20));
    let (head, _) = answer_to(connect(&place), &long);
    assert!(head.is_empty() || head.starts_with("http/1.1 431"), "{head}");
    let many = format!("GET /metrics HTTP/1.1\r\n{}", "X: y\r\n".repeat(1000));
    let (head, _) = answer_to(connect(&place), &many);
    assert!(head.is_empty() || head.starts_with("http/1.1 431"), "{head}");
    get(&place);
}

#[test]
fn readers_that_stall_keep_out_neither_others_nor_captures() {
    let (daemon, place) = daemon();
    let descriptors = samples(&get(&place))["process_open_fds"];
    let silent: Vec<_> = (0..100).map(|_| connect(&place)).collect();
    for mut socket in &silent {
        socket.write_all(b"GET /met").unwrap();
    }
    // Clients and applications are served as before.
    let mut app = daemon.app();
    let mut client = daemon.client();
    let file = tempfile::tempfile().unwrap();
    let began = Instant::now();
    client.start(StartRequest { frames: Some(1), ..capture_of(Target::Only) }, &file);
    app.obey(&["wait", "thread", "frames 1 10", "end 1"]);
    assert_eq!(client.ended().summary.calls, 11);
    assert!(began.elapsed() < LIMIT / 4, "{:?}", began.elapsed());
    // Peers that stall are disconnected after a time: all get their turn, and the last one's end is seen here.
    let places = support::until("the first readers to be let go", || {
        let ended = silent.iter().filter(|socket| {
            socket.set_nonblocking(true).unwrap();
            matches!((&mut &**socket).read(&mut [0; 64]), Ok(0))
        });
        let ended = ended.count();
        (ended >= PLACES).then_some(ended)
    });
    assert!(places < silent.len(), "few are served at once");
    drop(silent);
    let now = samples(&get(&place))["process_open_fds"];
    assert!(now < descriptors + 20.0, "{now} descriptors are open, {descriptors} were");
}
