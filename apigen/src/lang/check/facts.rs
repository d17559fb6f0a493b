//! `play`, `role`, `reach` and `refuse` items: what a replay has to know of commands, parameters and layouts. The roles
//! are in `ROLES`. A pattern without a match, and a target that has the fact already, are mistakes. An API that has one
//! `play` item needs one for each of its commands.

use std::collections::BTreeMap;

use super::super::ast::{self, FactTarget, File, Glob, ItemKind, Name};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{LayoutId, Reach, ReachSize, Refusal, Refused, Role, Slotted, Type};
use super::api::Api;
use super::checker::Checker;
use super::types;
use crate::registry::Command;

/// What has a role.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    Command,
    /// A parameter that is an integer.
    Number,
    /// A parameter that is a pointer, an address or a handle; or a field.
    Address,
    /// A parameter of any type.
    Any,
}

const ROLES: &[(&str, Role, Of)] = &[
    ("submits", Role::Submits, Of::Command),
    ("timeout_ns", Role::TimeoutNs, Of::Number),
    ("destroyed", Role::Destroyed, Of::Address),
    ("freed", Role::Freed, Of::Address),
    ("host_memory", Role::HostMemory, Of::Address),
    ("device_memory", Role::DeviceMemory, Of::Address),
    ("memory_bytes", Role::MemoryBytes, Of::Any),
    ("device_writes", Role::DeviceWrites, Of::Address),
    ("kernel_argument", Role::KernelArgument, Of::Address),
    ("new_queue", Role::NewQueue, Of::Address),
    ("new_immediate_list", Role::NewImmediateList, Of::Address),
    ("new_event", Role::NewEvent, Of::Address),
    ("new_fence", Role::NewFence, Of::Address),
    ("new_image", Role::NewImage, Of::Address),
    ("opens", Role::Opens, Of::Command),
    ("found", Role::Found, Of::Address),
    ("made", Role::Made, Of::Address),
    ("set", Role::Set, Of::Address),
    ("set_key", Role::SetKey, Of::Any),
    ("set_shared", Role::SetShared, Of::Command),
    ("appended", Role::Appended, Of::Address),
    ("uses", Role::Uses, Of::Address),
    ("executed", Role::Executed, Of::Address),
    ("emptied", Role::Emptied, Of::Address),
    ("in_context", Role::InContext, Of::Address),
    ("on_device", Role::OnDevice, Of::Address),
    ("unkept", Role::Unkept, Of::Command),
    ("takes_sync", Role::TakesSync, Of::Command),
    ("takes_image", Role::TakesImage, Of::Command),
    ("draw", Role::Draw, Of::Command),
    ("dispatch", Role::Dispatch, Of::Command),
    ("upload", Role::Upload, Of::Command),
    ("act", Role::Act, Of::Command),
    ("creates", Role::Creates, Of::Command),
    ("creates_program", Role::CreatesProgram, Of::Command),
    ("creates_shader", Role::CreatesShader, Of::Command),
    ("deletes", Role::Deletes, Of::Command),
    ("links", Role::Links, Of::Command),
    ("about_query", Role::AboutQuery, Of::Command),
    ("about_attribute", Role::AboutAttribute, Of::Command),
    ("binds_pipeline", Role::BindsPipeline, Of::Command),
    ("activates_program", Role::ActivatesProgram, Of::Command),
    ("asks_error", Role::AsksError, Of::Command),
    ("asks_reset", Role::AsksReset, Of::Command),
    ("asks_framebuffer", Role::AsksFramebuffer, Of::Command),
    ("asks_built", Role::AsksBuilt, Of::Command),
    ("reads_messages", Role::ReadsMessages, Of::Command),
    ("reads_log", Role::ReadsLog, Of::Command),
    ("fails_with_zero", Role::FailsWithZero, Of::Command),
    ("returns_result", Role::ReturnsResult, Of::Command),
    ("compiles", Role::Compiles, Of::Command),
    ("reads_pixels", Role::ReadsPixels, Of::Command),
    ("finishes", Role::Finishes, Of::Command),
    ("labels", Role::Labels, Of::Command),
    ("marks", Role::Marks, Of::Command),
    ("begins_group", Role::BeginsGroup, Of::Command),
    ("ends_group", Role::EndsGroup, Of::Command),
    ("works_on_gpu", Role::WorksOnGpu, Of::Command),
    ("awaits", Role::Awaits, Of::Address),
    ("gives_display", Role::GivesDisplay, Of::Command),
    ("gives_context", Role::GivesContext, Of::Command),
    ("gives_surface", Role::GivesSurface, Of::Command),
    ("gives_image", Role::GivesImage, Of::Command),
    ("gives_sync", Role::GivesSync, Of::Command),
    ("gives_stream", Role::GivesStream, Of::Command),
    ("asks", Role::Asks, Of::Command),
    ("fills_buffer", Role::FillsBuffer, Of::Command),
    ("fills", Role::Fills, Of::Command),
    ("clears", Role::Clears, Of::Command),
    ("reads_framebuffer", Role::ReadsFramebuffer, Of::Command),
    ("never_compiled", Role::NeverCompiled, Of::Command),
    ("unpacks", Role::Unpacks, Of::Command),
    ("structure", Role::Structure, Of::Address),
    ("content", Role::Content, Of::Number),
];

impl<'a> Checker<'a> {
    pub(super) fn facts(&mut self, files: &'a [File]) {
        let mut roles: BTreeMap<(Role, Slotted), Span> = BTreeMap::new();
        let mut reaches: BTreeMap<Slotted, Span> = BTreeMap::new();
        let mut refused: BTreeMap<Slotted, Span> = BTreeMap::new();
        let mut players: BTreeMap<&str, Span> = BTreeMap::new();
        let apis = self.names.apis.clone();
        let items = files.iter().flat_map(|file| file.items.iter().map(move |item| (file, item)));
        for (file, item) in items {
            let Some(api) = apis.iter().find(|api| api.name == file.api.text) else { continue };
            match &item.kind {
                ItemKind::Play { function, commands } => {
                    self.play(api, function, commands, &mut players);
                }
                ItemKind::Role { role, targets } => self.role(api, role, targets, &mut roles),
                ItemKind::Reach { size, targets } => self.reach(api, size, targets, &mut reaches),
                ItemKind::Refuse { reason, names } => {
                    for name in names {
                        self.refuse(api, &reason.text, name, &mut refused);
                    }
                }
                _ => {}
            }
        }
        self.refuse_unplayed(&apis, &players);
    }

    fn play(
        &mut self,
        api: &Api<'a>,
        function: &[Name],
        commands: &'a [Name],
        known: &mut BTreeMap<&'a str, Span>,
    ) {
        if let Some(first) = function.first().filter(|_| api.is_played) {
            let message = format!("generated functions play the commands of {}", api.name);
            let help = "say `@replay(by_hand)` of a command that they can't play";
            return self.report(Diagnostic::at(first.span, message).help(help));
        }
        for name in commands {
            if !api.registry.commands.contains_key(&name.text) {
                let message = format!("{} has no command `{}`", api.name, name.text);
                self.mistake(name.span, message);
                continue;
            }
            if let Some(first) = known.insert(&name.text, name.span) {
                self.twice(name.span, first);
            }
            let path = function.iter().map(|part| part.text.clone()).collect();
            self.program.players.insert(name.text.clone(), path);
        }
    }

    /// Reports the commands without a player of each API that has players.
    fn refuse_unplayed(&mut self, apis: &[Api<'a>], players: &BTreeMap<&str, Span>) {
        for api in apis {
            let names = || api.registry.commands.keys().map(String::as_str);
            let first = names().filter_map(|name| players.get(name)).min();
            let unplayed: Vec<_> = names().filter(|name| !players.contains_key(name)).collect();
            if let Some(first) = first.filter(|_| !unplayed.is_empty()) {
                let message = "this API has `play` items, but not for all of its commands";
                let help = format!("without a function: {}", unplayed.join(", "));
                self.report(Diagnostic::at(*first, message).help(help));
            }
        }
    }

    fn role(
        &mut self,
        api: &Api<'a>,
        word: &Name,
        targets: &[FactTarget],
        known: &mut BTreeMap<(Role, Slotted), Span>,
    ) {
        let Some((_, role, of)) = ROLES.iter().find(|(role, ..)| *role == word.text) else {
            let all: Vec<_> = ROLES.iter().map(|(role, ..)| format!("`{role}`")).collect();
            let help = format!("roles are {}", all.join(", "));
            let mistake = Diagnostic::at(word.span, format!("no role `{}`", word.text));
            return self.report(mistake.help(help));
        };
        for target in targets {
            for subject in self.subjects(api, target, *of) {
                match known.insert((*role, subject.clone()), target.span) {
                    Some(first) => self.twice(target.span, first),
                    None => self.program.roles.push((*role, subject)),
                }
            }
        }
    }

    /// The commands, parameters or fields that a target of a role means.
    fn subjects(&mut self, api: &Api<'a>, target: &FactTarget, of: Of) -> Vec<Slotted> {
        let commands = self.commands_like(api, &target.subjects);
        let found: Vec<Slotted> = match &target.slot {
            None if of == Of::Command => {
                commands.iter().map(|command| Slotted::Command(command.name.clone())).collect()
            }
            None => {
                self.mistake(target.span, "this role is of a parameter");
                return Vec::new();
            }
            Some(slot) if of == Of::Command => {
                self.mistake(slot.span, "this role is of a command");
                return Vec::new();
            }
            Some(slot) => {
                let params = commands.iter().filter_map(|command| {
                    let at = command.params.iter().position(|param| param.name == slot.text)?;
                    let ty = types::scalar(&command.params[at].ty).unwrap_or(Type::Address);
                    let fits = match of {
                        Of::Number => ty.is_integer(),
                        Of::Address => ty == Type::Address,
                        Of::Command | Of::Any => true,
                    };
                    fits.then(|| Slotted::Param(command.name.clone(), at))
                });
                let params: Vec<_> = params.collect();
                let fields = self.program.layouts.iter().enumerate();
                let fields = fields.filter(|(_, layout)| {
                    of == Of::Address && target.subjects.matches(&layout.name)
                });
                let fields = fields.filter_map(|(id, layout)| {
                    let at = layout.fields.iter().position(|field| field.name == slot.text)?;
                    Some(Slotted::Field(LayoutId(id), at))
                });
                params.into_iter().chain(fields).collect()
            }
        };
        if found.is_empty() {
            let what = match of {
                Of::Command => "command",
                Of::Number => "command with such a number",
                Of::Address => "command or layout with such a pointer or handle",
                Of::Any => "command with such a parameter",
            };
            self.mistake(target.span, format!("no {what} in {}", api.name));
        }
        found
    }

    fn reach(
        &mut self,
        api: &Api<'a>,
        size: &ast::ReachSize,
        targets: &[FactTarget],
        known: &mut BTreeMap<Slotted, Span>,
    ) {
        for target in targets {
            for subject in self.subjects(api, target, Of::Address) {
                let Slotted::Param(command, param) = &subject else {
                    self.mistake(target.span, "a command reaches memory at a parameter");
                    continue;
                };
                let of = self.names.command(command);
                let found = of.and_then(|command| self.size_of_reach(command, size));
                if let Some(first) = known.insert(subject.clone(), target.span) {
                    self.twice(target.span, first);
                } else if let Some(size) = found {
                    let command = command.clone();
                    self.program.reaches.push(Reach { command, param: *param, size });
                }
            }
        }
    }

    fn size_of_reach(&mut self, command: &Command, size: &ast::ReachSize) -> Option<ReachSize> {
        let mut param = |name: &Name| {
            let at = command.params.iter().position(|param| param.name == name.text);
            if at.is_none() {
                let message = format!("{} has no parameter `{}`", command.name, name.text);
                self.mistake(name.span, message);
            }
            at
        };
        Some(match size {
            ast::ReachSize::Unknown => ReachSize::Unknown,
            ast::ReachSize::Bytes(number) => match u64::try_from(number.value) {
                Ok(bytes) => ReachSize::Bytes(bytes),
                Err(_) => {
                    self.mistake(number.span, "this is no number of bytes");
                    return None;
                }
            },
            ast::ReachSize::Param(name) => ReachSize::Param(param(name)?),
            ast::ReachSize::Region(names) => {
                let [region, pitch, slice_pitch] = names.each_ref().map(param);
                ReachSize::Region(region?, pitch?, slice_pitch?)
            }
        })
    }

    fn refuse(
        &mut self,
        api: &Api<'a>,
        reason: &str,
        name: &Glob,
        known: &mut BTreeMap<Slotted, Span>,
    ) {
        let commands = self.commands_like(api, name);
        let commands = commands.iter().map(|command| Refused::Command(command.name.clone()));
        let layouts = self.program.layouts.iter().enumerate();
        let layouts = layouts.filter(|(_, layout)| name.matches(&layout.name));
        let layouts = layouts.map(|(id, _)| Refused::Layout(LayoutId(id)));
        let found: Vec<Refused> = commands.chain(layouts).collect();
        if found.is_empty() {
            self.mistake(name.span, format!("no command or layout in {}", api.name));
        }
        for subject in found {
            let key = match &subject {
                Refused::Command(command) => Slotted::Command(command.clone()),
                Refused::Layout(layout) => Slotted::Field(*layout, 0),
            };
            match known.insert(key, name.span) {
                Some(first) => self.twice(name.span, first),
                None => self.program.refusals.push(Refusal { subject, reason: reason.to_owned() }),
            }
        }
    }

    fn commands_like(&self, api: &Api<'a>, glob: &Glob) -> Vec<&'a Command> {
        let all = api.registry.commands.values();
        all.filter(|command| glob.matches(&command.name)).collect()
    }

    fn twice(&mut self, span: Span, first: Span) {
        let mistake = Diagnostic::at(span, "this is said twice").label("here again");
        self.report(mistake.also(first, "said here"));
    }
}
