//! Commands of EGL: displays, configurations, surfaces and contexts of this machine.
//!
//! All displays of a trace are one here, whose objects remember whose they are; configurations are
//! found by their attributes, and windows are pbuffers of their size unless they are asked for. What
//! only asks changes nothing; what failed is not played. No handle, file descriptor or address of a
//! trace gets to the driver.

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
