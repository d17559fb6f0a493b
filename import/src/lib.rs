//! Imports recordings of other tools as traces: [apitrace](https://apitrace.github.io)'s `.trace`.
//!
//! This crate opens no file. docs/import.md documents what a trace gets of each call.
//!
//! ```
//! use gapii_import::apitrace::{Made, import};
//!
//! // Version 5; one call, of glFlush.
//! let calls = b"\x05\0\0\0\x07glFlush\0\0\x01\0\0";
//! // A chunk of 19 bytes: these 17, which Snappy has not compressed.
//! let recording = [b"at\x13\0\0\0\x11\x40".as_slice(), calls].concat();
//! let (trace, imported) = import(&recording[..], Vec::new(), Made::default(), |_| {})?;
//! assert_eq!((imported.commands, imported.is_cut), (1, false));
//! assert!(!trace.is_empty());
//! # Ok::<(), gapii_import::apitrace::ImportError>(())
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod apitrace;
mod trace_writer;
