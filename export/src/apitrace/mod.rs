//! The `.trace` format of [apitrace](https://apitrace.github.io), which `apitrace dump`, `qapitrace` and
//! `eglretrace` open.
//!
//! The layers, from the outside in: `container` compresses, `calls` writes events, and `values` writes
//! typed values. `arguments` turns arguments and their memory into values. `client_memory` and `mappings`
//! make the calls that tell players what the program wrote into its memory, and `quirks` makes other calls
//! that players need. docs/export.md says how each command is expressed.

mod arguments;
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
