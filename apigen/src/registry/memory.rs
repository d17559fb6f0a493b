//! What a registry says of memory, as a description in the language of `apis/**/*.api`: a layout for each struct, and
//! for each command the memory that it reads and writes. A command that a file under `apis/` describes is left to that
//! file. A command that waits, or that writes memory and releases no object, takes effect at leave.

use std::fmt::Write as _;
use std::path::Path;

use super::commands::{Command, Param, Registry};
use super::types::{Direction, Field, Range, Struct, Types};
use crate::apis::ApiFacts;
use crate::lang;
use crate::lang::source::{Source, Sources};

/// Returns the description of an API whose registry declares directions and ranges; `written` are the descriptions
/// under `apis/`.
pub fn describe(api: &ApiFacts, registry: &Registry, written: &Sources) -> Source {
    let by_hand = lang::described_commands(written);
    let types = &registry.types;
    let mut text = format!("//! {}.\n\napi {};\n", api.title, api.name);
    for structure in types.structs.iter().filter(|found| is_of_calls(found)) {
        text += &layout(types, structure);
    }
    let commands = registry.commands.values();
    for of_registry in commands.filter(|command| !by_hand.contains(command.name.as_str())) {
        text += &command(types, of_registry);
    }
    // Diagnostics name this path.
    let path = Path::new(&api.registry).with_file_name("*.json").display().to_string();
    Source { path, text }
}

/// Whether calls pass the struct; the structs of the loader are in no call.
fn is_of_calls(structure: &Struct) -> bool {
    !structure.name.starts_with("zel_")
}

fn layout(types: &Types, structure: &Struct) -> String {
    let mut text = format!("\nlayout {} {{\n", structure.name);
    for field in &structure.fields {
        let ty = field_type(types, structure, field);
        writeln!(text, "    {}: {ty};", field.name).expect("a string takes any text");
    }
    text + "}\n"
}

fn field_type(types: &Types, structure: &Struct, field: &Field) -> String {
    if let (Some(stype), "stype") = (&structure.stype, field.name.as_str()) {
        return format!("u32 = {stype}");
    }
    if structure.stype.is_some() && field.name == "pNext" {
        return "chain".to_owned();
    }
    match (&field.range, field.ty.pointers.len()) {
        (Some(Range::Text), _) => "text".to_owned(),
        (Some(Range::Texts(count)), _) => format!("strings[{count}]"),
        (Some(Range::Elements(count)), 1) => {
            format!("read {}[{count}]", element_type(types, field))
        }
        // Specialisation constants: only the kernel knows their types. Eight bytes hold the largest constant.
        (Some(Range::Elements(count)), 2) if field.ty.base == "void" => {
            format!("read u8[8][{count}]")
        }
        (Some(Range::Elements(count)), _) => format!("read address[{count}]"),
        (None, 0) => match field.array {
            Some(len) => format!("[{}; {len}]", element_type(types, field)),
            None => element_type(types, field),
        },
        (None, _) => "address".to_owned(),
    }
}

/// The type of a field, of the elements of an array, or of the memory that the field points at.
fn element_type(types: &Types, field: &Field) -> String {
    let name = &field.ty.base;
    if types.structure(name).is_some() {
        return name.clone();
    }
    let simple = types.simplified(&field.ty);
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

fn command(types: &Types, command: &Command) -> String {
    let params = || command.params.iter();
    let reads = params().filter_map(|param| read(types, command, param));
    let writes = params().filter_map(|param| write(types, command, param));
    let ignored = params().filter(|param| is_address(types, command, param));
    let ignored: Vec<&str> = ignored.map(|param| param.name.as_str()).collect();
    let effect = if is_at_leave(command) { "leave" } else { "enter" };
    let mut text = format!("\n@effect({effect})\ncommand {} {{\n", command.name);
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

/// Whether the command takes effect when it returns: it waits, or it writes memory and releases no object.
fn is_at_leave(command: &Command) -> bool {
    let releases = command.params.iter().any(|param| param.is_released);
    let waits = ["Synchronize", "QueryStatus"].iter().any(|word| command.name.contains(word));
    !releases && (waits || command.params.iter().any(is_written))
}

fn read(types: &Types, command: &Command, param: &Param) -> Option<String> {
    let is_read = matches!(param.direction, Some(Direction::In | Direction::InOut));
    let is_written_only = param.direction == Some(Direction::InOut)
        && !is_counter(command, param)
        && chained(types, param).is_none();
    if !is_read || is_written_only {
        return None;
    }
    extent(types, command, param)
}

fn write(types: &Types, command: &Command, param: &Param) -> Option<String> {
    is_written(param).then(|| extent(types, command, param)).flatten()
}

fn is_written(param: &Param) -> bool {
    matches!(param.direction, Some(Direction::Out | Direction::InOut))
}

/// The memory that a parameter points at; `None` if the registry does not say how much that is.
fn extent(types: &Types, command: &Command, param: &Param) -> Option<String> {
    let name = &param.name;
    if is_next(param) {
        return Some(format!("chain({name})"));
    }
    let (base, depth) = (&param.declared.base, param.declared.pointers.len());
    let structure = types.structure(base);
    if let (Some(structure), 0) = (structure, depth) {
        return Some(format!("{name}[{}]", structure.size));
    }
    let count = match &param.range {
        Some(Range::Elements(count)) => Some(elements(count)),
        _ => None,
    };
    if let Some(structure) = chained(types, param) {
        return Some(match count {
            Some(count) => format!("chain({name}, {}, {count})", structure.name),
            None => format!("chain({name}, {})", structure.name),
        });
    }
    match (base.as_str(), depth) {
        (_, 0) => None,
        ("char", 1) if param.direction == Some(Direction::In) => Some(format!("text({name})")),
        (_, 1) if structure.is_some() => {
            let size = structure?.size;
            Some(match count {
                Some(count) => format!("{name}[{count} * {size}]"),
                None => format!("{name}[{size}]"),
            })
        }
        _ if count.is_some() => count.map(|count| format!("{name}[{count}]")),
        ("void" | "char" | "uint8_t", 1) => None,
        _ if param.direction == Some(Direction::In) && !is_counter(command, param) => None,
        _ => Some(name.clone()),
    }
}

/// A count in the language. A count behind a pointer is the pointer's first element.
fn elements(count: &str) -> String {
    match count.strip_prefix('*') {
        Some(pointer) => format!("{pointer}[0]"),
        None => count.to_owned(),
    }
}

/// Whether the parameter points at extensions of the call itself.
fn is_next(param: &Param) -> bool {
    param.name == "pNext" && param.declared.base == "void"
}

/// The struct that a parameter points at, if the struct points at other memory.
fn chained<'a>(types: &'a Types, param: &Param) -> Option<&'a Struct> {
    let structure = types.structure(&param.declared.base)?;
    let has_pointers = || structure.fields.iter().any(|field| field.range.is_some());
    (param.declared.pointers.len() == 1 && (structure.stype.is_some() || has_pointers()))
        .then_some(structure)
}

/// Whether the parameter points at a count: the program says how many elements it has room for, and the command
/// writes how many elements exist.
fn is_counter(command: &Command, param: &Param) -> bool {
    let wanted = format!("*{}", param.name);
    command
        .params
        .iter()
        .any(|other| matches!(&other.range, Some(Range::Elements(count)) if *count == wanted))
        || param.direction == Some(Direction::InOut)
            && ["pCount", "pSize"].contains(&param.name.as_str())
}

/// Whether the parameter is a pointer at unknown memory.
fn is_address(types: &Types, command: &Command, param: &Param) -> bool {
    (param.declared.is_pointer() || types.is_function(&param.declared.base))
        && read(types, command, param).is_none()
        && write(types, command, param).is_none()
}
