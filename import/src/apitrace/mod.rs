//! The `.trace` format of [apitrace](https://apitrace.github.io).
//!
//! The layers, from the outside in: `container` decompresses, `values` reads typed values, and `reader` reads events.
//! `calls` joins the two events of each call. `payload` makes the records of a command from a call, and `importer` what
//! a trace has besides: threads, contexts, frames, and memory that commands read through state.

mod calls;
mod container;
mod importer;
mod memory;
mod payload;
mod read_error;
mod reader;
mod values;

pub use importer::{ImportError, Imported, Made, Unknown, import};
pub use read_error::ReadError;
