//! Groups the tokens of a file by brackets.

use super::super::lexer::{Kind, Token};

#[derive(Clone)]
pub(super) enum Node<'a> {
    Leaf(Leaf<'a>),
    Group(Group<'a>),
}

/// A token or a comment.
#[derive(Clone, Copy)]
pub(super) struct Leaf<'a> {
    pub token: Token<'a>,
    /// Number of line ends between the preceding token and this one.
    pub lines_before: usize,
}

/// A pair of brackets and the nodes inside.
#[derive(Clone)]
pub(super) struct Group<'a> {
    pub open: Leaf<'a>,
    pub nodes: Vec<Node<'a>>,
    pub close: Token<'a>,
}

impl<'a> Node<'a> {
    pub fn first(&self) -> Leaf<'a> {
        match self {
            Node::Leaf(leaf) => *leaf,
            Node::Group(group) => group.open,
        }
    }

    pub fn is_sign(&self, sign: &str) -> bool {
        matches!(self, Node::Leaf(leaf) if leaf.token.kind == Kind::Sign && leaf.token.text == sign)
    }

    pub fn is_word(&self, word: &str) -> bool {
        matches!(self, Node::Leaf(leaf) if leaf.token.kind == Kind::Word && leaf.token.text == word)
    }

    pub fn is_comment(&self) -> bool {
        matches!(self, Node::Leaf(leaf) if is_comment(&leaf.token))
    }

    pub fn is_braces(&self) -> bool {
        matches!(self, Node::Group(group) if group.open.token.text == "{")
    }

    /// Whether the node can't be on one line, because it contains statements, cases or comments.
    pub fn must_break(&self) -> bool {
        let Node::Group(group) = self else { return false };
        let is_block = group.open.token.text == "{";
        group.nodes.iter().any(|node| {
            node.is_comment()
                || is_block && (node.is_sign(";") || node.is_sign("=>"))
                || node.must_break()
        })
    }
}

/// Groups the tokens of a file, whose brackets must match.
pub(super) fn nodes<'a>(text: &str, tokens: &[Token<'a>]) -> Vec<Node<'a>> {
    let mut end = 0;
    let mut open: Vec<(Leaf<'a>, Vec<Node<'a>>)> = Vec::new();
    let mut nodes = Vec::new();
    for token in tokens.iter().filter(|token| token.kind != Kind::End) {
        let range = token.span.range();
        let between = text.get(end..range.start).unwrap_or_default();
        let leaf = Leaf { token: *token, lines_before: between.matches('\n').count() };
        end = range.end;
        let is_sign = token.kind == Kind::Sign;
        match token.text {
            "(" | "[" | "{" if is_sign => open.push((leaf, std::mem::take(&mut nodes))),
            ")" | "]" | "}" if is_sign => {
                let Some((begin, outer)) = open.pop() else { continue };
                let inner = std::mem::replace(&mut nodes, outer);
                nodes.push(Node::Group(Group { open: begin, nodes: inner, close: *token }));
            }
            _ => nodes.push(Node::Leaf(leaf)),
        }
    }
    nodes
}

/// Whether a token is a comment or a doc comment.
pub(super) fn is_comment(token: &Token<'_>) -> bool {
    matches!(token.kind, Kind::Comment | Kind::Doc | Kind::InnerDoc)
}
