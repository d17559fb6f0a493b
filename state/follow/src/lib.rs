//! The state at a command of a trace: objects, bindings, parameters, as values that tools can show.
//!
//! A [`Follower`](follow::Follower) runs every command of a trace through the functions of `gapii_state`,
//! on state in the scope [`Whole`]. The names of state here are those of whole state.
//!
//! ```
//! use std::io::Cursor;
//!
//! use gapii_follow::follow::Follower;
//! use gapii_trace::{TraceHeader, TraceReader};
//!
//! let file = TraceHeader::new("example", [7; 16], 0, 0).encode()?;
//! let mut reader = TraceReader::open(Cursor::new(file))?;
//! let mut commands = reader.commands()?;
//! let mut follower = Follower::default();
//! while let Some(command) = commands.next_command()? {
//!     follower.follow(&command);
//! }
//! // The trace has no command, so no thread has state.
//! assert_eq!(follower.threads().count(), 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

pub mod checkpoint;
pub mod checkpoint_file;
pub mod dispatch;
pub mod follow;
pub mod generated;
mod observed;
mod state;
pub mod value;

pub use dispatch::{CommandState, command};
pub use gapii_state::Whole;

/// State of a context, with every field that the descriptions declare.
pub type Context = gapii_state::Context<Whole>;
/// A share group, with every field that the descriptions declare.
pub type Group = gapii_state::Group<Whole>;
/// A process, with every field that the descriptions declare.
pub type Process = gapii_state::Process<Whole>;
/// State of a thread, with every field that the descriptions declare.
pub type Thread = gapii_state::Thread<Whole>;
