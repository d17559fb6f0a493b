//! The tracing layer's own files: what the loader calls, what tools find by name, and the traced calls.

pub mod callbacks;
pub mod entries;
pub mod handlers;
