//! Shared parts of the models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use gapii_ringbuf::model::ModelBytes;
use gapii_ringbuf::{Header, Producer, Room};

/// Runs `check` in every order with at most `preemptions` preemptions, and makes sure that there
/// were `at_least` orders: a model that explores nothing proves nothing.
pub fn model(preemptions: usize, at_least: usize, check: impl Fn() + Sync + Send + 'static) {
    let explored = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&explored);
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = Some(preemptions);
    builder.check(move || {
        counted.fetch_add(1, Ordering::Relaxed);
        check();
    });
    let explored = explored.load(Ordering::Relaxed);
    assert!(explored >= at_least, "explored only {explored} orders");
    println!("{explored} orders");
}

/// Bounds of a slow model, preemptions and least orders: `short`, or `long` if `GAPII_LONG_MODELS` is set, as by
/// `cargo xtask models --long`.
#[allow(dead_code, reason = "not every file of models has a slow one")]
pub fn bounds(short: (usize, usize), long: (usize, usize)) -> (usize, usize) {
    if std::env::var_os("GAPII_LONG_MODELS").is_some() { long } else { short }
}

/// A step that every thread of a model takes before each of its actions.
///
/// Loom finds the orders to try from pairs of accesses to one word, and remembers only the latest
/// access: where a thread loads a word and then stores to it, the load hides the other threads'
/// earlier ones, and orders are missed. A read-modify-write hides nothing. It is relaxed, so it
/// orders nothing that the code under test does not order itself.
#[derive(Default)]
pub struct Turnstile(loom::sync::atomic::AtomicUsize);

impl Turnstile {
    pub fn pass(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Writes one record without payload, if there is room.
pub fn produce(producer: &mut Producer<ModelBytes>, id: u16) -> Room {
    let header = Header::new(id, 0, 8);
    loop {
        // SAFETY: the models keep ring and pages in `Arc`s, and claim the slot first.
        if let Some(reservation) = unsafe { producer.reserve(header) } {
            // SAFETY: the last reservation, and it has no payload.
            unsafe { producer.publish(reservation) };
            producer.finish();
            return Room::Ready;
        }
        match producer.make_room(8) {
            Room::Ready => {}
            full => return full,
        }
    }
}

/// The ids of whole records.
pub fn ids_of(mut bytes: &[u8]) -> Vec<u16> {
    let mut ids = Vec::new();
    while let Some(word) = bytes.first_chunk() {
        let header = Header(u64::from_le_bytes(*word));
        ids.push(header.id());
        bytes = &bytes[header.span_untrusted() as usize..];
    }
    ids
}

/// A producer on its way to the thread that uses it.
pub struct Movable<T>(pub T);

// SAFETY: one thread uses it at a time; loom checks the cells behind it.
unsafe impl<T> Send for Movable<T> {}

impl<T> Movable<T> {
    pub fn take(self) -> T {
        self.0
    }
}
