//! Definitions that the shim and the daemon share: the table of atoms, and the application's hello.
//!
//! Reads and writes only the bytes that its caller passes. Never allocates or panics, links neither serde
//! nor zstd into a traced program, and holds no unsafe code.
//!
//! ```
//! use gapii_abi::atom::{CaptureEnd, ProcessEnd};
//!
//! let end = CaptureEnd { reason: ProcessEnd::Exit, frames: 3 };
//! assert_eq!(end.encode(), [4, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0]);
//! ```

#![forbid(unsafe_code)]
#![deny(missing_docs)]

pub mod app;
pub mod atom;
pub mod codes;
pub mod frame_rule;
pub mod layout;
pub mod observation;
pub mod spare_names;
