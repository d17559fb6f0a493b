//! Procedures: named statements, which replace each call. They call each other at most 16 deep (`MOST_DEPTH`), and a
//! body has at most 1,024 calls (`MOST_CALLS`), calls inside of called procedures included; more is a mistake, and so
//! is a procedure that calls itself.
//!
//! A procedure is first checked by itself, so that its mistakes are reported once, with their own spans. Each call
//! checks the statements again in the caller, where the part of the command, the conditions around the call and the
//! arguments are known. The typed program has no procedures.

use super::super::ast::{self, StmtKind as Written};
use super::super::diagnostic::{Diagnostic, Sink};
use super::super::source::Span;
use super::super::typed::{Expr, ExprKind, LocalId, Stmt, StmtKind, Type};
use super::analysis;
use super::body::{Binding, Body, Part, Subject};
use super::checker::Checker;
use super::names::Declared;
use super::progress::{ProcedureId, ProcedureProgress};

/// Maximum depth of nested procedure calls.
const MOST_DEPTH: usize = 16;
/// Maximum number of procedure calls in one body, calls inside of called procedures included.
const MOST_CALLS: u32 = 1024;

impl<'a> Checker<'a> {
    /// Checks every procedure by itself.
    pub(super) fn check_procedures(&mut self) {
        for at in 0..self.procedures.len() {
            self.procedure(ProcedureId(at), 0);
        }
    }

    /// Checks a procedure after the procedures that it calls. `depth` is the number of callers whose checks wait for it.
    fn procedure(&mut self, id: ProcedureId, depth: usize) {
        if self.procedures[id.0].progress != ProcedureProgress::Declared {
            return;
        }
        self.procedures[id.0].progress = ProcedureProgress::Begun;
        let (name, body) = (self.procedures[id.0].name(), self.procedures[id.0].body());
        let mut is_right = self.procedures[id.0].params.iter().all(|(_, ty)| *ty != Type::None);
        let mut is_behind_fence = false;
        let mut called = Vec::new();
        each_statement(body, &mut |statement| match &statement.kind {
            Written::Write(_) | Written::Frame => is_behind_fence = true,
            Written::Expr(expr) => called.extend(self.called(expr).map(|(id, _)| (id, expr.span))),
            _ => {}
        });
        for (callee, span) in called {
            if depth == MOST_DEPTH
                && self.procedures[callee.0].progress == ProcedureProgress::Declared
            {
                self.report(too_deep(span));
                is_right = false;
                continue;
            }
            self.procedure(callee, depth + 1);
            let procedure = &self.procedures[callee.0];
            is_behind_fence |= procedure.is_behind_fence;
            if procedure.progress == ProcedureProgress::Begun {
                let message = format!("`{}` calls itself", procedure.name().text);
                self.mistake(span, message);
                is_right = false;
            }
        }
        self.procedures[id.0].is_behind_fence = is_behind_fence;
        let mistakes = self.sink.len();
        if is_right {
            let params = self.procedures[id.0].params.clone();
            let mut inner = Body::command(self, Subject::procedure(&name.text));
            inner.part = if is_behind_fence { Part::Leave } else { Part::Enter };
            for (name, ty) in params {
                inner.variable(name, ty, false);
            }
            inner.block(body);
            is_right = self.sink.len() == mistakes;
        }
        self.procedures[id.0].progress =
            if is_right { ProcedureProgress::Done } else { ProcedureProgress::Failed };
    }

    /// The procedure that an expression calls, with the arguments; `None` if it calls none.
    fn called<'e>(&self, expr: &'e ast::Expr) -> Option<(ProcedureId, &'e [ast::Expr])> {
        let ast::ExprKind::Call { function, arguments } = &expr.kind else { return None };
        let ast::ExprKind::Name(name) = &function.kind else { return None };
        match self.names.declared(name) {
            Some(Declared::Procedure(id)) => Some((id, arguments)),
            _ => None,
        }
    }
}

impl Subject {
    /// The subject of a procedure, without parameters and result: it does not see the command that calls it.
    fn procedure(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_procedure: true,
            names: Vec::new(),
            params: Vec::new(),
            result: None,
            reads: Default::default(),
            writes: Default::default(),
            ignores: Default::default(),
            by_registry: Default::default(),
            has_fence: true,
        }
    }
}

impl<'a> Body<'_, 'a> {
    /// Appends a procedure's statements to `into` if the expression calls a procedure.
    pub fn call_procedure(&mut self, expr: &ast::Expr, into: &mut Vec<Stmt>) -> Option<()> {
        let (id, arguments) = self.checker.called(expr)?;
        let params = self.checker.procedures[id.0].params.clone();
        let wanted: Vec<Type> = params.iter().map(|(_, ty)| ty.clone()).collect();
        let is_right = self.checker.procedures[id.0].progress == ProcedureProgress::Done;
        if is_right && let Some(values) = self.arguments(&wanted, arguments, expr.span) {
            self.expand(id, &params, values, expr.span, into);
        }
        Some(())
    }

    fn expand(
        &mut self,
        id: ProcedureId,
        params: &[(&'a ast::Name, Type)],
        values: Vec<Expr>,
        span: Span,
        into: &mut Vec<Stmt>,
    ) {
        if self.depth == MOST_DEPTH {
            self.report(too_deep(span));
            return;
        }
        if self.calls == MOST_CALLS {
            let message = format!("more than {MOST_CALLS} calls of procedures");
            self.mistake(span, message);
            return;
        }
        self.calls += 1;
        let mut bindings = Vec::new();
        for ((name, ty), value) in params.iter().zip(values) {
            let binding = match stands_for_itself(&value, ty) {
                true => Binding::Value(value),
                false => Binding::Local(self.argument(name, ty, value, into)),
            };
            bindings.push((name.text.clone(), binding));
        }
        let procedure = &self.checker.procedures[id.0];
        let (name, body) = (procedure.name(), procedure.body());
        let subject = self.subject.replace(Subject::procedure(&name.text));
        let scopes = std::mem::replace(&mut self.scopes, vec![bindings]);
        let reported = std::mem::take(&mut self.checker.sink);
        self.depth += 1;
        into.extend(self.block(body).statements);
        self.depth -= 1;
        let found = std::mem::replace(&mut self.checker.sink, reported);
        self.scopes = scopes;
        self.subject = subject;
        self.refuse_call(name, found, span);
    }

    /// A variable of the procedure's body that holds an argument.
    fn argument(
        &mut self,
        name: &ast::Name,
        ty: &Type,
        value: Expr,
        into: &mut Vec<Stmt>,
    ) -> LocalId {
        let program = &self.checker.program;
        let tools_only = analysis::untracked(&value, program, &self.locals).is_some();
        let of_procedure = format!("{}_{}", name.text, self.locals.len());
        let id = self.new_local(of_procedure, ty.clone(), tools_only);
        let span = value.span;
        into.push(Stmt { kind: StmtKind::Let(id, value), tools_only, span });
        id
    }

    /// Reports mistakes in the procedure's statements that only this call causes, with the span of the call.
    fn refuse_call(&mut self, name: &ast::Name, found: Sink, span: Span) {
        for mistake in found.into_sorted() {
            let message = format!("`{}` can't be called here: {}", name.text, mistake.message);
            let mut diagnostic = Diagnostic::at(span, message);
            for (place, text) in mistake.labels {
                let text = if text.is_empty() { "in the procedure".to_owned() } else { text };
                diagnostic = diagnostic.also(place, text);
            }
            self.report(Diagnostic { help: mistake.help, ..diagnostic });
        }
    }
}

/// Whether an argument can replace the parameter in the statements: it has no effect, the same value everywhere, and
/// the parameter's type.
fn stands_for_itself(value: &Expr, ty: &Type) -> bool {
    let is_fixed = matches!(
        value.kind,
        ExprKind::Bool(_)
            | ExprKind::Param(_)
            | ExprKind::Result
            | ExprKind::Local(_)
            | ExprKind::Variant(..)
    );
    is_fixed && value.ty == *ty
}

fn too_deep(span: Span) -> Diagnostic {
    Diagnostic::at(span, format!("procedures call each other more than {MOST_DEPTH} deep"))
}

/// Calls `see` with every statement of a block, nested ones included.
fn each_statement<'b>(block: &'b ast::Block, see: &mut dyn FnMut(&'b ast::Stmt)) {
    for statement in &block.statements {
        see(statement);
        match &statement.kind {
            Written::If { then, otherwise, .. } => {
                each_statement(then, see);
                otherwise.iter().for_each(|block| each_statement(block, see));
            }
            Written::Match { arms, .. } => {
                arms.iter().for_each(|arm| each_statement(&arm.body, see));
            }
            Written::For { body, .. } => each_statement(body, see),
            _ => {}
        }
    }
}
