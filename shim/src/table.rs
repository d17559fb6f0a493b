//! The two tables every command goes through: where its entry point jumps, and where the driver is.
//!
//! Slots are words; switching a whole table is a loop of plain stores, and a thread that reads an
//! old slot meanwhile still lands in code that is right for it.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use crate::entry;
use crate::generated::handlers::{HANDLERS, HOOKED};
use crate::generated::ids;
use crate::generated::trackers::TRACKERS;

/// Machine code, of whatever signature the command has.
pub type Code = *mut ();

/// A handler's address, in a table that never changes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handler(pub *const ());

// SAFETY: a function's address can be read from any thread.
unsafe impl Sync for Handler {}

/// Where each entry point jumps; at first to the stub that sets the shim up.
pub static TABLE: [AtomicPtr<()>; ids::COUNT] = {
    let mut table = [const { AtomicPtr::new(ptr::null_mut()) }; ids::COUNT];
    let mut id = 0;
    while id < ids::COUNT {
        table[id] = AtomicPtr::new(entry::setup_stub(id));
        id += 1;
    }
    table
};

/// The driver's own function for each command, null while unknown.
static DRIVER: [AtomicPtr<()>; ids::COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; ids::COUNT];

/// What the table of a process holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hooks {
    /// The driver's functions and nothing else.
    None,
    /// The driver's functions, and handlers of the few commands that are safe points.
    Asleep,
    /// The driver's functions, and handlers or trackers of what must be followed.
    Monitoring,
    /// Handlers.
    Capturing,
}

/// The driver's function for command `id`; null if the driver was never heard of having it.
#[inline(always)]
pub fn driver(id: u16) -> Code {
    // SAFETY: the generated code passes ids below COUNT only.
    unsafe { DRIVER.get_unchecked(id as usize) }.load(Relaxed)
}

/// Makes `code` the driver's function for `id`, and hooks it as `hooks` says.
pub fn set_driver(id: usize, code: Code, hooks: Hooks) {
    if let (Some(driver), Some(slot)) = (DRIVER.get(id), TABLE.get(id)) {
        driver.store(code, Relaxed);
        slot.store(slot_for(id, code, hooks), Relaxed);
    }
}

/// Fills the table for `hooks`. Only at a safe point, by one thread at a time.
pub fn switch(hooks: Hooks) {
    for (id, (slot, driver)) in TABLE.iter().zip(&DRIVER).enumerate() {
        slot.store(slot_for(id, driver.load(Relaxed), hooks), Relaxed);
    }
}

fn is_hooked(id: usize) -> bool {
    HOOKED.contains(&(id as u16))
}

fn slot_for(id: usize, driver: Code, hooks: Hooks) -> Code {
    let handler = match hooks {
        _ if driver.is_null() => return entry::absent as *const () as Code,
        Hooks::None => None,
        Hooks::Asleep if !is_hooked(id) => None,
        Hooks::Monitoring if !is_hooked(id) => TRACKERS.get(id).copied().flatten(),
        Hooks::Asleep | Hooks::Monitoring | Hooks::Capturing => HANDLERS.get(id).copied(),
    };
    handler.map_or(driver, |handler| handler.0.cast_mut())
}
