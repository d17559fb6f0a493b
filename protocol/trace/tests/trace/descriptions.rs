//! Functions are described in front of the blocks that use them.

use gapii_abi::atom::{EFFECT, EndReason, InFlight};
use gapii_commands::CommandId;
use gapii_trace::description::{Function, Group, Part};
use gapii_trace::used::Used;
use gapii_trace::{Description, Tail, encode_block, verify};
use serde_json::json;

use crate::describe::Payload;
use crate::versions::frame;
use crate::writer::{Writer, collect, line, lines, open, small_trace};

fn id(command: CommandId) -> u16 {
    Description::built_in().of(command).unwrap().id
}

/// A header as another build writes it: this reader knows none of its functions.
fn foreign_header() -> Vec<u8> {
    frame(&json!({"version": 14, "tables": "00"}), 14)
}

/// A description frame with this body.
fn description_frame(body: &[u8]) -> Vec<u8> {
    let body = encode_block(body, 1).unwrap();
    let mut frame = 0x184D_2A53_u32.to_le_bytes().to_vec();
    frame.extend_from_slice(&(body.len() as u32 + 16).to_le_bytes());
    frame.extend_from_slice(b"GAPIICMD");
    frame.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    frame.extend_from_slice(&14_u32.to_le_bytes());
    frame.extend_from_slice(&body);
    frame
}

/// Five blocks. The second needs no description, and the fourth only the name of a value.
fn described(header: Vec<u8>) -> Writer {
    let (clear, enable) = (id(CommandId::GL_CLEAR), id(CommandId::GL_ENABLE));
    let get = id(CommandId::GL_GET_INTEGERV);
    let mut w = Writer::with_header(header);
    w.descriptions = Some(gapii_trace::DescriptionWriter::default());
    let process = w.process(4711, "scene");
    let main = w.thread(process, 100, 1);
    w.command(main, clear, Some(3), &Payload::new().u32(0x4100));
    w.end_block();
    w.command(main, clear, Some(4), &Payload::new().u32(0x4000));
    w.end_block();
    w.command(main, enable, Some(5), &Payload::new().u32(0x0BE2));
    w.command(main, enable, Some(6), &Payload::new().u32(0x1F01));
    w.enter(main, get, EFFECT, Some(7), &Payload::new().u32(0x0D33).u32(0).u64(0x7000));
    w.leave(main, get, 0, None, &Payload::new().inline(&[0, 64, 0, 0]));
    w.footer.totals.memory.observed_bytes = 4;
    w.end_block();
    w.command(main, enable, Some(8), &Payload::new().u32(0x1F00));
    w
}

fn described_file(header: Vec<u8>) -> Vec<u8> {
    let mut w = described(header);
    w.end(EndReason::Frames, Vec::new());
    w.finish()
}

/// The file as another build writes it.
pub fn described_by_another_build() -> Vec<u8> {
    described_file(foreign_header())
}

const CALLS: [(&str, &str); 6] = [
    ("glClear", "GL_COLOR_BUFFER_BIT"),
    ("glClear", "GL_COLOR_BUFFER_BIT"),
    ("glEnable", "GL_BLEND"),
    ("glEnable", "GL_RENDERER"),
    ("glGetIntegerv", "GL_MAX_TEXTURE_SIZE"),
    ("glEnable", "GL_VENDOR"),
];

#[track_caller]
fn assert_are_named(lines: &[String]) {
    for (line, (name, value)) in lines.iter().zip(CALLS) {
        assert!(line.contains(&format!("\"{name}\"")) && line.contains(value), "{line}");
    }
}

#[test]
fn trace_has_what_its_functions_need_and_nothing_else() {
    let file = described_file(foreign_header());
    let mut reader = open(&file);
    let description = &reader.header().description;
    let names: Vec<_> = description.functions().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["glClear", "glEnable", "glGetIntegerv"]);
    let built_in = Description::built_in();
    let values = |description: &Description, name: &str| {
        let group = description.groups().iter().find(|group| group.name == name).unwrap();
        group.values.iter().map(|(_, name)| name.clone()).collect::<Vec<_>>()
    };
    for whole in ["ClearBufferMask", "EnableCap"] {
        assert_eq!(values(description, whole), values(built_in, whole));
    }
    assert_eq!(values(description, "GetPName"), ["GL_BLEND", "GL_MAX_TEXTURE_SIZE"]);
    let of_all = values(description, "GL");
    assert!(of_all.iter().any(|name| name == "GL_VENDOR") && of_all.len() < 8, "{of_all:?}");
    let groups = description.groups().iter().filter(|group| !group.name.is_empty()).count();
    assert_eq!((groups, reader.descriptions().len()), (4, 3));
    assert_eq!(*reader.tail(), Tail::Complete);
    assert_are_named(&lines(&file));
    let found = verify(&mut reader).unwrap();
    assert!(found.ok, "{found:?}");
    // A reader of the same build knows all others, too.
    let header = gapii_trace::TraceHeader::new("gapiid test", [7; 16], 1, 2);
    let own = described_file(header.encode().unwrap());
    assert!(open(&own).header().description.function(id(CommandId::GL_FINISH)).is_some());
    let found = verify(&mut open(&own)).unwrap();
    assert!(found.ok && own.len() < 5_000, "{} bytes: {found:?}", own.len());
}

#[test]
fn file_that_is_cut_has_the_descriptions_of_what_is_left() {
    let mut w = described(foreign_header());
    w.end(EndReason::Frames, Vec::new());
    let ends: Vec<_> = w.block_offsets[1..].to_vec();
    let commands_of_blocks = [1, 1, 3, 1, 0];
    let file = w.finish();
    for len in foreign_header().len()..file.len() {
        let whole = ends.iter().filter(|end| **end <= len).count();
        let named = collect(&mut open(&file[..len]), line);
        let count = commands_of_blocks[..whole].iter().sum::<usize>();
        assert_eq!(named.len(), count, "{len} bytes");
        assert_are_named(&named);
    }
}

#[test]
fn damaged_description_takes_only_its_own_names() {
    let file = described_file(foreign_header());
    let frames = open(&file).descriptions().to_vec();
    let (start, len) = (frames[1].offset as usize, frames[1].len as usize);
    for at in start..start + len {
        let mut damaged = file.clone();
        damaged[at] ^= 0x41;
        let mut reader = open(&damaged);
        let known = reader.header().description.functions().len();
        assert!(known == 1 || known == 0 && at < start + 8, "byte {}: {known}", at - start);
        assert!(reader.tail() != &Tail::Complete || at < start + 8, "byte {}", at - start);
        assert!(!verify(&mut reader).unwrap().ok, "byte {}", at - start);
        let found = collect(&mut reader, line);
        // Without the frame's own length the index leads to the blocks.
        assert_eq!(found.len(), CALLS.len(), "byte {}", at - start);
        assert_are_named(&found[..2 * known]);
    }
}

#[test]
fn function_that_no_frame_in_front_describes_is_a_problem() {
    let own = gapii_trace::TraceHeader::new("gapiid test", [7; 16], 1, 2).encode().unwrap();
    let late = id(CommandId::GL_FINISH);
    let expected = [
        (own, format!("function {late} is not described in front of the block")),
        (foreign_header(), format!("the trace does not describe function {late}")),
    ];
    for (header, expected) in expected {
        let mut w = described(header);
        w.end_block();
        w.descriptions = None;
        w.command(0, late, Some(9), &Payload::new());
        w.end(EndReason::Frames, Vec::new());
        let found = verify(&mut open(&w.finish())).unwrap();
        assert_eq!(found.problem_count, 1, "{found:?}");
        assert_eq!(found.problems[0].message, expected);
    }
}

#[test]
fn first_description_of_a_function_or_value_counts() {
    let function = |name: &str| {
        let clear = Description::built_in().of(CommandId::GL_CLEAR).unwrap();
        Function { id: 7, name: name.to_owned(), ..clear.clone() }
    };
    let group = |values: &[(u64, &str)]| Group {
        name: "Colour".to_owned(),
        values: values.iter().map(|(value, name)| (*value, (*name).to_owned())).collect(),
        fallback: None,
    };
    let part = |name, values| Part {
        functions: vec![function(name)],
        groups: vec![(3, group(values))],
        layouts: Vec::new(),
    };
    let parts = [part("glOne", &[(5, "A")]), part("glOther", &[(5, "B"), (2, "C")])];
    let mut file = foreign_header();
    for part in &parts {
        file.extend_from_slice(&description_frame(&rmp_serde::to_vec_named(part).unwrap()));
    }
    let reader = open(&file);
    let description = &reader.header().description;
    assert_eq!(description.function(7).unwrap().name, "glOne");
    assert_eq!(description.functions().len(), 1);
    assert_eq!([description.enum_name(3, 5), description.enum_name(3, 2)], [Some("A"), Some("C")]);
}

#[test]
fn descriptions_beyond_the_limits_are_refused() {
    // A field that readers do not know, but must decompress.
    let long = |bytes: usize| {
        let body = [&[0x81, 0xA1, b'x', 0xC6][..], &(bytes as u32).to_be_bytes()].concat();
        description_frame(&[body, vec![0; bytes]].concat())
    };
    let check = |frames: &[Vec<u8>], expected: Option<usize>| {
        let mut w = Writer::with_header([foreign_header(), frames.concat()].concat());
        w.end(EndReason::Frames, Vec::new());
        let file = w.finish();
        let lens: Vec<_> = frames.iter().map(Vec::len).collect();
        let at = expected.map(|at| foreign_header().len() + lens[..at].iter().sum::<usize>());
        match open(&file).tail() {
            Tail::Complete => assert_eq!(at, None),
            Tail::Damaged { at: found, .. } => assert_eq!(at, Some(*found as usize)),
            other => panic!("{other:?}"),
        }
    };
    check(&[long(7 << 20), long(7 << 20)], None);
    check(&[long(7 << 20), long(7 << 20), long(3 << 20), long(1)], Some(2));
    // Bytes that zstd does not shrink.
    let mut state = 1_u32;
    let mut noise = |bytes: usize| -> Vec<u8> {
        let next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        std::iter::repeat_with(next).take(bytes).collect()
    };
    let body = [&[0x81, 0xA1, b'x', 0xC6][..], &(1_u32 << 20).to_be_bytes()].concat();
    check(&[description_frame(&[body, noise(1 << 20)].concat())], Some(0));
    check(&[description_frame(b"no map")], Some(0));
    let strange = json!({"groups": [[0, {"name": "G\u{1b}[2J", "values": []}]]});
    check(&[description_frame(&rmp_serde::to_vec_named(&strange).unwrap())], Some(0));
}

#[test]
fn encoder_finds_what_a_look_through_finds() {
    let mut w = small_trace();
    w.end(EndReason::Frames, Vec::new());
    let mut files =
        vec![w.finish(), described_file(foreign_header()), crate::tracers::traced_file()];
    let mut unfinished = described(foreign_header());
    let in_flight = InFlight { thread: 0, id: id(CommandId::GL_FINISH), stamp: 1 };
    unfinished.end(EndReason::Lost, vec![in_flight]);
    files.push(unfinished.finish());
    let mut functions = Vec::new();
    for file in &files {
        let mut reader = open(file);
        for index in 0..reader.blocks().len() {
            let mut raw = Vec::new();
            reader.read_block(index, &mut raw).unwrap();
            let mut encoder = gapii_trace::BlockEncoder::new(1).unwrap();
            encoder.encode(&raw).unwrap();
            assert_eq!(encoder.used(), Used::by(&raw), "block {index}");
            functions.extend(encoder.used().functions);
        }
    }
    assert!(functions.contains(&id(CommandId::GL_FINISH)), "of a command in flight");
    // Several runs, and records that are too long to be packed.
    let mut w = described(foreign_header());
    for value in 0..40_000 {
        w.command(0, id(CommandId::GL_ENABLE), None, &Payload::new().u32(value));
    }
    w.command(0, id(CommandId::GL_BUFFER_DATA), None, &Payload::new().put([0; 400]));
    w.end(EndReason::Frames, Vec::new());
    let mut reader = open(&w.finish());
    let mut raw = Vec::new();
    reader.read_block(3, &mut raw).unwrap();
    let mut encoder = gapii_trace::BlockEncoder::new(1).unwrap();
    encoder.encode(&raw).unwrap();
    assert_eq!(encoder.used(), Used::by(&raw));
    assert!(encoder.used().functions.contains(&id(CommandId::GL_BUFFER_DATA)));
    assert_eq!(encoder.used().values.len(), 40_000);
}
