//! The `.trace` format of [apitrace](https://apitrace.github.io), which `apitrace dump`, `qapitrace` and
//! `eglretrace` open.
//!
//! The layers, from the outside in: `container` compresses, `calls` writes events, and `values` writes
//! typed values. `arguments` converts arguments and their memory to values. `client_memory` and `mappings`
//! create the fake calls that give players the contents of the program's memory, and `quirks` creates other calls
//! that players need. docs/export.md documents how each command is expressed.

pub(crate) mod arguments;
mod calls;
mod client_memory;
mod container;
mod exporter;
mod mappings;
mod quirks;
mod ranges;
mod texts;
mod values;

pub use exporter::{Exporter, Program, Summary};
