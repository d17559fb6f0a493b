//! The roles of commands that the shim keeps for snapshots, and the lists that keep or execute commands: what handlers and
//! keepers both depend on.

use std::collections::BTreeMap;

use crate::lang::typed::{Program, Role, Slotted};
use crate::model::{Function, Kind, Model};

/// The roles of a command: the parameters that have each, or none for a role of the command itself.
pub type Roles = BTreeMap<Role, Vec<usize>>;

/// Returns the roles of each command by its name.
pub fn roles(program: &Program) -> BTreeMap<&str, Roles> {
    let mut roles: BTreeMap<&str, Roles> = BTreeMap::new();
    for (role, subject) in program.roles.iter().filter(|(role, _)| is_kept_for(*role)) {
        match subject {
            Slotted::Command(name) => {
                roles.entry(name).or_default().entry(*role).or_default();
            }
            Slotted::Param(name, at) => {
                let command = roles.entry(name).or_default();
                command.entry(*role).or_default().push(*at);
            }
            Slotted::Field(..) => {}
        }
    }
    roles
}

/// Whether the shim keeps or forgets something because of the role.
fn is_kept_for(role: Role) -> bool {
    use Role::{
        Destroyed, DeviceMemory, Executed, Freed, HostMemory, MemoryBytes, NewImmediateList,
        NewQueue,
    };
    let shared =
        [Destroyed, DeviceMemory, Freed, HostMemory, MemoryBytes, NewImmediateList, NewQueue];
    let of_snapshot = Role::OF_SNAPSHOT.contains(&role) && role != Executed;
    of_snapshot || shared.contains(&role)
}

/// The parameter that is the list which keeps the command and executes it later, if it is one.
pub fn list_of(function: &Function, roles: &Roles) -> Option<usize> {
    let at = *roles.get(&Role::Appended)?.first()?;
    let is_handle = function.params[at].value.ty.kind == Kind::Handle;
    (is_handle && !roles.contains_key(&Role::Unkept)).then_some(at)
}

/// By name of the command: the parameter that is the list which keeps it.
fn lists<'a>(model: &'a Model, program: &Program) -> BTreeMap<&'a str, usize> {
    let roles = roles(program);
    let functions = model.functions.iter();
    functions
        .filter_map(|it| Some((it.name.as_str(), list_of(it, roles.get(it.name.as_str())?)?)))
        .collect()
}

/// By name of the command: the parameter that is the list which keeps it, and the one that points at lists which it
/// executes.
pub struct Lists<'a> {
    pub keeping: BTreeMap<&'a str, usize>,
    pub executed: BTreeMap<&'a str, usize>,
}

impl<'a> Lists<'a> {
    /// Finds the parameters of all commands.
    pub fn new(model: &'a Model, program: &'a Program) -> Self {
        Self { keeping: lists(model, program), executed: executed(program) }
    }
}

fn executed(program: &Program) -> BTreeMap<&str, usize> {
    let roles = program.roles.iter().filter(|(role, _)| *role == Role::Executed);
    let params = roles.filter_map(|(_, subject)| match subject {
        Slotted::Param(name, at) => Some((name.as_str(), *at)),
        Slotted::Command(_) | Slotted::Field(..) => None,
    });
    params.collect()
}
