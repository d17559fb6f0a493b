//! What leaves a trace, and what stays: on records of each kind, and on the traces of `tests/data/traces`, which earlier builds
//! recorded.

use std::collections::{BTreeSet, HashSet};
use std::fs::File;
use std::io::Cursor;
use std::path::Path;

use gapii_abi::atom::{
    self, ATOMS, EFFECT, FrameKind, GpuTime, GpuTimesKind, HEADER_LEN, LEAVE, LEAVES, SubjectKind,
    TimeKind, TracedKind, observation_word, range_word,
};
use gapii_commands::Kind;
use gapii_state::generated::extensions::NAMES as EXTENSIONS;
use gapii_trace::append::AppendTo;
use gapii_trace::blobs::NoBlobs;
use gapii_trace::record::Records as Located;
use gapii_trace::{Command, Description, meta, verify};

use super::*;

const KEY: [u8; 32] = [7; 32];
/// Eight bytes that nothing but contents has.
const SECRET: &[u8; 8] = b"s3cret:!";

/// The beginning of a block, with a process and a thread.
fn beginning() -> Vec<u8> {
    let mut raw = Vec::new();
    atom::Block { number: 0, first_seq: 0, start_ns: 1 }.append_to(&mut raw);
    meta::Process { process: 0, pid: 4711, start_ns: 2, frames: 0, name: SECRET }
        .append_to(&mut raw);
    let name = [*SECRET, [0; 8]].concat().try_into().expect("16 bytes");
    let state =
        atom::ThreadState { thread: 0, process: 0, tid: 4711, api: 3, context: 9, stamp: 4, name };
    state.append_to(&mut raw);
    atom::SwitchThread { thread: 0 }.append_to(&mut raw);
    raw
}

fn append(raw: &mut Vec<u8>, id: u16, flags: u16, payload: &[u8]) {
    let len = HEADER_LEN + payload.len() as u32;
    raw.extend(atom::Header::new(id, flags, len).0.to_le_bytes());
    raw.extend_from_slice(payload);
    raw.resize(raw.len().next_multiple_of(8), 0);
}

fn id_of(name: &str) -> u16 {
    Description::built_in().named(name).unwrap_or_else(|| panic!("{name} is known")).id
}

/// Rewrites a block as the second pass does. Returns the payloads by id, in order.
#[track_caller]
fn rewritten(mut raw: Vec<u8>) -> Vec<(u16, Vec<u8>)> {
    let before: Vec<_> = headers(&raw);
    let mut records = Records::new(Description::built_in(), KEY, Keep::default());
    records.block(0, &mut raw.clone(), &NoBlobs).expect("the first pass");
    records.begin_writing();
    records.block(0, &mut raw, &NoBlobs).expect("the second pass");
    assert_eq!(headers(&raw), before, "records keep their headers and places");
    assert!(!has(&raw, SECRET), "contents are left");
    let all = Located::new(&raw).map(|record| record.expect("a record"));
    all.map(|record| (record.header.id(), record.payload.to_vec())).collect()
}

fn headers(raw: &[u8]) -> Vec<(usize, u64)> {
    let all = Located::new(raw).map(|record| record.expect("a record"));
    all.map(|record| (record.start, record.header.0)).collect()
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// The payload of the last record.
#[track_caller]
fn last(id: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
    let mut raw = beginning();
    append(&mut raw, id, flags, payload);
    rewritten(raw).pop().expect("a record").1
}

#[test]
fn every_atom_keeps_its_numbers_and_loses_its_texts_and_bytes() {
    let text = |fixed: &[u8]| [fixed, SECRET].concat();
    let time = GpuTime { called_ns: 1, begin_ns: 2, duration_ns: 3, tid: 4711, id: 5 };
    let times =
        atom::GpuTimes { context: 1, kind: GpuTimesKind::Times, count: 1, from_ns: 8, to_ns: 9 };
    let limits = atom::Limits { context: 1, major: 3, minor: 2, numbers: 2, extensions_len: 16 };
    let limits = [&limits.encode()[..], &[1, 0, 0, 0, 2, 0, 0, 0], b"GL_OES_mapbuffer"].concat();
    let limits = [&limits[..], SECRET, b"\0", SECRET, b"\0"].concat();
    let flush = id_of("glFlush");
    let traced = atom::Traced { id: flush, kind: TracedKind::Own, args_len: 0 };
    let name = [*SECRET; 2].concat().try_into().expect("16 bytes");
    let kept = |payload: &[u8]| (payload.to_vec(), payload.to_vec());
    // The payload, and the part of it that stays.
    let with_tail = |fixed: Vec<u8>| (text(&fixed), fixed);
    let cases = [
        (atom::MISSING, with_tail(atom::Missing { len: 8 }.encode().to_vec())),
        (atom::THREAD, (atom::Thread { tid: 4711, flags: 0, name }.encode().to_vec(), vec![1])),
        (atom::CONTEXT, kept(&atom::Context { context: 5, api: 3, client_version: 2 }.encode())),
        (
            atom::GPU_TIMES,
            (
                [&times.encode()[..], &time.encode()].concat(),
                [&times.encode()[..], &GpuTime { tid: 1, ..time }.encode()].concat(),
            ),
        ),
        (atom::GAP, kept(&atom::Gap { records: 3, calls: 2, ..atom::Gap::default() }.encode())),
        (atom::CAPTURE_END, kept(&[1, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0])),
        (atom::BLOB, with_tail(atom::Blob { total: 8, offset: 0 }.encode().to_vec())),
        (atom::LIMITS, (limits.clone(), limits[..40].to_vec())),
        (
            atom::FRAME,
            (
                [&atom::Frame {
                    surface: 1,
                    frame: 2,
                    width: 3,
                    height: 4,
                    kind: FrameKind::Hash,
                    name,
                }
                .encode()[..]]
                .concat(),
                vec![1, 0, 0, 0, 0, 0, 0, 0, 2],
            ),
        ),
        (atom::SNAPSHOT, with_tail(atom::Snapshot { len: 8, held_us: 7 }.encode().to_vec())),
        (atom::KEYFRAME, kept(&atom::Keyframe { frame: 1, at_ns: 2 }.encode())),
        (atom::SUBJECT, kept(&atom::Subject { id: 1, kind: SubjectKind::Group, made: 1 }.encode())),
        (atom::STORED, kept(&atom::Stored { total: 1, offset: 2, len: 3, number: 4 }.encode())),
        (atom::TRACED, with_tail(traced.encode().to_vec())),
        (atom::NUMBERED, kept(&atom::Numbered { number: 77 }.encode())),
        (
            atom::TIME,
            kept(
                &atom::Time { at_ns: 1, kind: TimeKind::Wait, function: 0, duration_ns: 3 }
                    .encode(),
            ),
        ),
        (
            atom::RINGS,
            (
                [
                    &atom::Rings { threads: 1, processes: 1, rings: 1, flags: 0 }.encode()[..],
                    &atom::Ring {
                        segment: u64::from_le_bytes(*SECRET),
                        index: 5,
                        ..atom::Ring::default()
                    }
                    .encode(),
                ]
                .concat(),
                [
                    &atom::Rings { threads: 1, processes: 1, rings: 1, flags: 0 }.encode()[..],
                    &atom::Ring { index: 5, ..atom::Ring::default() }.encode(),
                ]
                .concat(),
            ),
        ),
        (atom::ACCOUNT, kept(&atom::Account { produced: 3, ..atom::Account::default() }.encode())),
        (atom::SEAM, kept(&atom::Seam { from_ns: 1, to_ns: 2, processes: 3, absent: 4 }.encode())),
        (atom::END, kept(&[2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])),
    ];
    let mut done = BTreeSet::from([
        // At the beginning of each block here.
        atom::BLOCK,
        atom::PROCESS,
        atom::THREAD_STATE,
        atom::SWITCH_THREAD,
        // Never among the records of a block.
        atom::PACKED,
    ]);
    for (id, (payload, stays)) in cases {
        let found = last(id, 0, &payload);
        assert_eq!(found.len(), payload.len(), "{id:#x}");
        assert_eq!(found[..stays.len()], stays, "{id:#x}");
        // A field that a later version appends.
        let longer = last(id, 0, &[&payload[..], SECRET].concat());
        assert!(!has(&longer, SECRET) && longer.len() == payload.len() + 8, "{id:#x}");
        done.insert(id);
    }
    let all: BTreeSet<_> = ATOMS.iter().filter_map(|atom| atom.id).collect();
    assert_eq!(done, all, "each atom is looked at");
}

#[test]
fn what_nobody_has_decided_about_is_refused() {
    let refused = |id: u16, payload: &[u8]| {
        let mut raw = beginning();
        append(&mut raw, id, 0, payload);
        Records::new(Description::built_in(), KEY, Keep::default()).block(0, &mut raw, &NoBlobs)
    };
    assert_eq!(refused(0xFFE0, SECRET), Err(RecordFault::Atom(0xFFE0)));
    let text = [&[0; 16][..], &observation_word(9, 8).to_le_bytes(), SECRET].concat();
    let function = "glBindAttribLocation".to_owned();
    assert_eq!(
        refused(id_of(&function), &text),
        Err(RecordFault::Observation { function, kind: 9 })
    );
    assert!(refused(0x10, &[0; 4]).is_ok(), "a command that is too short is no fault");
}

#[test]
fn function_without_a_description_keeps_its_header_alone() {
    assert_eq!(last(0xEFFF, EFFECT, SECRET), [0; 8]);
}

/// Memory in a record: its word, and the bytes.
fn inline(word: u64, bytes: &[u8]) -> Vec<u8> {
    let mut memory = [&word.to_le_bytes(), bytes].concat();
    memory.resize(memory.len().next_multiple_of(8), 0);
    memory
}

fn slot(bytes: &[u8]) -> Vec<u8> {
    inline(observation_word(atom::OBSERVED_INLINE, bytes.len() as u64), bytes)
}

fn range(address: u64, param: u8, bytes: &[u8]) -> Vec<u8> {
    let word = range_word(atom::OBSERVED_INLINE, param, bytes.len() as u64);
    [&address.to_le_bytes()[..], &inline(word, bytes)].concat()
}

fn words(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

#[test]
fn sources_keep_their_lengths_and_lose_their_texts() {
    let source = [&9_u32.to_le_bytes()[..], SECRET, b"\n"].concat();
    // Shader 5, one string, two pointers.
    let args = [words(&[5, 1, 0x7F00_1000, 0, 0x7F00_2000, 0])].concat();
    let payload = [args.clone(), slot(&source), slot(&words(&[9]))].concat();
    let found = last(id_of("glShaderSource"), EFFECT, &payload);
    let memory = args.len() + 8;
    assert_eq!(found[..memory + 4], payload[..memory + 4], "names, addresses, sizes and lengths");
    assert_eq!(found[memory + 12], b'\n');
    assert!(found[memory + 4..memory + 12].iter().all(u8::is_ascii_graphic));
    assert_eq!(found[memory + 16..], payload[memory + 16..], "lengths of strings");
}

#[test]
fn numbers_stay_where_they_are_structure_and_nowhere_else() {
    let parameter = [words(&[5, 6, 0x7F00_1000, 0]), range(0x7F00_1000, 2, &words(&[7]))];
    let parameter = parameter.concat();
    assert_eq!(last(id_of("glTexParameteriv"), EFFECT, &parameter), parameter);
    let uniform = [words(&[3, 1, 0x7F00_1000, 0]), slot(&words(&[1, 2, 3, 4]))].concat();
    let found = last(id_of("glUniform4iv"), EFFECT, &uniform);
    assert_eq!(found[..24], uniform[..24]);
    assert_ne!(found[24..], uniform[24..]);
    let names = [words(&[2, 0, 0x7F00_1000, 0]), slot(&words(&[11, 12]))].concat();
    assert_eq!(last(id_of("glDeleteTextures"), EFFECT, &names), names);
    // Vertices, as numbers of both kinds.
    let vertex = [1.5_f32, 2.5, 1.5].map(f32::to_le_bytes).concat();
    let found = last(id_of("glVertex3f"), EFFECT, &vertex);
    let floats: Vec<_> = found.as_chunks().0.iter().map(|it| f32::from_le_bytes(*it)).collect();
    assert!(floats.iter().all(|it| (0.0..1.0).contains(it)), "{floats:?}");
    assert!(floats[0] == floats[2] && floats[0] != floats[1], "{floats:?}");
    let attribute = words(&[6, 1001, 1002, 1003, 1004]);
    let found = last(id_of("glVertexAttribI4i"), EFFECT, &attribute);
    assert_eq!(found[..4], attribute[..4]);
    assert!((1..5).all(|at| found[at * 4..][..4] != attribute[at * 4..][..4]));
}

#[test]
fn memory_without_a_type_and_memory_of_no_parameter_are_noise() {
    let image = id_of("glTexImage2D");
    let args =
        vec![0; Description::built_in().function(image).expect("it is known").fixed_len as usize];
    let args = args.len().next_multiple_of(8);
    let payload =
        [vec![0; args], range(0x7F00_1000, 8, SECRET), range(0x7F00_2000, 255, SECRET)].concat();
    let found = last(image, EFFECT, &payload);
    assert_eq!(found[args..args + 16], payload[args..args + 16]);
    assert_eq!(found[args + 16..args + 24], found[args + 40..], "equal memory, equal noise");
}

#[test]
fn structs_keep_numbers_and_addresses_and_lose_what_they_point_at() {
    // zeKernelCreate(hModule, desc, phKernel): stype, pNext, flags, pKernelName.
    let desc = [words(&[0x1d, 0, 0, 0, 1, 0]), 0x7F00_5000_u64.to_le_bytes().to_vec()].concat();
    let args = [7_u64, 0x7F00_4000, 0x7F00_6000].map(u64::to_le_bytes).concat();
    let payload = [args, range(0x7F00_4000, 1, &desc), range(0x7F00_5000, 1, SECRET)].concat();
    let found = last(id_of("zeKernelCreate"), LEAVES, &payload);
    assert_eq!(found[..payload.len() - 8], payload[..payload.len() - 8]);
    assert!(found[payload.len() - 8..].iter().all(|byte| byte.is_ascii_graphic()), "it is a text");
    // Without the struct nobody knows what the memory is: it becomes bytes.
    let payload = [&payload[..24], &range(0x7F00_5000, 1, SECRET)].concat();
    let found = last(id_of("zeKernelCreate"), LEAVES, &payload);
    assert_eq!(found[..40], payload[..40]);
}

#[test]
fn struct_that_a_driver_wrote_is_known_by_the_argument_and_loses_its_uuid() {
    // zeDriverGetProperties(hDriver, pDriverProperties): stype, pNext, uuid, driverVersion.
    let id = id_of("zeDriverGetProperties");
    let args = [7_u64, 0x7F00_4000].map(u64::to_le_bytes).concat();
    let desc =
        |uuid: [&[u8]; 2]| [&words(&[1, 0, 0, 0])[..], uuid[0], uuid[1], &words(&[77, 0])].concat();
    let properties = desc([SECRET; 2]);
    let leave = [words(&[0, 0]), range(0x7F00_4000, 1, &properties)].concat();
    let mut raw = beginning();
    append(
        &mut raw,
        id,
        LEAVES,
        &[&args[..], &range(0x7F00_4000, 1, &desc([&[0; 8]; 2]))].concat(),
    );
    append(&mut raw, id, LEAVE | EFFECT, &leave);
    let found = rewritten(raw).pop().expect("a record").1;
    assert_eq!(found[..40], leave[..40]);
    assert_eq!(found[56..], leave[56..], "the version of the driver stays");
    assert_ne!(found[40..56], [0; 16]);
}

/// The records of a trace.
fn blocks(file: &[u8]) -> Vec<u8> {
    let mut reader = TraceReader::open(Cursor::new(file)).expect("a trace");
    let (mut all, mut raw) = (Vec::new(), Vec::new());
    for block in 0..reader.blocks().len() {
        reader.read_block(block, &mut raw).expect("a block");
        all.extend_from_slice(&raw);
    }
    all
}

fn windows(bytes: &[u8]) -> impl Iterator<Item = [u8; 8]> {
    // Runs of a few bytes are everywhere.
    let is_rich = |window: &[u8; 8]| {
        let mut sorted = *window;
        sorted.sort_unstable();
        sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() >= 4
    };
    bytes.windows(8).filter_map(|window| window.first_chunk().copied()).filter(is_rich)
}

/// The windows of texts and of memory without a type in a command.
fn contents(command: &Command<'_>, into: &mut HashSet<[u8; 8]>) {
    let mut seen = Vec::new();
    for arg in command.args() {
        let is_bytes = arg.param.element.is_none();
        match arg.param.ty.kind {
            Kind::String | Kind::Strings => seen.push(arg.observation),
            Kind::Pointer | Kind::Array if is_bytes => seen.push(arg.observation),
            _ => {}
        }
    }
    seen.extend(command.result().map(|(_, text)| text));
    for range in command.ranges_read().chain(command.ranges_written()) {
        let param = range.param.and_then(|at| command.args().nth(at.into()));
        let is_plain = param.is_none_or(|arg| {
            arg.param.ty.kind == Kind::String
                || (matches!(arg.param.ty.kind, Kind::Pointer | Kind::Array)
                    && arg.param.element.is_none())
        });
        if is_plain {
            seen.push(range.observation);
        }
    }
    // A short one may be an address, as an argument of a kernel.
    let seen = seen.into_iter().filter_map(|it| command.bytes_of(it)).filter(|it| it.len() > 8);
    seen.for_each(|bytes| into.extend(windows(&bytes)));
    into.extend(command.frame_pixels().iter().flat_map(|pixels| windows(pixels)));
}

#[test]
fn traces_of_earlier_builds_lose_their_contents_and_keep_their_structure() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/traces");
    let traces = folder.read_dir().expect("the traces are there").flatten().map(|it| it.path());
    let traces = traces.filter(|path| path.extension().is_some_and(|it| it == "gapii"));
    // Names of extensions are no secret.
    let is_name = |text: &str| EXTENSIONS.iter().any(|name| name.contains(text));
    let is_public =
        |window: &[u8; 8]| str::from_utf8(window).is_ok_and(|text| text.split(' ').all(is_name));
    let (mut looked_at, mut contents_seen, mut texts_seen) = (0, 0, 0);
    for path in traces {
        let name = path.display().to_string();
        let original = std::fs::read(&path).expect("a trace");
        let mut reader = TraceReader::open(File::open(&path).expect("a trace")).expect("a trace");
        let mut written = Vec::new();
        anonymise(&mut reader, &mut written, (KEY, Keep::default()), |_| {}).expect(&name);
        let mut secrets = HashSet::new();
        let mut commands = reader.commands().expect("commands");
        let mut called = Vec::new();
        while let Some(command) = commands.next_command().expect("a command") {
            contents(&command, &mut secrets);
            called.push((command.name().to_owned(), command.seq, command.thread, command.frame));
        }
        let mut all = blocks(&written);
        let left = windows(&all).filter(|it| secrets.contains(it) && !is_public(it));
        let left: Vec<_> = left.map(|it| String::from_utf8_lossy(&it).into_owned()).collect();
        assert_eq!(left, Vec::<String>::new(), "{name}: of {} windows", secrets.len());
        contents_seen += secrets.len();
        let mut new = TraceReader::open(Cursor::new(&written[..])).expect("a trace");
        let header = new.header();
        let said = (&header.writer, &header.session, &header.filter, new.footer());
        all.extend(format!("{said:?}").into_bytes());
        let footer = reader.footer().cloned();
        let texts = footer.iter().flat_map(|footer| {
            let programs = footer.processes.iter().flat_map(|it| [&it.name, &it.exe]);
            let threads = footer.threads.iter().map(|it| &it.name);
            programs.chain(threads).chain(&footer.options.command).map(|it| it.raw())
        });
        for text in texts.filter(|text| text.len() > 3 && !is_name(text)) {
            assert!(!has(&all, text.as_bytes()), "{name}: {text}");
        }
        assert!(new.header().anonymised && *new.tail() == *reader.tail() || footer.is_none());
        let mut commands = new.commands().expect("commands");
        let mut again = Vec::new();
        while let Some(command) = commands.next_command().expect("a command") {
            let texts = command.args().filter(|arg| arg.param.ty.kind == Kind::String);
            let texts = texts.map(|arg| arg.observation).chain(command.result().map(|it| it.1));
            for text in texts.filter_map(|text| command.bytes_of(text)) {
                assert!(text.is_ascii(), "{name}: text of {} bytes", text.len());
                texts_seen += 1;
            }
            again.push((command.name().to_owned(), command.seq, command.thread, command.frame));
        }
        assert_eq!(again, called, "{name}");
        let mut old = TraceReader::open(Cursor::new(&original[..])).expect("a trace");
        let (before, after) =
            (verify(&mut old).expect("memory"), verify(&mut new).expect("memory"));
        assert_eq!(after.checked, before.checked, "{name}");
        assert_eq!(after.problem_count, before.problem_count, "{name}: {:?}", after.problems);
        looked_at += 1;
    }
    let seen = (looked_at, contents_seen, texts_seen);
    assert!(looked_at >= 10 && contents_seen > 10_000 && texts_seen > 10, "{seen:?}");
}
