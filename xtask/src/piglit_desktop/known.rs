//! `Known`: differences of piglit's tests that are known and explained, read from `tests/data/piglit_desktop.txt`.
//!
//! A line is `TEST | WHAT | REASON`. TEST may end with `*`. WHAT is a function whose answers differ in the replay, `frame`,
//! `skipped FUNCTION`, `replay`, or `recorded` for the run that is recorded. `#` begins a comment.

use std::path::Path;

use anyhow::{Context, bail};

/// The file, from the repository's root.
pub const FILE: &str = "tests/data/piglit_desktop.txt";

#[derive(Default)]
pub struct Known {
    lines: Vec<Line>,
}

struct Line {
    test: String,
    what: String,
    reason: String,
}

impl Known {
    /// Reads the file; a line that is not understood is an error.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("can't read {}", path.display()))?;
        Self::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let line = |line: &str| {
            let parts: Vec<_> = line.splitn(3, " | ").map(str::to_owned).collect();
            match <[String; 3]>::try_from(parts) {
                Ok([test, what, reason]) => Ok(Line { test, what, reason }),
                Err(_) => bail!("`{line}` is not `TEST | WHAT | REASON`"),
            }
        };
        Ok(Self { lines: lines.map(line).collect::<anyhow::Result<_>>()? })
    }

    /// Returns why a difference is accepted, if it is.
    pub fn reason(&self, test: &str, what: &str) -> Option<&str> {
        let fits = |line: &&Line| {
            let is_test = match line.test.strip_suffix('*') {
                Some(begin) => test.starts_with(begin),
                None => test == line.test,
            };
            is_test && line.what == what
        };
        self.lines.iter().find(fits).map(|line| line.reason.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_holds_for_its_tests_and_what_differs() {
        let known =
            Known::parse("# comment\n\na@b* | frame | the | reason\nc | recorded | other\n")
                .unwrap();
        assert_eq!(known.reason("a@bc", "frame"), Some("the | reason"));
        assert_eq!(known.reason("a@bc", "recorded"), None);
        assert_eq!(known.reason("c", "recorded"), Some("other"));
        assert_eq!(known.reason("cd", "recorded"), None);
        let error = Known::parse("a | frame").err().unwrap();
        assert!(error.to_string().contains("`a | frame`"), "{error}");
    }

    #[test]
    fn file_is_understood() {
        Known::read(&crate::tree::root().join(FILE)).unwrap();
    }
}
