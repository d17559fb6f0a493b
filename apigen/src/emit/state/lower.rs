//! Moves calls of hand-written functions out of expressions. Afterwards such a function is called only as the value of
//! a `let`, as a statement, or by an observation.
//!
//! Generated code holds locks and borrows between these calls, never during one. Functions of descriptions that call a
//! hand-written function are inlined. Lowered code may evaluate a call that a condition would have skipped. This is
//! harmless: these functions have no effects and can't fail.
//!
//! A command that display lists have changes state only where it is executed: its changes get that condition
//! ([`ExprKind::Executes`]), and its observations do not.

use crate::lang::typed::{
    Arm, Block, Command, Expr, ExprKind, Extent, ExternKind, FunctionId, Local, LocalId,
    Observation, Place, Program, Stmt, StmtKind, Type,
};
use crate::lang::walk::{map, map_extent, map_place};
use crate::parts::{Does, calls_extern, makes_object};

/// Both parts of a command without calls inside expressions, and the variables of both.
pub struct Lowered {
    pub locals: Vec<Local>,
    pub enter: Block,
    pub leave: Block,
}

pub fn lower(program: &Program, command: &Command) -> Lowered {
    let mut lowering = Lowering { program, locals: command.locals.clone() };
    let mut enter = lowering.block(&command.enter);
    let mut leave = lowering.block(&command.leave);
    if program.is_compiled(command) {
        (enter, leave) = (if_executed(enter), if_executed(leave));
    }
    Lowered { locals: lowering.locals, enter, leave }
}

/// Puts the changes of a part under the condition that the command is executed. A part that observes nothing is so as a whole.
fn if_executed(block: Block) -> Block {
    let does = Does::in_tools(&block);
    if !does.changes {
        return block;
    }
    let mut statements = Vec::new();
    let mut changes = Vec::new();
    for stmt in block.statements {
        let own = Does::by_in_tools(&stmt);
        if !does.observes || own.changes && !own.observes {
            changes.push(stmt);
            continue;
        }
        end_changes(&mut changes, &mut statements);
        statements.push(Stmt { kind: inside_if_executed(stmt.kind), ..stmt });
    }
    end_changes(&mut changes, &mut statements);
    Block { statements }
}

fn end_changes(changes: &mut Vec<Stmt>, statements: &mut Vec<Stmt>) {
    if !changes.iter().any(|stmt| Does::by_in_tools(stmt).changes || makes_object(stmt)) {
        return statements.append(changes);
    }
    let then = Block { statements: std::mem::take(changes) };
    let tools_only = then.statements.iter().all(|stmt| stmt.tools_only);
    let span = then.statements.first().map(|stmt| stmt.span).unwrap_or_default();
    let condition = Expr { kind: ExprKind::Executes, ty: Type::Bool, span };
    let kind = StmtKind::If { condition, then, otherwise: Block::default() };
    statements.push(Stmt { kind, tools_only, span });
}

fn inside_if_executed(kind: StmtKind) -> StmtKind {
    match kind {
        StmtKind::If { condition, then, otherwise } => {
            StmtKind::If { condition, then: if_executed(then), otherwise: if_executed(otherwise) }
        }
        StmtKind::Match { value, arms, otherwise } => {
            let arms = arms.into_iter().map(|arm| Arm { body: if_executed(arm.body), ..arm });
            StmtKind::Match { value, arms: arms.collect(), otherwise: if_executed(otherwise) }
        }
        StmtKind::For { variable, from, to, body } => {
            StmtKind::For { variable, from, to, body: if_executed(body) }
        }
        kind => kind,
    }
}

struct Lowering<'a> {
    program: &'a Program,
    locals: Vec<Local>,
}

impl Lowering<'_> {
    fn block(&mut self, block: &Block) -> Block {
        let mut statements = Vec::new();
        for stmt in &block.statements {
            let mut before = Before { statements: &mut statements, tools_only: stmt.tools_only };
            let kind = self.stmt(&stmt.kind, &mut before);
            statements.push(Stmt { kind, ..*stmt });
        }
        Block { statements }
    }

    fn stmt(&mut self, kind: &StmtKind, before: &mut Before<'_>) -> StmtKind {
        match kind {
            StmtKind::Let(local, value) => StmtKind::Let(*local, self.root(value, before)),
            StmtKind::Assign(place, value) => {
                let value = self.top(value, before);
                StmtKind::Assign(self.place(place, before), value)
            }
            StmtKind::Act(action) => StmtKind::Act(self.root(action, before)),
            StmtKind::If { condition, then, otherwise } => StmtKind::If {
                condition: self.expr(condition, before),
                then: self.block(then),
                otherwise: self.block(otherwise),
            },
            StmtKind::Match { value, arms, otherwise } => StmtKind::Match {
                value: self.expr(value, before),
                arms: arms
                    .iter()
                    .map(|arm| Arm { patterns: arm.patterns.clone(), body: self.block(&arm.body) })
                    .collect(),
                otherwise: self.block(otherwise),
            },
            StmtKind::For { variable, from, to, body } => StmtKind::For {
                variable: *variable,
                from: self.expr(from, before),
                to: self.expr(to, before),
                body: self.block(body),
            },
            StmtKind::Observe(observation) => StmtKind::Observe(Observation {
                extent: self.extent(&observation.extent, before),
                ..observation.clone()
            }),
            StmtKind::Frame => StmtKind::Frame,
            StmtKind::Return => StmtKind::Return,
        }
    }

    /// Lowers an expression that is the whole value of a `let` or a whole statement. Its outermost call stays.
    fn root(&mut self, expr: &Expr, before: &mut Before<'_>) -> Expr {
        match &expr.kind {
            ExprKind::CallExtern(id, arguments) => {
                let arguments = self.all(arguments, before);
                Expr { kind: ExprKind::CallExtern(*id, arguments), ..expr.clone() }
            }
            _ => self.top(expr, before),
        }
    }

    /// Lowers an expression whose value is used directly: an object lookup there needs no variable.
    fn top(&mut self, expr: &Expr, before: &mut Before<'_>) -> Expr {
        match &expr.kind {
            ExprKind::Find(object, name) => {
                let name = Box::new(self.expr(name, before));
                Expr { kind: ExprKind::Find(*object, name), ..expr.clone() }
            }
            _ => self.expr(expr, before),
        }
    }

    fn expr(&mut self, expr: &Expr, before: &mut Before<'_>) -> Expr {
        match &expr.kind {
            ExprKind::CallExtern(id, arguments)
                if self.program[*id].kind == ExternKind::Function =>
            {
                let name = self.program[*id].name.clone();
                let arguments = self.all(arguments, before);
                let call = Expr { kind: ExprKind::CallExtern(*id, arguments), ..expr.clone() };
                self.variable(&name, call, before)
            }
            ExprKind::Call(id, arguments) if calls_extern(self.program, &self.program[*id]) => {
                let arguments = self.all(arguments, before);
                self.write_out(*id, arguments, before)
            }
            ExprKind::Find(object, name) => {
                let name = Box::new(self.expr(name, before));
                let find = Expr { kind: ExprKind::Find(*object, name), ..expr.clone() };
                self.variable("found", find, before)
            }
            _ => map(expr, &mut |inner| self.expr(inner, before)),
        }
    }

    fn all(&mut self, exprs: &[Expr], before: &mut Before<'_>) -> Vec<Expr> {
        exprs.iter().map(|expr| self.expr(expr, before)).collect()
    }

    /// Declares a new variable with the value, and returns an expression for it.
    fn variable(&mut self, name: &str, value: Expr, before: &mut Before<'_>) -> Expr {
        let (ty, span) = (value.ty.clone(), value.span);
        let local = self.local(name, ty.clone(), before.tools_only);
        before.push(StmtKind::Let(local, value));
        Expr { kind: ExprKind::Local(local), ty, span }
    }

    fn local(&mut self, name: &str, ty: Type, tools_only: bool) -> LocalId {
        let id = LocalId(self.locals.len());
        let name = format!("{name}_{}", id.0);
        self.locals.push(Local { name, ty, tools_only });
        id
    }

    /// Replaces a call of a function by the function's body.
    fn write_out(&mut self, id: FunctionId, arguments: Vec<Expr>, before: &mut Before<'_>) -> Expr {
        let program = self.program;
        let function = &program[id];
        let locals: Vec<LocalId> = function
            .locals
            .iter()
            .map(|local| self.local(&local.name, local.ty.clone(), before.tools_only))
            .collect();
        for (local, argument) in locals.iter().zip(arguments) {
            before.push(StmtKind::Let(*local, argument));
        }
        for (local, value) in &function.lets {
            let value = self.expr(&renamed(value, &locals), before);
            if let Some(local) = locals.get(local.0) {
                before.push(StmtKind::Let(*local, value));
            }
        }
        let value = self.expr(&renamed(&function.value, &locals), before);
        let (ty, span) = (function.result.clone(), value.span);
        let result = self.local(&function.name, ty.clone(), before.tools_only);
        before.push(StmtKind::Let(result, value));
        Expr { kind: ExprKind::Local(result), ty, span }
    }

    fn place(&mut self, place: &Place, before: &mut Before<'_>) -> Place {
        map_place(place, &mut |inner| self.expr(inner, before))
    }

    fn extent(&mut self, extent: &Extent, before: &mut Before<'_>) -> Extent {
        map_extent(extent, &mut |inner| self.expr(inner, before))
    }
}

/// Destination of the statements that must run before the statement that is being lowered.
struct Before<'a> {
    statements: &'a mut Vec<Stmt>,
    tools_only: bool,
}

impl Before<'_> {
    fn push(&mut self, kind: StmtKind) {
        self.statements.push(Stmt { kind, tools_only: self.tools_only, span: Default::default() });
    }
}

fn renamed(expr: &Expr, locals: &[LocalId]) -> Expr {
    match &expr.kind {
        ExprKind::Local(id) => {
            let id = locals.get(id.0).copied().unwrap_or(*id);
            Expr { kind: ExprKind::Local(id), ..expr.clone() }
        }
        _ => map(expr, &mut |inner| renamed(inner, locals)),
    }
}
