//! `keepers.rs` of the shim: what a snapshot needs of each command with a role in it, as invocations of the macro `keep!`
//! of `shim/src/kept/keeper.rs`, and the list of them all, in the order of ids.
//!
//! A command that makes, finds, sets or appends is kept with the memory that it reads and writes. One that destroys,
//! empties, or cannot be kept has no memory here.

use super::handlers::{declaration, list, observations};
use super::keeping::{self, Roles};
use super::output::{file, invocation};
use super::source::spell;
use crate::lang::typed::{Program, Role};
use crate::model::{Direction, Function, Kind, Model};

const PRELUDE: &str = "\
// A keeper has its caller's duties: the arguments are those of a program that calls the command.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case,
    non_upper_case_globals,
    unsafe_op_in_unsafe_fn
)]

use core::ffi::{c_char, c_void};

use gapii_recorder::observe;
use gapii_state::commands;

use super::{handlers_level_zero, ids::*};
use crate::handler::{Argument, ByValue};
use crate::kept::facts::{Facts, Kept, Kind, Place};
use crate::kept::keeper::{Keeper, keep};
";

pub fn emit(model: &Model, program: &Program) -> String {
    let roles = keeping::roles(program);
    let functions = model.functions.iter();
    let kept: Vec<(&Function, &Roles)> =
        functions.filter_map(|it| Some((it, roles.get(it.name.as_str())?))).collect();
    let mut items: Vec<String> = kept.iter().map(|(it, roles)| keeper(it, roles)).collect();
    let all = kept.iter().map(|(function, _)| format!("&{},", function.name));
    items.push(format!(
        "/// The keepers, in the order of their commands' ids.\n\
         pub static KEEPERS: &[&Keeper] = &[{}];",
        all.collect::<Vec<_>>().join(" ")
    ));
    file(PRELUDE, &items)
}

fn keeper(function: &Function, roles: &Roles) -> String {
    let has = |role: Role| roles.contains_key(&role);
    let makes = [Role::Opens, Role::Found, Role::Made, Role::Set, Role::Appended];
    let is_kept = makes.into_iter().any(has) && !has(Role::Unkept);
    let params: Vec<String> = function.params.iter().map(declaration).collect();
    let result = function.result.as_ref().map_or("()".to_owned(), |it| spell(&it.rust));
    let command =
        format!("{}: {}({}) -> {result};", function.constant, function.name, params.join(", "));
    let (mut reads, mut writes) = (Vec::new(), Vec::new());
    let (mut before, mut after) = ("", "");
    if is_kept {
        reads = observations(function, Direction::In);
        writes = observations(function, Direction::Out);
        if let Some(state) = function.state {
            before = if state.reads_without_state { "state" } else { "" };
            // What an appended command writes is known only when the list is executed.
            let is_output = state.writes_ranges && !has(Role::Appended);
            after = if is_output { "state" } else { "" };
        }
    }
    let facts = facts(function, roles).join(", ");
    let is_tracked = function.has_tracker() && keeping::list_of(function, roles).is_some();
    let follows = is_tracked && function.state.is_some_and(|state| state.enter_changes);
    let memory = format!(
        "enter [{before}] {}; leave [{after}] {}; tracked [{}] follow [{}]",
        list(&reads),
        list(&writes),
        if is_tracked { "state" } else { "" },
        if follows { "state" } else { "" }
    );
    invocation("keep", &[command, format!("facts {{ {facts} }};"), memory])
}

/// The fields of `Facts` that are not empty.
fn facts(function: &Function, roles: &Roles) -> Vec<String> {
    let param = |role: Role| roles.get(&role).and_then(|params| params.first()).copied();
    let one = |field: &str, role: Role| Some(format!("{field}: Some({})", param(role)?));
    let flag =
        |field: &str, role: Role| roles.contains_key(&role).then(|| format!("{field}: true"));
    let place = |field: &str, role: Role| {
        let at = param(role)?;
        let is_array = matches!(function.params[at].value.ty.kind, Kind::Array | Kind::Pointer);
        let of = if is_array { "Array" } else { "Argument" };
        Some(format!("{field}: Some(Place::{of}({at}))"))
    };
    let numbers = |field: &str, numbers: &[usize]| {
        let text: Vec<String> = numbers.iter().map(usize::to_string).collect();
        (!text.is_empty()).then(|| format!("{field}: &[{}]", text.join(", ")))
    };
    let kind = [
        (Role::NewQueue, "Queue"),
        (Role::NewImmediateList, "ImmediateList"),
        (Role::NewEvent, "Event"),
        (Role::NewFence, "Fence"),
        (Role::NewImage, "Image"),
        (Role::HostMemory, "HostMemory"),
        (Role::DeviceMemory, "DeviceMemory"),
    ];
    let kind = kind.into_iter().find(|(role, _)| roles.contains_key(role));
    let is_handle = |kind: Kind| kind == Kind::Handle;
    let params = function.params.iter().enumerate();
    let handles: Vec<usize> =
        params.filter(|(_, it)| is_handle(it.value.ty.kind)).map(|(at, _)| at).collect();
    let arrays: Vec<usize> = function
        .observed(Direction::In)
        .enumerate()
        .filter(|(_, (_, seen))| seen.element.is_some_and(|element| is_handle(element.kind)))
        .map(|(slot, _)| slot)
        .collect();
    let made = roles.get(&Role::Made).map_or(&[][..], Vec::as_slice);
    [
        flag("opens", Role::Opens),
        one("found", Role::Found),
        numbers("made", made),
        kind.map(|(_, kind)| format!("kind: Kind::{kind}")),
        one("set", Role::Set),
        one("set_key", Role::SetKey),
        flag("set_shared", Role::SetShared),
        place("appended", Role::Appended),
        place("uses", Role::Uses),
        one("emptied", Role::Emptied),
        one("destroyed", Role::Destroyed),
        one("destroyed", Role::Freed),
        one("in_context", Role::InContext),
        one("on_device", Role::OnDevice),
        place("memory_bytes", Role::MemoryBytes),
        flag("unkept", Role::Unkept),
        numbers("handles", &handles),
        numbers("handle_arrays", &arrays),
    ]
    .into_iter()
    .flatten()
    .collect()
}
