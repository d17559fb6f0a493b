//! Effects of the parts of commands in the shim, and the items that descriptions refer to. A part that only changes
//! state that is not tracked has no effect there, and the shim runs no code for it. If one `match` or `if` over a
//! parameter holds all effects, the shim runs it for the matching values only.

use std::collections::BTreeMap;

use crate::lang::typed::{
    BinaryOp, Block, Command, Expr, ExprKind, Extent, Field, Function, LocalId, Pattern, Program,
    Scope, Stmt, StmtKind,
};
use crate::lang::walk::{map, map_extent, walk, walk_extent};
use crate::model::{Guard, StateParts};

/// Effects of a command's state mutator in the shim; `None` if it has none.
pub fn state(command: &Command) -> Option<StateParts> {
    let enter = Does::of(&command.enter);
    let leave = Does::of(&command.leave);
    let parts = StateParts {
        enter: enter.anything() || command.consumes,
        leave: leave.anything(),
        is_tracked: enter.changes || leave.changes,
        reads_ranges: enter.observes || command.consumes,
        enter_changes: enter.changes,
        reads_without_state: reads_without_state(&command.enter),
        writes_ranges: leave.observes,
    };
    (parts.enter || parts.leave).then_some(parts)
}

/// Whether a part observes memory that the arguments and other memory determine. What hand-written functions observe
/// depends on state.
fn reads_without_state(part: &Block) -> bool {
    let mut found = false;
    each(part, &mut |stmt| {
        if let StmtKind::Observe(observation) = &stmt.kind {
            found |= !matches!(observation.extent, Extent::By { .. } | Extent::Call { .. });
        }
    });
    found
}

/// The values of a parameter for which the shim runs the command's state mutator; `None` if it runs it for all
/// arguments.
pub fn guard(command: &Command) -> Option<Guard> {
    let statements = command.enter.statements.iter().chain(&command.leave.statements);
    let mut acting = statements.filter(|stmt| Does::by(stmt).anything() || makes_object(stmt));
    let (Some(only), None) = (acting.next(), acting.next()) else { return None };
    let (value, patterns) = match &only.kind {
        StmtKind::Match { value, arms, otherwise } if !Does::of(otherwise).anything() => {
            let acting = arms.iter().filter(|arm| Does::of(&arm.body).anything());
            (value, acting.flat_map(|arm| &arm.patterns).map(number).collect())
        }
        StmtKind::If { condition, otherwise, .. } if !Does::of(otherwise).anything() => {
            let ExprKind::Binary(BinaryOp::Equal, left, right) = &condition.kind else {
                return None;
            };
            let ExprKind::Int(value, _) = right.kind else { return None };
            (left.as_ref(), vec![u32::try_from(value).ok()])
        }
        _ => return None,
    };
    let ExprKind::Param(param) = value.kind else { return None };
    let values = patterns.into_iter().collect::<Option<_>>()?;
    (!command.consumes).then_some(Guard { param, values })
}

/// Whether the statement is a `let` whose value may create an object.
pub fn makes_object(stmt: &Stmt) -> bool {
    let StmtKind::Let(_, value) = &stmt.kind else { return false };
    let mut found = false;
    walk(value, &mut |inner| {
        found |= matches!(inner.kind, ExprKind::Create(..) | ExprKind::Bind(..));
    });
    found
}

fn number(pattern: &Pattern) -> Option<u32> {
    match pattern {
        Pattern::Int(value, _) => u32::try_from(*value).ok(),
        Pattern::Bool(_) | Pattern::Variant(..) => None,
    }
}

/// Effects of a part of a command.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Does {
    pub changes: bool,
    pub observes: bool,
    pub ends_frame: bool,
}

impl Does {
    pub fn of(part: &Block) -> Self {
        let mut does = Self::default();
        each(part, &mut |stmt| does.add(stmt, false));
        does
    }

    /// Effects in the shim of a statement and of those inside it.
    fn by(stmt: &Stmt) -> Self {
        Self::of(&Block { statements: vec![stmt.clone()] })
    }

    /// Effects of a part in the tools.
    pub fn in_tools(part: &Block) -> Self {
        let mut does = Self::default();
        each(part, &mut |stmt| does.add(stmt, true));
        does
    }

    /// Effects in the tools of a statement and of those inside it.
    pub fn by_in_tools(stmt: &Stmt) -> Self {
        Self::in_tools(&Block { statements: vec![stmt.clone()] })
    }

    pub fn anything(self) -> bool {
        self.changes || self.observes || self.ends_frame
    }

    fn add(&mut self, stmt: &Stmt, in_tools: bool) {
        if stmt.tools_only && !in_tools {
            return;
        }
        match &stmt.kind {
            StmtKind::Assign(..) | StmtKind::Act(_) => self.changes = true,
            StmtKind::Observe(_) => self.observes = true,
            StmtKind::Frame => self.ends_frame = true,
            _ => {}
        }
    }
}

/// Calls `see` with every statement of `block`, nested ones included.
pub fn each<'a>(block: &'a Block, see: &mut dyn FnMut(&'a Stmt)) {
    for stmt in &block.statements {
        see(stmt);
        match &stmt.kind {
            StmtKind::If { then, otherwise, .. } => {
                each(then, see);
                each(otherwise, see);
            }
            StmtKind::Match { arms, otherwise, .. } => {
                arms.iter().for_each(|arm| each(&arm.body, see));
                each(otherwise, see);
            }
            StmtKind::For { body, .. } => each(body, see),
            _ => {}
        }
    }
}

/// Iterates over all declared fields of states, objects and structs.
pub fn fields(program: &Program) -> impl Iterator<Item = &Field> {
    let scopes = [Scope::Context, Scope::ShareGroup, Scope::Thread, Scope::Process];
    let of_states = scopes.into_iter().flat_map(|scope| &program[scope].fields);
    let of_objects = program.objects.iter().flat_map(|object| &object.fields);
    of_states.chain(of_objects).chain(program.structs.iter().flat_map(|found| &found.fields))
}

/// Indices and names of the size tables that an extent uses.
pub fn tables(program: &Program, extent: &Extent) -> BTreeMap<usize, String> {
    let mut found = BTreeMap::new();
    walk_extent(extent, &mut |expr| {
        if let ExprKind::Sizes(id, _) = &expr.kind {
            found.insert(id.0, program[*id].name.clone());
        }
    });
    found
}

/// Whether evaluating the function calls a hand-written one.
pub fn calls_extern(program: &Program, function: &Function) -> bool {
    let calls = |expr: &Expr| {
        let mut found = false;
        walk(expr, &mut |inner| {
            found |= match &inner.kind {
                ExprKind::CallExtern(..) => true,
                ExprKind::Call(id, _) => calls_extern(program, &program[*id]),
                _ => false,
            };
        });
        found
    };
    function.lets.iter().any(|(_, value)| calls(value)) || calls(&function.value)
}

/// `extent` with calls of functions that depend on arguments alone replaced by the functions' bodies.
pub fn written_out(program: &Program, extent: &Extent) -> Extent {
    map_extent(extent, &mut |expr| inlined(program, expr))
}

/// `expr` with calls of functions replaced by the functions' bodies.
pub fn inlined(program: &Program, expr: &Expr) -> Expr {
    let ExprKind::Call(id, arguments) = &expr.kind else {
        return map(expr, &mut |inner| inlined(program, inner));
    };
    let function = &program[*id];
    let mut values: Vec<Option<Expr>> = vec![None; function.locals.len()];
    for (value, argument) in values.iter_mut().zip(arguments) {
        *value = Some(inlined(program, argument));
    }
    for (local, value) in &function.lets {
        let value = inlined(program, &substituted(value, &values));
        if let Some(place) = values.get_mut(local.0) {
            *place = Some(value);
        }
    }
    inlined(program, &substituted(&function.value, &values))
}

fn substituted(expr: &Expr, values: &[Option<Expr>]) -> Expr {
    match &expr.kind {
        ExprKind::Local(LocalId(at)) => {
            values.get(*at).cloned().flatten().unwrap_or_else(|| expr.clone())
        }
        _ => map(expr, &mut |inner| substituted(inner, values)),
    }
}
