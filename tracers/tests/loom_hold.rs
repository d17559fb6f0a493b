//! Loom model of HOLD: a roster that a call holds is not freed, and a replaced roster that no call holds is freed.
//!
//! Run them with `cargo xtask models`.

#![cfg(loom)]

use std::ptr;

use gapii_tracers::current::{Current, is_held};
use gapii_tracers::seat::Seats;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const ALIVE: u32 = 0x600d;
const FREED: u32 = 0xdead;

/// Stays allocated after it was freed, so that a failing model reads defined memory.
struct Value(UnsafeCell<u32>);

impl Value {
    fn allocate() -> *mut Value {
        Box::into_raw(Box::new(Value(UnsafeCell::new(ALIVE))))
    }
}

struct Shared {
    current: Current<Value>,
    seats: Seats,
}

fn model(readers: usize, calls: usize) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(move || {
        let shared = Arc::new(Shared { current: Current::none(), seats: Seats::new() });
        let values = [Value::allocate(), Value::allocate()];
        shared.current.replace(values[0]);
        let readers: Vec<_> = (0..readers)
            .map(|_| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || read(&shared, calls))
            })
            .collect();
        let next = [values[1], ptr::null_mut()];
        let mut retired: Vec<_> = next.map(|new| shared.current.replace(new)).to_vec();
        free_unheld(&shared, &mut retired);
        readers.into_iter().for_each(|reader| reader.join().expect("readers find what they hold"));
        free_unheld(&shared, &mut retired);
        assert!(retired.is_empty(), "held by nobody, and not freed");
        for value in values {
            // SAFETY: out of a box above, and all threads that knew it have ended.
            drop(unsafe { Box::from_raw(value) });
        }
    });
}

fn read(shared: &Shared, calls: usize) {
    let seat = shared.seats.claim();
    for function in 0..calls {
        if let Some(value) = shared.current.hold(seat, function) {
            // SAFETY: it is in memory until the model ends.
            let value = unsafe { value.as_ref() };
            // SAFETY: a word of the model's.
            value.0.with(|word| assert_eq!(unsafe { *word }, ALIVE));
            seat.release();
        }
    }
    shared.seats.give_back(seat);
}

fn free_unheld(shared: &Shared, retired: &mut Vec<*mut Value>) {
    retired.retain(|value| {
        let held = is_held(&shared.seats, *value);
        if !held {
            // SAFETY: it is in memory until the model ends.
            let value = unsafe { &**value };
            // SAFETY: a word of the model's, which nobody reads any more.
            value.0.with_mut(|word| unsafe { *word = FREED });
        }
        held
    });
}

#[test]
fn what_a_call_holds_is_not_freed_while_it_is_replaced_twice() {
    model(1, 2);
}

#[test]
fn what_either_of_two_calls_holds_is_not_freed() {
    model(2, 1);
}
