//! `gapii-ctl ui`: the server of the viewer. Only the page itself may ask, hostile traces end single questions, and many
//! questions at once are all answered.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;

use crate::support::ctl;
use crate::written_trace::WrittenTrace;

/// A viewer of the trace `t.gapii` in a folder, or of a daemon.
struct Viewer {
    process: Child,
    port: u16,
    token: String,
}

impl Viewer {
    fn start(folder: &Path) -> Viewer {
        Viewer::of(folder, &["t.gapii"])
    }

    fn of(folder: &Path, words: &[&str]) -> Viewer {
        let mut command = ctl(folder);
        let mut process = command.args(["ui", "--json"]).args(words).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let address = answer["address"].as_str().unwrap().strip_prefix("http://127.0.0.1:");
        let (port, path) = address.unwrap().split_once('/').unwrap();
        let token = path.strip_suffix('/').unwrap().to_owned();
        Viewer { process, port: port.parse().unwrap(), token }
    }

    /// Sends a request with these lines and returns the status and everything behind the status line.
    fn send(&self, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (first, rest) = answer.split_once("\r\n").unwrap_or((&answer, ""));
        let status = first.split(' ').nth(1).and_then(|status| status.parse().ok());
        (status.unwrap_or_default(), rest.to_owned())
    }

    fn get_with(&self, path: &str, headers: &str) -> (u16, String) {
        self.send(&format!("GET {path} HTTP/1.1\r\nConnection: close\r\n{headers}\r\n"))
    }

    /// Asks as the page does.
    fn get(&self, path: &str) -> (u16, String) {
        let path = format!("/{}/{path}", self.token);
        self.get_with(&path, &format!("Host: 127.0.0.1:{}\r\n", self.port))
    }

    fn post(&self, path: &str, headers: &str, body: &str) -> (u16, String) {
        let (port, token, length) = (self.port, &self.token, body.len());
        self.send(&format!(
            "POST /{token}/{path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
        ))
    }

    fn json(&self, path: &str) -> Value {
        let (status, answer) = self.get(path);
        assert_eq!(status, 200, "{path}: {answer}");
        let body = answer.split_once("\r\n\r\n").unwrap().1;
        serde_json::from_str(&body[body.find('{').unwrap()..=body.rfind('}').unwrap()]).unwrap()
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let pid = Pid::from_child(&self.process);
        kill_process(pid, Signal::TERM).unwrap();
        let status = self.process.wait().unwrap();
        if !std::thread::panicking() {
            assert_eq!(status.code(), Some(0));
        }
    }
}

fn folder() -> TempDir {
    let mut trace = WrittenTrace::new(false);
    trace.command(0, "glFlush", &[], None);
    trace.swap(0, None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000)).unwrap();
    folder
}

#[test]
fn page_and_answers_are_served() {
    let folder = folder();
    let viewer = Viewer::start(folder.path());
    let (status, page) = viewer.get("");
    assert_eq!(status, 200);
    assert!(page.contains("main.js") && page.contains("content-security-policy"), "{page}");
    assert_eq!(viewer.get("panes/state.js").0, 200);
    assert_eq!(viewer.json("api/frames")["frames"][0]["seq"], 1);
    assert_eq!(viewer.json("api/commands?from=1&to=2")["name"], "eglSwapBuffers");
    assert_eq!(viewer.json("api/state?at=1&section=context.viewport")["seq"], 1);
    // The tool's own sentence.
    let (status, refusal) = viewer.get("api/state?at=7");
    assert!(status == 200 && refusal.contains("has no command 7; its last one is 1"), "{refusal}");
    let (status, refusal) = viewer.get("api/differences");
    assert!(status == 200 && refusal.contains("gapii-ctl ui FILE OTHER"), "{refusal}");
}

#[test]
fn requests_of_others_are_refused() {
    let folder = folder();
    let viewer = Viewer::start(folder.path());
    let (port, token) = (viewer.port, &viewer.token);
    let here = format!("Host: 127.0.0.1:{port}\r\n");
    let other_token = token.replace(|_: char| true, "0");
    for path in ["/", "/api/info", "/main.js", &format!("/{other_token}/"), &format!("//{token}/")]
    {
        assert_eq!(viewer.get_with(path, &here).0, 403, "{path}");
    }
    let path = format!("/{token}/api/info");
    for headers in [
        "Host: gapii.example\r\n".to_owned(),
        format!("Host: gapii.example:{port}\r\n"),
        "Host: 127.0.0.1\r\n".to_owned(),
        format!("{here}Origin: http://gapii.example\r\n"),
        format!("{here}Origin: null\r\n"),
        format!("{here}Host: gapii.example\r\n"),
    ] {
        let (status, answer) = viewer.get_with(&path, &headers);
        assert!(matches!(status, 400 | 403), "{headers}: {status} {answer}");
        assert!(!answer.contains("commands"), "{answer}");
    }
    let (status, _) = viewer.get_with(&path, &format!("{here}Origin: http://127.0.0.1:{port}\r\n"));
    assert_eq!(status, 200);
}

#[test]
fn paths_lead_to_no_other_files() {
    let folder = folder();
    let viewer = Viewer::start(folder.path());
    for path in [
        "../t.gapii",
        "panes/../../t.gapii",
        "%2e%2e/%2e%2e/etc/passwd",
        "panes/%2e%2e/main.js",
        "api/pictures/1/..%2f..%2f..%2fetc%2fpasswd",
        "api/objects/1/%2fetc%2fpasswd",
        "/etc/passwd",
        "index.html",
    ] {
        let (status, answer) = viewer.get(path);
        assert!(matches!(status, 200 | 400 | 403 | 404), "{path}: {status}");
        assert!(!answer.contains("root:") && !answer.contains("import "), "{path}: {answer}");
    }
    // Numbers that are none, and options in values.
    for path in ["api/state?at=x", "api/state", "api/pictures/-1", "api/commands?from=1&top=0x"] {
        assert_eq!(viewer.get(path).0, 400, "{path}");
    }
    let (_, answer) = viewer.get("api/commands?match=--help&top=1");
    assert!(!answer.contains("Usage"), "{answer}");
}

#[test]
fn thousand_requests_at_once_are_answered() {
    let folder = folder();
    let viewer = Viewer::start(folder.path());
    let request = |path: &str| {
        let (port, token) = (viewer.port, &viewer.token);
        format!(
            "GET /{token}/{path} HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\n\r\n"
        )
    };
    let connect = |at: usize| {
        let mut stream = TcpStream::connect(("127.0.0.1", viewer.port)).unwrap();
        // Each fiftieth asks the tool.
        let path = if at.is_multiple_of(50) { "api/frames" } else { "main.js" };
        stream.write_all(request(path).as_bytes()).unwrap();
        stream
    };
    let streams: Vec<_> = (0..1000).map(connect).collect();
    for (at, mut stream) in streams.into_iter().enumerate() {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "request {at}: {answer}");
    }
}

#[test]
fn hostile_traces_end_questions_and_not_the_viewer() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../protocol/fuzz/corpus/trace_file");
    let folder = tempfile::tempdir().unwrap();
    let mut tried = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        fs::copy(entry.unwrap().path(), folder.path().join("t.gapii")).unwrap();
        // A file that is no trace at all is refused before anything is served.
        let opens = ctl(folder.path()).args(["frames", "t.gapii"]).stderr(Stdio::null()).status();
        if opens.unwrap().code() == Some(3) {
            continue;
        }
        let mut probe = ctl(folder.path());
        let mut served =
            probe.args(["ui", "t.gapii", "--json"]).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(served.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        // Asked to end, it removes its folder. One that has ended already cannot be asked.
        _ = kill_process(Pid::from_child(&served), Signal::TERM);
        served.wait().unwrap();
        if line.is_empty() {
            continue;
        }
        let viewer = Viewer::start(folder.path());
        for path in ["api/info", "api/frames", "api/commands", "api/state?at=3", "api/statistics"] {
            let (status, answer) = viewer.get(path);
            assert_eq!(status, 200, "{path}: {answer}");
        }
        assert_eq!(viewer.get("").0, 200);
        tried += 1;
    }
    assert!(tried > 0, "no file of the corpus can be opened");
}

#[test]
fn page_of_a_daemon_says_when_there_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = Viewer::of(folder.path(), &["--live"]);
    let (status, page) = viewer.get("");
    assert!(status == 200 && page.contains("live.js"), "{page}");
    let (status, answer) = viewer.get("api/watch");
    assert!(status == 200 && answer.contains("error") && answer.contains("gapiid"), "{answer}");
    // A recording that cannot begin has the tool's sentence.
    assert_eq!(viewer.post("api/recordings", "", r#"{"pid":1}"#).0, 201);
    let ended = (0..500).find_map(|_| {
        let (_, answer) = viewer.get("api/recordings");
        let has_ended = answer.contains("\"ending\":{");
        (!has_ended).then(|| std::thread::sleep(std::time::Duration::from_millis(10)));
        has_ended.then_some(answer)
    });
    assert!(ended.unwrap().contains("gapiid"));
    let (status, answer) = viewer.get("traces/0/");
    assert!(status == 200 && answer.contains("has left no trace"), "{answer}");
}

#[test]
fn orders_of_others_and_unknown_ones_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let viewer = Viewer::of(folder.path(), &["--live"]);
    let order = r#"{"pid":1}"#;
    let foreign = "Origin: http://gapii.example\r\n";
    assert_eq!(viewer.post("api/recordings", foreign, order).0, 403);
    assert_eq!(viewer.get_with("/api/recordings", "Host: 127.0.0.1\r\n").0, 403);
    for order in [r#"{"pid":1,"output":"/tmp/x"}"#, r#"{"pid":"--help"}"#, r#"{"frames":-1}"#] {
        assert_eq!(viewer.post("api/recordings", "", order).0, 422, "{order}");
    }
    assert_eq!(viewer.post("api/recordings", "", "{").0, 400);
    for path in ["api/recordings/7/stop", "api/kept/7", "traces/7/"] {
        assert_eq!(viewer.post(path, "", "").0 / 100, 4, "{path}");
    }
    for path in ["traces/7/", "traces/7/api/info", "traces/x/", "traces/../live.js"] {
        assert_eq!(viewer.get(path).0, 404, "{path}");
    }
    let answer = viewer.get("api/recordings").1;
    assert!(answer.ends_with("[]"), "nothing was begun: {answer}");
}

#[test]
fn folder_for_traces_must_be_one() {
    let folder = folder();
    let refused = |words: &[&str]| {
        let output = ctl(folder.path()).arg("ui").args(words).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let (status, sentence) = refused(&["--live", "--folder", "t.gapii"]);
    assert!(status == Some(3) && sentence.contains("t.gapii is no folder"), "{sentence}");
    for words in [&["--live", "t.gapii"][..], &["t.gapii", "--folder", "."], &[]] {
        assert_eq!(refused(words).0, Some(2), "{words:?}");
    }
}
