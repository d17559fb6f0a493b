//! Commands of EGL: displays, configurations, surfaces and contexts of this machine.
//!
//! All displays of a trace become one display here; each object remembers its display in the trace.
//! Configurations are found by their attributes. Windows become pbuffers of the same size unless
//! `--window` is given. Queries change nothing, and failed commands are not played. No handle, file
//! descriptor or address of a trace reaches the driver.
//!
//! `play` items of `apis/egl/replay.api` name the function that plays each command.

pub(crate) mod arguments;
pub mod contexts;
pub mod current;
pub mod displays;
pub mod images;
pub mod questions;
pub mod surfaces;
pub mod swaps;
pub mod syncs;
pub mod unplayed;

pub use current::end_thread;
