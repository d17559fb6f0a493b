//! Translates types and names of descriptions to Rust.

use crate::ctype::Repr;
use crate::lang::typed::{Object, Program, Scope, Type};
use crate::naming;

/// Names that generated functions use for their own variables.
const TAKEN: &[&str] = &[
    "at",
    "constants",
    "context",
    "extensions",
    "functions",
    "group",
    "layouts",
    "memory",
    "number",
    "observe",
    "process",
    "result",
    "seen",
    "sizes",
    "thread",
    "value",
];

const KEYWORDS: &[&str] = &[
    "as", "async", "await", "box", "break", "const", "continue", "dyn", "else", "enum", "extern",
    "false", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut",
    "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "union", "unsafe",
    "use", "where", "while", "yield",
];

/// The Rust identifier of a field or a function.
pub fn field(name: &str) -> String {
    match name {
        // These keywords can't be raw identifiers.
        "self" | "super" | "crate" | "Self" => format!("{name}_"),
        _ if KEYWORDS.contains(&name) => format!("r#{name}"),
        _ => name.to_owned(),
    }
}

/// The Rust identifier of a parameter or a variable.
pub fn variable(name: &str) -> String {
    if TAKEN.contains(&name) { format!("{name}_") } else { field(name) }
}

/// The field that holds all objects of a kind.
pub fn table(object: &Object) -> String {
    naming::table(&object.name)
}

/// Whether an object's state is generic over its scope: some of its fields are tracked and others not.
pub fn is_scoped(object: &Object) -> bool {
    object.tracked && object.fields.iter().any(|field| !field.tracked)
}

/// The Rust type and the initial value of a field. An untracked field exists in whole state only.
pub fn kept(ty: &str, first: &str, tracked: bool) -> (String, String) {
    match tracked {
        true => (ty.to_owned(), first.to_owned()),
        false => (format!("S::Only<{ty}>"), format!("S::only(|| {first})")),
    }
}

/// The variable through which a scope's state is reached.
pub fn scope(scope: Scope) -> &'static str {
    match scope {
        Scope::Context => "context",
        Scope::ShareGroup => "group",
        Scope::Thread => "thread",
        Scope::Process => "process",
    }
}

pub fn repr(repr: Repr) -> &'static str {
    match repr {
        Repr::Void | Repr::U8 => "u8",
        Repr::I8 => "i8",
        Repr::U16 => "u16",
        Repr::I16 => "i16",
        Repr::U32 => "u32",
        Repr::I32 => "i32",
        Repr::U64 | Repr::Pointer => "u64",
        Repr::I64 => "i64",
        Repr::F32 => "f32",
        Repr::F64 => "f64",
    }
}

/// The Rust type.
pub fn rust(program: &Program, ty: &Type) -> String {
    let inner = |ty| rust(program, ty);
    match ty {
        Type::Bool => "bool".to_owned(),
        Type::Number(number) => repr(number.repr).to_owned(),
        Type::Address => "u64".to_owned(),
        Type::Text => "String".to_owned(),
        Type::Bytes => "Vec<u8>".to_owned(),
        Type::Array(element, len) => format!("[{}; {len}]", inner(element)),
        Type::List(element) => format!("Vec<{}>", inner(element)),
        // Maps to objects are small, for example the binding of each target.
        Type::Map(key, value) if matches!(**value, Type::Ref(_)) => {
            format!("Few<{}, {}>", inner(key), inner(value))
        }
        Type::Map(key, value) => format!("BTreeMap<{}, {}>", inner(key), inner(value)),
        Type::Optional(value) => format!("Option<{}>", inner(value)),
        Type::Ref(object) => format!("Ref<{}>", program[*object].name),
        Type::Struct(id) => program[*id].name.clone(),
        Type::Enum(id) => program[*id].name.clone(),
        Type::None => "()".to_owned(),
    }
}

/// Whether values are copied rather than cloned.
pub fn is_copy(program: &Program, ty: &Type) -> bool {
    match ty {
        Type::Text | Type::Bytes | Type::List(_) | Type::Map(..) => false,
        Type::Array(inner, _) | Type::Optional(inner) => is_copy(program, inner),
        Type::Struct(id) => program[*id].fields.iter().all(|field| is_copy(program, &field.ty)),
        _ => true,
    }
}

/// The type's own default.
pub fn default(program: &Program, ty: &Type) -> String {
    match ty {
        Type::Bool => "false".to_owned(),
        Type::Number(number) if matches!(number.repr, Repr::F32 | Repr::F64) => "0.0".to_owned(),
        Type::Number(_) | Type::Address => "0".to_owned(),
        Type::Text => "String::new()".to_owned(),
        Type::Bytes | Type::List(_) => "Vec::new()".to_owned(),
        Type::Map(_, value) if matches!(**value, Type::Ref(_)) => "Few::new()".to_owned(),
        Type::Map(..) => "BTreeMap::new()".to_owned(),
        Type::Array(element, len) if is_copy(program, element) => {
            format!("[{}; {len}]", default(program, element))
        }
        Type::Array(element, _) => {
            format!("std::array::from_fn(|_| {})", default(program, element))
        }
        Type::Optional(_) => "None".to_owned(),
        Type::Ref(_) => "Ref::NONE".to_owned(),
        Type::Struct(id) => format!("{}::default()", program[*id].name),
        Type::Enum(id) => match program[*id].variants.first() {
            Some(first) => format!("{}::{}", program[*id].name, field(first)),
            None => format!("{}::default()", program[*id].name),
        },
        Type::None => "()".to_owned(),
    }
}

/// Documentation as `///` lines.
pub fn docs(lines: &[String]) -> String {
    lines
        .iter()
        .map(|line| format!("///{}{}\n", if line.is_empty() { "" } else { " " }, line.trim()))
        .collect()
}
