//! The formatter of descriptions: lines of at most 100 columns where they can be broken, indented by 4 spaces. It
//! refuses a file with a syntax error.
//!
//! Works on tokens, so that it keeps every comment. Brackets and signs determine indentation and spaces, the width
//! determines line breaks. Empty lines between entries are kept. Formatting a formatted file changes nothing.

mod line;
mod node;
mod tree;

use super::diagnostic::Diagnostic;
use super::lexer;
use super::parser;
use line::{Line, columns, flat};
use node::{Group, Node};
use tree::Entry;

/// Maximum width of a line, in columns.
const WIDTH: usize = 100;
const INDENT: usize = 4;

/// Formats the text of a file, or returns its syntax errors.
///
/// `file` is the file's index in the spans of the errors.
pub fn format(file: u32, text: &str) -> Result<String, Vec<Diagnostic>> {
    let (_, mistakes) = parser::parse(file, text);
    if !mistakes.is_empty() {
        return Err(mistakes);
    }
    let nodes = node::nodes(text, &lexer::tokens(0, text));
    let mut printer = Printer { text: String::new() };
    printer.file(&tree::entries(&nodes, true));
    Ok(printer.text)
}

struct Printer {
    text: String,
}

impl Printer {
    fn file(&mut self, entries: &[Entry<'_>]) {
        let mut was_block = false;
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 && (entry.blank_before() || was_block) {
                self.text.push('\n');
            }
            let before = self.text.len();
            self.entry(entry, 0, true);
            was_block = self.text[before..].trim_end().ends_with("\n}");
        }
    }

    fn entries(&mut self, entries: &[Entry<'_>], indent: usize) {
        for (at, entry) in entries.iter().enumerate() {
            if at > 0 && entry.blank_before() {
                self.text.push('\n');
            }
            self.entry(entry, indent, false);
        }
    }

    fn entry(&mut self, entry: &Entry<'_>, indent: usize, is_item: bool) {
        for (at, comment) in entry.comments.iter().enumerate() {
            if at > 0 && comment.lines_before > 1 {
                self.text.push('\n');
            }
            self.raw(indent, comment.token.text);
        }
        if entry.nodes.is_empty() {
            return;
        }
        if entry.blank_behind_comments() {
            self.text.push('\n');
        }
        let (attributes, rest) = tree::attributes(&entry.nodes);
        let whole = flat(&entry.nodes);
        let fits = indent + columns(&whole) <= WIDTH && !tree::must_break(rest);
        if fits && !is_item {
            self.raw(indent, &whole);
        } else {
            if is_item {
                attributes.iter().for_each(|attribute| self.layout(attribute, indent));
            } else if !attributes.is_empty() {
                self.layout(&attributes.concat(), indent);
            }
            self.layout(rest, indent);
        }
        if let Some(comment) = entry.trailing {
            self.text.truncate(self.text.trim_end().len());
            self.text.push(' ');
            self.text.push_str(comment.text);
            self.text.push('\n');
        }
    }

    fn raw(&mut self, indent: usize, text: &str) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Writes `nodes` on one line if they fit. Otherwise breaks the line at braces, or wraps a line without braces.
    fn layout(&mut self, nodes: &[Node<'_>], indent: usize) {
        let must_break = tree::must_break(nodes);
        let one = flat(nodes);
        if !must_break && indent + columns(&one) <= WIDTH {
            self.raw(indent, &one);
            return;
        }
        let mut line = Line::new(indent);
        let mut rest = nodes;
        let is_brace = |node: &Node<'_>| matches!(node, Node::Group(group) if group.open.token.text == "{" && !group.nodes.is_empty());
        while let Some(at) = rest.iter().position(is_brace) {
            let head = &rest[..at];
            let Node::Group(group) = &rest[at] else { break };
            self.wrapped(head, &mut line, indent, 2);
            line.push(group.open.token);
            self.text.push_str(line.text());
            self.text.push('\n');
            self.inside(group, indent + INDENT);
            line = Line::new(indent);
            line.push(group.close);
            rest = &rest[at + 1..];
        }
        self.wrapped(rest, &mut line, indent, 0);
        if !line.is_empty() {
            self.text.push_str(line.text());
            self.text.push('\n');
        }
    }

    /// Writes the entries inside braces, one per line.
    fn inside(&mut self, group: &Group<'_>, indent: usize) {
        let mut entries = tree::entries(&group.nodes, false);
        if tree::is_list(&group.nodes) {
            let last = entries.iter_mut().rev().find(|entry| !entry.nodes.is_empty());
            if let Some(last) = last {
                last.end_with_comma();
            }
        }
        self.entries(&entries, indent);
    }

    /// Appends `nodes` to `line`, wrapped if necessary, with `more` columns free at the end.
    fn wrapped(&mut self, nodes: &[Node<'_>], line: &mut Line, indent: usize, more: usize) {
        let mut whole = line.clone();
        nodes.iter().for_each(|node| whole.push_node(node));
        if whole.len() + more <= WIDTH {
            *line = whole;
            return;
        }
        if line.is_empty() && self.listed(nodes, line, indent) {
            return;
        }
        let chunks = tree::chunks(nodes, WIDTH.saturating_sub(indent + INDENT + more));
        if chunks.len() == 1 {
            self.in_brackets(nodes, line, indent, more);
            return;
        }
        for (at, chunk) in chunks.iter().enumerate() {
            let mut longer = line.clone();
            chunk.iter().for_each(|node| longer.push_node(node));
            let reserve = if at + 1 == chunks.len() { more } else { 0 };
            if longer.len() + reserve <= WIDTH {
                *line = longer;
                continue;
            }
            if at > 0 {
                self.end_line(line, indent + INDENT);
            }
            let mut alone = line.clone();
            chunk.iter().for_each(|node| alone.push_node(node));
            if alone.len() + reserve <= WIDTH {
                *line = alone;
            } else {
                let deeper = if at > 0 { indent + INDENT } else { indent };
                self.in_brackets(chunk, line, deeper, reserve);
            }
        }
    }

    /// Writes the names of `command a, b` and `group g: x, y`, one per line.
    fn listed(&mut self, nodes: &[Node<'_>], line: &mut Line, indent: usize) -> bool {
        let Some(head) = tree::list_head(nodes) else { return false };
        nodes[..head].iter().for_each(|node| line.push_node(node));
        for name in nodes[head..].split_inclusive(|node| node.is_sign(",")) {
            self.end_line(line, indent + INDENT);
            name.iter().for_each(|node| line.push_node(node));
        }
        true
    }

    /// Breaks the line at the last brackets of `nodes`, and writes their contents on separate lines.
    fn in_brackets(&mut self, nodes: &[Node<'_>], line: &mut Line, indent: usize, more: usize) {
        let is_open = |node: &Node<'_>| matches!(node, Node::Group(group) if group.open.token.text != "{" && group.nodes.len() > 1);
        let Some(at) = nodes.iter().rposition(is_open) else {
            nodes.iter().for_each(|node| line.push_node(node));
            return;
        };
        let Node::Group(group) = &nodes[at] else { return };
        nodes[..at].iter().for_each(|node| line.push_node(node));
        line.push(group.open.token);
        self.end_line(line, indent + INDENT);
        let items: Vec<_> = group.nodes.split_inclusive(|node| node.is_sign(",")).collect();
        for (at, item) in items.iter().enumerate() {
            let mut longer = line.clone();
            item.iter().for_each(|node| longer.push_node(node));
            if at > 0 && longer.len() > WIDTH {
                self.end_line(line, indent + INDENT);
            }
            self.wrapped(item, line, indent + INDENT, 0);
        }
        self.end_line(line, indent);
        line.push(group.close);
        self.wrapped(&nodes[at + 1..], line, indent, more);
    }

    fn end_line(&mut self, line: &mut Line, indent: usize) {
        self.text.push_str(line.text().trim_end());
        self.text.push('\n');
        line.begin_again(indent);
    }
}
