//! The last frames of a program, in memory: compressed blocks from a keyframe on. Forgets whole spans between
//! keyframes, oldest first, once the later ones hold `--keep-frames` frames or all exceed `--keep-bytes`. If one span
//! alone exceeds `--keep-bytes`, everything is dropped until the next keyframe; a keyframe is requested when the newest
//! span exceeds half the limit. A save of the last N frames begins at the last keyframe with at least N frames behind
//! it, so it may hold more; it holds fewer if fewer are kept.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gapii_trace::header::KeptFrom;

use crate::facts::Facts;
use crate::finish::Finish;

/// Limits of the frames that are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct KeepLimits {
    /// Number of frames that are kept at least, if they fit.
    pub frames: u64,
    pub bytes: u64,
    /// Frames from one keyframe to the next.
    pub keyframe_every: u32,
}

/// The last frames of a capture, in memory.
#[derive(Debug)]
pub struct KeptFrames {
    pub limits: KeepLimits,
    state: Mutex<State>,
    ended: Condvar,
}

/// A block in memory.
#[derive(Debug)]
pub struct KeptBlock {
    /// The block's zstd frame.
    pub frame: Box<[u8]>,
    pub facts: Facts,
}

/// The size of the kept frames at the moment, for people.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Extent {
    pub frames: u64,
    pub bytes: u64,
    pub keyframes: u64,
    /// How long a thread was last held for a keyframe, in microseconds.
    pub held_us: u64,
}

/// The kept blocks that a saved trace consists of.
#[derive(Debug)]
pub struct Excerpt {
    pub from: KeptFrom,
    pub blocks: Vec<Arc<KeptBlock>>,
    /// How the capture ended, if it has.
    pub end: Option<Arc<Finish>>,
}

#[derive(Debug, Default)]
struct State {
    spans: VecDeque<Span>,
    bytes: u64,
    /// Blocks that came since the capture began.
    blocks: u64,
    /// Nothing is kept until the next keyframe.
    waits_for_keyframe: bool,
    /// A keyframe was requested and has not come.
    has_asked: bool,
    held_us: u64,
    end: Option<Arc<Finish>>,
}

/// The blocks from a keyframe, or from the capture's beginning, to the next keyframe.
#[derive(Debug)]
struct Span {
    /// Number in the capture of the span's first block.
    number: u64,
    blocks: Vec<Arc<KeptBlock>>,
    bytes: u64,
    frames: u64,
}

impl KeptBlock {
    fn bytes(&self) -> u64 {
        self.frame.len() as u64 + self.facts.bytes()
    }
}

impl KeptFrames {
    /// Makes an empty store for frames within these limits.
    pub fn new(limits: KeepLimits) -> Self {
        Self { limits, state: Mutex::default(), ended: Condvar::new() }
    }

    /// Adds the next block, and drops spans that are not needed or do not fit.
    pub fn push(&self, block: KeptBlock) {
        let mut state = self.lock();
        let number = state.blocks;
        state.blocks += 1;
        if block.facts.held_us > 0 {
            state.held_us = block.facts.held_us;
        }
        if block.facts.is_keyframe || number == 0 {
            state.has_asked = false;
            state.waits_for_keyframe = false;
            state.spans.push_back(Span { number, blocks: Vec::new(), bytes: 0, frames: 0 });
        }
        if state.waits_for_keyframe {
            return;
        }
        let bytes = block.bytes();
        let Some(span) = state.spans.back_mut() else { return };
        span.bytes += bytes;
        span.frames += block.facts.frame_ends.len() as u64;
        span.blocks.push(Arc::new(block));
        state.bytes += bytes;
        state.forget(&self.limits);
    }

    /// Drops everything, because the next block could not be kept and nothing can continue behind it.
    pub fn lose_block(&self) {
        let mut state = self.lock();
        state.blocks += 1;
        state.begin_again();
    }

    /// Returns whether a keyframe is needed now. Returns true only once per keyframe.
    pub fn wants_keyframe(&self) -> bool {
        let mut state = self.lock();
        let newest = state.spans.back().map_or(0, |span| span.bytes);
        let wants = state.waits_for_keyframe || newest > self.limits.bytes / 2;
        wants && !std::mem::replace(&mut state.has_asked, true)
    }

    /// Notes the capture's end: no more blocks come.
    pub fn end(&self, finish: Finish) {
        self.lock().end = Some(Arc::new(finish));
        self.ended.notify_all();
    }

    /// Waits for the capture's end. Returns false if it does not come within `limit`.
    pub fn wait_end(&self, limit: Duration) -> bool {
        let waited = self.ended.wait_timeout_while(self.lock(), limit, |state| state.end.is_none());
        waited.unwrap_or_else(PoisonError::into_inner).0.end.is_some()
    }

    /// Returns the size of the kept frames now.
    pub fn extent(&self) -> Extent {
        let state = self.lock();
        Extent {
            frames: state.spans.iter().map(|span| span.frames).sum(),
            bytes: state.bytes,
            keyframes: state.spans.len() as u64,
            held_us: state.held_us,
        }
    }

    /// Returns the blocks with at least the last `last` frames, from a keyframe on; without a number, all blocks.
    /// Returns `None` if nothing is kept.
    pub fn select(&self, last: Option<u64>) -> Option<Excerpt> {
        let state = self.lock();
        let mut frames = 0;
        let mut first = state.spans.len().checked_sub(1)?;
        while first > 0 {
            frames += state.spans[first].frames;
            if last.is_some_and(|last| frames >= last) {
                break;
            }
            first -= 1;
        }
        let number = state.spans[first].number;
        let blocks: Vec<_> =
            state.spans.range(first..).flat_map(|span| span.blocks.clone()).collect();
        let facts = &blocks.first()?.facts;
        let from = KeptFrom { block: number, seq: facts.first_seq, is_keyframe: facts.is_keyframe };
        Some(Excerpt { from, blocks, end: state.end.clone() })
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A panic under the lock leaves a valid list.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn forget(&mut self, limits: &KeepLimits) {
        while self.spans.len() > 1 {
            let later: u64 = self.spans.iter().skip(1).map(|span| span.frames).sum();
            if later < limits.frames && self.bytes <= limits.bytes {
                return;
            }
            if let Some(oldest) = self.spans.pop_front() {
                self.bytes -= oldest.bytes;
            }
        }
        if self.bytes > limits.bytes {
            self.begin_again();
        }
    }

    fn begin_again(&mut self) {
        self.spans.clear();
        self.bytes = 0;
        self.waits_for_keyframe = true;
        self.has_asked = false;
    }
}

#[cfg(test)]
mod tests {
    use gapii_trace::index::FrameEnd;

    use super::*;

    const LIMITS: KeepLimits = KeepLimits { frames: 3, bytes: 100_000, keyframe_every: 2 };

    fn block(is_keyframe: bool, frames: u64, len: usize) -> KeptBlock {
        let frame_ends =
            (0..frames).map(|frame| FrameEnd { frame, ..FrameEnd::default() }).collect();
        let facts = Facts { is_keyframe, frame_ends, ..Facts::default() };
        KeptBlock { frame: vec![0; len].into(), facts }
    }

    fn kept(blocks: impl IntoIterator<Item = KeptBlock>) -> KeptFrames {
        let kept = KeptFrames::new(LIMITS);
        for block in blocks {
            kept.push(block);
            assert!(kept.extent().bytes <= LIMITS.bytes);
        }
        kept
    }

    /// Returns the number of an excerpt's first block, the count of its blocks, and whether it begins at a keyframe.
    fn selected(kept: &KeptFrames, last: Option<u64>) -> Option<(u64, usize, bool)> {
        let selection = kept.select(last)?;
        Some((selection.from.block, selection.blocks.len(), selection.from.is_keyframe))
    }

    #[test]
    fn spans_go_when_later_ones_have_the_frames() {
        let kept = kept((0..10).map(|number| block(number % 2 == 0 && number > 0, 1, 10)));
        // A span has two frames, so three frames need two spans.
        assert_eq!(selected(&kept, None), Some((6, 4, true)));
        assert_eq!(selected(&kept, Some(100)), Some((6, 4, true)));
        assert_eq!(selected(&kept, Some(2)), Some((8, 2, true)));
        assert_eq!(selected(&kept, Some(3)), Some((6, 4, true)));
        assert_eq!(kept.extent().keyframes, 2);
    }

    #[test]
    fn kept_capture_is_whole_until_a_span_is_dropped() {
        let kept = kept([block(false, 1, 10), block(false, 1, 10), block(true, 1, 10)]);
        assert_eq!(selected(&kept, None), Some((0, 3, false)));
        assert_eq!(selected(&kept, Some(1)), Some((2, 1, true)));
    }

    #[test]
    fn kept_bytes_are_limited() {
        let kept = kept((0..8).map(|number| block(number % 2 == 0, 0, 30_000)));
        assert_eq!(selected(&kept, None), Some((6, 2, true)));
    }

    #[test]
    fn without_keyframe_all_is_dropped_and_a_keyframe_is_requested() {
        let kept = kept([block(true, 0, 40_000)]);
        assert!(!kept.wants_keyframe());
        kept.push(block(false, 0, 40_000));
        assert!(kept.wants_keyframe());
        assert!(!kept.wants_keyframe(), "asked again");
        kept.push(block(false, 0, 40_000));
        assert_eq!(selected(&kept, None), None);
        assert!(kept.wants_keyframe());
        kept.push(block(false, 0, 10));
        assert_eq!(selected(&kept, None), None);
        kept.push(block(true, 0, 10));
        assert_eq!(selected(&kept, None), Some((4, 1, true)));
        assert!(!kept.wants_keyframe());
    }
}
