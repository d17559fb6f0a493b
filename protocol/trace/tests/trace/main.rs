//! Trace files, written and read back: whole, cut, damaged, hostile, of other versions.

// All of this is tests, which clippy sees in functions marked as such only.
#![allow(clippy::unwrap_used)]

mod assembling;
mod blobs;
mod corpus;
mod damage;
mod describe;
mod hostile;
mod json;
mod roundtrip;
mod timed;
mod tracers;
mod versions;
mod writer;
