//! The tracks below the timeline: threads, and what happened to them.

use std::collections::BTreeMap;

use gapii_browser_tests::Browser;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::programs::program;
use serde_json::Value;

/// What `gapii-ctl threads` lists of a kind.
fn listed(trace: &Trace, list: &str, kind: &str) -> Vec<Value> {
    let threads = trace.ask("threads", &["--json"]).ok();
    let threads: Value = serde_json::from_str(&threads.stdout).expect("a document");
    let all = threads[list].as_array().expect("a list").iter();
    all.filter(|it| it["kind"] == kind).cloned().collect()
}

/// Moves the pointer over the first track, and returns the tooltips with where each is seen first.
async fn tooltips(browser: &Browser) -> BTreeMap<String, f64> {
    let script = "
        const canvas = document.querySelector('#tracks canvas');
        const { left, top, width } = canvas.getBoundingClientRect();
        const seen = {};
        for (let x = 0; x < width; x += 0.5) {
          canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + x, clientY: top + 8 }));
          if (canvas.title !== '') seen[canvas.title] ??= x;
        }
        return seen";
    let seen = browser.run(script).await;
    let seen = seen.as_object().expect("an object").iter();
    seen.map(|(title, x)| (title.clone(), x.as_f64().expect("a number"))).collect()
}

/// Clicks where a tooltip is seen, and returns the command that the page then has.
async fn clicked(browser: &Browser, x: f64) -> u64 {
    let script = format!(
        "const canvas = document.querySelector('#tracks canvas');
         const {{ left, top }} = canvas.getBoundingClientRect();
         const at = {{ clientX: left + {x}, clientY: top + 8, bubbles: true }};
         canvas.dispatchEvent(new PointerEvent('pointerdown', at));
         canvas.dispatchEvent(new PointerEvent('pointerup', at));
         return location.hash"
    );
    let hash = browser.run(&script).await;
    let hash = hash.as_str().expect("a text");
    let at = hash.split(['#', '&']).find_map(|part| part.strip_prefix("at="));
    at.and_then(|at| at.parse().ok()).unwrap_or_else(|| panic!("no command in {hash}"))
}

#[tokio::test]
async fn threads_have_tracks_with_what_happened_to_them() {
    let session = Session::new();
    let keep = ["--keep-frames", "9", "--keyframe-every", "4"];
    let recording = session.record(&keep, &offscreen(&program("viewed"), ["30"]));
    recording.run.clone().ok();
    let trace = &recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    browser.find("#tracks canvas[data-events]").await;
    assert_eq!(browser.attribute("#tracks canvas", "data-threads").await, "1");
    let (holds, groups) = (listed(trace, "events", "hold"), listed(trace, "marks", "group"));
    let keyframes = listed(trace, "events", "keyframe");
    let events = holds.len() + keyframes.len() + groups.len();
    assert!(!holds.is_empty() && !keyframes.is_empty() && !groups.is_empty());
    let drawn = browser.attribute("#tracks canvas", "data-events").await;
    assert_eq!(drawn, events.to_string());

    let tooltips = tooltips(&browser).await;
    let seen = |words: &str| tooltips.iter().find(|(title, _)| title.starts_with(words));
    let number = |it: &Value| it["seq"].as_u64().expect("it has a place");
    let (_, hold) = seen("held for a snapshot for ").unwrap_or_else(|| panic!("{tooltips:?}"));
    let at = clicked(&browser, *hold).await;
    assert!(holds.iter().any(|it| number(it) == at), "{at} {holds:?}");
    let (_, group) = seen("group for ").unwrap_or_else(|| panic!("{tooltips:?}"));
    let at = clicked(&browser, *group).await;
    assert!(groups.iter().any(|it| number(it) == at), "{at} {groups:?}");
    // The texts of the program are texts.
    assert!(tooltips.keys().any(|it| it.contains("<script>")), "{tooltips:?}");
    assert_ne!(browser.run("return document.title").await, "run");
    assert!(tooltips.keys().any(|it| it.contains(" in frame ")), "{tooltips:?}");

    browser.find("#show-tracks").await.click().await.expect("a click");
    browser.find("#tracks[hidden]").await;
}
