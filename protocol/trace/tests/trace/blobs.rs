//! Blobs: found from every reference, accepted only if the hash of their bytes is their name, and counted.

use std::io::Cursor;

use gapii_abi::atom::{self, EFFECT, EndReason, SETUP};
use gapii_trace::blobs::{BlobEntry, BlobSource, NamePrefix};
use gapii_trace::store::BlobError;
use gapii_trace::value::Observation;
use gapii_trace::verify::ProblemKind;
use gapii_trace::{BlobName, Info, TraceReader, verify};

use crate::describe::*;
use crate::writer::{Writer, lines, open, small_file};

fn bytes(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 31 + seed + i / 256) as u8).collect()
}

fn upload() -> Payload {
    Payload::new().u32(0x8892).u64(4096).u64(0x1000).u32(0x88E4)
}

/// Two threads: a blob of 3000 bytes in three blocks, mixed with another thread's blob; then references.
fn two_blobs() -> (Writer, [Vec<u8>; 2]) {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let (a, b) = (w.thread(process, 10, 1), w.thread(process, 11, 2));
    let blobs = [bytes(3000, 1), bytes(700, 2)];
    w.piece(a, 3000, 0, &blobs[0][..1000]);
    w.end_block();
    w.blob(b, &blobs[1], 500);
    w.piece(a, 3000, 1000, &blobs[0][1000..2500]);
    w.end_block();
    w.piece(a, 3000, 2500, &blobs[0][2500..]);
    w.number(a, number_of(&blobs[0]));
    w.command(a, DATA, Some(3), &upload().blob(&blobs[0]));
    w.command(b, DATA, Some(4), &upload().blob(&blobs[1]).blob_range(2, 0x9000, &blobs[0]));
    w.swap(a, 5);
    w.end_block();
    w.command(b, DATA, Some(7), &upload().blob(&blobs[0]));
    w.swap(a, 8);
    (w, blobs)
}

/// The file of two blobs.
pub fn two_blobs_file() -> Vec<u8> {
    ended(two_blobs().0).finish()
}

/// A file of blobs, each in a block of its own, and a command that refers to it in the next one.
pub fn blobs_in_turn_file() -> Vec<u8> {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 10, 1);
    for at in 2..6 {
        let blob = bytes(700, at);
        w.blob(thread, &blob, 500);
        w.end_block();
        w.command(thread, DATA, Some(at as u64), &upload().blob(&blob));
        w.end_block();
    }
    ended(w).finish()
}

fn ended(mut w: Writer) -> Writer {
    w.end(EndReason::Stop, Vec::new());
    w
}

#[test]
fn blob_is_read_from_anywhere_with_and_without_index() {
    let (w, blobs) = two_blobs();
    let cut = w.file.clone();
    let whole = ended(w).finish();
    let (w, _) = two_blobs();
    let without_index = ended(w).finish_without_index();
    for file in [&whole, &cut, &without_index] {
        let reader = open(file);
        for blob in &blobs {
            assert_eq!(&reader.blob(BlobName::of(blob)).unwrap(), blob);
        }
    }
    let mut reader = open(&whole);
    let mut commands = reader.commands_in_frames(1..=1).unwrap();
    let command = commands.next_command().unwrap().unwrap();
    let seen = command.args().nth(2).unwrap().observation;
    assert_eq!(command.bytes_of(seen).as_deref(), Some(&blobs[0][..]));
}

#[test]
fn slots_and_ranges_are_told_apart() {
    let (w, blobs) = two_blobs();
    let mut reader = open(&ended(w).finish());
    let mut commands = reader.commands().unwrap();
    commands.next_command().unwrap();
    let command = commands.next_command().unwrap().unwrap();
    let name = BlobName::of(&blobs[1]);
    let seen = command.args().nth(2).unwrap().observation;
    assert_eq!(seen, Observation::Blob { name, size: 700 });
    let ranges: Vec<_> = command.ranges_read().collect();
    let [range] = ranges[..] else { panic!("{ranges:?}") };
    assert_eq!((range.address, command.param_of(&range)), (0x9000, Some("data")));
    assert_eq!(command.bytes_of(range.observation).as_deref(), Some(&blobs[0][..]));
    assert_eq!(command.ranges_written().count(), 0);
}

#[test]
fn memory_is_counted_the_same_from_footer_and_by_counting() {
    let (w, _) = two_blobs();
    let cut = w.file.clone();
    let whole = ended(w).finish();
    let info = Info::of(&mut open(&whole)).unwrap();
    let totals = info.memory.totals;
    assert_eq!((totals.blobs, totals.blob_bytes), (2, 3700));
    assert_eq!((totals.references, totals.referenced_bytes), (4, 9700));
    assert_eq!((totals.observed_bytes, info.memory.saved_bytes), (9700, 6000));
    // The cut file lacks the last block.
    let counted = Info::of(&mut open(&cut)).unwrap().memory.totals;
    assert_eq!((counted.blobs, counted.references), (2, 3));
}

#[test]
fn names_are_found_by_their_beginning() {
    let (w, blobs) = two_blobs();
    let reader = open(&ended(w).finish());
    let name = BlobName::of(&blobs[0]).to_string();
    let find = |prefix: &str| reader.blobs_named(&prefix.parse::<NamePrefix>().unwrap(), 9);
    for prefix in [&name[..8], &name.to_uppercase(), &name] {
        let found = find(prefix).unwrap();
        assert_eq!(found.iter().map(|blob| blob.size).collect::<Vec<_>>(), [3000], "{prefix}");
    }
    let other = if name.starts_with('0') { "1" } else { "0" }.to_owned() + &name[1..];
    assert_eq!(find(&other).unwrap(), []);
    for bad in ["", "x", "0123456789abcdef0123456789abcdef0"] {
        assert!(bad.parse::<NamePrefix>().is_err(), "{bad}");
    }
}

#[test]
fn bytes_of_another_hash_are_never_handed_out() {
    let (mut w, blobs) = two_blobs();
    let name = BlobName::of(&blobs[0]);
    // An index with a wrong place is not believed, and does not hide the blob.
    let lies = [(9, 0), (0, 8), (0, u32::MAX), (2, 64)];
    for (block, offset) in lies {
        for entry in &mut w.blobs {
            (entry.block, entry.offset) = (block, offset);
        }
        let (mut other, _) = two_blobs();
        other.blobs.clone_from(&w.blobs);
        let file = ended(other).finish();
        assert_eq!(open(&file).blob(name).unwrap(), blobs[0], "block {block}, byte {offset}");
        let verification = verify(&mut open(&file)).unwrap();
        assert_eq!(verification.problems[0].kind, ProblemKind::Index);
    }
    // An index with a name for other bytes is not believed either.
    let (mut w, _) = two_blobs();
    let promised = BlobName([7; 16]);
    w.blobs[0].name = promised;
    let reader = open(&ended(w).finish());
    assert!(matches!(reader.blob(promised), Err(BlobError::Unknown { .. })));
    assert!(reader.bytes(name, 2999).is_none() && reader.bytes(name, 3000).is_some());
}

#[test]
fn blob_beyond_the_limit_is_refused_unread() {
    let (mut w, _) = two_blobs();
    let name = BlobName([7; 16]);
    w.blobs.push(BlobEntry { name, size: u64::MAX, block: 0, offset: 0 });
    let reader = open(&ended(w).finish());
    assert!(matches!(reader.blob(name), Err(BlobError::TooLong { .. })));
}

#[test]
fn pieces_that_lie_make_no_blob() {
    let cases: [&[(u64, u64, usize)]; 7] = [
        &[(u64::MAX, 0, 10)],
        &[(10, 0, 20)],
        &[(10, 5, 5)],
        &[(10, 0, 5), (10, 6, 4)],
        &[(10, 0, 5), (11, 5, 5)],
        &[(10, u64::MAX, 5)],
        &[(10, 0, 5), (20, 0, 5), (10, 5, 5)],
    ];
    for pieces in cases {
        let mut w = Writer::new();
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        for (total, offset, len) in pieces {
            w.piece(thread, *total, *offset, &vec![0; *len]);
        }
        w.command(thread, DATA, None, &upload().blob(&[0; 10]));
        let mut reader = open(&ended(w).finish());
        assert!(reader.blob(BlobName::of(&[0; 10])).is_err(), "{pieces:?}");
        let verification = verify(&mut reader).unwrap();
        let kinds: Vec<_> = verification.problems.iter().map(|problem| problem.kind).collect();
        assert_eq!(kinds, [ProblemKind::Memory], "{pieces:?}");
        assert_eq!(verification.checked.missing_references, 1);
    }
}

#[test]
fn number_belongs_to_the_last_blob_of_its_thread_and_to_its_process() {
    let (first, second) = (bytes(600, 1), bytes(700, 2));
    let mut w = Writer::new();
    let (p, q) = (w.process(1, "p"), w.process(2, "q"));
    let (a, b, c) = (w.thread(p, 10, 1), w.thread(p, 11, 2), w.thread(q, 12, 3));
    let refer = |size, number: u64| {
        let word = atom::observation_word(atom::OBSERVED_NUMBER, size);
        upload().u64(word).u64(number)
    };
    // Two processes give the same number, and pieces of three threads are mixed.
    w.piece(a, 600, 0, &first[..300]);
    w.piece(c, 700, 0, &second);
    w.number(c, 5);
    // No blob is whole here.
    w.number(b, 5);
    w.number(a, 6);
    w.piece(a, 600, 300, &first[300..]);
    w.end_block();
    w.number(a, 5);
    w.command(a, DATA, None, &refer(600, 5));
    w.command(c, DATA, None, &refer(700, 5));
    w.command(b, DATA, None, &refer(600, 5));
    w.command(a, DATA, None, &refer(600, 6));
    w.command(c, DATA, None, &refer(700, 7));
    w.end_block();
    let cut = w.file.clone();
    for file in [cut, ended(w).finish()] {
        let mut reader = open(&file);
        let mut commands = reader.commands().unwrap();
        let mut seen = Vec::new();
        while let Some(command) = commands.next_command().unwrap() {
            let observation = command.args().nth(2).unwrap().observation;
            seen.push(match observation {
                Observation::Blob { .. } => command.bytes_of(observation).map(|it| it.to_vec()),
                Observation::Unnamed { .. } => None,
                other => panic!("{other:?}"),
            });
        }
        let (first, second) = (Some(first.clone()), Some(second.clone()));
        let expected = [first.clone(), second, first, None, None];
        assert_eq!(seen, expected);
        assert_eq!(verify(&mut reader).unwrap().checked.missing_references, 2);
    }
}

#[test]
fn set_up_command_may_refer_to_a_blob_that_comes_later() {
    let blob = bytes(600, 1);
    let refer = |size| {
        let word = atom::observation_word(atom::OBSERVED_NUMBER, size);
        upload().u64(word).u64(5)
    };
    // The flags of the command, the size that it refers to, whether the blob comes, and the references that lack one.
    let cases = [
        (SETUP | EFFECT, 600, true, 0),
        (EFFECT, 600, true, 1),
        (SETUP | EFFECT, 500, true, 1),
        (SETUP | EFFECT, 600, false, 1),
    ];
    for (flags, size, comes, missing) in cases {
        let mut w = Writer::new();
        let process = w.process(1, "p");
        let (thread, sender) = (w.thread(process, 2, 1), w.thread(process, 3, 2));
        w.enter(thread, DATA, flags, None, &refer(size));
        w.end_block();
        if comes {
            w.piece(sender, 600, 0, &blob);
            w.number(sender, 5);
        }
        let mut reader = open(&ended(w).finish());
        let verification = verify(&mut reader).unwrap();
        assert_eq!(verification.checked.missing_references, missing, "{flags:#x} {size} {comes}");
        assert_eq!(verification.ok, missing == 0);
        let mut commands = reader.commands().unwrap();
        let command = commands.next_command().unwrap().unwrap();
        let seen = command.args().nth(2).unwrap().observation;
        let is_read = command.bytes_of(seen).as_deref() == Some(&blob[..]);
        assert_eq!(is_read, comes && size == 600, "{seen:?}");
    }
}

#[test]
fn blob_is_found_by_its_name_where_an_older_record_has_that() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    let blob = bytes(600, 3);
    w.piece(thread, 600, 0, &blob);
    w.command(thread, DATA, None, &upload().blob_by_name(&blob));
    let mut reader = open(&ended(w).finish());
    assert!(verify(&mut reader).unwrap().ok);
    let mut commands = reader.commands().unwrap();
    let command = commands.next_command().unwrap().unwrap();
    let seen = command.args().nth(2).unwrap().observation;
    assert_eq!(command.bytes_of(seen).as_deref(), Some(&blob[..]));
}

#[test]
fn blob_that_is_begun_anew_is_whole() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    let blob = bytes(100, 3);
    w.piece(thread, 100, 0, &blob[..50]);
    w.blob(thread, &blob, 60);
    w.command(thread, DATA, None, &upload().blob(&blob));
    let mut reader = open(&ended(w).finish());
    assert_eq!(reader.blob(BlobName::of(&blob)).unwrap(), blob);
    assert!(verify(&mut reader).unwrap().ok);
}

#[test]
fn reference_before_its_blob_is_a_problem_and_where_records_were_lost_a_warning() {
    for lossy in [false, true] {
        let mut w = Writer::new();
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        let blob = bytes(100, 3);
        w.command(thread, DATA, None, &upload().blob(&blob));
        if lossy {
            w.gap(thread, 1, 0, 120);
        }
        w.end_block();
        w.blob(thread, &blob, 100);
        w.command(thread, DATA, None, &upload().blob(&blob));
        let verification = verify(&mut open(&ended(w).finish())).unwrap();
        let expected: Vec<String> = match lossy {
            true => vec![
                "1 references, to 100 bytes, have no blob before them".to_owned(),
                "lost, cause dropped: 1 records, 0 commands".to_owned(),
            ],
            false => Vec::new(),
        };
        assert_eq!((verification.ok, &verification.warnings[..]), (lossy, &expected[..]));
        assert_eq!(verification.checked.missing_references, 1);
        assert_eq!(verification.checked.memory.references, 2);
    }
}

#[test]
fn ranges_that_lie_are_missing() {
    let whole = draw(4, 0, 3).u64(0x5000);
    for payload in [
        draw(4, 0, 3).u32(0).u32(1),
        whole.clone(),
        whole.clone().u64(1 << 56 | 9).u64(0),
        whole.clone().u64(3 << 56 | 9).u64(0),
        whole.clone().u64(4 << 56 | 9),
        whole.clone().u64(9 << 56 | 9).u64(0),
        whole.clone().u64(u64::MAX),
        whole.u64(1 << 56 | 8).u64(0).u32(1),
    ] {
        let mut w = Writer::new();
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        w.command(thread, DRAW, None, &payload);
        let file = ended(w).finish();
        assert!(lines(&file)[0].contains(r#""missing":true"#), "{:?}", payload.0);
        let verification = verify(&mut open(&file)).unwrap();
        assert_eq!(verification.problems[0].kind, ProblemKind::Payload, "{:?}", payload.0);
    }
}

#[test]
fn text_in_a_blob_is_shown_as_text() {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    let thread = w.thread(process, 2, 1);
    let text = [&600_u32.to_le_bytes()[..], &[b'x'; 600]].concat();
    w.blob(thread, &text, 1000);
    let source = Payload::new().u32(3).i32(1).u64(0x10).u64(0);
    w.command(thread, SOURCE, None, &source.clone().blob(&text));
    w.command(thread, SOURCE, None, &source.blob(b"not in the trace"));
    let lines = lines(&ended(w).finish());
    assert!(lines[0].contains(&"x".repeat(600)), "{}", lines[0]);
    assert!(lines[1].contains(r#""blob":true,"missing":true"#), "{}", lines[1]);
}

#[test]
fn damaged_block_takes_no_more_than_its_blobs() {
    let (w, blobs) = two_blobs();
    let second = w.block_offsets[1];
    let mut file = ended(w).finish();
    file[second + 20] ^= 0x10;
    let reader = TraceReader::open(Cursor::new(file)).unwrap();
    for blob in &blobs {
        assert!(reader.blob(BlobName::of(blob)).is_err());
    }
    let mut small = small_file();
    small.truncate(small.len() - 30);
    let name = BlobName::of(&[[1; 12].as_slice(), &[2; 8]].concat());
    assert_eq!(open(&small).blob(name).unwrap().len(), 20);
}
