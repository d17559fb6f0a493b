//! Exports to the Firefox Profiler's format: which threads and markers a file has.

use std::io::Cursor;

use gapii_abi::atom::{EFFECT, EndReason, FRAME_END, GapCause, Seam};
use gapii_export::firefox;
use gapii_export::timeline::{Origin, Summary};
use gapii_trace::clock::{Moment, TraceClock};
use gapii_trace::footer::GapEntry;
use serde_json::{Value, json};

use crate::describe::{CLEAR, Payload, SWAP, swap_args};
use crate::events;
use crate::writer::{Writer, open};

/// A trace of two threads: two frames of the first, and a command of the second in between.
fn exported(name: &str, clock: Option<TraceClock>) -> (Value, Summary) {
    let mut w = Writer::new();
    let process = w.process(1, name);
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    let command = |w: &mut Writer, thread, id, flags, times: [u64; 2], end_ns| {
        let (args, result) = match id {
            SWAP => (swap_args(), Payload::new().u32(1)),
            _ => (Payload::new().u32(0x4100), Payload::new()),
        };
        w.enter(thread, id, EFFECT, None, &args);
        if flags != 0 {
            w.time(thread, end_ns);
        }
        w.leave_timed(thread, id, flags, &times, &result);
    };
    // Each as the time in the driver, and its begin.
    command(&mut w, a, CLEAR, 0, [10, 1000], 0);
    command(&mut w, a, SWAP, FRAME_END, [50, 1010], 1065);
    command(&mut w, b, CLEAR, 0, [500, 1_001_040], 0);
    command(&mut w, a, SWAP, FRAME_END, [30, 1080], 1111);
    w.footer.gaps.push(GapEntry {
        thread: b,
        records: 2,
        calls: 1,
        start_ns: 1600,
        end_ns: 1700,
        cause: GapCause::Dropped,
        ..GapEntry::default()
    });
    w.footer.seams.push(Seam { from_ns: 1800, to_ns: 1900, ..Seam::default() });
    w.end(EndReason::Stop, Vec::new());
    let footer = w.footer.clone();
    let origin = Origin { clock, footer: Some(&footer) };
    let mut exporter = firefox::begin(Vec::new(), Cursor::new(Vec::new()), origin);
    let mut reader = open(&w.finish());
    let mut commands = reader.commands().unwrap();
    while commands.advance().unwrap() {
        let command = commands.command();
        let uploaded = if command.name() == "glClear" { 7 } else { 0 };
        exporter.command(&command, commands.assembler().tracker(), uploaded).unwrap();
    }
    let (file, summary) = exporter.finish().unwrap();
    (serde_json::from_slice(&file).unwrap(), summary)
}

fn clock() -> Option<TraceClock> {
    let began = Moment { monotonic_ns: 500, unix_ns: 70_000_500, boot_ns: 900 };
    Some(TraceClock { began, ended: None })
}

/// The markers of a thread: name, begin and end in nanoseconds, category, data.
fn markers(profile: &Value, thread: &Value) -> Vec<(String, i64, i64, String, Value)> {
    let markers = &thread["markers"];
    let count = markers["length"].as_u64().unwrap() as usize;
    for column in ["startTime", "endTime", "phase", "category", "name", "data"] {
        assert_eq!(markers[column].as_array().unwrap().len(), count, "{column}");
    }
    let ns = |ms: &Value| (ms.as_f64().unwrap() * 1e6).round() as i64;
    let all = (0..count).map(|at| {
        assert_eq!(markers["phase"][at], 1);
        let name = &thread["stringArray"][markers["name"][at].as_u64().unwrap() as usize];
        let category = markers["category"][at].as_u64().unwrap() as usize;
        let category = &profile["meta"]["categories"][category]["name"];
        (
            name.as_str().unwrap().to_owned(),
            ns(&markers["startTime"][at]),
            ns(&markers["endTime"][at]),
            category.as_str().unwrap().to_owned(),
            markers["data"][at].clone(),
        )
    });
    all.collect()
}

fn thread<'p>(profile: &'p Value, tid: &str) -> &'p Value {
    let threads = profile["threads"].as_array().unwrap();
    threads.iter().find(|thread| thread["tid"] == tid).unwrap_or_else(|| panic!("{profile:#}"))
}

#[test]
fn commands_frames_and_gaps_are_markers_of_their_threads() {
    let (profile, summary) = exported("gears", clock());
    let expected = Summary { commands: 4, untimed: 0, gpu: 0, frames: 2, untimed_frames: 0 };
    assert_eq!(summary, expected);
    let found = |tid: &str| {
        let thread = thread(&profile, tid);
        assert_eq!((&thread["processName"], &thread["pid"]), (&json!("gears"), &json!("1")));
        markers(&profile, thread)
    };
    let marker = |name: &str, begin, end, category: &str, data| {
        (name.to_owned(), begin, end, category.to_owned(), data)
    };
    let command = |seq: u64| json!({"type": "command", "seq": seq});
    assert_eq!(
        found("10"),
        [
            marker("glClear", 500, 510, "gl", command(0)),
            marker("eglSwapBuffers", 510, 560, "egl", command(1)),
            marker("eglSwapBuffers", 580, 610, "egl", command(3)),
        ]
    );
    let gap = json!({"type": "gap", "commands": 1, "records": 2});
    assert_eq!(
        found("11"),
        [
            marker("glClear", 1_000_540, 1_001_040, "gl", command(2)),
            marker("not recorded: dropped", 1100, 1200, "not recorded", gap),
        ]
    );
    let frame = |number: u64, commands: u64, uploaded: u64| json!({"type": "frame", "number": number, "commands": commands, "uploaded": uploaded});
    assert_eq!(
        found("1-frames"),
        [
            marker("frame", 500, 565, "frames", frame(0, 2, 7)),
            marker("frame", 565, 611, "frames", frame(1, 2, 7)),
        ]
    );
    let seam = json!({"type": "seam"});
    let expected = [marker("no daemon", 1300, 1400, "not recorded", seam)];
    assert_eq!(markers(&profile, thread(&profile, "capture")), expected);
}

#[test]
fn times_are_those_of_the_traces_clock() {
    let (profile, _) = exported("gears", clock());
    assert_eq!(profile["meta"]["startTime"], 70.0005);
    assert_eq!(profile["meta"]["startTimeAsClockMonotonicNanosecondsSinceBoot"], 500);
    // Without a clock, they begin with the first slice.
    let (profile, _) = exported("gears", None);
    assert_eq!(profile["meta"]["startTime"], 0.0);
    assert_eq!(markers(&profile, thread(&profile, "10"))[0].1, 0);
}

#[test]
fn each_type_of_marker_has_a_schema_with_its_fields() {
    let (profile, _) = exported("gears", clock());
    let schemas = profile["meta"]["markerSchema"].as_array().unwrap();
    for thread in profile["threads"].as_array().unwrap() {
        for (_, _, _, _, data) in markers(&profile, thread) {
            let mut keys: Vec<&str> =
                data.as_object().unwrap().keys().map(String::as_str).collect();
            let schema = schemas.iter().find(|schema| schema["name"] == data["type"]).unwrap();
            let fields = schema["fields"].as_array().unwrap();
            keys.retain(|key| *key != "type");
            let expected: Vec<&str> =
                fields.iter().map(|field| field["key"].as_str().unwrap()).collect();
            assert_eq!(keys, expected, "{data}");
        }
    }
}

#[test]
fn names_of_programs_are_escaped() {
    let name = "a\"\\\n</script>";
    let (profile, _) = exported(name, clock());
    let shown = thread(&profile, "10")["processName"].as_str().unwrap();
    assert!(shown.starts_with("a\"\\") && shown.ends_with("</script>"), "{shown}");
}

#[test]
fn holds_waits_keyframes_and_marks_are_markers_of_their_threads() {
    let spool = Cursor::new(Vec::new());
    let file = events::export(firefox::begin(Vec::new(), spool, Origin::default()));
    let profile: Value = serde_json::from_slice(&file).unwrap();
    let schemas = profile["meta"]["markerSchema"].as_array().unwrap();
    // Phase, begin and end in nanoseconds, name, category and data.
    let found = |tid: &str| {
        let thread = thread(&profile, tid);
        let markers = &thread["markers"];
        let rows = (0..markers["length"].as_u64().unwrap() as usize).map(|at| {
            let cell = |column: &str| markers[column][at].clone();
            let ns = |ms: Value| ms.as_f64().map(|ms| (ms * 1e6).round() as i64);
            let named = |list: &Value, at: Value| list[at.as_u64().unwrap() as usize].clone();
            let category = named(&profile["meta"]["categories"], cell("category"))["name"].clone();
            let name = named(&thread["stringArray"], cell("name"));
            let data = cell("data");
            assert!(schemas.iter().any(|schema| schema["name"] == data["type"]), "{data}");
            json!([cell("phase"), ns(cell("startTime")), ns(cell("endTime")), name, category, data])
        });
        Value::from(rows.collect::<Vec<_>>())
    };
    let data = |kind: &str, seq: u64| json!({"type": kind, "seq": seq});
    let (held, marks) = ("held and waiting", "marks");
    assert_eq!(
        found("10"),
        json!([
            [1, 10, 30, "waits for room", held, data("stop", 0)],
            [1, 0, 50, "held for a snapshot", held, data("stop", 0)],
            [2, 210, null, "shadows", marks, data("group", 1)],
            [0, 220, null, "here", marks, data("mark", 2)],
            [2, 230, null, "glClear", marks, data("group", 3)],
            [3, null, 240, "glClear", marks, {"type": "group"}],
        ])
    );
    assert_eq!(
        found("1-frames"),
        json!([[0, 100, null, "keyframe", "frames", data("keyframe", 0)]])
    );
    assert_eq!(thread(&profile, "10")["processName"], "gears");
}
