//! What Level Zero's JSON says of memory, as a description in the language of `apis/**/*.api`: layouts of
//! structures, and for each function what it reads and writes.
//!
//! Functions that a file of `apis/level_zero/` describes are left to it.

use std::fmt::Write as _;

use super::description::{Description, Direction, Function, Member, Range, Struct};
use super::registry::simple;
use crate::lang;
use crate::lang::source::{Source, Sources};

/// Where a mistake in it is said to be.
const PATH: &str = "apis/level_zero/*.json";

/// The description; `written` are those that there are.
pub fn describe(description: &Description, written: &Sources) -> Source {
    let by_hand = lang::described_commands(written);
    let mut text = String::from("//! Level Zero.\n\napi level_zero;\n");
    for structure in description.types.structs.iter().filter(|found| is_of_calls(found)) {
        text += &layout(description, structure);
    }
    let functions = description.functions.iter();
    for function in functions.filter(|function| !by_hand.contains(function.name.as_str())) {
        text += &command(description, function);
    }
    Source { path: PATH.to_owned(), text }
}

/// The loader's own structures are in no call.
fn is_of_calls(structure: &Struct) -> bool {
    !structure.name.starts_with("zel_")
}

fn layout(description: &Description, structure: &Struct) -> String {
    let mut text = format!("\nlayout {} {{\n", structure.name);
    for field in &structure.fields {
        let ty = field_type(description, structure, field);
        writeln!(text, "    {}: {ty};", field.name).expect("a string takes any text");
    }
    text + "}\n"
}

fn field_type(description: &Description, structure: &Struct, field: &Member) -> String {
    if let (Some(stype), "stype") = (&structure.stype, field.name.as_str()) {
        return format!("u32 = {stype}");
    }
    if structure.stype.is_some() && field.name == "pNext" {
        return "chain".to_owned();
    }
    match (&field.range, field.ctype.depth()) {
        (Some(Range::Text), _) => "text".to_owned(),
        (Some(Range::Texts(count)), _) => format!("strings[{count}]"),
        (Some(Range::Elements(count)), 1) => {
            format!("read {}[{count}]", element_type(description, field))
        }
        // Constants of a kernel: of what type only its code says, but eight bytes hold the largest.
        (Some(Range::Elements(count)), 2) if field.ctype.base() == "void" => {
            format!("read u8[8][{count}]")
        }
        (Some(Range::Elements(count)), _) => format!("read address[{count}]"),
        (None, 0) => match field.array {
            Some(len) => format!("[{}; {len}]", element_type(description, field)),
            None => element_type(description, field),
        },
        (None, _) => "address".to_owned(),
    }
}

/// The type of a field, or of what it points at or consists of.
fn element_type(description: &Description, field: &Member) -> String {
    let name = field.ctype.base();
    if description.structure(name).is_some() {
        return name.to_owned();
    }
    let mut simple = simple(description, &field.ctype);
    simple.pointers.clear();
    let ty = match simple.base.as_str() {
        "char" | "void" | "uint8_t" | "ze_bool_t" => "u8",
        "int" | "int32_t" => "i32",
        "int64_t" => "i64",
        "float" => "f32",
        "uint64_t" | "size_t" => "u64",
        "ze_handle" | "ze_callback" => "address",
        _ => "u32",
    };
    ty.to_owned()
}

fn command(description: &Description, function: &Function) -> String {
    let params = || function.params.iter();
    let reads = params().filter_map(|param| read(description, function, param));
    let writes = params().filter_map(|param| write(description, function, param));
    let ignored = params().filter(|param| is_address(description, function, param));
    let ignored: Vec<&str> = ignored.map(|param| param.name.as_str()).collect();
    let effect = if is_at_leave(function) { "leave" } else { "enter" };
    let mut text = format!("\n@effect({effect})\ncommand {} {{\n", function.name);
    for extent in reads {
        writeln!(text, "    read {extent};").expect("a string takes any text");
    }
    if !ignored.is_empty() {
        writeln!(text, "    ignore {};", ignored.join(", ")).expect("a string takes any text");
    }
    text += "    fence;\n";
    for extent in writes {
        writeln!(text, "    write {extent};").expect("a string takes any text");
    }
    text + "}\n"
}

/// What tells something, and what waits.
fn is_at_leave(function: &Function) -> bool {
    let tells = |param: &Member| matches!(param.direction, Some(Direction::Out | Direction::InOut));
    let ends = function.params.iter().any(|param| param.release);
    let waits = ["Synchronize", "QueryStatus"].iter().any(|word| function.name.contains(word));
    !ends && (waits || function.params.iter().any(tells))
}

fn read(description: &Description, function: &Function, param: &Member) -> Option<String> {
    let is_read = matches!(param.direction, Some(Direction::In | Direction::InOut));
    let is_written_only = param.direction == Some(Direction::InOut)
        && !is_counter(function, param)
        && chained(description, param).is_none();
    if !is_read || is_written_only {
        return None;
    }
    extent(description, function, param)
}

fn write(description: &Description, function: &Function, param: &Member) -> Option<String> {
    let is_written = matches!(param.direction, Some(Direction::Out | Direction::InOut));
    is_written.then(|| extent(description, function, param)).flatten()
}

/// What is behind a parameter, if that is known.
fn extent(description: &Description, function: &Function, param: &Member) -> Option<String> {
    let name = &param.name;
    if is_next(param) {
        return Some(format!("chain({name})"));
    }
    if let (Some(structure), 0) = (description.structure(param.ctype.base()), param.ctype.depth()) {
        return Some(format!("{name}[{}]", structure.size));
    }
    let count = match &param.range {
        Some(Range::Elements(count)) => Some(elements(count)),
        _ => None,
    };
    if let Some(structure) = chained(description, param) {
        return Some(match count {
            Some(count) => format!("chain({name}, {}, {count})", structure.name),
            None => format!("chain({name}, {})", structure.name),
        });
    }
    match (param.ctype.base(), param.ctype.depth()) {
        (_, 0) => None,
        ("char", 1) if param.direction == Some(Direction::In) => Some(format!("text({name})")),
        (base, 1) if description.structure(base).is_some() => {
            let size = description.structure(base)?.size;
            Some(match count {
                Some(count) => format!("{name}[{count} * {size}]"),
                None => format!("{name}[{size}]"),
            })
        }
        _ if count.is_some() => count.map(|count| format!("{name}[{count}]")),
        ("void" | "char" | "uint8_t", 1) => None,
        _ if param.direction == Some(Direction::In) && !is_counter(function, param) => None,
        _ => Some(name.clone()),
    }
}

/// A count in the language: what a pointer points at is its first element.
fn elements(count: &str) -> String {
    match count.strip_prefix('*') {
        Some(pointer) => format!("{pointer}[0]"),
        None => count.to_owned(),
    }
}

/// Extensions of the call itself.
fn is_next(param: &Member) -> bool {
    param.name == "pNext" && param.ctype.base() == "void"
}

/// The structure that a parameter points at, if there is more to it than its bytes.
fn chained<'a>(description: &'a Description, param: &Member) -> Option<&'a Struct> {
    let structure = description.structure(param.ctype.base())?;
    let has_pointers = || structure.fields.iter().any(|field| field.range.is_some());
    (param.ctype.depth() == 1 && (structure.stype.is_some() || has_pointers())).then_some(structure)
}

/// Whether it says how many there is room for, and then how many there are.
fn is_counter(function: &Function, param: &Member) -> bool {
    let wanted = format!("*{}", param.name);
    function
        .params
        .iter()
        .any(|other| matches!(&other.range, Some(Range::Elements(count)) if *count == wanted))
        || param.direction == Some(Direction::InOut)
            && ["pCount", "pSize"].contains(&param.name.as_str())
}

/// A pointer of which nobody says anything.
fn is_address(description: &Description, function: &Function, param: &Member) -> bool {
    let is_callback = description.types.functions.iter().any(|it| it.name == param.ctype.base());
    (param.ctype.depth() > 0 || is_callback)
        && read(description, function, param).is_none()
        && write(description, function, param).is_none()
}
