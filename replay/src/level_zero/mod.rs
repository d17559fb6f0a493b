//! Commands of Level Zero. One player plays all of them from their descriptions.
//!
//! Every function takes integers and addresses, so a call is a row of words. The type of a word
//! says how it is converted: a handle is looked up by its recorded value; memory behind a pointer
//! is built anew from what was observed there (`pieces`); any other address belongs to an
//! allocation, which is the driver's own here, or to the program's memory (`memory`). What the host
//! wrote into memory that it shares with devices is put there before each command whose record has
//! it.
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
