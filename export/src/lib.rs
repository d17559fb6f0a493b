//! Exports traces to the formats of other tools.
//!
//! Decodes commands by the trace's own description and writes each command at once. Holds no more than one command
//! and what later commands need; what a format needs in another order goes to a file of the caller. Opens no file.
//!
//! ```
//! use std::io::Cursor;
//!
//! use gapii_export::apitrace::{Exporter, Program};
//! use gapii_trace::{TraceHeader, TraceReader};
//!
//! let file = TraceHeader::new("example", [7; 16], 0, 0).encode()?;
//! let mut reader = TraceReader::open(Cursor::new(file))?;
//! let program = Program { name: "example".to_owned() };
//! let description = reader.header().description.clone();
//! let mut exporter = Exporter::begin(Vec::new(), &program, &description)?;
//! let mut commands = reader.commands()?;
//! while let Some(command) = commands.next_command()? {
//!     exporter.command(&command)?;
//! }
//! let (trace, summary) = exporter.finish()?;
//! assert!(trace.starts_with(b"at"));
//! assert_eq!(summary.commands, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]

pub mod apitrace;
pub mod firefox;
mod frames;
mod mark;
pub mod perfetto;
pub mod shader_test;
pub mod timeline;
