//! Frames of a process in the order of their times. Commands come in the order of their effects, and threads of a process
//! that end frames at the same time end them in another order: up to `WAITING_MAX`, 1,024 ends are held to be sorted.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Most ends of frames that wait for earlier ones.
const WAITING_MAX: usize = 1024;

/// The end of a frame, and what the commands since the one before have done.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Ended {
    /// When it ended.
    pub end_ns: u64,
    /// Number of the command that ended it.
    pub seq: Option<u64>,
    /// True if this command has a slice of its own.
    pub has_slice: bool,
    /// Commands of the frame.
    pub commands: u64,
    /// Bytes that the frame's commands uploaded.
    pub uploaded_bytes: u64,
}

/// A frame between two times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameSlice {
    /// Number, from 0, among the frames of the process that have a time.
    pub number: u64,
    /// When the frame before ended.
    pub begin_ns: u64,
    /// The end.
    pub ended: Ended,
}

/// The frames of a process.
#[derive(Debug, Default)]
pub struct Frames {
    waiting: BinaryHeap<Reverse<Ended>>,
    /// End of the last frame that left `waiting`, or begin of the first.
    last_ns: u64,
    count: u64,
}

impl Frames {
    /// Frames of which the first begins at this time, or when it ends, whichever is earlier. `first` is its number.
    pub fn beginning_at(begin_ns: u64, first: u64) -> Self {
        Self { last_ns: begin_ns, count: first, ..Self::default() }
    }

    /// Adds the end of a frame. Returns a frame that no later one precedes, if there is one.
    pub fn end(&mut self, ended: Ended) -> Option<FrameSlice> {
        self.waiting.push(Reverse(ended));
        if self.waiting.len() > WAITING_MAX { self.next() } else { None }
    }

    /// Returns the next frame; `None` after the last one.
    pub fn next(&mut self) -> Option<FrameSlice> {
        let Reverse(ended) = self.waiting.pop()?;
        let begin_ns = self.last_ns.min(ended.end_ns);
        let number = self.count;
        (self.last_ns, self.count) = (ended.end_ns, self.count + 1);
        Some(FrameSlice { number, begin_ns, ended })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(end_ns: u64) -> Ended {
        Ended { end_ns, seq: None, has_slice: false, commands: 1, uploaded_bytes: 0 }
    }

    #[test]
    fn frames_of_several_threads_follow_each_other_in_time() {
        let mut frames = Frames::beginning_at(5, 7);
        for end_ns in [20, 10, 30] {
            assert_eq!(frames.end(ended(end_ns)), None);
        }
        let mut all = Vec::new();
        while let Some(FrameSlice { number, begin_ns, ended }) = frames.next() {
            all.push((number, begin_ns, ended.end_ns));
        }
        assert_eq!(all, [(7, 5, 10), (8, 10, 20), (9, 20, 30)]);
    }

    #[test]
    fn few_frames_are_held() {
        let mut frames = Frames::beginning_at(5, 0);
        let given = (0..3000).filter_map(|at| frames.end(ended(at))).count();
        assert_eq!((given, frames.waiting.len()), (3000 - WAITING_MAX, WAITING_MAX));
        // A frame that comes too late does not end before it begins.
        frames.end(ended(1));
        assert!(frames.next().is_some_and(|frame| frame.begin_ns <= frame.ended.end_ns));
    }
}
