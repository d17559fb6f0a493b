//! Search for faults of snapshots: random programs, captured from a random command on, must answer and replay as they do
//! natively.
//!
//! [`generate`] makes a program from a seed, [`Lab`](lab::Lab) runs it in `tests/programs/steps.c`, and
//! [`reduce`](reduce::reduce) shortens a program that fails. A shortened program becomes a file in
//! `tests/data/snapshots/`. docs/decisions/snapshot-search.md says why it is built like this.

#[cfg(test)]
mod coverage;
mod dialogue;
pub mod driver;
pub mod fault;
pub mod generate;
pub mod hunt;
pub mod lab;
mod operator;
mod pending;
pub mod planted;
pub mod program;
pub mod reduce;
mod runner;
mod shaders;
pub mod world;
