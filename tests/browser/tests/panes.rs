//! Every pane of the viewer, on traces of all kinds.

use std::fs;
use std::process::Command;

use gapii_browser_tests::{Browser, LIMIT};
use gapii_tests::attaching::{attach, run_idle};
use gapii_tests::display::{Display, surfaceless};
use gapii_tests::gapii::{Session, Trace, append};
use gapii_tests::level_zero::on_null_driver;
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Running, run};
use gapii_tests::programs::{TESTGLES2, level_zero, program};
use gapii_tests::replays::replay;
use gapii_tests::wait::until;

const PANES: [&str; 9] =
    ["call", "state", "picture", "objects", "mesh", "shaders", "statistics", "problems", "compare"];

/// The number of the last command of this name.
fn last(trace: &Trace, name: &str) -> u64 {
    let commands = trace.commands();
    let found = commands.iter().rev().find(|command| command.name == name);
    found.and_then(|command| command.seq).unwrap_or_else(|| panic!("no {name}"))
}

fn frames(trace: &Trace) -> usize {
    trace.info()["frames"].as_u64().expect("a number") as usize
}

/// Goes through all panes at a command: each shows something, and no error but the expected ones.
async fn every_pane_at(browser: &Browser, seq: u64, refused: &[(&str, &str)]) {
    for pane in PANES {
        browser.go(&format!("at={seq}&pane={pane}")).await;
        browser.find(&format!("#pane[data-pane={pane}] > *")).await;
        browser.find(&format!("#tab-{pane}[aria-selected=true]")).await;
        browser.find("#pane:not(:has(.waiting))").await;
        let error = browser.text("#pane p.error").await;
        match refused.iter().find(|(name, _)| *name == pane) {
            Some((_, words)) => assert!(error.contains(words), "{pane}: {error}"),
            None => assert_eq!(error, "", "{pane}"),
        }
    }
}

/// Checks that the picture pane has the bytes that `gapii-ctl replay --at` writes.
async fn pictures_are_those_of_replay(
    browser: &Browser,
    session: &Session,
    trace: &Trace,
    seq: u64,
) {
    let folder = session.path(&format!("at-{seq}"));
    let options = ["--depth", "--at", &seq.to_string(), "--images"];
    run(replay(session, &trace.path, &options).arg(&folder)).ok();
    browser.go(&format!("at={seq}&pane=picture")).await;
    browser.find("#picture canvas").await;
    let mut compared = 0;
    for entry in fs::read_dir(&folder).expect("pictures") {
        let entry = entry.expect("a picture");
        let name = entry.file_name().into_string().expect("a plain name");
        let shown = browser.bytes(&format!("api/pictures/{seq}/{name}")).await;
        assert!(shown == fs::read(entry.path()).expect("a file"), "{name} differs");
        compared += 1;
    }
    assert!(compared > 0, "no picture of {seq}");
}

/// The pixels of the canvas in a part of the page, as a list of numbers.
async fn colours(browser: &Browser, selector: &str) -> Vec<u64> {
    let script = format!(
        "const canvas = document.querySelector('{selector}'); \
         return Array.from(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data)"
    );
    let pixels = browser.run(&script).await;
    pixels.as_array().expect("pixels").iter().filter_map(serde_json::Value::as_u64).collect()
}

#[tokio::test]
async fn program_made_for_the_viewer() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("viewed"), ["12"]));
    recording.run.ok();
    let trace = recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    assert_eq!(browser.attribute("#timeline canvas", "data-frames").await, "12");
    let draw = last(&trace, "glDrawElements");
    every_pane_at(&browser, draw, &[]).await;
    pictures_are_those_of_replay(&browser, &session, &trace, draw).await;

    // The end of a frame, of a trace without times.
    browser.go(&format!("at={}&pane=call", last(&trace, "eglSwapBuffers"))).await;
    browser.find("#arguments").await;
    assert_eq!(browser.text("#slowest").await, "");

    browser.go(&format!("at={draw}&pane=call")).await;
    // The list: the frame is open, the groups are rows, and the command is selected.
    browser.find(&format!("#commands .row[data-seq=\"{draw}\"][aria-selected=true]")).await;
    browser.text_with("#commands", "the cube").await;

    // Text of the trace is text.
    let title = browser.client.title().await.expect("a title");
    assert!(title.ends_with("– gapii"), "{title}");
    browser.go(&format!("at={draw}&pane=objects")).await;
    browser.text_with("#objects", "<script>document.title = 'run'</script>").await;
    let push = last(&trace, "glPushDebugGroup") - 3;
    browser.go(&format!("at={push}&pane=call")).await;
    browser.text_with("#arguments", "onerror=").await;
    assert_eq!(browser.client.title().await.expect("a title"), title);

    // State: what a command changed, and a section.
    let uniform = last(&trace, "glUniform2f");
    browser.go(&format!("at={uniform}&pane=state")).await;
    browser.text_with("#changes", "uniforms").await;
    browser.go(&format!("at={uniform}&pane=state&section=context.clear_color")).await;
    browser.text_with("#contents", "[0.2").await;

    // The draw's own contribution: what it has covered.
    browser.go(&format!("at={draw}&pane=picture&when=difference")).await;
    let text = browser.text_with("#changed", "pixels differ").await;
    let covered: u64 =
        text.split(' ').next().unwrap_or_default().replace(',', "").parse().expect("a number");
    assert!((100..96 * 64).contains(&covered), "{text}");
    // The pixel in the middle, which is clicked: cleared and drawn.
    browser.go(&format!("at={draw}&pane=picture")).await;
    browser.find("#picture canvas").await.click().await.expect("a click");
    let changes = browser.text_with("#pixel-changes", "glDrawElements").await;
    assert!(changes.contains("glClear") && changes.contains(&draw.to_string()), "{changes}");
    browser.go(&format!("at={draw}&pane=picture&attachment=depth")).await;
    browser.find("#picture canvas").await;
    assert!(colours(&browser, "#picture canvas").await.iter().any(|it| !matches!(it, 0 | 255)));

    // Objects: levels of a texture, faces of a cube map, a buffer by a struct.
    browser.go(&format!("at={draw}&pane=objects&object=Texture 1")).await;
    browser.find("#contents details:nth-of-type(4) summary").await;
    assert!(browser.text("#contents details[open]").await.starts_with("level 0"));
    browser.text_with("#objects", "GL_TEXTURE_2D, 8 × 8, GL_RGBA").await;
    browser.go(&format!("at={draw}&pane=objects&object=Buffer 1&struct=f32x3 f32x3")).await;
    browser.text_with("#buffer", "[-0.5, -0.5, 0.5]").await;
    browser.text_with("#history", "glGenBuffers").await;
    browser.go(&format!("at={draw}&pane=objects&object=Buffer 1")).await;
    browser.text_with("#layouts", "as vertices: f32x3 f32x3").await;
    browser.find("#layouts a").await.click().await.expect("a click");
    browser.text_with("#buffer", "[-0.5, -0.5, 0.5]").await;
    // What fills an object need not name it.
    browser.go(&format!("at={draw}&pane=objects&object=Texture 2&act=fills")).await;
    let filled = browser.text_with("#history", "glTexImage2D").await;
    assert_eq!(filled.matches("glTexImage2D").count(), 6, "{filled}");

    // The mesh: 12 triangles of 8 vertices.
    browser.go(&format!("at={draw}&pane=mesh")).await;
    assert_eq!(browser.attribute("#pane canvas", "data-edges").await, "36");
    assert!(colours(&browser, "#pane canvas").await.iter().any(|it| *it != 0));

    // Shaders, with the uniform's name and value.
    browser.go(&format!("at={draw}&pane=shaders")).await;
    browser.text_with("details[data-program] .uniforms", "turn").await;
    browser.text_with("details[data-program]", "gl_FragColor").await;

    // An argument that names an object leads to it.
    let bind = last(&trace, "glUseProgram");
    browser.go(&format!("at={bind}&pane=call")).await;
    browser.find("#arguments a").await.click().await.expect("a click");
    browser.find("#tab-shaders[aria-selected=true]").await;
    browser.find("details[data-program=\"Program 1\"][open]").await;

    // Finding commands.
    browser.go(&format!("at={draw}&pane=call")).await;
    let field = browser.find("input[name=match]").await;
    field.send_keys("GL_TRIANGLES\n").await.expect("keys");
    browser.text_with("#found", "12 found").await;
    browser.find("#clear").await.click().await.expect("a click");
    browser.find("#jump").await.send_keys("3\n").await.expect("keys");
    browser.find("#commands .row[data-seq=\"3\"][aria-selected=true]").await;
    browser.close().await;
}

#[tokio::test]
async fn glmark2() {
    let (display, session) = (Display::start(), Session::new());
    let program = display.command(&["glmark2-es2", "-s", "200x200", "-b", "shading:duration=60.0"]);
    let recording = session.record(&["--frames", "10", "--quit", "--timing"], &program);
    recording.run.ok();
    let trace = recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    assert_eq!(browser.attribute("#timeline canvas", "data-frames").await, "10");
    let draw = last(&trace, "glDrawArrays");
    every_pane_at(&browser, draw, &[]).await;
    pictures_are_those_of_replay(&browser, &session, &trace, draw).await;
    browser.go(&format!("at={}&pane=call", last(&trace, "eglSwapBuffers"))).await;
    browser.text_with("#slowest", "slowest commands of frame 9").await;
    browser.text_with("#slowest", "glDrawArrays").await;
    browser.close().await;
}

#[tokio::test]
async fn sdl_program_compared_with_itself() {
    let (display, session) = (Display::start(), Session::new());
    let program = display.command(TESTGLES2);
    let record = |frames: &str| {
        let recording = session.record(&["--frames", frames, "--quit"], &program);
        recording.run.ok();
        let path = session.path(&format!("{frames}.gapii"));
        fs::rename(&recording.trace.path, &path).expect("a name");
        Trace::new(path)
    };
    let (one, other) = (record("20"), record("21"));
    let browser = Browser::open(&session, &[&one.path, &other.path]).await;
    assert_eq!(browser.attribute("#timeline canvas", "data-frames").await, "20");
    let draw = last(&one, "glDrawArrays");
    every_pane_at(&browser, draw, &[]).await;
    pictures_are_those_of_replay(&browser, &session, &one, draw).await;
    browser.go("pane=compare").await;
    browser.text_with("#causes", "eglSwapBuffers").await;
    // The same command of both: the pictures are equal.
    browser.go(&format!("pane=compare&a={draw}&b={draw}")).await;
    browser.text_with("#beside", "difference: 0 pixels").await;
    // The commands of both, with their arguments.
    browser.go(&format!("pane=compare&first-a={draw}&first-b={draw}")).await;
    browser.text_with("#first", &format!("A: {draw} glDrawArrays(mode")).await;
    browser.text_with("#first", &format!("B: {draw} glDrawArrays(mode")).await;
    browser.close().await;
}

#[tokio::test]
async fn level_zero_program() {
    let session = Session::new();
    let mut program = on_null_driver(&level_zero("pipeline"));
    let recording = session.record(&[], program.arg("3"));
    recording.run.ok();
    let trace = recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    let count = trace.info()["commands"].as_u64().expect("a number");
    let no_picture = [("picture", ""), ("objects", ""), ("mesh", "")];
    every_pane_at(&browser, count / 2, &no_picture).await;
    browser.text_with("#commands", "ze").await;
    browser.close().await;
}

#[tokio::test]
async fn two_processes() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let trace = Trace::new(session.path("two.gapii"));
    let scene = offscreen(&program("threads_forever"), ["1", "3600", "20000"]);
    let first = run_idle(&session, &scene);
    let mut second = session.ctl(["run", "--idle"]);
    append(&mut second, &scene);
    let second = Running::start(&mut second);
    until("two programs", LIMIT, || {
        let apps = session.apps();
        (apps.len() == 2 && apps.iter().all(|app| app["mode"] == "idle")).then_some(())
    });
    let mut start = session.ctl(["start", "--all", "--frames", "4", "-o"]);
    run(start.arg(&trace.path)).ok();
    drop([first, second]);
    assert_eq!(trace.info()["processes"].as_array().map(Vec::len), Some(2));
    let browser = Browser::open(&session, &[&trace.path]).await;
    let shown: usize =
        browser.attribute("#timeline canvas", "data-frames").await.parse().expect("a number");
    assert_eq!(shown, frames(&trace));
    browser.text_with("#commands", "of process 1").await;
    every_pane_at(&browser, last(&trace, "eglSwapBuffers") - 1, &[("mesh", "select a draw")]).await;
    browser.close().await;
}

#[tokio::test]
async fn attached_program() {
    let session = Session::new();
    let _daemon = session.daemon(&[]);
    let scene = offscreen(&program("threads_forever"), ["1", "3600", "20000"]);
    let running = run_idle(&session, &scene);
    let trace = attach(&session, "attached.gapii", "4");
    drop(running);
    let browser = Browser::open(&session, &[&trace.path]).await;
    let draw = last(&trace, "glDrawArrays");
    every_pane_at(&browser, draw, &[]).await;
    pictures_are_those_of_replay(&browser, &session, &trace, draw).await;
    // The commands of the snapshot are those of the shim.
    browser.go("at=2&pane=call").await;
    browser.text_with("#commands .setup", "(").await;
    browser.close().await;
}

/// Pictures in the middle of a long trace come from a part that was cut out.
#[tokio::test]
async fn pictures_of_a_part_are_those_of_the_whole() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("viewed"), ["80"]));
    let trace = recording.trace;
    let browser = Browser::open_with(&session, &["--whole-below", "0"], &[&trace.path]).await;
    let draws: Vec<u64> = trace
        .commands()
        .iter()
        .filter(|command| command.name == "glDrawElements")
        .filter_map(|command| command.seq)
        .collect();
    for frame in [3, 30, 31, 59, 60, 79] {
        pictures_are_those_of_replay(&browser, &session, &trace, draws[frame]).await;
    }
    let names = browser.run("return fetch('api/pictures/' + location.hash.match(/at=(\\d+)/)[1]).then((it) => it.json())").await;
    // So are the commands that changed a pixel.
    let asked = format!(
        "return fetch('api/pixel?at={}&x=48&y=32&attachment=0').then((it) => it.json())",
        draws[59]
    );
    let in_part = browser.run(&asked).await;
    let mut pixel = session.ctl(["pixel", "--json", "--pixel", "48,32", "--at"]);
    surfaceless(pixel.arg(draws[59].to_string()).arg(&trace.path));
    let whole = run(&mut pixel).ok().stdout;
    let whole: serde_json::Value = serde_json::from_str(&whole).expect("one line of JSON");
    let numbers = |it: &serde_json::Value| {
        let changes = it["changes"].as_array().expect("a list").clone();
        changes.iter().map(|it| it["seq"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&in_part), numbers(&whole));
    assert_eq!(in_part["at"], whole["at"]);
    let first = names["files"][0]["name"].as_str().expect("a name");
    assert_eq!(first, format!("at-{:06}-color0.png", draws[79]));
    browser.close().await;
}

/// The page loads nothing from elsewhere: the same trace in a browser without any network at all.
#[tokio::test]
async fn page_is_its_own() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("viewed"), ["2"]));
    let browser = Browser::open(&session, &[&recording.trace.path]).await;
    let loaded =
        browser.run("return performance.getEntriesByType('resource').map((it) => it.name)").await;
    let loaded = loaded.as_array().expect("a list");
    assert!(loaded.len() > 10, "{loaded:?}");
    for name in loaded {
        assert!(name.as_str().expect("an address").starts_with(&browser.address), "{name}");
    }
    browser.close().await;
}

#[test]
fn viewer_needs_no_display() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("viewed"), ["1"]));
    let mut ui: Command = session.ctl(["ui"]);
    surfaceless(ui.arg(&recording.trace.path));
    let viewer = Running::start(&mut ui);
    let address = until("an address", LIMIT, || viewer.stdout_line());
    assert!(address.starts_with("http://127.0.0.1:"), "{address}");
}
