//! What crosses a boundary: atoms, the application's hello, control messages, trace files.
//!
//! Decides no I/O policy and holds no unsafe code. The shim takes [`atom`] and [`app`]; the rest
//! needs the feature `tools`.

#![forbid(unsafe_code)]

pub mod app;
pub mod atom;
#[cfg(feature = "tools")]
pub mod control;
#[cfg(feature = "tools")]
pub mod desc;
#[cfg(feature = "tools")]
pub mod filter;
#[cfg(feature = "tools")]
pub mod generated;
#[cfg(feature = "tools")]
pub mod status;
#[cfg(feature = "tools")]
pub mod trace;
#[cfg(feature = "tools")]
pub mod trigger;
