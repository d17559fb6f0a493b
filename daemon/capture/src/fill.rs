//! Replaces records that only name contents by the contents from the application's store, in the order of the blocks,
//! because earlier blocks fill the store. Contents that the store does not have any more become a piece without bytes,
//! a gap of cause `store`, and the sentence `NOT_THERE` in the footer.
//!
//! Done by the thread that takes a block to write it.

use gapii_abi::atom::{BLOB, Blob, GapCause, Header, STAMPED, STORED, Stored};
use gapii_trace::footer::GapEntry;
use gapii_trace::meta::Meta;
use gapii_trace::record;

use crate::stream::{Block, Memory};

/// Sentence in the footer of a trace that lacks contents which the store should have had.
pub const NOT_THERE: &str = "contents that an earlier snapshot had sent: the daemon has lost them";

/// Returns the block with all contents in it. Contents that the store does not have become a piece without bytes, and
/// a gap.
pub fn fill(block: &Block) -> Block {
    let raw = Vec::with_capacity(block.raw.len() + block.unfilled_bytes);
    let memory = Vec::with_capacity(block.memory.len());
    let mut filled = Block { raw, memory, unfilled_bytes: 0, ..block.clone() };
    let mut copied = 0;
    for memory in &block.memory {
        let at = memory.at as usize;
        filled.raw.extend_from_slice(&block.raw[copied..at]);
        copied = at;
        let mut there = Memory { at: filled.raw.len() as u32, ..memory.clone() };
        if let Some((stored, next)) = stored_at(&block.raw, at) {
            if !write_piece(&mut filled.raw, &block.raw[at..], memory, &stored) {
                lose(&mut filled, memory.thread, stored.len);
            }
            copied = next;
            there.store = None;
        }
        filled.memory.push(there);
    }
    filled.raw.extend_from_slice(&block.raw[copied..]);
    filled
}

/// Returns the record at byte `at`, if it only names contents, and where the next record begins.
fn stored_at(raw: &[u8], at: usize) -> Option<(Stored, usize)> {
    let record = record::locate(raw, at).ok().filter(|record| record.header.id() == STORED)?;
    let payload = &raw[record.payload_start..record.payload_end];
    match Meta::decode(STORED, payload) {
        Ok(Meta::Stored(stored)) => Some((stored, record.next)),
        _ => None,
    }
}

/// Appends a piece in place of the record that `named` begins with. Returns false if its bytes are missing.
fn write_piece(out: &mut Vec<u8>, named: &[u8], memory: &Memory, stored: &Stored) -> bool {
    let start = out.len();
    let header = Header(u64::from_le_bytes(std::array::from_fn(|i| named[i])));
    // Room for the header, and the stamp if the record has one.
    out.extend_from_slice(&named[..header.payload_offset()]);
    let Stored { total, offset, len, number } = *stored;
    out.extend_from_slice(&Blob { total, offset }.encode());
    let is_there = memory
        .store
        .as_ref()
        .is_some_and(|(store, _)| store.get(number, total, offset, len as usize, out));
    let header = Header::new(BLOB, header.flags() & STAMPED, (out.len() - start) as u32);
    out[start..start + 8].copy_from_slice(&header.0.to_le_bytes());
    out.resize(start + header.span_untrusted() as usize, 0);
    is_there
}

/// Adds `bytes` to the thread's gap of contents that stores should have had.
pub fn add_lost(gaps: &mut Vec<GapEntry>, thread: u32, bytes: u64) {
    let is_same = |gap: &&mut GapEntry| (gap.thread, gap.cause) == (thread, GapCause::Store);
    match gaps.iter_mut().find(is_same) {
        Some(gap) => gap.bytes = gap.bytes.saturating_add(bytes),
        None => {
            let cause = GapCause::Store;
            gaps.push(GapEntry { thread, bytes, cause, ..GapEntry::default() });
        }
    }
}

fn lose(block: &mut Block, thread: u32, bytes: u64) {
    add_lost(&mut block.gaps, thread, bytes);
    if !block.missing.iter().any(|sentence| sentence == NOT_THERE) {
        block.missing.push(NOT_THERE.into());
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gapii_abi::atom::{self, SETUP, for_store};
    use gapii_trace::blobs::{BlobName, BlobNumber, Collector};
    use gapii_trace::record::Records;

    use super::*;
    use crate::facts::Facts;
    use crate::store::Store;
    use crate::stream::{RingKey, RingPlace, RingSite, Run, StreamBuilder};

    const PIECE_BYTES: usize = 1000;
    /// The number that the application gives to its blob.
    const NUMBER: u64 = 12;

    /// A stream of one thread, and the store of its process.
    struct Bench {
        store: Arc<Store>,
        number: u64,
        collector: Collector,
    }

    impl Bench {
        fn new() -> Self {
            let store = Arc::new(Store::new(1 << 20));
            let number = store.begin_capture(0, 0).number;
            Self { store, number, collector: Collector::default() }
        }

        /// Returns the block that these records make.
        fn block_of(&mut self, records: &[Vec<u8>]) -> (Block, Facts) {
            let mut stream = StreamBuilder::new(1 << 20, false);
            let process = stream.add_process(1, 1, b"prog");
            stream.set_store(process, Arc::clone(&self.store));
            let ring = RingKey(0);
            stream.set_ring(ring, process, RingSite::default(), RingPlace::default());
            let thread = record(atom::THREAD, 0, &[[1; 8].as_slice(), &[0; 16]].concat());
            let records = [vec![thread], records.to_vec()].concat().concat();
            let (start, end_index) = (RingPlace::default(), records.len() as u64);
            let run = Run { ring, records: &records, start, end_index };
            let mut blocks = Vec::new();
            stream.append(run, 0, &mut |block| blocks.push(block)).unwrap();
            stream.flush(&mut |block| blocks.push(block));
            assert_eq!(blocks.len(), 1);
            let block = fill(&blocks[0]);
            let facts = Facts::of(&block, 0, &mut self.collector);
            (block, facts)
        }

        fn sent(&self, blob: &[u8]) -> Vec<Vec<u8>> {
            let total = for_store(blob.len() as u64, self.number);
            let mut sent = pieces(blob, |offset, bytes| {
                record(atom::BLOB, SETUP, &words(&[total, offset], bytes))
            });
            sent.push(record(atom::NUMBERED, SETUP, &words(&[NUMBER], &[])));
            sent
        }
    }

    fn record(id: u16, flags: u16, payload: &[u8]) -> Vec<u8> {
        // Every record has a stamp, which must stay.
        let header = Header::new(id, flags, 8 + payload.len() as u32).with_stamp();
        let mut bytes = [header.0.to_le_bytes(), 77_u64.to_le_bytes()].concat();
        bytes.extend(payload);
        bytes.resize(header.span_untrusted() as usize, 0);
        bytes
    }

    fn words(words: &[u64], rest: &[u8]) -> Vec<u8> {
        let words = words.iter().flat_map(|word| word.to_le_bytes());
        words.chain(rest.iter().copied()).collect()
    }

    fn pieces(blob: &[u8], make: impl Fn(u64, &[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
        let offsets = (0..).step_by(PIECE_BYTES);
        blob.chunks(PIECE_BYTES).zip(offsets).map(|(bytes, at)| make(at as u64, bytes)).collect()
    }

    fn named(blob: &[u8]) -> Vec<Vec<u8>> {
        let total = blob.len() as u64;
        let mut named = pieces(blob, |offset, bytes| {
            record(atom::STORED, 0, &words(&[total, offset, bytes.len() as u64, NUMBER], &[]))
        });
        named.push(record(atom::NUMBERED, 0, &words(&[NUMBER], &[])));
        named
    }

    /// Returns the blob's pieces as records of a stream.
    fn plain(blob: &[u8]) -> Vec<Vec<u8>> {
        let mut plain = pieces(blob, |offset, bytes| {
            record(atom::BLOB, 0, &words(&[blob.len() as u64, offset], bytes))
        });
        plain.push(record(atom::NUMBERED, 0, &words(&[NUMBER], &[])));
        plain
    }

    fn draw() -> Vec<u8> {
        record(7, atom::EFFECT, &[1; 16])
    }

    #[test]
    fn stream_is_the_same_whether_a_blob_is_sent_or_named() {
        let mut bench = Bench::new();
        let blob: Vec<u8> = (0..2 * PIECE_BYTES + 3).map(|i| i as u8).collect();
        let around = |blob: Vec<Vec<u8>>| [vec![draw()], blob, vec![draw()]].concat();
        let (sent, facts) = bench.block_of(&around(bench.sent(&blob)));
        let (again, facts_again) = bench.block_of(&around(named(&blob)));
        let (plain, plain_facts) = bench.block_of(&around(plain(&blob)));
        assert!(sent.raw == plain.raw && again.raw == plain.raw);
        assert_eq!(plain_facts.blobs[0].name, BlobName::of(&blob));
        let number = BlobNumber { process: 0, number: NUMBER };
        assert_eq!(plain_facts.numbers, [(number, BlobName::of(&blob))]);
        for facts in [facts, facts_again] {
            assert_eq!(facts.blobs, plain_facts.blobs);
            assert_eq!(facts.numbers, plain_facts.numbers);
            assert_eq!((facts.gaps.len(), facts.missing.len()), (0, 0));
        }
    }

    #[test]
    fn contents_missing_in_a_store_are_a_piece_without_bytes_and_a_gap() {
        let mut bench = Bench::new();
        let blob = [1; PIECE_BYTES + 5];
        let (block, facts) = bench.block_of(&[named(&blob), vec![draw()]].concat());
        let records: Vec<_> = Records::new(&block.raw).map(Result::unwrap).collect();
        let own: Vec<_> = records.iter().filter(|record| record.stamp == Some(77)).collect();
        let found: Vec<_> = own.iter().map(|r| (r.header.id(), r.payload.len())).collect();
        let empty = (atom::BLOB, 16);
        let numbered = (atom::NUMBERED, 8);
        assert_eq!(found, [(atom::THREAD, 24), empty, empty, numbered, (7, 16)]);
        assert_eq!(block.records, [(0, 5)]);
        assert_eq!((facts.blobs.len(), facts.numbers.len()), (0, 0));
        let gaps: Vec<_> = facts.gaps.iter().map(|g| (g.records, g.bytes, g.cause)).collect();
        assert_eq!(gaps, [(0, blob.len() as u64, GapCause::Store)]);
        assert_eq!(facts.missing, [NOT_THERE]);
    }

    #[test]
    fn blob_for_a_store_that_is_gone_is_in_the_stream_alone() {
        let mut bench = Bench::new();
        let sent = bench.sent(&[1; 600]);
        bench.number = bench.store.begin_capture(5, 0).number;
        let (_, facts) = bench.block_of(&sent);
        assert_eq!(facts.blobs.len(), 1);
        assert_eq!(bench.block_of(&named(&[1; 600])).1.blobs, []);
    }
}
