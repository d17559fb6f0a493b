//! Threads of a replay: one for each thread of the trace, from its first command to its last, so that no more are alive
//! at once than were in the program. Only one of them plays at a time. Commands of a thread that would exceed
//! `Limits::threads` (16,384), or that this machine refuses to start, are skipped.
//!
//! The player passes from thread to thread. The thread that has it plays commands of its own thread
//! of the trace; the others wait. The playing thread can give a waiting thread a task.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};

/// The thread that plays next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// The thread of the trace with this index.
    Of(u32),
    /// None: everything is played, and all threads have ended.
    Over,
}

/// The value that passes from thread to thread.
pub(crate) trait Plays: Send {
    /// Thread of the first command; `None` if nothing is to be played.
    fn first_thread(&mut self) -> Option<u32>;
    /// Plays on the calling thread, which is `thread`, until another thread has to play.
    fn play(&mut self, thread: u32) -> Turn;
    /// The threads that have begun.
    fn threads(&mut self) -> &mut Threads;
}

/// Wakes a waiting thread.
enum Wake {
    /// The player is in the slot for this thread.
    Baton,
    /// Something to run on this thread.
    Task(Box<dyn FnOnce() + Send>),
}

/// The threads that have begun and have not ended.
pub struct Threads {
    alive: BTreeMap<u32, Sender<Wake>>,
    /// Threads that this machine refused to start.
    refused: BTreeSet<u32>,
    /// Number of threads that have begun.
    count: usize,
    /// Largest number of threads that were alive at once.
    most_alive: usize,
    /// Largest number of threads that may be alive at once.
    limit: usize,
}

impl Threads {
    /// No threads yet; at most `limit` may be alive at once.
    pub(crate) fn new(limit: usize) -> Self {
        let (alive, refused) = (BTreeMap::new(), BTreeSet::new());
        Self { alive, refused, count: 0, most_alive: 0, limit }
    }

    /// Whether the thread is alive, or may begin.
    pub(crate) fn admits(&self, thread: u32) -> bool {
        self.alive.contains_key(&thread)
            || self.alive.len() < self.limit && !self.refused.contains(&thread)
    }

    /// Number of threads that have begun.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Largest number of threads that were alive at once.
    pub(crate) fn most_alive(&self) -> usize {
        self.most_alive
    }

    /// Notes that a thread has no more commands: it ends when it does not have the player. False if it had ended
    /// before.
    pub(crate) fn end(&mut self, thread: u32) -> bool {
        self.alive.remove(&thread).is_some()
    }

    /// A thread that has not ended; [`Turn::Over`] if there is none.
    pub(crate) fn next_to_end(&self) -> Turn {
        self.alive.first_key_value().map_or(Turn::Over, |(thread, _)| Turn::Of(*thread))
    }

    /// Runs `task` on another thread of the trace and waits until it has run. False if that thread
    /// does not exist.
    pub fn run_on(&self, thread: u32, task: impl FnOnce() + Send + 'static) -> bool {
        let Some(waiting) = self.alive.get(&thread) else { return false };
        let (done, is_done) = channel::<()>();
        let task = move || {
            task();
            drop(done);
        };
        if waiting.send(Wake::Task(Box::new(task))).is_err() {
            return false;
        }
        // Returns when `done` is dropped.
        let _ = is_done.recv();
        true
    }
}

type Slot<P> = Mutex<Option<Box<P>>>;

/// Plays everything and returns the player; `None` if a thread panicked with it.
pub(crate) fn play<P: Plays>(mut player: P) -> Option<P> {
    let Some(first) = player.first_thread() else { return Some(player) };
    let slot: Slot<P> = Mutex::new(None);
    thread::scope(|scope| pass_on(scope, &slot, Box::new(player), first, Turn::Of(first)));
    let played = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.map(|player| *player)
}

/// Puts the player into the slot and wakes the thread that plays next. `here` is the thread of the trace that the
/// calling thread plays; it goes on with the commands of other threads if no thread can be started for them.
fn pass_on<'scope, 'env, P: Plays + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    slot: &'scope Slot<P>,
    mut player: Box<P>,
    here: u32,
    mut turn: Turn,
) {
    let next = loop {
        let Turn::Of(thread) = turn else { break None };
        let threads = player.threads();
        if let Some(alive) = threads.alive.get(&thread) {
            break Some(alive.clone());
        }
        let (sender, receiver) = channel();
        let begin = move || wait(scope, slot, thread, &receiver);
        match thread::Builder::new().spawn_scoped(scope, begin) {
            Ok(_) => {
                threads.count += 1;
                threads.alive.insert(thread, sender.clone());
                threads.most_alive = threads.most_alive.max(threads.alive.len());
                break Some(sender);
            }
            Err(_) => {
                threads.refused.insert(thread);
                turn = player.play(here);
            }
        }
    };
    *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(player);
    if let Some(next) = next {
        // The receiving thread exists: it ends only when its last sender is dropped.
        let _ = next.send(Wake::Baton);
    }
}

/// Loop of a thread that plays one thread of the trace.
fn wait<'scope, 'env, P: Plays + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    slot: &'scope Slot<P>,
    thread: u32,
    wakes: &Receiver<Wake>,
) {
    while let Ok(wake) = wakes.recv() {
        match wake {
            Wake::Task(task) => task(),
            Wake::Baton => {
                let taken = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                let Some(mut player) = taken else { return };
                let turn = player.play(thread);
                pass_on(scope, slot, player, thread, turn);
            }
        }
    }
}
