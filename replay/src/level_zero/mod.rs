//! Commands of Level Zero. One player plays all of them from their descriptions.
//!
//! All parameters are integers or addresses, so a call is an array of 64-bit words (`words`). The type
//! of a parameter says how its word is converted: a handle is looked up by its recorded value; memory
//! behind a pointer is built again from its observation (`pieces`); any other address belongs to an
//! allocation of the driver or to the program's own memory (`memory`). Before each command whose record
//! has memory that host and devices share, that content is written into the memory here.
//!
//! What the player has to know of single commands are `role`, `reach` and `refuse` items of
//! `apis/level_zero/replay.api`.
//!
//! The descriptions are this build's, not the trace's: otherwise a trace could declare a pointer as
//! a number, and the driver would get it. Sizes of copies are compared with the memory that exists
//! (`extents`). Other numbers reach the driver unchecked, as they do in the program.

mod answers;
mod extents;
mod memory;
mod pieces;
mod play;
mod refused;
mod settle;
mod words;

pub use memory::{memory, rows};
pub use play::{after, play};
pub use settle::settle;
