//! `read` and `write`: a slot if the extent is unconditional, depends on arguments alone and is the first of its
//! parameter, otherwise a range. A `read` stands before the fence and a `write` behind it. An extent that depends on
//! state that is not tracked is a mistake, because the shim lacks that state.

use super::super::ast::{self, ExtentKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{
    Direction, Element, Expr, ExprKind, Extent, ExternKind, Observation, Slot, StmtKind, Type,
};
use super::analysis;
use super::body::{Body, Part};
use super::names::{self, Declared, did_you_mean};

/// `EGL_NONE`, the attribute that ends lists of EGL.
const EGL_NONE: i64 = 0x3038;

impl Body<'_, '_> {
    /// The statement of a range; `None` for a slot, which goes to `self.slots`, and after a mistake.
    pub fn observe(
        &mut self,
        direction: Direction,
        extent: &ast::Extent,
        span: Span,
    ) -> Option<StmtKind> {
        match (direction, self.part) {
            (Direction::In, Part::Leave) => {
                let help = "memory that the command reads is observed before the driver is called";
                let mistake = Diagnostic::at(span, "a `read` stands before the `fence;`");
                self.report(mistake.help(help));
            }
            (Direction::Out, Part::Enter) => {
                let has_fence = self.subject.as_ref().is_some_and(|subject| subject.has_fence);
                let mistake = Diagnostic::at(span, "a `write` stands behind the `fence;`");
                let help = if has_fence {
                    "memory that the command writes is valid when the driver has returned"
                } else {
                    "put a `fence;` before it"
                };
                self.report(mistake.help(help));
            }
            _ => {}
        }
        let observation = self.observation(direction, extent)?;
        self.require_tracked_extent(&observation.extent);
        self.require_unconditional_tracking(span);
        match self.slot(&observation, span) {
            Some(slot) => {
                self.slots.push(slot);
                None
            }
            None => Some(StmtKind::Observe(observation)),
        }
    }

    /// The slot of an observation that is unconditional, depends on arguments alone and is the first of its parameter.
    fn slot(&self, observation: &Observation, span: Span) -> Option<Slot> {
        let param = observation.param?;
        let is_taken = self.slots.iter().any(|slot| slot.param == param);
        if self.nesting > 0 || self.returned || is_taken {
            return None;
        }
        let extent = self.written_out(&observation.extent)?;
        let element = observation.element.clone()?;
        Some(Slot { param, direction: observation.direction, extent, element, span })
    }

    fn written_out(&self, extent: &Extent) -> Option<Extent> {
        let own = |expr: &Expr| {
            let expr = analysis::written_out(expr, &self.meanings)?;
            let program = &self.checker.program;
            analysis::is_of_arguments(&expr, program, false).then_some(expr)
        };
        Some(match extent {
            Extent::Elements(count) => Extent::Elements(own(count)?),
            Extent::Slice(from, to) if matches!(from.kind, ExprKind::Int(0, _)) => {
                Extent::Elements(own(to)?)
            }
            Extent::Counted { count, most } => Extent::Counted { count: *count, most: own(most)? },
            Extent::Text { within: None } => Extent::Text { within: None },
            Extent::Text { within: Some(size) } => Extent::Text { within: Some(own(size)?) },
            Extent::TextOf { length, terminated } => {
                Extent::TextOf { length: own(length)?, terminated: *terminated }
            }
            Extent::Strings { count, lengths } => {
                Extent::Strings { count: own(count)?, lengths: *lengths }
            }
            Extent::Attributes { end } => Extent::Attributes { end: own(end)? },
            _ => return None,
        })
    }

    fn observation(&mut self, direction: Direction, extent: &ast::Extent) -> Option<Observation> {
        let span = extent.span;
        let (param, extent) = match &extent.kind {
            ExtentKind::One(param) => (self.pointer(param), Extent::Elements(one(param.span))),
            ExtentKind::Elements(param, count) => {
                let (param, count) = (self.pointer(param), self.integer(count));
                (param, Extent::Elements(count?))
            }
            ExtentKind::Slice(param, from, to) => {
                let (param, from, to) = (self.pointer(param), self.integer(from), self.integer(to));
                (param, Extent::Slice(from?, to?))
            }
            ExtentKind::Counted { param, count, most } => {
                let (param, most) = (self.pointer(param), self.integer(most));
                let count = self.count_of(direction, count);
                (param, Extent::Counted { count: count?, most: most? })
            }
            ExtentKind::Text { param, within } => {
                let param = self.pointer(param);
                let within = match within {
                    Some(size) => Some(self.integer(size)?),
                    None => None,
                };
                (param, Extent::Text { within })
            }
            ExtentKind::TextOf { param, length, rule } => {
                let (param, length) = (self.pointer(param), self.integer(length));
                let terminated = self.terminated(&rule.text, rule.span)?;
                (param, Extent::TextOf { length: length?, terminated })
            }
            ExtentKind::Strings { param, count, lengths } => {
                let (param, count) = (self.pointer(param), self.integer(count));
                let lengths = match lengths {
                    Some(lengths) => Some(self.lengths(lengths)?),
                    None => None,
                };
                (param, Extent::Strings { count: count?, lengths })
            }
            ExtentKind::Attributes { param, end } => {
                let end = self.list_end(end.as_ref(), param.span);
                (self.pointer(param), Extent::Attributes { end: end? })
            }
            ExtentKind::Chain { param, layout: None, .. } => {
                (self.pointer(param), Extent::AnyChain)
            }
            ExtentKind::Chain { param, layout: Some(layout), count } => {
                let count = match count {
                    Some(count) => self.integer(count),
                    None => Some(one(param.span)),
                };
                let param = self.pointer(param);
                let Some(Declared::Layout(id)) = self.checker.names.declared(&layout.text) else {
                    let help = self.checker.names.like_declared(&layout.text).map(did_you_mean);
                    let message = format!("no layout `{}`", layout.text);
                    self.report(Diagnostic { help, ..Diagnostic::at(layout.span, message) });
                    return None;
                };
                (param, Extent::Chain { layout: id, count: count? })
            }
            ExtentKind::By { param, function, arguments } => {
                let param = self.pointer(param);
                let (function, arguments) = self.observer(direction, function, arguments, span)?;
                (param, Extent::By { function, arguments })
            }
            ExtentKind::Call { function, arguments } => {
                let (function, arguments) = self.observer(direction, function, arguments, span)?;
                let extent = Extent::Call { function, arguments };
                return Some(Observation { direction, param: None, extent, element: None });
            }
            ExtentKind::Memory(address, bytes) => {
                let (address, bytes) = (self.check(address, &Type::Address), self.integer(bytes));
                let extent = Extent::Memory { address: address?, bytes: bytes? };
                return Some(Observation { direction, param: None, extent, element: None });
            }
        };
        let param = param?;
        let element = self.element_for(param, &extent, span)?;
        Some(Observation { direction, param: Some(param), extent, element })
    }

    /// The attribute that ends a list: `EGL_NONE`, unless the description says another.
    pub fn list_end(&mut self, end: Option<&ast::Expr>, span: Span) -> Option<Expr> {
        match end {
            Some(end) => self.integer(end),
            None => Some(Expr { kind: ExprKind::Int(EGL_NONE, None), ty: Type::INT, span }),
        }
    }

    fn element_for(
        &mut self,
        param: usize,
        extent: &Extent,
        span: Span,
    ) -> Option<Option<Element>> {
        match extent {
            // The layout or the function determines the element.
            Extent::Chain { .. } | Extent::AnyChain | Extent::By { .. } => {
                let subject = self.subject.as_ref()?;
                Some(super::body::element_of(&subject.params[param].ctype))
            }
            Extent::Text { .. } | Extent::TextOf { .. } | Extent::Strings { .. } => {
                self.check_text(param, extent, span)?;
                self.element(param, span).map(Some)
            }
            Extent::Attributes { .. } => {
                let element = self.element(param, span)?;
                if !element.ty.is_integer() || element.size < 4 {
                    self.mistake(span, "this is not a list of attributes");
                    return None;
                }
                Some(Some(element))
            }
            _ => self.element(param, span).map(Some),
        }
    }

    /// Checks the pointee of a text extent: bytes for `text`, pointers for `strings`.
    pub fn check_text(&mut self, param: usize, extent: &Extent, span: Span) -> Option<()> {
        let element = self.element(param, span)?;
        let is_strings = matches!(extent, Extent::Strings { .. });
        let is_right = element.size == if is_strings { 8 } else { 1 };
        if !is_right {
            let what = if is_strings { "pointers to text" } else { "text" };
            let name = self.subject.as_ref()?.names[param].clone();
            self.mistake(span, format!("`{name}` does not point at {what}"));
        }
        is_right.then_some(())
    }

    /// The index of the output parameter that holds the number of elements.
    fn count_of(&mut self, direction: Direction, count: &ast::Name) -> Option<usize> {
        if direction == Direction::In {
            self.mistake(count.span, "`counted` is for `write` only: an output holds the count");
            return None;
        }
        let param = self.pointer(count)?;
        let element = self.element(param, count.span)?;
        if !element.ty.is_integer() {
            self.mistake(count.span, format!("`{}` does not point at an integer", count.text));
            return None;
        }
        Some(param)
    }

    fn lengths(&mut self, lengths: &ast::Name) -> Option<usize> {
        let param = self.pointer(lengths)?;
        let element = self.element(param, lengths.span)?;
        if !element.ty.is_integer() || element.size != 4 {
            self.mistake(lengths.span, format!("`{}` does not point at ints", lengths.text));
            return None;
        }
        Some(param)
    }

    /// A hand-written function that observes memory in the given direction.
    fn observer(
        &mut self,
        direction: Direction,
        name: &ast::Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<(super::super::typed::ExternId, Vec<Expr>)> {
        let wanted = match direction {
            Direction::In => ExternKind::Read,
            Direction::Out => ExternKind::Write,
        };
        let word = if direction == Direction::In { "read" } else { "write" };
        let Some(Declared::Extern(id)) = self.checker.names.declared(&name.text) else {
            let near = names::nearest(
                &name.text,
                ["text", "text_of", "strings", "attributes", "memory", "chain"].into_iter(),
            )
            .or_else(|| self.checker.names.like_declared(&name.text));
            let help = near.map(did_you_mean);
            let message = format!("no `extern {word} {}`", name.text);
            self.report(Diagnostic { help, ..Diagnostic::at(name.span, message) });
            return None;
        };
        if self.checker.program[id].kind != wanted {
            self.mistake(name.span, format!("`{}` is not an `extern {word}`", name.text));
            return None;
        }
        let params = self.checker.program[id].params.iter();
        let types: Vec<Type> = params.map(|(_, ty)| ty.clone()).collect();
        Some((id, self.arguments(&types, arguments, span)?))
    }
}

fn one(span: Span) -> Expr {
    Expr { kind: ExprKind::Int(1, None), ty: Type::INT, span }
}
