//! Parses tokens to the [`ast`](super::ast), by recursive descent; it checks no names and no types. After a mistake in
//! a statement or field it continues behind the next `;` or at the end of the block, after a mistake in an item at the
//! next item. Blocks, types and expressions nest at most 64 deep (`DEPTH`); deeper text is a mistake.

mod answers;
mod expressions;
mod extents;
mod facts;
mod items;
mod statements;
mod types;

use super::ast::{Expr, ExprKind, File, Name};
use super::diagnostic::Diagnostic;
use super::lexer::{self, Kind, Token};
use super::source::Span;

/// Words that begin items.
const ITEMS: &[&str] = &[
    "state",
    "object",
    "struct",
    "enum",
    "layout",
    "sizes",
    "fn",
    "procedure",
    "extern",
    "group",
    "class",
    "prefer",
    "play",
    "role",
    "reach",
    "refuse",
    "asked",
    "answers",
    "command",
];

/// Maximum nesting depth of blocks, types and expressions.
const DEPTH: u32 = 64;

/// Parses a file. Returns its syntax tree, without the text that could not be parsed, and the mistakes.
pub fn parse(file: u32, text: &str) -> (File, Vec<Diagnostic>) {
    let tokens =
        lexer::tokens(file, text).into_iter().filter(|token| token.kind != Kind::Comment).collect();
    let mut parser = Parser { tokens, at: 0, depth: 0, diagnostics: Vec::new() };
    let file = parser.file();
    (file, parser.diagnostics)
}

/// The mistake has been reported; the caller recovers or passes it on.
struct Failed;

type Parsed<T> = Result<T, Failed>;

struct Parser<'a> {
    /// All tokens but comments, ending with [`Kind::End`].
    tokens: Vec<Token<'a>>,
    at: usize,
    /// Current nesting depth of blocks, types and expressions.
    depth: u32,
    diagnostics: Vec<Diagnostic>,
}

impl<'a> Parser<'a> {
    fn peek(&self) -> Token<'a> {
        self.peek_at(0)
    }

    fn peek_at(&self, ahead: usize) -> Token<'a> {
        self.tokens[(self.at + ahead).min(self.tokens.len() - 1)]
    }

    fn advance(&mut self) -> Token<'a> {
        let token = self.peek();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }

    /// The span of the preceding token.
    fn last(&self) -> Span {
        self.at.checked_sub(1).map_or_else(|| self.peek().span, |at| self.tokens[at].span)
    }

    fn is_sign(&self, sign: &str) -> bool {
        self.is_sign_at(0, sign)
    }

    fn is_sign_at(&self, ahead: usize, sign: &str) -> bool {
        let token = self.peek_at(ahead);
        token.kind == Kind::Sign && token.text == sign
    }

    fn is_word(&self, word: &str) -> bool {
        let token = self.peek();
        token.kind == Kind::Word && token.text == word
    }

    fn accept(&mut self, sign: &str) -> bool {
        let found = self.is_sign(sign);
        if found {
            self.advance();
        }
        found
    }

    fn accept_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Parsed<Span> {
        if self.is_sign(sign) {
            return Ok(self.advance().span);
        }
        // A sign that is missing at the end of a line is reported there, not on the next line.
        if [";", ",", ")", "]"].contains(&sign) {
            let end = Span { start: self.last().end, ..self.last() };
            let found = describe(self.peek());
            self.diagnostics.push(
                Diagnostic::at(end, format!("expected `{sign}`, found {found}"))
                    .label(format!("`{sign}` is missing here")),
            );
            return Err(Failed);
        }
        self.unexpected(&format!("`{sign}`"))
    }

    fn expect_word(&mut self, word: &str) -> Parsed<Span> {
        if self.is_word(word) {
            Ok(self.advance().span)
        } else {
            self.unexpected(&format!("`{word}`"))
        }
    }

    fn name(&mut self, what: &str) -> Parsed<Name> {
        let token = self.peek();
        if token.kind != Kind::Word {
            return self.unexpected(what);
        }
        self.advance();
        Ok(Name { text: token.text.to_owned(), span: token.span })
    }

    /// `NAME {, NAME}`
    fn names(&mut self, what: &str) -> Parsed<Vec<Name>> {
        let mut names = vec![self.name(what)?];
        while self.accept(",") {
            names.push(self.name(what)?);
        }
        Ok(names)
    }

    fn unexpected<T>(&mut self, wanted: &str) -> Parsed<T> {
        let token = self.peek();
        let message = format!("expected {wanted}, found {}", describe(token));
        self.diagnostics
            .push(Diagnostic::at(token.span, message).label(format!("expected {wanted}")));
        Err(Failed)
    }

    /// Runs `inner` one level deeper.
    fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth == DEPTH {
            let span = self.peek().span;
            self.diagnostics.push(Diagnostic::at(span, "this is nested too deeply"));
            return Err(Failed);
        }
        self.depth += 1;
        let done = inner(self);
        self.depth -= 1;
        done
    }

    fn expr_of(&mut self, kind: ExprKind, span: Span) -> Parsed<Expr> {
        let depth = kind.depth();
        if depth > DEPTH {
            self.diagnostics.push(Diagnostic::at(span, "this expression is too long"));
            return Err(Failed);
        }
        Ok(Expr { kind, span, depth })
    }

    /// Whether a word in the first column begins an item. Open braces don't matter.
    fn is_item(&self) -> bool {
        let token = self.peek();
        token.at_margin && (ITEMS.contains(&token.text) || token.text == "@")
    }

    /// Whether the contents of braces end here, with or without the closing brace.
    fn ends_braces(&self) -> bool {
        self.is_sign("}") || self.peek().kind == Kind::End || self.is_item()
    }

    /// Skips tokens up to and with the next `;`, or up to the `}` that ends this block. Skips nested blocks as a whole.
    fn skip_statement(&mut self) {
        let mut open = 0;
        loop {
            let token = self.peek();
            match (token.kind, token.text) {
                (Kind::End, _) => return,
                _ if self.is_item() => return,
                (Kind::Sign, "{") => open += 1,
                (Kind::Sign, "}") if open == 0 => return,
                (Kind::Sign, "}") => {
                    open -= 1;
                    if open == 0 {
                        self.advance();
                        if !self.is_word("else") {
                            return;
                        }
                        continue;
                    }
                }
                (Kind::Sign, ";") if open == 0 => {
                    self.advance();
                    return;
                }
                _ => {}
            }
            self.advance();
        }
    }
}

fn describe(token: Token<'_>) -> String {
    match token.kind {
        Kind::End => "the end of the file".to_owned(),
        Kind::Doc | Kind::InnerDoc => "a doc comment".to_owned(),
        Kind::Unknown if token.text.starts_with('"') => "text without a closing quote".to_owned(),
        _ => format!("`{}`", token.text),
    }
}
