//! Joins registry, annotations and export lists into the [`Model`], or says all that is wrong.

use std::collections::{BTreeMap, BTreeSet};

use crate::annotations;
use crate::ctype::{CType, Repr, Sense};
use crate::extent::{self, Expr, Extent};
use crate::groups::{Groups, catch_all};
use crate::index::{Index, Placed, Slot, index};
use crate::model::{
    Api, Direction, Effect, Function, Kind, Model, Observation, Param, Type, Value,
};
use crate::naming;
use crate::problem::{Error, Problem};
use crate::registry::{self, Command, Registries};
use crate::tree::Inputs;

/// Builds the model.
pub fn resolve(registries: &Registries, inputs: &Inputs) -> Result<Model, Error> {
    let mut problems = Vec::new();
    let mut files = Vec::new();
    for (name, text) in &inputs.annotations {
        match annotations::parse(name, text) {
            Ok(file) => files.push(file),
            Err(problem) => problems.push(problem),
        }
    }
    let index = index(&files, registries).unwrap_or_else(|found| {
        problems.extend(found);
        Index::default()
    });
    let exported = exported(registries, inputs, &mut problems);
    if !problems.is_empty() {
        return Err(descriptions_error(problems));
    }
    let groups = Groups::new(registries, &wanted_groups(registries, &index), &index.prefer);
    let mut resolver = Resolver { registries, index: &index, groups: &groups, problems };
    let mut functions = Vec::new();
    for command in registries.commands() {
        let is_exported = exported.contains(command.name.as_str());
        functions.extend(resolver.function(command, functions.len() as u16, is_exported));
    }
    resolver.refuse_equal_constants(&functions);
    resolver.refuse_unused_tables();
    if resolver.problems.is_empty() {
        Ok(Model { functions, groups: groups.all, sizes: index.sizes.into_values().collect() })
    } else {
        Err(descriptions_error(resolver.problems))
    }
}

fn descriptions_error(mut problems: Vec<Problem>) -> Error {
    problems.sort();
    Error::Descriptions(problems)
}

/// The names of the export lists, all of which must be commands.
fn exported<'a>(
    registries: &Registries,
    inputs: &'a Inputs,
    problems: &mut Vec<Problem>,
) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (file, text) in &inputs.exports {
        for (line, name) in text.lines().enumerate().filter(|(_, name)| !name.is_empty()) {
            if registries.command(name).is_none() {
                let message = format!("exported `{name}` is no command of the registry");
                problems.push(Problem { file: file.clone(), line: line + 1, message });
            }
            names.insert(name);
        }
    }
    names
}

fn wanted_groups(registries: &Registries, index: &Index) -> BTreeSet<(String, Api)> {
    let mut wanted = BTreeSet::new();
    for command in registries.commands() {
        let api = api_of(command);
        let groups = command.params.iter().map(|param| &param.group);
        let groups = groups.chain([&command.result_group]).flatten().cloned();
        wanted.extend(groups.map(|group| (group, api)));
    }
    for ((command, _), group) in &index.groups {
        if let Some(command) = registries.command(command) {
            wanted.insert((group.value.clone(), api_of(command)));
        }
    }
    wanted
}

fn api_of(command: &Command) -> Api {
    if command.name.starts_with("egl") { Api::Egl } else { Api::Gles }
}

struct Resolver<'a> {
    registries: &'a Registries,
    index: &'a Index,
    groups: &'a Groups,
    problems: Vec<Problem>,
}

impl<'a> Resolver<'a> {
    fn function(&mut self, command: &Command, id: u16, exported: bool) -> Option<Function> {
        let mut params = Vec::new();
        let mut end = 0;
        for (at, declared) in command.params.iter().enumerate() {
            let param = self.param(command, at, declared, end)?;
            end = param.offset + param.value.ty.repr.size();
            params.push(param);
        }
        Some(Function {
            id,
            constant: naming::id_constant(&command.name),
            name: command.name.clone(),
            api: api_of(command),
            origin: command.origin,
            params,
            result: self.result(command)?,
            fixed_len: end,
            effect: self.effect(command),
            hook: self.index.hooks.get(&command.name).map(|hook| hook.value),
            state: None,
            exported,
        })
    }

    fn param(
        &mut self,
        command: &Command,
        at: usize,
        declared: &registry::Param,
        end: u16,
    ) -> Option<Param> {
        let group = self.group(command, Slot::Param(at), declared.group.as_deref());
        let mut value = self.value(command, &declared.ty, group, declared.class.is_some())?;
        let observation = self.observation(command, at, declared, group);
        if let Some(observation) = &observation {
            value.ty.kind = observed_kind(&observation.extent, api_of(command));
        }
        Some(Param {
            name: declared.name.clone(),
            ident: naming::parameter(&declared.name),
            offset: end.next_multiple_of(value.ty.repr.size()),
            value,
            observation,
        })
    }

    /// The outer `None` is a mistake, the inner one a command without a result.
    fn result(&mut self, command: &Command) -> Option<Option<Value>> {
        if command.result.is_void() {
            return Some(None);
        }
        let group = self.group(command, Slot::Result, command.result_group.as_deref());
        let mut value = self.value(command, &command.result, group, false)?;
        if is_text(&command.result) {
            value.ty.kind = Kind::String;
        }
        Some(Some(value))
    }

    fn value(
        &mut self,
        command: &Command,
        ty: &CType,
        group: Option<&str>,
        is_name: bool,
    ) -> Option<Value> {
        let (Some((repr, sense)), Some(rust)) = (ty.scalar(), ty.rust()) else {
            self.refuse(command, format!("unknown type `{}` in {}", ty.base, command.name));
            return None;
        };
        let kind = self.kind(sense, group, is_name, api_of(command));
        Some(Value { rust, ty: Type { repr, kind }, is_pointer: ty.is_pointer() })
    }

    fn kind(&self, sense: Sense, group: Option<&str>, is_name: bool, api: Api) -> Kind {
        let found = group.and_then(|name| self.groups.find(name));
        match (sense, found) {
            (Sense::Number, _) if is_name => Kind::Handle,
            (Sense::Number | Sense::Bitfield, Some((index, true))) => Kind::Bitfield(index),
            (Sense::Number | Sense::Enum, Some((index, _))) => Kind::Enum(index),
            (Sense::Enum, None) => Kind::Enum(catch_all(api)),
            (Sense::Number | Sense::Bitfield | Sense::Char | Sense::Void, _) => Kind::Number,
            (Sense::Bool, _) => Kind::Bool,
            (Sense::Handle, _) => Kind::Handle,
            (Sense::Pointer, _) => Kind::Pointer,
        }
    }

    fn group<'b>(
        &self,
        command: &Command,
        slot: Slot,
        of_registry: Option<&'b str>,
    ) -> Option<&'b str>
    where
        'a: 'b,
    {
        let annotated = self.index.groups.get(&(command.name.clone(), slot));
        annotated.map(|group| group.value.as_str()).or(of_registry)
    }

    fn observation(
        &mut self,
        command: &Command,
        at: usize,
        declared: &registry::Param,
        group: Option<&str>,
    ) -> Option<Observation> {
        let extent = self.extent(command, at, declared)?;
        let pointee = declared.ty.pointee()?;
        let is_input =
            self.annotation(command, |name| self.index.inputs.get(&(name, at))).is_some();
        let is_read = is_input || declared.ty.points_at_const();
        let direction = if is_read { Direction::In } else { Direction::Out };
        let element = self.element(&extent, &pointee, declared, group, api_of(command));
        Some(Observation { direction, extent, element })
    }

    fn element(
        &self,
        extent: &Extent,
        pointee: &CType,
        declared: &registry::Param,
        group: Option<&str>,
        api: Api,
    ) -> Option<Type> {
        let (repr, sense) = pointee.scalar()?;
        let is_array = matches!(extent, Extent::Elements(_) | Extent::Counted { .. });
        if !is_array && *extent != Extent::Attributes {
            return None;
        }
        let repr = if repr == Repr::Void { Repr::U8 } else { repr };
        Some(Type { repr, kind: self.kind(sense, group, declared.class.is_some(), api) })
    }

    /// What is known of the memory behind a pointer; `None` if nothing.
    fn extent(
        &mut self,
        command: &Command,
        at: usize,
        declared: &registry::Param,
    ) -> Option<Extent> {
        let annotated = self.annotation(command, |name| self.index.extents.get(&(name, at)));
        let extent = match annotated {
            Some(annotated) => {
                let (extent, place) = (annotated.value.clone(), annotated.place.clone());
                self.check_extent(command, declared, &extent, place);
                extent
            }
            None => self.extent_of_registry(command, declared)?,
        };
        (extent != Extent::Unobserved).then_some(extent)
    }

    fn extent_of_registry(
        &mut self,
        command: &Command,
        declared: &registry::Param,
    ) -> Option<Extent> {
        let len = declared.len.as_deref()?;
        let place = || registry_place(command);
        match extent::parse_len(len) {
            Ok(Extent::Elements(most)) if declared.ty.base == "GLchar" => {
                let extent = Extent::TextWithin(most);
                self.check_extent(command, declared, &extent, place());
                Some(extent)
            }
            Ok(extent) => {
                self.check_extent(command, declared, &extent, place());
                Some(extent)
            }
            Err(error) => {
                let message = format!("len of {}.{}: {error}", command.name, declared.name);
                self.problems.push(Problem { message, ..place() });
                None
            }
        }
    }

    /// An annotation of the command or of one that it is another name of.
    fn annotation<T>(
        &self,
        command: &Command,
        find: impl Fn(String) -> Option<&'a Placed<T>>,
    ) -> Option<&'a Placed<T>> {
        let mut command = command;
        loop {
            let found = find(command.name.clone());
            if found.is_some() {
                return found;
            }
            command = self.registries.command(command.alias.as_deref()?)?;
        }
    }

    fn effect(&mut self, command: &Command) -> Effect {
        let annotated = self.annotation(command, |name| self.index.effects.get(&name));
        if annotated.is_none() && looks_like_leave(&command.name) {
            let message = format!("{} needs an effect: it seems to take it at leave", command.name);
            self.refuse(command, message);
        }
        let Some(Placed { value: effect, place }) = annotated else { return Effect::Enter };
        let hook = self.index.hooks.get(&command.name).map(|hook| hook.value);
        let is_told = hook.is_some_and(|hook| hook.enter_flags && hook.leave_flags);
        if *effect == Effect::Recorded && !is_told {
            let needs = "a recorded effect needs a hook with enter_flags and leave_flags";
            let message = format!("{}: {needs}", command.name);
            self.problems.push(Problem { message, ..place.clone() });
        }
        *effect
    }

    fn check_extent(
        &mut self,
        command: &Command,
        declared: &registry::Param,
        extent: &Extent,
        place: Problem,
    ) {
        let pointee = declared.ty.pointee().and_then(|pointee| pointee.scalar());
        let mut check = |is_right: bool, message: String| {
            if !is_right {
                let message = format!("{}.{}: {message}", command.name, declared.name);
                self.problems.push(Problem { message, ..place.clone() });
            }
        };
        check(declared.ty.is_pointer(), "is no pointer".to_owned());
        if *extent == Extent::Attributes {
            let is_list = matches!(pointee, Some((Repr::I32 | Repr::I64, _)));
            check(is_list, "is no list of attributes".to_owned());
        }
        for table in expr_of(extent).map(Expr::tables).unwrap_or_default() {
            let is_known = self.index.sizes.contains_key(table);
            check(is_known, format!("no table of sizes `{table}`"));
        }
        for (argument, wanted) in arguments(extent) {
            let known = command.params.iter().find(|param| param.name == argument);
            let ty = known.map(|param| &param.ty);
            check(ty.is_some(), format!("{} has no parameter `{argument}`", command.name));
            if let Some(ty) = ty {
                let is_right = wanted.accepts(ty);
                check(is_right, format!("`{argument}` is not {}", wanted.description()));
            }
        }
    }

    fn refuse_equal_constants(&mut self, functions: &[Function]) {
        let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
        for function in functions {
            if let Some(other) = seen.insert(&function.constant, &function.name) {
                let message = format!("{other} and {} have the same constant", function.name);
                self.problems.push(Problem { file: "registry".to_owned(), line: 0, message });
            }
        }
    }

    fn refuse_unused_tables(&mut self) {
        let extents = self.index.extents.values();
        let used: BTreeSet<&str> =
            extents.filter_map(|extent| expr_of(&extent.value)).flat_map(Expr::tables).collect();
        for name in self.index.sizes.keys().filter(|name| !used.contains(name.as_str())) {
            let message = format!("no extent uses the table of sizes `{name}`");
            self.problems.push(Problem { file: "apis".to_owned(), line: 0, message });
        }
    }

    fn refuse(&mut self, command: &Command, message: String) {
        self.problems.push(Problem { message, ..registry_place(command) });
    }
}

/// A mistake in the registry has no line here: who mends it annotates `apis/`.
fn registry_place(command: &Command) -> Problem {
    let file = match api_of(command) {
        Api::Egl => "egl.xml",
        Api::Gles => "gl.xml",
    };
    Problem { file: file.to_owned(), line: 0, message: String::new() }
}

/// Commands of such names take effect at leave, or an annotation says why not.
fn looks_like_leave(command: &str) -> bool {
    let prefixes = ["glGen", "glCreate", "eglCreate", "eglWait", "glFinish", "glMap"];
    prefixes.iter().any(|prefix| command.starts_with(prefix)) || command.contains("WaitSync")
}

/// Results of these types point at zero-terminated text.
fn is_text(result: &CType) -> bool {
    result.pointers.len() == 1 && ["GLubyte", "GLchar", "char"].contains(&result.base.as_str())
}

fn observed_kind(extent: &Extent, api: Api) -> Kind {
    match extent {
        Extent::Unobserved => Kind::Pointer,
        Extent::Elements(_) | Extent::Counted { .. } => Kind::Array,
        Extent::Text | Extent::TextWithin(_) | Extent::TextOf { .. } => Kind::String,
        Extent::Strings { .. } => Kind::Strings,
        Extent::Attributes => Kind::Attributes(catch_all(api)),
    }
}

fn expr_of(extent: &Extent) -> Option<&Expr> {
    match extent {
        Extent::Elements(expr) | Extent::TextWithin(expr) => Some(expr),
        Extent::Counted { most, .. } => Some(most),
        _ => None,
    }
}

/// What an argument must be to occur in an extent.
#[derive(Clone, Copy)]
enum Wanted {
    Integer,
    PointerToInt,
}

impl Wanted {
    fn accepts(self, ty: &CType) -> bool {
        let is_integer = |ty: &CType| {
            let repr = ty.scalar().map(|(repr, _)| repr);
            !matches!(repr, None | Some(Repr::Void | Repr::F32 | Repr::F64 | Repr::Pointer))
        };
        match self {
            Wanted::Integer => is_integer(ty),
            Wanted::PointerToInt => ty
                .pointee()
                .and_then(|pointee| pointee.scalar())
                .is_some_and(|(repr, _)| repr == Repr::I32),
        }
    }

    fn description(self) -> &'static str {
        match self {
            Wanted::Integer => "an integer",
            Wanted::PointerToInt => "a pointer to an int",
        }
    }
}

fn arguments(extent: &Extent) -> Vec<(&str, Wanted)> {
    let mut all: Vec<_> = expr_of(extent)
        .map(Expr::arguments)
        .unwrap_or_default()
        .into_iter()
        .map(|argument| (argument, Wanted::Integer))
        .collect();
    match extent {
        Extent::Counted { count, .. } => all.push((count, Wanted::PointerToInt)),
        Extent::TextOf { length, .. } => all.push((length, Wanted::Integer)),
        Extent::Strings { count, lengths } => {
            all.push((count, Wanted::Integer));
            all.extend(lengths.iter().map(|lengths| (lengths.as_str(), Wanted::PointerToInt)));
        }
        _ => {}
    }
    all
}
