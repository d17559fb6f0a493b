//! `gpu_work.rs` of the shim: the ids of the commands with the role `works_on_gpu`, whose time on the GPU the shim measures; and
//! where commands have the events that they wait for (role `awaits`).

use std::collections::{BTreeMap, BTreeSet};

use super::command_lists::list;
use super::output::{file, wrapped};
use crate::lang::typed::{Program, Role, Slotted};
use crate::model::{Function, Model};

/// Returns the file: two lists, each ascending by id.
pub fn emit(model: &Model, program: &Program) -> String {
    let works = program.roles.iter().filter_map(|(role, of)| match of {
        Slotted::Command(name) if *role == Role::WorksOnGpu => Some(name.as_str()),
        _ => None,
    });
    let works: BTreeSet<&str> = works.collect();
    let functions = model.functions.iter();
    let work = functions.filter(|function| works.contains(function.name.as_str()));
    file(
        "use super::ids;",
        &[list("GPU_WORK", "Commands that the GPU executes, by id.", work), waits(model, program)],
    )
}

/// The list of commands that wait for events, with the index of the word that has the number of events.
fn waits(model: &Model, program: &Program) -> String {
    let arrays = program.roles.iter().filter_map(|(role, of)| match of {
        Slotted::Param(command, at) if *role == Role::Awaits => Some((command.as_str(), *at)),
        _ => None,
    });
    let arrays: BTreeMap<&str, usize> = arrays.collect();
    let word = |function: &Function| {
        let count = arrays.get(function.name.as_str())?.checked_sub(1)?;
        function.params.get(count).map(|count| count.offset / 8)
    };
    let waits: BTreeSet<_> = model
        .functions
        .iter()
        .filter_map(|function| Some((function.id, function.constant.as_str(), word(function)?)))
        .collect();
    let waits = waits.into_iter().map(|(_, constant, word)| format!("(ids::{constant}, {word}),"));
    let list = wrapped("pub const GPU_WAITS: &[(u16, u8)] = &[", waits, "];");
    format!(
        "/// Commands that wait for events, by id, with the index of the argument word that has the number of the events.\n\
         /// The next word has their address.\n{list}"
    )
}
