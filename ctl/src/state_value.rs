//! Formats tracked state as JSON, and as an indented tree for people. Byte strings are cut at 16 bytes, in JSON they
//! have only their size; an enum value without a name is hexadecimal.

use gapii_follow::value::Value;
use gapii_trace::description::Description;
use serde_json::{Map, json};

/// Longest byte string that is printed whole, in bytes.
const BYTES_MAX: usize = 16;

/// Converts a value to JSON: enum values by name, objects by kind and name, addresses as `"0x…"`, byte strings by
/// size and first bytes, maps as objects.
pub fn json(value: &Value) -> serde_json::Value {
    match value {
        Value::None => serde_json::Value::Null,
        Value::Bool(value) => json!(value),
        Value::Number(value) => json!(value),
        Value::Unsigned(value) => json!(value),
        Value::Float(value) => json!(value),
        Value::Handle(value) => json!(value),
        Value::Text(text) => json!(text),
        Value::Bytes(bytes) => json!({ "size": bytes.len() }),
        Value::List(elements) => elements.iter().map(json).collect(),
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| (inline(key), json(value)));
            serde_json::Value::Object(entries.collect())
        }
        Value::Record(fields) => {
            let fields = fields.iter().map(|(name, value)| ((*name).to_owned(), json(value)));
            serde_json::Value::Object(fields.collect::<Map<_, _>>())
        }
        Value::Object { kind, name, serial } => {
            json!({ "kind": kind, "name": name, "serial": serial })
        }
        Value::Enum { .. } | Value::Bits { .. } | Value::Named(_) | Value::Address(_) => {
            json!(inline(value))
        }
    }
}

/// Appends the leaves of `value` that differ from `before`, one line each, indented by `depth` levels.
pub fn write_tree(value: &Value, before: &Value, depth: usize, text: &mut String) {
    for (name, part) in parts(value) {
        let old = part_of(before, &name);
        if old == Some(part) {
            continue;
        }
        let indent = "  ".repeat(depth);
        if parts(part).next().is_some() {
            *text += &format!("{indent}{name}\n");
            write_tree(part, old.unwrap_or(&Value::None), depth + 1, text);
        } else {
            *text += &format!("{indent}{name}: {}\n", inline(part));
        }
    }
}

/// Returns the named parts of a value; none for a leaf.
pub fn parts(value: &Value) -> Box<dyn Iterator<Item = (String, &Value)> + '_> {
    match value {
        Value::Record(fields) => {
            Box::new(fields.iter().map(|(name, value)| ((*name).to_owned(), value)))
        }
        Value::Map(entries) => Box::new(entries.iter().map(|(key, value)| (inline(key), value))),
        Value::List(elements) => {
            Box::new(elements.iter().enumerate().map(|(at, value)| (format!("[{at}]"), value)))
        }
        _ => Box::new(std::iter::empty()),
    }
}

/// Returns the part of a value with this name.
pub fn part_of<'v>(value: &'v Value, name: &str) -> Option<&'v Value> {
    parts(value).find(|(known, _)| known == name).map(|(_, part)| part)
}

/// Returns how many parts a list, map or record has; `None` for a leaf.
pub fn entries(value: &Value) -> Option<usize> {
    match value {
        Value::List(elements) => Some(elements.len()),
        Value::Map(entries) => Some(entries.len()),
        Value::Record(fields) => Some(fields.len()),
        _ => None,
    }
}

/// Formats a leaf in one line.
fn inline(value: &Value) -> String {
    match value {
        Value::None => "none".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(value) => value.to_string(),
        Value::Unsigned(value) => value.to_string(),
        Value::Float(value) => value.to_string(),
        Value::Named(name) => (*name).to_owned(),
        Value::Address(0) => "null".to_owned(),
        Value::Address(address) => format!("{address:#x}"),
        Value::Handle(handle) => handle.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Bytes(bytes) => inline_bytes(bytes),
        Value::Object { kind, name, .. } if u32::try_from(*name).is_ok() => {
            format!("{kind} {name}")
        }
        Value::Object { kind, name: handle, .. } => format!("{kind} {handle:#x}"),
        Value::Enum { group, value } => enum_name(group, *value),
        Value::Bits { group, value } => bit_names(group, *value),
        Value::List(elements) if elements.is_empty() => "[]".to_owned(),
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::List(_) | Value::Map(_) | Value::Record(_) => "…".to_owned(),
    }
}

fn inline_bytes(bytes: &[u8]) -> String {
    let shown = bytes.get(..BYTES_MAX).unwrap_or(bytes);
    let digits: Vec<_> = shown.iter().map(|byte| format!("{byte:02x}")).collect();
    let more = if shown.len() < bytes.len() { " …" } else { "" };
    match bytes.len() {
        0 => "0 bytes".to_owned(),
        len => format!("{len} bytes: {}{more}", digits.join(" ")),
    }
}

fn group_index(group: &str) -> Option<u16> {
    let groups = Description::built_in().groups();
    groups.iter().position(|known| known.name == group).map(|index| index as u16)
}

fn enum_name(group: &str, value: u64) -> String {
    let name = group_index(group).and_then(|index| Description::built_in().enum_name(index, value));
    name.map_or_else(|| format!("{value:#x}"), str::to_owned)
}

fn bit_names(group: &str, value: u64) -> String {
    let Some(index) = group_index(group) else { return format!("{value:#x}") };
    Description::built_in().bits_text(index, value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blend(factor: u64, on: bool) -> Value {
        let factor = Value::Enum { group: "GL", value: factor };
        Value::Record(vec![
            ("factor", factor),
            ("on", Value::Bool(on)),
            ("units", Value::List(vec![Value::Number(0), Value::Number(7)])),
        ])
    }

    #[test]
    fn tree_shows_what_changed() {
        let mut text = String::new();
        write_tree(&blend(0x0302, true), &blend(0x0302, false), 1, &mut text);
        assert_eq!(text, "  on: true\n");
        text.clear();
        write_tree(&blend(0x0302, true), &Value::None, 0, &mut text);
        assert_eq!(text, "factor: GL_SRC_ALPHA\non: true\nunits\n  [0]: 0\n  [1]: 7\n");
    }

    #[test]
    fn handles_look_like_the_fields_that_hold_them() {
        let object = |name| Value::Object { kind: "Surface", name, serial: 1 };
        assert_eq!(inline(&object(0x5599_d897_0750)), "Surface 0x5599d8970750");
        assert_eq!(inline(&object(7)), "Surface 7");
    }

    #[test]
    fn json_has_names_and_nothing_left_out() {
        let shown = json(&blend(0x0303, false));
        let expected = json!({ "factor": "GL_ONE_MINUS_SRC_ALPHA", "on": false, "units": [0, 7] });
        assert_eq!(shown, expected);
    }
}
