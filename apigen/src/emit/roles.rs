//! `roles.rs` of the crate `analysis`: the commands that have each role of statistics and differences, by id, and the parameters
//! with the roles that a trace without contents needs.

use std::collections::{BTreeMap, BTreeSet};

use super::output::{file, wrapped};
use crate::lang::typed::{Program, Role, Slotted};
use crate::model::Model;

pub fn emit(model: &Model, program: &Program) -> String {
    let functions = model.functions.iter();
    let ids: BTreeMap<&str, (u16, &str)> =
        functions.map(|it| (it.name.as_str(), (it.id, it.constant.as_str()))).collect();
    let role = |wanted: Role| {
        let here = program.roles.iter().filter(|(role, _)| *role == wanted);
        let commands = here.filter_map(|(_, subject)| match subject {
            Slotted::Command(name) => ids.get(name.as_str()),
            Slotted::Param(..) | Slotted::Field(..) => None,
        });
        let commands: BTreeSet<_> = commands.collect();
        let words = commands.into_iter().map(|(_, constant)| (*constant).to_owned());
        wrapped(&format!("    {wanted:?} ["), words, "];")
    };
    let param_role = |wanted: Role| {
        let here = program.roles.iter().filter(|(role, _)| *role == wanted);
        let params = here.filter_map(|(_, subject)| match subject {
            Slotted::Param(name, at) => Some((ids.get(name.as_str())?, at)),
            Slotted::Command(_) | Slotted::Field(..) => None,
        });
        let params: BTreeSet<_> = params.collect();
        let words = params.into_iter().map(|((_, constant), at)| format!("{constant} {at}"));
        wrapped(&format!("    {wanted:?} ["), words, "];")
    };
    let roles: String = Role::OF_ANALYSIS.into_iter().map(role).collect();
    let params: String = Role::OF_CONTENTS.into_iter().map(param_role).collect();
    let items = [format!("roles! {{\n{roles}}}\n"), format!("params! {{\n{params}}}\n")];
    file("use crate::role::{params, roles};", &items)
}
