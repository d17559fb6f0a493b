//! Mistakes in descriptions, and their rendering: file, line, column, and the underlined text, in 100 columns
//! (`WIDTH`). Of a file with a line of more than 4,096 bytes (`MOST_COLUMNS`) no text is quoted. The same mistake is
//! reported once.

use std::fmt;

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, NamedSource, SourceCode};

use super::source::{Source, Sources, Span};

/// Width of a rendered diagnostic, in columns.
const WIDTH: usize = 100;

/// Longest line, in bytes, of a file that diagnostics quote.
const MOST_COLUMNS: usize = 4096;

/// A mistake.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub message: String,
    /// Spans to underline with their texts, the mistake's own span first. Empty if the mistake has no place in a file.
    pub labels: Vec<(Span, String)>,
    pub help: Option<String>,
}

impl Diagnostic {
    /// Builds a mistake with a span.
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: vec![(span, String::new())], help: None }
    }

    /// Builds a mistake that has no place in a file, such as a missing description.
    pub fn without_place(message: impl Into<String>) -> Self {
        Self { message: message.into(), labels: Vec::new(), help: None }
    }

    /// Sets the text at the mistake's own span.
    pub fn label(mut self, text: impl Into<String>) -> Self {
        if let Some(first) = self.labels.first_mut() {
            first.1 = text.into();
        }
        self
    }

    /// Underlines another span, with a text.
    pub fn also(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push((span, text.into()));
        self
    }

    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }
}

/// Collects mistakes without duplicates: a body that several commands share is checked several times.
#[derive(Default, Debug)]
pub struct Sink {
    all: Vec<Diagnostic>,
}

impl Sink {
    pub fn push(&mut self, diagnostic: Diagnostic) {
        if !self.all.contains(&diagnostic) {
            self.all.push(diagnostic);
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Number of mistakes found so far.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        more.into_iter().for_each(|diagnostic| self.push(diagnostic));
    }

    /// The mistakes sorted by file and span; those without a span are last.
    pub fn into_sorted(mut self) -> Vec<Diagnostic> {
        self.all.sort_by_key(|diagnostic| {
            let place = diagnostic.labels.first().map(|(span, _)| *span);
            (place.is_none(), place)
        });
        self.all
    }
}

/// All mistakes of a compilation, with the sources that they refer to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    pub sources: Sources,
    pub diagnostics: Vec<Diagnostic>,
}

impl Report {
    /// Renders the report for a terminal, with or without colours.
    pub fn render(&self, colours: bool) -> String {
        let theme =
            if colours { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
        let handler = GraphicalReportHandler::new_themed(theme).with_width(WIDTH).with_links(false);
        let mut text = String::new();
        for diagnostic in &self.diagnostics {
            let shown = Shown::new(diagnostic, &self.sources);
            // Writing to a `String` can't fail.
            let _ = handler.render_report(&mut text, &shown);
            text.truncate(text.trim_end().len());
            text.push_str("\n\n");
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

/// A diagnostic in miette's form: all labels are in one file.
#[derive(Debug)]
struct Shown<'a> {
    diagnostic: &'a Diagnostic,
    source: Option<NamedSource<String>>,
    labels: Vec<LabeledSpan>,
    /// Places of the labels in other files.
    elsewhere: Vec<String>,
}

impl<'a> Shown<'a> {
    fn new(diagnostic: &'a Diagnostic, sources: &Sources) -> Self {
        let home = diagnostic.labels.first().map(|(span, _)| span.file);
        let source = home.and_then(|file| sources.files.get(file as usize));
        let mut labels = Vec::new();
        let mut elsewhere = Vec::new();
        for (span, text) in &diagnostic.labels {
            if Some(span.file) == home {
                let label = (!text.is_empty()).then(|| text.clone());
                labels.push(LabeledSpan::new_with_span(label, span.range()));
            } else {
                elsewhere.push(format!("{text}: {}", sources.place(*span)));
            }
        }
        let is_quotable =
            |source: &&Source| source.text.lines().all(|line| line.len() <= MOST_COLUMNS);
        if let (Some((span, _)), None) = (diagnostic.labels.first(), source.filter(is_quotable)) {
            elsewhere.insert(0, sources.place(*span));
        }
        let source = source
            .filter(is_quotable)
            .map(|source| NamedSource::new(source.path.clone(), source.text.clone()));
        Self { diagnostic, source, labels, elsewhere }
    }
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let lines: Vec<&str> =
            self.diagnostic.help.iter().chain(&self.elsewhere).map(String::as_str).collect();
        (!lines.is_empty()).then(|| Box::new(lines.join("\n")) as Box<dyn fmt::Display>)
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.source.as_ref().map(|source| source as &dyn SourceCode)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}
