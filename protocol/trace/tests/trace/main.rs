//! Trace files that are written and read back: whole, cut, damaged, hostile, and of other versions.

// Clippy only takes functions marked as tests for tests; all of this crate is.
#![allow(clippy::unwrap_used)]

mod assembling;
mod blobs;
mod corpus;
mod damage;
mod describe;
mod descriptions;
mod events;
mod frame_times;
mod growing;
mod hostile;
mod json;
mod parallel;
mod recorded;
mod resuming;
mod roundtrip;
mod timed;
mod tracers;
mod versions;
mod writer;
