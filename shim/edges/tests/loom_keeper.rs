//! Models of KEEPER, HANDLE, TAKEN and VERSION: what is kept of objects while nothing is recorded.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod plain;
mod support;

use gapii_edges::{AtWork, Epoch, HandleMap, Handled, TryCell, Version, barrier_in_all_threads};
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64;
use loom::sync::atomic::Ordering::Relaxed;
use loom::thread;
use plain::Plain;
use support::{Turnstile, model};

#[test]
fn kept_command_is_seen_or_sees_the_capture() {
    struct Shared {
        epoch: Epoch,
        at_work: AtWork,
        kept: Plain,
        turnstile: Turnstile,
    }
    model(3, 20, || {
        let shared = Arc::new(Shared {
            epoch: Epoch::none(),
            at_work: AtWork::no(),
            kept: Plain::default(),
            turnstile: Turnstile::default(),
        });
        let thread = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for command in 1..=2 {
                    shared.turnstile.pass();
                    if !shared.at_work.begin(&shared.epoch) {
                        shared.kept.write(command);
                    }
                    shared.turnstile.pass();
                    shared.at_work.set(false);
                }
            })
        };
        shared.turnstile.pass();
        shared.epoch.begin(17, 2);
        assert!(barrier_in_all_threads());
        shared.turnstile.pass();
        if !shared.at_work.is_at_work() {
            // A command that is under way, or comes later, is a race that loom reports.
            assert!(shared.kept.read() <= 2);
        }
        thread.join().expect("no thread panics");
    });
}

#[test]
fn value_has_one_user_at_a_time() {
    model(3, 5, || {
        let cell = Arc::new(TryCell::new(0));
        let use_it = |cell: &TryCell<u64>| cell.try_with(|value| *value += 1).is_some();
        let other = {
            let cell = Arc::clone(&cell);
            thread::spawn(move || use_it(&cell))
        };
        let own = use_it(&cell);
        let others = other.join().expect("no thread panics");
        assert!(own || others);
        let count = u64::from(own) + u64::from(others);
        assert_eq!(cell.try_with(|value| *value), Some(count));
    });
}

#[test]
fn reader_of_one_version_sees_no_mixture() {
    struct Shared {
        version: Version,
        words: [AtomicU64; 2],
        turnstile: Turnstile,
    }
    model(3, 20, || {
        let shared = Arc::new(Shared {
            version: Version::zero(),
            words: [AtomicU64::new(0), AtomicU64::new(0)],
            turnstile: Turnstile::default(),
        });
        let writer = {
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                for _ in 0..2 {
                    shared.turnstile.pass();
                    let version = shared.version.begin(5).expect("there is one writer");
                    shared.words.iter().for_each(|word| word.store(version, Relaxed));
                    shared.turnstile.pass();
                    assert!(shared.version.end(5, version));
                }
            })
        };
        for _ in 0..2 {
            shared.turnstile.pass();
            let Some(version) = shared.version.read() else { continue };
            let words = shared.words.each_ref().map(|word| word.load(Relaxed));
            shared.turnstile.pass();
            if shared.version.is_still(version) {
                assert_eq!(words, [version; 2]);
            }
        }
        writer.join().expect("no thread panics");
    });
}

struct Object {
    handle: AtomicU64,
    content: Plain,
}

impl Handled for Object {
    fn handle(&self) -> u64 {
        self.handle.load(Relaxed)
    }
}

fn object(handle: u64) -> &'static Object {
    let object = Object { handle: AtomicU64::new(handle), content: Plain::default() };
    object.content.write(handle);
    Box::leak(Box::new(object))
}

#[test]
fn object_that_is_found_is_complete_while_the_map_grows() {
    model(3, 20, || {
        let map = Arc::new(HandleMap::<Object>::new());
        let turnstile = Arc::new(Turnstile::default());
        map.insert(object(16));
        let other = {
            let (map, turnstile) = (Arc::clone(&map), Arc::clone(&turnstile));
            thread::spawn(move || {
                for handle in [32, 48] {
                    turnstile.pass();
                    map.insert(object(handle));
                }
            })
        };
        for handle in [48, 32, 16] {
            turnstile.pass();
            if let Some(found) = map.find(handle) {
                assert_eq!(found.content.read(), handle);
            } else {
                assert_ne!(handle, 16, "an object that stays is always found");
            }
        }
        other.join().expect("no thread panics");
    });
}
