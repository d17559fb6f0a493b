//! Formats tracked state as JSON, and as an indented tree for people. Byte strings are cut at 16 bytes, in JSON they
//! have only their size; an enum value without a name is hexadecimal.

use std::collections::BTreeMap;

use gapii_follow::generated::describe::initial;
use gapii_follow::value::Value;
use gapii_trace::description::Description;
use serde_json::{Map, json};

/// Longest byte string that is printed whole, in bytes.
const BYTES_MAX: usize = 16;
/// Longest list that is printed in a line, in elements.
const LIST_MAX: usize = 64;

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

/// Appends the leaves of `value` that differ from `before`, all of them without it, one line each, indented by `depth`
/// levels; a short list of numbers counts as one. An object that is not in `before` has a line, its kind, and the leaves
/// in which it differs from a new object.
pub fn write_tree(value: &Value, before: Option<&Value>, depth: usize, text: &mut String) {
    for (at, (name, part)) in parts(value).enumerate() {
        let old = before.and_then(|before| part_of(before, &name));
        if old == Some(part) {
            continue;
        }
        let made = before.is_some() && old.is_none();
        let new = kind_at(value, at).filter(|_| made).map(new_object);
        let indent = "  ".repeat(depth);
        if new.is_some() || (parts(part).next().is_some() && !is_short(part)) {
            *text += &format!("{indent}{name}\n");
            write_tree(part, new.as_ref().or(old), depth + 1, text);
        } else {
            *text += &format!("{indent}{name}: {}\n", inline(part));
        }
    }
}

/// Takes the path to a changed part, and its value before and after; `None` where it does not exist.
pub type Changed<'c> = dyn FnMut(&[String], [Option<&Value>; 2]) + 'c;

/// Calls `changed` with the path and both values of each part that differs between two values: the smallest parts, and
/// whole objects or entries that only one of them has. `path` leads to the values themselves.
pub fn compare(
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<String>,
    changed: &mut Changed<'_>,
) {
    let (Some(old), Some(new)) = (before, after) else {
        if before.is_some() || after.is_some() {
            changed(path, [before, after]);
        }
        return;
    };
    if is_same(old, new) {
        return;
    }
    let has_parts = |value| parts(value).next().is_some() && !is_short(value);
    // A list of another length is another value: its elements have no names.
    let is_other_list =
        matches!((old, new), (Value::List(old), Value::List(new)) if old.len() != new.len());
    if !has_parts(old) || !has_parts(new) || is_other_list {
        return changed(path, [before, after]);
    }
    let mut olds: BTreeMap<_, _> = identified(old).collect();
    for (identity, new) in identified(new) {
        let old = olds.remove(&identity);
        path.push(identity.0);
        compare(old, Some(new), path, changed);
        path.pop();
    }
    for ((name, _), gone) in identified(old).filter(|(identity, _)| olds.contains_key(identity)) {
        path.push(name);
        compare(Some(gone), None, path, changed);
        path.pop();
    }
}

/// Whether two values are the same: a number that is none is the same as itself.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Float(one), Value::Float(other)) => {
            one == other || one.to_bits() == other.to_bits()
        }
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        _ => one == other,
    }
}

/// Returns the parts of a value with their names, and the serial number of an object: a name may be that of an object, and of a
/// deleted one.
fn identified(value: &Value) -> impl Iterator<Item = ((String, u32), &Value)> {
    let serial = move |at: usize| match value {
        Value::Map(entries) => match entries.get(at) {
            Some((Value::Object { serial, .. }, _)) => *serial,
            _ => 0,
        },
        _ => 0,
    };
    parts(value).enumerate().map(move |(at, (name, part))| ((name, serial(at)), part))
}

/// Whether a value is a list of numbers that fits in a line, such as a colour or a matrix.
fn is_short(value: &Value) -> bool {
    let Value::List(elements) = value else { return false };
    let is_number = |it: &Value| {
        matches!(it, Value::Bool(_) | Value::Number(_) | Value::Unsigned(_) | Value::Float(_))
    };
    elements.len() <= LIST_MAX && elements.iter().all(is_number)
}

/// Returns the state of a new object without its kind, such as `Window` of a surface.
fn new_object(kind: &str) -> Value {
    let mut state = initial(kind);
    if let Value::Record(fields) = &mut state {
        fields.retain(|(name, _)| *name != "kind");
    }
    state
}

/// Returns the kind of the object that is the key of an entry.
fn kind_at(value: &Value, entry: usize) -> Option<&'static str> {
    match value {
        Value::Map(entries) => match entries.get(entry)?.0 {
            Value::Object { kind, .. } => Some(kind),
            _ => None,
        },
        _ => None,
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
        Value::Float(value) => float(*value),
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
        Value::List(elements) if is_short(value) => {
            format!("[{}]", elements.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        Value::Map(entries) if entries.is_empty() => "{}".to_owned(),
        Value::List(_) | Value::Map(_) | Value::Record(_) => "…".to_owned(),
    }
}

/// Formats a number with the fewest digits that tell it from others: of its single precision if it has no more.
fn float(value: f64) -> String {
    let single = value as f32;
    match f64::from(single) == value {
        true => single.to_string(),
        false => value.to_string(),
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
    // No state is EGL_FALSE: what is true or false is no enum. It stands for no value, such as no platform.
    if (group, value) == ("EGL", 0) {
        return "none".to_owned();
    }
    let name = group_index(group).and_then(|index| Description::built_in().enum_name(index, value));
    name.map_or_else(|| format!("{value:#x}"), str::to_owned)
}

fn bit_names(group: &str, value: u64) -> String {
    let Some(index) = group_index(group) else { return format!("{value:#x}") };
    Description::built_in().bits_text(index, value)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use gapii_follow::value::Describe;
    use gapii_follow::{Context, Group};

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
    fn state_begins_with_the_values_of_the_specifications() {
        let texture = json(&initial("Texture"));
        let itself = json!(["GL_RED", "GL_GREEN", "GL_BLUE", "GL_ALPHA"]);
        assert_eq!(texture["swizzle"], itself);
        let context = json(&Context::new(0, Arc::<Group>::default(), (3, 2)).describe());
        let whole = json!([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        assert_eq!(context["bounding_box"], whole);
        assert_eq!(context["targets"][0]["source_rgb"], json!("GL_ONE"));
        assert_eq!(context["targets"][0]["destination_rgb"], json!("GL_ZERO"));
    }

    #[test]
    fn what_nobody_told_is_not_a_number() {
        let of = |kind, field: &str| json(&initial(kind))[field].clone();
        assert_eq!(of("Surface", "width"), json!(null));
        assert_eq!(of("Buffer", "contents"), json!(null));
    }

    #[test]
    fn tree_shows_what_changed() {
        let mut text = String::new();
        write_tree(&blend(0x0302, true), Some(&blend(0x0302, false)), 1, &mut text);
        assert_eq!(text, "  on: true\n");
        text.clear();
        write_tree(&blend(0x0302, true), None, 0, &mut text);
        assert_eq!(text, "factor: GL_SRC_ALPHA\non: true\nunits: [0, 7]\n");
    }

    #[test]
    fn comparison_finds_the_smallest_parts_that_differ() {
        let objects = |entries: &[(&str, u64)]| {
            let entries = entries
                .iter()
                .map(|(name, factor)| (Value::Text((*name).to_owned()), blend(*factor, true)));
            Value::Map(entries.collect())
        };
        let differing = |before: &Value, after: &Value| {
            let mut found = Vec::new();
            compare(Some(before), Some(after), &mut Vec::new(), &mut |path, [old, new]| {
                found.push((path.join("."), old.is_some(), new.is_some()));
            });
            found
        };
        let before = objects(&[("a", 0x0302), ("b", 0x0302)]);
        assert_eq!(differing(&before, &before), []);
        let after = objects(&[("b", 0x0303), ("c", 0x0302)]);
        let part = |path: &str, old, new| (path.to_owned(), old, new);
        let expected = [
            part("\"b\".factor", true, true),
            part("\"c\"", false, true),
            part("\"a\"", true, false),
        ];
        assert_eq!(differing(&before, &after), expected);
    }

    #[test]
    fn comparison_knows_objects_by_more_than_their_names() {
        let textures = |entries: &[(u32, i64)]| {
            let key = |serial| Value::Object { kind: "Texture", name: 5, serial };
            let entries = entries.iter().map(|(serial, size)| (key(*serial), Value::Number(*size)));
            Value::Map(entries.collect())
        };
        let mut found = Vec::new();
        // The first one has lost its name, and comes behind the second one.
        let (before, after) = (textures(&[(1, 7)]), textures(&[(2, 7), (1, 8)]));
        compare(Some(&before), Some(&after), &mut Vec::new(), &mut |path, [old, new]| {
            found.push((path.join("."), old.cloned(), new.cloned()));
        });
        let change = |old, new| ("Texture 5".to_owned(), old, new);
        let number = |number| Some(Value::Number(number));
        assert_eq!(found, [change(None, number(7)), change(number(7), number(8))]);
    }

    #[test]
    fn number_that_is_none_is_no_change() {
        let list =
            |numbers: &[f64]| Value::List(numbers.iter().map(|it| Value::Float(*it)).collect());
        let mut changes = 0;
        let mut count = |before: &Value, after: &Value| {
            compare(Some(before), Some(after), &mut Vec::new(), &mut |_, _| changes += 1);
        };
        count(&Value::Float(f64::NAN), &Value::Float(f64::NAN));
        count(&list(&[1.0, f64::NAN]), &list(&[1.0, f64::NAN]));
        count(&Value::Float(0.0), &Value::Float(-0.0));
        assert_eq!(changes, 0);
    }

    #[test]
    fn tree_shows_of_an_object_what_it_did_not_begin_with() {
        let sampler = Value::Object { kind: "Sampler", name: 3, serial: 1 };
        let Value::Record(mut fields) = initial("Sampler") else { panic!("a record") };
        let samplers =
            |fields: &[_]| Value::Map(vec![(sampler.clone(), Value::Record(fields.to_vec()))]);
        let before = Value::Map(Vec::new());
        let mut text = String::new();
        write_tree(&samplers(&fields), Some(&before), 0, &mut text);
        assert_eq!(text, "Sampler 3\n");
        text.clear();
        fields[0].1 = Value::Number(7);
        write_tree(&samplers(&fields), Some(&before), 0, &mut text);
        assert_eq!(text, format!("Sampler 3\n  {}: 7\n", fields[0].0));
        text.clear();
        write_tree(&samplers(&fields), None, 0, &mut text);
        assert!(text.lines().count() > fields.len(), "{text}");
    }

    #[test]
    fn handles_look_like_the_fields_that_hold_them() {
        let object = |name| Value::Object { kind: "Surface", name, serial: 1 };
        assert_eq!(inline(&object(0x5599_d897_0750)), "Surface 0x5599d8970750");
        assert_eq!(inline(&object(7)), "Surface 7");
    }

    #[test]
    fn numbers_of_single_precision_have_no_digits_of_double_precision() {
        assert_eq!(inline(&Value::Float(f64::from(0.1_f32))), "0.1");
        assert_eq!(inline(&Value::Float(0.1)), "0.1");
        assert_eq!(inline(&Value::Float(16_777_217.0)), "16777217");
    }

    #[test]
    fn json_has_names_and_nothing_left_out() {
        let shown = json(&blend(0x0303, false));
        let expected = json!({ "factor": "GL_ONE_MINUS_SRC_ALPHA", "on": false, "units": [0, 7] });
        assert_eq!(shown, expected);
    }
}
