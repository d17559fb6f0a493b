//! Cut and damaged files: whole blocks are read, the rest is reported, nothing panics.

use std::io::Cursor;

use gapii_abi::atom::EndReason;
use gapii_trace::{Info, Tail, TraceReader, verify};

use crate::writer::{line, open, small_file, small_trace};

/// Number of blocks that are whole in the first `len` bytes. `offsets` are the blocks' beginnings and the
/// last one's end.
fn whole_blocks(offsets: &[usize], len: usize) -> usize {
    offsets[1..].iter().filter(|end| **end <= len).count()
}

#[test]
fn file_cut_anywhere_lists_its_whole_blocks() {
    let mut w = small_trace();
    w.end(EndReason::Frames, Vec::new());
    let offsets = w.block_offsets.clone();
    let file = w.finish();
    let mut lines_by_blocks = vec![None; offsets.len()];
    for len in 0..=file.len() {
        let Ok(mut reader) = TraceReader::open(Cursor::new(file[..len].to_vec())) else {
            assert!(len < offsets[0], "a file of {len} bytes has its header");
            continue;
        };
        let blocks = whole_blocks(&offsets, len);
        assert_eq!(reader.blocks().len(), blocks, "{len} bytes");
        match reader.tail() {
            Tail::Complete => assert_eq!(len, file.len()),
            Tail::Truncated { at } => assert!(*at <= len as u64 && len < file.len()),
            Tail::Damaged { .. } => panic!("a file of {len} bytes is cut, not damaged"),
        }
        let mut commands = reader.commands().unwrap();
        let mut seen = Vec::new();
        while let Some(command) = commands.next_command().unwrap() {
            seen.push(line(&command));
        }
        let expected = lines_by_blocks[blocks].get_or_insert_with(|| seen.clone());
        assert_eq!(*expected, seen, "{len} bytes");
        assert_eq!(verify(&mut reader).unwrap().ok, len == file.len());
        Info::of(&mut reader).unwrap();
    }
    let counts: Vec<_> = lines_by_blocks.iter().map(|l| l.as_ref().map_or(0, Vec::len)).collect();
    assert!(counts.is_sorted() && counts.last() == Some(&13), "{counts:?}");
}

/// Offset of the lowest byte of the version that a reader of the header must know.
const VERSION_AT: usize = 20;

#[test]
fn file_with_any_byte_changed_is_refused_or_reads_the_same() {
    let mut w = small_trace();
    w.end(EndReason::Frames, Vec::new());
    let offsets = w.block_offsets.clone();
    let file = w.finish();
    let whole = crate::writer::lines(&file);
    for at in 0..file.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut damaged = file.clone();
            damaged[at] ^= change;
            let Ok(mut reader) = TraceReader::open(Cursor::new(damaged)) else {
                assert!(at < offsets[0], "byte {at} is not in the header");
                continue;
            };
            // A lower version that readers need not be the writer's: the file reads the same.
            assert!(at >= offsets[0] || at == VERSION_AT, "byte {at} is in the header");
            let mut commands = reader.commands().unwrap();
            let mut seen = Vec::new();
            while let Some(command) = commands.next_command().unwrap() {
                seen.push(line(&command));
            }
            if at >= *offsets.last().unwrap() {
                assert_eq!(seen, whole, "byte {at} is after the blocks");
            }
            let verification = verify(&mut reader).unwrap();
            // zstd leaves a few bits of a frame without meaning.
            assert!(!verification.ok || seen == whole, "byte {at} changed by {change:#x}");
            Info::of(&mut reader).unwrap();
        }
    }
}

#[test]
fn damaged_block_ends_the_listing_and_not_the_verification() {
    let w = small_trace();
    let second = w.block_offsets[1];
    let mut file = small_file();
    file[second + 20] ^= 0x10;
    let mut reader = open(&file);
    assert_eq!(*reader.tail(), Tail::Complete);
    let mut commands = reader.commands().unwrap();
    while commands.next_command().unwrap().is_some() {}
    assert!(matches!(commands.tail(), Tail::Damaged { at, .. } if *at == second as u64));
    let verification = verify(&mut open(&file)).unwrap();
    assert_eq!(verification.checked.blocks, 4);
}

#[test]
fn file_without_index_reads_the_same() {
    let mut w = small_trace();
    w.end(EndReason::Frames, Vec::new());
    let file = w.finish_without_index();
    let mut reader = open(&file);
    assert_eq!(*reader.tail(), Tail::Complete);
    assert!(reader.index().is_none() && reader.footer().is_some());
    assert_eq!(crate::writer::lines(&file), crate::writer::lines(&small_file()));
    assert!(verify(&mut reader).unwrap().ok);
}

#[test]
fn foreign_skippable_frames_are_passed_over() {
    let mut w = small_trace();
    let foreign = [&0x184D_2A5Fu32.to_le_bytes()[..], &3u32.to_le_bytes(), b"abc"].concat();
    w.file.extend_from_slice(&foreign);
    w.end(EndReason::Frames, Vec::new());
    let without_footer = w.file.clone();
    let file = w.finish();
    assert_eq!(crate::writer::lines(&file), crate::writer::lines(&small_file()));
    assert_eq!(crate::writer::lines(&without_footer), crate::writer::lines(&small_file()));
    assert!(verify(&mut open(&file)).unwrap().ok);
}
