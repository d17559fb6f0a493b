//! The annotations of all files by what they are about, every name checked against the registry.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;

use crate::annotations::{Concept, File, Hook};
use crate::extent::Extent;
use crate::model::{Api, Effect, SizeTable};
use crate::problem::Problem;
use crate::registry::{Command, Registries};

/// A parameter of a command, by position, or its result.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Slot {
    Param(usize),
    Result,
}

/// An annotation and the place it came from.
#[derive(Clone, Debug)]
pub struct Placed<T> {
    pub value: T,
    pub place: Problem,
}

/// Everything the annotation files say.
#[derive(Default, Debug)]
pub struct Index {
    pub effects: BTreeMap<String, Placed<Effect>>,
    pub extents: BTreeMap<(String, usize), Placed<Extent>>,
    pub inputs: BTreeMap<(String, usize), Placed<()>>,
    pub groups: BTreeMap<(String, Slot), Placed<String>>,
    pub hooks: BTreeMap<String, Placed<Hook>>,
    pub sizes: BTreeMap<String, SizeTable>,
    pub prefer: BTreeSet<String>,
}

/// Collects the annotations of `files`.
pub fn index(files: &[File<'_>], registries: &Registries) -> Result<Index, Vec<Problem>> {
    let mut reader =
        Reader { registries, index: Index::default(), patterns: vec![], problems: vec![] };
    for file in files {
        for concept in &file.concepts {
            reader.concept(file, concept);
        }
    }
    reader.apply_patterns();
    if reader.problems.is_empty() { Ok(reader.index) } else { Err(reader.problems) }
}

/// `egl*.attribute`: an integer parameter of that name, in every command that has one.
struct Pattern {
    prefix: String,
    param: String,
    group: Placed<String>,
}

struct Reader<'a> {
    registries: &'a Registries,
    index: Index,
    patterns: Vec<Pattern>,
    problems: Vec<Problem>,
}

impl<'a> Reader<'a> {
    fn concept(&mut self, file: &File<'_>, concept: &Concept) {
        let moments = [
            (&concept.effect.enter, Effect::Enter),
            (&concept.effect.leave, Effect::Leave),
            (&concept.effect.recorded, Effect::Recorded),
        ];
        for (names, effect) in moments {
            for name in names {
                if self.command(file, name.get_ref(), name.span()).is_some() {
                    let placed = Placed { value: effect, place: place(file, name) };
                    let old = self.index.effects.insert(name.get_ref().clone(), placed);
                    self.refuse_second(file, name, old.is_some());
                }
            }
        }
        for (name, value) in &concept.extent {
            let Some(at) = self.param(file, name) else { continue };
            match file.extent(value) {
                Ok(extent) => {
                    let placed = Placed { value: extent, place: place(file, value) };
                    let old = self.index.extents.insert(at, placed);
                    self.refuse_second(file, name, old.is_some());
                }
                Err(problem) => self.problems.push(problem),
            }
        }
        for name in &concept.input {
            if let Some(at) = self.param(file, name) {
                let placed = Placed { value: (), place: place(file, name) };
                let old = self.index.inputs.insert(at, placed);
                self.refuse_second(file, name, old.is_some());
            }
        }
        for (name, hook) in &concept.hook {
            if self.command(file, name.get_ref(), name.span()).is_some() {
                let placed = Placed { value: *hook, place: place(file, name) };
                let old = self.index.hooks.insert(name.get_ref().clone(), placed);
                self.refuse_second(file, name, old.is_some());
            }
        }
        self.groups(file, concept);
        self.sizes(file, concept);
        for name in &concept.prefer {
            if self.enum_value(file, name).is_some() {
                self.index.prefer.insert(name.get_ref().clone());
            }
        }
    }

    fn groups(&mut self, file: &File<'_>, concept: &Concept) {
        for (group, names) in &concept.group {
            if !self.is_group(group.get_ref()) {
                let message = format!("no enum group `{}`", group.get_ref());
                self.problems.push(file.problem(group.span(), message));
            }
            for name in names {
                let placed = Placed { value: group.get_ref().clone(), place: place(file, name) };
                if let Some((prefix, param)) = name.get_ref().split_once("*.") {
                    let (prefix, param) = (prefix.to_owned(), param.to_owned());
                    self.patterns.push(Pattern { prefix, param, group: placed });
                } else if let Some(at) = self.slot(file, name) {
                    let old = self.index.groups.insert(at, placed);
                    self.refuse_second(file, name, old.is_some());
                }
            }
        }
    }

    fn sizes(&mut self, file: &File<'_>, concept: &Concept) {
        for (name, sizes) in &concept.sizes {
            let mut cases = Vec::new();
            let mut seen = BTreeSet::new();
            for (elements, names) in &sizes.cases {
                let Ok(count) = elements.get_ref().parse::<u16>() else {
                    let message = format!("`{}` is not a number of elements", elements.get_ref());
                    self.problems.push(file.problem(elements.span(), message));
                    continue;
                };
                let mut values = BTreeMap::new();
                for name in names {
                    if let Some(value) = self.enum_value(file, name) {
                        self.refuse_second(file, name, !seen.insert(value));
                        values.insert(value, name.get_ref().clone());
                    }
                }
                cases.push((count, values.into_iter().collect()));
            }
            cases.sort();
            let table = SizeTable { name: name.get_ref().clone(), default: sizes.default, cases };
            let old = self.index.sizes.insert(name.get_ref().clone(), table);
            self.refuse_second(file, name, old.is_some());
        }
    }

    /// Patterns give way to annotations that name a command.
    fn apply_patterns(&mut self) {
        for pattern in std::mem::take(&mut self.patterns) {
            let mut is_used = false;
            for command in self.registries.commands() {
                let position = command.params.iter().position(|param| {
                    param.name == pattern.param && !param.ty.is_pointer() && param.group.is_none()
                });
                if let Some(at) = position.filter(|_| command.name.starts_with(&pattern.prefix)) {
                    is_used = true;
                    let key = (command.name.clone(), Slot::Param(at));
                    self.index.groups.entry(key).or_insert_with(|| pattern.group.clone());
                }
            }
            if !is_used {
                let message = format!("no command has `{}*.{}`", pattern.prefix, pattern.param);
                self.problems.push(Problem { message, ..pattern.group.place });
            }
        }
    }

    fn slot(&mut self, file: &File<'_>, name: &Spanned<String>) -> Option<(String, Slot)> {
        if let Some(command) = name.get_ref().strip_suffix(".result") {
            let command = self.command(file, command, name.span())?;
            return Some((command.name.clone(), Slot::Result));
        }
        self.param(file, name).map(|(command, at)| (command, Slot::Param(at)))
    }

    fn param(&mut self, file: &File<'_>, name: &Spanned<String>) -> Option<(String, usize)> {
        let Some((command, param)) = name.get_ref().split_once('.') else {
            let message = format!("`{}` is not `command.parameter`", name.get_ref());
            self.problems.push(file.problem(name.span(), message));
            return None;
        };
        let command = self.command(file, command, name.span())?;
        let at = command.params.iter().position(|known| known.name == param);
        if at.is_none() {
            let message = format!("{} has no parameter `{param}`", command.name);
            self.problems.push(file.problem(name.span(), message));
        }
        Some((command.name.clone(), at?))
    }

    fn command(&mut self, file: &File<'_>, name: &str, at: Range<usize>) -> Option<&'a Command> {
        let registries = self.registries;
        let found = registries.command(name);
        if found.is_none() {
            let message = format!("no command `{name}` in EGL or OpenGL ES");
            self.problems.push(file.problem(at, message));
        }
        found
    }

    fn enum_value(&mut self, file: &File<'_>, name: &Spanned<String>) -> Option<u64> {
        let all = [Api::Egl, Api::Gles].map(|api| &self.registries.of(api).enumerants);
        let found = all.into_iter().flatten().find(|known| known.name == *name.get_ref());
        if found.is_none() {
            let message = format!("no enumerant `{}`", name.get_ref());
            self.problems.push(file.problem(name.span(), message));
        }
        found.map(|known| known.value)
    }

    fn is_group(&self, name: &str) -> bool {
        let all = [Api::Egl, Api::Gles].map(|api| &self.registries.of(api).enumerants);
        let mut all = all.into_iter().flatten();
        ["EGL", "GL"].contains(&name)
            || all.any(|known| known.groups.iter().any(|group| group == name))
    }

    fn refuse_second(&mut self, file: &File<'_>, name: &Spanned<String>, is_second: bool) {
        if is_second {
            let message = format!("`{}` is annotated twice", name.get_ref());
            self.problems.push(file.problem(name.span(), message));
        }
    }
}

/// Where `name` stands; the message is filled in by whoever finds a mistake.
fn place(file: &File<'_>, name: &Spanned<String>) -> Problem {
    file.problem(name.span(), String::new())
}
