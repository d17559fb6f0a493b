//! Text that another process or a file has chosen: names of programs, sentences from a peer. It is escaped whenever it is
//! shown, so that it cannot move a terminal's cursor, forge a line of a log, or reverse the order of characters.

use std::fmt::{self, Write};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Text from a peer or a file.
///
/// [`Display`](fmt::Display) shows it on one line: control characters and invisible characters that change the order or
/// the width of text are written as in Rust (`\n`, `\u{1b}`); all others, quotes and backslashes included, stay.
/// Formats with their own escapes, such as JSON and MessagePack, get the text as it is.
///
/// ```
/// use gapii_trace::Untrusted;
///
/// let name = Untrusted::from("gears\u{1b}[2J\n");
/// assert_eq!(name.to_string(), r"gears\u{1b}[2J\n");
/// assert_eq!(name.raw(), "gears\u{1b}[2J\n");
/// ```
#[derive(
    Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(transparent)]
pub struct Untrusted(String);

impl Untrusted {
    /// Returns the text as it came: to compare it, or for a format that escapes it itself.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Returns the text, cut to at most `bytes` bytes: a cut one ends with `…`, which has three of them.
    ///
    /// ```
    /// use gapii_trace::Untrusted;
    ///
    /// assert_eq!(Untrusted::from("gears of war").cut(8).raw(), "gears…");
    /// assert_eq!(Untrusted::from("gears").cut(8).raw(), "gears");
    /// ```
    pub fn cut(mut self, bytes: usize) -> Self {
        if self.0.len() > bytes {
            let room = bytes.saturating_sub('…'.len_utf8());
            let end = (0..=room).rev().find(|at| self.0.is_char_boundary(*at));
            self.0.truncate(end.unwrap_or(0));
            self.0.push('…');
        }
        self
    }

    /// Returns whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_plain = |c: char| !c.is_control() && !is_invisible(c);
        if self.0.chars().all(is_plain) {
            // With width and alignment.
            return f.pad(&self.0);
        }
        let mut shown = String::with_capacity(self.0.len() + 8);
        for c in self.0.chars() {
            match is_plain(c) {
                true => shown.push(c),
                false if c.is_control() => write!(shown, "{}", c.escape_debug())?,
                false => write!(shown, "{}", c.escape_unicode())?,
            }
        }
        f.pad(&shown)
    }
}

/// As [`Display`](fmt::Display), in quotes.
impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl PartialEq<str> for Untrusted {
    fn eq(&self, other: &str) -> bool {
        self.0 == other
    }
}

impl PartialEq<&str> for Untrusted {
    fn eq(&self, other: &&str) -> bool {
        self.0 == *other
    }
}

/// Whether a character is not shown and changes how others are: line and paragraph separators, marks and overrides of
/// direction, characters without width (Unicode, "Bidirectional Character Types" and "General Category Cf").
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_change_a_terminal_are_escaped() {
        let check = |text: &str, shown: &str| assert_eq!(Untrusted::from(text).to_string(), shown);
        check("game", "game");
        check("my \"best\" game\\é 日本", "my \"best\" game\\é 日本");
        check("a\nlost 0", r"a\nlost 0");
        check("\u{1b}]0;title\u{7}\r", r"\u{1b}]0;title\u{7}\r");
        // A control character of one byte in ISO 8859, which some terminals obey.
        check("\u{9b}2J\u{7f}", r"\u{9b}2J\u{7f}");
        check("gpj.\u{202e}exe\u{200b}", r"gpj.\u{202e}exe\u{200b}");
    }

    #[test]
    fn shown_text_is_padded_to_its_width() {
        assert_eq!(
            format!("{:>4}|{:<6}|", Untrusted::from("ab"), Untrusted::from("\n")),
            "  ab|\\n    |"
        );
    }

    #[test]
    fn other_formats_get_the_text_as_it_is() {
        let text = Untrusted::from("\u{1b}[2J");
        assert_eq!(serde_json::to_string(&text).unwrap(), r#""\u001b[2J""#);
        let bytes = rmp_serde::to_vec(&text).unwrap();
        assert_eq!(rmp_serde::from_slice::<String>(&bytes).unwrap(), text.raw());
    }
}
