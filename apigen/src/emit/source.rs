//! Tokens as source text on one line, for invocations of macros: rustfmt does not format their arguments.

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Returns `tokens` as rustfmt would spell them, as far as the emitted expressions and types need.
pub fn spell(tokens: &TokenStream) -> String {
    let mut text = String::new();
    let mut before = Before::Start;
    for tree in tokens.clone() {
        let (word, after) = match &tree {
            TokenTree::Group(group) => (spell_group(group), Before::Operand),
            TokenTree::Ident(ident) => {
                let word = ident.to_string();
                let after = if is_keyword(&word) { Before::Keyword } else { Before::Operand };
                (word, after)
            }
            TokenTree::Literal(literal) => (literal.to_string(), Before::Operand),
            TokenTree::Punct(punct) => (
                punct.as_char().to_string(),
                Before::after(&before, punct.as_char(), punct.spacing()),
            ),
        };
        if before.is_apart_from(&tree) {
            text.push(' ');
        }
        text.push_str(&word);
        before = after;
    }
    text
}

fn spell_group(group: &proc_macro2::Group) -> String {
    let inside = spell(&group.stream());
    match group.delimiter() {
        Delimiter::Parenthesis => format!("({inside})"),
        Delimiter::Bracket => format!("[{inside}]"),
        Delimiter::Brace => format!("{{ {inside} }}"),
        Delimiter::None => inside,
    }
}

fn is_keyword(word: &str) -> bool {
    matches!(word, "as" | "const" | "else" | "if" | "match" | "mut")
}

/// The kind of the preceding token, which decides whether a space follows it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Before {
    Start,
    /// A value, a type or a name.
    Operand,
    Keyword,
    /// `!` of a macro, `::`, `.`, a unary operator, or the first half of an operator: no space follows.
    Tight,
    /// Any other punctuation.
    Loose,
}

impl Before {
    /// The kind of `punct`, which follows a token of the kind `before`.
    fn after(before: &Before, punct: char, spacing: Spacing) -> Before {
        let has_one_operand = !matches!(before, Before::Operand) && "*&-!".contains(punct);
        match punct {
            ':' | '.' => Before::Tight,
            // `!` behind a macro's name.
            '!' if spacing == Spacing::Alone => Before::Tight,
            _ if spacing == Spacing::Joint || has_one_operand => Before::Tight,
            _ => Before::Loose,
        }
    }

    fn is_apart_from(self, tree: &TokenTree) -> bool {
        match (self, tree) {
            (Before::Start | Before::Tight, _) => false,
            (_, TokenTree::Punct(punct)) if ",;.:".contains(punct.as_char()) => false,
            // `!` behind a macro's name.
            (Before::Operand, TokenTree::Punct(punct)) => {
                !(punct.as_char() == '!' && punct.spacing() == Spacing::Alone)
            }
            // The arguments of a call.
            (Before::Operand, TokenTree::Group(group)) => group.delimiter() == Delimiter::Brace,
            _ => true,
        }
    }
}
