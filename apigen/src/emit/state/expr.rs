//! Translates expressions of descriptions to the text of Rust expressions.
//!
//! The Rust expressions use the variables `thread`, `context`, `group` and `process` (each if [`needs`] says so),
//! `memory`, and the parameters and variables of the command.

use std::collections::{BTreeMap, BTreeSet};

use super::types::{self, default, field, is_copy, rust, variable};
use crate::ctype::Repr;
use crate::lang::ast::{BinaryOp, Initial, UnaryOp};
use crate::lang::typed::{
    Arm, Command, Element, Expr, ExprKind, Extent, Field, Function, FunctionId, Local, ObjectId,
    Pattern, Program, Scope, Terminated, Type,
};
use crate::lang::walk;

/// The state that an expression or statement uses.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Needs {
    pub context: bool,
    pub group: bool,
    pub process: bool,
    /// Objects of the share group by name: from the context's cache, or from the group if it is locked already.
    pub names: bool,
    pub thread: bool,
}

impl Needs {
    pub fn add(&mut self, other: Needs) {
        self.context |= other.context;
        self.group |= other.group;
        self.process |= other.process;
        self.names |= other.names;
        self.thread |= other.thread;
    }

    fn of_scope(scope: Scope) -> Self {
        let mut needs = Self::default();
        match scope {
            Scope::Context => needs.context = true,
            Scope::ShareGroup => (needs.context, needs.group) = (true, true),
            Scope::Process => needs.process = true,
            Scope::Thread => needs.thread = true,
        }
        needs
    }

    /// Whether arguments, variables and memory are enough.
    pub fn is_nothing(self) -> bool {
        self == Self::default()
    }
}

/// State that evaluating `expr` needs.
pub fn needs(program: &Program, expr: &Expr) -> Needs {
    let mut all = Needs::default();
    walk::walk(expr, &mut |inner| all.add(own_needs(program, inner)));
    all
}

/// State that the root of `place` needs.
pub fn place_needs(program: &Program, place: &crate::lang::typed::Place) -> Needs {
    use crate::lang::typed::Root;
    let mut all = match &place.root {
        Root::State(scope, _) => Needs::of_scope(*scope),
        Root::Object(object, ..) => Needs::of_scope(program[*object].scope),
    };
    walk::walk_place(place, &mut |inner| all.add(own_needs(program, inner)));
    all
}

fn own_needs(program: &Program, expr: &Expr) -> Needs {
    match &expr.kind {
        ExprKind::State(scope, _) => Needs::of_scope(*scope),
        ExprKind::ObjectField(object, ..)
        | ExprKind::Create(object, _)
        | ExprKind::Delete(object, _) => Needs::of_scope(program[*object].scope),
        ExprKind::Bind(object, _) | ExprKind::Find(object, _) => match program[*object].scope {
            Scope::ShareGroup => Needs { context: true, names: true, ..Needs::default() },
            scope => Needs::of_scope(scope),
        },
        ExprKind::Push(place, _) | ExprKind::Remove(place, _) | ExprKind::Clear(place) => {
            place_needs(program, place)
        }
        ExprKind::Version(..)
        | ExprKind::Desktop(..)
        | ExprKind::FixedFunction
        | ExprKind::Executes
        | ExprKind::HasExtension(_) => Needs::of_scope(Scope::Context),
        ExprKind::Call(id, _) => function_needs(program, &program[*id]),
        _ => Needs::default(),
    }
}

/// State that a description's function gets besides its arguments. The function looks up names in the group, not in
/// the cache.
pub fn function_needs(program: &Program, function: &Function) -> Needs {
    let mut all = needs(program, &function.value);
    for (_, value) in &function.lets {
        all.add(needs(program, value));
    }
    all.group |= all.names;
    all.names = false;
    all
}

/// Fields of the thread's state that a function reads.
pub fn thread_fields(program: &Program, function: &Function) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut see = |expr: &Expr| match &expr.kind {
        ExprKind::State(Scope::Thread, at) => {
            found.insert(*at);
        }
        ExprKind::Call(id, _) => found.extend(thread_fields(program, &program[*id])),
        _ => {}
    };
    function.lets.iter().for_each(|(_, value)| walk::walk(value, &mut see));
    walk::walk(&function.value, &mut see);
    found
}

/// Names in the generated code that are defined in separate generated files.
#[derive(Default)]
pub struct Used {
    pub constants: BTreeMap<String, i64>,
    pub extensions: BTreeSet<String>,
}

/// Emits the expressions of a command or a function.
pub struct Emitter<'a> {
    pub program: &'a Program,
    /// `None` in a function.
    pub command: Option<&'a Command>,
    pub locals: &'a [Local],
    pub used: &'a mut Used,
    /// Whether the group is locked. Names are then looked up in the group instead of the cache.
    pub is_group_locked: bool,
    /// Whether the expressions are a function's, which gets the thread's fields as parameters.
    pub is_function: bool,
}

/// The initial value of a field.
pub fn initial(program: &Program, field: &Field) -> String {
    match &field.default {
        Some(Initial::Value(value)) => wrapped_constant(program, value, &field.ty),
        Some(Initial::Elements(values)) => {
            let Type::Array(element, _) = &field.ty else { return default(program, &field.ty) };
            let values = values.iter().map(|value| wrapped_constant(program, value, element));
            format!("[{}]", values.collect::<Vec<_>>().join(", "))
        }
        None => default(program, &field.ty),
    }
}

/// A constant expression as a value of `ty`.
fn wrapped_constant(program: &Program, value: &Expr, ty: &Type) -> String {
    match (&value.kind, ty) {
        (ExprKind::None, _) => default(program, ty),
        (_, Type::Optional(inner)) if !matches!(value.ty, Type::Optional(_)) => {
            format!("Some({})", wrapped_constant(program, value, inner))
        }
        _ => constant(program, value, ty),
    }
}

/// A constant expression of a field's default as a value of `ty`.
fn constant(program: &Program, value: &Expr, ty: &Type) -> String {
    let mut used = Used::default();
    let mut emitter = Emitter {
        program,
        command: None,
        locals: &[],
        used: &mut used,
        is_group_locked: false,
        is_function: true,
    };
    // The file of the state's structs does not import the generated constants.
    emitter.value(&plain(value), ty)
}

/// The expression without the names of its enumerants.
pub fn plain(expr: &Expr) -> Expr {
    match &expr.kind {
        ExprKind::Int(value, _) => Expr { kind: ExprKind::Int(*value, None), ..expr.clone() },
        _ => walk::map(expr, &mut plain),
    }
}

/// The path to a stored value.
pub struct Path {
    /// An `Option` of a reference, which `tail` calls `it`.
    base: Option<String>,
    /// The rest of the path, beginning with `it` or with a variable.
    tail: String,
    /// The value to use if `base` is `None`.
    default: String,
}

impl Emitter<'_> {
    /// `expr` as a value of `ty`: a number is cut to its width.
    pub fn value(&mut self, expr: &Expr, ty: &Type) -> String {
        match (ty, &expr.ty, &expr.kind) {
            (_, _, ExprKind::None) => default(self.program, ty),
            (Type::Optional(inner), found, _) if !matches!(found, Type::Optional(_)) => {
                format!("Some({})", bare(&self.value(expr, inner)))
            }
            (Type::Number(number), _, _) => self.number(expr, number.repr),
            (Type::Address, _, _) => self.address(expr),
            _ => self.own(expr),
        }
    }

    /// `expr` as a number of the type `repr`.
    fn number(&mut self, expr: &Expr, repr: Repr) -> String {
        let name = types::repr(repr);
        match (&expr.kind, &expr.ty) {
            (ExprKind::Int(value, None), _) if fits(*value, repr) => match repr {
                Repr::F32 | Repr::F64 => format!("{value}.0"),
                _ => value.to_string(),
            },
            // Generated constants are `i64`, like all integers in computations.
            (ExprKind::Int(..), _) if repr == Repr::I64 => self.own(expr),
            (ExprKind::Int(..), _) => format!("({} as {name})", self.own(expr)),
            (_, Type::Number(found)) if found.repr == repr => self.own(expr),
            (_, Type::Number(found)) if repr == Repr::I64 && widens(found.repr) => {
                format!("i64::from({})", self.own(expr))
            }
            (_, Type::Number(found)) if repr == Repr::I64 && found.repr == Repr::U64 => {
                format!("number::int({})", self.own(expr))
            }
            (_, Type::Number(found)) if repr == Repr::F64 && found.repr == Repr::F32 => {
                format!("f64::from({})", self.own(expr))
            }
            (_, Type::Bool) => format!("{name}::from({})", self.own(expr)),
            _ => format!("({} as {name})", self.own(expr)),
        }
    }

    /// `expr` as an `i64`, the type of integers in computations.
    pub fn int(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Int(value, None) => value.to_string(),
            _ => self.number(expr, Repr::I64),
        }
    }

    pub fn address(&mut self, expr: &Expr) -> String {
        match (&expr.kind, &expr.ty) {
            (ExprKind::Int(value, None), _) if *value >= 0 => value.to_string(),
            (ExprKind::Int(..), _) => format!("({} as u64)", self.own(expr)),
            (_, Type::Address) => self.own(expr),
            (_, Type::Number(number)) if number.repr == Repr::U64 => self.own(expr),
            _ => format!("({} as u64)", self.int(expr)),
        }
    }

    /// `expr` as an `f64`, the type of floats in computations.
    fn float(&mut self, expr: &Expr) -> String {
        self.number(expr, Repr::F64)
    }

    pub fn bool(&mut self, expr: &Expr) -> String {
        self.own(expr)
    }

    /// `expr` as a value of its own type.
    fn own(&mut self, expr: &Expr) -> String {
        match &expr.kind {
            ExprKind::Bool(value) => value.to_string(),
            ExprKind::Int(value, None) => format!("{value}_i64"),
            ExprKind::Int(value, Some(name)) => {
                self.used.constants.insert(name.clone(), *value);
                name.clone()
            }
            ExprKind::Float(value) => format!("{value:?}_f64"),
            ExprKind::Text(text) => format!("{text:?}.to_owned()"),
            ExprKind::None => default(self.program, &expr.ty),
            ExprKind::Variant(id, at) => self.variant(*id, *at),
            ExprKind::Param(at) => self.param(*at),
            ExprKind::Result => self.result(),
            ExprKind::Local(id) => self.read(expr, self.local(id.0)),
            ExprKind::LayoutField(at) => format!("field_{at}"),
            ExprKind::State(..)
            | ExprKind::ObjectField(..)
            | ExprKind::StructField(..)
            | ExprKind::Index(..)
            | ExprKind::Lookup(..) => {
                let path = self.path(expr);
                self.read_path(expr, &path)
            }
            ExprKind::NameOf(_, object) => {
                let name = format!("{}.name()", self.own(object));
                match &expr.ty {
                    Type::Number(number) if number.repr != Repr::U64 => {
                        format!("({name} as {})", types::repr(number.repr))
                    }
                    _ => name,
                }
            }
            ExprKind::Memory { param, element, index } => self.memory(*param, element, index),
            ExprKind::MemoryText { param, extent } => self.memory_text(*param, extent),
            ExprKind::MemoryBytes { param, count } => {
                let (pointer, count) = (self.pointer(*param), self.int(count));
                format!("memory.bytes({pointer}, {count}, BYTES_MAX)")
            }
            ExprKind::Attribute { param, element, key, default, end } => {
                let (pointer, size) = (self.pointer(*param), element.size);
                let (key, default, end) = (self.int(key), self.int(default), self.int(end));
                let found = format!("observe::attribute(memory, {pointer}, {size}, {key}, {end})");
                Self::cut(format!("{found}.unwrap_or({default})"), &expr.ty)
            }
            ExprKind::Version(major, minor) => {
                format!("context.api.is_es(context.version, ({major}, {minor}))")
            }
            ExprKind::Desktop(major, minor) => {
                format!("context.api.is_desktop(context.version, ({major}, {minor}))")
            }
            ExprKind::Executes => "(!O::COMPILES || context.executes())".to_owned(),
            ExprKind::FixedFunction => "context.api.has_fixed_function(context.version)".to_owned(),
            ExprKind::HasExtension(name) => {
                self.used.extensions.insert(name.clone());
                format!("context.extensions.has(extensions::{name})")
            }
            ExprKind::IsNull(pointer) => format!("({} == 0)", self.address(pointer)),
            ExprKind::Call(id, arguments) => self.call(*id, arguments),
            // After lowering only statements contain these actions.
            ExprKind::CallExtern(..) | ExprKind::Delete(..) => "()".to_owned(),
            ExprKind::Push(..) | ExprKind::Remove(..) | ExprKind::Clear(_) => "()".to_owned(),
            ExprKind::Sizes(id, value) => {
                format!("sizes::{}({})", self.program[*id].name, self.int(value))
            }
            ExprKind::Unary(op, value) => self.unary(*op, value),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.bool(condition);
                let (then, otherwise) =
                    (self.value(then, &expr.ty), self.value(otherwise, &expr.ty));
                let (condition, then, otherwise) =
                    (bare(&condition), bare(&then), bare(&otherwise));
                format!("(if {condition} {{ {then} }} else {{ {otherwise} }})")
            }
            ExprKind::Match { value, arms, otherwise } => {
                let matched = self.matched(value);
                let arms = self
                    .arms(arms, |emitter, body| bare(&emitter.value(body, &expr.ty)).to_owned());
                let otherwise = self.value(otherwise, &expr.ty);
                let (matched, otherwise) = (bare(&matched), bare(&otherwise));
                format!("(match {matched} {{ {arms} _ => {otherwise}, }})")
            }
            ExprKind::Convert(value) => self.convert(value, &expr.ty),
            ExprKind::Len(value) => self.len(value),
            ExprKind::Contains { map, key } => self.contains(map, key),
            ExprKind::OrElse(value, default) => {
                let (value, default) = (self.own(value), self.value(default, &expr.ty));
                format!("{value}.unwrap_or({default})")
            }
            ExprKind::Min(left, right) => self.extreme("min", left, right, &expr.ty),
            ExprKind::Max(left, right) => self.extreme("max", left, right, &expr.ty),
            ExprKind::Create(object, name) => self.by_name("create", *object, name),
            ExprKind::Bind(object, name) => self.by_name("bind", *object, name),
            ExprKind::Find(object, name) => self.by_name("find", *object, name),
        }
    }

    fn variant(&self, id: crate::lang::typed::EnumId, at: usize) -> String {
        let item = &self.program[id];
        let variant = item.variants.get(at).map_or("", String::as_str);
        format!("{}::{}", item.name, field(variant))
    }

    fn local(&self, at: usize) -> String {
        self.locals.get(at).map_or_else(String::new, |local| variable(&local.name))
    }

    fn param(&self, at: usize) -> String {
        let Some(param) = self.command.and_then(|command| command.params.get(at)) else {
            return String::new();
        };
        let name = variable(&param.name);
        if param.ty == Type::Bool { format!("({name} != 0)") } else { name }
    }

    /// A parameter's value as an address.
    pub fn pointer(&self, at: usize) -> String {
        let param = self.command.and_then(|command| command.params.get(at));
        param.map_or_else(String::new, |param| variable(&param.name))
    }

    fn result(&self) -> String {
        let ty = self.command.and_then(|command| command.result.ty.as_ref());
        if ty == Some(&Type::Bool) { "(result != 0)".to_owned() } else { "result".to_owned() }
    }

    /// The value that is stored at `place`: copied, or cloned if its type is not `Copy`.
    fn read(&self, expr: &Expr, place: String) -> String {
        if is_copy(self.program, &expr.ty) { place } else { format!("{place}.clone()") }
    }

    fn read_path(&self, expr: &Expr, path: &Path) -> String {
        let Path { base, tail, default } = path;
        let Some(base) = base else { return self.read(expr, tail.clone()) };
        match (tail.as_str(), is_copy(self.program, &expr.ty)) {
            ("", true) => format!("{base}.copied().unwrap_or({default})"),
            ("", false) => format!("{base}.cloned().unwrap_or_else(|| {default})"),
            (tail, true) => format!("{base}.map_or({default}, |it| it{tail})"),
            (tail, false) => format!("{base}.map_or_else(|| {default}, |it| it{tail}.clone())"),
        }
    }

    /// The path to the stored value of `expr`. A computed value becomes an expression in parentheses.
    pub fn path(&mut self, expr: &Expr) -> Path {
        let program = self.program;
        match &expr.kind {
            ExprKind::Local(id) => Path::of(self.local(id.0)),
            ExprKind::State(scope, at) => {
                let fields = &program[*scope].fields;
                let name = fields.get(*at).map_or_else(String::new, |found| field(&found.name));
                match (scope, self.is_function) {
                    (Scope::Thread, true) => Path::of(format!("(*{})", thread_field(&name))),
                    _ => Path::of(format!("{}.{name}", types::scope(*scope))),
                }
            }
            ExprKind::ObjectField(id, object, at) => {
                let base = format!("{}.get({})", self.table(*id), self.own(object));
                let path = Path { base: Some(base), tail: String::new(), default: String::new() };
                path.field(program, program[*id].fields.get(*at))
            }
            ExprKind::StructField(id, value, at) => {
                self.path(value).field(program, program[*id].fields.get(*at))
            }
            ExprKind::Index(list, index) => {
                let index = self.int(index);
                self.path(list).at(&index, default(program, &expr.ty))
            }
            ExprKind::Lookup(map, key) => {
                let key = match &map.ty {
                    Type::Map(ty, _) => self.value(key, ty),
                    _ => self.own(key),
                };
                self.path(map).at(&key, default(program, &expr.ty))
            }
            _ => Path::of(format!("({})", self.own(expr))),
        }
    }

    /// The table that holds all objects of a kind.
    pub fn table(&self, id: ObjectId) -> String {
        let object = &self.program[id];
        format!("{}.{}", types::scope(object.scope), types::table(object))
    }

    /// Creates, binds or finds an object by its name.
    fn by_name(&mut self, method: &str, id: ObjectId, name: &Expr) -> String {
        let object = &self.program[id];
        let name = self.name(id, name);
        if object.scope == Scope::ShareGroup && !self.is_group_locked && method != "create" {
            let table = types::table(object);
            return format!(
                "context.caches.{table}.{method}(&context.group, {name}, |group| &mut group.{table})"
            );
        }
        format!("{}.{method}({name})", self.table(id))
    }

    /// An object's name as the key of its table.
    pub fn name(&mut self, id: ObjectId, name: &Expr) -> String {
        if self.program[id].by_handle {
            return self.address(name);
        }
        match self.number(name, Repr::U32) {
            literal if literal.parse::<u64>().is_ok() => literal,
            name => format!("u64::from({name})"),
        }
    }

    fn memory(&mut self, param: usize, element: &Element, index: &Expr) -> String {
        let (pointer, index) = (self.pointer(param), self.int(index));
        let ty = types::repr(element.repr);
        let value = format!("memory.element::<{ty}>({pointer}, {index})");
        if element.ty == Type::Bool { format!("({value} != 0)") } else { value }
    }

    fn memory_text(&mut self, param: usize, extent: &Extent) -> String {
        let pointer = self.pointer(param);
        match extent {
            Extent::Text { within: Some(most) } => {
                format!("memory.text({pointer}, ({}).max(0) as u64)", self.int(most))
            }
            Extent::TextOf { length, terminated } => {
                let (length, is_terminated) = self.text_of(length, *terminated);
                format!("observe::text_value(memory, {pointer}, {length}, {is_terminated})")
            }
            Extent::Strings { count, lengths } => {
                let (count, lengths) = (self.int(count), self.optional_pointer(*lengths));
                format!("observe::joined(memory, {pointer}, {count}, {lengths})")
            }
            _ => format!("memory.text({pointer}, u64::MAX)"),
        }
    }

    /// The length of a text, and the condition on the length under which the text is NUL-terminated.
    pub fn text_of(&mut self, length: &Expr, terminated: Terminated) -> (String, String) {
        let length = self.int(length);
        let comparison = match terminated {
            Terminated::IfNegative => "<",
            Terminated::IfZero => "==",
        };
        let is_terminated = format!("{length} {comparison} 0");
        (length, is_terminated)
    }

    pub fn optional_pointer(&self, param: Option<usize>) -> String {
        param.map_or_else(|| "0".to_owned(), |param| self.pointer(param))
    }

    fn call(&mut self, id: FunctionId, arguments: &[Expr]) -> String {
        let program = self.program;
        let function = &program[id];
        let needs = function_needs(program, function);
        let mut all = Vec::new();
        let states =
            [(needs.context, "context"), (needs.group, "group"), (needs.process, "process")];
        for (_, name) in states.iter().filter(|(is_needed, _)| *is_needed) {
            all.push(if self.is_function { (*name).to_owned() } else { format!("&*{name}") });
        }
        for at in thread_fields(program, function) {
            let fields = &program[Scope::Thread].fields;
            let name = fields.get(at).map_or_else(String::new, |found| field(&found.name));
            all.push(match self.is_function {
                true => thread_field(&name),
                false => format!("&thread.{name}"),
            });
        }
        for (argument, local) in arguments.iter().zip(&function.locals) {
            all.push(bare(&self.value(argument, &local.ty)).to_owned());
        }
        format!("functions::{}({})", field(&function.name), all.join(", "))
    }

    fn unary(&mut self, op: UnaryOp, value: &Expr) -> String {
        match (op, value.ty.is_float()) {
            (UnaryOp::Not, _) => format!("!{}", self.bool(value)),
            (UnaryOp::Complement, _) => format!("!({})", self.int(value)),
            (UnaryOp::Negate, true) => format!("-({})", self.float(value)),
            (UnaryOp::Negate, false) => format!("number::neg({})", self.int(value)),
        }
    }

    /// An operand of `&&` or `||`. An operand with the same operator needs no parentheses.
    fn condition(&mut self, op: BinaryOp, operand: &Expr) -> String {
        let text = self.bool(operand);
        match &operand.kind {
            ExprKind::Binary(inner, ..) if *inner == op || inner.is_comparison() => {
                bare(&text).to_owned()
            }
            _ => text,
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        match (&left.kind, &right.kind) {
            (_, ExprKind::None) => return self.is_none(op, left),
            (ExprKind::None, _) => return self.is_none(op, right),
            _ => {}
        }
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let (left, right) = (self.condition(op, left), self.condition(op, right));
                return format!("({left} {} {right})", operator(op));
            }
            _ => {}
        }
        if left.ty == Type::Address || right.ty == Type::Address {
            return self.of_addresses(op, left, right);
        }
        if left.ty.is_float() || right.ty.is_float() {
            let (left, right) = (self.float(left), self.float(right));
            return format!("({left} {} {right})", operator(op));
        }
        if left.ty.is_integer() || right.ty.is_integer() {
            return self.of_integers(op, left, right);
        }
        let right_of_left = match (&left.ty, &right.ty) {
            (Type::Optional(_), found) if !matches!(found, Type::Optional(_)) => &left.ty,
            _ => &right.ty,
        };
        let left_of_right = match (&left.ty, &right.ty) {
            (found, Type::Optional(_)) if !matches!(found, Type::Optional(_)) => &right.ty,
            _ => &left.ty,
        };
        let (left, right) = (self.value(left, left_of_right), self.value(right, right_of_left));
        format!("({left} {} {right})", operator(op))
    }

    fn is_none(&mut self, op: BinaryOp, value: &Expr) -> String {
        let test = if op == BinaryOp::NotEqual { "is_some" } else { "is_none" };
        if matches!(value.kind, ExprKind::None) {
            return (op == BinaryOp::Equal).to_string();
        }
        format!("{}.{test}()", self.own(value))
    }

    fn of_integers(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        let (left, right) = (self.int(left), self.int(right));
        match op {
            BinaryOp::Add => format!("number::add({left}, {right})"),
            BinaryOp::Subtract => format!("number::sub({left}, {right})"),
            BinaryOp::Multiply => format!("number::mul({left}, {right})"),
            BinaryOp::Divide => format!("number::div({left}, {right})"),
            BinaryOp::Remainder => format!("number::rem({left}, {right})"),
            BinaryOp::ShiftLeft => format!("number::shl({left}, {right})"),
            BinaryOp::ShiftRight => format!("number::shr({left}, {right})"),
            _ => format!("({left} {} {right})", operator(op)),
        }
    }

    fn of_addresses(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> String {
        let is_difference = left.ty == Type::Address && right.ty == Type::Address;
        let (left, right) = (self.address(left), self.address(right));
        match op {
            BinaryOp::Add => format!("u64::wrapping_add({left}, {right})"),
            BinaryOp::Subtract if is_difference => {
                format!("(u64::wrapping_sub({left}, {right}) as i64)")
            }
            BinaryOp::Subtract => format!("u64::wrapping_sub({left}, {right})"),
            _ => format!("({left} {} {right})", operator(op)),
        }
    }

    /// The value that a `match` compares.
    pub fn matched(&mut self, value: &Expr) -> String {
        if value.ty.is_integer() { self.int(value) } else { self.own(value) }
    }

    /// The arms of a `match` with their bodies, without the arm `_`.
    pub fn arms<T>(
        &mut self,
        arms: &[Arm<T>],
        mut body: impl FnMut(&mut Self, &T) -> String,
    ) -> String {
        let mut text = String::new();
        for arm in arms {
            let patterns: Vec<String> =
                arm.patterns.iter().map(|pattern| self.pattern(pattern)).collect();
            text += &format!("{} => {},\n", patterns.join(" | "), body(self, &arm.body));
        }
        text
    }

    fn pattern(&mut self, pattern: &Pattern) -> String {
        match pattern {
            Pattern::Int(value, Some(name)) => {
                self.used.constants.insert(name.clone(), *value);
                name.clone()
            }
            Pattern::Int(value, None) => value.to_string(),
            Pattern::Bool(value) => value.to_string(),
            Pattern::Variant(id, at) => self.variant(*id, *at),
        }
    }

    fn convert(&mut self, value: &Expr, ty: &Type) -> String {
        match ty {
            Type::Address => self.address(value),
            Type::Optional(inner) => format!("Some({})", bare(&self.value(value, inner))),
            Type::Number(number) if matches!(number.repr, Repr::F32 | Repr::F64) => {
                match value.ty.is_float() {
                    true => self.number(value, number.repr),
                    false => format!("({} as {})", self.int(value), types::repr(number.repr)),
                }
            }
            Type::Number(number) => {
                format!("({} as {})", self.own(value), types::repr(number.repr))
            }
            _ => self.own(value),
        }
    }

    /// An integer as a value of `ty`.
    fn cut(value: String, ty: &Type) -> String {
        match ty {
            Type::Number(number) if number.repr != Repr::I64 => {
                format!("({value} as {})", types::repr(number.repr))
            }
            Type::Address => format!("({value} as u64)"),
            _ => value,
        }
    }

    fn len(&mut self, value: &Expr) -> String {
        let path = self.path(value);
        match &path.base {
            None => format!("number::int({}.len())", path.tail),
            Some(base) => format!("{base}.map_or(0, |it| number::int(it{}.len()))", path.tail),
        }
    }

    fn contains(&mut self, map: &Expr, key: &Expr) -> String {
        let key = match &map.ty {
            Type::Map(ty, _) => self.value(key, ty),
            _ => self.own(key),
        };
        let path = self.path(map);
        match &path.base {
            None => format!("{}.contains_key(&{key})", path.tail),
            Some(base) => format!("{base}.is_some_and(|it| it{}.contains_key(&{key}))", path.tail),
        }
    }

    fn extreme(&mut self, function: &str, left: &Expr, right: &Expr, ty: &Type) -> String {
        let (left, right) = (self.value(left, ty), self.value(right, ty));
        format!("{}::{function}({left}, {right})", rust(self.program, ty))
    }
}

impl Path {
    fn of(place: String) -> Self {
        Self { base: None, tail: place, default: String::new() }
    }

    fn field(self, program: &Program, found: Option<&Field>) -> Self {
        let Some(found) = found else { return self };
        let tail = format!("{}.{}", self.tail, field(&found.name));
        Self { tail, default: initial(program, found), ..self }
    }

    fn at(self, key: &str, default: String) -> Self {
        let base = match self.base {
            None => format!("{}.at({key})", self.tail),
            Some(base) => format!("{base}.and_then(|it| it{}.at({key}))", self.tail),
        };
        Self { base: Some(base), tail: String::new(), default }
    }
}

/// The text of an expression without parentheses around the whole of it.
pub fn bare(text: &str) -> &str {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let Some(inner) = inner else { return text };
    let mut depth = 0;
    for c in inner.chars() {
        depth += match c {
            '(' => 1,
            ')' => -1,
            _ => 0,
        };
        if depth < 0 {
            return text;
        }
    }
    inner
}

/// The name of the parameter through which a function gets a field of the thread's state.
pub fn thread_field(name: &str) -> String {
    format!("thread_{}", name.trim_start_matches("r#"))
}

fn operator(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Multiply => "*",
        BinaryOp::Divide => "/",
        BinaryOp::Remainder => "%",
        BinaryOp::Add => "+",
        BinaryOp::Subtract => "-",
        BinaryOp::ShiftLeft => "<<",
        BinaryOp::ShiftRight => ">>",
        BinaryOp::BitAnd => "&",
        BinaryOp::BitXor => "^",
        BinaryOp::BitOr => "|",
        BinaryOp::Equal => "==",
        BinaryOp::NotEqual => "!=",
        BinaryOp::Less => "<",
        BinaryOp::LessEqual => "<=",
        BinaryOp::Greater => ">",
        BinaryOp::GreaterEqual => ">=",
        BinaryOp::And => "&&",
        BinaryOp::Or => "||",
    }
}

fn widens(repr: Repr) -> bool {
    matches!(repr, Repr::U8 | Repr::I8 | Repr::U16 | Repr::I16 | Repr::U32 | Repr::I32)
}

fn fits(value: i64, repr: Repr) -> bool {
    match repr {
        Repr::U8 => u8::try_from(value).is_ok(),
        Repr::I8 => i8::try_from(value).is_ok(),
        Repr::U16 => u16::try_from(value).is_ok(),
        Repr::I16 => i16::try_from(value).is_ok(),
        Repr::U32 => u32::try_from(value).is_ok(),
        Repr::I32 => i32::try_from(value).is_ok(),
        Repr::U64 | Repr::Pointer => value >= 0,
        Repr::I64 | Repr::F32 | Repr::F64 => true,
        Repr::Void => false,
    }
}
