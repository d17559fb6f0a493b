//! Trace files, written and read back: whole, cut, damaged, hostile, of other versions.

mod assembling;
mod corpus;
mod damage;
mod describe;
mod hostile;
mod json;
mod roundtrip;
mod versions;
mod writer;
