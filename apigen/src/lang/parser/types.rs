//! Types of values and of fields of layouts.

use super::super::ast::{ExprKind, LayoutType, Number, Type, TypeKind};
use super::super::diagnostic::Diagnostic;
use super::super::lexer::Kind;
use super::{Failed, Parsed, Parser};

impl Parser<'_> {
    pub(super) fn ty(&mut self) -> Parsed<Type> {
        self.nested(|parser| {
            let mut ty = parser.plain_type()?;
            while parser.is_sign("?") {
                let span = ty.span.to(parser.advance().span);
                if matches!(ty.kind, TypeKind::Optional(_)) {
                    let message = "this type is optional already";
                    parser.diagnostics.push(Diagnostic::at(span, message));
                    return Err(Failed);
                }
                ty = Type { kind: TypeKind::Optional(Box::new(ty)), span };
            }
            Ok(ty)
        })
    }

    fn plain_type(&mut self) -> Parsed<Type> {
        let start = self.peek().span;
        if self.accept("[") {
            let element = self.ty()?;
            self.expect(";")?;
            let len = self.number()?;
            let span = start.to(self.expect("]")?);
            return Ok(Type { kind: TypeKind::Array(Box::new(element), len), span });
        }
        let name = self.name("a type")?;
        let kind = match name.text.as_str() {
            "list" if self.accept("<") => {
                let element = self.ty()?;
                self.close_angle()?;
                TypeKind::List(Box::new(element))
            }
            "map" if self.accept("<") => {
                let key = self.ty()?;
                self.expect(",")?;
                let value = self.ty()?;
                self.close_angle()?;
                TypeKind::Map(Box::new(key), Box::new(value))
            }
            "ref" => TypeKind::Ref(self.name("the name of an object")?),
            _ => TypeKind::Named(name.text),
        };
        Ok(Type { kind, span: start.to(self.last()) })
    }

    /// `>`, which may be the first half of `>>`.
    fn close_angle(&mut self) -> Parsed<()> {
        if self.is_sign(">>") {
            let token = &mut self.tokens[self.at];
            token.text = ">";
            token.span.start += 1;
            return Ok(());
        }
        self.expect(">").map(|_| ())
    }

    /// The type of a field of a layout.
    pub(super) fn layout_type(&mut self) -> Parsed<LayoutType> {
        if self.accept_word("chain") {
            return Ok(LayoutType::Chain);
        }
        if self.accept_word("text") {
            return Ok(LayoutType::Text);
        }
        if self.is_word("strings") && self.is_sign_at(1, "[") {
            self.advance();
            return self.in_brackets().map(LayoutType::Strings);
        }
        if self.is_word("read") && !self.is_sign_at(1, ";") {
            self.advance();
            let element = self.plain_type()?;
            let count = self.in_brackets()?;
            if !self.is_sign("[") {
                return Ok(LayoutType::Read { element, count });
            }
            let (each, count) = (count, self.in_brackets()?);
            return Ok(LayoutType::ReadEach { element, each, count });
        }
        self.ty().map(LayoutType::Inline)
    }

    fn in_brackets(&mut self) -> Parsed<super::super::ast::Expr> {
        self.expect("[")?;
        let inner = self.expr()?;
        self.expect("]")?;
        Ok(inner)
    }

    /// An integer, which may be negative.
    pub(super) fn number(&mut self) -> Parsed<Number> {
        let start = self.peek().span;
        let is_negative = self.accept("-");
        if self.peek().kind != Kind::Int {
            return self.unexpected("a number");
        }
        let ExprKind::Int(value) = self.literal()?.kind else { return Err(Failed) };
        let value = if is_negative { -value } else { value };
        Ok(Number { value, span: start.to(self.last()) })
    }
}
