//! `Screen`: text on a terminal that is redrawn in place. Lines are cut at the terminal's width, and the rest is
//! counted where it is too low; a terminal without a size counts as 80 by 24.

use std::io::{self, IsTerminal};

use rustix::termios::tcgetwinsize;

use crate::failure::Failure;
use crate::text;

/// Size of a terminal that does not report its size.
const SIZE: (usize, usize) = (80, 24);

/// The lines that were shown last.
pub struct Screen {
    lines: usize,
}

impl Screen {
    /// `None` if standard output is not a terminal.
    pub fn on_terminal() -> Option<Screen> {
        io::stdout().is_terminal().then_some(Screen { lines: 0 })
    }

    /// Replaces the previous text by `text`, cut to the terminal's size.
    pub fn show(&mut self, text: &str) -> Result<(), Failure> {
        let (columns, rows) = size();
        let fitted = fitted(text, columns, rows);
        let back = replaced(self.lines);
        self.lines = fitted.lines().count();
        text::print(|out| write!(out, "{back}{fitted}"))
    }
}

/// Returns the escape sequence that moves the cursor up over these lines and clears them.
fn replaced(lines: usize) -> String {
    match lines {
        0 => String::new(),
        lines => format!("\x1b[{lines}F\x1b[J"),
    }
}

/// Cuts lines that the terminal would wrap, or that would scroll out of reach.
fn fitted(text: &str, columns: usize, rows: usize) -> String {
    // The cursor occupies a line of its own.
    let room = rows.saturating_sub(1).max(1);
    let lines: Vec<_> = text.lines().collect();
    let mut fitted = String::new();
    let shown = if lines.len() > room { room - 1 } else { lines.len() };
    for line in &lines[..shown] {
        fitted.extend(line.chars().take(columns));
        fitted.push('\n');
    }
    if shown < lines.len() {
        fitted.push_str(&format!("… and {} more\n", lines.len() - shown));
    }
    fitted
}

fn size() -> (usize, usize) {
    match tcgetwinsize(io::stdout()) {
        Ok(size) if size.ws_col > 0 && size.ws_row > 0 => (size.ws_col.into(), size.ws_row.into()),
        _ => SIZE,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_to_the_terminal() {
        let check = |text: &str, columns, rows, expected: &str| {
            assert_eq!(fitted(text, columns, rows), expected, "{text:?} in {columns}x{rows}");
        };
        check("one\ntwo\n", 80, 24, "one\ntwo\n");
        check("one\ntwo\n", 2, 24, "on\ntw\n");
        check("a\nb\nc\nd\n", 80, 4, "a\nb\n… and 2 more\n");
        check("a\nb\nc\n", 80, 4, "a\nb\nc\n");
        check("a\nb\n", 80, 1, "… and 2 more\n");
    }

    #[test]
    fn first_text_replaces_nothing() {
        assert_eq!(replaced(0), "");
        assert_eq!(replaced(3), "\x1b[3F\x1b[J");
    }
}
