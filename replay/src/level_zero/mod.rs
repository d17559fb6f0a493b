//! Commands of Level Zero, all of them played by one player that goes by their descriptions.
//!
//! Every function takes integers and addresses, so a call is a row of words. What makes a word of the
//! recording one of this process is its type: an object is looked up by what the trace called it, what is
//! behind a pointer is built anew from what was observed there (`pieces`), and other addresses are of
//! allocations, which are the driver's own here, or of the program's memory (`memory`). What the host
//! wrote into memory that it shares with devices is put there before each command that tells of it.
//!
//! Descriptions are this build's and not the trace's: a pointer that a trace calls a number would get to the
//! driver. Sizes of copies are held against the memory that there is (`extents`); other numbers get to the
//! driver as they are, which does not check them either.

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
