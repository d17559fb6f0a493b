//! The API description language: what `apis/**/*.api` say, from text to checked, typed bodies.
//!
//! [`source`] holds the files, the parser makes an [`ast`] of each, the checker joins them with the
//! registry into a [`typed::Program`], which the code generator consumes. Nothing here writes Rust.
//! `docs/apilang.md` is the language's reference.

pub mod ast;
pub mod check;
pub mod coverage;
pub mod diagnostic;
pub mod format;
mod lexer;
mod parser;
pub mod source;
pub mod typed;
pub mod walk;
