//! Puts right what a state does not say as people read it. Removes what the trace does not tell, so that nothing is shown
//! with a value that is only the initial one: the size of a window that nobody asked for, and the contents of a buffer,
//! which are kept only where draws read indices from it (`dump --resources` has them). Names what the state keeps as 0:
//! factors and operations that are `GL_ZERO`, components of a texture that are not swizzled, and a bounding box that was
//! never set.

use gapii_commands::constants::{GL_ALPHA, GL_BLUE, GL_GREEN, GL_RED};
use gapii_follow::value::Value;

/// Fields of blending and of the stencil test in which 0 is `GL_ZERO`.
const FACTORS_AND_OPERATIONS: [&str; 7] = [
    "source_rgb",
    "source_alpha",
    "destination_rgb",
    "destination_alpha",
    "fail",
    "depth_fail",
    "depth_pass",
];

/// Does so in a state of any scope.
pub fn put_right(value: &mut Value) {
    match value {
        Value::Record(fields) => put_fields_right(fields),
        Value::List(elements) => elements.iter_mut().for_each(put_right),
        Value::Map(entries) => {
            for (key, entry) in entries {
                if let Value::Object { kind, .. } = key {
                    put_object_right(kind, entry);
                }
                put_right(entry);
            }
        }
        _ => {}
    }
}

fn put_fields_right(fields: &mut [(&'static str, Value)]) {
    for (name, field) in fields {
        if FACTORS_AND_OPERATIONS.contains(name) && *field == gl(0) {
            *field = Value::Named("GL_ZERO");
        }
        if *name == "bounding_box" && *field == floats([0.0; 8]) {
            // The initial value of GL_PRIMITIVE_BOUNDING_BOX.
            *field = floats([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, 1.0, 1.0]);
        }
        put_right(field);
    }
}

/// Does so in the state of an object of this kind.
pub fn put_object_right(kind: &str, state: &mut Value) {
    let Value::Record(fields) = state else { return };
    match kind {
        "Surface" => {
            let is_requested = is(fields, "kind", &Value::Named("Pbuffer"));
            if !is_requested && is(fields, "width", &Value::Number(0)) {
                fields.retain(|(name, _)| !matches!(*name, "width" | "height"));
            }
        }
        "Buffer" if is(fields, "contents", &Value::Bytes(Vec::new())) => {
            fields.retain(|(name, _)| *name != "contents");
        }
        "Texture" => {
            let swizzle = fields.iter_mut().find(|(name, _)| *name == "swizzle");
            let Some((_, Value::List(components))) = swizzle else { return };
            for (component, itself) in
                components.iter_mut().zip([GL_RED, GL_GREEN, GL_BLUE, GL_ALPHA])
            {
                if *component == gl(0) {
                    *component = gl(itself);
                }
            }
        }
        _ => {}
    }
}

fn floats(values: [f64; 8]) -> Value {
    Value::List(values.map(Value::Float).to_vec())
}

fn gl(value: u32) -> Value {
    Value::Enum { group: "GL", value: u64::from(value) }
}

fn is(fields: &[(&'static str, Value)], name: &str, value: &Value) -> bool {
    fields.iter().any(|(known, found)| *known == name && found == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(kind: &'static str, fields: &[(&'static str, Value)]) -> Vec<(&'static str, Value)> {
        let object = Value::Object { kind, name: 7, serial: 1 };
        let entries = vec![(object, Value::Record(fields.to_vec()))];
        let mut state = Value::Record(vec![("objects", Value::Map(entries))]);
        put_right(&mut state);
        let Value::Record(sections) = state else { panic!("a record") };
        let [(_, Value::Map(entries))] = &sections[..] else { panic!("a section") };
        let Value::Record(fields) = &entries[0].1 else { panic!("a record") };
        fields.clone()
    }

    fn names_after(kind: &'static str, fields: &[(&'static str, Value)]) -> Vec<&'static str> {
        after(kind, fields).iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn only_what_nobody_told_is_left_out() {
        let surface = |kind, width| {
            let size = Value::Number(width);
            let sort = ("kind", Value::Named(kind));
            names_after("Surface", &[sort, ("width", size.clone()), ("height", size)])
        };
        assert_eq!(surface("Window", 0), ["kind"]);
        assert_eq!(surface("Window", 64), ["kind", "width", "height"]);
        assert_eq!(surface("Pbuffer", 0), ["kind", "width", "height"]);
        let buffer = |bytes: &[u8]| {
            let contents = ("contents", Value::Bytes(bytes.to_vec()));
            names_after("Buffer", &[("size", Value::Number(4)), contents])
        };
        assert_eq!(buffer(&[]), ["size"]);
        assert_eq!(buffer(&[1; 4]), ["size", "contents"]);
    }

    #[test]
    fn zeros_have_the_names_of_their_places() {
        let list = |values: [u32; 4]| ("swizzle", Value::List(values.map(gl).to_vec()));
        let swizzled = after("Texture", &[list([0, GL_RED, 0, 1])]);
        assert_eq!(swizzled, [list([GL_RED, GL_RED, GL_BLUE, 1])]);
        let mut blending = Value::Record(vec![("destination_rgb", gl(0)), ("target", gl(0))]);
        put_right(&mut blending);
        let expected = vec![("destination_rgb", Value::Named("GL_ZERO")), ("target", gl(0))];
        assert_eq!(blending, Value::Record(expected));
    }
}
