//! `enums.rs` of the protocol: names of enum values and bits.

use super::file;
use crate::model::{Group, Model};

pub fn emit(model: &Model) -> String {
    let groups: Vec<String> = model.groups.iter().map(group).collect();
    let items = [format!(
        "/// Groups by index: all names of EGL, all names of OpenGL, then the groups of parameters.\n\
         pub static GROUPS: [EnumGroup; {}] = [{}];",
        groups.len(),
        groups.join("\n")
    )];
    file("use crate::desc::EnumGroup;", &items)
}

fn group(group: &Group) -> String {
    let values: Vec<String> =
        group.values.iter().map(|(value, name)| format!("({value:#06x}, \"{name}\"),")).collect();
    format!(
        "EnumGroup {{ name: \"{}\", values: &[{}], fallback: {:?} }},",
        group.name,
        values.join("\n"),
        group.fallback
    )
}
