//! The loop over a trace's commands.

mod known;
mod options;
mod playing;
mod repeats;
mod replay;

pub use options::{Hold, Options, ReplayError};
pub use replay::replay;
