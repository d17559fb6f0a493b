//! Analyses of typed expressions: their parts, and whether they depend on arguments alone or on state that is not
//! tracked, which the shim lacks. An expression of more than 256 nodes (`MOST_NODES`) when its variables are written
//! out makes a range instead of a slot.

use std::collections::{BTreeMap, BTreeSet};

use super::super::typed::{
    Block, Expr, ExprKind, Extent, Local, LocalId, Place, Program, Root, Step, Stmt, StmtKind,
};

/// Maximum number of nodes of an expression that is written out for a slot.
const MOST_NODES: usize = 256;

/// Calls `visit` with the direct subexpressions of `kind`.
pub(super) fn children<'t>(kind: &'t ExprKind, visit: &mut dyn FnMut(&'t Expr)) {
    match kind {
        ExprKind::Bool(_)
        | ExprKind::Int(..)
        | ExprKind::Float(_)
        | ExprKind::Text(_)
        | ExprKind::None
        | ExprKind::Variant(..)
        | ExprKind::Param(_)
        | ExprKind::Result
        | ExprKind::Local(_)
        | ExprKind::LayoutField(_)
        | ExprKind::State(..)
        | ExprKind::Version(..)
        | ExprKind::Desktop(..)
        | ExprKind::FixedFunction
        | ExprKind::Executes
        | ExprKind::HasExtension(_) => {}
        ExprKind::ObjectField(_, inner, _)
        | ExprKind::StructField(_, inner, _)
        | ExprKind::NameOf(_, inner)
        | ExprKind::Memory { index: inner, .. }
        | ExprKind::MemoryBytes { count: inner, .. }
        | ExprKind::IsNull(inner)
        | ExprKind::Sizes(_, inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::Convert(inner)
        | ExprKind::Len(inner)
        | ExprKind::Create(_, inner)
        | ExprKind::Bind(_, inner)
        | ExprKind::Find(_, inner)
        | ExprKind::Delete(_, inner) => visit(inner),
        ExprKind::Index(left, right)
        | ExprKind::Lookup(left, right)
        | ExprKind::Binary(_, left, right)
        | ExprKind::OrElse(left, right)
        | ExprKind::Min(left, right)
        | ExprKind::Max(left, right)
        | ExprKind::Contains { map: left, key: right } => {
            visit(left);
            visit(right);
        }
        ExprKind::Attribute { key, default, end, .. } => {
            [key, default, end].into_iter().for_each(|inner| visit(inner));
        }
        ExprKind::MemoryText { extent, .. } => extent_children(extent, visit),
        ExprKind::Call(_, arguments) | ExprKind::CallExtern(_, arguments) => {
            arguments.iter().for_each(visit);
        }
        ExprKind::If(condition, then, otherwise) => {
            visit(condition);
            visit(then);
            visit(otherwise);
        }
        ExprKind::Match { value, arms, otherwise } => {
            visit(value);
            arms.iter().for_each(|arm| visit(&arm.body));
            visit(otherwise);
        }
        ExprKind::Push(place, value) | ExprKind::Remove(place, value) => {
            place_children(place, visit);
            visit(value);
        }
        ExprKind::Clear(place) => place_children(place, visit),
    }
}

pub(super) fn place_children<'t>(place: &'t Place, visit: &mut dyn FnMut(&'t Expr)) {
    if let Root::Object(_, object, _) = &place.root {
        visit(object);
    }
    for step in &place.steps {
        match step {
            Step::Index(expr) | Step::Key(expr) => visit(expr),
            Step::Field(..) => {}
        }
    }
}

pub(super) fn extent_children<'t>(extent: &'t Extent, visit: &mut dyn FnMut(&'t Expr)) {
    match extent {
        Extent::Elements(expr)
        | Extent::Counted { most: expr, .. }
        | Extent::TextOf { length: expr, .. }
        | Extent::Strings { count: expr, .. }
        | Extent::Chain { count: expr, .. }
        | Extent::Attributes { end: expr } => visit(expr),
        Extent::Text { within } => within.iter().for_each(visit),
        Extent::Slice(from, to) | Extent::Memory { address: from, bytes: to } => {
            visit(from);
            visit(to);
        }
        Extent::By { arguments, .. } | Extent::Call { arguments, .. } => {
            arguments.iter().for_each(visit);
        }
        Extent::AnyChain => {}
    }
}

/// The name of a field, function or variable that `expr` depends on and that the shim does not have; `None` if the
/// shim has all of them.
pub(super) fn untracked(expr: &Expr, program: &Program, locals: &[Local]) -> Option<String> {
    let own = match &expr.kind {
        ExprKind::State(scope, field) => {
            let field = &program[*scope].fields[*field];
            (!field.tracked).then(|| field.name.clone())
        }
        ExprKind::ObjectField(object, _, field) => {
            let object = &program[*object];
            let field = &object.fields[*field];
            (!field.tracked).then(|| format!("{}.{}", object.name, field.name))
        }
        ExprKind::Create(object, _)
        | ExprKind::Bind(object, _)
        | ExprKind::Find(object, _)
        | ExprKind::Delete(object, _) => {
            let object = &program[*object];
            (!object.tracked).then(|| object.name.clone())
        }
        ExprKind::Local(id) => {
            let local = locals.get(id.0).filter(|local| local.tools_only);
            local.map(|local| local.name.clone())
        }
        ExprKind::Call(id, _) => {
            let function = &program[*id];
            function.tools_only.then(|| function.name.clone())
        }
        ExprKind::CallExtern(id, _) => {
            let function = &program[*id];
            function.tools_only.then(|| function.name.clone())
        }
        ExprKind::Push(place, _) | ExprKind::Remove(place, _) | ExprKind::Clear(place) => {
            (!place.tracked).then(|| place_name(place, program))
        }
        _ => None,
    };
    let mut found = own;
    children(&expr.kind, &mut |inner| {
        if found.is_none() {
            found = untracked(inner, program, locals);
        }
    });
    found
}

/// The name of the field that contains `place`.
pub(super) fn place_name(place: &Place, program: &Program) -> String {
    match &place.root {
        Root::State(scope, field) => program[*scope].fields[*field].name.clone(),
        Root::Object(object, _, field) => {
            let object = &program[*object];
            format!("{}.{}", object.name, object.fields[*field].name)
        }
    }
}

/// Whether an expression depends on arguments alone. Inside a function its variables count as arguments.
pub(super) fn is_of_arguments(expr: &Expr, program: &Program, in_function: bool) -> bool {
    let own = match &expr.kind {
        ExprKind::Bool(_)
        | ExprKind::Int(..)
        | ExprKind::Float(_)
        | ExprKind::None
        | ExprKind::Variant(..)
        | ExprKind::Param(_)
        | ExprKind::IsNull(_)
        | ExprKind::Sizes(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::If(..)
        | ExprKind::Match { .. }
        | ExprKind::Convert(_)
        | ExprKind::Min(..)
        | ExprKind::Max(..) => true,
        ExprKind::Local(_) => in_function,
        ExprKind::Call(id, _) => program[*id].of_arguments,
        _ => false,
    };
    let mut all = own;
    children(&expr.kind, &mut |inner| all = all && is_of_arguments(inner, program, in_function));
    all
}

/// `expr` with variables replaced by their values; `None` if the value of a variable is unknown, or if the result
/// would have more than [`MOST_NODES`] nodes.
pub(super) fn written_out(expr: &Expr, meanings: &BTreeMap<LocalId, Expr>) -> Option<Expr> {
    if nodes(expr, meanings) > MOST_NODES {
        return None;
    }
    let mut expr = expr.clone();
    replace(&mut expr, meanings)?;
    Some(expr)
}

fn nodes(expr: &Expr, meanings: &BTreeMap<LocalId, Expr>) -> usize {
    if let ExprKind::Local(id) = &expr.kind {
        return meanings.get(id).map_or(1, |meaning| nodes(meaning, &BTreeMap::new()));
    }
    let mut sum = 1_usize;
    children(&expr.kind, &mut |inner| sum = sum.saturating_add(nodes(inner, meanings)));
    sum
}

/// Replaces variables in an expression that [`is_of_arguments`] accepts.
fn replace(expr: &mut Expr, meanings: &BTreeMap<LocalId, Expr>) -> Option<()> {
    match &mut expr.kind {
        ExprKind::Local(id) => *expr = meanings.get(id)?.clone(),
        ExprKind::IsNull(inner)
        | ExprKind::Sizes(_, inner)
        | ExprKind::Unary(_, inner)
        | ExprKind::Convert(inner) => replace(inner, meanings)?,
        ExprKind::Binary(_, left, right)
        | ExprKind::Min(left, right)
        | ExprKind::Max(left, right) => {
            replace(left, meanings)?;
            replace(right, meanings)?;
        }
        ExprKind::If(condition, then, otherwise) => {
            replace(condition, meanings)?;
            replace(then, meanings)?;
            replace(otherwise, meanings)?;
        }
        ExprKind::Match { value, arms, otherwise } => {
            replace(value, meanings)?;
            for arm in arms {
                replace(&mut arm.body, meanings)?;
            }
            replace(otherwise, meanings)?;
        }
        ExprKind::Call(_, arguments) => {
            for argument in arguments {
                replace(argument, meanings)?;
            }
        }
        _ => {}
    }
    Some(())
}

/// Marks as `tools_only` the compound statements that contain only such statements, and the variables that only such
/// statements use.
pub(super) fn mark_tools_only(block: &mut Block, locals: &mut [Local], program: &Program) {
    loop {
        let mut used = BTreeSet::new();
        for statement in &block.statements {
            used_by(statement, &mut used);
        }
        let before = locals.iter().filter(|local| local.tools_only).count();
        mark_block(block, locals, &used, program);
        if locals.iter().filter(|local| local.tools_only).count() == before {
            return;
        }
    }
}

/// Variables that the shim's part of a statement uses.
fn used_by(statement: &Stmt, used: &mut BTreeSet<LocalId>) {
    if statement.tools_only {
        return;
    }
    let mut blocks: Vec<&Block> = Vec::new();
    let mut note = |expr: &Expr| locals_in(expr, used);
    match &statement.kind {
        StmtKind::Let(_, expr) | StmtKind::Act(expr) => note(expr),
        StmtKind::Assign(place, value) => {
            place_children(place, &mut note);
            note(value);
        }
        StmtKind::If { condition, then, otherwise } => {
            note(condition);
            blocks.extend([then, otherwise]);
        }
        StmtKind::Match { value, arms, otherwise } => {
            note(value);
            blocks.extend(arms.iter().map(|arm| &arm.body).chain([otherwise]));
        }
        StmtKind::For { from, to, body, .. } => {
            note(from);
            note(to);
            blocks.push(body);
        }
        StmtKind::Observe(observation) => extent_children(&observation.extent, &mut note),
        StmtKind::Frame | StmtKind::Return => {}
    }
    for statement in blocks.into_iter().flat_map(|block| &block.statements) {
        used_by(statement, used);
    }
}

fn locals_in(expr: &Expr, used: &mut BTreeSet<LocalId>) {
    if let ExprKind::Local(id) = &expr.kind {
        used.insert(*id);
    }
    children(&expr.kind, &mut |inner| locals_in(inner, used));
}

fn mark_block(
    block: &mut Block,
    locals: &mut [Local],
    used: &BTreeSet<LocalId>,
    program: &Program,
) {
    for statement in &mut block.statements {
        mark(statement, locals, used, program);
    }
}

fn mark(statement: &mut Stmt, locals: &mut [Local], used: &BTreeSet<LocalId>, program: &Program) {
    let mut inner: Vec<&mut Block> = Vec::new();
    let mut all = true;
    match &mut statement.kind {
        StmtKind::Let(id, value) => {
            if !used.contains(id) && !acts(value, program) {
                locals[id.0].tools_only = true;
            }
            statement.tools_only |= locals[id.0].tools_only;
            return;
        }
        StmtKind::If { condition, then, otherwise } => {
            all = !acts(condition, program);
            inner.extend([then, otherwise]);
        }
        StmtKind::Match { value, arms, otherwise } => {
            all = !acts(value, program);
            inner.extend(arms.iter_mut().map(|arm| &mut arm.body));
            inner.push(otherwise);
        }
        StmtKind::For { body, .. } => inner.push(body),
        _ => return,
    }
    for block in inner {
        mark_block(block, locals, used, program);
        all &= block.statements.iter().all(|statement| statement.tools_only);
    }
    statement.tools_only = all;
}

/// Whether evaluating `expr` changes state that the shim keeps.
pub(super) fn acts(expr: &Expr, program: &Program) -> bool {
    let own = expr.kind.is_action(program) && untracked(expr, program, &[]).is_none();
    let mut found = own;
    children(&expr.kind, &mut |inner| found = found || acts(inner, program));
    found
}
