//! `describe.rs`: everything that is kept, as values that tools can show.

use super::types::{field, table};
use crate::lang::typed::{Field, Program, Scope, Shown, Type};

pub const PRELUDE: &str = "\
//! Only tools have this.

#![allow(unused_imports)]

use super::fields::*;
use crate::value::{Describe, Kind, Value, list, map, objects, optional};
";

pub fn emit(program: &Program) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for object in &program.objects {
        let name = &object.name;
        items.push(format!(
            "impl Kind for {name} {{\nconst NAME: &'static str = {name:?};\n}}\n\n{}",
            record(name, &object.fields, &[])
        ));
    }
    items.extend(program.structs.iter().map(|found| record(&found.name, &found.fields, &[])));
    for choice in &program.enums {
        let name = &choice.name;
        let arms = choice
            .variants
            .iter()
            .map(|variant| format!("Self::{} => Value::Named({variant:?}),\n", field(variant)));
        items.push(format!(
            "impl Describe for {name} {{\nfn describe(&self) -> Value {{\nmatch self {{\n{}}}\n}}\n}}\n",
            arms.collect::<String>()
        ));
    }
    let scopes = [
        ("Context", Scope::Context),
        ("GroupState", Scope::ShareGroup),
        ("ProcessState", Scope::Process),
        ("Thread", Scope::Thread),
    ];
    for (name, scope) in scopes {
        let tables: Vec<String> = program
            .objects
            .iter()
            .filter(|object| object.scope == scope)
            .map(|object| {
                let table = table(object);
                format!("({table:?}, objects(&self.{table})),\n")
            })
            .collect();
        items.push(record(name, &program[scope].fields, &tables));
    }
    items
}

fn record(name: &str, fields: &[Field], more: &[String]) -> String {
    let fields: String = fields
        .iter()
        .map(|found| {
            let place = format!("&self.{}", field(&found.name));
            format!("({:?}, {}),\n", found.name, value(found, &found.ty, &place))
        })
        .collect();
    format!(
        "impl Describe for {name} {{\nfn describe(&self) -> Value {{\n\
         Value::Record(vec![\n{fields}{}])\n}}\n}}\n",
        more.concat()
    )
}

/// The value that a reference refers to.
fn value(of: &Field, ty: &Type, reference: &str) -> String {
    let closure = |inner: &Type| format!("|it| {}", value(of, inner, "it"));
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
                let group = if of.api == "egl" { "EGL" } else { "GL" };
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
