//! Trace files: the parts that a writer puts into one, and a reader that gets commands out of one.
//!
//! ```text
//! +--------+-------------+---------+---------+-- … --+---------+-------+--------+
//! | header | description | block 0 | block 1 |       | block n | index | footer |
//! +--------+-------------+---------+---------+-- … --+---------+-------+--------+
//!   skippable frames       zstd data frames                      skippable frames
//! ```
//!
//! docs/trace-format.md is the specification. A writer uses [`TraceHeader`], [`DescriptionWriter`], [`BlockEncoder`],
//! [`TraceIndex`] and [`Footer`]; when and where bytes are written is its own decision. A reader uses
//! [`TraceReader`]. This crate opens no file.
//!
//! ```
//! use std::io::Cursor;
//!
//! use gapii_trace::{Tail, TraceHeader, TraceReader, json};
//!
//! let file = TraceHeader::new("example", [7; 16], 0, 0).encode()?;
//! let mut reader = TraceReader::open(Cursor::new(file))?;
//! let mut commands = reader.commands()?;
//! while let Some(command) = commands.next_command()? {
//!     json::write_line(&command, &mut std::io::stdout())?;
//! }
//! // The file has no footer, so it counts as cut at the end of its header.
//! assert!(matches!(commands.tail(), Tail::Truncated { .. }));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

mod ahead;
pub mod append;
pub mod assembler;
mod atom_serde;
mod blob_name;
pub mod blobs;
pub mod block;
mod block_file;
pub mod census;
pub mod clock;
mod columns;
pub mod command;
mod commands;
pub mod description;
pub mod description_frame;
pub mod event;
mod file_at;
mod file_parts;
pub mod filter;
pub mod footer;
pub mod frame;
pub mod frame_rule;
pub mod gpu_times;
pub mod header;
pub mod index;
pub mod info;
pub mod json;
mod json_memory;
mod known_tables;
mod ledger;
mod listing;
mod memory_totals;
pub mod meta;
mod moment;
pub mod packed;
pub mod parallel;
mod problem;
pub mod reader;
pub mod record;
pub mod recorded;
pub mod rings;
pub mod scan;
pub mod store;
pub mod story;
pub mod structs;
pub mod tracker;
mod untrusted;
pub mod used;
pub mod value;
pub mod verify;

pub use ahead::Input;
pub use blobs::BlobName;
pub use block::{BlockDecoder, BlockEncoder, encode_block};
pub use command::{Bytes, Command};
pub use description::Description;
pub use description_frame::DescriptionWriter;
pub use file_at::FileAt;
pub use footer::Footer;
pub use header::TraceHeader;
pub use index::{BlockEntry, TraceIndex};
pub use info::Info;
pub use reader::{Commands, Tail, TraceReader};
pub use recorded::Recorded;
pub use untrusted::Untrusted;
pub use verify::{Verification, verify, verify_with};
