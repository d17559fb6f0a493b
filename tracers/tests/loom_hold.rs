//! Loom model of HOLD: a roster that a call holds is not freed, and a replaced roster that no call holds is freed.
//!
//! Run it with `cargo xtask models`; with `--long` every thread may be preempted three times.

#![cfg(loom)]

use std::ptr;

use gapii_tracers::current::{Current, is_held};
use gapii_tracers::seat::Seats;
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread;

const ALIVE: u32 = 0x600d;
const FREED: u32 = 0xdead;

/// A value that the model marks as freed instead of deallocating it, so that a failing model reads valid memory.
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
    let is_long = std::env::var_os("GAPII_LONG_MODELS").is_some();
    model.preemption_bound = Some(if is_long { 3 } else { 2 });
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
            // SAFETY: allocated as a box above, and all threads with a pointer to it have ended.
            drop(unsafe { Box::from_raw(value) });
        }
    });
}

fn read(shared: &Shared, calls: usize) {
    let seat = shared.seats.claim();
    for function in 0..calls {
        if let Some(value) = shared.current.hold(seat, function) {
            // SAFETY: values are not deallocated before the model ends.
            let value = unsafe { value.as_ref() };
            // SAFETY: a word of the model.
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
            // SAFETY: values are not deallocated before the model ends.
            let value = unsafe { &**value };
            // SAFETY: a word of the model, which no thread reads any more.
            value.0.with_mut(|word| unsafe { *word = FREED });
        }
        held
    });
}

#[test]
fn held_value_is_not_freed_while_it_is_replaced_twice() {
    model(1, 2);
}

#[test]
fn value_that_either_of_two_calls_holds_is_not_freed() {
    model(2, 1);
}
