//! Decodes blocks on a thread of its own, ahead of the reader that takes them in order: at most `BLOCKS_AHEAD`, 8
//! blocks. The thread ends at the first block that it cannot decode; the reader then decodes itself, and reports the
//! damage.

use std::io::{Read, Seek, SeekFrom};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::block::{BLOCK_BYTES_MAX, BlockDecoder, BlockLocation};

/// Most blocks that are decoded and not yet taken.
const BLOCKS_AHEAD: usize = 8;

/// A second handle to a trace file, with a position of its own.
pub trait Input: Read + Seek + Send {}
impl<T: Read + Seek + Send> Input for T {}

/// Receiving end of the thread that decodes blocks.
pub(super) struct Ahead {
    next: usize,
    blocks: Receiver<Arc<Vec<u8>>>,
    /// Returns the memory of used blocks to the thread: reusing memory is cheaper than allocating it.
    spare: SyncSender<Vec<u8>>,
}

impl Ahead {
    /// Starts to decode at block `first`. Returns `None` if no thread can be started.
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

    /// Offers the memory of a used block to the thread, if no one else holds the block.
    pub(super) fn give_back(&self, block: Arc<Vec<u8>>) {
        if let Ok(memory) = Arc::try_unwrap(block) {
            // Freed if the channel is full.
            _ = self.spare.try_send(memory);
        }
    }

    /// Returns block `index` if it is the next in order, waiting until it is decoded. Returns `None` if it
    /// is not the next, or could not be decoded; the caller then decodes it. The thread ends at the first
    /// block that it can't decode.
    pub(super) fn take(&mut self, index: usize) -> Option<Arc<Vec<u8>>> {
        if index != self.next {
            return None;
        }
        self.next += 1;
        self.blocks.recv().ok()
    }
}

/// Decodes and sends blocks until one can't be read, or the receiver is gone.
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
