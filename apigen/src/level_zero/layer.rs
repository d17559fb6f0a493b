//! The tracing layer's files: what the loader calls, what it finds by name, and the traced calls.

pub mod callbacks;
pub mod entries;
pub mod handlers;
pub mod tables;
