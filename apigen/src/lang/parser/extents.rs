//! Extents: the operands of `read` and `write`.

use super::super::ast::{Extent, ExtentKind, Name};
use super::{Parsed, Parser};

impl Parser<'_> {
    pub(super) fn extent(&mut self) -> Parsed<Extent> {
        let name = self.name("a parameter, or a word such as `text`")?;
        let kind = if self.is_sign("(") {
            self.extent_word(name.clone())?
        } else if self.is_sign("[") {
            self.extent_in_brackets(name.clone())?
        } else if self.accept_word("by") {
            let function = self.name("a hand-written function")?;
            ExtentKind::By { param: name.clone(), function, arguments: self.arguments()? }
        } else {
            ExtentKind::One(name.clone())
        };
        Ok(Extent { kind, span: name.span.to(self.last()) })
    }

    fn extent_in_brackets(&mut self, param: Name) -> Parsed<ExtentKind> {
        self.expect("[")?;
        let kind = if self.is_word("counted") && self.is_sign_at(1, "(") {
            self.advance();
            self.expect("(")?;
            let count = self.name("the parameter that points at the count")?;
            self.expect(",")?;
            let most = self.expr()?;
            self.expect(")")?;
            ExtentKind::Counted { param, count, most }
        } else {
            let first = self.expr()?;
            if self.accept("..") {
                ExtentKind::Slice(param, first, self.expr()?)
            } else {
                ExtentKind::Elements(param, first)
            }
        };
        self.expect("]")?;
        Ok(kind)
    }

    fn extent_word(&mut self, word: Name) -> Parsed<ExtentKind> {
        if !["text", "text_of", "strings", "attributes", "memory", "chain"]
            .contains(&word.text.as_str())
        {
            return Ok(ExtentKind::Call { function: word, arguments: self.arguments()? });
        }
        self.expect("(")?;
        let kind = if word.text == "memory" {
            let address = self.expr()?;
            self.expect(",")?;
            ExtentKind::Memory(address, self.expr()?)
        } else {
            let param = self.name("a parameter")?;
            self.extent_of(&word.text, param)?
        };
        self.expect(")")?;
        Ok(kind)
    }

    fn extent_of(&mut self, word: &str, param: Name) -> Parsed<ExtentKind> {
        Ok(match word {
            "text" => {
                let within = if self.accept(",") { Some(self.expr()?) } else { None };
                ExtentKind::Text { param, within }
            }
            "text_of" => {
                self.expect(",")?;
                let length = self.expr()?;
                self.expect(",")?;
                ExtentKind::TextOf { param, length, rule: self.name("`if_negative` or `if_zero`")? }
            }
            "strings" => {
                self.expect(",")?;
                let count = self.expr()?;
                let lengths = if self.accept(",") { Some(self.name("a parameter")?) } else { None };
                ExtentKind::Strings { param, count, lengths }
            }
            "chain" => {
                let layout = if self.accept(",") { Some(self.name("a layout")?) } else { None };
                let has_count = layout.is_some() && self.accept(",");
                let count = if has_count { Some(self.expr()?) } else { None };
                ExtentKind::Chain { param, layout, count }
            }
            _ => {
                let end = if self.accept(",") { Some(self.expr()?) } else { None };
                ExtentKind::Attributes { param, end }
            }
        })
    }
}
