//! Description files, and spans of their text.

/// A byte range of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Span {
    /// Index of the file in its [`Sources`].
    pub file: u32,
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub fn new(file: u32, start: usize, end: usize) -> Self {
        let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
        Self { file, start: offset(start), end: offset(end) }
    }

    /// The span from the beginning of this span to the end of `last`.
    pub fn to(self, last: Span) -> Self {
        Self { end: last.end.max(self.start), ..self }
    }

    pub fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A description file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Path from the repository's root.
    pub path: String,
    pub text: String,
}

/// All files that are compiled together; a [`Span`] refers to one by its index.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Sources {
    pub files: Vec<Source>,
}

impl Sources {
    /// The text at `span`; empty if the span is outside of the file.
    pub fn text(&self, span: Span) -> &str {
        let file = self.files.get(span.file as usize);
        file.and_then(|file| file.text.get(span.range())).unwrap_or_default()
    }

    /// `file:line:column`, both from 1.
    pub fn place(&self, span: Span) -> String {
        let Some(file) = self.files.get(span.file as usize) else { return String::new() };
        let before = file.text.get(..span.start as usize).unwrap_or(&file.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        format!("{}:{line}:{column}", file.path)
    }
}
