//! Expressions, by precedence climbing.

use super::super::ast::{Arm, BinaryOp, Expr, ExprKind, Pattern, UnaryOp};
use super::super::diagnostic::Diagnostic;
use super::super::lexer::Kind;
use super::{Failed, Parsed, Parser};

/// Operators from the lowest to the highest precedence. All of them are left-associative.
const LEVELS: &[&[(&str, BinaryOp)]] = &[
    &[("||", BinaryOp::Or)],
    &[("&&", BinaryOp::And)],
    &[
        ("==", BinaryOp::Equal),
        ("!=", BinaryOp::NotEqual),
        ("<=", BinaryOp::LessEqual),
        (">=", BinaryOp::GreaterEqual),
        ("<", BinaryOp::Less),
        (">", BinaryOp::Greater),
    ],
    &[("|", BinaryOp::BitOr)],
    &[("^", BinaryOp::BitXor)],
    &[("&", BinaryOp::BitAnd)],
    &[("<<", BinaryOp::ShiftLeft), (">>", BinaryOp::ShiftRight)],
    &[("+", BinaryOp::Add), ("-", BinaryOp::Subtract)],
    &[("*", BinaryOp::Multiply), ("/", BinaryOp::Divide), ("%", BinaryOp::Remainder)],
];

impl Parser<'_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.nested(|parser| parser.binary(0))
    }

    fn binary(&mut self, level: usize) -> Parsed<Expr> {
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let mut left = self.binary(level + 1)?;
        loop {
            let token = self.peek();
            let found =
                operators.iter().find(|(sign, _)| token.kind == Kind::Sign && token.text == *sign);
            let Some((_, operator)) = found else { return Ok(left) };
            self.advance();
            let right = self.binary(level + 1)?;
            let span = left.span.to(right.span);
            left =
                self.expr_of(ExprKind::Binary(*operator, Box::new(left), Box::new(right)), span)?;
        }
    }

    fn unary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        let operator = match (token.kind, token.text) {
            (Kind::Sign, "-") => UnaryOp::Negate,
            (Kind::Sign, "!") => UnaryOp::Not,
            (Kind::Sign, "~") => UnaryOp::Complement,
            _ => return self.postfix(),
        };
        self.advance();
        let inner = self.nested(Self::unary)?;
        let span = token.span.to(inner.span);
        self.expr_of(ExprKind::Unary(operator, Box::new(inner)), span)
    }

    fn postfix(&mut self) -> Parsed<Expr> {
        let mut expr = self.primary()?;
        let start = expr.span;
        loop {
            let kind = if self.accept(".") {
                let member = self.name("the name of a field or method")?;
                ExprKind::Member(Box::new(expr), member)
            } else if self.accept("[") {
                let index = self.expr()?;
                self.expect("]")?;
                ExprKind::Index(Box::new(expr), Box::new(index))
            } else if self.is_sign("(") {
                let arguments = self.arguments()?;
                ExprKind::Call { function: Box::new(expr), arguments }
            } else {
                return Ok(expr);
            };
            expr = self.expr_of(kind, start.to(self.last()))?;
        }
    }

    /// `(a, b)`
    pub(super) fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        self.expect("(")?;
        let mut arguments = Vec::new();
        while !self.is_sign(")") {
            arguments.push(self.expr()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(")")?;
        Ok(arguments)
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let token = self.peek();
        match (token.kind, token.text) {
            (Kind::Int | Kind::Float | Kind::Text, _) => self.literal(),
            (Kind::Sign, "(") => {
                self.advance();
                let inner = self.expr()?;
                let span = token.span.to(self.expect(")")?);
                self.expr_of(inner.kind, span)
            }
            (Kind::Word, "if") => self.if_expr(),
            (Kind::Word, "match") => self.match_expr(),
            (Kind::Word, word) => {
                self.advance();
                let kind = match word {
                    "true" => ExprKind::Bool(true),
                    "false" => ExprKind::Bool(false),
                    "none" => ExprKind::None,
                    _ => ExprKind::Name(word.to_owned()),
                };
                self.expr_of(kind, token.span)
            }
            _ => self.unexpected("an expression"),
        }
    }

    pub(super) fn literal(&mut self) -> Parsed<Expr> {
        let token = self.advance();
        let kind = match token.kind {
            Kind::Text => Some(ExprKind::Text(token.text.trim_matches('"').to_owned())),
            Kind::Float => token.text.parse().ok().map(ExprKind::Float),
            _ => int(token.text).map(ExprKind::Int),
        };
        let Some(kind) = kind else {
            let message = format!("`{}` is not a number", token.text);
            let help = "numbers are decimal or `0x…`, up to 0x7FFFFFFFFFFFFFFF";
            self.diagnostics.push(Diagnostic::at(token.span, message).help(help));
            return Err(Failed);
        };
        self.expr_of(kind, token.span)
    }

    fn if_expr(&mut self) -> Parsed<Expr> {
        let start = self.expect_word("if")?;
        let condition = Box::new(self.expr()?);
        let then = Box::new(self.in_braces()?);
        self.expect_word("else")?;
        let otherwise =
            if self.is_word("if") { self.nested(Self::if_expr)? } else { self.in_braces()? };
        let kind = ExprKind::If { condition, then, otherwise: Box::new(otherwise) };
        self.expr_of(kind, start.to(self.last()))
    }

    fn in_braces(&mut self) -> Parsed<Expr> {
        self.expect("{")?;
        let inner = self.expr()?;
        self.expect("}")?;
        Ok(inner)
    }

    fn match_expr(&mut self) -> Parsed<Expr> {
        let start = self.expect_word("match")?;
        let value = Box::new(self.expr()?);
        self.expect("{")?;
        let mut arms = Vec::new();
        while !self.is_sign("}") {
            let patterns = self.patterns()?;
            arms.push(Arm { patterns, body: self.expr()? });
            if !self.accept(",") {
                break;
            }
        }
        let end = self.expect("}")?;
        self.expr_of(ExprKind::Match { value, arms }, start.to(end))
    }

    /// `A | B =>`
    pub(super) fn patterns(&mut self) -> Parsed<Vec<Pattern>> {
        let mut patterns = Vec::new();
        loop {
            patterns.push(self.pattern()?);
            if !self.accept("|") {
                self.expect("=>")?;
                return Ok(patterns);
            }
        }
    }

    fn pattern(&mut self) -> Parsed<Pattern> {
        let token = self.peek();
        if token.kind == Kind::Word && token.text == "_" {
            self.advance();
            return Ok(Pattern::Rest(token.span));
        }
        let expr = if self.is_sign("-") { self.unary()? } else { self.postfix()? };
        Ok(Pattern::Value(expr))
    }
}

fn int(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
