//! `gapii-ctl report`: what the page has, that it runs nothing from a trace, and that it keeps within its size.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{ctl, one_sentence, run};
use crate::written_trace::{BEGAN_NS, WrittenTrace, range};

/// A folder with the trace `t.gapii`.
fn folder(trace: WrittenTrace) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.finish(1_000_000_000)).unwrap();
    folder
}

/// Writes a report with these options, and returns the page and the answer.
fn report(folder: &Path, options: &[&str]) -> (String, Value) {
    let words = ["report", "t.gapii", "-o", "t.html", "--force", "--json"];
    let (answer, _) = run(ctl(folder).args(words).args(options), 0);
    let page = fs::read_to_string(folder.join("t.html")).unwrap();
    let answer: Value = serde_json::from_str(&answer).unwrap();
    assert_eq!(answer["file_bytes"], page.len());
    (page, answer)
}

/// A message of the driver that the program read.
fn message(trace: &mut WrittenTrace, text: &str) {
    let args = trace.args("glGetDebugMessageLog", &[1, 99, 1, 1, 1, 1, 1, 1]);
    let word = |word: u32| word.to_le_bytes().to_vec();
    let text = format!("{text}\0").into_bytes();
    let length = word(text.len() as u32);
    let written = [word(0x8246), word(0x824C), word(1), word(0x9146), length, text];
    let ranges = (2..).zip(&written).map(|(param, bytes)| range(param, bytes));
    let answer = [&1_u64.to_le_bytes(), ranges.collect::<Vec<_>>().concat().as_slice()].concat();
    trace.call("glGetDebugMessageLog", &args, &[], &answer, &[]);
}

#[test]
fn text_of_a_trace_stays_text() {
    let mut trace = WrittenTrace::new(false);
    let evil = "</td><script>alert(1)</script><img src=x onerror=alert(2)>\u{202e}";
    message(&mut trace, evil);
    trace.swap(0, None);
    let folder = folder(trace);
    let crash = format!("thread 1 <script>alert(3)</script>\n{evil}\n");
    fs::write(folder.path().join("t.gapii.crash.txt"), crash).unwrap();
    let (page, answer) = report(folder.path(), &[]);
    assert!(page.contains("&lt;script&gt;alert(1)"), "{page}");
    assert!(page.contains("&lt;script&gt;alert(3)"), "{page}");
    assert!(!page.contains("<script") && !page.contains("<img"), "{page}");
    assert!(!page.contains('\u{202e}'), "{page}");
    // Nothing is loaded, and nothing may be.
    assert!(page.contains("default-src 'none'"), "{page}");
    for outside in ["http:", "https:", "src=\"/", "url(", "@import"] {
        assert!(!page.contains(outside), "{outside}: {page}");
    }
    assert_eq!(answer["errors"], 1);
}

#[test]
fn report_has_graphs_frames_and_problems_and_says_why_it_has_no_thumbnails() {
    let mut trace = WrittenTrace::new(false);
    let mut now_ns = BEGAN_NS;
    for frame in 0..40 {
        for _ in 0..frame {
            trace.command(0, "glFlush", &[], None);
        }
        now_ns += if frame == 33 { 90_000_000 } else { 16_000_000 };
        trace.swap_at(now_ns);
    }
    let folder = folder(trace);
    let (page, answer) = report(folder.path(), &[]);
    assert_eq!((&answer["frames"], &answer["listed_frames"]), (&40.into(), &40.into()));
    for frame in 0..40 {
        assert!(page.contains(&format!("<tr id=\"f0-{frame}\">")), "{frame}: {page}");
        assert!(page.contains(&format!("<a href=\"#f0-{frame}\"><rect")), "{frame}: {page}");
    }
    assert!(page.contains("time per frame"), "{page}");
    assert!(page.contains("frames took more than twice the median of 16.0 ms"), "{page}");
    // No driver can play these commands, which have no context.
    let why = answer["without_thumbnails"].as_str().unwrap();
    assert!(page.contains("The report has no thumbnails: "), "{page}");
    assert!(why.starts_with("The report has no thumbnails: "), "{why}");
    let (page, answer) = report(folder.path(), &["--no-thumbnails"]);
    assert_eq!(answer["without_thumbnails"], "The report was made without thumbnails.");
    assert!(page.contains("The report was made without thumbnails."), "{page}");
}

#[test]
fn ten_thousand_frames_take_less_than_five_megabytes() {
    let mut trace = WrittenTrace::new(true);
    for frame in 0..10_000 {
        if frame % 7 == 0 {
            trace.command(0, "glFlush", &[], Some(40));
        }
        trace.swap(0, Some(16_000_000 + frame));
    }
    let folder = folder(trace);
    let (page, answer) = report(folder.path(), &["--no-thumbnails"]);
    assert!((1_000_000..5_000_000).contains(&page.len()), "{} bytes", page.len());
    assert_eq!(answer["listed_frames"], 10_000);
    // The slowest frame is listed also if few are.
    let (page, answer) = report(folder.path(), &["--no-thumbnails", "--max-bytes", "300000"]);
    assert!(page.len() < 300_000 && page.contains("<tr id=\"f0-9999\">"), "{} bytes", page.len());
    assert!(page.contains(" most notable of 10,000"), "{page}");
    let listed = answer["listed_frames"].as_u64().unwrap();
    assert_eq!(page.matches("<tr id=\"f0-").count() as u64, listed);
    for link in page.split("href=\"#").skip(1) {
        let to = link.split('"').next().unwrap();
        assert!(page.contains(&format!("id=\"{to}\"")), "#{to} leads nowhere");
    }
}

#[test]
fn existing_file_is_kept_and_a_damaged_trace_reported_in_part() {
    let mut trace = WrittenTrace::new(false);
    trace.swap(0, None);
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("t.gapii"), trace.cut()).unwrap();
    let words = ["report", "t.gapii", "-o", "t.html", "--no-thumbnails"];
    let (_, stderr) = run(ctl(folder.path()).args(words), 1);
    assert!(stderr.contains("t.gapii is cut at byte"), "{stderr}");
    let page = fs::read_to_string(folder.path().join("t.html")).unwrap();
    assert!(page.contains("the trace is cut at byte"), "{page}");
    let (_, stderr) = run(ctl(folder.path()).args(words), 2);
    assert!(one_sentence(&stderr).contains("t.html exists"), "{stderr}");
    assert_eq!(fs::read_to_string(folder.path().join("t.html")).unwrap(), page);
    let (_, stderr) = run(ctl(folder.path()).args(["report", "t.gapii", "-o", "-", "--json"]), 2);
    assert!(stderr.contains("with --json the answer goes to standard output"), "{stderr}");
}
