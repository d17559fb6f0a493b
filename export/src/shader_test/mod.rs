//! The programs of a trace as `.shader_test` files of piglit, which `shader_runner` and shader-db's `run` compile: one file
//! for each program that was linked from sources, in the state in which it was linked. Equal programs are written once;
//! programs whose link failed in the recording are left out.
//!
//! The layers, from the outside in: `exporter` takes commands, `programs` follows shaders and programs, and `text` has the
//! format.

mod exporter;
mod programs;
mod text;

pub use exporter::Exporter;
pub use programs::Summary;
