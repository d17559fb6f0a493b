//! What a trace consists of ([`stats`]), and how two traces differ ([`diff`]).
//!
//! Reads commands and follows state; opens no file and calls no driver.

#![warn(missing_docs)]
#![forbid(unsafe_code)]

pub mod diff;
mod identity;
pub mod stats;
