//! `handlers_*.rs`: what runs in place of each command, as invocations of the macros of `shim/src/handler.rs`:
//! `hooked!` for a command with `@hook` or `@frame`, `followed!` for one whose body, in the shim, changes tracked
//! state, observes ranges of memory or ends a frame, or that has `@consumes`; `plain!` for all others.
//!
//! A [`Handler`] is one invocation of these macros: [`Handler::new`] decides what it contains, [`Handler::write`]
//! writes it as text.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Literal, TokenStream};
use quote::{format_ident, quote};

use super::extents;
use super::keeping::Lists;
use super::output::{file, ident, invocation};
use super::source::spell;
use crate::lang::typed::{Program, Role, Slotted};
use crate::model::{Direction, Effect, Function, Guard, Model, Param, StateParts};
use crate::origin::module;

const PRELUDE: &str = "\
// A handler has its caller's duties: the arguments are those of a program that calls the command.
#![allow(
    clippy::let_unit_value,
    clippy::manual_range_patterns,
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_camel_case_types,
    non_snake_case,
    unsafe_op_in_unsafe_fn,
    unused_imports, // Each module has the same ones.
    unused_mut
)]

use core::ffi::{c_char, c_void};

use gapii_abi::atom::{EFFECT, LEAVES};
use gapii_recorder::observe;
use gapii_state::commands;

use super::ids::*;
use super::sizes;
use crate::code::Handler;
use crate::command::Command;
use crate::handler::{Argument, ByValue, Fixed, followed, hooked, plain};
use crate::tracking::Tracker;
use crate::{hooks, tracking};
";

/// Returns the modules by name, with their text.
pub fn emit_modules(model: &Model, program: &Program) -> Vec<(String, String)> {
    let mut by_module: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let lists = Lists::new(model, program);
    let marking = marking(program);
    for function in &model.functions {
        let module = format!("handlers_{}", module(&function.api.name, function.origin));
        let handler = Handler::new(function, &lists, &marking);
        by_module.entry(module).or_default().push(handler.write());
    }
    by_module.into_iter().map(|(module, items)| (module, file(PRELUDE, &items))).collect()
}

/// The handler that the shim runs in place of a command.
struct Handler<'a> {
    function: &'a Function,
    shape: Shape<'a>,
    /// The clause about lists.
    lists: Option<String>,
    /// The program marks a place with the command, so that the trace has its time.
    marks: bool,
    enter_flags: TokenStream,
    /// Memory that the command reads. `None` if it reads neither slots nor ranges.
    reads: Option<Vec<TokenStream>>,
    end: End,
}

/// The macro that defines the handler, and that macro's own clauses.
enum Shape<'a> {
    Plain,
    Followed { parts: Parts, guard: Option<&'a Guard> },
    Hooked { parts: Parts, before: bool },
}

/// The parts of the command's state mutator that run in the shim.
#[derive(Clone, Copy, Default)]
struct Parts {
    /// The parts also run in a tracker, while nothing is captured.
    tracked: bool,
    enter: bool,
    leave: bool,
}

/// How a command's record is finished.
enum End {
    /// Without a leave record.
    Finish,
    /// The leave record holds the result alone, and no code of the state runs before it.
    Result { flags: TokenStream },
    /// The leave record has the result and memory that the command wrote.
    Leave { flags: TokenStream, writes: Vec<TokenStream> },
}

impl<'a> Handler<'a> {
    fn new(function: &'a Function, lists: &Lists<'_>, marking: &BTreeSet<&str>) -> Self {
        let shape = Shape::of(function);
        let reads = observations(function, Direction::In);
        let names_ranges = function.state.is_some_and(|state| state.reads_ranges);
        Self {
            function,
            enter_flags: enter_flags(function),
            reads: (names_ranges || !reads.is_empty()).then_some(reads),
            end: End::of(function, &shape),
            lists: list_clause(function, lists),
            marks: marking.contains(function.name.as_str()),
            shape,
        }
    }

    /// The invocation of a macro: on one line, or with its clauses on another.
    fn write(&self) -> String {
        let Function { name, constant, .. } = self.function;
        let params: Vec<String> = self.function.params.iter().map(declaration).collect();
        let params = params.join(", ");
        let mut result = match &self.function.result {
            Some(result) => format!(" -> {}", spell(&result.rust)),
            None => String::new(),
        };
        if self.names_result() {
            result.push_str(" as result");
        }
        let command = format!("{constant}: {name}({params}){result};");
        let mut clauses = self.shape.clauses(self.function);
        clauses.extend(self.lists.clone());
        clauses.extend(self.marks.then(|| "mark tell_begin;".to_owned()));
        clauses.push(match &self.reads {
            Some(reads) => format!("enter {}, {};", spell(&self.enter_flags), list(reads)),
            None => format!("enter {};", spell(&self.enter_flags)),
        });
        clauses.push(self.end.clause());
        invocation(self.shape.name(), &[command, clauses.join(" ")])
    }

    /// Whether an expression of a clause uses the result.
    fn names_result(&self) -> bool {
        let by_hook = self.function.hook.is_some_and(|hook| hook.leave_flags);
        self.function.result.is_some() && (by_hook || self.function.observes_result())
    }
}

impl<'a> Shape<'a> {
    fn of(function: &'a Function) -> Self {
        let parts = function.state.map(|StateParts { enter, leave, .. }| Parts {
            tracked: function.has_tracker(),
            enter,
            leave,
        });
        match (function.hook, parts) {
            (None, None) => Self::Plain,
            (None, Some(parts)) => Self::Followed { parts, guard: function.guard.as_ref() },
            (Some(hook), parts) => {
                Self::Hooked { parts: parts.unwrap_or_default(), before: hook.before }
            }
        }
    }

    /// The clauses behind the command's parameters.
    fn clauses(&self, function: &Function) -> Vec<String> {
        match self {
            Self::Plain => Vec::new(),
            Self::Followed { parts, guard } => {
                let api = if function.api.is_of_process() { "process" } else { "gl" };
                let condition = guard.and_then(|guard| condition(function, guard));
                let when = condition.map_or(String::new(), |it| format!(" when {}", spell(&it)));
                vec![format!("state {api} {}{when};", parts.list())]
            }
            Self::Hooked { parts, before } => {
                let before = before.then(|| format!("before hooks::{}_before;", function.name));
                before.into_iter().chain([format!("state {};", parts.list())]).collect()
            }
        }
    }

    /// The macro's name.
    fn name(&self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Followed { .. } => "followed",
            Self::Hooked { .. } => "hooked",
        }
    }
}

impl Parts {
    fn list(self) -> String {
        let parts = [(self.tracked, "tracked"), (self.enter, "enter"), (self.leave, "leave")];
        let words = parts.into_iter().filter(|(has, _)| *has).map(|(_, word)| word);
        format!("[{}]", words.collect::<Vec<_>>().join(" "))
    }
}

impl End {
    fn of(function: &Function, shape: &Shape) -> Self {
        if !function.leaves() {
            return Self::Finish;
        }
        let flags = leave_flags(function);
        let mut writes = observations(function, Direction::Out);
        if function.observes_result() {
            writes.push(quote!(observe::c_string(result)));
        }
        let looks = match shape {
            Shape::Plain => false,
            Shape::Followed { parts, .. } => parts.leave,
            Shape::Hooked { .. } => true,
        };
        match looks || !writes.is_empty() {
            true => Self::Leave { flags, writes },
            false => Self::Result { flags },
        }
    }

    fn clause(&self) -> String {
        match self {
            Self::Finish => "finish".to_owned(),
            Self::Result { flags } => format!("result {}", spell(flags)),
            Self::Leave { flags, writes } => format!("leave {}, {}", spell(flags), list(writes)),
        }
    }
}

pub(super) fn declaration(param: &Param) -> String {
    match &param.by_value {
        Some(structure) => format!("{}: ByValue<gapii_ze_api::types::{structure}>", param.ident),
        None => format!("{}: {}", param.ident, spell(&param.value.rust)),
    }
}

pub(super) fn list(items: &[TokenStream]) -> String {
    let items: Vec<String> = items.iter().map(spell).collect();
    format!("[{}]", items.join(", "))
}

pub(super) fn observations(function: &Function, direction: Direction) -> Vec<TokenStream> {
    let observed = function.observed(direction);
    observed.map(|(param, observation)| extents::observe(function, param, observation)).collect()
}

/// Returns the names of the commands with which a program marks a place.
fn marking(program: &Program) -> BTreeSet<&str> {
    let roles = program.roles.iter().filter(|(role, _)| Role::OF_MARKS.contains(role));
    let commands = roles.filter_map(|(_, subject)| match subject {
        Slotted::Command(name) => Some(name.as_str()),
        Slotted::Param(..) | Slotted::Field(..) => None,
    });
    commands.collect()
}

/// `kept LIST;` if the list keeps the command, and it has a tracker; `executes MEMORY;` for a command that executes lists.
fn list_clause(function: &Function, lists: &Lists<'_>) -> Option<String> {
    let name = function.name.as_str();
    if let Some(at) = lists.keeping.get(name).filter(|_| function.has_tracker()) {
        return Some(format!("kept {};", function.params[*at].ident));
    }
    let param = &function.params[*lists.executed.get(name)?];
    let observed = extents::observe(function, param, param.observation.as_ref()?);
    Some(format!("executes {};", spell(&observed)))
}

fn enter_flags(function: &Function) -> TokenStream {
    if function.hook.is_some_and(|hook| hook.enter_flags) {
        let hook = format_ident!("{}_enter_flags", function.name);
        let arguments = function.params.iter().map(|param| ident(&param.ident));
        return quote!(hooks::#hook(#(#arguments),*) | LEAVES);
    }
    match (function.effect, function.leaves()) {
        (Effect::Enter, true) => quote!(EFFECT | LEAVES),
        (Effect::Enter, false) => quote!(EFFECT),
        (_, true) => quote!(LEAVES),
        (_, false) => quote!(0),
    }
}

fn leave_flags(function: &Function) -> TokenStream {
    if function.hook.is_some_and(|hook| hook.leave_flags) {
        let hook = format_ident!("{}_leave_flags", function.name);
        let arguments = function.params.iter().map(|param| ident(&param.ident));
        let result = function.result.as_ref().map(|_| quote!(result));
        let all = arguments.map(|name| quote!(#name)).chain(result);
        return quote!(hooks::#hook(#(#all),*));
    }
    match function.effect {
        Effect::Leave => quote!(EFFECT),
        Effect::Enter | Effect::Recorded => quote!(0),
    }
}

/// The condition on the arguments under which the state mutator has an effect.
fn condition(function: &Function, guard: &Guard) -> Option<TokenStream> {
    let param = ident(&function.params.get(guard.param)?.ident);
    let hexadecimal = |value: &u32| -> Option<Literal> { format!("{value:#x}").parse().ok() };
    let values = guard.values.iter().filter_map(hexadecimal);
    Some(quote!(matches!(#param, #(#values)|*)))
}
