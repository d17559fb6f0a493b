//! `layouts.rs`: tables of C structs in the program's memory: their pointers, nested structs and chains. The walk over
//! the structs reads the tables.

use super::expr::{Emitter, Used};
use super::types;
use crate::lang::typed::{Expr, ExprKind, Layout, LayoutFieldKind, LayoutId, Program, Type};
use crate::lang::walk;

pub const PRELUDE: &str = "\
#![allow(non_upper_case_globals, unused_imports, unused_parens, clippy::all)]

use super::constants::*;
use crate::walk::Layout;
use crate::{Values, number};
";

pub fn emit(program: &Program, used: &mut Used) -> String {
    let layouts = (0..program.layouts.len()).map(|at| layout(program, LayoutId(at), used));
    let layouts: String = layouts.collect();
    layouts + &chain(program)
}

fn layout(program: &Program, id: LayoutId, used: &mut Used) -> String {
    let layout = &program[id];
    let parts: Vec<String> = layout
        .fields
        .iter()
        .filter_map(|found| points_at(program, layout, &found.kind, found.offset, used))
        .collect();
    let (name, size, parts) = (&layout.name, layout.size, parts.join(""));
    format!("pub static {name}: Layout = Layout::new({size}, &[{parts}]);\n")
}

/// The table entry of a field that is a pointer or a nested struct, with a comma behind it; `None` for plain values.
fn points_at(
    program: &Program,
    layout: &Layout,
    kind: &LayoutFieldKind,
    offset: u64,
    used: &mut Used,
) -> Option<String> {
    let mut counted = |count: &Expr| counted(program, layout, count, used);
    let part = match kind {
        LayoutFieldKind::Scalar(_) | LayoutFieldKind::Array(..) => return None,
        LayoutFieldKind::Inline(inner, count) => {
            format!("inline(&{}, {count})", program[*inner].name)
        }
        LayoutFieldKind::Chain => "chain()".to_owned(),
        LayoutFieldKind::Text => "text()".to_owned(),
        LayoutFieldKind::Strings { count } => format!("strings({})", counted(count)),
        LayoutFieldKind::Numbers { element, count } => {
            format!("numbers({}, {})", bytes(element), counted(count))
        }
        LayoutFieldKind::Pointers { element, each, count } => {
            let (each, count) = (counted(each), counted(count));
            format!("pointers({}, {each}, {count})", bytes(element))
        }
        LayoutFieldKind::Layouts { element, count } => {
            format!("structs(&{}, {})", program[*element].name, counted(count))
        }
    };
    Some(format!("Layout::at({offset}).{part},"))
}

/// A function that computes a count from the fields of a struct.
fn counted(program: &Program, layout: &Layout, count: &Expr, used: &mut Used) -> String {
    let mut fields = String::new();
    walk::walk(count, &mut |inner| {
        if let ExprKind::LayoutField(at) = &inner.kind
            && let Some(found) = layout.fields.get(*at)
            && let LayoutFieldKind::Scalar(ty) = &found.kind
        {
            let rust = types::rust(program, ty);
            let offset = found.offset;
            fields += &format!("let field_{at} = memory.get::<{rust}>(at.wrapping_add({offset}));");
        }
    });
    let mut emitter = Emitter {
        program,
        command: None,
        locals: &[],
        used,
        is_group_locked: false,
        is_function: true,
    };
    let count = emitter.int(count);
    match fields.is_empty() {
        true => format!("|_, _| {count}"),
        false => format!("|memory, at| {{ {fields} {count} }}"),
    }
}

fn bytes(ty: &Type) -> u64 {
    match ty {
        Type::Number(number) => u64::from(number.repr.size()),
        Type::Bool => 1,
        _ => 8,
    }
}

/// The layouts that may occur in a chain, by the value of their first field.
fn chain(program: &Program) -> String {
    let mut links: Vec<(i64, &str)> = program
        .layouts
        .iter()
        .filter_map(|layout| Some((layout.stype?, layout.name.as_str())))
        .collect();
    links.sort_unstable();
    let links: String =
        links.iter().map(|(stype, name)| format!("({stype}, &{name}),\n")).collect();
    format!(
        "/// Layouts by the value of their first field, in ascending order.\n\
         pub const CHAIN: &[(u32, &Layout)] = &[{links}];\n"
    )
}
