//! Threads of a replay: one for each thread of the trace. Only one of them plays at a time.
//!
//! The player passes from thread to thread. The thread that has it plays commands of its own thread
//! of the trace; the others wait. The playing thread can give a waiting thread a task.

use std::collections::BTreeMap;
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
    /// Something to run on this thread.
    Baton,
    Task(Box<dyn FnOnce() + Send>),
}

/// The threads that have begun.
pub struct Threads {
    begun: BTreeMap<u32, Sender<Wake>>,
    count: usize,
    most: usize,
}

impl Threads {
    /// No threads yet; at most `most` may begin.
    pub(crate) fn new(most: usize) -> Self {
        Self { begun: BTreeMap::new(), count: 0, most }
    }

    /// Whether the thread has begun, or may begin.
    pub(crate) fn admits(&self, thread: u32) -> bool {
        self.begun.contains_key(&thread) || self.count < self.most
    }

    /// Number of threads that have begun.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Notes that the calling thread has ended. Returns the thread that has to end next.
    pub(crate) fn end(&mut self, thread: u32) -> Turn {
        self.begun.remove(&thread);
        self.begun.first_key_value().map_or(Turn::Over, |(thread, _)| Turn::Of(*thread))
    }

    /// Runs `task` on another thread of the trace and waits until it has run. False if that thread
    /// does not exist.
    pub fn run_on(&self, thread: u32, task: impl FnOnce() + Send + 'static) -> bool {
        let Some(waiting) = self.begun.get(&thread) else { return false };
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
    thread::scope(|scope| pass_on(scope, &slot, Box::new(player), Turn::Of(first)));
    let played = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.map(|player| *player)
}

/// Puts the player into the slot and wakes the thread that plays next.
fn pass_on<'scope, 'env, P: Plays + 'scope>(
    scope: &'scope Scope<'scope, 'env>,
    slot: &'scope Slot<P>,
    mut player: Box<P>,
    turn: Turn,
) {
    let next = match turn {
        Turn::Over => None,
        Turn::Of(thread) => {
            let threads = player.threads();
            let begun = threads.begun.entry(thread).or_insert_with(|| {
                threads.count += 1;
                let (sender, receiver) = channel();
                scope.spawn(move || wait(scope, slot, thread, &receiver));
                sender
            });
            Some(begun.clone())
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
                pass_on(scope, slot, player, turn);
            }
        }
    }
}
