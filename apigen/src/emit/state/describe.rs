//! `describe.rs`: the whole state as values that tools can show.

use super::types::{field, is_scoped, table};
use crate::lang::typed::{Enum, Field, Program, Scope, Shown, Type};

pub const PRELUDE: &str = "\
#![allow(unused_imports)]

use crate::record;
use crate::state::*;
use crate::value::{Describe, Value, list, map, objects, optional};
";

/// Longest line, in characters.
const WIDTH: usize = 100;

/// One macro call with all structs, and the enums.
pub fn emit(program: &Program) -> Vec<String> {
    let mut kinds = String::new();
    let mut records = String::new();
    for object in &program.objects {
        let scope = if is_scoped(object) { "<Whole>" } else { "" };
        kinds += &format!("    {0}: {0}{scope}, {1:?};\n", object.name, object.scope);
        records += &record(program, &format!("{}{scope}", object.name), &object.fields, &[]);
    }
    for found in &program.structs {
        records += &record(program, &found.name, &found.fields, &[]);
    }
    let scopes = [
        ("Context<Whole>", Scope::Context),
        ("GroupState<Whole>", Scope::ShareGroup),
        ("ProcessState<Whole>", Scope::Process),
        ("Thread<Whole>", Scope::Thread),
    ];
    for (name, scope) in scopes {
        let tables: Vec<String> = program
            .objects
            .iter()
            .filter(|object| object.scope == scope)
            .map(|object| format!("{}: objects", table(object)))
            .collect();
        records += &record(program, name, &program[scope].fields, &tables);
    }
    let mut items = vec![format!("record! {{\n{records}}}\n\ncrate::kinds! {{\n{kinds}}}\n")];
    items.extend(program.enums.iter().map(choice));
    items
}

fn choice(choice: &Enum) -> String {
    let name = &choice.name;
    let arms = choice
        .variants
        .iter()
        .map(|variant| format!("Self::{} => Value::Named({variant:?}),\n", field(variant)));
    format!(
        "impl Describe for {name} {{\nfn describe(&self) -> Value {{\nmatch self {{\n{}}}\n}}\n}}\n",
        arms.collect::<String>()
    )
}

/// A struct's fields, with a conversion for each field whose type does not implement one.
fn record(program: &Program, name: &str, fields: &[Field], more: &[String]) -> String {
    let fields = fields.iter().map(|found| {
        let name = field(&found.name);
        match value(program, found, &found.ty, "it") {
            plain if plain == "it.describe()" => name,
            shown => format!("{name}: |it| {shown}"),
        }
    });
    let mut lines = format!("    {name} {{\n");
    let mut line = String::new();
    for entry in fields.chain(more.iter().cloned()) {
        if !line.is_empty() && line.len() + entry.len() + 10 > WIDTH {
            lines += &format!("        {}\n", line.trim_end());
            line.clear();
        }
        line += &format!("{entry}, ");
    }
    if !line.is_empty() {
        lines += &format!("        {}\n", line.trim_end());
    }
    lines + "    }\n"
}

/// The expression that converts the value behind `reference`.
fn value(program: &Program, of: &Field, ty: &Type, reference: &str) -> String {
    let closure = |inner: &Type| format!("|it| {}", value(program, of, inner, "it"));
    let plain = match reference.strip_prefix('&') {
        Some(place) => format!("{place}.describe()"),
        None => format!("{reference}.describe()"),
    };
    let number = match reference.strip_prefix('&') {
        Some(place) => place.to_owned(),
        None => format!("*{reference}"),
    };
    match ty {
        Type::Number(found) => match (found.shown, &of.group) {
            (Shown::Bitfield, Some(group)) => {
                format!("Value::Bits {{ group: {group:?}, value: {number} as u64 }}")
            }
            (Shown::Number | Shown::Enum, Some(group)) if !ty.is_float() => {
                format!("Value::Enum {{ group: {group:?}, value: {number} as u64 }}")
            }
            (Shown::Enum, None) => {
                let group = program.catch_alls.get(&of.api).map_or("", String::as_str);
                format!("Value::Enum {{ group: {group:?}, value: {number} as u64 }}")
            }
            _ => plain,
        },
        Type::Address => format!("Value::Address({number})"),
        Type::Bytes => match reference.strip_prefix('&') {
            Some(place) => format!("Value::Bytes({place}.clone())"),
            None => format!("Value::Bytes({reference}.clone())"),
        },
        Type::Array(inner, _) | Type::List(inner) => {
            format!("list({reference}, {})", closure(inner))
        }
        Type::Map(key, inner) => format!("map({reference}, {}, {})", closure(key), closure(inner)),
        Type::Optional(inner) => format!("optional({reference}, {})", closure(inner)),
        _ => plain,
    }
}
