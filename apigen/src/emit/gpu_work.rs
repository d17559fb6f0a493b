//! `gpu_work.rs` of the shim: the ids of the commands with the role `works_on_gpu`, whose time on the GPU the shim measures.

use std::collections::BTreeSet;

use super::output::{file, wrapped};
use crate::lang::typed::{Program, Role, Slotted};
use crate::model::Model;

/// Returns the file: one list of ids, ascending.
pub fn emit(model: &Model, program: &Program) -> String {
    let has_role = |role: &(Role, Slotted), name: &str| {
        role.0 == Role::WorksOnGpu && matches!(&role.1, Slotted::Command(it) if it == name)
    };
    let functions = model.functions.iter();
    let ids: BTreeSet<_> = functions
        .filter(|function| program.roles.iter().any(|role| has_role(role, &function.name)))
        .map(|function| (function.id, function.constant.as_str()))
        .collect();
    let ids = ids.into_iter().map(|(_, constant)| format!("ids::{constant},"));
    let list = wrapped("pub const GPU_WORK: &[u16] = &[", ids, "];");
    let doc = "/// Commands that the GPU executes, by id.\n";
    file("use super::ids;", &[format!("{doc}{list}")])
}
