//! `command_lists.rs` of the crate of commands: the ids of the commands that end a frame, and of those that begin or end a debug group
//! (roles `begins_group` and `ends_group`).

use std::collections::BTreeSet;

use super::output::{file, wrapped};
use crate::lang::typed::{Program, Role, Slotted};
use crate::model::{Function, Model};
use crate::parts::Does;

/// Returns the file: two lists, each ascending by id.
pub fn emit(model: &Model, program: &Program) -> String {
    let commands = model.functions.iter().zip(&program.commands);
    let ends = commands
        .filter(|(_, command)| command.frame.is_some() || Does::of(&command.leave).ends_frame);
    let ends = ends.map(|(function, _)| function);
    let groups = program.roles.iter().filter_map(|(role, of)| match of {
        Slotted::Command(name) if matches!(role, Role::BeginsGroup | Role::EndsGroup) => {
            Some(name.as_str())
        }
        _ => None,
    });
    let groups: BTreeSet<&str> = groups.collect();
    let of_groups =
        model.functions.iter().filter(|function| groups.contains(function.name.as_str()));
    file(
        "use crate::ids;",
        &[
            list("FRAME_ENDS", "Commands that end a frame if they succeed, by id.", ends),
            list("OF_GROUPS", "Commands that begin or end a debug group, by id.", of_groups),
        ],
    )
}

/// A list of commands, ascending by id.
pub fn list<'a>(name: &str, doc: &str, functions: impl Iterator<Item = &'a Function>) -> String {
    let ids: BTreeSet<_> =
        functions.map(|function| (function.id, function.constant.as_str())).collect();
    let ids = ids.into_iter().map(|(_, constant)| format!("ids::{constant},"));
    let list = wrapped(&format!("pub const {name}: &[u16] = &["), ids, "];");
    format!("/// {doc}\n{list}")
}
