//! Tracers of EGL, GLX, OpenGL, OpenGL ES and Level Zero, for tools in Rust.
//!
//! A tool is a library (`crate-type = ["cdylib"]`) that `gapii-ctl run --tool TOOL.so -- PROGRAM` loads into a
//! program beside `libgapii.so`. It creates a [`Tracer`] in a constructor, before the program's `main`, or at any
//! later time. docs/tracers.md says what tracers guarantee.
//!
//! ```no_run
//! use std::time::Instant;
//!
//! use gapii::Tracer;
//! use gapii::commands::{glClearColor, glDrawArrays, glFlush};
//!
//! fn trace() -> Result<Tracer, gapii::Error> {
//!     let mut tracer = Tracer::new()?;
//!     // Changes a parameter: the driver clears with more red than the program requested.
//!     tracer.prologue::<glClearColor>(|call| call.params().red = 1.0)?;
//!     // Skips calls of the driver.
//!     tracer.prologue::<glFlush>(|call| call.skip())?;
//!     // Measures draws: the epilogue gets the value that the prologue of the same call returned.
//!     tracer.around::<glDrawArrays, _>(
//!         |_call| Instant::now(),
//!         |_call, begun| eprintln!("a draw took {:?}", begun.elapsed()),
//!     )?;
//!     tracer.enable()?;
//!     Ok(tracer)
//! }
//! # trace().expect("libgapii.so is there");
//! ```
//!
//! The crate finds libgapii in the process and never loads it. A closure that panics aborts the process, because it
//! runs inside a call of the program, which cannot handle a panic.

mod call;
mod command;
pub mod commands;
mod error;
mod library;
mod tracer;

pub use call::{Epilogue, Prologue};
pub use command::Command;
pub use error::Error;
pub use tracer::Tracer;
