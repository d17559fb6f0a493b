//! Models of OUTSIDE: a thread that is seen outside is in no command of an older epoch, nor will be.
//!
//! `RUSTFLAGS="--cfg loom" cargo test -p gapii-edges --release --test 'loom_*'`

#![cfg(loom)]

mod plain;
mod support;

use gapii_edges::{Epoch, Gate, barrier_in_all_threads};
use loom::sync::Arc;
use loom::thread;
use plain::Plain;
use support::{Turnstile, model};

/// What a command changes, and a describer reads.
struct Shared {
    epoch: Epoch,
    gate: Gate,
    state: Plain,
    turnstile: Turnstile,
}

/// A describer raises the epoch, and reads the state if it sees the thread outside, while the thread makes `commands`.
fn describe_beside(commands: u64) {
    let shared = Arc::new(Shared {
        epoch: Epoch::none(),
        gate: Gate::closed(),
        state: Plain::default(),
        turnstile: Turnstile::default(),
    });
    shared.epoch.begin(17);
    shared.gate.leave(17);
    let thread = {
        let shared = Arc::clone(&shared);
        thread::spawn(move || {
            for command in 1..=commands {
                shared.turnstile.pass();
                if !shared.gate.enter(&shared.epoch) {
                    // The slow path waits for the describer.
                    return;
                }
                shared.state.write(command);
                shared.turnstile.pass();
                shared.gate.leave(17);
            }
        })
    };
    shared.turnstile.pass();
    shared.epoch.begin(18);
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
    model(3, 5, || describe_beside(1));
}

#[test]
fn what_the_last_command_did_is_seen() {
    model(3, 10, || describe_beside(2));
}
