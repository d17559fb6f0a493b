//! Plays traces against the driver of this machine.
//!
//! Believes nothing that a trace says: every pointer that the driver gets leads into memory of the
//! player's own, every name is one that the driver gave out, and what a trace lacks or has too much
//! of is skipped with a sentence. See docs/replay.md; of what kernels of Level Zero are told, which nobody
//! can look through, docs/level-zero.md.

pub mod arrays;
pub mod call;
pub mod driver;
pub mod egl;
pub mod generated;
pub mod gl;
pub mod images;
pub mod level_zero;
pub mod limits;
pub mod mappings;
pub mod memory;
mod names;
pub mod outputs;
mod player;
pub mod report;
pub mod requirements;
pub mod survey;
pub mod threads;
pub mod verify;

pub use call::{Call, Entry, Outcome, Play, Skip};
pub use driver::{Driver, Interceptor, Loader, SystemLoader};
pub use limits::Limits;
pub use names::{Kind, Names, Scopes};
pub use player::{Events, FrameEnd, Options, Parts, Quiet, ReplayError, replay};
pub use report::Report;
