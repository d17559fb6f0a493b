//! `gapii-ctl pixel`: which commands changed a pixel, with the values that they left.

use std::path::Path;

use gapii_tests::display::surfaceless;
use gapii_tests::gapii::{Session, Trace};
use gapii_tests::loading::offscreen;
use gapii_tests::process::{Finished, run};
use gapii_tests::programs::{app, program};
use serde_json::{Value, json};

fn recorded(session: &Session, program: &Path) -> Trace {
    let recording = session.record(&[], &offscreen(program, [""; 0]));
    recording.run.ok();
    recording.trace
}

fn asks(session: &Session, trace: &Trace, at: u64, words: &[&str]) -> Finished {
    let mut command = session.ctl(["pixel", "--json", "--at", &at.to_string()]);
    surfaceless(command.arg(&trace.path).args(words));
    run(&mut command)
}

fn answer(session: &Session, trace: &Trace, at: u64, words: &[&str]) -> Value {
    let finished = asks(session, trace, at, words).ok();
    serde_json::from_str(&finished.stdout).expect("one line of JSON")
}

/// The commands that changed a pixel, each with its function and what it left.
fn changes(answer: &Value) -> Vec<(u64, String, Value)> {
    let changes = answer["changes"].as_array().expect("a list").iter();
    let function = |it: &Value| it["function"].as_str().expect("a name").to_owned();
    changes
        .map(|it| (it["seq"].as_u64().expect("a number"), function(it), it["after"].clone()))
        .collect()
}

/// The numbers of the commands with one of these names.
fn numbers(trace: &Trace, names: &[&str]) -> Vec<u64> {
    let commands = trace.commands();
    let found = commands.iter().filter(|command| names.contains(&command.name.as_str()));
    found.filter_map(|command| command.seq).collect()
}

#[test]
fn commands_that_change_a_pixel_are_told_with_its_values() {
    let session = Session::new();
    let trace = recorded(&session, &program("attachments"));
    let stages = numbers(&trace, &["glFlush"]);
    let clears = numbers(&trace, &["glClear"]);
    let values = numbers(&trace, &["glClearBufferfv", "glClearBufferuiv"]);
    let of = |at, words: &[&str]| changes(&answer(&session, &trace, at, words));
    let clear = |at: usize, after| (clears[at], "glClear".to_owned(), after);

    // Inside of the rectangle that the second clear fills, and outside.
    let blue = clear(0, json!([0.0, 0.0, 1.0, 1.0]));
    let pink = clear(1, json!([1.0, 0.0, 1.0, 1.0]));
    assert_eq!(of(stages[0], &["--pixel", "8,4"]), [blue.clone(), pink]);
    assert_eq!(of(stages[0], &["--pixel", "7,4"]), std::slice::from_ref(&blue));
    // Up to a command.
    assert_eq!(of(clears[0], &["--pixel", "8,4"]), [blue]);

    // Attachments of other formats, whose read buffer the program has set to none.
    let first = (values[0], "glClearBufferfv".to_owned(), json!([2.0, 0.5, -1.0, 1.0]));
    let second = (values[1], "glClearBufferuiv".to_owned(), json!([77.0, 0.0, 0.0, 1.0]));
    assert_eq!(of(stages[1], &["--pixel", "39,19"]), [first]);
    assert_eq!(of(stages[1], &["--pixel", "0,0", "--attachment", "1"]), [second]);

    for (at, words, why) in [
        (stages[0], &["--pixel", "96,4"][..], "no pixel 96,4 could be read"),
        (stages[0], &["--pixel", "8,4", "--attachment", "1"], "no pixel 8,4 could be read"),
        (stages[2], &["--pixel", "8,4"], "several samples"),
        (1_000_000, &["--pixel", "8,4"], "has no command 1000000"),
    ] {
        let finished = asks(&session, &trace, at, words);
        assert_eq!(finished.shell_status(), 1, "{finished}");
        assert!(finished.stderr.contains(why), "{finished}");
    }
}

#[test]
fn pixel_of_a_format_with_ten_bits_is_exact_and_its_picture_is_said_to_be_converted() {
    let session = Session::new();
    let trace = recorded(&session, &app("kept_renderbuffers"));
    // The eighth renderbuffer is of GL_RGB10_A2.
    let draw = numbers(&trace, &["glDrawArrays"])[7];
    let found = answer(&session, &trace, draw, &["--pixel", "5,9"]);
    let (seq, _, after) = changes(&found).pop().expect("a change");
    assert_eq!(seq, draw);
    let values: Vec<f64> =
        after.as_array().expect("a list").iter().filter_map(Value::as_f64).collect();
    let is_whole = |value: f64| (value - value.round()).abs() < 1e-6;
    let [colours, [alpha]] = [&values[..3], &values[3..]] else { panic!("{values:?}") };
    assert!(colours.iter().all(|it| is_whole(it * 1023.0)), "{values:?}");
    assert!(colours.iter().any(|it| !is_whole(it * 255.0)), "{values:?}");
    assert!((alpha - 1.0 / 3.0).abs() < 1e-6, "{values:?}");

    let mut replay = session.ctl(["replay", "--json", "--at", &draw.to_string(), "--images"]);
    surfaceless(replay.arg(session.path("pictures")).arg(&trace.path));
    let report: Value = serde_json::from_str(&run(&mut replay).ok().stdout).expect("a document");
    let note = format!("at-{draw:06}-color0.png is converted: values are rounded to 8 bits");
    assert_eq!(report["notes"], json!([note]));
}

/// Reading a pixel changes nothing that the program draws afterwards: what is read last is what a replay without it shows.
#[test]
fn last_value_is_that_of_the_picture() {
    let session = Session::new();
    let trace = recorded(&session, &app("framebuffers"));
    let swaps = numbers(&trace, &["eglSwapBuffers"]);
    let folder = session.path("frames");
    let mut replay = session.ctl(["replay", "--images"]);
    surfaceless(replay.arg(&folder).arg(&trace.path));
    run(&mut replay).ok();
    for (frame, swap) in swaps.iter().enumerate() {
        let path = folder.join(format!("frame-{frame:06}.png"));
        let file = std::fs::File::open(path).expect("a picture");
        let mut reader =
            png::Decoder::new(std::io::BufReader::new(file)).read_info().expect("a PNG");
        let mut samples = vec![0; reader.output_buffer_size().expect("a size")];
        let info = reader.next_frame(&mut samples).expect("a whole PNG");
        let channels = info.color_type.samples();
        for [x, y] in [[10, 10], [60, 10], [90, 60]] {
            let place = format!("{x},{y}");
            let found = answer(&session, &trace, *swap, &["--pixel", &place]);
            let last = changes(&found).pop().map_or(found["before"].clone(), |(.., after)| after);
            let from = ((info.height as usize - 1 - y) * info.width as usize + x) * channels;
            let values = last.as_array().expect("a list").iter().filter_map(Value::as_f64);
            let read: Vec<u8> = values.take(3).map(|it| (it * 255.0).round() as u8).collect();
            assert_eq!(samples[from..from + 3], read, "frame {frame}, pixel {place}: {found:?}");
        }
    }
}
