//! Items that say what a replay has to know of commands, parameters and fields.

use super::super::ast::{FactTarget, ItemKind, ReachSize, Text};
use super::super::lexer::Kind;
use super::{Parsed, Parser};

impl Parser<'_> {
    /// `play module.function: command, …;`
    pub(super) fn play(&mut self) -> Parsed<ItemKind> {
        self.expect_word("play")?;
        let mut function = vec![self.name("a function")?];
        while self.accept(".") {
            function.push(self.name("a function")?);
        }
        self.expect(":")?;
        let commands = self.names("a command")?;
        self.expect(";")?;
        Ok(ItemKind::Play { function, commands })
    }

    /// `role ROLE: target, …;`
    pub(super) fn role(&mut self) -> Parsed<ItemKind> {
        self.expect_word("role")?;
        let role = self.name("a role")?;
        Ok(ItemKind::Role { role, targets: self.fact_targets()? })
    }

    /// `reach SIZE: target, …;`
    pub(super) fn reach(&mut self) -> Parsed<ItemKind> {
        self.expect_word("reach")?;
        let size = self.reach_size()?;
        Ok(ItemKind::Reach { size, targets: self.fact_targets()? })
    }

    fn reach_size(&mut self) -> Parsed<ReachSize> {
        if self.peek().kind == Kind::Int {
            return Ok(ReachSize::Bytes(self.number()?));
        }
        let name = self.name("a number of bytes, a parameter, `region(…)` or `unknown`")?;
        if name.text == "unknown" {
            return Ok(ReachSize::Unknown);
        }
        if name.text != "region" || !self.accept("(") {
            return Ok(ReachSize::Param(name));
        }
        let region = self.name("the parameter that is the region")?;
        self.expect(",")?;
        let pitch = self.name("the parameter that is the pitch")?;
        self.expect(",")?;
        let slice_pitch = self.name("the parameter that is the slice pitch")?;
        self.expect(")")?;
        Ok(ReachSize::Region([region, pitch, slice_pitch]))
    }

    /// `refuse "reason": command, layout, …;`
    pub(super) fn refuse(&mut self) -> Parsed<ItemKind> {
        self.expect_word("refuse")?;
        let token = self.peek();
        if token.kind != Kind::Text {
            return self.unexpected("a reason in quotes");
        }
        self.advance();
        let reason = Text { text: token.text.trim_matches('"').to_owned(), span: token.span };
        self.expect(":")?;
        let mut names = vec![self.glob("a command or a layout")?];
        while self.accept(",") {
            names.push(self.glob("a command or a layout")?);
        }
        self.expect(";")?;
        Ok(ItemKind::Refuse { reason, names })
    }

    /// `: target, target;`
    fn fact_targets(&mut self) -> Parsed<Vec<FactTarget>> {
        self.expect(":")?;
        let mut targets = vec![self.fact_target()?];
        while self.accept(",") {
            targets.push(self.fact_target()?);
        }
        self.expect(";")?;
        Ok(targets)
    }

    fn fact_target(&mut self) -> Parsed<FactTarget> {
        let subjects = self.glob("a command or a layout")?;
        let slot = if self.accept(".") { Some(self.name("a parameter or a field")?) } else { None };
        let span = subjects.span.to(self.last());
        Ok(FactTarget { subjects, slot, span })
    }
}
