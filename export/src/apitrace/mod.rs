//! The `.trace` format of [apitrace](https://apitrace.github.io): what `apitrace dump`, `qapitrace`
//! and `eglretrace` open.
//!
//! The parts, from the outside in: [`container`] compresses, [`calls`] has events, [`values`] has
//! types, [`arguments`] says what a command's memory is in them, [`client_memory`] and
//! [`mappings`] make the calls that say what the program wrote into memory, and [`quirks`] has
//! what players need besides. docs/export.md says what is expressed how.

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
