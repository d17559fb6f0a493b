//! Errors of the generator, and mistakes in its inputs with their places.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;

use crate::lang::diagnostic::Report;

/// Why nothing was generated.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Every mistake in the descriptions.
    #[error("{0}")]
    Descriptions(Report),
    /// Every mistake in the registry and the export lists, by file and line.
    #[error("{}", lines(.0))]
    Inputs(Vec<Problem>),
    #[error("{path}: {source}", path = path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{file}: {source}")]
    Xml { file: String, source: roxmltree::Error },
    #[error("{path}: {source}", path = path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("cannot run {command}: {source}")]
    Spawn { command: String, source: std::io::Error },
    #[error("{command} failed: {stderr}")]
    Command { command: String, stderr: String },
}

/// A mistake in an input file that is not a description.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Problem {
    pub file: String,
    /// Line number from 1; 0 if the mistake has no line.
    pub line: usize,
    pub message: String,
}

impl Problem {
    /// Builds a mistake at the byte range `at` of `text`.
    pub fn at(file: &str, text: &str, at: Range<usize>, message: impl Into<String>) -> Self {
        let before = text.get(..at.start).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.file, self.message),
            line => write!(f, "{}:{line}: {}", self.file, self.message),
        }
    }
}

fn lines(problems: &[Problem]) -> String {
    problems.iter().map(Problem::to_string).collect::<Vec<_>>().join("\n")
}
