//! Models of OUTSIDE: a thread that is seen outside is in no command of an older epoch, nor will be.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod plain;
mod support;

use gapii_edges::{Epoch, Gate, barrier_in_all_threads};
use loom::sync::Arc;
use loom::thread;
use plain::Plain;
use support::{Turnstile, model};

/// State that a command changes and a describer reads.
struct Shared {
    epoch: Epoch,
    gate: Gate,
    state: Plain,
    turnstile: Turnstile,
}

/// Values of the thread's gate between commands: ready for the epoch, or always on the slow path.
const READY: [u64; 2] = [17, 1];

/// A describer raises the epoch, and reads the state if it sees the thread outside, while the thread makes
/// `commands`.
fn describe_beside(commands: u64, ready: u64) {
    let shared = Arc::new(Shared {
        epoch: Epoch::none(),
        gate: Gate::closed(),
        state: Plain::default(),
        turnstile: Turnstile::default(),
    });
    shared.epoch.begin(17, 2);
    shared.gate.leave(ready);
    let thread = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            for command in 1..=commands {
                shared.turnstile.pass();
                let is_fast = shared.gate.enter(&shared.epoch);
                assert!(!is_fast || ready == 17);
                if !is_fast && shared.gate.enter_slowly(&shared.epoch) != Some(17) {
                    // The command belongs to the new epoch: it waits for the describer, and is recorded afterwards.
                    return;
                }
                shared.state.write(command);
                shared.turnstile.pass();
                shared.gate.leave(ready);
            }
        })
    };
    shared.turnstile.pass();
    shared.epoch.begin(18, 2);
    assert!(barrier_in_all_threads());
    shared.turnstile.pass();
    if shared.gate.is_outside() {
        // A command that is under way, or comes later, is a race that loom reports.
        assert!(shared.state.read() <= commands);
    }
    thread.join().expect("no thread panics");
}

#[test]
fn thread_that_is_seen_outside_makes_no_command_of_the_old_epoch() {
    for ready in READY {
        model(3, 20, move || describe_beside(1, ready));
    }
}

#[test]
fn what_the_last_command_did_is_seen() {
    for ready in READY {
        model(3, 20, move || describe_beside(2, ready));
    }
}
