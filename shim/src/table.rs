//! The tables that every command goes through: the code that its entry point jumps to, the code that a traced call
//! calls, and the driver's function. [`Hooks`] decides what a slot holds: a set-up stub, the driver's function, the
//! handlers of hooked commands, trackers as well, or the handlers of all commands. A command with callbacks of an enabled
//! tracer, or whose calls may end a frame by the capture's rule, leads to its traced-call stub first. A command that the driver lacks leads to `stubs::absent`, traced or not.
//!
//! Slots are words, and switching a whole table is a loop of stores. A thread that reads an old slot meanwhile lands
//! in code that is still right for it. A thread that changes an input of a slot [settles](settle) the slot
//! afterwards; several threads may do so at once, without a lock.

use core::ptr;
use core::sync::atomic::Ordering::{Relaxed, SeqCst};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32};
use std::sync::OnceLock;

use gapii_commands::Api;
use gapii_edges::Settled;
use gapii_state::gl::lists::is_compiled;
use gapii_tracers::Traced;

use crate::code::{Code, Handler};
use crate::environment;
use crate::frame;
use crate::frame_rule;
use crate::generated::ids;
use crate::generated::names::EXPORTED;
use crate::stubs;

/// The handlers of all commands, by id.
pub struct Handlers {
    /// The code that runs in place of a command during a capture.
    pub handlers: [Handler; ids::COUNT],
    /// The code that runs in place of a command while the shim monitors and nothing is captured.
    pub trackers: [Option<Handler>; ids::COUNT],
    /// Whether the handler is in place even while nothing is captured.
    pub are_hooked: [bool; ids::COUNT],
}

/// The code that each entry point jumps to; initially the stub that sets the shim up.
pub static TABLE: [Settled<()>; ids::COUNT] = {
    let mut table = [const { Settled::new(ptr::null_mut()) }; ids::COUNT];
    let mut id = 0;
    while id < ids::COUNT {
        table[id] = Settled::new(stubs::setup_stub(id));
        id += 1;
    }
    table
};

/// What each slot would hold without tracers; a traced call calls this.
static BELOW: [Settled<()>; ids::COUNT] = [const { Settled::new(ptr::null_mut()) }; ids::COUNT];

/// The driver's function for each command; null while it is unknown.
static DRIVER: [AtomicPtr<()>; ids::COUNT] =
    [const { AtomicPtr::new(ptr::null_mut()) }; ids::COUNT];

/// Whether the functions of EGL, OpenGL ES and GLX were looked up. Before that their entry points lead to the stub that
/// does so; afterwards an exported function that was not found leads there, too, and any other is [`stubs::absent`]. Level Zero may be looked up earlier.
static IS_SET_UP: AtomicBool = AtomicBool::new(false);
/// By id: whether an enabled tracer has callbacks for the command.
static IS_TRACED: [AtomicBool; ids::COUNT] = [const { AtomicBool::new(false) }; ids::COUNT];

/// The handlers, from the moment when the shim is set up.
static HANDLERS: OnceLock<&'static Handlers> = OnceLock::new();

/// A value of [`Hooks`].
static HOOKS: AtomicU8 = AtomicU8::new(Hooks::NotYet as u8);

/// Number of threads that compile a display list.
static COMPILING: AtomicU32 = AtomicU32::new(0);

/// What the table of a process holds, disregarding tracers.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Hooks {
    /// Stubs that set the shim up.
    NotYet,
    /// The driver's functions, and nothing else.
    None,
    /// The driver's functions, and handlers for the few hooked commands.
    Asleep,
    /// The driver's functions, handlers for hooked commands, and trackers for commands that change tracked state.
    Monitoring,
    /// Handlers for all commands.
    Capturing,
}

impl Hooks {
    /// What the table holds while nothing is recorded.
    pub fn at_rest() -> Hooks {
        if environment::monitors() { Hooks::Monitoring } else { Hooks::Asleep }
    }
}

/// Sets the handlers. To be called before the first [`switch`].
pub fn set_handlers(handlers: &'static Handlers) {
    let _ = HANDLERS.set(handlers);
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

/// Returns the code that command `id`'s entry point jumps to.
pub fn slot(id: usize) -> Code {
    TABLE.get(id).map_or(stubs::absent as *const () as Code, Settled::get)
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

/// Recomputes all slots after [`frame_rule`] has changed. Called at safe points only, by one thread at a time.
pub fn settle_all() {
    (0..ids::COUNT).for_each(settle);
}

/// Notes that one thread more compiles a display list, or one fewer. While one does, the commands that lists have lead to their
/// handlers.
pub fn set_compiling(begins: bool) {
    match begins {
        true => COMPILING.fetch_add(1, SeqCst),
        false => COMPILING.fetch_sub(1, SeqCst),
    };
    settle_compiled();
}

/// For a forked child, in which no thread compiles a list.
pub fn forget_compiling() {
    if COMPILING.swap(0, SeqCst) != 0 {
        settle_compiled();
    }
}

/// Recomputes the slots of the commands that lists have and the driver has.
fn settle_compiled() {
    for id in const { Api::Gl.ids() }.filter(|id| is_compiled(*id) && !driver(*id).is_null()) {
        settle(usize::from(id));
    }
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
    let is_traced = can_be_traced
        && (IS_TRACED.get(id).is_some_and(|traced| traced.load(SeqCst))
            || frame_rule::is_watched(id));
    Wanted { slot: if is_traced { frame::traced_stub(id) } else { below }, below }
}

fn hooks() -> Hooks {
    let hooks = [Hooks::NotYet, Hooks::None, Hooks::Asleep, Hooks::Monitoring, Hooks::Capturing];
    let known = HOOKS.load(SeqCst);
    hooks.into_iter().find(|hooks| *hooks as u8 == known).unwrap_or(Hooks::None)
}

fn slot_for(id: usize, driver: Code, hooks: Hooks) -> Code {
    let is_level_zero = id >= usize::from(const { Api::LevelZero.ids().start });
    match hooks {
        Hooks::NotYet => stubs::setup_stub(id),
        _ if !is_level_zero && !IS_SET_UP.load(SeqCst) => stubs::setup_stub(id),
        // The program may load the library that has the command.
        _ if driver.is_null() && EXPORTED.get(id) == Some(&true) => stubs::setup_stub(id),
        _ if driver.is_null() => stubs::absent as *const () as Code,
        hooks => handler_for(id, hooks).map_or(driver, |handler| handler.0.cast_mut()),
    }
}

/// Returns the code that stands in for a command that the driver has.
fn handler_for(id: usize, hooks: Hooks) -> Option<Handler> {
    let all = HANDLERS.get()?;
    let handler = all.handlers.get(id).copied();
    let is_hooked = all.are_hooked.get(id) == Some(&true);
    match hooks {
        Hooks::NotYet | Hooks::None => None,
        Hooks::Capturing => handler,
        Hooks::Asleep | Hooks::Monitoring if is_hooked => handler,
        Hooks::Asleep => None,
        Hooks::Monitoring if COMPILING.load(SeqCst) != 0 && is_compiled(id as u16) => handler,
        Hooks::Monitoring => all.trackers.get(id).copied().flatten(),
    }
}
