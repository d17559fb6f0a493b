//! The threads of a replay: one for each thread of the trace, of which one at a time plays.
//!
//! The player is handed on like a baton. Who has it plays while commands are its own; the others
//! wait. A waiting thread can be given a task, by the one that plays.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::thread::{self, Scope};

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Turn {
    /// A thread of the trace, by its index.
    Of(u32),
    /// Nobody's: all is played, and all threads have ended.
    Over,
}

/// What is handed from thread to thread.
pub(crate) trait Plays: Send {
    /// The thread that the first command is on; `None`: nothing is to be played.
    fn first_thread(&mut self) -> Option<u32>;
    /// Plays on `thread`, the one that calls, until it is another's turn.
    fn play(&mut self, thread: u32) -> Turn;
    /// The threads that have begun.
    fn threads(&mut self) -> &mut Threads;
}

/// What wakes a waiting thread.
enum Wake {
    /// The player is there for it.
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
    pub(crate) fn new(most: usize) -> Self {
        Self { begun: BTreeMap::new(), count: 0, most }
    }

    /// Whether that thread has begun, or still may.
    pub(crate) fn admits(&self, thread: u32) -> bool {
        self.begun.contains_key(&thread) || self.count < self.most
    }

    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The calling thread has no more to do; says who goes on with ending.
    pub(crate) fn end(&mut self, thread: u32) -> Turn {
        self.begun.remove(&thread);
        self.begun.first_key_value().map_or(Turn::Over, |(thread, _)| Turn::Of(*thread))
    }

    /// Has another thread of the trace do something, and waits until it has. False: there is no such
    /// thread.
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
        // Ends when `done` is dropped.
        let _ = is_done.recv();
        true
    }
}

type Slot<P> = Mutex<Option<Box<P>>>;

/// Plays all there is to play; gives the player back. `None`: a thread ended with the player.
pub(crate) fn play<P: Plays>(mut player: P) -> Option<P> {
    let Some(first) = player.first_thread() else { return Some(player) };
    let slot: Slot<P> = Mutex::new(None);
    thread::scope(|scope| pass_on(scope, &slot, Box::new(player), Turn::Of(first)));
    let played = slot.into_inner().unwrap_or_else(PoisonError::into_inner);
    played.map(|player| *player)
}

/// Leaves the player in the slot and wakes whose turn it is.
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
        // A thread that is waited for is there: it ends when the last sender does.
        let _ = next.send(Wake::Baton);
    }
}

/// A thread of the trace.
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
