//! Functions, each checked when it is first called, so that types need not be written.

use super::super::ast::{Item, ItemKind};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{Expr, ExprKind, Function, FunctionId, Type};
use super::Checker;
use super::analysis;
use super::body::Body;

/// How long a chain of calls may be.
const DEPTH: u32 = 32;

/// How far the checking of a function is.
#[derive(Clone, Copy)]
pub(super) enum Progress<'a> {
    Declared(&'a Item),
    Begun,
    Done,
    /// Its mistakes have been reported; whoever calls it is left alone.
    Failed,
}

impl Function {
    /// Stands in its place until it is checked.
    pub(super) fn placeholder(name: &str, docs: Vec<String>, api: String, span: Span) -> Self {
        Self {
            name: name.to_owned(),
            docs,
            api,
            locals: Vec::new(),
            params: 0,
            lets: Vec::new(),
            value: Expr { kind: ExprKind::None, ty: Type::None, span },
            result: Type::None,
            tools_only: false,
            of_arguments: false,
            span,
        }
    }
}

impl<'a> Checker<'a> {
    pub(super) fn check_functions(&mut self) {
        for at in 0..self.functions.len() {
            self.function(FunctionId(at), None);
        }
    }

    /// Checks a function if that has not been done; whether it is right.
    pub(super) fn function(&mut self, id: FunctionId, caller: Option<Span>) -> bool {
        match self.functions[id.0] {
            Progress::Done => true,
            Progress::Failed => false,
            Progress::Begun => {
                let message = format!("`{}` calls itself", self.program[id].name);
                self.mistake(caller.unwrap_or(self.program[id].span), message);
                false
            }
            Progress::Declared(_) if self.depth == DEPTH => {
                let span = caller.unwrap_or(self.program[id].span);
                let message = format!("more than {DEPTH} functions call one another");
                self.mistake(span, message);
                false
            }
            Progress::Declared(item) => {
                self.functions[id.0] = Progress::Begun;
                self.depth += 1;
                let done = self.function_body(id, item).is_some();
                self.depth -= 1;
                self.functions[id.0] = if done { Progress::Done } else { Progress::Failed };
                done
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
                Diagnostic::at(name.span, format!("what is the type of `{}`?", name.text));
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
