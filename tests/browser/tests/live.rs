//! The page of a daemon: programs are recorded with its buttons, and their traces are opened.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use gapii_browser_tests::{Browser, LIMIT};
use gapii_tests::attaching::run_idle;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::loading::offscreen;
use gapii_tests::process::Running;
use gapii_tests::programs::program;
use rustix::process::Signal;

fn scene() -> Command {
    offscreen(&program("threads_forever"), ["1", "3600", "20000"])
}

async fn open(session: &Session) -> Browser {
    let folder = session.path("traces");
    fs::create_dir_all(&folder).expect("a folder of the session");
    let folder = folder.to_str().expect("a plain path").to_owned();
    Browser::open_with(session, &["--live", "--folder", &folder], &[]).await
}

/// The traces in the folder, by name.
fn traces(session: &Session) -> Vec<Trace> {
    let entries = fs::read_dir(session.path("traces")).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a file").path()).collect();
    paths.sort();
    paths.into_iter().map(Trace::new).collect()
}

async fn click(browser: &Browser, selector: &str) {
    browser.find(selector).await.click().await.expect("a click");
}

/// Sets an option of captures.
async fn set_option(browser: &Browser, field: &str, value: &str) {
    let script = format!("document.forms.options.elements.{field}.value = '{value}'");
    browser.run(&script).await;
}

#[tokio::test]
async fn program_is_recorded_and_its_trace_opened() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _running = run_idle(&session, &scene());
    let browser = open(&session).await;
    browser.text_with("#programs", "threads_forever").await;

    // So many frames, with times, which those on the GPU include.
    set_option(&browser, "frames", "5").await;
    click(&browser, "input[name=gpu_timing]").await;
    browser.find("input[name=timing]:checked").await;
    click(&browser, "button[data-record]").await;
    browser.find("a[data-open=\"0\"]").await;
    browser.text_with("#recorded", "5 frames").await;

    // Until somebody stops it; the daemon shows it.
    set_option(&browser, "frames", "").await;
    click(&browser, "button[data-record]").await;
    click(&browser, "button[data-stop]").await;
    browser.find("a[data-open=\"1\"]").await;
    // The same with the button beside the trace.
    click(&browser, "#record-all").await;
    browser.find("button[data-stop]").await;
    click(&browser, "button[data-end=\"2\"]").await;
    // Whoever asks again does not make it give up its trace.
    let again = "const stop = () => fetch('api/recordings/2/stop', { method: 'POST' }); \
                 return Promise.all([stop(), stop()]).then((all) => all.map((it) => it.status))";
    assert_eq!(browser.run(again).await, serde_json::json!([204, 204]));
    browser.find("a[data-open=\"2\"]").await;

    // The page that the link leads to.
    let link = browser.attribute("a[data-open=\"0\"]", "href").await;
    assert_eq!(link, "traces/0/");
    browser.client.goto(&format!("{}{link}", browser.address)).await.expect("the page");
    let timeline = browser.attribute("#timeline canvas", "data-frames").await;
    assert_eq!(timeline, "5");
    let at = browser
        .run("return fetch('api/frames').then((it) => it.json()).then((it) => it.frames[2].seq)")
        .await;
    browser
        .client
        .goto(&format!("{}{link}#at={at}&pane=picture", browser.address))
        .await
        .expect("it");
    browser.find("#picture canvas").await;
    browser.close().await;

    let traces = traces(&session);
    assert_eq!(traces.len(), 3);
    traces.iter().for_each(Trace::verify);
    let times = &traces[0].info()["gpu_times"];
    assert!(times["commands"].as_u64().is_some_and(|commands| commands > 0), "{times}");
}

#[tokio::test]
async fn kept_frames_are_saved() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let mut keep = session.ctl(["run", "--keep-frames", "9", "--keyframe-every", "4"]);
    append(&mut keep, &scene());
    let _running = Running::start(&mut keep);
    let browser = open(&session).await;
    click(&browser, "button[data-save]:not(:disabled)").await;
    browser.find("a[data-open=\"0\"]").await;
    browser.text_with("#recorded", "kept frames").await;
    browser.close().await;
    let [trace] = &traces(&session)[..] else { panic!("one trace") };
    trace.verify();
}

#[tokio::test]
async fn page_waits_for_the_next_daemon() {
    let session = Session::new();
    let daemon = session.daemon(&[]);
    let browser = open(&session).await;
    browser.text_with("#programs", "none; start one").await;
    daemon.end();
    browser.text_with("#trouble", "gapiid").await;
    let _daemon = session.daemon(&[]);
    let _running = run_idle(&session, &scene());
    browser.text_with("#programs", "threads_forever").await;
    browser.find("#trouble[hidden]").await;
    browser.close().await;
}

/// Ctrl-C while a capture runs: the trace is whole.
#[tokio::test]
async fn viewer_that_ends_finishes_its_captures() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let _running = run_idle(&session, &scene());
    let browser = open(&session).await;
    set_option(&browser, "frames", "").await;
    click(&browser, "button[data-record]").await;
    browser.find("button[data-stop]").await;
    let capturing = session.app_in_mode("capturing");
    assert!(capturing["pid"].is_u64(), "{capturing}");
    browser.viewer.signal(Signal::INT);
    assert!(browser.viewer.ended_within(LIMIT));
    let said = browser.viewer.stderr_so_far();
    assert!(said.contains("finishing 1 recording"), "{said}");
    let [trace] = &traces(&session)[..] else { panic!("one trace") };
    trace.verify();
    trace.is_whole("stop");
}
