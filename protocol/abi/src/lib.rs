//! Layouts that the shim and the daemon share: the atoms of records and the application's hello.
//!
//! Reads and writes only the bytes that its caller passes. Never allocates, never links serde or zstd
//! into a traced program, and holds no unsafe code.

#![forbid(unsafe_code)]

pub mod app;
pub mod atom;
