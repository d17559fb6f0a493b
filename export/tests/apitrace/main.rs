//! Exports traces to other tools' formats, and reads the files: those of apitrace with a reader that only these tests use.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[allow(dead_code, reason = "the tests of the protocol use the rest")]
#[path = "../../../protocol/trace/tests/trace/describe.rs"]
mod describe;
#[allow(dead_code, reason = "the tests of the protocol use the rest")]
#[path = "../../../protocol/trace/tests/trace/writer.rs"]
mod writer;

mod commands;
mod events;
mod firefox;
mod memory;
mod perfetto;
mod reader;
mod script;
