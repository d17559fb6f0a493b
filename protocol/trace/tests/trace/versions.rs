//! Files of older and newer writers.

use gapii_trace::frame::{FORMAT_VERSIONS, FrameError, Variety};
use gapii_trace::header::HeaderError;
use gapii_trace::reader::OpenError;
use gapii_trace::{TraceHeader, TraceReader, encode_block};
use serde_json::{Value, json};
use std::io::Cursor;

use crate::describe::*;
use crate::writer::{Writer, header, line, lines, open};

/// A header frame with this body and this version.
pub fn frame(body: &Value, version: u32) -> Vec<u8> {
    let body = encode_block(&rmp_serde::to_vec_named(body).unwrap(), 1).unwrap();
    let mut frame = 0x184D_2A50u32.to_le_bytes().to_vec();
    frame.extend_from_slice(&(body.len() as u32 + 16).to_le_bytes());
    frame.extend_from_slice(b"GAPIIHDR");
    frame.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    frame.extend_from_slice(&version.to_le_bytes());
    frame.extend_from_slice(&body);
    frame
}

fn body() -> Value {
    serde_json::to_value(header()).unwrap()
}

#[test]
fn every_version_that_a_header_can_state_has_a_variety() {
    let varieties =
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, u32::MAX].map(Variety::of);
    use Variety::{Kept, Timed, Untimed};
    let known = [Untimed, Timed, Kept];
    assert_eq!(varieties[0], Untimed);
    assert_eq!([&varieties[1..4], &varieties[4..7]], [known; 2]);
    assert_eq!(varieties[7..9], [Timed, Kept]);
    assert_eq!(varieties[9..13], [Untimed, Timed, Kept, Kept]);
    assert_eq!(varieties[13..17], varieties[9..13]);
    assert_eq!(varieties[17..], [Untimed; 2]);
}

#[test]
fn header_of_a_version_outside_the_range_is_refused() {
    let (oldest, newest) = (*FORMAT_VERSIONS.start(), *FORMAT_VERSIONS.end());
    for (version, taken) in
        [(oldest - 1, false), (oldest, true), (newest, true), (newest + 1, false)]
    {
        let mut body = body();
        body["version"] = json!(newest + 1);
        let opened = TraceReader::open(Cursor::new(frame(&body, version)));
        match opened {
            Ok(_) => assert!(taken, "version {version}"),
            Err(OpenError::Header(HeaderError::Frame(FrameError::Version { needed, .. }))) => {
                assert!(!taken && needed == version, "version {version}");
            }
            Err(error) => panic!("version {version}: {error}"),
        }
    }
}

#[test]
fn header_that_needs_a_later_version_than_its_writer_s_is_refused() {
    let (oldest, newest) = (*FORMAT_VERSIONS.start(), *FORMAT_VERSIONS.end());
    let mut body = body();
    body["version"] = json!(oldest);
    let opened = TraceReader::open(Cursor::new(frame(&body, newest)));
    let Err(OpenError::Header(HeaderError::Version { stated, needed })) = opened else {
        panic!("it is taken");
    };
    assert_eq!((stated, needed), (oldest, newest));
}

#[test]
fn header_with_a_name_that_a_terminal_would_obey_is_refused() {
    let (newest, mut body) = (*FORMAT_VERSIONS.end(), body());
    body["version"] = json!(newest);
    body["description"]["functions"][usize::from(DRAW)]["name"] = json!("glDraw\u{1b}[2J");
    let opened = TraceReader::open(Cursor::new(frame(&body, newest)));
    let Err(OpenError::Header(error @ HeaderError::Name(_))) = opened else {
        panic!("it is taken")
    };
    assert_eq!(error.to_string(), r#"header body: "glDraw\u{1b}[2J" is no name of an API"#);
}

#[test]
fn fields_and_words_of_later_versions_are_passed_over() {
    let mut later = body();
    later["version"] = json!(7);
    later["colour"] = json!({"deep": ["nest", 1]});
    later["description"]["macros"] = json!([1, 2, 3]);
    let functions = later["description"]["functions"].as_array_mut().unwrap();
    functions[usize::from(DRAW)]["since"] = json!("1.0");
    functions[usize::from(DRAW)]["effect"] = json!("sideways");
    functions[usize::from(DRAW)]["params"][0]["type"] = json!({"repr": "u32", "kind": "colour"});
    functions[usize::from(DRAW)]["params"][1]["type"] = json!({"repr": "u128", "kind": "number"});
    functions[usize::from(DRAW)]["params"][2]["observed"] = json!("both");
    let mut w = Writer::with_header(frame(&later, 2));
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    w.command(thread, DRAW, None, &draw(4, 1, 3));
    let mut unknown_meta = 0x0000_FF77_0000_0010u64.to_le_bytes().to_vec();
    unknown_meta.extend_from_slice(&[9; 8]);
    w.raw_bytes(&unknown_meta);
    w.command(thread, CLEAR, None, &Payload::new().u32(0x100));
    w.end_block();
    let file = w.finish();
    assert_eq!(open(&file).header().version, 7);
    let args: Vec<_> = lines(&file)
        .iter()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["args"].clone())
        .collect();
    let expected =
        [json!({"mode": 4, "first": null, "count": 3}), json!({"mask": "GL_DEPTH_BUFFER_BIT"})];
    assert_eq!(args, expected);
}

#[test]
fn header_without_optional_fields_is_taken() {
    let bare = json!({"version": 2, "description": {"functions": [], "groups": []}});
    let mut w = Writer::with_header(frame(&bare, 2));
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    w.command(thread, DRAW, None, &draw(4, 1, 3));
    w.end_block();
    let file = w.finish();
    let names = crate::writer::collect(&mut open(&file), line);
    assert!(names[0].contains(r#""name":"unknown_2","args":{},"result":null"#), "{names:?}");
}

#[test]
fn built_in_header_survives_the_round_trip_and_stays_small() {
    let header = TraceHeader::new("gapiid 0.1.0", [7; 16], 1, 2);
    let frame = header.encode().unwrap();
    assert_eq!(TraceHeader::decode(&frame).unwrap(), header);
    assert!(frame.len() < 300, "header of {} bytes", frame.len());
    // Earlier versions have no other place for the description.
    let earlier = TraceHeader { version: 13, ..header };
    let frame = earlier.encode().unwrap();
    assert_eq!(TraceHeader::decode(&frame).unwrap(), earlier);
    assert!(((50 << 10)..160 << 10).contains(&frame.len()), "header of {} bytes", frame.len());
}

#[test]
fn header_without_a_description_is_refused_up_to_the_version_that_describes_elsewhere() {
    for (version, taken) in [(13, false), (14, true)] {
        let opened = TraceReader::open(Cursor::new(frame(&json!({"version": 17}), version)));
        match opened {
            Ok(reader) => assert!(taken && reader.header().description.functions().is_empty()),
            Err(OpenError::Header(HeaderError::Undescribed)) => assert!(!taken),
            Err(error) => panic!("{error}"),
        }
    }
}
