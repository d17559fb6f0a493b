//! Removes fields that the trace does not tell from a state, so that none is shown with a value that is only the
//! initial one: the size of a window that nobody asked for, and the contents of a buffer, which are kept only where
//! draws read indices from it. `dump --resources` has the contents.

use gapii_follow::value::Value;

/// Removes them from the state of a process or of a share group.
pub fn leave_out(state: &mut Value) {
    let Value::Record(sections) = state else { return };
    for (name, section) in sections {
        match *name {
            "surfaces" => each_object(section, |surface| {
                let is_requested = is(surface, "kind", &Value::Named("Pbuffer"));
                if !is_requested && is(surface, "width", &Value::Number(0)) {
                    surface.retain(|(name, _)| !matches!(*name, "width" | "height"));
                }
            }),
            "buffers" => each_object(section, |buffer| {
                if is(buffer, "contents", &Value::Bytes(Vec::new())) {
                    buffer.retain(|(name, _)| *name != "contents");
                }
            }),
            _ => {}
        }
    }
}

fn each_object(section: &mut Value, mut act: impl FnMut(&mut Vec<(&'static str, Value)>)) {
    let Value::Map(entries) = section else { return };
    for (_, object) in entries {
        if let Value::Record(fields) = object {
            act(fields);
        }
    }
}

fn is(fields: &[(&'static str, Value)], name: &str, value: &Value) -> bool {
    fields.iter().any(|(known, found)| *known == name && found == value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(section: &'static str, fields: &[(&'static str, Value)]) -> Vec<&'static str> {
        let object = Value::Object { kind: "Toy", name: 7, serial: 1 };
        let entries = vec![(object, Value::Record(fields.to_vec()))];
        let mut state = Value::Record(vec![(section, Value::Map(entries))]);
        leave_out(&mut state);
        let Value::Record(sections) = state else { panic!("a record") };
        let [(_, Value::Map(entries))] = &sections[..] else { panic!("a section") };
        let Value::Record(fields) = &entries[0].1 else { panic!("a record") };
        fields.iter().map(|(name, _)| *name).collect()
    }

    #[test]
    fn only_what_nobody_told_is_left_out() {
        let surface = |kind, width| {
            after(
                "surfaces",
                &[
                    ("kind", Value::Named(kind)),
                    ("width", Value::Number(width)),
                    ("height", Value::Number(width)),
                ],
            )
        };
        assert_eq!(surface("Window", 0), ["kind"]);
        assert_eq!(surface("Window", 64), ["kind", "width", "height"]);
        assert_eq!(surface("Pbuffer", 0), ["kind", "width", "height"]);
        let buffer = |bytes: &[u8]| {
            after(
                "buffers",
                &[("size", Value::Number(4)), ("contents", Value::Bytes(bytes.to_vec()))],
            )
        };
        assert_eq!(buffer(&[]), ["size"]);
        assert_eq!(buffer(&[1; 4]), ["size", "contents"]);
    }
}
