//! Makes the pictures of docs/viewer.md: each pane of the viewer, on a scene of glmark2. Run by `cargo xtask browser
//! --screenshots`.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use gapii_browser_tests::{Browser, LIMIT};
use gapii_tests::display::Display;
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::process::Running;
use gapii_tests::wait::until;

/// Name of the picture, pane, and the rest of the place.
const PICTURES: [(&str, &str); 9] = [
    ("command", "pane=call"),
    ("state", "pane=state&section=context.default_arrays"),
    ("picture", "pane=picture"),
    ("objects", "pane=objects&object=Buffer 1&struct=f32x3"),
    ("mesh", "pane=mesh"),
    ("shaders", "pane=shaders"),
    ("statistics", "pane=statistics"),
    ("problems", "pane=problems"),
    ("compare", "pane=compare"),
];

fn record(session: &Session, display: &Display, scene: &str) -> Trace {
    let program = display.command(&["glmark2-es2", "-s", "400x300", "-b", scene]);
    let recording = session.record(&["--frames", "60", "--quit"], &program);
    recording.run.ok();
    let name = scene.split(':').nth(1).unwrap_or("scene").replace('=', "-");
    let path = session.path(&format!("{name}.gapii"));
    fs::rename(&recording.trace.path, &path).expect("a name");
    Trace::new(path)
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let folder: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/viewer");
    fs::create_dir_all(&folder).expect("a folder");
    let (display, session) = (Display::start(), Session::new());
    let phong = record(&session, &display, "shading:shading=phong:duration=60.0");
    let gouraud = record(&session, &display, "shading:shading=gouraud:duration=60.0");
    let commands = phong.commands();
    let draws = commands.iter().filter(|command| command.name == "glDrawArrays");
    let draw = draws.filter_map(|command| command.seq).nth(30).expect("a draw");
    let browser = Browser::open(&session, &[&phong.path, &gouraud.path]).await;
    for (name, place) in PICTURES {
        browser.go(&format!("at={draw}&{place}")).await;
        browser.find("#pane:not(:has(.waiting))").await;
        // Canvases are drawn with the next frame of the page.
        browser
            .run("return new Promise((ready) => requestAnimationFrame(() => requestAnimationFrame(ready)))")
            .await;
        let picture = browser.client.screenshot().await.expect("a picture");
        fs::write(folder.join(format!("{name}.png")), picture).expect("a file");
    }
    browser.close().await;
    fs::write(folder.join("live.png"), live(&session, &display).await).expect("a file");
}

/// The page of a daemon with two programs, one of which is captured.
async fn live(session: &Session, display: &Display) -> Vec<u8> {
    let traces = session.path("traces");
    fs::create_dir_all(&traces).expect("a folder of the session");
    let _daemon = session.daemon(&[]);
    let start = |program: &[&str]| {
        let mut idle = session.ctl(["run", "--idle"]);
        append(&mut idle, &display.command(program));
        Running::start(&mut idle)
    };
    let _programs = [
        start(&["glmark2-es2", "-s", "400x300", "-b", "shading:duration=60.0"]),
        start(&["glmark2-es2", "-s", "200x200", "-b", "buffer:duration=60.0"]),
    ];
    until("two programs", LIMIT, || (session.apps().len() == 2).then_some(()));
    let folder = traces.to_str().expect("a plain path");
    let browser = Browser::open_with(session, &["--live", "--folder", folder], &[]).await;
    let click = async |selector: &str| {
        browser.find(selector).await.click().await.expect("a click");
    };
    click("button[data-record]").await;
    browser.find("a[data-open=\"0\"]").await;
    browser.run("document.forms.options.elements.frames.value = ''").await;
    click("tr:last-child button[data-record]").await;
    // The sparklines have something to show.
    tokio::time::sleep(Duration::from_secs(15)).await;
    let picture = browser.client.screenshot().await.expect("a picture");
    click("button[data-stop]").await;
    browser.find("a[data-open=\"1\"]").await;
    browser.close().await;
    picture
}
