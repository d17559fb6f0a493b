//! Tokens of a Rust file, as far as the rules of tidiness need them: words, marks, literals, docstrings.
//!
//! No parser: it accepts any text, and it never fails.

/// A piece of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token<'a> {
    pub kind: Kind,
    /// The piece as it stands in the file; a string without its quotes.
    pub text: &'a str,
    /// Counted from 1.
    pub line: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An identifier, a keyword or a number.
    Word,
    /// `::`, or one character.
    Mark,
    /// A string, a byte string, a character or a lifetime.
    Text,
    /// A docstring for the following item: `///` or `/**`.
    Doc,
}

impl Token<'_> {
    /// True for the word or mark `text`.
    pub fn is(&self, text: &str) -> bool {
        matches!(self.kind, Kind::Word | Kind::Mark) && self.text == text
    }
}

/// All tokens of `text`. Comments are left out; so are docstrings of the file itself (`//!`).
pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut rest, mut line) = (text, 1);
    while let Some(first) = rest.chars().next() {
        let (kind, length) = piece(rest, first);
        if let Some(kind) = kind {
            let text = match kind {
                Kind::Text => {
                    rest[..length].trim_start_matches(['b', 'r', 'c', '#']).trim_matches(['"', '#'])
                }
                _ => &rest[..length],
            };
            found.push(Token { kind, text, line });
        }
        line += rest[..length].matches('\n').count();
        rest = &rest[length..];
    }
    found
}

/// Kind and length of the piece at the start of `rest`; no kind for space and comments.
fn piece(rest: &str, first: char) -> (Option<Kind>, usize) {
    let end_of_line = || rest.find('\n').unwrap_or(rest.len());
    if rest.starts_with("///") && !rest.starts_with("////") {
        return (Some(Kind::Doc), end_of_line());
    }
    if rest.starts_with("//") {
        return (None, end_of_line());
    }
    if rest.starts_with("/*") {
        let kind = (rest.starts_with("/**") && !rest.starts_with("/**/")).then_some(Kind::Doc);
        return (kind, block_comment(rest));
    }
    if let Some(length) = string(rest) {
        return (Some(Kind::Text), length);
    }
    if first == '\'' {
        return (Some(Kind::Text), quoted(rest));
    }
    if first.is_alphanumeric() || first == '_' {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        return (Some(Kind::Word), end);
    }
    if rest.starts_with("::") {
        return (Some(Kind::Mark), 2);
    }
    ((!first.is_whitespace()).then_some(Kind::Mark), first.len_utf8())
}

/// Length of a comment with those inside it.
fn block_comment(rest: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < rest.len() {
        let here = &rest[at..];
        if here.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if here.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += here.chars().next().map_or(1, char::len_utf8);
        }
    }
    rest.len()
}

/// Length of a string of any form (`"`, `b"`, `r"`, `r#"`, `br#"`, `c"`); None where none begins.
fn string(rest: &str) -> Option<usize> {
    let prefix = rest.find(|c| !['b', 'r', 'c'].contains(&c)).filter(|&at| at <= 2)?;
    let is_raw = rest[..prefix].contains('r');
    let hashes = rest[prefix..].find(|c| c != '#')?;
    let begin = prefix + hashes;
    if !rest[begin..].starts_with('"') || (hashes > 0 && !is_raw) {
        return None;
    }
    let body = begin + 1;
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(rest[body..].find(&end).map_or(rest.len(), |at| body + at + end.len()));
    }
    Some(body + until_unescaped(&rest[body..], '"'))
}

/// Length of a character or of a lifetime.
fn quoted(rest: &str) -> usize {
    let mut characters = rest[1..].chars();
    let (first, second) = (characters.next(), characters.next());
    if first != Some('\\') && second != Some('\'') {
        // A lifetime.
        let end = rest[1..].find(|c: char| !c.is_alphanumeric() && c != '_');
        return end.map_or(rest.len(), |at| 1 + at.max(1)).min(rest.len());
    }
    1 + until_unescaped(&rest[1..], '\'')
}

/// Position after the first `end` that no backslash precedes.
fn until_unescaped(text: &str, end: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == end && !escaped {
            return at + c.len_utf8();
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// `tokens` without the items under an attribute `cfg` that names `test`.
pub fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let mut kept = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        match test_item(&tokens[at..]) {
            Some(length) => at += length,
            None => {
                kept.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    kept
}

/// Length of an item for tests, its attributes included; None where none begins.
fn test_item(tokens: &[Token<'_>]) -> Option<usize> {
    let attribute = attribute(tokens)?;
    let inside = &tokens[..attribute];
    if !inside.iter().any(|token| token.is("cfg")) || !inside.iter().any(|token| token.is("test")) {
        return None;
    }
    // `#![cfg(test)]` applies to the whole file.
    if tokens[1].is("!") {
        return Some(tokens.len());
    }
    // Code under `not(test)` is part of the product.
    if inside.iter().any(|token| token.is("not")) {
        return None;
    }
    Some(attribute + item(&tokens[attribute..]))
}

/// Length of the attribute at the start: `#[…]` or `#![…]`.
pub fn attribute(tokens: &[Token<'_>]) -> Option<usize> {
    let begins = tokens.first()?.is("#");
    let open = if tokens.get(1)?.is("!") { 2 } else { 1 };
    if !begins || !tokens.get(open)?.is("[") {
        return None;
    }
    Some(open + balanced(&tokens[open..]))
}

/// Length of an item: up to its `;` or the end of its braces.
fn item(tokens: &[Token<'_>]) -> usize {
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].is(";") {
            return at + 1;
        }
        if tokens[at].is("{") {
            return at + balanced(&tokens[at..]);
        }
        at += if tokens[at].is("(") || tokens[at].is("[") { balanced(&tokens[at..]) } else { 1 };
    }
    at
}

/// Length of a bracket with its contents and its partner.
pub fn balanced(tokens: &[Token<'_>]) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate() {
        if token.kind == Kind::Mark {
            match token.text {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn comments_are_left_out_and_docstrings_are_not() {
        assert_eq!(texts("a // b\n/* c /* d */ */ e"), ["a", "e"]);
        assert_eq!(texts("//! file\n/// item\nfn f"), ["/// item", "fn", "f"]);
    }

    #[test]
    fn strings_and_characters_are_one_token_each() {
        let check = |text: &str, expected: &[&str]| assert_eq!(texts(text), expected, "{text}");
        check(r#"a("x \" }", 'y')"#, &["a", "(", "x \\\" }", ",", "'y'", ")"]);
        check(r##"r#"un " closed"# b"##, &["un \" closed", "b"]);
        check("&'a str '{' '\\'' b", &["&", "'a", "str", "'{'", "'\\''", "b"]);
    }

    #[test]
    fn lines_are_counted_through_every_piece() {
        let found = tokens("/* 1\n2 */ a\n\"3\n4\" b");
        assert_eq!(found.iter().map(|token| token.line).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn items_for_tests_are_left_out() {
        let check = |text: &str, expected: &[&str]| {
            let kept = without_tests(&tokens(text));
            assert_eq!(kept.iter().map(|token| token.text).collect::<Vec<_>>(), expected, "{text}");
        };
        check("a #[cfg(test)] #[allow(x)] mod tests { fn b() {} } c", &["a", "c"]);
        check("#[cfg(test)] use x::y; c", &["c"]);
        check(
            "#[cfg(not(test))] c",
            &["#", "[", "cfg", "(", "not", "(", "test", ")", ")", "]", "c"],
        );
        check("#![cfg(test)] fn all() {}", &[]);
    }
}
