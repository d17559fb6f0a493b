//! The thread that compresses the blocks of a capture into memory (`--keep-frames`). A block that cannot be compressed
//! drops all kept frames, with a warning, because nothing can continue behind it; keeping begins again at the next
//! keyframe.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::Sender;

use gapii_ringbuf::CounterMap;
use gapii_trace::BlockEncoder;
use gapii_trace::block::EncodeError;
use gapii_trace::footer::{Footer, Totals};
use gapii_trace::used::Used;

use crate::backlog::{Backlog, Done, Work};
use crate::facts::Facts;
use crate::kept_frames::{KeptBlock, KeptFrames};
use crate::progress::Progress;
use crate::stream::Block;
use crate::writer::Written;

/// Compresses blocks and adds them to the kept frames.
pub struct Keeper {
    kept: Arc<KeptFrames>,
    encoder: BlockEncoder,
    totals: Totals,
    progress: Arc<Progress>,
    counter: Arc<CounterMap>,
    held: Box<dyn Fn(u64, u64) + Send>,
}

impl Keeper {
    /// Makes a keeper that compresses with zstd at `level`. `held` is called with the number of frames so far and a
    /// duration in microseconds whenever a thread was held for a keyframe.
    pub fn new(
        kept: Arc<KeptFrames>,
        level: i32,
        progress: Arc<Progress>,
        counter: Arc<CounterMap>,
        held: Box<dyn Fn(u64, u64) + Send>,
    ) -> Result<Self, EncodeError> {
        let encoder = BlockEncoder::new(level)?;
        Ok(Self { kept, encoder, totals: Totals::default(), progress, counter, held })
    }

    /// Keeps blocks until [`Work::Finish`]. Returns what was written.
    pub fn run(mut self, backlog: &Backlog, done: &Sender<Done>) -> Written {
        while let Some(work) = backlog.next() {
            match work {
                Work::Block(waiting, facts) => {
                    let block = waiting.block();
                    self.keep(block, facts, waiting.frame());
                    // A drain that is gone needs no ring space.
                    let _ = done.send(Done { releases: block.releases.clone() });
                    self.counter.ring_doorbell();
                }
                Work::Mark(reached) => drop(reached),
                // Blocks of a capture into memory are never put aside.
                Work::Spilled(..) => self.kept.lose_block(),
                Work::Finish(finish) => {
                    let (reason, stored_bytes) = (finish.end.reason, finish.stored_bytes);
                    self.kept.end(*finish);
                    let footer = Footer { reason, totals: self.totals, ..Footer::default() };
                    return Written { footer, stored_bytes, ..Written::default() };
                }
            }
        }
        Written::default()
    }

    fn keep(&mut self, block: &Block, mut facts: Facts, ahead: Option<(&[u8], &Used)>) {
        self.totals.blocks += 1;
        self.totals.frames += facts.frame_ends.len() as u64;
        self.totals.calls += u64::from(facts.seqs);
        self.totals.records += facts.records.iter().map(|(_, records)| records).sum::<u64>();
        self.totals.raw_bytes += u64::from(facts.raw_len);
        if facts.held_us > 0 {
            (self.held)(self.totals.frames, facts.held_us);
        }
        let frame = match ahead {
            Some((frame, used)) => Ok((frame.into(), used.clone())),
            None => {
                self.encoder.encode(&block.raw).map(|frame| (frame.into(), self.encoder.used()))
            }
        };
        match frame {
            Ok((frame, used)) => {
                facts.used = used;
                self.kept.push(KeptBlock { frame, facts });
            }
            Err(error) => {
                tracing::warn!("a block of the kept frames is lost: {error}");
                self.kept.lose_block();
            }
        }
        // Relaxed: a number for people.
        self.progress.file_bytes.store(self.kept.extent().bytes, Ordering::Relaxed);
    }
}
