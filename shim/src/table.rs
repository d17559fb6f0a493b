//! The tables that every command goes through: the code that its entry point jumps to, the code that a traced call
//! calls, and the driver's function.
//!
//! Slots are words, and switching a whole table is a loop of stores. A thread that reads an old slot meanwhile lands
//! in code that is still right for it. A thread that changes an input of a slot [settles](settle) the slot
//! afterwards; several threads may do so at once, without a lock.

use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8};

use gapii_commands::Api;
use gapii_edges::Settled;
use gapii_tool_api::for_each_command;
use gapii_tracers::Traced;

use crate::command::{Command, Handler};
use crate::entry;
use crate::frame;
use crate::generated::{handlers, ids};

/// Machine code. Its signature is the command's.
pub type Code = *mut ();

macro_rules! handlers {
    ($($name:ident $params:tt $(-> $result:ty)?;)*) => {
        /// By id: the code that runs in place of the command during a capture.
        static HANDLERS: [Handler; ids::COUNT] = [$(handlers::$name::HANDLER),*];
        /// By id: the code that runs in place of the command while the shim monitors and nothing is captured.
        static TRACKERS: [Option<Handler>; ids::COUNT] = [$(handlers::$name::TRACKER),*];
        /// By id: whether the handler is in place even while nothing is captured.
        static IS_HOOKED: [bool; ids::COUNT] = [$(handlers::$name::IS_HOOKED),*];
    };
}
for_each_command!(handlers);

/// The code that each entry point jumps to; initially the stub that sets the shim up.
pub static TABLE: [Settled<()>; ids::COUNT] = {
    let mut table = [const { Settled::new(ptr::null_mut()) }; ids::COUNT];
    let mut id = 0;
    while id < ids::COUNT {
        table[id] = Settled::new(entry::setup_stub(id));
        id += 1;
    }
    table
};

/// What each slot would hold without tracers; a traced call calls this.
static BELOW: [Settled<()>; ids::COUNT] = [const { Settled::new(ptr::null_mut()) }; ids::COUNT];

/// The driver's function for each command; null while it is unknown.
static DRIVER: [AtomicPtr<()>; ids::COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; ids::COUNT];

/// Whether all functions of EGL and OpenGL ES were looked up. Before that their entry points lead to the stub that
/// does so; afterwards a function that was not found is [`entry::absent`]. Level Zero may be looked up earlier.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);
/// By id: whether an enabled tracer has callbacks for the command.
static IS_TRACED: [AtomicBool; ids::COUNT] = [const { AtomicBool::new(false) }; ids::COUNT];

/// A value of [`Hooks`].
static HOOKS: AtomicU8 = AtomicU8::new(Hooks::NotYet as u8);

/// What the table of a process holds, disregarding tracers.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Hooks {
    /// Stubs that set the shim up.
    NotYet,
    /// The driver's functions, and nothing else.
    None,
    /// The driver's functions, and handlers for the few commands that are safe points.
    Asleep,
    /// The driver's functions, handlers for safe points, and trackers for commands that change tracked state.
    Monitoring,
    /// Handlers for all commands.
    Capturing,
}

/// Returns the driver's function for command `id`; null if none is known.
#[inline(always)]
pub fn driver(id: u16) -> Code {
    // SAFETY: the generated code passes ids below COUNT only.
    unsafe { DRIVER.get_unchecked(id as usize) }.load(Relaxed)
}

/// Returns the code that a traced call of command `id` calls: what its slot would hold without tracers.
#[inline(always)]
pub fn below(id: u16) -> Code {
    // SAFETY: as above.
    unsafe { BELOW.get_unchecked(id as usize) }.get()
}

/// Makes `code` the driver's function for command `id`, and updates the command's slot.
pub fn set_driver(id: usize, code: Code) {
    if let Some(driver) = DRIVER.get(id) {
        driver.store(code, SeqCst);
        settle(id);
    }
}

/// Declares the look-up of EGL and OpenGL ES complete: from here on, a command without a driver function is one that
/// the driver does not have.
pub fn note_set_up() {
    IS_SET_UP.store(true, SeqCst);
    (0..ids::COUNT).for_each(settle);
}

/// Fills the table for `hooks`. Called at safe points only, by one thread at a time.
pub fn switch(hooks: Hooks) {
    HOOKS.store(hooks as u8, SeqCst);
    (0..ids::COUNT).for_each(settle);
}

/// Puts the stubs of traced calls into the slots of the commands in `traced`, and removes them from all others.
/// Called by one thread at a time. Before the shim is set up, the slots keep their set-up stubs.
pub fn trace(traced: &Traced<'_>) {
    for (id, is_traced) in IS_TRACED.iter().enumerate() {
        if is_traced.swap(traced.has(id), SeqCst) != traced.has(id) {
            settle(id);
        }
    }
}

/// Recomputes the words of command `id` after one of their inputs has changed.
fn settle(id: usize) {
    let (Some(slot), Some(below)) = (TABLE.get(id), BELOW.get(id)) else { return };
    // SETTLE, in Settled::set: the last thread to set a word has seen all changes.
    gapii_edges::settle(
        || wanted(id),
        |wanted| {
            below.set(wanted.below);
            slot.set(wanted.slot);
        },
    );
}

/// What the two words of a command should be.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Wanted {
    slot: Code,
    below: Code,
}

fn wanted(id: usize) -> Wanted {
    let driver = DRIVER.get(id).map_or(ptr::null_mut(), |driver| driver.load(SeqCst));
    let hooks = hooks();
    let below = slot_for(id, driver, hooks);
    let can_be_traced = hooks != Hooks::NotYet && !driver.is_null();
    let is_traced = can_be_traced && IS_TRACED.get(id).is_some_and(|traced| traced.load(SeqCst));
    Wanted { slot: if is_traced { frame::traced_stub(id) } else { below }, below }
}

fn hooks() -> Hooks {
    let hooks = [Hooks::NotYet, Hooks::None, Hooks::Asleep, Hooks::Monitoring, Hooks::Capturing];
    let known = HOOKS.load(SeqCst);
    hooks.into_iter().find(|hooks| *hooks as u8 == known).unwrap_or(Hooks::None)
}

fn is_hooked(id: usize) -> bool {
    IS_HOOKED.get(id).is_some_and(|is_hooked| *is_hooked)
}

fn slot_for(id: usize, driver: Code, hooks: Hooks) -> Code {
    let handler = match hooks {
        Hooks::NotYet => return entry::setup_stub(id),
        _ if id < usize::from(const { Api::LevelZero.ids().start }) && !IS_SET_UP.load(SeqCst) => {
            return entry::setup_stub(id);
        }
        _ if driver.is_null() => return entry::absent as *const () as Code,
        Hooks::None => None,
        Hooks::Asleep if !is_hooked(id) => None,
        Hooks::Monitoring if !is_hooked(id) => TRACKERS.get(id).copied().flatten(),
        Hooks::Asleep | Hooks::Monitoring | Hooks::Capturing => HANDLERS.get(id).copied(),
    };
    handler.map_or(driver, |handler| handler.0.cast_mut())
}
