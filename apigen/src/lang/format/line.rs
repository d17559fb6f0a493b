//! A line of output: tokens with the spaces between them.

use super::super::lexer::{Kind, Token};
use super::node::Node;

/// Keywords that may precede an opening bracket. They get a space behind them, unlike a function's name.
const WORDS: &[&str] = &["if", "match", "in", "else", "return", "let", "read", "write", "ref"];

/// Items of targets, where `*` belongs to a name.
const HAVE_GLOBS: &[&str] = &["group", "class", "play", "role", "reach", "refuse", "answers"];

#[derive(Clone)]
pub(super) struct Line {
    text: String,
    indent: usize,
    /// The last token, which may be on an earlier line.
    last: Option<(Kind, String)>,
    /// The token before `last`.
    before: Option<String>,
    /// Whether the last token is a prefix operator, which takes no space behind it.
    is_prefix: bool,
    /// Number of open `<` of types.
    angles: u32,
    /// Whether it is an item of targets, where `*` belongs to a name.
    is_group: bool,
}

impl Line {
    pub fn new(indent: usize) -> Self {
        let text = " ".repeat(indent);
        Self {
            text,
            indent,
            last: None,
            before: None,
            is_prefix: false,
            angles: 0,
            is_group: false,
        }
    }

    /// Begins a continuation line.
    pub fn begin_again(&mut self, indent: usize) {
        self.text = " ".repeat(indent);
        self.indent = indent;
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn len(&self) -> usize {
        self.text.chars().count()
    }

    pub fn is_empty(&self) -> bool {
        self.text.len() == self.indent
    }

    pub fn push_node(&mut self, node: &Node<'_>) {
        match node {
            Node::Leaf(leaf) => self.push(leaf.token),
            Node::Group(group) => {
                self.push(group.open.token);
                for (at, node) in group.nodes.iter().enumerate() {
                    let is_last = at + 1 == group.nodes.len();
                    if !(is_last && node.is_sign(",")) {
                        self.push_node(node);
                    }
                }
                self.push(group.close);
            }
        }
    }

    pub fn push(&mut self, token: Token<'_>) {
        let opens_angle = token.text == "<" && self.is_before_angle();
        let closes_angle = self.angles > 0 && (token.text == ">" || token.text == ">>");
        let is_prefix = token.kind == Kind::Sign && self.is_prefix(token.text);
        if !self.is_empty() && self.needs_space(&token, opens_angle || closes_angle) {
            self.text.push(' ');
        }
        self.text.push_str(token.text);
        if opens_angle {
            self.angles += 1;
        }
        if closes_angle {
            self.angles = self.angles.saturating_sub(token.text.len() as u32);
        }
        self.is_prefix = is_prefix || opens_angle;
        self.is_group |= self.last.is_none() && HAVE_GLOBS.contains(&token.text);
        self.before = self.last.take().map(|(_, text)| text);
        self.last = Some((token.kind, token.text.to_owned()));
    }

    /// Whether `<` follows `list` or `map` in a type.
    fn is_before_angle(&self) -> bool {
        let is_word = self.last.as_ref().is_some_and(|(_, text)| text == "list" || text == "map");
        let before = self.before.as_deref().unwrap_or_default();
        is_word && (self.angles > 0 || matches!(before, ":" | "["))
    }

    /// Whether a sign is a prefix of the next token: `-x`, `!x`, `~x`, `@x`.
    fn is_prefix(&self, sign: &str) -> bool {
        match sign {
            "!" | "~" | "@" => true,
            "-" => match &self.last {
                None => true,
                Some((Kind::Sign, text)) => !matches!(text.as_str(), ")" | "]" | "}" | "?"),
                Some((Kind::Word, text)) => WORDS.contains(&text.as_str()),
                Some(_) => false,
            },
            _ => false,
        }
    }

    fn needs_space(&self, token: &Token<'_>, is_angle: bool) -> bool {
        let Some((kind, last)) = &self.last else { return false };
        if is_angle || self.is_prefix {
            return false;
        }
        if self.is_group && (token.text == "*" || last == "*") {
            // A glob: `*` touches the letters beside it.
            return match token.text {
                "*" => *kind == Kind::Sign && last != "(" && last != ".",
                text => text == "|",
            };
        }
        let is_word = *kind == Kind::Word && !WORDS.contains(&last.as_str());
        let is_tight = match token.text {
            ")" | "]" | "," | ";" | "." | "?" | ":" | ".." => true,
            "}" => last == "{",
            "(" => is_word || last == "]" || last == ")",
            "[" => is_word || *kind == Kind::Text || matches!(last.as_str(), ")" | "]" | ">"),
            _ => false,
        };
        !is_tight && !matches!(last.as_str(), "(" | "[" | "." | "..")
    }
}

/// `nodes` on one line.
pub(super) fn flat(nodes: &[Node<'_>]) -> String {
    let mut line = Line::new(0);
    nodes.iter().for_each(|node| line.push_node(node));
    line.text().to_owned()
}

pub(super) fn columns(text: &str) -> usize {
    text.chars().count()
}
