//! Level Zero as Rust types: functions with their ids, callbacks' parameters, structures, and what each
//! table of functions holds.
//!
//! Spelled as the API spells it, so that its specification is the documentation. Calls nothing.

#![forbid(unsafe_code)]

mod generated;
mod slot;

pub use generated::{functions, tables, types};
pub use slot::Slot;
