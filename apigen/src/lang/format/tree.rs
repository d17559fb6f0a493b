//! Splits the contents of a file or of braces into entries.

use super::super::lexer::{Kind, Token};
use super::super::source::Span;
use super::line::{columns, flat};
use super::node::{Leaf, Node, is_comment};

/// The token that ends an entry of a list.
const COMMA: Token<'static> = Token {
    kind: Kind::Sign,
    text: ",",
    span: Span { file: 0, start: 0, end: 0 },
    at_margin: false,
};

/// A statement, a field, an item, an arm, or a word of a list. A comment belongs to the entry that it precedes.
#[derive(Default)]
pub(super) struct Entry<'a> {
    pub comments: Vec<Leaf<'a>>,
    pub nodes: Vec<Node<'a>>,
    /// A comment behind the entry on the same line.
    pub trailing: Option<Token<'a>>,
}

impl<'a> Entry<'a> {
    /// Whether an empty line precedes the entry.
    pub fn blank_before(&self) -> bool {
        let first = self.comments.first().copied().or_else(|| self.nodes.first().map(Node::first));
        first.is_some_and(|first| first.lines_before > 1)
    }

    /// Whether an empty line separates the entry's comments from the entry.
    pub fn blank_behind_comments(&self) -> bool {
        let first = self.nodes.first().map(Node::first);
        !self.comments.is_empty() && first.is_some_and(|first| first.lines_before > 1)
    }

    /// Appends a comma, unless the entry ends with one.
    pub fn end_with_comma(&mut self) {
        if !self.nodes.last().is_some_and(|last| last.is_sign(",")) {
            self.nodes.push(Node::Leaf(Leaf { token: COMMA, lines_before: 0 }));
        }
    }
}

/// Whether an entry can't be on one line: because of the contents of its braces, or because it has a body.
pub(super) fn must_break(nodes: &[Node<'_>]) -> bool {
    let has_body = ["command", "for", "procedure"]
        .iter()
        .any(|word| nodes.first().is_some_and(|first| first.is_word(word)));
    let is_filled = |node: &Node<'_>| matches!(node, Node::Group(group) if !group.nodes.is_empty());
    nodes.iter().any(Node::must_break)
        || has_body && nodes.iter().any(|node| node.is_braces() && is_filled(node))
}

/// Whether braces contain words or cases that are separated by commas.
pub(super) fn is_list(nodes: &[Node<'_>]) -> bool {
    nodes.iter().any(|node| node.is_sign(",")) && !nodes.iter().any(|node| node.is_sign(";"))
}

/// The entries of a file, or of braces.
pub(super) fn entries<'a>(nodes: &[Node<'a>], is_file: bool) -> Vec<Entry<'a>> {
    let is_list = !is_file && is_list(nodes);
    let mut entries: Vec<Entry<'a>> = Vec::new();
    let mut entry = Entry::default();
    for (at, node) in nodes.iter().enumerate() {
        if let Node::Leaf(leaf) = node
            && is_comment(&leaf.token)
        {
            let last = entries.last_mut().filter(|_| leaf.lines_before == 0 && at > 0);
            match last {
                Some(last) if entry.is_empty() && last.trailing.is_none() => {
                    last.trailing = Some(leaf.token);
                }
                // A comment inside an entry moves in front of it.
                _ => entry.comments.push(*leaf),
            }
            continue;
        }
        entry.nodes.push(node.clone());
        let next = nodes[at + 1..].iter().find(|next| !next.is_comment());
        let is_end = match node {
            _ if is_list => node.is_sign(","),
            Node::Leaf(_) => node.is_sign(";"),
            Node::Group(_) => node.is_braces() && ends_entry(&entry.nodes, next),
        };
        if is_end {
            entries.push(std::mem::take(&mut entry));
        }
    }
    if !entry.is_empty() {
        entries.push(entry);
    }
    entries
}

impl Entry<'_> {
    fn is_empty(&self) -> bool {
        self.comments.is_empty() && self.nodes.is_empty()
    }
}

/// Whether the braces at the end of `nodes` end the entry, so that `next` begins another one.
fn ends_entry(nodes: &[Node<'_>], next: Option<&Node<'_>>) -> bool {
    if nodes.len() >= 2 && nodes[nodes.len() - 2].is_sign("=>") {
        return true;
    }
    match next {
        Some(Node::Leaf(leaf)) if leaf.token.kind == Kind::Sign => leaf.token.text == "@",
        Some(next) => !next.is_word("else"),
        None => true,
    }
}

/// The attributes at the beginning of `nodes`, each with its arguments, and the other nodes.
pub(super) fn attributes<'n, 'a>(nodes: &'n [Node<'a>]) -> (Vec<&'n [Node<'a>]>, &'n [Node<'a>]) {
    let mut attributes = Vec::new();
    let mut rest = nodes;
    while rest.len() > 2 && rest[0].is_sign("@") {
        let has_arguments = matches!(&rest[2], Node::Group(group) if group.open.token.text == "(");
        let (attribute, behind) = rest.split_at(if has_arguments { 3 } else { 2 });
        attributes.push(attribute);
        rest = behind;
    }
    (attributes, rest)
}

/// Where the names begin of an item that lists names: behind `command`, `prefer`, `group g:`, `class c:`,
/// `answers r:` and the other items of targets.
pub(super) fn list_head(nodes: &[Node<'_>]) -> Option<usize> {
    let first = nodes.first()?;
    let has_targets = ["group", "class", "play", "role", "reach", "refuse", "answers"];
    if has_targets.iter().any(|word| first.is_word(word)) {
        return nodes.iter().position(|node| node.is_sign(":")).map(|at| at + 1);
    }
    let is_list = first.is_word("command") || first.is_word("prefer");
    (is_list && nodes.iter().any(|node| node.is_sign(","))).then_some(1)
}

/// Splits `nodes` where a line may end: behind `=>` or `=` if the rest fits into `room` columns, else before the
/// operators of the lowest precedence.
pub(super) fn chunks<'n, 'a>(nodes: &'n [Node<'a>], room: usize) -> Vec<&'n [Node<'a>]> {
    const LEVELS: &[&[&str]] = &[
        &["||"],
        &["&&"],
        &["==", "!=", "<=", ">="],
        &["|"],
        &["^"],
        &["&"],
        &["+", "-"],
        &["*", "/", "%"],
    ];
    // Cases are split at their patterns.
    let arrow = nodes.iter().position(|node| node.is_sign("=>"));
    let patterns = &nodes[..arrow.unwrap_or(0)];
    let levels: &[&[&str]] =
        if patterns.iter().any(|node| node.is_sign("|")) { &[&["|"]] } else { LEVELS };
    let is_cut = |level: &[&str], at: usize| {
        at > 0 && level.iter().any(|sign| nodes[at].is_sign(sign)) && !is_operator(&nodes[at - 1])
    };
    let level = levels.iter().find(|level| (0..nodes.len()).any(|at| is_cut(level, at)));
    let has_patterns = levels.len() == 1;
    for sign in ["=>", "="] {
        let at = nodes.iter().position(|node| node.is_sign(sign)).filter(|_| !has_patterns);
        if let Some(at) = at.filter(|at| columns(&flat(&nodes[at + 1..])) <= room) {
            return vec![&nodes[..=at], &nodes[at + 1..]];
        }
    }
    let mut chunks = Vec::new();
    let mut begin = 0;
    for at in 1..nodes.len() {
        if level.is_some_and(|level| is_cut(level, at)) {
            chunks.push(&nodes[begin..at]);
            begin = at;
        }
    }
    chunks.push(&nodes[begin..]);
    chunks
}

/// Whether a sign behind this node is a prefix operator.
fn is_operator(node: &Node<'_>) -> bool {
    matches!(node, Node::Leaf(leaf) if leaf.token.kind == Kind::Sign && leaf.token.text != "?")
}
