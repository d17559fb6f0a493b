//! Hostile files: wrong lengths, decompression bombs, bytes that are not records. They are refused, counted or
//! shown as missing, without a panic and without an allocation beyond the limits.

use std::io::Cursor;

use gapii_abi::atom::{self, Header};
use gapii_trace::block::{BLOCK_BYTES_MAX, DecodeError};
use gapii_trace::header::HEADER_BODY_BYTES_MAX;
use gapii_trace::reader::OpenError;
use gapii_trace::{BlobName, BlockDecoder, Info, Tail, TraceReader, encode_block, json, verify};
use proptest::prelude::*;

use crate::describe::*;
use crate::writer::{Writer, header, open};

/// Reads a whole file in every way, and returns how it ends.
pub fn read_all(file: &[u8]) -> Option<Tail> {
    let mut reader = TraceReader::open(Cursor::new(file)).ok()?;
    let mut commands = reader.commands().unwrap().with_tracers();
    while let Some(command) = commands.next_command().unwrap() {
        json::write_line(&command, &mut std::io::sink()).unwrap();
    }
    let tail = commands.tail().clone();
    read_blobs(&reader);
    let _ = Info::of(&mut reader).unwrap();
    let _ = verify(&mut reader).unwrap();
    let mut commands = reader.commands_in_frames(1..=2).unwrap();
    while commands.next_command().unwrap().is_some() {}
    let mut commands = reader.commands().unwrap();
    while commands.next_command().unwrap().is_some() {}
    Some(tail)
}

/// Reads some of the blobs that a file claims to have.
fn read_blobs(reader: &TraceReader<Cursor<&[u8]>>) {
    for digit in "0123456789abcdef".chars() {
        let prefix = digit.to_string().parse().unwrap();
        for blob in reader.blobs_named(&prefix, 4).unwrap() {
            if let Ok(bytes) = reader.blob(blob.name) {
                assert_eq!(BlobName::of(&bytes), blob.name);
            }
        }
    }
}

/// A file whose only block has these bytes after a thread's first records.
fn file_of(records: &[u8]) -> Vec<u8> {
    let mut w = Writer::new();
    let process = w.process(1, "p");
    w.thread(process, 2, 1);
    w.raw_bytes(records);
    w.end_block();
    w.finish()
}

fn record(id: u16, flags: u16, len: u32, payload: &[u8]) -> Vec<u8> {
    [&Header::new(id, flags, len).0.to_le_bytes()[..], payload].concat()
}

#[test]
fn record_that_lies_about_its_length_ends_the_block() {
    let cases = [
        ("nothing", record(DRAW, 4, 0, &[])),
        ("shorter than its header", record(DRAW, 4, 7, &[])),
        ("shorter than its stamp", record(DRAW, 5, 15, &[0; 8])),
        ("past the end", record(DRAW, 4, 64, &[0; 8])),
        ("huge", record(DRAW, 4, u32::MAX, &[0; 8])),
        ("cut in its header", vec![1, 2, 3]),
        ("padding of a ring", record(atom::PAD, 0, 16, &[0; 8])),
    ];
    for (what, bytes) in cases {
        let file = file_of(&bytes);
        assert!(matches!(read_all(&file), Some(Tail::Damaged { .. })), "{what}");
        let verification = verify(&mut open(&file)).unwrap();
        assert!(!verification.ok, "{what}");
    }
}

#[test]
fn meta_record_that_lies_ends_the_block() {
    let word = |value: u32| value.to_le_bytes();
    let cases = [
        ("thread never described", record(atom::SWITCH_THREAD, 0, 16, &[7; 8])),
        ("thread beyond the limit", {
            let mut state = [0; 48];
            state[..4].copy_from_slice(&word(u32::MAX));
            record(atom::THREAD_STATE, 0, 56, &state)
        }),
        ("process beyond the limit", record(atom::PROCESS, 0, 40, &[0xFF; 32])),
        ("name past the end", {
            let mut process = [0; 32];
            process[24..28].copy_from_slice(&word(u32::MAX));
            record(atom::PROCESS, 0, 40, &process)
        }),
        ("more in flight than there are", record(atom::END, 0, 24, &[0xFF; 16])),
        ("too short", record(atom::GAP, 0, 16, &[0; 8])),
    ];
    for (what, bytes) in cases {
        assert!(matches!(read_all(&file_of(&bytes)), Some(Tail::Damaged { .. })), "{what}");
    }
}

#[test]
fn observations_that_lie_are_missing() {
    let huge = Payload::new().u32(0).u64(0).u64(0).u32(0).put([0; 1]).0;
    for word in [
        atom::observation_word(atom::OBSERVED_INLINE, (1 << 48) - 1),
        atom::observation_word(atom::OBSERVED_INLINE, 9),
        atom::observation_word(2, 5),
        atom::observation_word(atom::OBSERVED_BLOB, 16),
        u64::MAX,
    ] {
        let mut w = Writer::new();
        let process = w.process(1, "p");
        let thread = w.thread(process, 2, 1);
        let payload = Payload(huge.clone()).u64(word).put([0; 8]);
        w.command(thread, DATA, None, &payload);
        w.end_block();
        let lines = crate::writer::lines(&w.finish());
        assert!(lines[0].contains(r#""missing":true"#), "{word:#x}: {}", lines[0]);
    }
}

#[test]
fn block_whose_content_size_lies_is_refused() {
    let frame = encode_block(&[0; 4096], 1).unwrap();
    // Magic, descriptor (single segment, two bytes of size), then the size less 256.
    assert_eq!(frame[4] & 0xE0, 0x60);
    for size in [0u16, 3839, 3841, u16::MAX] {
        let mut lying = frame.clone();
        lying[5..7].copy_from_slice(&size.to_le_bytes());
        let mut raw = Vec::new();
        let decoded = BlockDecoder::new(BLOCK_BYTES_MAX).decode_into(&lying, &mut raw);
        assert!(decoded.is_err(), "content size {}", u32::from(size) + 256);
        let mut file = header().encode().unwrap();
        file.extend_from_slice(&lying);
        assert!(matches!(read_all(&file), Some(Tail::Damaged { .. })));
    }
}

#[test]
fn bomb_is_refused_by_its_declared_size() {
    let bomb = zstd_bomb(BLOCK_BYTES_MAX + 1);
    assert!(bomb.len() < 4096);
    let refused = BlockDecoder::new(BLOCK_BYTES_MAX).decode_into(&bomb, &mut Vec::new());
    assert!(matches!(refused, Err(DecodeError::TooLong { .. })), "{refused:?}");
    let mut file = header().encode().unwrap();
    let at = file.len() as u64;
    file.extend_from_slice(&bomb);
    assert!(matches!(read_all(&file), Some(Tail::Damaged { at: found, .. }) if found == at));
}

#[test]
fn header_bomb_is_refused() {
    let body = zstd_bomb(HEADER_BODY_BYTES_MAX + 1);
    let mut file = 0x184D_2A50u32.to_le_bytes().to_vec();
    file.extend_from_slice(&(body.len() as u32 + 16).to_le_bytes());
    file.extend_from_slice(b"GAPIIHDR");
    file.extend_from_slice(&crc32fast::hash(&body).to_le_bytes());
    file.extend_from_slice(&1u32.to_le_bytes());
    file.extend_from_slice(&body);
    assert!(matches!(TraceReader::open(Cursor::new(file)), Err(OpenError::Header(_))));
}

#[test]
fn header_that_claims_gigabytes_is_refused_unread() {
    let mut file = 0x184D_2A50u32.to_le_bytes().to_vec();
    file.extend_from_slice(&u32::MAX.to_le_bytes());
    file.resize(100, 0);
    let opened = TraceReader::open(Cursor::new(file));
    assert!(matches!(opened, Err(OpenError::HeaderTooLong { .. })));
}

/// A frame of many zeros with its size declared.
fn zstd_bomb(len: usize) -> Vec<u8> {
    let mut context = zstd::zstd_safe::CCtx::create();
    context.set_parameter(zstd::zstd_safe::CParameter::ChecksumFlag(true)).unwrap();
    let mut out = vec![0; zstd::zstd_safe::compress_bound(len)];
    let written = context.compress2(&mut out[..], &vec![0; len]).unwrap();
    out.truncate(written);
    out
}

proptest! {
    #[test]
    fn any_records_are_read_or_refused(
        words in proptest::collection::vec(any::<u64>(), 0..40),
        ids in proptest::collection::vec(0u16..12, 0..40),
    ) {
        let mut bytes = Vec::new();
        for (word, id) in words.iter().zip(ids.iter().chain(std::iter::repeat(&0))) {
            let len = 8 + (word % 5) as u32 * 8;
            let meta = [atom::BLOB, atom::SWITCH_THREAD, atom::BLOCK, atom::GAP, atom::END];
            let id = if word % 7 == 0 { meta[(word % 5) as usize] } else { *id };
            bytes.extend_from_slice(&Header::new(id, (word >> 8) as u16 & 31, len).0.to_le_bytes());
            bytes.resize(bytes.len() + len as usize - 8, (word % 3) as u8);
        }
        prop_assert!(read_all(&file_of(&bytes)).is_some());
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..500)) {
        read_all(&bytes);
        let mut after_header = header().encode().unwrap();
        after_header.extend_from_slice(&bytes);
        read_all(&after_header);
        read_all(&file_of(&bytes));
    }
}
