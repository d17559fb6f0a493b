//! Level Zero as Rust types: functions with their ids, structures, and the functions of each table.
//!
//! Spelled as the API spells it, so that its specification is the documentation. Calls nothing.

#![forbid(unsafe_code)]

mod define;
pub mod functions;
mod generated;
mod slot;

pub use generated::{callbacks, tables, types};
pub use slot::Slot;
