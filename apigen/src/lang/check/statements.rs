//! Statements: their order around the fence, and which of them run in the shim. A body has one `fence;` at most, at its
//! outermost level. A statement that changes state that is not tracked runs in tools only; one that changes tracked
//! state or observes memory may not depend on state that is not tracked.

use super::super::ast::{self, StmtKind as Written};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{
    Arm, Block, Direction, Expr, ExprKind, Extent, Place, Stmt, StmtKind, Type,
};
use super::analysis;
use super::body::{Body, Part};

/// A statement, and whether it exists in the tools only.
type Typed = Option<(StmtKind, bool)>;

impl Body<'_, '_> {
    pub fn block(&mut self, block: &ast::Block) -> Block {
        self.in_scope(|body| {
            let mut statements = Vec::new();
            for statement in &block.statements {
                body.statement(statement, &mut statements);
            }
            Block { statements }
        })
    }

    /// Both parts of a command's body: the statements before the fence, and those behind it.
    pub fn parts(&mut self, block: &ast::Block) -> (Block, Block) {
        let mut statements = Vec::new();
        let mut enter = None;
        for statement in &block.statements {
            if matches!(statement.kind, Written::Fence) {
                self.fence(statement.span, enter.is_some());
                if enter.is_none() {
                    enter = Some(std::mem::take(&mut statements));
                }
            } else {
                self.statement(statement, &mut statements);
            }
        }
        let mut parts = match enter {
            Some(enter) => (Block { statements: enter }, Block { statements }),
            None => (Block { statements }, Block::default()),
        };
        let program = &self.checker.program;
        analysis::mark_tools_only(&mut parts.0, &mut self.locals, program);
        analysis::mark_tools_only(&mut parts.1, &mut self.locals, program);
        parts
    }

    fn fence(&mut self, span: Span, is_second: bool) {
        if is_second {
            let help = "the driver is called once";
            self.report(Diagnostic::at(span, "second `fence;`").help(help));
        }
        self.part = Part::Leave;
        self.returned = false;
        self.meanings.clear();
    }

    fn statement(&mut self, statement: &ast::Stmt, into: &mut Vec<Stmt>) {
        if let Written::Expr(expr) = &statement.kind
            && self.call_procedure(expr, into).is_some()
        {
            return;
        }
        if let Some((kind, tools_only)) = self.statement_kind(statement) {
            let mut typed = Stmt { kind, tools_only, span: statement.span };
            if tools_only {
                self.keep_actions(&mut typed, into);
            }
            into.push(typed);
        }
    }

    /// Moves the parts of a `tools_only` statement that change tracked state into a separate statement, which the shim
    /// runs.
    fn keep_actions(&mut self, statement: &mut Stmt, into: &mut Vec<Stmt>) {
        let mut values: Vec<&mut Expr> = Vec::new();
        match &mut statement.kind {
            StmtKind::Assign(_, value) => values.push(value),
            StmtKind::Act(expr) => match &mut expr.kind {
                ExprKind::Push(_, value) => values.push(value),
                ExprKind::CallExtern(_, arguments) => values.extend(arguments),
                _ => {}
            },
            _ => {}
        }
        for value in values {
            if analysis::acts(value, &self.checker.program) {
                let name = format!("kept_{}", self.locals.len());
                let id = self.new_local(name, value.ty.clone(), false);
                let (ty, span) = (value.ty.clone(), value.span);
                let local = Expr { kind: ExprKind::Local(id), ty, span };
                let kind = StmtKind::Let(id, std::mem::replace(value, local));
                into.push(Stmt { kind, tools_only: false, span });
            }
        }
    }

    fn statement_kind(&mut self, statement: &ast::Stmt) -> Typed {
        let span = statement.span;
        match &statement.kind {
            Written::Fence => {
                let help = "move it to the outermost level of the command";
                self.report(Diagnostic::at(span, "`fence;` inside of braces").help(help));
                None
            }
            Written::Frame => {
                if self.part == Part::Enter {
                    let message = "a frame ends when the driver has returned";
                    self.report(Diagnostic::at(span, message).help("put it behind the `fence;`"));
                }
                self.require_unconditional_tracking(span);
                Some((StmtKind::Frame, false))
            }
            Written::Return
                if self.subject.as_ref().is_some_and(|subject| subject.is_procedure) =>
            {
                let help = "use an `if` around the statements that follow";
                self.report(Diagnostic::at(span, "`return` in a procedure").help(help));
                None
            }
            Written::Return => {
                self.require_unconditional_tracking(span);
                self.returned = true;
                Some((StmtKind::Return, false))
            }
            Written::Let { name, value } => self.let_statement(name, value),
            Written::Assign { place, value } => self.assign(place, value, span),
            Written::Expr(expr) => self.act(expr),
            Written::If { condition, then, otherwise } => {
                let condition = self.condition(condition);
                let (then, otherwise) = self.under(condition.as_ref(), |body| {
                    let then = body.block(then);
                    (
                        then,
                        otherwise.as_ref().map_or_else(Block::default, |block| body.block(block)),
                    )
                });
                Some((StmtKind::If { condition: condition?, then, otherwise }, false))
            }
            Written::Match { value, arms } => self.match_statement(value, arms),
            Written::For { variable, from, to, body } => {
                let (from, to) = (self.integer(from), self.integer(to));
                let bounds = from.as_ref().into_iter().chain(&to);
                let untracked = bounds.filter_map(|bound| self.untracked(bound)).next();
                let (id, inner) = self.under_untracked(untracked.clone(), |outer| {
                    outer.in_scope(|scope| {
                        let id = scope.variable(variable, Type::INT, untracked.is_some());
                        (id, scope.block(body))
                    })
                });
                Some((StmtKind::For { variable: id, from: from?, to: to?, body: inner }, false))
            }
            Written::Read(extent) => {
                self.observe(Direction::In, extent, span).map(|kind| (kind, false))
            }
            Written::Write(extent) => {
                self.observe(Direction::Out, extent, span).map(|kind| (kind, false))
            }
            Written::Ignore(names) => {
                for name in names {
                    self.ignore(name);
                }
                None
            }
        }
    }

    fn ignore(&mut self, name: &ast::Name) {
        let Some(param) = self.existing_param(name) else { return };
        let Some(subject) = &self.subject else { return };
        if subject.params[param].ty != Type::Address {
            self.mistake(name.span, format!("`{}` is not a pointer", name.text));
        } else if subject.reads.contains(&param) || subject.writes.contains(&param) {
            self.mistake(name.span, format!("`{}` is both observed and ignored", name.text));
        }
    }

    fn let_statement(&mut self, name: &ast::Name, value: &ast::Expr) -> Typed {
        let Some(value) = self.infer(value) else {
            // The variable is declared anyway, so that its uses cause no further mistakes.
            self.variable(name, Type::None, false);
            return None;
        };
        if value.ty == Type::None {
            self.mistake(value.span, "this expression has no value");
            self.variable(name, Type::None, false);
            return None;
        }
        let id = self.let_(name, &value);
        if let Some(meaning) = analysis::written_out(&value, &self.meanings)
            && analysis::is_of_arguments(&meaning, &self.checker.program, false)
        {
            self.meanings.insert(id, meaning);
        }
        let tools_only = self.locals[id.0].tools_only;
        Some((StmtKind::Let(id, value), tools_only))
    }

    fn assign(&mut self, place: &ast::Expr, value: &ast::Expr, span: Span) -> Typed {
        let place = self.place(place);
        let value = match &place {
            Some(place) => self.check(value, &place.ty.clone()),
            None => self.infer(value),
        };
        let (place, value) = (place?, value?);
        self.require_tracked_change(&place, Some(&value), span);
        let tools_only = !place.tracked;
        Some((StmtKind::Assign(place, value), tools_only))
    }

    /// An expression as a statement. It must have an effect.
    fn act(&mut self, expr: &ast::Expr) -> Typed {
        let span = expr.span;
        let expr = self.infer(expr)?;
        if !expr.kind.is_action(&self.checker.program) {
            self.mistake(span, "the value of this expression is not used");
            return None;
        }
        let tools_only = match &expr.kind {
            ExprKind::Push(place, value) | ExprKind::Remove(place, value) => {
                self.require_tracked_change(place, Some(value), span);
                !place.tracked
            }
            ExprKind::Clear(place) => {
                self.require_tracked_change(place, None, span);
                !place.tracked
            }
            ExprKind::Create(object, _)
            | ExprKind::Bind(object, _)
            | ExprKind::Delete(object, _) => !self.checker.program[*object].tracked,
            ExprKind::CallExtern(function, arguments) => {
                let tools_only = self.checker.program[*function].tools_only;
                if !tools_only {
                    for argument in arguments {
                        self.require_tracked(argument, "a call in the shim");
                    }
                    self.require_unconditional_tracking(span);
                }
                tools_only
            }
            _ => false,
        };
        Some((StmtKind::Act(expr), tools_only))
    }

    fn match_statement(&mut self, value: &ast::Expr, arms: &[ast::Arm<ast::Block>]) -> Typed {
        let value = self.infer(value);
        let patterns = value.as_ref().and_then(|value| self.patterns(value, arms));
        let blocks = self.under(value.as_ref(), |body| {
            arms.iter().map(|arm| body.block(&arm.body)).collect::<Vec<_>>()
        });
        let mut cases = Vec::new();
        let mut otherwise = Block::default();
        for (patterns, block) in patterns?.into_iter().zip(blocks) {
            match patterns {
                Some(patterns) => cases.push(Arm { patterns, body: block }),
                None => otherwise = block,
            }
        }
        Some((StmtKind::Match { value: value?, arms: cases, otherwise }, false))
    }

    /// Checks `inner` as statements that depend on `condition`.
    fn under<T>(&mut self, condition: Option<&Expr>, inner: impl FnOnce(&mut Self) -> T) -> T {
        let untracked = condition.and_then(|condition| self.untracked(condition));
        self.under_untracked(untracked, inner)
    }

    fn under_untracked<T>(
        &mut self,
        untracked: Option<String>,
        inner: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let before = self.conditions.len();
        self.conditions.extend(untracked);
        self.nesting += 1;
        let done = inner(self);
        self.nesting -= 1;
        self.conditions.truncate(before);
        done
    }

    fn untracked(&self, expr: &Expr) -> Option<String> {
        analysis::untracked(expr, &self.checker.program, &self.locals)
    }

    /// Checks that a change of a tracked place depends on tracked state only.
    fn require_tracked_change(&mut self, place: &Place, value: Option<&Expr>, span: Span) {
        if !place.tracked {
            return;
        }
        let name = analysis::place_name(place, &self.checker.program);
        let what = format!("`{name}`, which is tracked,");
        let mut all: Vec<&Expr> = value.into_iter().collect();
        analysis::place_children(place, &mut |expr| all.push(expr));
        for expr in all {
            self.require_tracked(expr, &what);
        }
        self.require_unconditional_tracking(span);
    }

    pub fn require_tracked_extent(&mut self, extent: &Extent) {
        let mut all = Vec::new();
        analysis::extent_children(extent, &mut |expr| all.push(expr.clone()));
        for expr in all {
            self.require_tracked(&expr, "the observed memory");
        }
    }

    pub fn require_tracked(&mut self, expr: &Expr, what: &str) {
        if let Some(name) = self.untracked(expr) {
            let message = format!("{what} depends on `{name}`, which is not tracked");
            let help = "the shim does not have it: mark the field `@tracked`";
            self.report(Diagnostic::at(expr.span, message).help(help));
        }
    }

    /// Checks that the conditions around a statement of the shim depend on tracked state only.
    pub fn require_unconditional_tracking(&mut self, span: Span) {
        if let Some(name) = self.conditions.last() {
            let message =
                format!("a condition around this depends on `{name}`, which is not tracked");
            let help = "the shim does not have it: mark the field `@tracked`";
            self.report(Diagnostic::at(span, message).help(help));
        }
    }
}
