//! The state of a check: what is known so far, and the mistakes that were found.

use super::super::diagnostic::{Diagnostic, Sink};
use super::super::source::Span;
use super::super::typed::Program;
use super::names::Names;
use super::progress::{Procedure, Progress};

pub(super) struct Checker<'a> {
    pub names: Names<'a>,
    pub program: Program,
    /// Of each function of the program.
    pub functions: Vec<Progress<'a>>,
    pub procedures: Vec<Procedure<'a>>,
    pub sink: Sink,
    /// Commands that need a description. Not a word of them while there are other mistakes: the
    /// description may be among what could not be read.
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
