//! `Command`: what [`crate::table`] needs of a command. [`crate::handler`] has macros that define commands.

/// A function's address, of whatever type the function is, in a table that never changes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handler(pub *const ());

// SAFETY: a function's address can be read from any thread.
unsafe impl Sync for Handler {}

/// A command, as the tables of [`crate::table`] have it.
pub trait Command {
    /// What runs in its place while a capture does.
    const HANDLER: Handler;
    /// What runs in its place while no capture does, if its state is followed.
    const TRACKER: Option<Handler> = None;
    /// Whether its handler is in place whether or not a capture runs.
    const IS_HOOKED: bool = false;
}
