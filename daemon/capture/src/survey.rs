//! Sums over the blocks of a trace that other daemons wrote, for its index and its footer. A thread of nice 10 reads
//! the file while the capture continues, and never moves the position at which blocks are written. If a block cannot be
//! read, the trace gets no END record, index and footer, and the capture an error. Problems inside blocks are left to
//! `verify`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::thread::{self, JoinHandle};

use gapii_trace::block::{BLOCK_BYTES_MAX, BlockDecoder};
use gapii_trace::census::Census;
use gapii_trace::footer::{GapEntry, Lost};
use gapii_trace::rings::{self, Counts};
use gapii_trace::scan::{Found, Scanner, Step};
use gapii_trace::{BlockEntry, FileAt, TraceHeader, TraceIndex};

use crate::ledger::{Account, Ledger};
use crate::priority::yield_to_programs;
use crate::stream::name_text;

/// A survey of a trace that runs while the trace is written.
#[derive(Debug)]
pub struct Survey {
    reading: JoinHandle<io::Result<Surveyed>>,
}

/// Sums over the blocks up to some byte.
pub struct Surveyed {
    file: File,
    header: TraceHeader,
    /// Offset of the next block.
    at: u64,
    pub census: Census,
    pub blocks: Vec<BlockEntry>,
    pub compressed_bytes: u64,
}

impl Survey {
    /// Begins the survey with the blocks below byte `end`.
    pub fn begin(file: File, header: TraceHeader, end: u64) -> io::Result<Self> {
        let mut surveyed = Surveyed::new(file, header);
        let reading = thread::Builder::new().name("survey".to_owned()).spawn(move || {
            yield_to_programs();
            surveyed.read_to(end)?;
            Ok(surveyed)
        })?;
        Ok(Self { reading })
    }

    /// Ends the survey with the blocks below byte `end`.
    pub fn finish(self, end: u64) -> io::Result<Surveyed> {
        let failed = |_| io::Error::other("the blocks that were there could not be looked at");
        let mut surveyed = self.reading.join().map_err(failed)??;
        surveyed.read_to(end)?;
        Ok(surveyed)
    }
}

impl Surveyed {
    fn new(file: File, header: TraceHeader) -> Self {
        let mut census = Census::default();
        census.begin(&header);
        Self { file, header, at: 0, census, blocks: Vec::new(), compressed_bytes: 0 }
    }

    fn read_to(&mut self, end: u64) -> io::Result<()> {
        let mut decoder = BlockDecoder::new(BLOCK_BYTES_MAX);
        let (mut frame, mut raw) = (Vec::new(), Vec::new());
        let mut scanner = Scanner::new(FileAt::of(&self.file)?, self.at, end)?;
        while let Step::Frame(found) = scanner.step()? {
            self.at = found.offset + found.len;
            let Found::Data { .. } = found.found else { continue };
            frame.resize(found.len as usize, 0);
            self.file.read_exact_at(&mut frame, found.offset)?;
            decoder.decode_into(&frame, &mut raw).map_err(io::Error::other)?;
            let first_seq = self.census.calls;
            self.census.block(&raw, &self.header.description);
            // `verify` reports them.
            self.census.problems.clear();
            self.compressed_bytes += found.len;
            self.blocks.push(BlockEntry {
                file_offset: found.offset,
                compressed_len: found.len as u32,
                raw_len: raw.len() as u32,
                first_seq,
                seqs: (self.census.calls - first_seq) as u32,
            });
        }
        if self.at == end { Ok(()) } else { Err(io::Error::from(io::ErrorKind::InvalidData)) }
    }

    /// Returns the index of these blocks, without blobs.
    pub fn index(&mut self) -> TraceIndex {
        let frame_ends = std::mem::take(&mut self.census.frame_ends);
        TraceIndex { blocks: std::mem::take(&mut self.blocks), frame_ends, ..TraceIndex::default() }
    }

    /// Returns the gaps that the stream states.
    pub fn gaps(&self) -> impl Iterator<Item = GapEntry> {
        self.census.gaps.iter().map(|(thread, gap)| GapEntry::told_by(*thread, gap))
    }

    /// Adds the threads whose accounts another daemon closed. The stream is the only source for threads of a
    /// process that did not come back.
    pub fn add_accounts(&self, ledger: &mut Ledger) {
        let mut known: BTreeSet<u32> = ledger.threads.iter().map(|known| known.thread).collect();
        for account in &self.census.accounts {
            if known.insert(account.thread) {
                ledger.close(Account::told_by(account, self.who(account.thread)));
            }
        }
        for (&thread, count) in &self.census.threads {
            if known.insert(thread) {
                let told = Lost {
                    records: count.lost_records,
                    calls: count.lost_calls,
                    bytes: count.lost_bytes,
                };
                let counts = Counts { produced: count.records, dropped: told, ..Counts::default() };
                let in_stream =
                    rings::Account { thread, counts, told, ..rings::Account::default() };
                ledger.close(Account::told_by(&in_stream, self.who(thread)));
            }
        }
    }

    /// Returns process, thread id and name of a thread.
    fn who(&self, thread: u32) -> (u32, u32, String) {
        let track = self.census.tracker().thread_at(thread);
        track.map_or_else(Default::default, |it| (it.process, it.tid, name_text(&it.name)))
    }
}
