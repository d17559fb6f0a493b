//! Splits text into tokens. Never fails: other characters become [`Kind::Unknown`], which no grammar rule accepts.
//!
//! Contextual keywords (`read`, `state`, `by`) are ordinary words: the registry has parameters with these names.

use super::source::Span;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Word,
    Int,
    Float,
    /// In double quotes, without escapes, on one line.
    Text,
    /// An operator or bracket.
    Sign,
    /// `/// …`
    Doc,
    /// `//! …`
    InnerDoc,
    /// `// …`; the parser does not see it.
    Comment,
    Unknown,
    End,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Token<'a> {
    pub kind: Kind,
    pub text: &'a str,
    pub span: Span,
    /// Whether the token begins in the first column.
    pub at_margin: bool,
}

/// All signs. A sign precedes its own prefixes.
const SIGNS: &[&str] = &[
    "..", "=>", "==", "!=", "<=", ">=", "<<", ">>", "&&", "||", "{", "}", "(", ")", "[", "]", "<",
    ">", ";", ":", ",", ".", "=", "+", "-", "*", "/", "%", "&", "|", "^", "~", "!", "?", "@",
];

/// All tokens of `text`, comments included, and [`Kind::End`] behind them.
pub fn tokens(file: u32, text: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        at += rest.len() - rest.trim_start().len();
        let rest = &text[at..];
        let (kind, len) = next(rest);
        let span = Span::new(file, at, at + len);
        let at_margin = at == 0 || text[..at].ends_with('\n');
        tokens.push(Token { kind, text: &rest[..len], span, at_margin });
        if kind == Kind::End {
            return tokens;
        }
        at += len;
    }
}

/// Kind and length of the token at the beginning of `rest`.
fn next(rest: &str) -> (Kind, usize) {
    let Some(first) = rest.chars().next() else { return (Kind::End, 0) };
    if rest.starts_with("//") {
        let line = rest.lines().next().unwrap_or(rest).trim_end();
        return (comment_kind(line), line.len());
    }
    if first.is_ascii_digit() {
        return number(rest);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        return (Kind::Word, rest.find(|c| !is_word(c)).unwrap_or(rest.len()));
    }
    if first == '"' {
        let end = rest[1..].find(['"', '\n']).map(|end| end + 1);
        return match end {
            Some(end) if rest[end..].starts_with('"') => (Kind::Text, end + 1),
            _ => (Kind::Unknown, end.unwrap_or(rest.len())),
        };
    }
    match SIGNS.iter().find(|sign| rest.starts_with(**sign)) {
        Some(sign) => (Kind::Sign, sign.len()),
        None => (Kind::Unknown, first.len_utf8()),
    }
}

/// The kind of a comment. Four slashes begin an ordinary comment, so that a line of slashes can separate items.
fn comment_kind(line: &str) -> Kind {
    if line.starts_with("//!") {
        Kind::InnerDoc
    } else if line.starts_with("///") && !line.starts_with("////") {
        Kind::Doc
    } else {
        Kind::Comment
    }
}

fn number(rest: &str) -> (Kind, usize) {
    let whole = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
    let fraction = rest[whole..].strip_prefix('.').unwrap_or_default();
    if !fraction.starts_with(|c: char| c.is_ascii_digit()) {
        return (Kind::Int, whole);
    }
    let digits = fraction.find(|c| !is_word(c)).unwrap_or(fraction.len());
    (Kind::Float, whole + 1 + digits)
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_into_tokens() {
        let check = |text: &str, expected: &[(Kind, &str)]| {
            let mut found: Vec<_> =
                tokens(0, text).iter().map(|token| (token.kind, token.text)).collect();
            assert_eq!(found.pop(), Some((Kind::End, "")));
            assert_eq!(found, expected);
        };
        use Kind::{Comment, Doc, Float, InnerDoc, Int, Sign, Text, Unknown, Word};
        check(
            "a[0..n]",
            &[(Word, "a"), (Sign, "["), (Int, "0"), (Sign, ".."), (Word, "n"), (Sign, "]")],
        );
        check("0x1F 1.5", &[(Int, "0x1F"), (Float, "1.5")]);
        check("a<<=b", &[(Word, "a"), (Sign, "<<"), (Sign, "="), (Word, "b")]);
        check(
            "//! a\n/// b\n// c \n//// d",
            &[(InnerDoc, "//! a"), (Doc, "/// b"), (Comment, "// c"), (Comment, "//// d")],
        );
        check("\"a b\"", &[(Text, "\"a b\"")]);
        check("\"a\nb", &[(Unknown, "\"a"), (Word, "b")]);
        check("é#", &[(Unknown, "é"), (Unknown, "#")]);
    }
}
