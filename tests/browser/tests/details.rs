//! What the page says where a trace lacks something, and what stays when the pane changes.

use fantoccini::actions::{InputSource, MOUSE_BUTTON_LEFT, MouseActions, PointerAction};
use gapii_browser_tests::Browser;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::programs::program;
use serde_json::{Value, json};

/// Twelve frames of the program made for the viewer, of which the capture takes the first ones.
fn recorded(session: &Session, frames: &str) -> Trace {
    let recording =
        session.record(&["--frames", frames, "--quit"], &offscreen(&program("viewed"), ["12"]));
    let path = session.path(&format!("{frames}.gapii"));
    std::fs::rename(&recording.trace.path, &path).expect("a name");
    Trace::new(path)
}

/// Numbers of the commands of this name.
fn all(trace: &Trace, name: &str) -> Vec<u64> {
    let commands = trace.commands();
    commands.iter().filter(|it| it.name == name).filter_map(|it| it.seq).collect()
}

async fn run_async(browser: &Browser, script: &str) -> Value {
    browser.run(&format!("return (async () => {{ {script} }})()")).await
}

#[tokio::test]
async fn measures_without_values_cannot_be_chosen() {
    let session = Session::new();
    let trace = recorded(&session, "4");
    let browser = Browser::open(&session, &[&trace.path]).await;
    for (measure, option) in [("gpu", "run --gpu-timing"), ("driver", "run --timing")] {
        let title = browser
            .attribute(&format!("#measure option[value={measure}][disabled]"), "title")
            .await;
        assert!(title.contains(option), "{title}");
    }
    let enabled = "return [...document.querySelectorAll('#measure option:not([disabled])')].map((it) => it.value)";
    assert_eq!(browser.run(enabled).await, json!(["duration", "commands", "uploads", "draws"]));

    // The first frame has no begin: it has no bar, and is the last one when they are sorted.
    let script = "
        const canvas = document.querySelector('#timeline canvas');
        const { left, top, width } = canvas.getBoundingClientRect();
        const title = (part) => {
          canvas.dispatchEvent(new PointerEvent('pointermove', { clientX: left + part * width, clientY: top + 50 }));
          return canvas.title;
        };
        const bars = () => {
          const { data } = canvas.getContext('2d').getImageData(0, 8, canvas.width, 88);
          return data.some((value) => value !== 0);
        };
        const first = title(0.1);
        document.querySelector('#longest-first').click();
        const sorted = [first, title(0.9), title(0.1).replace(/.*time unknown.*/, 'unknown'), bars()];
        const measure = document.querySelector('#measure');
        measure.value = 'gpu';
        measure.dispatchEvent(new Event('change'));
        await new Promise((ready) => setTimeout(ready, 50));
        return [...sorted, title(0.5), bars()]";
    let seen = run_async(&browser, script).await;
    let text = |at: usize| seen[at].as_str().expect("a text").replace('\u{a0}', " ");
    for unknown in [text(0), text(1)] {
        assert!(unknown.starts_with("frame 0: time unknown, "), "{seen}");
    }
    assert!(text(2).contains("ms,") || text(2).contains("µs,"), "{seen}");
    assert_eq!(seen[3], true, "{seen}");
    // Chosen nevertheless, it has no bars, and says why.
    assert!(text(4).starts_with("the trace has no times on the GPU"), "{seen}");
    assert_eq!(seen[5], false, "{seen}");
    // Numbers stay with what they count.
    let row = browser.run("return document.querySelector('.row.frame').textContent").await;
    let row = row.as_str().expect("a text");
    assert!(row.contains("\u{a0}commands") && row.ends_with("time unknown"), "{row}");
    browser.close().await;
}

#[tokio::test]
async fn commands_say_what_they_fill_and_panes_keep_their_places() {
    let session = Session::new();
    let trace = recorded(&session, "2");
    let browser = Browser::open(&session, &[&trace.path]).await;
    let images = all(&trace, "glTexImage2D");
    let buffers = all(&trace, "glBufferData");
    let mipmaps = all(&trace, "glGenerateMipmap");
    let fills = [
        (images[0], "Texture 1"),
        (mipmaps[0], "Texture 1"),
        (images[6], "Texture 2"),
        (buffers[0], "Buffer 1"),
        (buffers[1], "Buffer 2"),
    ];
    for pane in ["call", "state"] {
        for (seq, object) in fills {
            browser.go(&format!("at={seq}&pane={pane}")).await;
            browser.text_with("#fills a", object).await;
        }
    }
    browser.find("#fills a").await.click().await.expect("a click");
    browser.find("#objects a[aria-current=true][href*=\"Buffer+2\"]").await;

    // Labels are beside names.
    let used = all(&trace, "glUseProgram");
    browser.go(&format!("at={}&pane=call", used[1])).await;
    browser.text_with("#arguments a", "1 \"the cube's\"").await;
    let draw = *all(&trace, "glDrawElements").last().expect("a draw");
    browser.go(&format!("at={draw}&pane=call")).await;
    browser.text_with(".attributes", "Buffer 1 \"<script>").await;
    browser.text_with("#inputs h2", "Program 1 \"the cube's\"").await;
    browser.go(&format!("at={draw}&pane=objects&object=Buffer 1")).await;
    browser.text_with("#pane", "history of Buffer 1 \"<script>").await;

    // Each pane has its own place, also one that is shown at once, because its answers are there.
    browser.run("document.querySelector('#pane').style.flex = '0 0 150px'").await;
    browser.run("location.hash = location.hash.replace('pane=objects', 'pane=shaders')").await;
    browser.find("#pane:has(details[data-program]):not(:has(.waiting))").await;
    browser.run("location.hash = location.hash.replace('pane=shaders', 'pane=objects')").await;
    browser.find("#pane:has(#history td):not(:has(.waiting))").await;
    let top = "return document.querySelector('#pane').scrollTop";
    browser.run("document.querySelector('#pane').scrollTop = 60").await;
    browser.run("location.hash = location.hash.replace('pane=objects', 'pane=shaders')").await;
    browser.find("#pane:has(details[data-program]):not(:has(.waiting))").await;
    assert_eq!(browser.run(top).await, 0);
    browser.run("location.hash = location.hash.replace('pane=shaders', 'pane=objects')").await;
    browser.find("#pane:has(#history td):not(:has(.waiting))").await;
    let later = "return new Promise((ready) => setTimeout(() => ready(document.querySelector('#pane').scrollTop), 300))";
    assert_eq!(browser.run(later).await, 60);

    // The pixels that a draw changed, as it left them: the others are not drawn.
    let colours = "
        const canvas = document.querySelector('#picture canvas');
        return Array.from(canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data)";
    browser.go(&format!("at={draw}&pane=picture")).await;
    browser.find("#picture canvas").await;
    let after = browser.run(colours).await;
    browser.go(&format!("at={draw}&pane=picture&when=difference")).await;
    let text = browser.text_with("#changed", "pixels differ").await.replace([',', '\u{a0}'], "");
    let count: usize = text.split(' ').next().and_then(|it| it.parse().ok()).expect("a number");
    let own = browser.run(colours).await;
    let pixels = |it: &Value| -> Vec<Vec<u64>> {
        let all: Vec<u64> =
            it.as_array().expect("pixels").iter().filter_map(Value::as_u64).collect();
        all.chunks(4).map(<[u64]>::to_vec).collect()
    };
    let (after, own) = (pixels(&after), pixels(&own));
    let kept: Vec<usize> = (0..own.len()).filter(|at| own[*at][3] != 0).collect();
    assert_eq!(kept.len(), count);
    assert!(kept.iter().all(|at| own[*at] == after[*at]));

    // Where there is no picture, no file is named.
    browser.go("at=0&pane=picture").await;
    let notes = browser.text_with("#pane", "depth, stencil: no context").await;
    assert!(!notes.contains(".png"), "{notes}");
    browser.close().await;
}

#[tokio::test]
async fn divider_is_dragged_and_stays() {
    let session = Session::new();
    let trace = recorded(&session, "2");
    let browser = Browser::open(&session, &[&trace.path]).await;
    let width = async || {
        let script = "return document.querySelector('#commands').getBoundingClientRect().width";
        browser.run(script).await.as_f64().expect("a number")
    };
    let place = browser.run("const { left, top } = document.querySelector('#divider').getBoundingClientRect(); return [left, top]").await;
    let [left, top] = [0, 1].map(|at| place[at].as_f64().expect("a number").round());
    let before = width().await;
    let to = |x: f64| PointerAction::MoveTo { duration: None, x: x.round(), y: top + 40.0 };
    let drag = MouseActions::new("mouse".into())
        .then(to(left + 2.0))
        .then(PointerAction::Down { button: MOUSE_BUTTON_LEFT })
        .then(to(left - 150.0))
        .then(to(left - 298.0))
        .then(PointerAction::Up { button: MOUSE_BUTTON_LEFT });
    browser.client.perform_actions(drag).await.expect("the pointer moves");
    let dragged = width().await;
    // The pointer that moves on it later does not drag it.
    let hover = MouseActions::new("mouse".into()).then(to(left - 295.0));
    browser.client.perform_actions(hover).await.expect("the pointer moves");
    assert!((width().await - dragged).abs() < 1.0);
    assert!((before - dragged - 300.0).abs() < 5.0, "{before} {dragged}");
    browser.find("#divider").await.send_keys("\u{e014}").await.expect("a key");
    let stepped = width().await;
    assert!((20.0..40.0).contains(&(stepped - dragged)), "{dragged} {stepped}");
    browser.client.refresh().await.expect("the page");
    browser.find("body[data-ready]").await;
    assert!((width().await - stepped).abs() < 2.0);
    browser.close().await;
}

#[tokio::test]
async fn pictures_beside_each_other_have_one_scale() {
    let session = Session::new();
    let (short, long) = (recorded(&session, "2"), recorded(&session, "3"));
    let browser = Browser::open(&session, &[&short.path, &long.path]).await;
    browser.go("pane=compare").await;
    let first = browser.text_with("#first-difference", "A ends after ").await;
    let all_of_a = short.info()["commands"].as_u64().expect("a number");
    let ends = format!("A ends after {all_of_a} commands; B goes on with command {all_of_a}.");
    assert_eq!(first.replace('\u{a0}', " "), ends);

    // After the draw, and before it.
    let draw = *all(&short, "glDrawElements").last().expect("a draw");
    let clear = *all(&short, "glClear").last().expect("a command");
    browser.go(&format!("pane=compare&a={draw}&b={clear}")).await;
    browser.text_with("#brightness", "full brightness").await;
    let caption = browser.text_with("#beside figure:nth-of-type(3)", "difference: ").await;
    let script = "
        const figures = [...document.querySelectorAll('#beside figure')];
        const canvases = figures.map((it) => it.querySelector('canvas'));
        const boxes = figures.map((it) => it.querySelector('.stage'));
        const fits = canvases.every((canvas, at) => Math.abs(canvas.clientWidth - boxes[at].clientWidth) < 2);
        const { data } = canvases[2].getContext('2d').getImageData(0, 0, 96, 64);
        let [bright, dark] = [0, 0];
        for (let at = 0; at < data.length; at += 4) {
          const most = Math.max(data[at], data[at + 1], data[at + 2]);
          if (most === 255) bright += 1;
          else if (most === 0) dark += 1;
        }
        const zooms = document.querySelectorAll('#beside select');
        zooms[0].value = '8';
        zooms[0].dispatchEvent(new Event('change'));
        const widths = canvases.map((it) => it.clientWidth);
        boxes[1].scrollLeft = 77;
        await new Promise((ready) => setTimeout(ready, 200));
        return [figures.length, fits, zooms.length, bright, dark, canvases[2].width * canvases[2].height, widths, boxes.map((it) => it.scrollLeft)]";
    let seen = run_async(&browser, script).await;
    assert_eq!((&seen[0], &seen[1], &seen[2]), (&3.into(), &true.into(), &1.into()), "{seen}");
    let number = |at: usize| seen[at].as_u64().expect("a number");
    assert_eq!(number(3) + number(4), number(5), "{seen}");
    let text = caption.replace([',', '\u{a0}'], " ");
    assert!(number(3) > 100, "{seen}");
    let count = number(3).to_string();
    assert!(text.replace(' ', "").contains(&format!("difference:{count}pixels")), "{text} {count}");
    assert_eq!(seen[6], json!([768, 768, 768]), "{seen}");
    assert_eq!(seen[7], json!([77, 77, 77]), "{seen}");
    browser.close().await;
}

#[tokio::test]
async fn problems_list_few_commands() {
    let session = Session::new();
    let trace = recorded(&session, "2");
    let browser = Browser::open(&session, &[&trace.path]).await;
    let script = "
        const real = window.fetch;
        const examples = Array.from({ length: 16 }, (_, at) => 100 + at);
        const problem = { severity: 'warning', sentence: 'it repeats', detail: null, count: 29, frame: 1, last_frame: 2, seq: 100, since: null, examples };
        const answer = JSON.stringify({ problems: [problem], left_out: 0 });
        window.fetch = (path, ...more) => path.endsWith('api/problems') ? Promise.resolve(new Response(answer)) : real(path, ...more);
        location.hash = 'pane=problems'";
    browser.run(script).await;
    let row = browser.text_with("#problems", "it repeats").await.replace('\u{a0}', " ");
    assert!(row.contains("101 102 103 104 105 and 23 more"), "{row}");
    browser.close().await;
}
