//! The API description language: compiles the text of `apis/**/*.api` to checked, typed bodies.
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

use std::collections::BTreeSet;

/// Names of the commands that the files describe, including descriptions with mistakes.
pub fn described_commands(sources: &source::Sources) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, source) in sources.files.iter().enumerate() {
        let (file, _) = parser::parse(at as u32, &source.text);
        for item in file.items {
            if let ast::ItemKind::Command { names: commands, .. } = item.kind {
                names.extend(commands.into_iter().map(|name| name.text));
            }
        }
    }
    names
}
