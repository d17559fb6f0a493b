//! A capture's connection to its writer: blocks go out, and reports of written blocks come back. At most
//! `BLOCKS_UNDER_WAY_MAX`, 16 blocks are on their way; more wait in the rings. A flush is done after two further rounds
//! of the drain. If the writer is gone, no ring space is held for its blocks, and the capture ends with a failed
//! output.

use std::sync::mpsc::{Receiver, Sender, TryRecvError};

use crate::backlog::{Done, Feed};
use crate::finish::Finish;
use crate::stream::{Block, RingKey};
use crate::taker::share::Share;
use crate::taker::sparse::Sparse;

/// Rounds of the drain after which all records are merged that were published before the first of these rounds:
/// records that the last reading of a round found may have to wait for the next round.
const FLUSH_ROUNDS: u32 = 2;
/// Blocks that may be on their way to the output. More would only wait there.
const BLOCKS_UNDER_WAY_MAX: usize = 16;

/// A capture's connection to its writer.
pub(super) struct Outlet {
    feed: Feed,
    done: Receiver<Done>,
    /// Blocks that were given to the writer and are not done.
    blocks_under_way: usize,
    /// Blocks of the stream that are done, including those that another daemon wrote.
    blocks_done: u64,
    /// The capture has given up ring space without a block being written, so the space of all its rings is to be
    /// settled.
    gave_up_space: bool,
    flushes: Vec<Flush>,
}

/// A request to learn when all records that were published by then are written.
struct Flush {
    rounds: u32,
    /// Dropped when the records are written.
    reached: Sender<()>,
}

/// Whether a capture's writer still works.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum WriterState {
    Running,
    Gone,
}

impl Outlet {
    pub(super) fn new(feed: Feed, done: Receiver<Done>, blocks_done: u64) -> Self {
        let flushes = Vec::new();
        Self { feed, done, blocks_under_way: 0, blocks_done, gave_up_space: false, flushes }
    }

    /// Sends a block to the writer. `receive` notices a writer that is gone.
    pub(super) fn send(&mut self, block: Block, shares: &mut Sparse<Share>) {
        self.blocks_under_way += 1;
        for (RingKey(lane), _) in &block.releases {
            if let Some(share) = shares.get_mut(*lane as usize) {
                share.blocks += 1;
            }
        }
        self.feed.block(block);
    }

    /// Takes the writer's reports, and calls `written` with each lane that had records in a reported block.
    pub(super) fn receive(
        &mut self,
        shares: &mut Sparse<Share>,
        mut written: impl FnMut(usize),
    ) -> WriterState {
        if std::mem::take(&mut self.gave_up_space) {
            (0..shares.end()).for_each(&mut written);
        }
        loop {
            match self.done.try_recv() {
                Ok(done) => {
                    self.blocks_under_way -= 1;
                    self.blocks_done += 1;
                    for (RingKey(lane), index) in done.releases {
                        let lane = lane as usize;
                        if let Some(share) = shares.get_mut(lane) {
                            share.blocks = share.blocks.saturating_sub(1);
                            share.written_index = share.written_index.max(index);
                            written(lane);
                        }
                    }
                }
                Err(TryRecvError::Empty) => return WriterState::Running,
                Err(TryRecvError::Disconnected) => {
                    // The writer has failed and reports that itself. Nobody may wait for its blocks.
                    (self.blocks_under_way, self.blocks_done) = (0, u64::MAX);
                    shares.values_mut().for_each(|share| share.blocks = 0);
                    (0..shares.end()).for_each(&mut written);
                    return WriterState::Gone;
                }
            }
        }
    }

    /// Notes that the capture gave up ring space without a block being written.
    pub(super) fn give_up_space(&mut self) {
        self.gave_up_space = true;
    }

    /// Returns whether another block may be sent.
    pub(super) fn has_room(&self) -> bool {
        self.blocks_under_way < BLOCKS_UNDER_WAY_MAX
    }

    /// Returns whether all blocks that were sent are done, and the writer waits for no reader.
    pub(super) fn is_empty(&self) -> bool {
        self.blocks_under_way == 0 && !self.feed.is_writing()
    }

    /// Returns whether the stream's block of this number, counted from 1, is done.
    pub(super) fn is_done(&self, block: u64) -> bool {
        block <= self.blocks_done
    }

    /// Returns whether neither the output nor the temporary file takes more.
    pub(super) fn is_exhausted(&self) -> bool {
        self.feed.is_exhausted()
    }

    /// Returns the number of bytes of the stream that wait in memory.
    pub(super) fn waiting_bytes(&self) -> u64 {
        self.feed.waiting_bytes()
    }

    /// Returns the number of bytes of the stream in the temporary file.
    pub(super) fn spilled_bytes(&self) -> u64 {
        self.feed.spilled_bytes()
    }

    /// Lets the blocks on their way leave memory, because a caller waits for the ring space that they hold.
    pub(super) fn await_all(&self) {
        if self.blocks_under_way > 0 {
            self.feed.await_all();
        }
    }

    /// Drops `reached` when all records that are published by now are written.
    pub(super) fn flush_for(&mut self, reached: Sender<()>) {
        self.flushes.push(Flush { rounds: FLUSH_ROUNDS, reached });
    }

    /// Returns whether a caller waits for published records to be written.
    pub(super) fn has_flushes(&self) -> bool {
        !self.flushes.is_empty()
    }

    /// Counts a round of the drain, behind which the open block was sent. Returns whether a flush needs another
    /// round.
    pub(super) fn count_flush_round(&mut self) -> bool {
        for Flush { rounds, reached } in std::mem::take(&mut self.flushes) {
            match rounds.checked_sub(1) {
                Some(rounds) => self.flushes.push(Flush { rounds, reached }),
                None => self.feed.mark(reached),
            }
        }
        self.has_flushes()
    }

    /// Sends the end of the stream. A writer that is gone has reported that itself.
    pub(super) fn finish(&self, finish: Finish) {
        self.feed.finish(finish);
    }
}
