//! Facts about a block that are needed after its records are compressed: counts, frame ends, threads, blobs, gaps,
//! missing state. Found once, when the block leaves the queue, in the order of the blocks. Memory is found by its
//! bytes, because an application may claim anything; a record that cannot be decoded adds nothing.

use gapii_abi::atom::{self, META_FIRST};
use gapii_trace::Description;
use gapii_trace::Untrusted;
use gapii_trace::blobs::{BlobEntry, BlobName, BlobNumber, Collector, MemoryTotals};
use gapii_trace::footer::GapEntry;
use gapii_trace::index::FrameEnd;
use gapii_trace::meta::Meta;
use gapii_trace::record;
use gapii_trace::used::Used;

use crate::stream::{Block, Memory, ThreadLabel};

/// A block without its records.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub raw_len: u32,
    /// Number of commands that took effect before the block, and in it.
    pub first_seq: u64,
    pub seqs: u32,
    /// Number of records of each thread in the block.
    pub records: Vec<(u32, u64)>,
    pub threads: Vec<ThreadLabel>,
    /// Ends of frames, as in the trace's index, except that `block` is 0.
    pub frame_ends: Vec<FrameEnd>,
    /// Memory, except for blobs.
    pub memory: MemoryTotals,
    /// Blobs that are complete at the block's end, by the blocks of their capture.
    pub blobs: Vec<BlobEntry>,
    /// Numbers that the block gives to blobs.
    pub numbers: Vec<(BlobNumber, BlobName)>,
    /// Gaps that the block's records state.
    pub gaps: Vec<GapEntry>,
    pub is_keyframe: bool,
    /// The longest time that a thread was held for a snapshot, in microseconds.
    pub held_us: u64,
    pub missing: Vec<Untrusted>,
    /// What the records need of a description. Set by the thread that compresses the block.
    pub used: Used,
}

impl Facts {
    /// Finds the facts of a block, which has this number in its capture, and gives stores their contents. Finds
    /// memory by its bytes, because an application may claim anything.
    pub fn of(block: &Block, number: u32, collector: &mut Collector) -> Self {
        let mut facts = Self {
            raw_len: block.raw.len() as u32,
            first_seq: block.first_seq,
            seqs: block.seqs,
            records: block.records.clone(),
            threads: block.threads.clone(),
            frame_ends: block.frame_ends.clone(),
            gaps: block.gaps.clone(),
            is_keyframe: block.is_keyframe,
            held_us: block.held_us,
            missing: block.missing.clone(),
            ..Self::default()
        };
        let description = Description::built_in();
        for &Memory { thread, process, at, ref store } in &block.memory {
            let Ok(record) = record::locate(&block.raw, at as usize) else { continue };
            let payload = &block.raw[record.payload_start..record.payload_end];
            let id = record.header.id();
            if id < META_FIRST {
                if let Some(function) = description.function(id) {
                    facts.memory.command(function, record.header, payload);
                }
                continue;
            }
            match Meta::decode(id, payload) {
                Ok(Meta::Blob(piece)) => {
                    let whole = collector.piece(thread, (number, at), &piece);
                    if let Some((store, number)) = store {
                        store.put(thread, *number, &piece, whole.as_ref());
                    }
                    facts.blobs.extend(whole);
                }
                Ok(Meta::Numbered(atom::Numbered { number })) => {
                    let Some(name) = collector.numbered(thread) else { continue };
                    if let Some((store, _)) = store {
                        store.number(number, name);
                    }
                    facts.numbers.push((BlobNumber { process, number }, name));
                }
                Ok(Meta::Frame(frame)) => facts.memory.frame(&frame),
                _ => {}
            }
        }
        facts
    }

    /// Returns roughly how many bytes of memory the facts take.
    pub fn bytes(&self) -> u64 {
        let texts: usize =
            self.missing.iter().map(|text| text.raw().len() + size_of::<String>()).sum();
        let bytes = size_of::<Self>()
            + size_of_val(&*self.records)
            + size_of_val(&*self.threads)
            + size_of_val(&*self.frame_ends)
            + size_of_val(&*self.blobs)
            + size_of_val(&*self.numbers)
            + size_of_val(&*self.gaps)
            + self.used.bytes()
            + texts;
        bytes as u64
    }
}
