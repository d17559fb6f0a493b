//! `Command`: what [`crate::handlers`] needs from a command. [`crate::handler`] has macros that define commands.

use crate::code::Handler;

/// A command in the tables of [`crate::table`].
pub trait Command {
    /// The code that runs in place of the command during a capture.
    const HANDLER: Handler;
    /// The code that runs in place of the command while nothing is captured, if the command changes tracked state.
    const TRACKER: Option<Handler> = None;
    /// Whether the handler is in place even while nothing is captured.
    const IS_HOOKED: bool = false;
}
