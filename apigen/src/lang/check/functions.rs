//! Functions. Each is checked before its callers, so that the type of its result need not be written. A function that
//! calls itself is a mistake; one that reads a field that is not tracked exists in tools only.

use super::super::ast::{Expr, ExprKind, Item, ItemKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{self, Function, FunctionId, Type};
use super::analysis;
use super::body::Body;
use super::checker::Checker;
use super::names::Declared;
use super::progress::Progress;

impl Function {
    /// An entry for a function that has not been checked.
    pub(super) fn placeholder(name: &str, docs: Vec<String>, api: String, span: Span) -> Self {
        Self {
            name: name.to_owned(),
            docs,
            api,
            locals: Vec::new(),
            params: 0,
            lets: Vec::new(),
            value: typed::Expr { kind: typed::ExprKind::None, ty: Type::None, span },
            result: Type::None,
            tools_only: false,
            of_arguments: false,
            span,
        }
    }
}

impl<'a> Checker<'a> {
    /// Checks all functions, callees first: a callee's type may determine its caller's.
    pub(super) fn check_functions(&mut self) {
        for at in 0..self.functions.len() {
            let mut open = vec![FunctionId(at)];
            while let Some(id) = open.last().copied() {
                let (Progress::Declared(item) | Progress::Begun(item)) = self.functions[id.0]
                else {
                    open.pop();
                    continue;
                };
                let called = self.called_first(item);
                self.functions[id.0] = Progress::Begun(item);
                if called.is_empty() {
                    let done = self.function_body(id, item).is_some();
                    self.functions[id.0] = if done { Progress::Done } else { Progress::Failed };
                } else {
                    open.extend(called);
                }
            }
        }
    }

    /// Functions that `item` calls and whose check has not begun.
    fn called_first(&self, item: &Item) -> Vec<FunctionId> {
        let ItemKind::Function { body, .. } = &item.kind else { return Vec::new() };
        let mut called = Vec::new();
        let mut note = |name: &str| {
            if let Some(Declared::Function(id)) = self.names.declared(name)
                && matches!(self.functions[id.0], Progress::Declared(_))
            {
                called.push(id);
            }
        };
        for expr in body.lets.iter().map(|(_, value)| value).chain([&body.result]) {
            names_in(expr, &mut note);
        }
        called
    }

    /// Whether a function can be called: it has no mistakes and does not call the caller.
    pub(super) fn is_callable(&mut self, id: FunctionId, caller: Span) -> bool {
        match self.functions[id.0] {
            Progress::Done => true,
            Progress::Failed => false,
            Progress::Declared(_) | Progress::Begun(_) => {
                let message = format!("`{}` calls itself", self.program[id].name);
                self.mistake(caller, message);
                false
            }
        }
    }

    fn function_body(&mut self, id: FunctionId, item: &Item) -> Option<()> {
        let ItemKind::Function { name, result, body, .. } = &item.kind else { return None };
        let declared = self.program[id].result.clone();
        let locals = self.program[id].locals.clone();
        if locals.iter().any(|local| local.ty == Type::None)
            || (result.is_some() && declared == Type::None)
        {
            return None;
        }
        let mut inner = Body::function(self, locals);
        let mut lets = Vec::new();
        for (name, value) in &body.lets {
            let value = inner.infer(value)?;
            lets.push((inner.let_(name, &value), value));
        }
        let value = match result {
            Some(_) => inner.check(&body.result, &declared)?,
            None => inner.infer(&body.result)?,
        };
        let locals = std::mem::take(&mut inner.locals);
        if value.ty == Type::None {
            let help = "say the type of the result: `fn name(…): type { … }`";
            let mistake =
                Diagnostic::at(name.span, format!("the type of `{}` is unknown", name.text));
            self.report(mistake.help(help));
            return None;
        }
        let all = || lets.iter().map(|(_, value)| value).chain([&value]);
        let tools_only =
            all().any(|expr| analysis::untracked(expr, &self.program, &locals).is_some());
        let of_arguments = all().all(|expr| analysis::is_of_arguments(expr, &self.program, true));
        let is_plain = declared == Type::None;
        let function = &mut self.program.functions[id.0];
        function.tools_only = tools_only;
        function.of_arguments = of_arguments;
        if is_plain {
            function.result = value.ty.clone();
        }
        function.locals = locals;
        function.lets = lets;
        function.value = value;
        Some(())
    }
}

/// Calls `note` with every name in an expression.
fn names_in(expr: &Expr, note: &mut dyn FnMut(&str)) {
    match &expr.kind {
        ExprKind::Name(name) => note(name),
        ExprKind::Member(inner, _) | ExprKind::Unary(_, inner) => names_in(inner, note),
        ExprKind::Index(left, right) | ExprKind::Binary(_, left, right) => {
            names_in(left, note);
            names_in(right, note);
        }
        ExprKind::Call { function, arguments } => {
            names_in(function, note);
            arguments.iter().for_each(|argument| names_in(argument, note));
        }
        ExprKind::If { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|inner| names_in(inner, note));
        }
        ExprKind::Match { value, arms } => {
            names_in(value, note);
            arms.iter().for_each(|arm| names_in(&arm.body, note));
        }
        _ => {}
    }
}
