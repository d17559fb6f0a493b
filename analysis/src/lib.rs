//! Statistics of a trace ([`stats`]), its problems ([`problems`]), differences of two traces ([`diff`]), drivers and
//! surfaces of a program ([`graphics`]), its objects ([`object_lives`]), how long its frames took ([`frame_clock`]), words for its objects ([`object_names`]), and why a trace has no frame
//! ([`presentation`]), and where its frames may end ([`frame_guess`]).
//!
//! The caller passes commands one by one. The crate opens no file and calls no driver.
//!
//! ```
//! use std::io::Cursor;
//!
//! use gapii_analysis::stats::Counter;
//! use gapii_trace::{TraceHeader, TraceReader};
//!
//! let file = TraceHeader::new("example", [7; 16], 0, 0).encode()?;
//! let mut reader = TraceReader::open(Cursor::new(file))?;
//! let mut commands = reader.commands()?;
//! let mut counter = Counter::default();
//! while let Some(command) = commands.next_command()? {
//!     counter.count(&command);
//! }
//! assert_eq!(counter.finish().commands, 0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![forbid(unsafe_code)]

pub mod activity;
mod alignment;
pub mod anonymise;
mod causes;
pub mod command_role;
pub mod diff;
mod digest;
pub mod examiner;
pub mod frame_clock;
pub mod frame_guess;
mod generated;
pub mod graphics;
pub mod history;
mod identity;
mod locations;
pub mod marks;
mod mentions;
pub mod merge;
pub mod object_lives;
pub mod object_names;
pub mod presentation;
pub mod problems;
mod role;
mod sides;
pub mod stats;
pub mod unused;
