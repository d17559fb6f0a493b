//! Prometheus metrics: measuring, format and server.
//!
//! Serves only numbers: no name, path or argument of a program.

pub mod address;
mod exposition;
mod measured;
mod server;

pub use self::server::serve;
