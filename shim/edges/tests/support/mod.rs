//! Shared parts of the models.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Runs `check` in every order with at most `preemptions` preemptions, and makes sure that there were `at_least`
/// orders: a model that explores nothing proves nothing.
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
/// Loom finds the orders to try from pairs of accesses to one word, and remembers only the latest access: where a thread
/// loads a word and then stores to it, the load hides other threads' earlier accesses, and orders are missed. A
/// read-modify-write hides nothing. It is relaxed, so it orders nothing that the code under test does not order.
#[derive(Default)]
pub struct Turnstile(loom::sync::atomic::AtomicUsize);

impl Turnstile {
    pub fn pass(&self) {
        self.0.fetch_add(1, loom::sync::atomic::Ordering::Relaxed);
    }
}
