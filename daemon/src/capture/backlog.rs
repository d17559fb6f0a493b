//! Blocks on their way from the drain to the writer, compressed in the time that programs leave.
//!
//! While a block waits here, a thread that runs only where nobody else wants the processor compresses
//! it. The writer takes it when that is done; where blocks queue up, or one has waited long, it takes
//! it as it is, whatever the other thread is at, and the next ones too for a while, which the other
//! thread then leaves alone: a block that both compress is time lost. So nobody waits for a thread
//! that gets no time, and a program that leaves some is not pushed aside by compression.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gapii_protocol::trace::BlockEncoder;

use crate::capture::assemble::Block;
use crate::capture::fill::fill;
use crate::capture::writer::Finish;

/// Blocks that hold more of a ring than this, in eighths, are no longer waited for: the space is
/// wanted.
const WAITING_EIGHTHS: u64 = 5;
/// Blocks that hold more memory than this are not waited for either, in bytes.
const WAITING_MAX: u64 = 8 << 20;
/// How long a block waits for its compression.
const PATIENCE: Duration = Duration::from_millis(100);
/// How long no block is compressed ahead once they queued up.
const PRESSED: Duration = Duration::from_millis(20);

/// What the writer is to do next.
#[derive(Debug)]
pub enum Work {
    Block(Arc<Waiting>),
    /// Who waits for this to be dropped knows that all before it is dealt with.
    Mark(Sender<()>),
    /// The last piece of work.
    Finish(Box<Finish>),
}

/// A block that is not written yet.
#[derive(Debug)]
pub struct Waiting {
    given: Block,
    /// The same with what stores have of it, where it is not whole.
    filled: OnceLock<Block>,
    /// Its zstd frame, once somebody has made it ahead.
    frame: OnceLock<Vec<u8>>,
    /// Somebody is making it.
    is_taken: AtomicBool,
    since: Instant,
}

/// The drain's end. The writer hears when it is dropped.
#[derive(Debug)]
pub struct Feed(Arc<Shared>);

/// The writer's end.
#[derive(Debug)]
pub struct Backlog(Arc<Shared>);

/// The end of the thread that compresses ahead.
#[derive(Debug)]
pub struct Ahead(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// So much waits for the thread that compresses ahead, and not more, in bytes.
    waiting_max: u64,
}

#[derive(Debug, Default)]
struct Queue {
    work: VecDeque<Work>,
    /// Of the blocks in it.
    bytes: u64,
    /// Until then the writer compresses by itself.
    pressed_until: Option<Instant>,
    /// Nothing more comes.
    is_closed: bool,
}

/// A backlog without anything in it, for what comes from rings of `ring_bytes`.
pub fn backlog(ring_bytes: u64) -> (Feed, Backlog, Ahead) {
    let waiting_max = (ring_bytes / 8 * WAITING_EIGHTHS).min(WAITING_MAX);
    let shared = Arc::new(Shared { waiting_max, ..Shared::default() });
    (Feed(shared.clone()), Backlog(shared.clone()), Ahead(shared))
}

impl Waiting {
    fn new(given: Block) -> Self {
        let (filled, frame) = (OnceLock::new(), OnceLock::new());
        Self { given, filled, frame, is_taken: AtomicBool::new(false), since: Instant::now() }
    }

    /// The block, whole. To be asked for in the blocks' order, once all before it are dealt with.
    pub fn block(&self) -> &Block {
        match self.is_whole() {
            true => &self.given,
            false => self.filled.get_or_init(|| fill(&self.given)),
        }
    }

    /// Whether nothing of it has to come from a store.
    fn is_whole(&self) -> bool {
        self.given.unfilled_bytes == 0
    }

    /// The block's zstd frame, if it was made ahead.
    pub fn frame(&self) -> Option<&[u8]> {
        self.frame.get().map(Vec::as_slice)
    }
}

impl Feed {
    pub fn block(&self, block: Block) {
        self.0.push(Work::Block(Arc::new(Waiting::new(block))));
    }

    pub fn mark(&self, reached: Sender<()>) {
        self.0.push(Work::Mark(reached));
    }

    pub fn finish(&self, finish: Finish) {
        self.0.push(Work::Finish(Box::new(finish)));
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
    }
}

impl Backlog {
    /// The next piece of work, in the order in which it was given; waits for it. `None`: there is no
    /// more, and the last one was no [`Work::Finish`].
    pub fn next(&self) -> Option<Work> {
        let mut queue = self.0.lock();
        loop {
            if queue.bytes > self.0.waiting_max {
                queue.pressed_until = Some(Instant::now() + PRESSED);
            }
            let patience = match queue.work.front() {
                None if queue.is_closed => return None,
                None => None,
                Some(_) if queue.is_closed || queue.is_pressed() => Some(Duration::ZERO),
                Some(Work::Mark(_) | Work::Finish(_)) => Some(Duration::ZERO),
                Some(Work::Block(waiting)) if !waiting.is_whole() => Some(Duration::ZERO),
                Some(Work::Block(waiting)) if waiting.frame().is_some() => Some(Duration::ZERO),
                Some(Work::Block(waiting)) => {
                    Some(PATIENCE.saturating_sub(waiting.since.elapsed()))
                }
            };
            let changed = &self.0.changed;
            queue = match patience {
                Some(Duration::ZERO) => return queue.pop(),
                Some(patience) => {
                    let waited = changed.wait_timeout(queue, patience);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }
}

impl Ahead {
    /// Compresses blocks that wait, until no more come.
    pub fn run(&self, encoder: &mut BlockEncoder) {
        while let Some(waiting) = self.next() {
            // A block that can't be encoded is refused to the writer again, who says so.
            if let Ok(frame) = encoder.encode(&waiting.given.raw) {
                let _ = waiting.frame.set(frame);
                self.0.changed.notify_all();
            }
        }
    }

    /// The first block that nobody has taken; waits for it.
    fn next(&self) -> Option<Arc<Waiting>> {
        let mut queue = self.0.lock();
        loop {
            if let Some(waiting) = queue.free() {
                // Relaxed: the queue's lock orders it.
                waiting.is_taken.store(true, Ordering::Relaxed);
                return Some(waiting);
            }
            if queue.is_closed {
                return None;
            }
            queue = self.0.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Work {
    /// Bytes of ring that it holds.
    fn bytes(&self) -> u64 {
        match self {
            Self::Block(waiting) => waiting.given.raw.len() as u64,
            Self::Mark(_) | Self::Finish(_) => 0,
        }
    }
}

impl Queue {
    fn push(&mut self, work: Work) {
        self.bytes += work.bytes();
        self.work.push_back(work);
    }

    fn pop(&mut self) -> Option<Work> {
        let work = self.work.pop_front()?;
        self.bytes -= work.bytes();
        Some(work)
    }

    fn is_pressed(&self) -> bool {
        self.pressed_until.is_some_and(|until| Instant::now() < until)
    }

    /// The first block that is left to the thread that compresses ahead and that it has not taken.
    fn free(&self) -> Option<Arc<Waiting>> {
        if self.is_pressed() {
            return None;
        }
        let mut blocks = self.work.iter().filter_map(|work| match work {
            Work::Block(waiting) => Some(waiting),
            Work::Mark(_) | Work::Finish(_) => None,
        });
        // Relaxed: the queue's lock orders it.
        blocks
            .find(|waiting| waiting.is_whole() && !waiting.is_taken.load(Ordering::Relaxed))
            .cloned()
    }
}

impl Shared {
    fn push(&self, work: Work) {
        self.lock().push(work);
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    /// Rings that hold two blocks of [`block`] before they are short of space, and no third.
    const RING_BYTES: u64 = 4000;

    fn block(byte: u8) -> Block {
        Block { raw: vec![byte; 1000], ..Block::default() }
    }

    fn byte_of(work: Option<Work>) -> Option<(u8, bool)> {
        match work? {
            Work::Block(waiting) => Some((waiting.block().raw[0], waiting.frame().is_some())),
            Work::Mark(_) | Work::Finish(_) => None,
        }
    }

    #[test]
    fn block_is_taken_when_it_is_compressed() {
        let (feed, backlog, ahead) = backlog(RING_BYTES);
        let compressing = thread::spawn(move || ahead.run(&mut BlockEncoder::new(1).unwrap()));
        feed.block(block(1));
        assert_eq!(byte_of(backlog.next()), Some((1, true)));
        drop(feed);
        assert!(backlog.next().is_none());
        compressing.join().unwrap();
    }

    #[test]
    fn nobody_waits_for_a_thread_that_gets_no_time() {
        let (feed, backlog, _ahead) = backlog(RING_BYTES);
        feed.block(block(1));
        let began = Instant::now();
        assert_eq!(byte_of(backlog.next()), Some((1, false)));
        assert!(began.elapsed() >= PATIENCE / 2, "it was not waited for at all");
        (0..3).for_each(|number| feed.block(block(number)));
        let began = Instant::now();
        assert_eq!(byte_of(backlog.next()), Some((0, false)));
        assert!(began.elapsed() < PATIENCE / 2, "it was waited for");
    }

    #[test]
    fn blocks_that_queue_up_are_not_compressed_twice() {
        let (feed, backlog, ahead) = backlog(RING_BYTES);
        (0..3).for_each(|number| feed.block(block(number)));
        assert_eq!(byte_of(backlog.next()), Some((0, false)));
        assert!(ahead.0.lock().free().is_none(), "left to both");
        thread::sleep(PRESSED);
        assert!(ahead.0.lock().free().is_some(), "left to nobody");
    }

    #[test]
    fn work_comes_in_its_order_and_is_not_waited_for_at_the_end() {
        let (feed, backlog, _ahead) = backlog(RING_BYTES);
        (1..=3).for_each(|number| feed.block(block(number)));
        drop(feed);
        let taken: Vec<_> = std::iter::from_fn(|| byte_of(backlog.next())).collect();
        assert_eq!(taken, [(1, false), (2, false), (3, false)]);
    }
}
