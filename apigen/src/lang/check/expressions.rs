//! Types of expressions, and the conversions between them. Integers convert to integers of any width and to floats,
//! floats to floats, constants to addresses, `none` to refs and optionals; every other conversion must be written.
//! Memory behind a parameter can be read only if it is observed: before the fence if the command reads it, behind the
//! fence if the command writes it or the pointer is `const`.

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{Arm, Expr, ExprKind, Pattern, Scope, Type};
use super::body::{Binding, Body, Part};
use super::names::{self, Declared, did_you_mean};
use crate::ctype::Repr;

impl Body<'_, '_> {
    /// The typed expression; `None` after a reported mistake.
    pub fn infer(&mut self, expr: &ast::Expr) -> Option<Expr> {
        let span = expr.span;
        let (kind, ty) = match &expr.kind {
            ast::ExprKind::Int(value) => (ExprKind::Int(*value, None), Type::INT),
            ast::ExprKind::Float(value) => (ExprKind::Float(*value), Type::FLOAT),
            ast::ExprKind::Bool(value) => (ExprKind::Bool(*value), Type::Bool),
            ast::ExprKind::Text(text) => (ExprKind::Text(text.clone()), Type::Text),
            ast::ExprKind::None => (ExprKind::None, Type::None),
            ast::ExprKind::Name(name) => self.name(name, span)?,
            ast::ExprKind::Member(base, member) => self.member(base, member)?,
            ast::ExprKind::Index(base, index) => self.index(base, index)?,
            ast::ExprKind::Call { function, arguments } => self.call(function, arguments, span)?,
            ast::ExprKind::Unary(operator, inner) => self.unary(*operator, inner)?,
            ast::ExprKind::Binary(operator, left, right) => {
                self.binary(*operator, left, right, span)?
            }
            ast::ExprKind::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let (then, otherwise) = (self.infer(then), self.infer(otherwise));
                let (then, otherwise, ty) = self.unify(then?, otherwise?)?;
                let kind = ExprKind::If(Box::new(condition?), Box::new(then), Box::new(otherwise));
                (kind, ty)
            }
            ast::ExprKind::Match { value, arms } => self.match_expr(value, arms, span)?,
            ast::ExprKind::Error => return None,
        };
        Some(Expr { kind, ty, span })
    }

    /// The typed expression, converted to the type `wanted`.
    pub fn check(&mut self, expr: &ast::Expr, wanted: &Type) -> Option<Expr> {
        let typed = self.infer(expr)?;
        self.coerce(typed, wanted)
    }

    pub fn integer(&mut self, expr: &ast::Expr) -> Option<Expr> {
        self.check(expr, &Type::INT)
    }

    pub fn condition(&mut self, expr: &ast::Expr) -> Option<Expr> {
        self.check(expr, &Type::Bool)
    }

    /// Converts `expr` to the type `wanted`; reports a mistake if that needs an explicit conversion.
    pub fn coerce(&mut self, expr: Expr, wanted: &Type) -> Option<Expr> {
        match self.try_coerce(expr, wanted) {
            Ok(expr) => Some(expr),
            Err(expr) => {
                let (found, expected) = (self.type_name(&expr.ty), self.type_name(wanted));
                let message = format!("expected {expected}, found {found}");
                let mistake = Diagnostic::at(expr.span, message).label(format!("this is {found}"));
                let help = conversion(&expr.ty, wanted).map(str::to_owned);
                self.report(Diagnostic { help, ..mistake });
                None
            }
        }
    }

    #[expect(clippy::result_large_err, reason = "the expression comes back unchanged")]
    fn try_coerce(&mut self, expr: Expr, wanted: &Type) -> Result<Expr, Expr> {
        let is_same = expr.ty == *wanted && expr.ty != Type::None
            || expr.ty.is_integer() && wanted.is_integer()
            || expr.ty.is_float() && wanted.is_float();
        if is_same {
            return Ok(expr);
        }
        let converted = |expr: Expr| {
            let span = expr.span;
            Expr { kind: ExprKind::Convert(Box::new(expr)), ty: wanted.clone(), span }
        };
        match (&expr.kind, &expr.ty, wanted) {
            (ExprKind::Int(..), _, Type::Address)
            | (ExprKind::None, _, Type::Ref(_) | Type::Optional(_)) => {
                Ok(Expr { ty: wanted.clone(), ..expr })
            }
            (_, from, _) if from.is_integer() && wanted.is_float() => Ok(converted(expr)),
            (_, _, Type::Optional(inner)) => self.try_coerce(expr, inner).map(converted),
            _ => Err(expr),
        }
    }

    /// Converts two values to one common type.
    pub fn unify(&mut self, left: Expr, right: Expr) -> Option<(Expr, Expr, Type)> {
        if left.ty.is_integer() && right.ty.is_integer() {
            return Some((left, right, Type::INT));
        }
        if left.ty.is_float() && right.ty.is_float() {
            return Some((left, right, Type::FLOAT));
        }
        let is_nothing = |expr: &Expr| matches!(expr.kind, ExprKind::None);
        if is_nothing(&left) && !is_nothing(&right) && !can_be_none(&right.ty) {
            let ty = Type::Optional(Box::new(right.ty.clone()));
            return Some((self.coerce(left, &ty)?, self.coerce(right, &ty)?, ty));
        }
        if is_nothing(&right) && !is_nothing(&left) && !can_be_none(&left.ty) {
            let ty = Type::Optional(Box::new(left.ty.clone()));
            return Some((self.coerce(left, &ty)?, self.coerce(right, &ty)?, ty));
        }
        if left.ty == right.ty {
            let ty = left.ty.clone();
            return Some((left, right, ty));
        }
        let (left_ty, right_ty) = (left.ty.clone(), right.ty.clone());
        let right = match self.try_coerce(right, &left_ty) {
            Ok(right) => return Some((left, right, left_ty)),
            Err(right) => right,
        };
        let left = self.try_coerce(left, &right_ty).map_err(|left| {
            let (a, b) = (self.type_name(&left.ty), self.type_name(&right.ty));
            let message = format!("{a} and {b} have no common type");
            let mistake = Diagnostic::at(left.span, message)
                .label(format!("this is {a}"))
                .also(right.span, format!("this is {b}"));
            let help = conversion(&left.ty, &right.ty).map(str::to_owned);
            self.report(Diagnostic { help, ..mistake });
        });
        Some((left.ok()?, right, right_ty))
    }

    fn name(&mut self, name: &str, span: Span) -> Option<(ExprKind, Type)> {
        match self.binding(name) {
            Some(Binding::Local(id)) => return self.local_value(*id, span),
            Some(Binding::Value(value)) => return Some((value.kind.clone(), value.ty.clone())),
            None => {}
        }
        if let Some(param) = self.param(name) {
            let ty = self.subject.as_ref()?.params[param].ty.clone();
            return Some((ExprKind::Param(param), ty));
        }
        if let Some(at) = self.siblings.iter().position(|(known, _)| known == name) {
            let Some(ty) = self.siblings[at].1.clone() else {
                self.mistake(span, format!("`{name}` is not a number"));
                return None;
            };
            return Some((ExprKind::LayoutField(at), ty));
        }
        if name == "result" && self.subject.is_some() {
            return self.result(span);
        }
        if let Some(value) = self.checker.names.constant(name) {
            return Some((ExprKind::Int(value, Some(name.to_owned())), Type::INT));
        }
        self.unknown_name(name, span);
        None
    }

    fn local_value(
        &mut self,
        id: super::super::typed::LocalId,
        span: Span,
    ) -> Option<(ExprKind, Type)> {
        let (name, ty) = (self.locals[id.0].name.clone(), self.locals[id.0].ty.clone());
        if self.is_of_other_part(id) {
            let message = format!("`{name}` is not available behind the fence");
            let help = "repeat the `let` behind the `fence;`";
            self.report(Diagnostic::at(span, message).help(help));
            return None;
        }
        // A variable of an expression that had a mistake.
        (ty != Type::None).then_some((ExprKind::Local(id), ty))
    }

    fn result(&mut self, span: Span) -> Option<(ExprKind, Type)> {
        let subject = self.subject.as_ref()?;
        if subject.is_procedure {
            let help = "a command can pass it as an argument";
            let mistake = Diagnostic::at(span, "a procedure does not see `result`");
            self.report(mistake.help(help));
            return None;
        }
        let Some(ty) = subject.result.clone() else {
            self.mistake(span, "the command has no result");
            return None;
        };
        if self.part == Part::Enter {
            let has_fence = subject.has_fence;
            let help = if has_fence {
                "the driver has not been called yet: use it behind the `fence;`"
            } else {
                "the driver has not been called yet: put a `fence;` before"
            };
            let mistake = Diagnostic::at(span, "`result` is known after the fence only");
            self.report(mistake.help(help));
            return None;
        }
        Some((ExprKind::Result, ty))
    }

    fn unknown_name(&mut self, name: &str, span: Span) {
        let help = match (names::scope(name), self.checker.names.declared(name)) {
            (Some(_), _) => Some(format!("write `{name}.…` for one of its fields")),
            (_, Some(Declared::Object(_))) => {
                Some(format!("an object is found by its name: `{name}.find(…)`"))
            }
            (_, Some(Declared::Enum(_))) => {
                Some(format!("write `{name}.…` for one of its variants"))
            }
            (_, Some(Declared::Sizes(_) | Declared::Function(_) | Declared::Extern(_))) => {
                Some(format!("write `{name}(…)` to call it"))
            }
            (_, Some(Declared::Procedure(_))) => {
                Some("a procedure is called by a statement of its own".to_owned())
            }
            _ => {
                let near = names::nearest(name, self.names().into_iter())
                    .or_else(|| self.checker.names.like_constant(name));
                near.map(did_you_mean)
            }
        };
        let message = format!("`{name}` is not a value");
        self.report(Diagnostic { help, ..Diagnostic::at(span, message) });
    }

    fn member(&mut self, base: &ast::Expr, member: &ast::Name) -> Option<(ExprKind, Type)> {
        if let Some(scope) = self.state_named(base) {
            let field = self.state_field(scope, base, member)?;
            let ty = self.checker.program[scope].fields[field].ty.clone();
            // A field whose declaration has a mistake.
            return (ty != Type::None).then_some((ExprKind::State(scope, field), ty));
        }
        if let ast::ExprKind::Name(name) = &base.kind
            && self.binding(name).is_none()
            && let Some(Declared::Enum(id)) = self.checker.names.declared(name)
        {
            return self.variant(id, member);
        }
        let base = self.infer(base)?;
        if member.text == "len" && is_countable(&base.ty) {
            return Some((ExprKind::Len(Box::new(base)), Type::INT));
        }
        match base.ty {
            Type::Struct(id) => {
                let fields = &self.checker.program[id].fields;
                let Some(field) = fields.iter().position(|field| field.name == member.text) else {
                    let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
                    return self.no_field(&base.ty, &names, member);
                };
                let ty = fields[field].ty.clone();
                Some((ExprKind::StructField(id, Box::new(base), field), ty))
            }
            Type::Ref(id) => {
                let object = &self.checker.program[id];
                if member.text == "name" {
                    let ty = object_name_type(object.by_handle);
                    return Some((ExprKind::NameOf(id, Box::new(base)), ty));
                }
                let fields = &object.fields;
                let Some(field) = fields.iter().position(|field| field.name == member.text) else {
                    let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
                    return self.no_field(&base.ty, &names, member);
                };
                let ty = fields[field].ty.clone();
                Some((ExprKind::ObjectField(id, Box::new(base), field), ty))
            }
            _ => self.no_field(&base.ty, &[], member),
        }
    }

    pub fn no_field<T>(&mut self, ty: &Type, known: &[String], member: &ast::Name) -> Option<T> {
        let message = format!("{} has no field `{}`", self.type_name(ty), member.text);
        let near = names::nearest(&member.text, known.iter().map(String::as_str));
        let help = near.map(did_you_mean);
        self.report(Diagnostic { help, ..Diagnostic::at(member.span, message) });
        None
    }

    /// The scope that a word before a dot denotes, even if a parameter has the same name.
    pub fn state_named(&self, base: &ast::Expr) -> Option<Scope> {
        let ast::ExprKind::Name(name) = &base.kind else { return None };
        names::scope(name).filter(|_| self.binding(name).is_none() && !self.is_constant)
    }

    pub fn state_field(
        &mut self,
        scope: Scope,
        base: &ast::Expr,
        member: &ast::Name,
    ) -> Option<usize> {
        let fields = &self.checker.program[scope].fields;
        let found = fields.iter().position(|field| field.name == member.text);
        if found.is_none() {
            let ast::ExprKind::Name(state) = &base.kind else { return None };
            let names = fields.iter().map(|field| field.name.as_str());
            let help = names::nearest(&member.text, names).map(did_you_mean);
            let message = format!("the state `{state}` has no field `{}`", member.text);
            self.report(Diagnostic { help, ..Diagnostic::at(member.span, message) });
        }
        found
    }

    fn variant(
        &mut self,
        id: super::super::typed::EnumId,
        member: &ast::Name,
    ) -> Option<(ExprKind, Type)> {
        let item = &self.checker.program[id];
        let Some(at) = item.variants.iter().position(|variant| *variant == member.text) else {
            let near = names::nearest(&member.text, item.variants.iter().map(String::as_str));
            let help = near.map(did_you_mean);
            let message = format!("`{}` has no variant `{}`", item.name, member.text);
            self.report(Diagnostic { help, ..Diagnostic::at(member.span, message) });
            return None;
        };
        Some((ExprKind::Variant(id, at), Type::Enum(id)))
    }

    fn index(&mut self, base: &ast::Expr, index: &ast::Expr) -> Option<(ExprKind, Type)> {
        if let Some(param) = self.pointer_named(base) {
            let element = self.element(param, base.span);
            let index = self.integer(index);
            self.check_readable(param, base.span)?;
            let (element, index) = (element?, Box::new(index?));
            let ty = element.ty.clone();
            return Some((ExprKind::Memory { param, element, index }, ty));
        }
        let base = self.infer(base)?;
        let base_ty = base.ty.clone();
        match base_ty {
            Type::Array(element, _) | Type::List(element) => {
                let index = Box::new(self.integer(index)?);
                Some((ExprKind::Index(Box::new(base), index), *element))
            }
            Type::Map(key, value) => {
                let index = Box::new(self.check(index, &key)?);
                Some((ExprKind::Lookup(Box::new(base), index), *value))
            }
            other => {
                let message = format!("{} has no elements", self.type_name(&other));
                self.mistake(base.span, message);
                None
            }
        }
    }

    /// The parameter index, if the expression is the name of a pointer parameter.
    pub fn pointer_named(&self, expr: &ast::Expr) -> Option<usize> {
        let ast::ExprKind::Name(name) = &expr.kind else { return None };
        let param = self.param(name).filter(|_| self.binding(name).is_none())?;
        self.subject.as_ref()?.params[param].ctype.is_pointer().then_some(param)
    }

    /// Checks that the memory behind `param` can be read in this part: before the fence if the command reads it, behind
    /// the fence if the command writes it or the pointer is `const`.
    pub fn check_readable(&mut self, param: usize, span: Span) -> Option<()> {
        let subject = self.subject.as_ref()?;
        let name = subject.names[param].clone();
        let is_read = subject.reads.contains(&param);
        let is_written = subject.writes.contains(&param);
        let is_const = subject.params[param].ctype.points_at_const();
        if !is_read && !is_written && !subject.by_registry.contains(&param) {
            let message = format!("the memory behind `{name}` is not observed");
            let help = format!("a trace would not contain it: add `read {name}…;`");
            self.report(Diagnostic::at(span, message).help(help));
            return None;
        }
        let is_input = is_read || !is_written && is_const;
        let is_output = is_written || !is_read && !is_const;
        let mistake = match self.part {
            Part::Enter if !is_input => {
                let message = format!("`{name}` is an output: it is known after the fence only");
                Diagnostic::at(span, message)
            }
            Part::Leave if !is_output && !is_const => {
                let message = format!("`{name}` is an input that the driver may have changed");
                Diagnostic::at(span, message).help("use it before the `fence;`")
            }
            _ => return Some(()),
        };
        self.report(mistake);
        None
    }

    fn match_expr(
        &mut self,
        value: &ast::Expr,
        arms: &[ast::Arm<ast::Expr>],
        span: Span,
    ) -> Option<(ExprKind, Type)> {
        let value = self.infer(value)?;
        let patterns = self.patterns(&value, arms)?;
        let mut typed: Vec<Expr> = Vec::new();
        for arm in arms {
            typed.push(self.infer(&arm.body)?);
        }
        let Some(mut ty) = typed.iter().map(|arm| &arm.ty).find(|ty| **ty != Type::None).cloned()
        else {
            self.mistake(span, "every case of this is `none`");
            return None;
        };
        if typed.iter().any(|arm| arm.ty != ty) {
            if ty.is_integer() {
                ty = Type::INT;
            }
            if typed.iter().any(|arm| arm.ty.is_float()) {
                ty = Type::FLOAT;
            }
            if typed.iter().any(|arm| arm.ty == Type::None) && !can_be_none(&ty) {
                ty = Type::Optional(Box::new(ty));
            }
        }
        let mut cases = Vec::new();
        let mut otherwise = None;
        for (patterns, body) in patterns.into_iter().zip(typed) {
            let body = self.coerce(body, &ty)?;
            match patterns {
                Some(patterns) => cases.push(Arm { patterns, body }),
                None => otherwise = Some(Box::new(body)),
            }
        }
        let Some(otherwise) = otherwise else {
            let mistake = Diagnostic::at(span, "a `match` expression needs a case `_`");
            self.report(mistake.help("the expression needs a result for every value"));
            return None;
        };
        Some((ExprKind::Match { value: Box::new(value), arms: cases, otherwise }, ty))
    }

    /// The patterns of each arm; the inner `None` is the arm `_`.
    pub fn patterns<T>(
        &mut self,
        value: &Expr,
        arms: &[ast::Arm<T>],
    ) -> Option<Vec<Option<Vec<Pattern>>>> {
        let mut all = Vec::new();
        let mut seen: Vec<(Pattern, Span)> = Vec::new();
        let mut rest: Option<Span> = None;
        let mut is_right = true;
        for arm in arms {
            let mut typed = Some(Vec::new());
            for pattern in &arm.patterns {
                match pattern {
                    ast::Pattern::Rest(span) => {
                        if arm.patterns.len() > 1 {
                            self.mistake(*span, "`_` can't be combined with other values");
                            is_right = false;
                        }
                        if let Some(first) = rest.replace(*span) {
                            let mistake = Diagnostic::at(*span, "there are two cases `_`")
                                .also(first, "the first one");
                            self.report(mistake);
                            is_right = false;
                        }
                        typed = None;
                    }
                    ast::Pattern::Value(expr) => match self.pattern(value, expr) {
                        Some(pattern) => {
                            is_right &= self.note_pattern(&mut seen, &pattern, expr.span);
                            if let Some(typed) = &mut typed {
                                typed.push(pattern);
                            }
                        }
                        None => is_right = false,
                    },
                }
            }
            all.push(typed);
        }
        is_right.then_some(all)
    }

    fn note_pattern(
        &mut self,
        seen: &mut Vec<(Pattern, Span)>,
        pattern: &Pattern,
        span: Span,
    ) -> bool {
        let is_same = |known: &Pattern| match (known, pattern) {
            (Pattern::Int(a, _), Pattern::Int(b, _)) => a == b,
            (a, b) => a == b,
        };
        let first = seen.iter().find(|(known, _)| is_same(known)).map(|(_, span)| *span);
        if let Some(first) = first {
            let mistake = Diagnostic::at(span, "this value has a case already")
                .label("here again")
                .also(first, "the first one");
            self.report(mistake);
            return false;
        }
        seen.push((pattern.clone(), span));
        true
    }

    fn pattern(&mut self, value: &Expr, expr: &ast::Expr) -> Option<Pattern> {
        let typed = self.infer(expr)?;
        let typed = self.coerce(typed, &value.ty)?;
        match typed.kind {
            ExprKind::Int(number, name) => Some(Pattern::Int(number, name)),
            ExprKind::Bool(value) => Some(Pattern::Bool(value)),
            ExprKind::Variant(id, at) => Some(Pattern::Variant(id, at)),
            _ => {
                let message = "expected an enumerant, a number, a bool or a variant as a case";
                self.mistake(expr.span, message);
                None
            }
        }
    }
}

pub(super) fn object_name_type(by_handle: bool) -> Type {
    if by_handle { Type::Address } else { Type::number(Repr::U32) }
}

pub(super) fn is_countable(ty: &Type) -> bool {
    matches!(ty, Type::Array(..) | Type::List(_) | Type::Map(..) | Type::Text | Type::Bytes)
}

fn can_be_none(ty: &Type) -> bool {
    matches!(ty, Type::Ref(_) | Type::Optional(_) | Type::None)
}

/// The syntax of an explicit conversion between two types.
fn conversion(from: &Type, to: &Type) -> Option<&'static str> {
    match (from, to) {
        (from, Type::Bool) if from.is_integer() => Some("write `… != 0`"),
        (Type::Ref(_), Type::Bool) => Some("write `… != none`"),
        (Type::Bool, to) if to.is_integer() => Some("write `if … { 1 } else { 0 }`"),
        (Type::Address, to) if to.is_integer() => Some("write `int(…)`"),
        (from, Type::Address) if from.is_integer() => Some("write `address(…)`"),
        (from, to) if from.is_float() && to.is_integer() => Some("write `int(…)`"),
        (Type::Optional(_), _) => Some("write `….or(value)`"),
        (Type::Ref(_), to) if to.is_integer() => Some("write `….name`"),
        (from, Type::Ref(_)) if from.is_integer() => Some("write `Kind.find(…)`"),
        _ => None,
    }
}
