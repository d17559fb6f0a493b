//! The "processed profile" format of the Firefox Profiler: frames, commands, and what happened beside them as markers of threads,
//! for profiler.firefox.com. Commands without a time are counted and left out.
//!
//! The format has a table for each thread, column by column, so slices wait in a file of the caller until the end.

mod profile;
mod rows;

pub use self::profile::{Profile, begin};
