//! Blocks decoded ahead of who reads them in order, by a thread of their own.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::block::{BLOCK_BYTES_MAX, BlockDecoder, BlockLocation};

/// Blocks that are decoded and not read yet, at most.
const BLOCKS_AHEAD: usize = 8;

/// A second way to read a trace's file, apart from the first.
pub trait Input: Read + Seek + Send {}
impl<T: Read + Seek + Send> Input for T {}

/// The end where blocks come out.
pub(super) struct Ahead {
    next: usize,
    blocks: Receiver<Arc<Vec<u8>>>,
    /// Memory of blocks that have been read: a program's own is cheaper than new one.
    spare: SyncSender<Vec<u8>>,
}

impl Ahead {
    /// Begins at block `first`. `None`: there is no thread to be had.
    pub(super) fn begin(
        input: Box<dyn Input>,
        blocks: Arc<[BlockLocation]>,
        first: usize,
    ) -> Option<Self> {
        let (sender, receiver) = sync_channel(BLOCKS_AHEAD);
        let (spare, again) = sync_channel(BLOCKS_AHEAD);
        let work = move || decode(input, &blocks[first.min(blocks.len())..], &sender, &again);
        thread::Builder::new().name("decode-ahead".to_owned()).spawn(work).ok()?;
        Some(Self { next: first, blocks: receiver, spare })
    }

    /// Has the memory of a block used for another, if nobody else holds it.
    pub(super) fn give_back(&self, block: Arc<Vec<u8>>) {
        if let Ok(memory) = Arc::try_unwrap(block) {
            // Where there is enough of it already, it is freed.
            _ = self.spare.try_send(memory);
        }
    }

    /// Block `index`, if it is the next one. `None`: read it yourself; one that can't be read is the
    /// last that is looked at here.
    pub(super) fn take(&mut self, index: usize) -> Option<Arc<Vec<u8>>> {
        if index != self.next {
            return None;
        }
        self.next += 1;
        self.blocks.recv().ok()
    }
}

/// Gives blocks until one can't be read, or nobody wants more.
fn decode(
    mut input: Box<dyn Input>,
    blocks: &[BlockLocation],
    sender: &SyncSender<Arc<Vec<u8>>>,
    spare: &Receiver<Vec<u8>>,
) {
    let mut decoder = BlockDecoder::new(BLOCK_BYTES_MAX);
    let mut compressed = Vec::new();
    for block in blocks {
        compressed.resize(block.compressed_len as usize, 0);
        let found = input.seek(SeekFrom::Start(block.offset));
        if found.and_then(|_| input.read_exact(&mut compressed)).is_err() {
            return;
        }
        let mut raw = spare.try_recv().unwrap_or_default();
        let decoded = decoder.decode_into(&compressed, &mut raw);
        if decoded.is_err() || sender.send(Arc::new(raw)).is_err() {
            return;
        }
    }
}
