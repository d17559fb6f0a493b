//! A second reader of trace files, written from `docs/trace-format.md`: frames, packed blocks and record headers.
//!
//! Finds zstd frames by their own headers and decompresses them with `zstd -d`. Shares no code with the project's reader,
//! so that each can show errors of the other. Reads sound files only.

use std::io::Write;
use std::ops::Range;
use std::path::Path;
use std::process::{Command, Stdio};

const ZSTD_MAGIC: u32 = 0xFD2F_B528;
const SKIPPABLE_MAGIC: u32 = 0x184D_2A50;
const FLAG_LEAVE: u16 = 2;
const FLAG_EFFECT: u16 = 4;
const META_FIRST: u16 = 0xFF00;
const BLOCK: u16 = 0xFF10;
const PACKED: u16 = 0xFF18;

/// A zstd frame of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    pub bytes: Range<usize>,
    /// Metadata: header, index or footer.
    pub skippable: bool,
}

/// Numbers of records of each kind in a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub records: u64,
    pub enters: u64,
    pub leaves: u64,
    /// Commands that took effect.
    pub effects: u64,
}

/// The frames of a file, in order.
///
/// # Panics
/// If bytes belong to no frame.
pub fn frames(file: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    let mut at = 0;
    while at < file.len() {
        let frame = frame_at(file, at);
        at = frame.bytes.end;
        frames.push(frame);
    }
    frames
}

fn frame_at(file: &[u8], at: usize) -> Frame {
    let magic = u32_at(file, at);
    if magic & 0xFFFF_FFF0 == SKIPPABLE_MAGIC {
        let end = at + 8 + u32_at(file, at + 4) as usize;
        return Frame { bytes: at..end, skippable: true };
    }
    assert_eq!(magic, ZSTD_MAGIC, "a frame at {at}");
    Frame { bytes: at..end_of_data_frame(file, at), skippable: false }
}

/// RFC 8878, sections 3.1.1.1 and 3.1.1.2.
fn end_of_data_frame(file: &[u8], at: usize) -> usize {
    let descriptor = file[at + 4];
    let single_segment = descriptor >> 5 & 1 == 1;
    let window = usize::from(!single_segment);
    let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
    let content_size = match descriptor >> 6 {
        0 => usize::from(single_segment),
        1 => 2,
        2 => 4,
        _ => 8,
    };
    let mut at = at + 5 + window + dictionary + content_size;
    loop {
        let header = u32::from_le_bytes([file[at], file[at + 1], file[at + 2], 0]);
        let length = if header >> 1 & 3 == 1 { 1 } else { header >> 3 };
        at += 3 + length as usize;
        if header & 1 == 1 {
            break;
        }
    }
    at + if descriptor >> 2 & 1 == 1 { 4 } else { 0 }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Decompresses `bytes` with `zstd -d`.
///
/// # Panics
/// If `zstd` rejects them.
pub fn decompress(bytes: &[u8]) -> Vec<u8> {
    crate::process::require("zstd");
    let mut command = Command::new("zstd");
    command.args(["-d", "-c", "-q"]).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.spawn().expect("zstd was found");
    let mut stdin = child.stdin.take().expect("stdin is a pipe");
    let input = bytes.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let output = child.wait_with_output().expect("a child can be waited for");
    writer.join().expect("no writer panics").expect("zstd reads all of its input");
    assert!(output.status.success(), "zstd -d: {}", output.status);
    output.stdout
}

/// Decompresses a file with `zstd -d`.
pub fn decompress_file(path: &Path) -> Vec<u8> {
    decompress(&std::fs::read(path).expect("the trace is there"))
}

/// Returns the records of decompressed blocks, of which some may be packed.
///
/// # Panics
/// If the bytes are no records, or a run has bytes too few or too many.
pub fn unpack(content: &[u8]) -> Vec<u8> {
    let mut records = Vec::new();
    let mut at = 0;
    while at < content.len() {
        let (length, id) = (u32_at(content, at) as usize, u32_at(content, at + 4) as u16);
        let end = at + length.next_multiple_of(8);
        match id {
            PACKED => unpack_run(&content[at + 8..at + length], &mut records),
            _ => records.extend_from_slice(&content[at..end]),
        }
        at = end;
    }
    records
}

fn unpack_run(mut bytes: &[u8], records: &mut Vec<u8>) {
    let mut take = |length: usize| bytes.split_off(..length).expect("the run is whole");
    let (count, kinds) = (u32_at(take(4), 0), u32_at(take(4), 0));
    let kinds: Vec<_> = (0..kinds)
        .map(|_| {
            let header = take(8);
            let varying = u64::from_le_bytes(take(8).try_into().expect("eight bytes"));
            let words = (u32_at(header, 0) as usize - 8).div_ceil(4);
            let own = |word: usize| varying >> word & 1 == 1;
            let common: Vec<_> =
                (0..words).map(|word| (!own(word)).then(|| take(4).to_vec())).collect();
            (header, common)
        })
        .collect();
    for kind in take(count as usize) {
        let (header, common) = &kinds[usize::from(*kind)];
        records.extend_from_slice(header);
        for word in common {
            records.extend_from_slice(word.as_deref().unwrap_or_else(|| take(4)));
        }
        records.resize(records.len().next_multiple_of(8), 0);
    }
    assert!(bytes.is_empty(), "{} bytes are left", bytes.len());
}

/// Counts the records of decompressed blocks.
///
/// # Panics
/// If a record exceeds its block.
pub fn count(stream: &[u8]) -> Counts {
    let mut counts = Counts::default();
    let mut at = 0;
    while at < stream.len() {
        let length = u32_at(stream, at) as usize;
        let id = u16::from_le_bytes([stream[at + 4], stream[at + 5]]);
        let flags = u16::from_le_bytes([stream[at + 6], stream[at + 7]]);
        assert!(length >= 8 && at + length <= stream.len(), "record of {length} bytes at {at}");
        counts.records += 1;
        if id < META_FIRST {
            let leave = flags & FLAG_LEAVE != 0;
            counts.leaves += u64::from(leave);
            counts.enters += u64::from(!leave);
            counts.effects += u64::from(flags & FLAG_EFFECT != 0);
        }
        at += length.next_multiple_of(8);
    }
    counts
}

/// The first record of every data frame says that a block begins.
pub fn begins_with_block(stream: &[u8]) -> bool {
    stream.len() >= 8 && u16::from_le_bytes([stream[4], stream[5]]) == BLOCK
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A record with nothing but a header.
    fn record(length: u32, id: u16, flags: u16) -> Vec<u8> {
        let mut record = length.to_le_bytes().to_vec();
        record.extend(id.to_le_bytes());
        record.extend(flags.to_le_bytes());
        record.resize(length.next_multiple_of(8) as usize, 0);
        record
    }

    #[test]
    fn frames_end_where_zstd_ends_them() {
        let session = crate::gapii::Session::new();
        let plain = session.path("plain");
        let text: Vec<u8> = (0..100_000u32).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
        std::fs::write(&plain, &text).unwrap();
        let zstd = Command::new("zstd").args(["-q", "-c"]).arg(&plain).output().unwrap().stdout;
        let skippable = [&[0x51, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
        let file = [&skippable[..], &zstd, &zstd].concat();
        let ends: Vec<usize> = frames(&file).iter().map(|frame| frame.bytes.end).collect();
        assert_eq!(ends, [11, 11 + zstd.len(), 11 + 2 * zstd.len()]);
        assert_eq!(decompress(&file), [&text[..], &text].concat());
    }

    #[test]
    fn packed_records_are_unpacked() {
        let kind = |length: u32, id: u16, varying: u64| {
            [&record(length, id, 4)[..8], &varying.to_le_bytes()].concat()
        };
        // Two of five bytes, whose second word all have, one of eight, and a record in between that is not packed.
        let run = [
            &[3, 0, 0, 0, 2, 0, 0, 0][..],
            &[&kind(8 + 5, 7, 1)[..], &[5, 0, 0, 0]].concat(),
            &kind(8, 9, 0),
            &[0, 1, 0],
            &[1, 2, 3, 4, 8, 8, 8, 8],
        ]
        .concat();
        let mut packed = record(8 + run.len() as u32, PACKED, 0);
        packed[8..8 + run.len()].copy_from_slice(&run);
        let long = record(32, BLOCK, 0);
        let mut expected = [record(13, 7, 4), record(8, 9, 4), record(13, 7, 4)].concat();
        expected[8..13].copy_from_slice(&[1, 2, 3, 4, 5]);
        expected[32..37].copy_from_slice(&[8, 8, 8, 8, 5]);
        assert_eq!(unpack(&[packed, long.clone()].concat()), [expected, long].concat());
    }

    #[test]
    fn records_are_counted_by_kind() {
        let stream = [
            record(32, BLOCK, 0),
            record(12, 5, FLAG_EFFECT),
            record(16, 6, 16),
            record(9, 6, FLAG_LEAVE | FLAG_EFFECT),
        ]
        .concat();
        assert!(begins_with_block(&stream));
        assert_eq!(count(&stream), Counts { records: 4, enters: 2, leaves: 1, effects: 2 });
    }
}
