//! Items that say how the answers of commands are compared in a replay.

use super::super::ast::{AnswerPart, AnswerTarget, Glob, ItemKind};
use super::super::lexer::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// `asked PARAMETER, …;`
    pub(super) fn asked(&mut self) -> Parsed<ItemKind> {
        self.expect_word("asked")?;
        let params = self.names("a parameter")?;
        self.expect(";")?;
        Ok(ItemKind::Asked { params })
    }

    /// `answers RULE: target, …;`
    pub(super) fn answers(&mut self) -> Parsed<ItemKind> {
        self.expect_word("answers")?;
        let rule = self.name("a rule")?;
        let mut argument = None;
        if self.accept("(") {
            argument = Some(self.name("a kind of object or a reason")?);
            self.expect(")")?;
        }
        self.expect(":")?;
        let mut targets = Vec::new();
        while !self.is_sign(";") {
            targets.push(self.answer_target()?);
            if !self.accept(",") {
                break;
            }
        }
        self.expect(";")?;
        Ok(ItemKind::Answers { rule, argument, targets })
    }

    fn answer_target(&mut self) -> Parsed<AnswerTarget> {
        let commands = self.glob("a command")?;
        let mut part = AnswerPart::All;
        if self.accept(".") {
            let slot = self.glob("a parameter or `result`")?;
            let field = if self.accept(".") { Some(self.name("a field")?) } else { None };
            part = AnswerPart::Output { slot, field };
        } else if self.accept("(") {
            let mut values = vec![self.glob("an enumerant")?];
            while self.accept("|") {
                values.push(self.glob("an enumerant")?);
            }
            self.expect(")")?;
            part = AnswerPart::Values(values);
        }
        let span = commands.span.to(self.last());
        Ok(AnswerTarget { commands, part, span })
    }

    /// A name with any number of `*`, each of which touches the letters beside it.
    pub(super) fn glob(&mut self, what: &str) -> Parsed<Glob> {
        let first = self.peek();
        let is_part = |kind: Kind, text: &str| kind == Kind::Word || text == "*";
        if !is_part(first.kind, first.text) {
            return self.unexpected(what);
        }
        self.advance();
        let (mut text, mut span) = (first.text.to_owned(), first.span);
        loop {
            let next = self.peek();
            if !is_part(next.kind, next.text) || next.span.start != span.end {
                break;
            }
            text.push_str(next.text);
            span = span.to(self.advance().span);
        }
        Ok(Glob { text, span })
    }
}
