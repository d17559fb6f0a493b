//! Joins the checked descriptions and the export lists into the [`Model`], or reports the mistakes in them, all of them
//! sorted: an exported name that no registry has, two commands with the same constant, APIs that are not listed in the
//! order of their commands' names, and a command with a generated player that has an address without `class`, `@array`,
//! `@offset` or `@replay`.

use std::collections::{BTreeMap, BTreeSet};

use crate::apis::{Api, LIST};
use crate::ctype::{CType, Repr, Sense};
use crate::groups::Groups;
use crate::inputs::Inputs;
use crate::lang::typed::{self, Command, Extent, LayoutFieldKind, MemoryUse, Program, StmtKind};
use crate::model::{
    Direction, Effect, Function, Header, Hook, Kind, Layout, LayoutField, Model, Observation,
    Param, SizeTable, Type, Value,
};
use crate::naming;
use crate::parts;
use crate::problem::{Error, Problem};
use crate::registry::{Registries, Registry};

/// Builds the model.
pub fn resolve(
    registries: &Registries,
    inputs: &Inputs,
    program: &Program,
) -> Result<Model, Error> {
    let mut problems = Vec::new();
    let exported = exported(registries, inputs, &mut problems);
    let groups = groups(registries, program);
    let mut resolver =
        Resolver { registries, program, groups: &groups, apis: &inputs.apis, problems };
    let mut functions = Vec::new();
    for command in &program.commands {
        let is_exported = exported.contains(command.name.as_str());
        functions.extend(resolver.function(command, functions.len() as u16, is_exported));
    }
    resolver.refuse_equal_constants(&functions);
    resolver.refuse_unsorted_apis(&functions);
    program.commands.iter().for_each(|command| resolver.refuse_unplayable(command));
    let mut problems = resolver.problems;
    if problems.is_empty() {
        let sizes = size_tables(program, &functions);
        let layouts = layouts(registries, program, &groups);
        let constants = registries.profile();
        let headers = registries.0.iter().filter_map(|(api, registry)| header(api, registry));
        return Ok(Model {
            functions,
            catch_alls: groups.catch_all_count(),
            groups: groups.all,
            sizes,
            layouts,
            constants,
            headers: headers.collect(),
        });
    }
    problems.sort();
    Err(Error::Inputs(problems))
}

/// The names in the export lists. Each must be a command of a registry.
fn exported<'a>(
    registries: &Registries,
    inputs: &'a Inputs,
    problems: &mut Vec<Problem>,
) -> BTreeSet<&'a str> {
    let mut names = BTreeSet::new();
    for (file, text) in &inputs.exports {
        for (line, name) in text.lines().enumerate().filter(|(_, name)| !name.is_empty()) {
            if registries.command(name).is_none() {
                let message = format!("exported `{name}` is not a command of a registry");
                problems.push(Problem { file: file.clone(), line: line + 1, message });
            }
            names.insert(name);
        }
    }
    names
}

/// The groups of parameters and results; then those that only state refers to, and those of structs.
fn groups(registries: &Registries, program: &Program) -> Groups {
    let mut of_commands = BTreeSet::new();
    for (api, command) in registries.commands() {
        let groups = command.params.iter().map(|param| &param.group);
        let groups = groups.chain([&command.result_group]).flatten().cloned();
        of_commands.extend(groups.map(|group| (group, api.name.clone())));
    }
    for command in &program.commands {
        let groups = command.params.iter().map(|param| &param.group);
        let groups = groups.chain([&command.result.group]).flatten().cloned();
        of_commands.extend(groups.map(|group| (group, command.api.clone())));
    }
    let mut of_state = BTreeSet::new();
    for field in parts::fields(program) {
        of_state.extend(field.group.clone().map(|group| (group, field.api.clone())));
    }
    let of_structs = registries.structs().flat_map(|(api, types, structure)| {
        let groups = structure.fields.iter().filter_map(|field| types.group(&field.ty.base));
        groups.map(|group| (group.to_owned(), api.name.clone()))
    });
    let of_structs = of_structs.collect();
    Groups::new(registries, &[of_commands, of_state, of_structs], &program.prefer)
}

/// The size tables that extents of arguments alone use.
fn size_tables(program: &Program, functions: &[Function]) -> Vec<SizeTable> {
    let params = functions.iter().flat_map(|function| &function.params);
    let observations = params.filter_map(|param| param.observation.as_ref());
    let used: BTreeSet<usize> =
        observations.flat_map(|observation| observation.tables.keys().copied()).collect();
    let tables = program.sizes.iter().enumerate().filter(|(at, _)| used.contains(at));
    let mut tables: Vec<SizeTable> = tables.map(|(_, table)| size_table(table)).collect();
    tables.sort_by(|left, right| left.name.cmp(&right.name));
    tables
}

fn size_table(table: &typed::Sizes) -> SizeTable {
    let mut cases: BTreeMap<i64, BTreeMap<u64, String>> = BTreeMap::new();
    for case in &table.cases {
        let values = case.enumerants.iter().map(|(name, value)| (*value as u64, name.clone()));
        cases.entry(case.elements).or_default().extend(values);
    }
    let cases =
        cases.into_iter().map(|(elements, values)| (elements, values.into_iter().collect()));
    SizeTable { name: table.name.clone(), default: table.default, cases: cases.collect() }
}

/// The layouts with what their fields are called.
fn layouts(registries: &Registries, program: &Program, groups: &Groups) -> Vec<Layout> {
    let all = program.layouts.iter();
    let all = all.map(|layout| Layout {
        name: layout.name.clone(),
        size: layout.size,
        stype: layout.stype.and_then(|stype| u32::try_from(stype).ok()),
        fields: layout
            .fields
            .iter()
            .map(|field| layout_field(registries, groups, layout, field))
            .collect(),
    });
    all.collect()
}

fn layout_field(
    registries: &Registries,
    groups: &Groups,
    layout: &typed::Layout,
    field: &typed::LayoutField,
) -> LayoutField {
    let pointer = |kind| Type { repr: Repr::Pointer, kind };
    let named = || field_kind(registries, groups, &layout.name, &field.name);
    let number = |ty: &typed::Type| {
        let repr = match ty {
            typed::Type::Number(number) => number.repr,
            _ => Repr::Pointer,
        };
        let other = if repr == Repr::Pointer { Kind::Pointer } else { Kind::Number };
        Type { repr, kind: named().unwrap_or(other) }
    };
    let (ty, len, element) = match &field.kind {
        LayoutFieldKind::Scalar(ty) => (number(ty), 0, None),
        LayoutFieldKind::Array(ty, len) => (number(ty), *len, None),
        LayoutFieldKind::Inline(id, len) => {
            let of = |len| if len == 1 { 0 } else { len };
            (Type { repr: Repr::Void, kind: Kind::Struct(id.0 as u16) }, of(*len), None)
        }
        LayoutFieldKind::Chain => (pointer(Kind::Chain), 0, None),
        LayoutFieldKind::Text => (pointer(Kind::String), 0, None),
        LayoutFieldKind::Strings { .. } => (pointer(Kind::Strings), 0, None),
        LayoutFieldKind::Numbers { element, .. } => {
            (pointer(Kind::Array), 0, Some(number(element)))
        }
        LayoutFieldKind::Pointers { .. } => (pointer(Kind::Array), 0, Some(pointer(Kind::Pointer))),
        LayoutFieldKind::Layouts { element, .. } => {
            (pointer(Kind::Struct(element.0 as u16)), 0, None)
        }
    };
    LayoutField { name: field.name.clone(), offset: field.offset, ty, len, element }
}

/// What a field of a struct, or the memory that it points at, means beyond its size.
fn field_kind(
    registries: &Registries,
    groups: &Groups,
    structure: &str,
    field: &str,
) -> Option<Kind> {
    let (types, field) = registries.field(structure, field)?;
    let name = field.ty.base.as_str();
    match types.group(name).and_then(|group| groups.find(group)) {
        Some((index, true)) => Some(Kind::Bitfield(index)),
        Some((index, false)) => Some(Kind::Enum(index)),
        None if name == "ze_bool_t" => Some(Kind::Bool),
        None if field.ty.is_pointer() => None,
        None if name == "char" => Some(Kind::String),
        None => types.is_handle(name).then_some(Kind::Handle),
    }
}

/// The header of an API; `None` if the API has no tables.
fn header(api: &Api, registry: &Registry) -> Option<Header> {
    (!registry.tables.is_empty()).then(|| Header {
        api: api.clone(),
        types: registry.types.clone(),
        tables: registry.tables.clone(),
        tool_tables: registry.tool_tables.clone(),
        core_callbacks: registry.core_callbacks.clone(),
    })
}

struct Resolver<'a> {
    registries: &'a Registries,
    apis: &'a [Api],
    program: &'a Program,
    groups: &'a Groups,
    problems: Vec<Problem>,
}

impl Resolver<'_> {
    fn function(&mut self, command: &Command, id: u16, exported: bool) -> Option<Function> {
        let declared = self.registries.command(&command.name)?;
        let mut params = Vec::new();
        let mut end = 0;
        for (at, of_registry) in declared.params.iter().enumerate() {
            let param = self.param(command, at, end, &of_registry.declared)?;
            end = param.offset + param.value.ty.repr.size();
            params.push(param);
        }
        Some(Function {
            id,
            constant: naming::id_constant(&command.name),
            name: command.name.clone(),
            api: self.api(command)?,
            origin: command.origin,
            version: command.version,
            desktop_version: command.desktop_version,
            extensions: command.extensions.clone(),
            params,
            result: self.result(command)?,
            fixed_len: end,
            effect: match command.effect {
                typed::Effect::Enter => Effect::Enter,
                typed::Effect::Leave => Effect::Leave,
                typed::Effect::Recorded => Effect::Recorded,
            },
            hook: command.hook.map(|typed::Hook { enter_flags, leave_flags, before }| Hook {
                enter_flags,
                leave_flags,
                before,
            }),
            frame: command.frame,
            state: parts::state(command),
            guard: parts::guard(command),
            consumes: command.consumes,
            exported,
            declared_result: declared.declared_result.clone(),
            slot_since: declared.slot_since,
            registration: declared.registration.clone(),
        })
    }

    fn param(&mut self, command: &Command, at: usize, end: u16, spelled: &CType) -> Option<Param> {
        let declared = command.params.get(at)?;
        let group = declared.group.as_deref();
        let mut value = self.value(command, &declared.ctype, group, names_object(declared))?;
        let slot = command.slots.iter().find(|slot| slot.param == at);
        let api = command.api.as_str();
        let observation = slot.map(|slot| {
            let extent = parts::written_out(self.program, &slot.extent);
            Observation {
                direction: match slot.direction {
                    typed::Direction::In => Direction::In,
                    typed::Direction::Out => Direction::Out,
                },
                element: self.element(&extent, declared, api),
                tables: parts::tables(self.program, &extent),
                extent,
            }
        });
        if let Some(observation) = &observation {
            value.ty.kind = self.observed_kind(&observation.extent, api);
        }
        if let Some(layout) = declared.layout.as_ref() {
            value.ty.kind = self.struct_kind(&layout.name);
        }
        if is_chain(command, at) {
            value.ty.kind = Kind::Chain;
        }
        let has_ranges = observation.is_none() && has_ranges(command, at);
        let ranges_element = has_ranges.then(|| self.pointee(declared, api)).flatten();
        Some(Param {
            name: declared.name.clone(),
            ident: naming::parameter(&declared.name),
            offset: end.next_multiple_of(value.ty.repr.size()),
            value,
            declared: spelled.clone(),
            observation,
            ranges_element,
            by_value: declared.layout.as_ref().filter(|it| it.is_value).map(|it| it.name.clone()),
        })
    }

    fn struct_kind(&self, name: &str) -> Kind {
        let at = self.program.layouts.iter().position(|layout| layout.name == name);
        at.map_or(Kind::Pointer, |at| Kind::Struct(at as u16))
    }

    /// The command's result. The outer `None` means a mistake, the inner one a command without a result.
    fn result(&mut self, command: &Command) -> Option<Option<Value>> {
        let declared = &command.result;
        if declared.ctype.is_void() {
            return Some(None);
        }
        let mut value = self.value(command, &declared.ctype, declared.group.as_deref(), false)?;
        if is_text(&declared.ctype) {
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
        let kind = self.kind(sense, group, is_name, &command.api);
        Some(Value { rust, ty: Type { repr, kind }, is_pointer: ty.is_pointer() })
    }

    fn kind(&self, sense: Sense, group: Option<&str>, is_name: bool, api: &str) -> Kind {
        let found = group.and_then(|name| self.groups.find(name));
        match (sense, found) {
            (Sense::Number, _) if is_name => Kind::Handle,
            (Sense::Number | Sense::Bitfield, Some((index, true))) => Kind::Bitfield(index),
            (Sense::Number | Sense::Enum, Some((index, _))) => Kind::Enum(index),
            (Sense::Enum, None) => self.groups.catch_all(api).map_or(Kind::Number, Kind::Enum),
            (Sense::Number | Sense::Bitfield | Sense::Char | Sense::Void, _) => Kind::Number,
            (Sense::Bool, _) => Kind::Bool,
            (Sense::Handle, _) => Kind::Handle,
            (Sense::Pointer, _) => Kind::Pointer,
        }
    }

    /// Type of a slot's elements; `None` for extents without elements.
    fn element(&self, extent: &Extent, declared: &typed::Param, api: &str) -> Option<Type> {
        let has_elements = matches!(
            extent,
            Extent::Elements(_) | Extent::Counted { .. } | Extent::Attributes { .. }
        );
        let pointee = declared.ctype.pointee()?;
        let bytes = Type { repr: Repr::U8, kind: Kind::Number };
        let found = || if pointee.is_void() { Some(bytes) } else { self.pointee(declared, api) };
        has_elements.then(found).flatten()
    }

    /// Type of the value behind a pointer, if the registry declares it.
    fn pointee(&self, declared: &typed::Param, api: &str) -> Option<Type> {
        let (repr, sense) = declared.ctype.pointee()?.scalar()?;
        let kind = self.kind(sense, declared.group.as_deref(), names_object(declared), api);
        let repr_or_bytes = if repr == Repr::Void { Repr::U8 } else { repr };
        (repr != Repr::Void || sense != Sense::Void).then_some(Type { repr: repr_or_bytes, kind })
    }

    fn api(&self, command: &Command) -> Option<Api> {
        self.apis.iter().find(|api| api.name == command.api).cloned()
    }

    fn observed_kind(&self, extent: &Extent, api: &str) -> Kind {
        match extent {
            Extent::Text { .. } | Extent::TextOf { .. } => Kind::String,
            Extent::Strings { .. } => Kind::Strings,
            Extent::Attributes { .. } => {
                self.groups.catch_all(api).map_or(Kind::Array, Kind::Attributes)
            }
            _ => Kind::Array,
        }
    }

    /// Reports APIs whose order in the list differs from that of their commands' names. Ids are positions in a list
    /// that is sorted by name and has the commands of an API next to each other.
    fn refuse_unsorted_apis(&mut self, functions: &[Function]) {
        for pair in functions.windows(2) {
            let [before, after] = pair else { continue };
            if before.name > after.name {
                let message = format!(
                    "{} of {} comes behind {} of {}; list the APIs in the order of their commands' names",
                    before.name, before.api.name, after.name, after.api.name
                );
                self.problems.push(Problem { file: LIST.to_owned(), line: 0, message });
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

    /// Reports generated commands with an address that no description explains: `replay` can't pass it to a driver.
    fn refuse_unplayable(&mut self, command: &Command) {
        let is_generated = self.api(command).is_some_and(|api| api.is_played());
        if !is_generated || command.replay != typed::Replay::Generated {
            return;
        }
        for (at, param) in command.params.iter().enumerate() {
            let is_address = match param.memory {
                MemoryUse::Address | MemoryUse::Unknown => true,
                MemoryUse::None => matches!(param.ctype.scalar(), Some((Repr::Pointer, _))),
                MemoryUse::Declared | MemoryUse::Registry => false,
            };
            let is_offset = command.offset.is_some_and(|(offset, _)| offset == at);
            let is_array = command.array.is_some_and(|(pointer, _)| pointer == at);
            if is_address && !is_offset && !is_array && param.class.is_none() {
                let message = format!(
                    "how is {} replayed? `{}` is an address; say `class`, `@array`, `@offset` or \
                     `@replay`",
                    command.name, param.name
                );
                self.refuse(command, message);
            }
        }
    }

    fn refuse(&mut self, command: &Command, message: String) {
        let file = self.api(command).map_or_else(String::new, |api| api.registry.clone());
        self.problems.push(Problem { file, line: 0, message });
    }
}

/// Whether a parameter is a name of an object or points at such names.
fn names_object(param: &typed::Param) -> bool {
    let places = [naming::UNIFORM_LOCATION, naming::UNIFORM_BLOCK];
    param.class.as_deref().is_some_and(|class| !places.contains(&class))
}

/// Whether a part of the command observes a range of the parameter.
fn has_ranges(command: &Command, param: usize) -> bool {
    has_range(command, param, |_| true)
}

/// Whether the parameter points at structs that are identified by their first field.
fn is_chain(command: &Command, param: usize) -> bool {
    has_range(command, param, |extent| matches!(extent, Extent::AnyChain))
}

fn has_range(command: &Command, param: usize, is_wanted: impl Fn(&Extent) -> bool) -> bool {
    let mut found = false;
    for part in [&command.enter, &command.leave] {
        parts::each(part, &mut |stmt| {
            if let StmtKind::Observe(observation) = &stmt.kind {
                found |= observation.param == Some(param) && is_wanted(&observation.extent);
            }
        });
    }
    found
}

/// Whether a result points at a NUL-terminated string.
fn is_text(result: &CType) -> bool {
    result.pointers.len() == 1 && ["GLubyte", "GLchar", "char"].contains(&result.base.as_str())
}
