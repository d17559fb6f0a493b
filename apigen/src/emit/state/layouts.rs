//! `layouts.rs`: C structs in the program's memory, with what they point at and their chains.

use super::expr::{Emitter, Used};
use super::types;
use crate::lang::typed::{Expr, ExprKind, Layout, LayoutFieldKind, LayoutId, Program, Type};
use crate::lang::walk;
use crate::naming;

/// The function that observes a layout.
pub fn function(layout: &Layout) -> String {
    types::field(&naming::snake_case(&layout.name))
}

pub fn emit(program: &Program, used: &mut Used) -> String {
    let mut items = String::new();
    for at in 0..program.layouts.len() {
        items += &layout(program, LayoutId(at), used);
    }
    items + &chain(program)
}

/// Two functions: one begins a walk, the other goes on with one.
fn layout(program: &Program, id: LayoutId, used: &mut Used) -> String {
    let layout = &program[id];
    let name = function(layout);
    let inside = types::unused(&name);
    let mut body = String::new();
    for found in &layout.fields {
        body += &points_at(program, layout, &found.kind, found.offset, used);
    }
    format!(
        "/// So many `{title}` from `pointer` on, what they point at, and their chains.\n\
         pub fn {name}<M: Memory + ?Sized, O: Observer + ?Sized>(\
         memory: &M, seen: &mut O, param: u8, pointer: u64, count: i64) {{\n\
         let mut walk = Walk::default();\n\
         seen.apart();\n\
         observe::elements(seen, param, pointer, count, {size});\n\
         for index in walk.elements(pointer, count) {{\n\
         {inside}(memory, seen, param, pointer.wrapping_add(index as u64 * {size}), &mut walk);\n}}\n}}\n\n\
         /// What `{title}` at `at` points at.\n\
         fn {inside}<M: Memory + ?Sized, O: Observer + ?Sized>(\
         memory: &M, seen: &mut O, param: u8, at: u64, walk: &mut Walk) {{\n\
         if !walk.enter(at) {{ return; }}\n{body}walk.leave();\n}}\n\n",
        title = layout.name,
        size = layout.size,
    )
}

fn points_at(
    program: &Program,
    layout: &Layout,
    kind: &LayoutFieldKind,
    offset: u64,
    used: &mut Used,
) -> String {
    let pointer = format!("memory.get::<u64>(u64::wrapping_add(at, {offset}))");
    match kind {
        LayoutFieldKind::Scalar(_) | LayoutFieldKind::Array(..) => String::new(),
        LayoutFieldKind::Inline(inner, count) => {
            let (inside, size) = (types::unused(&function(&program[*inner])), program[*inner].size);
            format!(
                "for index in 0..{count} {{\n\
                 {inside}(memory, seen, param, u64::wrapping_add(at, {offset} + index * {size}), walk);\n}}\n"
            )
        }
        LayoutFieldKind::Chain => format!("chain(memory, seen, param, {pointer}, walk);\n"),
        LayoutFieldKind::Text => {
            format!("seen.apart();\nobserve::text(memory, seen, param, {pointer}, i64::MAX);\n")
        }
        LayoutFieldKind::Strings { count } => {
            let (fields, count) = counted(program, layout, count, used);
            format!(
                "{{ {fields} seen.apart(); observe::strings(memory, seen, param, {pointer}, {count}, 0); }}\n"
            )
        }
        LayoutFieldKind::Numbers { element, count } => {
            let (fields, count) = counted(program, layout, count, used);
            let size = bytes(element);
            format!(
                "{{ {fields} seen.apart(); observe::elements(seen, param, {pointer}, {count}, {size}); }}\n"
            )
        }
        LayoutFieldKind::Pointers { element, each, count } => {
            let (fields, count) = counted(program, layout, count, used);
            let (more_fields, each) = counted(program, layout, each, used);
            let size = bytes(element);
            format!(
                "{{ {fields} {more_fields}\n\
                 let (first, count) = ({pointer}, {count});\n\
                 seen.apart();\n\
                 observe::elements(seen, param, first, count, 8);\n\
                 for index in walk.elements(first, count) {{\n\
                 seen.apart();\n\
                 observe::elements(seen, param, memory.element::<u64>(first, index), {each}, {size});\n\
                 }} }}\n"
            )
        }
        LayoutFieldKind::Layouts { element, count } => {
            let (fields, count) = counted(program, layout, count, used);
            let inner = &program[*element];
            let (inside, size) = (types::unused(&function(inner)), inner.size);
            format!(
                "{{ {fields}\n\
                 let (first, count) = ({pointer}, {count});\n\
                 seen.apart();\n\
                 observe::elements(seen, param, first, count, {size});\n\
                 for index in walk.elements(first, count) {{\n\
                 {inside}(memory, seen, param, first.wrapping_add(index as u64 * {size}), walk);\n\
                 }} }}\n"
            )
        }
    }
}

/// The fields that a count is computed from, and the count.
fn counted(program: &Program, layout: &Layout, count: &Expr, used: &mut Used) -> (String, String) {
    let mut fields = String::new();
    walk::walk(count, &mut |inner| {
        if let ExprKind::LayoutField(at) = &inner.kind
            && let Some(found) = layout.fields.get(*at)
            && let LayoutFieldKind::Scalar(ty) = &found.kind
        {
            let rust = types::rust(program, ty);
            fields += &format!(
                "let field_{at} = memory.get::<{rust}>(u64::wrapping_add(at, {}));",
                found.offset
            );
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
    (fields, emitter.int(count))
}

fn bytes(ty: &Type) -> u64 {
    match ty {
        Type::Number(number) => u64::from(number.repr.size()),
        Type::Bool => 1,
        _ => 8,
    }
}

/// The function that goes on with the next struct of a chain.
fn chain(program: &Program) -> String {
    let arms: String = program
        .layouts
        .iter()
        .filter_map(|layout| {
            let stype = layout.stype?;
            let (inside, size) = (types::unused(&function(layout)), layout.size);
            Some(format!(
                "{stype} => {{\n\
                 seen.apart();\n\
                 observe::elements(seen, param, next, 1, {size});\n\
                 {inside}(memory, seen, param, next, walk);\n}}\n"
            ))
        })
        .collect();
    if arms.is_empty() {
        return String::new();
    }
    format!(
        "/// The struct at `pointer`, whichever it is, what it points at, and its chain.\n\
         pub fn any<M: Memory + ?Sized, O: Observer + ?Sized>(\
         memory: &M, seen: &mut O, param: u8, pointer: u64) {{\n\
         chain(memory, seen, param, pointer, &mut Walk::default());\n}}\n\n\
         /// The next struct of a chain; one of a type that nobody describes ends it.\n\
         fn chain<M: Memory + ?Sized, O: Observer + ?Sized>(\
         memory: &M, seen: &mut O, param: u8, next: u64, walk: &mut Walk) {{\n\
         if next == 0 {{ return; }}\n\
         match memory.get::<u32>(next) {{\n{arms}\
         stype => seen.unknown_struct(u64::from(stype)),\n}}\n}}\n"
    )
}
