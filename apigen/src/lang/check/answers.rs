//! `answers` items: which answers of which commands each one is about, and whether it ever holds. Of two items about
//! the same answer the first holds, so all items of an API stand in one file; one whose answers all belong to earlier
//! items is a mistake. The rules are in `RULES`, the reasons of `varies` in `REASONS`.
//!
//! Patterns are resolved here, against the registry of the file's API. The program has names of commands,
//! indices of parameters and values of enumerants only.

use std::collections::{BTreeMap, BTreeSet};

use super::super::ast::{self, File, Glob, ItemKind, Name};
use super::super::diagnostic::Diagnostic;
use super::super::source::Span;
use super::super::typed::{AnswerPart, AnswerRule, AnswerVaries, Answers};
use super::api::Api;
use super::checker::Checker;
use crate::naming::{UNIFORM_BLOCK, UNIFORM_LOCATION};
use crate::registry::Command;

/// Rules without an argument.
const RULES: &[(&str, AnswerRule)] = &[
    ("exact", AnswerRule::Exact),
    ("presence", AnswerRule::Presence),
    ("locations", AnswerRule::Locations),
    ("driver", AnswerRule::Driver),
    ("driver_identity", AnswerRule::DriverIdentity),
    ("query_result", AnswerRule::QueryResult),
    ("waited", AnswerRule::Waited),
    ("polled", AnswerRule::Polled),
];

/// Arguments of `varies`.
const REASONS: &[(&str, AnswerVaries)] = &[
    ("time", AnswerVaries::Time),
    ("own_form", AnswerVaries::OwnForm),
    ("counter", AnswerVaries::Counter),
    ("window_format", AnswerVaries::WindowFormat),
    ("callback", AnswerVaries::Callback),
];

/// The answers of one command that earlier targets are about.
#[derive(Default)]
struct Taken {
    parts: Vec<(AnswerPart, usize)>,
    values: BTreeSet<u64>,
}

impl<'a> Checker<'a> {
    pub(super) fn answers(&mut self, files: &'a [File]) {
        for api in self.names.apis.clone() {
            let of_api = || {
                let files = files.iter().filter(|file| file.api.text == api.name);
                files.flat_map(|file| &file.items)
            };
            let asked = self.asked(&api, of_api());
            let mut taken: BTreeMap<&str, Taken> = BTreeMap::new();
            let mut first: Option<Span> = None;
            for item in of_api() {
                let ItemKind::Answers { rule, argument, targets } = &item.kind else { continue };
                let begin = *first.get_or_insert(item.span);
                if begin.file != item.span.file {
                    let message = "all `answers` of an API stand in one file: their order counts";
                    let mistake = Diagnostic::at(rule.span, message);
                    self.report(mistake.also(begin, "the others begin here"));
                    continue;
                }
                let rule = self.answer_rule(rule, argument.as_ref());
                for target in targets {
                    let found = self.answers_of(&api, target, asked);
                    let (Some((part, commands)), Some(rule)) = (found, &rule) else { continue };
                    self.holds(target, &part, &commands, &mut taken);
                    let name = |(command, at): (&Command, usize)| (command.name.clone(), at);
                    self.program.answers.push(Answers {
                        target: spelled(target),
                        part,
                        commands: commands.into_iter().map(name).collect(),
                        rule: rule.clone(),
                        span: target.span,
                    });
                }
            }
        }
    }

    /// The parameters of the API's `asked` item.
    fn asked(&mut self, api: &Api<'a>, items: impl Iterator<Item = &'a ast::Item>) -> &'a [Name] {
        let mut found: Option<(&[Name], Span)> = None;
        for item in items {
            let ItemKind::Asked { params } = &item.kind else { continue };
            if let Some((_, first)) = found {
                let mistake =
                    Diagnostic::at(item.span, format!("{} has an `asked` item already", api.name));
                self.report(mistake.also(first, "here"));
                continue;
            }
            found = Some((params, item.span));
            for name in params {
                let mut all = api.registry.commands.values().flat_map(|command| &command.params);
                if !all.any(|param| param.name == name.text) {
                    self.mistake(name.span, format!("no command has a parameter `{}`", name.text));
                }
            }
        }
        found.map_or(&[], |(params, _)| params)
    }

    fn answer_rule(&mut self, rule: &Name, argument: Option<&Name>) -> Option<AnswerRule> {
        match (rule.text.as_str(), argument) {
            ("names", Some(class)) => {
                if [UNIFORM_LOCATION, UNIFORM_BLOCK].contains(&class.text.as_str()) {
                    self.mistake(class.span, "these are numbers, not names: say `locations`");
                    return None;
                }
                self.class_named(class).then(|| AnswerRule::Names(class.text.clone()))
            }
            ("varies", Some(reason)) => {
                let found = REASONS.iter().find(|(word, _)| *word == reason.text);
                if found.is_none() {
                    let all: Vec<_> = REASONS.iter().map(|(word, _)| format!("`{word}`")).collect();
                    let help = format!("reasons are {}", all.join(", "));
                    let message = format!("no reason `{}`", reason.text);
                    self.report(Diagnostic::at(reason.span, message).help(help));
                }
                found.map(|(_, reason)| AnswerRule::Varies(*reason))
            }
            ("names", None) => {
                self.mistake(rule.span, "`names` takes a kind of object");
                None
            }
            ("varies", None) => {
                self.mistake(rule.span, "`varies` takes a reason");
                None
            }
            (word, argument) => {
                let found = RULES.iter().find(|(rule, _)| *rule == word);
                if found.is_none() {
                    let all: Vec<_> = RULES.iter().map(|(word, _)| format!("`{word}`")).collect();
                    let help =
                        format!("rules are {}, `names(KIND)`, `varies(REASON)`", all.join(", "));
                    let message = format!("no rule `{word}`");
                    self.report(Diagnostic::at(rule.span, message).help(help));
                } else if let Some(argument) = argument {
                    self.mistake(argument.span, format!("`{word}` takes no argument"));
                }
                found.map(|(_, rule)| rule.clone())
            }
        }
    }

    /// The part of a target, and the commands that have it, each with the parameter that the part is about.
    fn answers_of(
        &mut self,
        api: &Api<'a>,
        target: &ast::AnswerTarget,
        asked: &[Name],
    ) -> Option<(AnswerPart, Vec<(&'a Command, usize)>)> {
        let all = api.registry.commands.values();
        let commands: Vec<_> =
            all.filter(|command| target.commands.matches(&command.name)).collect();
        if commands.is_empty() {
            let message = format!("no command of {} is `{}`", api.name, target.commands.text);
            self.mistake(target.commands.span, message);
            return None;
        }
        match &target.part {
            ast::AnswerPart::All => {
                Some((AnswerPart::All, commands.into_iter().map(|it| (it, 0)).collect()))
            }
            ast::AnswerPart::Output { slot, field } => {
                self.outputs(&commands, slot, field.as_ref())
            }
            ast::AnswerPart::Values(globs) => {
                let values = self.values(api, globs)?;
                let commands: Vec<_> = commands
                    .into_iter()
                    .filter_map(|command| Some((command, asked_param(command, asked)?)))
                    .collect();
                if commands.is_empty() {
                    let message = "none of these commands is asked for a value";
                    let help = "`asked` says which parameter has the value";
                    self.report(Diagnostic::at(target.span, message).help(help));
                    return None;
                }
                Some((AnswerPart::Values(values), commands))
            }
        }
    }

    fn outputs(
        &mut self,
        commands: &[&'a Command],
        slot: &Glob,
        field: Option<&Name>,
    ) -> Option<(AnswerPart, Vec<(&'a Command, usize)>)> {
        if slot.text == "result" && field.is_none() {
            let with_result = commands.iter().filter(|command| !command.result.is_void());
            let found: Vec<_> = with_result.map(|command| (*command, 0)).collect();
            if found.is_empty() {
                self.mistake(slot.span, "none of these commands has a result");
                return None;
            }
            return Some((AnswerPart::Result, found));
        }
        let mut found = Vec::new();
        for command in commands {
            let params = command.params.iter().enumerate();
            let params =
                params.filter(|(_, param)| param.ty.is_pointer() && slot.matches(&param.name));
            found.extend(params.map(|(at, _)| (*command, at)));
        }
        if found.is_empty() {
            self.mistake(
                slot.span,
                format!("none of these commands has a pointer `{}`", slot.text),
            );
            return None;
        }
        let Some(field) = field else { return Some((AnswerPart::Output, found)) };
        let mut fields = self.program.layouts.iter().flat_map(|layout| &layout.fields);
        if !fields.any(|known| known.name == field.text) {
            self.mistake(field.span, format!("no layout has a field `{}`", field.text));
            return None;
        }
        Some((AnswerPart::Field(field.text.clone()), found))
    }

    /// The values of the API's enumerants that have such names, sorted.
    fn values(&mut self, api: &Api<'a>, globs: &[Glob]) -> Option<Vec<u64>> {
        let mut values = BTreeSet::new();
        let mut is_known = true;
        for glob in globs {
            let enumerants = api.registry.enumerants.iter();
            let found = enumerants.filter(|known| glob.matches(&known.name));
            let before = values.len();
            let found: Vec<u64> = found.map(|known| known.value).collect();
            values.extend(&found);
            if found.is_empty() {
                is_known = false;
                self.mistake(glob.span, format!("no enumerant of {} is `{}`", api.name, glob.text));
            } else if values.len() == before {
                self.mistake(glob.span, "the target has all of these values already");
            }
        }
        is_known.then(|| values.into_iter().collect())
    }

    /// Reports a target if earlier ones hold for everything that it is about.
    fn holds(
        &mut self,
        target: &ast::AnswerTarget,
        part: &AnswerPart,
        commands: &[(&'a Command, usize)],
        taken: &mut BTreeMap<&'a str, Taken>,
    ) {
        let mut is_free = false;
        for (command, at) in commands {
            let taken = taken.entry(command.name.as_str()).or_default();
            is_free |= !taken.has(part, *at);
            match part {
                AnswerPart::Values(values) => taken.values.extend(values),
                _ => taken.parts.push((part.clone(), *at)),
            }
        }
        if !is_free {
            self.mistake(target.span, "this never holds: earlier targets have all of its answers");
        }
    }
}

impl Taken {
    fn has(&self, part: &AnswerPart, at: usize) -> bool {
        let is_here = |(known, param): &(AnswerPart, usize)| {
            *known == AnswerPart::All || known == part && *param == at
        };
        match part {
            AnswerPart::Values(values) if values.iter().all(|it| self.values.contains(it)) => true,
            AnswerPart::Values(_) => self.parts.iter().any(|(known, _)| *known == AnswerPart::All),
            _ => self.parts.iter().any(is_here),
        }
    }
}

/// The parameter that holds the value which the command is asked for.
fn asked_param(command: &Command, asked: &[Name]) -> Option<usize> {
    let at = |name: &Name| command.params.iter().position(|param| param.name == name.text);
    asked.iter().find_map(at)
}

fn spelled(target: &ast::AnswerTarget) -> String {
    let commands = &target.commands.text;
    match &target.part {
        ast::AnswerPart::All => commands.clone(),
        ast::AnswerPart::Output { slot, field: None } => format!("{commands}.{}", slot.text),
        ast::AnswerPart::Output { slot, field: Some(field) } => {
            format!("{commands}.{}.{}", slot.text, field.text)
        }
        ast::AnswerPart::Values(globs) => {
            let globs: Vec<_> = globs.iter().map(|glob| glob.text.as_str()).collect();
            format!("{commands}({})", globs.join(" | "))
        }
    }
}
