//! Prometheus metrics: what is measured, how it is written, and who is served.
//!
//! Says numbers alone: no name, path or argument of a program.

pub mod address;
mod exposition;
mod measured;
mod server;

pub use self::server::serve;
