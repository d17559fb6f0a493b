//! Every pane of the viewer, on traces of all kinds.

use std::fs;
use std::process::Command;

use gapii_browser_tests::{Browser, LIMIT};
use gapii_tests::attaching::{attach, run_idle};
use gapii_tests::display::{Display, surfaceless};
use gapii_tests::gapii::{Session, Trace};
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

/// Checks that a step of the wheel moves by three rows in a list of ten million, and that the scroll bar goes anywhere in it.
async fn wheel_moves_by_rows(browser: &Browser) {
    let script = "
        const { Commands } = await import(new URL('commands.js', location.href.split('#')[0]));
        const host = document.createElement('section');
        host.id = 'commands';
        host.style = 'position: fixed; inset: 0; height: 400px';
        document.body.append(host);
        const list = new Commands(host, { first_seq: 0, end_seq: 10_000_000, frames: [] });
        const top = () => Number(list.list.querySelector('[data-seq]').dataset.seq);
        const wheel = (deltaY) => list.scroller.dispatchEvent(new WheelEvent('wheel', { deltaY, cancelable: true }));
        const seen = [top()];
        // The first row is that of the frame.
        for (const deltaY of [120, 120, 120, -120]) { wheel(deltaY); seen.push(top()); }
        list.scroller.scrollTop = list.scroller.scrollHeight / 2;
        await new Promise((ready) => list.scroller.addEventListener('scroll', ready, { once: true }));
        const middle = top();
        for (const deltaY of [120, -120, -120]) { wheel(deltaY); seen.push(top() - middle); }
        list.scroller.scrollTop = list.scroller.scrollHeight;
        await new Promise((ready) => list.scroller.addEventListener('scroll', ready, { once: true }));
        seen.push(Number(list.list.querySelector('.row:last-child').dataset.seq));
        // Rows that are laid out anew before the event of the scroll bar comes do not undo its move.
        list.scroller.scrollTop = 0;
        list.form.querySelector('#clear').click();
        seen.push(list.scroller.scrollTop);
        host.remove();
        return [seen, middle]";
    let script = format!("return (async () => {{ {script} }})()");
    let found = browser.run(&script).await;
    let seen = serde_json::json!([0, 2, 5, 8, 5, 3, 0, -3, 9_999_999, 0]);
    assert_eq!(found[0], seen, "{found}");
    let middle = found[1].as_u64().expect("a number");
    assert!((4_990_000..5_010_000).contains(&middle), "{middle}");
}

/// The pixel in the page's address, from the lower left corner.
async fn clicked_pixel(browser: &Browser) -> (u32, u32) {
    let script = "return new URLSearchParams(location.hash.slice(1)).get('pixel')";
    let pixel = browser.run(script).await;
    let (x, y) = pixel.as_str().and_then(|it| it.split_once(',')).expect("a pixel");
    (x.parse().expect("a number"), y.parse().expect("a number"))
}

/// Where the mark is in the picture, in its pixels.
async fn mark_of_the_pixel(browser: &Browser) -> [f64; 2] {
    let script = "
        const picture = document.querySelector('#picture canvas').getBoundingClientRect();
        const mark = document.querySelector('#picture .mark').getBoundingClientRect();
        return [mark.left + mark.width / 2 - picture.left, mark.top + mark.height / 2 - picture.top]";
    let place = browser.run(script).await;
    [&place[0], &place[1]].map(|it| it.as_f64().expect("a number"))
}

/// Checks the axis of a timeline of twelve frames, and the tooltip of the last one.
async fn frames_have_their_numbers(browser: &Browser) {
    let axis = async || browser.attribute("#timeline canvas", "data-axis").await;
    assert_eq!(axis().await, "0 1 2 3 4 5 6 7 8 9 10 11");
    let script = "
        const canvas = document.querySelector('#timeline canvas');
        const { right, top } = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: right - 2, clientY: top + 8 }));
        return canvas.title";
    let title = browser.run(script).await;
    assert!(title.as_str().expect("a text").starts_with("frame 11: "), "{title}");
    // Where they do not fit, they are round.
    browser.run("document.querySelector('#timeline').style.width = '160px'").await;
    let narrow = browser.run("return new Promise((ready) => setTimeout(() => ready(document.querySelector('#timeline canvas').dataset.axis), 300))").await;
    assert_eq!(narrow, "0 5 10");
    browser.run("document.querySelector('#timeline').style.width = ''").await;
}

#[tokio::test]
async fn program_made_for_the_viewer() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("viewed"), ["12"]));
    recording.run.ok();
    let trace = recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    assert_eq!(browser.attribute("#timeline canvas", "data-frames").await, "12");
    frames_have_their_numbers(&browser).await;
    wheel_moves_by_rows(&browser).await;
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
    // A debug group is one row when it is closed.
    let group = last(&trace, "glUseProgram") - 1;
    let fold = format!("#commands .row[data-seq=\"{group}\"] .fold");
    browser.find(&fold).await.click().await.expect("a click");
    let closed = browser.text_with("#commands .row.group", "the cube").await;
    assert_eq!(closed, "▸the cube: 5 commands");
    browser.find("#commands .row.group").await.click().await.expect("a click");
    browser.find(&format!("#commands .row[data-seq=\"{draw}\"]")).await;

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
    // Sections are in groups; those with their initial values are found by the filter. What is open stays open.
    let opened = browser.text_with("#contents", "viewport").await;
    assert!(opened.contains("objects of share groups") && !opened.contains("stencil"), "{opened}");
    browser.find("#filter").await.send_keys("clear sten").await.expect("keys");
    browser.text_with("#contents", "clear_stencil").await;
    browser
        .find("details[data-section=\"context.clear_stencil\"] > summary")
        .await
        .click()
        .await
        .expect("a click");
    browser.text_with("details[data-section=\"context.clear_stencil\"]", "of the command").await;
    browser
        .run(&format!("location.hash = location.hash.replace('at={uniform}', 'at={draw}')"))
        .await;
    browser.text_with("#changes", "no state").await;
    browser.find("details[data-section=\"context.clear_stencil\"][open]").await;
    assert_eq!(browser.run("return document.querySelector('#filter').value").await, "clear sten");
    let hash = browser.run("return location.hash").await;
    assert!(
        hash.as_str().unwrap_or_default().contains("context.clear_color%2Ccontext.clear_stencil"),
        "{hash}"
    );
    browser.run("const field = document.querySelector('#filter'); field.value = ''; field.dispatchEvent(new Event('input'))").await;
    browser.text_with("details[data-section=\"context.clear_color\"]", "[0.2").await;
    // So does the place in a long list, also at a command that is read first.
    browser.find("#initial").await.click().await.expect("a click");
    browser.run("document.querySelector('#pane').scrollTop = 100").await;
    let before = uniform - 1;
    let go = format!("location.hash = location.hash.replace('at={draw}', 'at={before}')");
    browser.run(&go).await;
    browser.find(&format!("#commands .row[data-seq=\"{before}\"][aria-selected=true]")).await;
    browser.find("#pane:has(#contents):not(:has(.waiting))").await;
    let script = "return new Promise((ready) => setTimeout(() => ready(document.querySelector('#pane').scrollTop), 500))";
    assert_eq!(browser.run(script).await, 100);

    // The pixels that the draw changed. Only the picture after it has pixels that are not opaque.
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
    // It is marked, also at other commands and on other attachments, until the mark is removed.
    let (x, y) = clicked_pixel(&browser).await;
    let marked = format!("#picture .mark:not([hidden])[data-x=\"{x}\"][data-y=\"{y}\"]");
    browser.find(&marked).await;
    assert_eq!(mark_of_the_pixel(&browser).await, [f64::from(x) + 0.5, 63.5 - f64::from(y)]);
    let clear = last(&trace, "glClear");
    browser.run(&format!("location.hash = location.hash.replace('at={draw}', 'at={clear}')")).await;
    browser.text_with("#pixel-changes", &clear.to_string()).await;
    browser.find(&marked).await;
    browser.find("#no-pixel").await.click().await.expect("a click");
    browser.find("#picture .mark[hidden]").await;
    assert_eq!(browser.text("#pixel-changes").await, "");
    browser.find("#picture canvas").await.click().await.expect("a click");
    browser.find(&marked).await;
    browser.run("dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape' }))").await;
    browser.find("#picture .mark[hidden]").await;
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
    // A click leads from a uniform to what set it last, and from a sampler to its texture.
    let sampler = last(&trace, "glUniform1i");
    for pane in ["shaders", "call"] {
        browser.go(&format!("at={draw}&pane={pane}")).await;
        browser.text_with(".uniforms", &format!("{uniform} glUniform2f")).await;
        let uniforms = browser.text_with(".uniforms", &format!("{sampler} glUniform1i")).await;
        let turn = format!("0: turn vec2 {uniform} glUniform2f [0.39499998, 1.1]");
        let skin = format!("1: skin sampler2D {sampler} glUniform1i unit 3: Texture 1");
        assert!(uniforms.contains(&turn) && uniforms.contains(&skin), "{uniforms}");
        browser
            .find(&format!(".uniforms a[href*=\"at={uniform}&\"]"))
            .await
            .click()
            .await
            .expect("a click");
        browser.find(&format!("#commands .row[data-seq=\"{uniform}\"][aria-selected=true]")).await;
    }
    browser.go(&format!("at={draw}&pane=call")).await;
    let arrays = browser.text_with(".attributes", "1 f32x3 Buffer 1 \"<script>").await;
    assert!(arrays.ends_with(" 12 24"), "{arrays}");
    browser.find(".uniforms a[href*=Texture]").await.click().await.expect("a click");
    browser.find("#objects a[aria-current=true][href*=\"Texture+1\"]").await;

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
    // Frames that are equal are one row, which opens.
    let frames = browser.text_with("#frames", "in B only").await;
    assert!(frames.contains("0 to 19 equal, 20 frames"), "{frames}");
    browser.find("#frames button.run").await.click().await.expect("a click");
    browser.find("#frames tr.within:nth-of-type(21)").await;
    browser.text_with("#frames tr.within", "0 equal look").await;
    browser.find("#frames button.run").await.click().await.expect("a click");
    assert_eq!(browser.run("return document.querySelectorAll('#frames tr').length").await, 3);
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
    let programs = [run_idle(&session, &scene), run_idle(&session, &scene)];
    let mut start = session.ctl(["start", "--all", "--frames", "4", "-o"]);
    run(start.arg(&trace.path)).ok();
    drop(programs);
    assert_eq!(trace.info()["processes"].as_array().map(Vec::len), Some(2));
    let browser = Browser::open(&session, &[&trace.path]).await;
    let shown: usize =
        browser.attribute("#timeline canvas", "data-frames").await.parse().expect("a number");
    assert_eq!(shown, frames(&trace));
    browser.text_with("#commands", "of process 1").await;
    every_pane_at(&browser, last(&trace, "eglSwapBuffers") - 1, &[("mesh", "select a draw")]).await;
    objects_of_processes_are_told_apart(&browser).await;
    browser.close().await;
}

/// Both processes have a texture 1: each link says which, and the history is that of one.
async fn objects_of_processes_are_told_apart(browser: &Browser) {
    let script = "
        const [{ processes }, lines] = await Promise.all([
          fetch('api/info').then((it) => it.json()),
          fetch('api/commands?role=draw').then((it) => it.text()),
        ]);
        const draws = lines.trim().split('\\n').map(JSON.parse);
        return processes.map(({ pid }) => draws.findLast((draw) => draw.pid === pid).seq)";
    let draws = browser.run(&format!("return (async () => {{ {script} }})()")).await;
    for (own, other) in [(0, 1), (1, 0)] {
        let draw = draws[own].as_u64().expect("a number");
        browser.go(&format!("at={draw}&pane=objects")).await;
        let owners =
            browser.text_with("#owners", &format!("of process {own} (that of the command)")).await;
        assert!(owners.contains(&format!("of process {other}")), "{owners}");
        browser
            .find(&format!("#objects a[href*=\"Texture+1%40{own}.0x\"]"))
            .await
            .click()
            .await
            .expect("a click");
        browser.find("#objects a[aria-current=true]").await;
        browser.text_with("h2", &format!("of process {own}")).await;
        browser.find("#contents canvas").await;
        let first = processes_of_the_history(browser).await;
        // That of the other process, after the same command.
        let link = format!("#owners a[href*=\"%40{other}.0x\"]");
        browser.find(&link).await.click().await.expect("a click");
        browser
            .find(&format!("#objects a[href*=\"Texture+1%40{other}.0x\"]"))
            .await
            .click()
            .await
            .expect("a click");
        browser.text_with("h2", &format!("of process {other}")).await;
        browser.text_with("#contents", "select a command of this context").await;
        let second = processes_of_the_history(browser).await;
        assert!(first.len() == 1 && second.len() == 1 && first != second, "{first:?} {second:?}");
    }
}

/// The process ids of the commands in the history of an object.
async fn processes_of_the_history(browser: &Browser) -> Vec<u64> {
    browser.find("#history td a.seq").await;
    let script = "
        const lines = await fetch('api/commands').then((it) => it.text());
        const pids = new Map(lines.trim().split('\\n').map(JSON.parse).map((it) => [String(it.seq), it.pid]));
        const seqs = [...document.querySelectorAll('#history td a.seq')].map((it) => it.textContent);
        return [...new Set(seqs.map((seq) => pids.get(seq)))]";
    let pids = browser.run(&format!("return (async () => {{ {script} }})()")).await;
    pids.as_array().expect("a list").iter().filter_map(serde_json::Value::as_u64).collect()
}

/// A picture of values that have more than eight bits says so.
#[tokio::test]
async fn pictures_that_are_converted_say_so() {
    let session = Session::new();
    let recording = session.record(&[], &offscreen(&program("attachments"), [""; 0]));
    let trace = recording.trace;
    let browser = Browser::open(&session, &[&trace.path]).await;
    let clear = last(&trace, "glClearBufferuiv");
    browser.go(&format!("at={clear}&pane=picture&attachment=color0&pixel=3,3")).await;
    browser.text_with("#converted", "values from 0 to 1 are 8 bits").await;
    browser.text_with("#pixel-changes", "2, 0.5, -1, 1").await;
    browser.go(&format!("at={clear}&pane=picture&attachment=color1")).await;
    browser.find("#picture canvas").await;
    assert_eq!(browser.text("#converted").await, "");
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
