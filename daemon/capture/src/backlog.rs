//! Blocks on their way from the drain to the writer. A thread of nice 10 compresses them in advance; the writer
//! compresses itself a block that has waited 100 ms (`PATIENCE`), and for 20 ms whenever more than 5/8 of a ring, at
//! most 8 MiB, waits. When two blocks wait and a write lasts 10 ms (a pipe) or 100 ms (a file), blocks go to a
//! temporary file (`daemon/capture/src/spill.rs`) and their ring space is free. With `--if-slow wait` nothing is put
//! aside.
//!
//! While a block waits, a thread of low priority compresses it. The writer takes the block when that is done. If
//! blocks queue up, or one has waited long, the writer takes it uncompressed, whatever the other thread does, and
//! also the next ones for a while, which the other thread then leaves alone: a block that both compress wastes time.
//! So the writer never waits for a thread that gets little processor time, and compression does not slow down a
//! program.
//!
//! If the output holds the writer up and blocks queue up, a third thread writes them into a temporary file in their
//! order, so that a slow reader does not hold ring space and memory. Facts that depend on the order of blocks are
//! found when a block leaves the queue, by the thread that takes it.

use std::collections::VecDeque;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use gapii_ringbuf::CounterMap;
use gapii_trace::BlockEncoder;
use gapii_trace::blobs::Collector;
use gapii_trace::used::Used;

use crate::facts::Facts;
use crate::fault::{self, Fault};
use crate::fill::fill;
use crate::finish::Finish;
use crate::spill::{Place, Spill};
use crate::stream::{Block, RingKey};

/// Largest share of a ring, in eighths, that blocks may hold while they wait for compression. Beyond it the space is
/// needed.
const WAITING_EIGHTHS: u64 = 5;
/// Largest number of bytes of blocks that wait for compression: 8 MiB.
const WAITING_MAX: u64 = 8 << 20;
/// Time that a block waits for its compression: 100 ms.
const PATIENCE: Duration = Duration::from_millis(100);
/// Time for which the writer compresses itself after blocks queued up: 20 ms.
const PRESSED: Duration = Duration::from_millis(20);
/// Number of blocks in memory from which on they are put aside. Four fill a ring.
const SPILL_BLOCKS: usize = 2;
/// Duration of a write from which on the writer counts as held up: to a pipe or the like (10 ms), and to a file (100
/// ms).
const HELD_UP: [Duration; 2] = [Duration::from_millis(10), Duration::from_millis(100)];

/// The writer's next piece of work.
#[derive(Debug)]
pub enum Work {
    Block(Arc<Waiting>, Facts),
    /// The zstd frame of a block that was put aside. Its ring space is free.
    Spilled(io::Result<Vec<u8>>, Facts),
    /// Drop the sender: all work before it is done.
    Mark(Sender<()>),
    /// The last piece of work.
    Finish(Box<Finish>),
}

/// A block is written, put aside, lost, or in the hands of a writer whose output is a stream. This ring space may be
/// reused.
#[derive(Debug)]
pub struct Done {
    /// Rings, each with the index below which its space is free.
    pub releases: Vec<(RingKey, u64)>,
}

/// A block that is not written yet.
#[derive(Debug)]
pub struct Waiting {
    given: Block,
    /// The block with contents from stores, if it needs some.
    filled: OnceLock<Block>,
    /// The block's zstd frame and what its records need of a description, once it was compressed in advance.
    frame: OnceLock<(Vec<u8>, Used)>,
    /// A thread compresses it in advance.
    is_taken: AtomicBool,
    since: Instant,
}

/// The drain's end. Dropping it tells the writer that no more blocks come.
pub struct Feed(Arc<Shared>);

/// The writer's end.
pub struct Backlog(Arc<Shared>);

/// The end of the thread that compresses in advance.
pub struct Ahead(Arc<Shared>);

/// The end of the thread that puts blocks aside.
pub struct Spiller {
    shared: Arc<Shared>,
    /// Duration of a write from which on the writer counts as held up.
    held_up: Duration,
}

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Signalled when blocks queue up, or when [`Queue::is_exhausted`] is no longer so.
    pressed: Condvar,
    /// Held while a block is taken out of the queue and its facts are found. Taken before the queue's lock.
    fact_finder: Mutex<FactFinder>,
    /// Largest number of bytes that wait for compression in advance.
    waiting_max: u64,
    /// The temporary file. Taken before the queue's lock, and never for long by a thread that holds that one.
    spill: Mutex<Option<Spill>>,
    /// Bytes in the temporary file.
    spilled: AtomicU64,
}

/// Finds the facts of blocks, in the order in which they leave the queue.
#[derive(Default)]
struct FactFinder {
    blocks: u32,
    collector: Collector,
}

#[derive(Debug, Default)]
struct Queue {
    work: VecDeque<Item>,
    /// Bytes and number of the blocks in the queue.
    bytes: u64,
    blocks: usize,
    /// Until then the writer compresses blocks itself.
    pressed_until: Option<Instant>,
    /// When the writer began to wait for its output, if it waits.
    writes_since: Option<Instant>,
    /// A caller waits for all blocks to leave, so blocks are put aside even if they do not queue up.
    is_awaited: bool,
    /// The temporary file had no room for a block, and the writer has taken nothing since.
    is_exhausted: bool,
    /// No more work comes.
    is_closed: bool,
}

#[derive(Debug)]
enum Item {
    Block(Arc<Waiting>, Option<Facts>),
    /// A block on its way into the temporary file.
    Spilling,
    Spilled(Place, Facts),
    Mark(Sender<()>),
    Finish(Box<Finish>),
}

/// Makes the ends of an empty backlog, for blocks from rings of `ring_bytes`.
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

    /// Returns the block with all contents. Must be called in the order of the blocks, when all earlier ones are
    /// done.
    pub fn block(&self) -> &Block {
        match self.is_whole() {
            true => &self.given,
            false => self.filled.get_or_init(|| fill(&self.given)),
        }
    }

    /// Returns whether the block needs no contents from a store.
    fn is_whole(&self) -> bool {
        self.given.unfilled_bytes == 0
    }

    /// Returns the block's zstd frame and what its records need of a description, if it was compressed in advance.
    pub fn frame(&self) -> Option<(&[u8], &Used)> {
        self.frame.get().map(|(frame, used)| (frame.as_slice(), used))
    }
}

impl Feed {
    /// Appends a block.
    pub fn block(&self, block: Block) {
        self.0.push(Item::Block(Arc::new(Waiting::new(block)), None));
    }

    /// Appends a mark: `reached` is dropped once all work before it is done.
    pub fn mark(&self, reached: Sender<()>) {
        self.0.push(Item::Mark(reached));
    }

    /// Appends the end of the stream; nothing may follow it.
    pub fn finish(&self, finish: Finish) {
        self.0.push(Item::Finish(Box::new(finish)));
    }

    /// Asks for all waiting blocks to be written or put aside soon, because a caller waits for their ring space.
    pub fn await_all(&self) {
        let mut queue = self.0.lock();
        queue.is_awaited = queue.blocks > 0;
        drop(queue);
        self.0.pressed.notify_one();
    }

    /// Returns whether the temporary file had no room for a block.
    pub fn is_exhausted(&self) -> bool {
        self.0.lock().is_exhausted
    }

    /// Returns whether the writer waits for its output.
    pub fn is_writing(&self) -> bool {
        self.0.lock().writes_since.is_some()
    }

    /// Returns the number of bytes of blocks that wait in memory.
    pub fn waiting_bytes(&self) -> u64 {
        self.0.lock().bytes
    }

    /// Returns the number of bytes in the temporary file.
    pub fn spilled_bytes(&self) -> u64 {
        // Relaxed: a number for people.
        self.0.spilled.load(Ordering::Relaxed)
    }
}

impl Drop for Feed {
    fn drop(&mut self) {
        self.0.lock().is_closed = true;
        self.0.changed.notify_all();
        self.0.pressed.notify_all();
    }
}

impl Backlog {
    /// Makes the thread's end that puts blocks aside for this writer, whose output is a stream (a pipe or the like)
    /// or a file.
    pub fn spiller(&self, spill: Spill, is_stream: bool) -> Spiller {
        *self.0.spill() = Some(spill);
        let [stream, file] = HELD_UP;
        let held_up = if is_stream { stream } else { file };
        Spiller { shared: Arc::clone(&self.0), held_up }
    }

    /// Waits for the next piece of work and returns it, in the order in which it was given. Returns `None` if no more
    /// comes and the last was not [`Work::Finish`].
    pub fn next(&self) -> Option<Work> {
        let mut queue = self.0.lock();
        loop {
            if queue.bytes > self.0.waiting_max {
                queue.pressed_until = Some(Instant::now() + PRESSED);
            }
            let patience = match queue.work.front() {
                None if queue.is_closed => return None,
                None | Some(Item::Spilling) => None,
                Some(_) if queue.is_closed || queue.is_pressed() => Some(Duration::ZERO),
                Some(Item::Mark(_) | Item::Finish(_) | Item::Spilled(..)) => Some(Duration::ZERO),
                Some(Item::Block(waiting, _)) if !waiting.is_whole() => Some(Duration::ZERO),
                Some(Item::Block(waiting, _)) if waiting.frame().is_some() => Some(Duration::ZERO),
                Some(Item::Block(waiting, _)) => {
                    Some(PATIENCE.saturating_sub(waiting.since.elapsed()))
                }
            };
            let changed = &self.0.changed;
            queue = match patience {
                Some(Duration::ZERO) => {
                    drop(queue);
                    match self.take() {
                        Some(work) => return Some(work),
                        // The other thread was quicker.
                        None => self.0.lock(),
                    }
                }
                Some(patience) => {
                    let waited = changed.wait_timeout(queue, patience);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                None => changed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Returns the next piece of work, if there is one that no other thread has taken.
    pub fn take(&self) -> Option<Work> {
        self.0.take()
    }

    /// Returns whether blocks have queued up a moment ago, because processors are short.
    pub fn is_pressed(&self) -> bool {
        self.0.lock().is_pressed()
    }

    /// Notes that the writer begins to wait for its output, or has stopped waiting.
    pub fn set_writing(&self, writes: bool) {
        self.0.lock().writes_since = writes.then(Instant::now);
    }
}

impl Ahead {
    /// Compresses waiting blocks until no more come.
    pub fn run(&self, encoder: &mut BlockEncoder) {
        while let Some(waiting) = self.next() {
            // A block that cannot be encoded fails again in the writer, which reports it.
            if let Ok(frame) = encoder.encode(&waiting.given.raw) {
                let _ = waiting.frame.set((frame, encoder.used()));
                self.0.changed.notify_all();
            }
        }
    }

    /// Waits for a block that no thread has taken, and returns the first.
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

impl Spiller {
    /// Puts blocks aside when they queue up, until no more come, compressed at a zstd level for a format version.
    pub fn run(&self, (level, version): (i32, u32), done: &Sender<Done>, counter: &CounterMap) {
        // Most outputs accept everything, so the encoder is made when it is first needed.
        let mut encoder = None;
        while let Some(count) = self.wait() {
            if encoder.is_none() {
                encoder = BlockEncoder::for_version(level, version).ok();
            }
            let Some(encoder) = &mut encoder else { return };
            self.put(count, encoder, done, || counter.ring_doorbell());
        }
    }

    /// Puts up to `count` blocks aside, as long as the file has room. Calls `put` for each.
    fn put(
        &self,
        count: usize,
        encoder: &mut BlockEncoder,
        done: &Sender<Done>,
        mut put: impl FnMut(),
    ) {
        for _ in 0..count {
            if !self.put_one(encoder, done) {
                break;
            }
            put();
        }
    }

    /// Puts blocks aside if they queue up, as if the output were held up.
    #[cfg(test)]
    pub fn step(&self, encoder: &mut BlockEncoder, done: &Sender<Done>) {
        let queue = self.shared.lock();
        let (count, is_much) = (queue.blocks, queue.is_much());
        drop(queue);
        if is_much {
            self.put(count, encoder, done, || {});
        }
    }

    /// Waits until blocks are to be put aside, and returns their number. Returns `None` if no more come.
    fn wait(&self) -> Option<usize> {
        let mut queue = self.shared.lock();
        loop {
            if queue.is_closed {
                return None;
            }
            let held_up = queue.writes_since.is_some_and(|since| since.elapsed() >= self.held_up);
            let may_put = queue.is_much() && !queue.is_exhausted;
            if may_put && held_up {
                return Some(queue.blocks);
            }
            let pressed = &self.shared.pressed;
            queue = match may_put {
                true => {
                    let waited = pressed.wait_timeout(queue, self.held_up);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                false => pressed.wait(queue).unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    /// Puts the first block in memory aside. Returns false if there is none, or the file has no room.
    fn put_one(&self, encoder: &mut BlockEncoder, done: &Sender<Done>) -> bool {
        let mut fact_finder = self.shared.fact_finder();
        let mut queue = self.shared.lock();
        let is_block = |item: &Item| matches!(item, Item::Block(..));
        let Some(at) = queue.work.iter().position(is_block) else { return false };
        let Item::Block(waiting, known) = std::mem::replace(&mut queue.work[at], Item::Spilling)
        else {
            return false;
        };
        queue.count_out(&waiting);
        drop(queue);
        let mut facts = known.unwrap_or_else(|| fact_finder.facts(&waiting));
        drop(fact_finder);
        // A block that cannot be encoded fails again in the writer, which reports it.
        let encoded = match waiting.frame() {
            Some(_) => None,
            None => encoder.encode(&waiting.block().raw).ok().map(|frame| (frame, encoder.used())),
        };
        let encoded = encoded.as_ref().map(|(frame, used)| (frame.as_slice(), used));
        let frame = waiting.frame().or(encoded).map(|(frame, used)| {
            facts.used = used.clone();
            frame
        });
        let mut spill = self.shared.spill();
        let place = frame.zip(spill.as_mut()).and_then(|(frame, spill)| spill.put(frame));
        self.shared.show(spill.as_ref());
        drop(spill);
        let is_put = place.is_some();
        let mut queue = self.shared.lock();
        // Only the writer takes items from before this one, and it waits for this one.
        let spilling = queue.work.iter().position(|item| matches!(item, Item::Spilling));
        if let Some(at) = spilling {
            queue.work[at] = match place {
                Some(place) => Item::Spilled(place, facts),
                None => {
                    queue.count_in(&waiting);
                    Item::Block(Arc::clone(&waiting), Some(facts))
                }
            };
        }
        queue.is_exhausted = !is_put;
        drop(queue);
        self.shared.changed.notify_all();
        if is_put && !fault::is_put_in(Fault::SpaceKept) {
            // A drain that is gone needs no ring space.
            let _ = done.send(Done { releases: waiting.given.releases.clone() });
        }
        is_put
    }
}

impl FactFinder {
    /// Finds the facts of the next block.
    fn facts(&mut self, waiting: &Waiting) -> Facts {
        let facts = Facts::of(waiting.block(), self.blocks, &mut self.collector);
        self.blocks += 1;
        facts
    }
}

impl Queue {
    fn push(&mut self, item: Item) {
        if let Item::Block(waiting, _) = &item {
            self.count_in(waiting);
        }
        self.work.push_back(item);
    }

    fn count_in(&mut self, waiting: &Waiting) {
        self.bytes += waiting.given.raw.len() as u64;
        self.blocks += 1;
    }

    fn count_out(&mut self, waiting: &Waiting) {
        self.bytes -= waiting.given.raw.len() as u64;
        self.blocks -= 1;
        self.is_awaited &= self.blocks > 0;
    }

    /// Returns whether blocks are put aside if the output is held up.
    fn is_much(&self) -> bool {
        self.blocks >= SPILL_BLOCKS || self.is_awaited
    }

    fn is_pressed(&self) -> bool {
        self.pressed_until.is_some_and(|until| Instant::now() < until)
    }

    /// Returns the first block that the thread which compresses in advance may take.
    fn free(&self) -> Option<Arc<Waiting>> {
        if self.is_pressed() {
            return None;
        }
        let mut blocks = self.work.iter().filter_map(|item| match item {
            Item::Block(waiting, _) => Some(waiting),
            _ => None,
        });
        // Relaxed: the queue's lock orders it.
        blocks
            .find(|waiting| waiting.is_whole() && !waiting.is_taken.load(Ordering::Relaxed))
            .cloned()
    }
}

impl Shared {
    fn push(&self, item: Item) {
        let mut queue = self.lock();
        queue.push(item);
        let is_much = queue.is_much();
        drop(queue);
        self.changed.notify_all();
        if is_much {
            self.pressed.notify_one();
        }
    }

    /// Takes out the first item, if no other thread works on it.
    fn take(&self) -> Option<Work> {
        let mut fact_finder = self.fact_finder();
        let mut queue = self.lock();
        if matches!(queue.work.front()?, Item::Spilling) {
            return None;
        }
        match queue.work.pop_front()? {
            Item::Spilling => None,
            Item::Mark(reached) => Some(Work::Mark(reached)),
            Item::Finish(finish) => Some(Work::Finish(finish)),
            Item::Block(waiting, known) => {
                queue.count_out(&waiting);
                self.may_put_again(queue);
                let facts = known.unwrap_or_else(|| fact_finder.facts(&waiting));
                Some(Work::Block(waiting, facts))
            }
            Item::Spilled(place, facts) => {
                drop(queue);
                let mut spill = self.spill();
                let frame = match spill.as_mut() {
                    Some(spill) => spill.get(place),
                    None => Err(io::ErrorKind::NotFound.into()),
                };
                self.show(spill.as_ref());
                drop(spill);
                self.may_put_again(self.lock());
                Some(Work::Spilled(frame, facts))
            }
        }
    }

    /// Lets the thread that puts blocks aside try again, because the output has accepted something.
    fn may_put_again(&self, mut queue: MutexGuard<'_, Queue>) {
        let was_exhausted = std::mem::take(&mut queue.is_exhausted);
        drop(queue);
        if was_exhausted {
            self.pressed.notify_one();
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spill(&self) -> MutexGuard<'_, Option<Spill>> {
        self.spill.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn show(&self, spill: Option<&Spill>) {
        // Relaxed: a number for people.
        self.spilled.store(spill.map_or(0, Spill::used), Ordering::Relaxed);
    }

    fn fact_finder(&self) -> MutexGuard<'_, FactFinder> {
        self.fact_finder.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use gapii_trace::frame::UNTIMED_VERSION;

    use super::*;

    /// Rings of this size hold two blocks of [`block`] before they are short of space, and no third.
    const RING_BYTES: u64 = 4000;

    fn block(byte: u8) -> Block {
        Block { raw: vec![byte; 1000], ..Block::default() }
    }

    fn byte_of(work: Option<Work>) -> Option<(u8, bool)> {
        match work? {
            Work::Block(waiting, _) => Some((waiting.block().raw[0], waiting.frame().is_some())),
            _ => None,
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
    fn output_that_is_held_up_again_is_exhausted_again() {
        let (feed, backlog, _ahead) = backlog(RING_BYTES);
        let spiller = backlog.spiller(Spill::none(), true);
        let (done, counter) = (mpsc::channel().0, CounterMap::create().unwrap().0);
        let putting = thread::spawn(move || spiller.run((1, UNTIMED_VERSION), &done, &counter));
        (0..4).for_each(|number| feed.block(block(number)));
        for _ in 0..2 {
            backlog.set_writing(true);
            let began = Instant::now();
            while !feed.is_exhausted() {
                assert!(began.elapsed() < Duration::from_secs(30), "nothing is tried");
                thread::sleep(Duration::from_millis(1));
            }
            backlog.set_writing(false);
            assert!(backlog.take().is_some() && !feed.is_exhausted());
        }
        drop(feed);
        putting.join().unwrap();
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
