//! Translates statements of descriptions to Rust, with the locks that they need. The first statement that needs a lock
//! takes all locks of its part, always in the same order. They are released before a call of a hand-written function or
//! of the observer. Statements that exist in the tools only take locks of their own.

use super::expr::{Emitter, Needs, bare, function_needs, needs, place_needs};
use super::lower::Lowered;
use super::types::{default, rust, variable};
use crate::lang::typed::{
    Block, Command, Expr, ExprKind, Extent, ExternId, LocalId, Observation, Param, Place, Program,
    Root, Scope, Step, Stmt, StmtKind, Type,
};
use crate::lang::walk;
use crate::parts::Does;

use super::expr::Used;

/// The first arguments of every hand-written function.
const FIRST: [&str; 2] = ["thread", "memory"];
const CONTEXT: &str = "let Some(context) = thread.context.as_deref_mut() else { return };";

/// Locks and borrows that are held at a point of a part.
#[derive(Clone, Copy, Default)]
struct Held {
    group: bool,
    process: bool,
    /// Whether the variable `context` borrows the thread's context.
    context: bool,
}

/// Emits the statements of a part of a command. If the part `consumes`, it first observes the program's writes into
/// mapped buffers.
pub fn emit(
    program: &Program,
    command: &Command,
    lowered: &Lowered,
    part: &Block,
    consumes: bool,
    used: &mut Used,
) -> String {
    // A part that is for tools as a whole needs no condition around single statements.
    let in_tools = !Does::of(part).anything() && !consumes;
    let shared = |stmt: &&Stmt| in_tools || !stmt.tools_only;
    let locks = locks_of(program, part.statements.iter().filter(shared));
    let emitter = Emitter {
        program,
        command: Some(command),
        locals: &lowered.locals,
        used,
        is_group_locked: false,
        is_function: false,
    };
    let mut statements = Statements { emitter, lowered, locks, in_tools, out: String::new() };
    let mut held = Held::default();
    if command.needs_context {
        statements.begin(part, &mut held, consumes);
    }
    if consumes {
        statements.line("crate::changed_maps(thread, memory, seen);");
    }
    if Does::in_tools(part).changes {
        statements.refuse(&sizes(command));
    }
    statements.block(part, &mut held);
    statements.out
}

/// Parameters that must not be negative: the driver refuses the command otherwise (OpenGL ES 3.2, 2.3.1). A negative length
/// of a string means that a NUL terminates it.
fn sizes(command: &Command) -> Vec<&Param> {
    let mut lengths = Vec::new();
    for slot in &command.slots {
        if let Extent::TextOf { length, .. } = &slot.extent {
            walk::walk(length, &mut |inner| {
                if let ExprKind::Param(at) = inner.kind {
                    lengths.push(at);
                }
            });
        }
    }
    let is_size = |param: &Param| {
        param.ctype.pointers.is_empty()
            && ["GLsizei", "GLsizeiptr", "GLsizeiptrARB"].contains(&param.ctype.base.as_str())
    };
    let all = command.params.iter().enumerate();
    all.filter(|(at, param)| is_size(param) && !lengths.contains(at))
        .map(|(_, param)| param)
        .collect()
}

/// Locks that the statements need. If the group is locked, names are looked up in it rather than in the cache.
fn locks_of<'a>(program: &Program, statements: impl Iterator<Item = &'a Stmt>) -> Needs {
    let mut all = Needs::default();
    for stmt in statements {
        each(stmt, &mut |stmt| all.add(own_needs(program, stmt)));
    }
    Needs { context: all.group, names: false, thread: false, ..all }
}

/// Calls `see` with the statement and all statements inside it.
fn each(stmt: &Stmt, see: &mut dyn FnMut(&Stmt)) {
    see(stmt);
    let mut blocks: Vec<&Block> = Vec::new();
    match &stmt.kind {
        StmtKind::If { then, otherwise, .. } => blocks.extend([then, otherwise]),
        StmtKind::Match { arms, otherwise, .. } => {
            blocks.extend(arms.iter().map(|arm| &arm.body));
            blocks.push(otherwise);
        }
        StmtKind::For { body, .. } => blocks.push(body),
        _ => {}
    }
    blocks.iter().flat_map(|block| &block.statements).for_each(|stmt| each(stmt, see));
}

/// State that the statement itself needs, without the statements inside it.
fn own_needs(program: &Program, stmt: &Stmt) -> Needs {
    match &stmt.kind {
        StmtKind::Let(_, value) | StmtKind::Act(value) => needs(program, value),
        StmtKind::Assign(place, value) => {
            let mut all = place_needs(program, place);
            all.add(needs(program, value));
            all
        }
        StmtKind::If { condition, .. } => needs(program, condition),
        StmtKind::Match { value, .. } => needs(program, value),
        StmtKind::For { from, to, .. } => {
            let mut all = needs(program, from);
            all.add(needs(program, to));
            all
        }
        StmtKind::Observe(observation) => {
            let mut all = Needs::default();
            walk::walk_extent(&observation.extent, &mut |expr| all.add(needs(program, expr)));
            all
        }
        StmtKind::Frame | StmtKind::Return => Needs::default(),
    }
}

fn all_needs(program: &Program, stmt: &Stmt) -> Needs {
    let mut all = Needs::default();
    each(stmt, &mut |inner| all.add(own_needs(program, inner)));
    all
}

/// Whether the statement calls code that is not generated, so that no lock may be held.
fn leaves_us(stmt: &Stmt) -> bool {
    let mut found = takes_thread(stmt);
    each(stmt, &mut |inner| {
        found |= matches!(inner.kind, StmtKind::Observe(_) | StmtKind::Frame);
    });
    found
}

/// Whether the statement passes the thread to a hand-written function.
fn takes_thread(stmt: &Stmt) -> bool {
    let mut found = false;
    each(stmt, &mut |inner| {
        found |= match &inner.kind {
            StmtKind::Let(_, value) | StmtKind::Act(value) => {
                matches!(value.kind, ExprKind::CallExtern(..))
            }
            StmtKind::Observe(observation) => {
                matches!(observation.extent, Extent::By { .. } | Extent::Call { .. })
            }
            _ => false,
        };
    });
    found
}

/// Whether the statement, or one inside it, uses fields of the context that exist in whole state only.
fn has_whole_context(program: &Program, stmt: &Stmt) -> bool {
    let mut found = false;
    each(stmt, &mut |inner| {
        if let StmtKind::Assign(place, _) = &inner.kind {
            found |= is_whole_root(program, &place.root);
        }
        exprs(inner, &mut |expr| found |= reads_whole_context(program, expr));
    });
    found
}

fn is_whole_root(program: &Program, root: &Root) -> bool {
    match root {
        Root::State(Scope::Context, at) => {
            program[Scope::Context].fields.get(*at).is_some_and(|field| !field.tracked)
        }
        Root::State(..) => false,
        Root::Object(object, ..) => program[*object].scope == Scope::Context,
    }
}

fn reads_whole_context(program: &Program, expr: &Expr) -> bool {
    let mut found = false;
    walk::walk(expr, &mut |inner| {
        found |= match &inner.kind {
            ExprKind::State(Scope::Context, at) => {
                program[Scope::Context].fields.get(*at).is_some_and(|field| !field.tracked)
            }
            ExprKind::ObjectField(object, ..)
            | ExprKind::Create(object, _)
            | ExprKind::Bind(object, _)
            | ExprKind::Find(object, _)
            | ExprKind::Delete(object, _) => program[*object].scope == Scope::Context,
            ExprKind::Push(place, _) | ExprKind::Remove(place, _) | ExprKind::Clear(place) => {
                is_whole_root(program, &place.root)
            }
            // The function gets the context and the group, both of the same scope.
            ExprKind::Call(id, _) => function_needs(program, &program[*id]).context,
            _ => false,
        };
    });
    found
}

/// Calls `see` with the expressions of the statement itself.
fn exprs(stmt: &Stmt, see: &mut dyn FnMut(&Expr)) {
    match &stmt.kind {
        StmtKind::Let(_, value) | StmtKind::Act(value) => see(value),
        StmtKind::Assign(place, value) => {
            walk::walk_place(place, &mut |expr| see(expr));
            see(value);
        }
        StmtKind::If { condition, .. } => see(condition),
        StmtKind::Match { value, .. } => see(value),
        StmtKind::For { from, to, .. } => {
            see(from);
            see(to);
        }
        StmtKind::Observe(observation) => {
            walk::walk_extent(&observation.extent, &mut |expr| see(expr))
        }
        StmtKind::Frame | StmtKind::Return => {}
    }
}

struct Statements<'a> {
    emitter: Emitter<'a>,
    lowered: &'a Lowered,
    /// All locks that the part takes at its first use of one.
    locks: Needs,
    in_tools: bool,
    out: String,
}

impl Statements<'_> {
    fn line(&mut self, text: &str) {
        self.out += text;
        self.out.push('\n');
    }

    /// Emits the return from a command that does nothing without a current context.
    fn begin(&mut self, part: &Block, held: &mut Held, consumes: bool) {
        let program = self.emitter.program;
        let first = part.statements.first().filter(|_| !consumes);
        if first.is_some_and(|stmt| all_needs(program, stmt).context) {
            self.line(CONTEXT);
            held.context = true;
        } else {
            self.line("if thread.context.is_none() { return; }");
        }
    }

    /// Emits the return from a command that the driver refuses because one of `sizes` is negative.
    fn refuse(&mut self, sizes: &[&Param]) {
        let negative: Vec<_> =
            sizes.iter().map(|size| format!("{} < 0", variable(&size.name))).collect();
        if !negative.is_empty() {
            self.line(&format!("if {} {{\nreturn;\n}}", negative.join(" || ")));
        }
    }

    fn block(&mut self, block: &Block, held: &mut Held) {
        let mut rest = block.statements.as_slice();
        while let Some(stmt) = rest.first() {
            self.emitter.is_group_locked = held.group;
            let is_own = |stmt: &Stmt| {
                stmt.tools_only && !self.in_tools && !matches!(stmt.kind, StmtKind::Let(..))
            };
            let run = rest.iter().take_while(|stmt| is_own(stmt)).count();
            if run > 0 {
                let (tools, others) = rest.split_at(run);
                self.tools(tools, held);
                rest = others;
            } else {
                self.stmt(stmt, held);
                rest = rest.get(1..).unwrap_or_default();
            }
        }
    }

    /// Emits statements that use fields of whole state, in a block with a condition that the state is whole.
    fn tools(&mut self, statements: &[Stmt], held: &mut Held) {
        let program = self.emitter.program;
        let locks = locks_of(program, statements.iter());
        let mut all = Needs::default();
        statements.iter().for_each(|stmt| all.add(all_needs(program, stmt)));
        let takes_thread = statements.iter().any(takes_thread);
        all.thread |= takes_thread;
        // A locked group borrows the context, which can't be converted to whole state then.
        let is_borrowed =
            held.group && statements.iter().any(|stmt| has_whole_context(program, stmt));
        if statements.iter().any(leaves_us) || lacks(*held, locks) || is_borrowed {
            self.release(held);
        }
        let mut inner = *held;
        if all.thread || locks.process && !held.process {
            // The condition converts the thread to whole state; everything else is reached through it.
            held.context = false;
            inner.context = false;
        } else if all.context {
            self.derive(held);
            inner.context = true;
        }
        let outer = std::mem::replace(&mut self.locks, locks);
        self.in_tools = true;
        let condition = self.whole(all, inner);
        self.line(&format!("if {condition} {{"));
        self.block(&Block { statements: statements.to_vec() }, &mut inner);
        self.line("}");
        self.in_tools = false;
        self.locks = outer;
    }

    /// The condition that the state is whole. It rebinds the variables that are `needed` to whole state.
    fn whole(&self, needed: Needs, held: Held) -> String {
        let reaches_context = needed.context || needed.group || needed.names;
        let reached = [
            (reaches_context && held.context && !held.group, "context"),
            (held.group && (needed.group || needed.names), "group"),
            (held.process && needed.process, "process"),
        ];
        let reached: Vec<&str> =
            reached.iter().filter(|(is_reached, _)| *is_reached).map(|(_, name)| *name).collect();
        let reached = match reached.is_empty() {
            false => reached,
            true if needed.thread || !held.context && !held.process => match needed.is_nothing() {
                true => return "S::WHOLE".to_owned(),
                false => vec!["thread"],
            },
            true => return "S::WHOLE".to_owned(),
        };
        let conditions =
            reached.iter().map(|name| format!(" && let Some({name}) = {name}.whole()"));
        format!("S::WHOLE{}", conditions.collect::<String>())
    }

    fn stmt(&mut self, stmt: &Stmt, held: &mut Held) {
        match &stmt.kind {
            StmtKind::Let(local, value) => self.variable(*local, value, stmt.tools_only, held),
            StmtKind::Act(Expr { kind: ExprKind::CallExtern(id, arguments), .. }) => {
                self.release(held);
                let call = self.extern_call(*id, &FIRST, arguments, held);
                self.line(&statement(&call));
                held.context = false;
            }
            StmtKind::Observe(observation) => self.observe(observation, held),
            StmtKind::Frame => {
                self.release(held);
                self.line("seen.frame();");
            }
            StmtKind::Return => self.line("return;"),
            _ if leaves_us(stmt) => {
                self.release(held);
                self.compound(stmt, held);
            }
            _ => {
                self.prepare(all_needs(self.emitter.program, stmt), held);
                self.compound(stmt, held);
            }
        }
    }

    /// Emits a compound statement or a change of state. Inside a compound statement either all needed locks are held
    /// or none.
    fn compound(&mut self, stmt: &Stmt, held: &mut Held) {
        match &stmt.kind {
            StmtKind::Assign(place, value) => self.assign(place, value, held),
            StmtKind::Act(action) => self.act(action, held),
            StmtKind::If { condition, then, otherwise } => {
                let condition = self.header(condition, held, |emitter, expr| emitter.bool(expr));
                self.line(&format!("if {} {{", bare(&condition)));
                self.inner(then, *held);
                if !otherwise.statements.is_empty() {
                    self.line("} else {");
                    self.inner(otherwise, *held);
                }
                self.line("}");
            }
            StmtKind::Match { value, arms, otherwise } => {
                let value = self.header(value, held, |emitter, expr| emitter.matched(expr));
                self.line(&format!("match {} {{", bare(&value)));
                for arm in arms {
                    let patterns = self.patterns(arm);
                    self.line(&format!("{patterns} => {{"));
                    self.inner(&arm.body, *held);
                    self.line("}");
                }
                self.line("_ => {");
                self.inner(otherwise, *held);
                self.line("}\n}");
            }
            StmtKind::For { variable: local, from, to, body } => {
                let from = self.header(from, held, |emitter, expr| emitter.int(expr));
                let to = self.header(to, held, |emitter, expr| emitter.int(expr));
                let name = self.local(*local);
                self.line(&format!("for {name} in number::range({from}, {to}) {{"));
                // The previous iteration may have passed the thread to a hand-written function.
                let context = held.context && !takes_thread(stmt);
                self.inner(body, Held { context, ..*held });
                self.line("}");
            }
            _ => {}
        }
        held.context &= !takes_thread(stmt);
    }

    fn patterns(&mut self, arm: &crate::lang::typed::Arm<Block>) -> String {
        let arms = self.emitter.arms(std::slice::from_ref(arm), |_, _| String::new());
        arms.split(" => ").next().unwrap_or_default().to_owned()
    }

    fn inner(&mut self, block: &Block, mut held: Held) {
        self.block(block, &mut held);
    }

    fn local(&self, id: LocalId) -> String {
        self.lowered.locals.get(id.0).map_or_else(String::new, |local| variable(&local.name))
    }

    /// Emits code that takes the locks and borrows in `needed` if they are not held.
    fn prepare(&mut self, needed: Needs, held: &mut Held) {
        let mut needed = needed;
        needed.group |= needed.names && self.locks.group;
        if lacks(*held, needed) {
            self.release(held);
            let locks = self.locks;
            self.lock(locks, held);
        }
        if needed.context {
            self.derive(held);
        }
        self.emitter.is_group_locked = held.group;
    }

    fn derive(&mut self, held: &mut Held) {
        if !held.context {
            self.line(CONTEXT);
            held.context = true;
        }
    }

    /// Emits code that takes the locks, always in this order. No lock may be held.
    fn lock(&mut self, locks: Needs, held: &mut Held) {
        if locks.process {
            self.line("let mut process = thread.process.lock();");
            held.process = true;
        }
        if locks.group {
            self.derive(held);
            self.line("let mut group = context.group.lock();");
            held.group = true;
        }
        self.emitter.is_group_locked = held.group;
    }

    fn release(&mut self, held: &mut Held) {
        if held.group {
            self.line("drop(group);");
        }
        if held.process {
            self.line("drop(process);");
        }
        (held.group, held.process) = (false, false);
        self.emitter.is_group_locked = false;
    }

    /// An expression after which no lock may be held. If it needs locks, it takes and drops them.
    fn header(
        &mut self,
        expr: &Expr,
        held: &mut Held,
        emit: impl Fn(&mut Emitter<'_>, &Expr) -> String,
    ) -> String {
        let needed = needs(self.emitter.program, expr);
        if needed.context {
            self.derive(held);
        }
        if !lacks(*held, needed) {
            self.emitter.is_group_locked = held.group;
            return emit(&mut self.emitter, expr);
        }
        self.scoped(needed, *held, |this| emit(&mut this.emitter, expr))
    }

    /// A block that takes locks around the code from `emit`.
    fn scoped(
        &mut self,
        needed: Needs,
        mut held: Held,
        emit: impl FnOnce(&mut Self) -> String,
    ) -> String {
        let outside = std::mem::take(&mut self.out);
        self.lock(needed, &mut held);
        let value = emit(self);
        self.emitter.is_group_locked = false;
        let locks = std::mem::replace(&mut self.out, outside);
        format!("{{ {locks} {value} }}")
    }

    fn variable(&mut self, local: LocalId, value: &Expr, tools_only: bool, held: &mut Held) {
        let program = self.emitter.program;
        let ty = self.lowered.locals.get(local.0).map_or(Type::None, |local| local.ty.clone());
        let name = self.local(local);
        let declared = format!("let {name}: {} = ", rust(program, &ty));
        let is_guarded = tools_only && !self.in_tools;
        let otherwise = default(program, &ty);
        if let ExprKind::CallExtern(id, arguments) = &value.kind {
            self.release(held);
            held.context &= !is_guarded;
            let call = self.extern_call(*id, &FIRST, arguments, held);
            let found = program[*id].result.as_ref();
            let cut = match (found, &ty) {
                (Some(found), Type::Number(_)) if *found != ty => {
                    format!(" as {}", rust(program, &ty))
                }
                _ => String::new(),
            };
            let call = if call.starts_with("let ") { format!("{{ {call} }}") } else { call };
            match is_guarded {
                true => self.line(&format!(
                    "{declared}if S::WHOLE && let Some(thread) = thread.whole() {{ {call}{cut} }} \
                     else {{ {otherwise} }};"
                )),
                false => self.line(&format!("{declared}{call}{cut};")),
            }
            held.context = false;
            return;
        }
        let needed = needs(program, value);
        if !is_guarded {
            self.prepare(needed, held);
            let value = self.emitter.value(value, &ty);
            self.line(&format!("{declared}{};", bare(&value)));
            return;
        }
        let is_borrowed = held.group && reads_whole_context(program, value);
        if lacks(*held, needed) || is_borrowed {
            self.release(held);
        }
        if needed.thread || needed.process && !held.process {
            held.context = false;
        } else if needed.context {
            self.derive(held);
        }
        let condition = self.whole(needed, *held);
        let mut inner = *held;
        let value = self.header(value, &mut inner, |emitter, expr| emitter.value(expr, &ty));
        self.line(&format!(
            "{declared}if {condition} {{ {} }} else {{ {otherwise} }};",
            bare(&value)
        ));
    }

    /// A call of a hand-written function. `let`s compute the arguments first, because the call borrows the thread.
    fn extern_call(
        &mut self,
        id: ExternId,
        first: &[&str],
        arguments: &[Expr],
        held: &mut Held,
    ) -> String {
        let program = self.emitter.program;
        let function = &program[id];
        let mut lets = String::new();
        let mut passed: Vec<String> = first.iter().map(|name| (*name).to_owned()).collect();
        for (argument, (name, ty)) in arguments.iter().zip(&function.params) {
            let needed = needs(program, argument);
            let value = self.header(argument, held, |emitter, expr| emitter.value(expr, ty));
            if needed.is_nothing() {
                passed.push(bare(&value).to_owned());
            } else {
                let name = format!("its_{name}");
                lets += &format!("let {name} = {};\n", bare(&value));
                passed.push(name);
            }
        }
        format!("{lets}crate::{}::{}({})", function.api, function.name, passed.join(", "))
    }

    fn act(&mut self, action: &Expr, held: &Held) {
        self.emitter.is_group_locked = held.group;
        match &action.kind {
            ExprKind::Delete(object, name) => {
                let (table, name) = (self.emitter.table(*object), self.emitter.name(*object, name));
                self.line(&format!("{table}.delete({name});"));
            }
            ExprKind::Push(place, value) => {
                let ty = element(&place.ty).unwrap_or(Type::None);
                let value = self.emitter.value(value, &ty);
                self.change(place, &value, |list, value| format!("at::push({list}, {value});"));
            }
            ExprKind::Remove(place, key) => {
                let key = match &place.ty {
                    Type::Map(ty, _) => self.emitter.value(key, ty),
                    _ => self.emitter.value(key, &key.ty.clone()),
                };
                self.change(place, &key, |map, key| format!("({map}).remove(&{key});"));
            }
            ExprKind::Clear(place) => {
                self.change(place, "", |all, _| format!("({all}).clear();"));
            }
            _ => {
                let value = self.emitter.value(action, &action.ty);
                self.line(&format!("{value};"));
            }
        }
    }

    fn assign(&mut self, place: &Place, value: &Expr, held: &Held) {
        self.emitter.is_group_locked = held.group;
        let value = self.emitter.value(value, &place.ty);
        if let (Root::State(..), []) = (&place.root, place.steps.as_slice()) {
            let (_, target) = self.target(place);
            self.line(&format!("set!(S, {target}, {});", bare(&value)));
            return;
        }
        self.change(place, &value, |place, value| format!("set!(S, *{place}, {value});"));
    }

    /// Emits `act` on a place and a computed value, under the condition that the place exists.
    fn change(&mut self, place: &Place, value: &str, act: impl Fn(&str, &str) -> String) {
        let (conditions, target) = self.target(place);
        let is_plain = value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
        let (before, value) = match is_plain {
            true => (String::new(), value.to_owned()),
            false => (format!("let value = {};\n", bare(value)), "value".to_owned()),
        };
        let keys: String = conditions.keys.iter().map(|key| format!("{key}\n")).collect();
        let reference = match target == "it" {
            true => target,
            false => format!("&mut {target}"),
        };
        let action = act(&reference, &value).replace("*&mut ", "");
        let tests = conditions.tests.join(" && ");
        let action = match tests.is_empty() {
            true => action,
            false => format!("if {tests} {{ {action} }}"),
        };
        match before.is_empty() && keys.is_empty() {
            true => self.line(&action),
            false => self.line(&format!("{{ {keys}{before}{action} }}")),
        }
    }

    /// The conditions under which a place exists, and the expression for it.
    fn target(&mut self, place: &Place) -> (Conditions, String) {
        let program = self.emitter.program;
        let mut conditions = Conditions::default();
        let (mut target, mut ty) = match &place.root {
            Root::State(scope, at) => {
                let found = program[*scope].fields.get(*at);
                let name = found.map_or_else(String::new, |found| super::types::field(&found.name));
                let target = format!("{}.{name}", super::types::scope(*scope));
                (target, found.map_or(Type::None, |found| found.ty.clone()))
            }
            Root::Object(id, object, at) => {
                let object_ty = object.ty.clone();
                let value = self.emitter.value(object, &object_ty);
                let key = conditions.key(value, needs(program, object));
                let table = self.emitter.table(*id);
                conditions.tests.push(format!("let Some(it) = {table}.get_mut({key})"));
                let found = program[*id].fields.get(*at);
                let name = found.map_or_else(String::new, |found| super::types::field(&found.name));
                (format!("it.{name}"), found.map_or(Type::None, |found| found.ty.clone()))
            }
        };
        for step in &place.steps {
            match step {
                Step::Field(id, at) => {
                    let found = program[*id].fields.get(*at);
                    let name =
                        found.map_or_else(String::new, |found| super::types::field(&found.name));
                    target = format!("{target}.{name}");
                    ty = found.map_or(Type::None, |found| found.ty.clone());
                }
                Step::Index(index) => {
                    let value = self.emitter.int(index);
                    let key = conditions.key(value, needs(program, index));
                    conditions.tests.push(format!("let Some(it) = {target}.at_mut({key})"));
                    target = "it".to_owned();
                    ty = element(&ty).unwrap_or(Type::None);
                }
                Step::Key(key) => {
                    let (key_ty, value_ty) = match &ty {
                        Type::Map(key, value) => ((**key).clone(), (**value).clone()),
                        _ => (key.ty.clone(), Type::None),
                    };
                    let value = self.emitter.value(key, &key_ty);
                    let key = conditions.key(value, needs(program, key));
                    conditions.tests.push(format!("let Some(it) = {target}.at_mut({key})"));
                    target = "it".to_owned();
                    ty = value_ty;
                }
            }
        }
        (conditions, target)
    }

    fn observe(&mut self, observation: &Observation, held: &mut Held) {
        self.release(held);
        let param = observation.param.map_or_else(|| "NO_PARAM".to_owned(), |at| at.to_string());
        let pointer = observation.param.map(|at| self.emitter.pointer(at)).unwrap_or_default();
        let size = observation.element.as_ref().map_or(1, |element| element.size);
        let call = match &observation.extent {
            Extent::By { function, arguments } => {
                let first = ["thread", "memory", "seen", &param, &pointer];
                self.extern_call(*function, &first, arguments, held)
            }
            Extent::Call { function, arguments } => {
                let first = ["thread", "memory", "seen"];
                self.extern_call(*function, &first, arguments, held)
            }
            Extent::Elements(count) => {
                let count = self.header(count, held, |emitter, expr| emitter.int(expr));
                format!("observe::elements(seen, {param}, {pointer}, {count}, {size})")
            }
            Extent::Slice(from, to) => {
                let from = self.header(from, held, |emitter, expr| emitter.int(expr));
                let to = self.header(to, held, |emitter, expr| emitter.int(expr));
                format!("observe::slice(seen, {param}, {pointer}, {from}, {to}, {size})")
            }
            Extent::Counted { count, most } => {
                let count = self.emitter.pointer(*count);
                let most = self.header(most, held, |emitter, expr| emitter.int(expr));
                format!(
                    "observe::counted(memory, seen, {param}, {pointer}, {count}, {most}, {size})"
                )
            }
            Extent::Text { within } => {
                let most = match within {
                    Some(most) => self.header(most, held, |emitter, expr| emitter.int(expr)),
                    None => "i64::MAX".to_owned(),
                };
                format!("observe::text(memory, seen, {param}, {pointer}, {most})")
            }
            Extent::TextOf { length, terminated } => {
                let terminated = *terminated;
                let both = self.header(length, held, |emitter, length| {
                    let (length, is_terminated) = emitter.text_of(length, terminated);
                    format!("({length}, {is_terminated})")
                });
                format!(
                    "{{ let (length, is_terminated) = {both}; \
                     observe::text_of(memory, seen, {param}, {pointer}, length, is_terminated); }}"
                )
            }
            Extent::Strings { count, lengths } => {
                let count = self.header(count, held, |emitter, expr| emitter.int(expr));
                let lengths = self.emitter.optional_pointer(*lengths);
                format!("observe::strings(memory, seen, {param}, {pointer}, {count}, {lengths})")
            }
            Extent::Attributes { end } => {
                let end = self.header(end, held, |emitter, expr| emitter.int(expr));
                format!("observe::attributes(memory, seen, {param}, {pointer}, {size}, {end})")
            }
            Extent::Memory { address, bytes } => {
                let address = self.header(address, held, |emitter, expr| emitter.address(expr));
                let bytes = self.header(bytes, held, |emitter, expr| emitter.int(expr));
                format!("observe::memory(seen, {address}, {bytes})")
            }
            Extent::Chain { layout, count } => {
                let name = &self.emitter.program[*layout].name;
                let count = self.header(count, held, |emitter, expr| emitter.int(expr));
                format!(
                    "walk::structs(memory, seen, {param}, {pointer}, {count}, &layouts::{name}, \
                     layouts::CHAIN)"
                )
            }
            Extent::AnyChain => {
                format!("walk::chain(memory, seen, {param}, {pointer}, layouts::CHAIN)")
            }
        };
        self.line(&statement(&call));
        self.emitter.is_group_locked = false;
        let is_by = matches!(observation.extent, Extent::By { .. } | Extent::Call { .. });
        held.context &= !is_by;
    }
}

/// Conditions under which a place exists.
#[derive(Default)]
struct Conditions {
    /// `let`s for keys and indices that read state.
    keys: Vec<String>,
    /// Patterns `let Some(it) = …`.
    tests: Vec<String>,
}

impl Conditions {
    /// The expression, or a variable for it if it reads state.
    fn key(&mut self, value: String, needed: Needs) -> String {
        let is_guarded = needed.group || needed.process || needed.names;
        if !is_guarded && !value.contains('(') || needed.is_nothing() {
            return value;
        }
        let name = format!("key_{}", self.keys.len());
        self.keys.push(format!("let {name} = {value};"));
        name
    }
}

fn element(ty: &Type) -> Option<Type> {
    match ty {
        Type::Array(element, _) | Type::List(element) => Some((**element).clone()),
        _ => None,
    }
}

/// A call as a statement, in a block of its own if it begins with `let`s.
fn statement(call: &str) -> String {
    if call.starts_with("let ") { format!("{{ {call}; }}") } else { format!("{call};") }
}

/// Whether a lock in `needed` is not held.
fn lacks(held: Held, needed: Needs) -> bool {
    needed.group && !held.group || needed.process && !held.process
}
