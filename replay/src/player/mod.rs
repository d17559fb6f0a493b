//! The loop over a trace's commands.

mod known;
mod options;
mod playing;
mod replay;

pub use options::{Options, ReplayError};
pub use replay::replay;
