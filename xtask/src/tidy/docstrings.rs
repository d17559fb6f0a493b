//! Rule: every public item of a library's hand-written code has a docstring.
//!
//! An item is what follows the word `pub` alone (`pub(crate)` is private) and one of the words below,
//! and a function of a public trait.

use super::tokens::{Kind, Token, attribute, balanced};

const ITEMS: &[&str] =
    &["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "macro"];
/// Words between `pub` and the word for the item's kind.
const BETWEEN: &[&str] = &["async", "unsafe", "extern", "const"];

/// Lines and names of public items without a docstring. A module in a file of its own (`pub mod x;`) has
/// its docstring there.
pub fn undocumented(tokens: &[Token<'_>]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut is_documented = false;
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at].kind == Kind::Doc {
            (is_documented, at) = (true, at + 1);
            continue;
        }
        if let Some(length) = attribute(&tokens[at..]) {
            // `#[doc = include_str!(…)]`; a hidden item needs no docstring.
            is_documented |= tokens[at..at + length].iter().any(|token| token.is("doc"));
            at += length;
            continue;
        }
        let is_public =
            tokens[at].is("pub") && !tokens.get(at + 1).is_some_and(|next| next.is("("));
        if is_public
            && !is_documented
            && let Some((kind, name)) = item(&tokens[at + 1..])
        {
            found.push((tokens[at].line, format!("{kind} {name} has no docstring")));
        }
        if tokens[at].is("macro_rules") {
            // Its `pub` belongs to the items that the macro makes.
            at += 3;
            at += tokens.get(at..).map_or(0, |rest| balanced(rest));
        } else {
            at += 1;
        }
        is_documented = false;
    }
    found
}

/// Returns the kind of the item that follows `pub`, and its name.
fn item<'a>(tokens: &[Token<'a>]) -> Option<(&'a str, &'a str)> {
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let next = tokens.get(at + 1)?;
        let is_between = token.kind == Kind::Text
            || (BETWEEN.contains(&token.text)
                && (next.kind == Kind::Text
                    || ITEMS.contains(&next.text)
                    || BETWEEN.contains(&next.text)));
        if is_between {
            at += 1;
            continue;
        }
        let is_file = token.is("mod") && tokens.get(at + 2).is_some_and(|token| token.is(";"));
        let is_item = token.kind == Kind::Word && ITEMS.contains(&token.text) && !is_file;
        return is_item.then_some((token.text, next.text));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::tokens::{tokens, without_tests};
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let found = undocumented(&without_tests(&tokens(text)));
        found.into_iter().map(|(line, what)| format!("{line} {what}")).collect()
    }

    #[test]
    fn public_item_without_a_docstring_is_found() {
        assert_eq!(names("/// A.\npub struct A;\n\npub fn f() {}"), ["4 fn f has no docstring"]);
        assert_eq!(names("pub const unsafe extern \"C\" fn f() {}"), ["1 fn f has no docstring"]);
        assert_eq!(names("impl A { pub const B: u8 = 0; }"), ["1 const B has no docstring"]);
        assert_eq!(names("pub mod a { }"), ["1 mod a has no docstring"]);
    }

    #[test]
    fn documented_and_private_items_are_not() {
        let check = |text: &str| assert_eq!(names(text), [""; 0], "{text}");
        check("/// F.\n#[inline]\npub fn f() {}");
        check("#[must_use]\n/// F.\npub fn f() {}");
        check("pub(crate) fn f() {} fn g() {} pub mod x; pub use a::b;");
        check("/// S.\npub struct S { pub field: u8 }");
        check("#[cfg(test)] mod tests { pub fn f() {} }");
        check("macro_rules! m { () => { pub fn f() {} } }");
    }
}
