//! The state of a check: the declarations that are known so far, and the mistakes that were found. Commands without a
//! description that they need are reported only if there is no other mistake, because the description may be in text
//! that could not be parsed.

use super::super::diagnostic::{Diagnostic, Sink};
use super::super::source::Span;
use super::super::typed::Program;
use super::names::Names;
use super::progress::{Procedure, Progress};

pub(super) struct Checker<'a> {
    pub names: Names<'a>,
    pub program: Program,
    /// Progress of the check of each function of the program.
    pub functions: Vec<Progress<'a>>,
    pub procedures: Vec<Procedure<'a>>,
    pub sink: Sink,
    /// Mistakes for commands that lack a description. They are reported only if there are no other mistakes, because
    /// the description may be in text that could not be parsed.
    pub undescribed: Vec<Diagnostic>,
}

impl Checker<'_> {
    /// Adds a mistake.
    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.sink.push(diagnostic);
    }

    /// Adds a mistake at a place.
    pub fn mistake(&mut self, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::at(span, message));
    }
}
