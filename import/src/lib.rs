//! Imports recordings of other tools as traces: [apitrace](https://apitrace.github.io)'s `.trace`.
//!
//! This crate opens no file. docs/import.md documents what a trace gets of each call.

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod apitrace;
mod trace_writer;
