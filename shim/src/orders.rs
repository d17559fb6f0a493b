//! Whether the daemon has given an order that this process has not acted on. An order changes a word of the mode page;
//! every entry point compares that word with [`HEARD`]. Without a daemon the two are the same word.

use core::ptr;
use core::sync::atomic::Ordering::{Acquire, Relaxed};
use core::sync::atomic::{AtomicPtr, AtomicU32};

use gapii_ringbuf::ModePage;

/// Value of the word that [`ORDERS`] leads to, as of the newest order that the process has acted on.
pub static HEARD: AtomicU32 = AtomicU32::new(0);

/// The daemon's word, in a mode page that stays mapped; [`HEARD`] without a connection; a word of another value while
/// the daemon's answer to the hello is late. Entry points read it.
pub static ORDERS: AtomicPtr<AtomicU32> = AtomicPtr::new((&raw const HEARD).cast_mut());

/// Returns the number of the newest order, to be passed to [`note_heard`] once it was acted on. What the daemon wrote
/// before the order is visible afterwards.
pub fn newest() -> u32 {
    // MODE: pairs with the release in ModePage::publish. KEYFRAME: pairs with the release in ModePage::ask_keyframe.
    word().load(Acquire)
}

/// Whether there is an order that the process has not acted on. Entry points ask the same in their own code.
#[cfg(test)]
pub fn are_new() -> bool {
    // Relaxed: a number on its own, as in entry points.
    word().load(Relaxed) != HEARD.load(Relaxed)
}

/// Notes that the process has acted on order `number` and those before it.
pub fn note_heard(number: u32) {
    // Relaxed: a number on its own. Two safe points never run at the same time.
    HEARD.store(number, Relaxed);
}

/// Has every command find something to look at, until [`listen_to`] is called.
pub fn look_at_every_command() {
    static NEWS: AtomicU32 = AtomicU32::new(0);
    // Relaxed: any other number will do.
    NEWS.store(HEARD.load(Relaxed).wrapping_add(1), Relaxed);
    // Relaxed: statics.
    ORDERS.store((&raw const NEWS).cast_mut(), Relaxed);
}

/// Listens to a daemon, whose present settings count as an order. `None`: to nobody.
pub fn listen_to(daemon: Option<&'static ModePage>) {
    let word = daemon.map_or(&HEARD, ModePage::orders);
    if daemon.is_some() {
        // Relaxed: any other number will do.
        HEARD.store(word.load(Relaxed).wrapping_sub(1), Relaxed);
    }
    // Relaxed: the page was mapped by a system call, and holds atomics alone.
    ORDERS.store(ptr::from_ref(word).cast_mut(), Relaxed);
}

fn word() -> &'static AtomicU32 {
    // Relaxed: as in `listen_to`.
    let word = ORDERS.load(Relaxed);
    // SAFETY: HEARD, or a word of a page that stays mapped for the life of the process.
    unsafe { &*word }
}
