//! Commands of EGL: displays, configurations, surfaces and contexts of this machine.
//!
//! All displays of a trace become one display here; each object remembers its display in the trace.
//! Configurations are found by their attributes. Windows become pbuffers of the same size unless
//! `--window` is given. Queries change nothing, and failed commands are not played. No handle, file
//! descriptor or address of a trace reaches the driver.

mod arguments;
mod contexts;
mod current;
mod displays;
mod images;
mod questions;
mod surfaces;
mod swaps;
mod syncs;
mod table;

pub use current::end_thread;
pub use table::COMMANDS;
