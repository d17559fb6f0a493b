//! Models of SETTLE: words follow from their inputs once all threads that changed an input have settled them.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod support;

use std::ptr;

use gapii_edges::{Settled, settle};
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::thread;
use support::{Turnstile, model};

/// Two inputs, and two words that follow from them, as a command's slot and what lies below its traced handler do.
struct Shared {
    inputs: [AtomicUsize; 2],
    slot: Settled<()>,
    below: Settled<()>,
    turnstile: Turnstile,
}

impl Shared {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            inputs: [AtomicUsize::new(0), AtomicUsize::new(0)],
            slot: Settled::new(ptr::without_provenance_mut(1)),
            below: Settled::new(ptr::without_provenance_mut(1)),
            turnstile: Turnstile::default(),
        })
    }

    fn wanted(&self) -> (usize, usize) {
        self.turnstile.pass();
        let [hooks, driver] = self.inputs.each_ref().map(|input| input.load(Relaxed));
        (1 + hooks + 2 * driver, 1 + driver)
    }

    fn change(&self, input: usize) {
        // Relaxed: SETTLE needs no ordering of the inputs.
        self.inputs[input].store(1, Relaxed);
        settle(
            || self.wanted(),
            |(slot, below)| {
                self.below.set(ptr::without_provenance_mut(*below));
                self.slot.set(ptr::without_provenance_mut(*slot));
            },
        );
    }
}

#[test]
fn words_follow_from_all_changes_when_two_threads_settle_them() {
    model(4, 10, || {
        let shared = Shared::new();
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.change(0))
        };
        shared.change(1);
        other.join().expect("no thread panics");
        assert_eq!((shared.slot.get().addr(), shared.below.get().addr()), (4, 2));
    });
}

/// As an entry point and the handler that it jumps to: the handler loads the driver's function from a word of its own.
#[test]
fn reader_of_a_word_sees_the_inputs_that_it_follows_from() {
    model(4, 10, || {
        let shared = Shared::new();
        let other = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || shared.change(1))
        };
        shared.turnstile.pass();
        if shared.slot.get().addr() == 3 {
            assert_eq!(shared.inputs[1].load(Relaxed), 1);
        }
        other.join().expect("no thread panics");
    });
}
