//! Models of KNOWN: a blob that is found was published before, and key and number belong together.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

mod plain;
mod support;

use gapii_edges::blob_table::{Entry, find, learn};
use loom::sync::Arc;
use loom::thread;
use plain::Plain;
use support::{Turnstile, model};

const KEY: [u64; 2] = [1, 2];
/// The blob's number under each tag.
const NUMBERS: [u64; 3] = [0, 10, 20];

/// An entry of a table, and what its users share.
#[derive(Clone)]
struct Table {
    entry: Arc<Entry>,
    turnstile: Arc<Turnstile>,
}

impl Table {
    fn new() -> Self {
        Self { entry: Arc::new(Entry::modelled()), turnstile: Arc::default() }
    }

    fn learn(&self, tag: u64) -> bool {
        self.turnstile.pass();
        learn([&*self.entry].into_iter(), tag, KEY, NUMBERS[tag as usize])
    }

    /// Whether the blob was found; never with another number than the tag's.
    fn finds(&self, tag: u64) -> bool {
        self.turnstile.pass();
        let found = find([&*self.entry].into_iter(), tag, KEY);
        assert!(found.is_none_or(|number| number == NUMBERS[tag as usize]), "{tag}: {found:?}");
        found.is_some()
    }
}

#[test]
fn records_of_a_blob_that_is_found_are_published() {
    model(3, 10, || {
        let (table, records) = (Table::new(), Arc::new(Plain::default()));
        let sender = {
            let (table, records) = (table.clone(), Arc::clone(&records));
            thread::spawn(move || {
                records.write(7);
                assert!(table.learn(1));
            })
        };
        if table.finds(1) {
            assert_eq!(records.read(), 7);
        }
        sender.join().expect("the sender does not panic");
        assert!(table.finds(1));
    });
}

#[test]
fn number_belongs_to_the_key_while_the_entry_is_written_over() {
    model(3, 100, || {
        let table = Table::new();
        assert!(table.learn(1));
        let later = {
            let table = table.clone();
            thread::spawn(move || assert!(table.learn(2)))
        };
        table.finds(1);
        table.finds(2);
        later.join().expect("no thread panics");
        assert!(table.finds(2) && !table.finds(1));
    });
}

#[test]
fn two_threads_that_write_one_entry_do_not_mix_it() {
    model(2, 100, || {
        let table = Table::new();
        let writers = [1, 2].map(|tag: u64| {
            let table = table.clone();
            thread::spawn(move || table.learn(tag))
        });
        table.finds(1);
        let learnt = writers.map(|writer| writer.join().expect("no thread panics"));
        assert!(learnt.contains(&true));
        assert_eq!(table.finds(2), learnt[1]);
    });
}
