//! Environment in which a body is checked: its parameters, variables and scopes, and the current part.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ast;
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{Element, Expr, Local, LocalId, Param, Slot, Type};
use super::analysis;
use super::checker::Checker;
use super::types;
use crate::ctype::{CType, Repr};

/// Before or after the fence.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Enter,
    Leave,
}

/// The command that a body describes.
pub(super) struct Subject {
    pub name: String,
    /// Whether the body is a procedure's. A procedure does not see the command that calls it.
    pub is_procedure: bool,
    /// The parameters' names in the body.
    pub names: Vec<String>,
    pub params: Vec<Param>,
    pub result: Option<Type>,
    /// Parameters with a `read`. The next sets hold those with a `write` and with an `ignore`.
    pub reads: BTreeSet<usize>,
    pub writes: BTreeSet<usize>,
    pub ignores: BTreeSet<usize>,
    /// Parameters whose extent is the registry's `len`.
    pub by_registry: BTreeSet<usize>,
    pub has_fence: bool,
}

/// Names and variables that are visible in a body, and the slots that its statements have defined so far.
pub(super) struct Body<'c, 'a> {
    pub checker: &'c mut Checker<'a>,
    pub subject: Option<Subject>,
    /// Fields of the layout whose counts are being checked.
    pub siblings: Vec<(String, Option<Type>)>,
    /// Whether only constants are allowed.
    pub is_constant: bool,
    pub part: Part,
    pub locals: Vec<Local>,
    /// The part in which each variable was declared.
    local_parts: Vec<Part>,
    pub scopes: Vec<Vec<(String, Binding)>>,
    /// Values of unconditional variables, as expressions of arguments.
    pub meanings: BTreeMap<LocalId, Expr>,
    /// Names of untracked fields that the conditions around the statement depend on.
    pub conditions: Vec<String>,
    /// Number of `if`, `match` and `for` around the statement.
    pub nesting: u32,
    /// Whether this part may have returned.
    pub returned: bool,
    pub slots: Vec<Slot>,
    /// Number of procedure calls around the statement.
    pub depth: usize,
    /// Number of procedure calls so far.
    pub calls: u32,
}

/// Meaning of a name in a scope.
pub(super) enum Binding {
    Local(LocalId),
    /// The argument of a procedure.
    Value(Expr),
}

impl<'c, 'a> Body<'c, 'a> {
    fn new(checker: &'c mut Checker<'a>) -> Self {
        Self {
            checker,
            subject: None,
            siblings: Vec::new(),
            is_constant: false,
            part: Part::Enter,
            locals: Vec::new(),
            local_parts: Vec::new(),
            scopes: vec![Vec::new()],
            meanings: BTreeMap::new(),
            conditions: Vec::new(),
            nesting: 0,
            returned: false,
            slots: Vec::new(),
            depth: 0,
            calls: 0,
        }
    }

    pub fn constant(checker: &'c mut Checker<'a>) -> Self {
        Self { is_constant: true, ..Self::new(checker) }
    }

    pub fn layout(checker: &'c mut Checker<'a>, siblings: Vec<(String, Option<Type>)>) -> Self {
        Self { siblings, is_constant: true, ..Self::new(checker) }
    }

    pub fn function(checker: &'c mut Checker<'a>, params: Vec<Local>) -> Self {
        let mut body = Self::new(checker);
        for (at, param) in params.iter().enumerate() {
            body.scopes[0].push((param.name.clone(), Binding::Local(LocalId(at))));
            body.local_parts.push(Part::Enter);
        }
        body.locals = params;
        body
    }

    pub fn command(checker: &'c mut Checker<'a>, subject: Subject) -> Self {
        Self { subject: Some(subject), ..Self::new(checker) }
    }

    pub fn mistake(&mut self, span: Span, message: impl Into<String>) {
        self.checker.mistake(span, message);
    }

    pub fn report(&mut self, diagnostic: Diagnostic) {
        self.checker.report(diagnostic);
    }

    pub fn type_name(&self, ty: &Type) -> String {
        self.checker.program.name_of_type(ty)
    }

    /// Declares a variable with a value.
    pub fn let_(&mut self, name: &ast::Name, value: &Expr) -> LocalId {
        let untracked = analysis::untracked(value, &self.checker.program, &self.locals);
        self.variable(name, value.ty.clone(), untracked.is_some())
    }

    pub fn variable(&mut self, name: &ast::Name, ty: Type, tools_only: bool) -> LocalId {
        let is_param = self.param(&name.text).is_some();
        if is_param || self.binding(&name.text).is_some() {
            let what = if is_param { "parameter" } else { "variable" };
            self.mistake(name.span, format!("a {what} `{}` exists already", name.text));
        }
        // The statements of a procedure are inserted into the caller's code, so their variables need unique names.
        let unique = match self.depth {
            0 => name.text.clone(),
            _ => format!("{}_{}", name.text, self.locals.len()),
        };
        let id = self.new_local(unique, ty, tools_only);
        if let Some(scope) = self.scopes.last_mut() {
            scope.push((name.text.clone(), Binding::Local(id)));
        }
        id
    }

    /// Declares a variable that descriptions cannot refer to.
    pub fn new_local(&mut self, name: String, ty: Type, tools_only: bool) -> LocalId {
        let id = LocalId(self.locals.len());
        self.locals.push(Local { name, ty, tools_only });
        self.local_parts.push(self.part);
        id
    }

    /// Runs `inner` in a new scope of variables.
    pub fn in_scope<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        self.scopes.push(Vec::new());
        let done = inner(self);
        self.scopes.pop();
        done
    }

    /// The meaning of the name of a variable or of a procedure's parameter.
    pub fn binding(&self, name: &str) -> Option<&Binding> {
        let mut all = self.scopes.iter().rev().flatten();
        all.find(|(known, _)| known == name).map(|(_, binding)| binding)
    }

    /// Whether a variable was declared in the other part of the command, so that it has no value in this one.
    pub fn is_of_other_part(&self, id: LocalId) -> bool {
        self.local_parts[id.0] != self.part
    }

    pub fn param(&self, name: &str) -> Option<usize> {
        let subject = self.subject.as_ref()?;
        subject.names.iter().position(|known| known == name)
    }

    /// Names that an expression may use here, for suggestions.
    pub fn names(&self) -> Vec<&str> {
        let params = self.subject.iter().flat_map(|subject| &subject.names);
        let locals = self.scopes.iter().flatten().map(|(name, _)| name);
        let siblings = self.siblings.iter().map(|(name, _)| name);
        params.chain(locals).chain(siblings).map(String::as_str).collect()
    }

    /// The index of the parameter called `name`; reports a mistake if it does not exist or is not a pointer.
    pub fn pointer(&mut self, name: &ast::Name) -> Option<usize> {
        let param = self.existing_param(name)?;
        let is_pointer =
            self.subject.as_ref().is_some_and(|subject| subject.params[param].ctype.is_pointer());
        if !is_pointer {
            self.mistake(name.span, format!("`{}` is not a pointer", name.text));
        }
        is_pointer.then_some(param)
    }

    pub fn existing_param(&mut self, name: &ast::Name) -> Option<usize> {
        let found = self.param(&name.text);
        let is_procedure = self.subject.as_ref().is_some_and(|subject| subject.is_procedure);
        if found.is_none() && is_procedure {
            let help = "a procedure can observe `memory(address, bytes)`, or the memory that a \
                        hand-written function finds";
            let message = format!("`{}` is not a parameter of a command", name.text);
            self.report(Diagnostic::at(name.span, message).help(help));
        } else if found.is_none() {
            let help = super::names::nearest(&name.text, self.names().into_iter())
                .map(super::names::did_you_mean);
            let subject = self.subject.as_ref().map_or("this", |subject| subject.name.as_str());
            let message = format!("{subject} has no parameter `{}`", name.text);
            self.report(Diagnostic { help, ..Diagnostic::at(name.span, message) });
        }
        found
    }

    /// The type behind a pointer parameter; reports a mistake if its size is unknown.
    pub fn element(&mut self, param: usize, span: Span) -> Option<Element> {
        let subject = self.subject.as_ref()?;
        let found = element_of(&subject.params[param].ctype);
        if found.is_none() {
            let message =
                format!("the size of the type behind `{}` is unknown", subject.names[param]);
            let help =
                "describe it as a `layout` and read `chain(…)`, or use `memory(address, bytes)`";
            self.report(Diagnostic::at(span, message).help(help));
        }
        found
    }
}

/// The type behind a C pointer: bytes behind `void *`.
pub(super) fn element_of(pointer: &CType) -> Option<Element> {
    let pointee = pointer.pointee()?;
    if pointee.is_void() {
        return Some(Element { repr: Repr::U8, ty: Type::number(Repr::U8), size: 1 });
    }
    let (repr, _) = pointee.scalar()?;
    let ty = types::scalar(&pointee)?;
    Some(Element { repr, ty, size: u64::from(repr.size()) })
}
