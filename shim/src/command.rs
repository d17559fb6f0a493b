//! `Command`: what [`crate::table`] needs from a command. [`crate::handler`] has macros that define commands.

/// A function's address, whatever the function's type, in a table that never changes.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Handler(pub *const ());

// SAFETY: a function's address can be read from any thread.
unsafe impl Sync for Handler {}

/// A command in the tables of [`crate::table`].
pub trait Command {
    /// The code that runs in place of the command during a capture.
    const HANDLER: Handler;
    /// The code that runs in place of the command while nothing is captured, if the command changes tracked state.
    const TRACKER: Option<Handler> = None;
    /// Whether the handler is in place even while nothing is captured.
    const IS_HOOKED: bool = false;
}
