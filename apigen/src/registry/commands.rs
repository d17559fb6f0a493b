//! [`Registry`]: the commands and enumerants of an API as plain data.

use std::collections::{BTreeMap, BTreeSet};

use super::types::{Direction, Field, Range, Struct, Table, ToolTable, Types, Version};
use crate::apis::Api;
use crate::ctype::CType;
use crate::origin::Origin;

/// What the headers of one API declare.
#[derive(Debug, Default)]
pub struct Registry {
    /// Commands of the API, by name.
    pub commands: BTreeMap<String, Command>,
    pub enumerants: Vec<Enumerant>,
    /// All enumerants as descriptions see them: signed where the registry says so, handles too; what
    /// exceeds an `i64` saturates.
    pub constants: BTreeMap<String, i64>,
    /// The bits of the enumerants that a version or an extension of the API has; handles are left out.
    pub profile: BTreeMap<String, u64>,
    /// The commands that each extension has.
    pub extensions: BTreeMap<String, BTreeSet<String>>,
    /// Names that a version of the API has without an extension.
    pub core: BTreeSet<String>,
    /// Those of `core` that a version of another feature than desktop OpenGL has.
    pub embedded_core: BTreeSet<String>,
    /// Types that the API declares; none for EGL and OpenGL ES, whose types are numbers and handles.
    pub types: Types,
    /// Tables of functions, by which a loader finds the functions of a driver or a layer.
    pub tables: Vec<Table>,
    /// Tables of functions that the registry does not declare.
    pub tool_tables: Vec<ToolTable>,
    /// Commands with a callback in the structure that registers callbacks of many commands, in its order.
    pub core_callbacks: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct Command {
    pub name: String,
    pub result: CType,
    /// The result's type as the header spells it.
    pub declared_result: CType,
    pub result_group: Option<String>,
    pub params: Vec<Param>,
    /// The command this one is another name of; it need not be in the API.
    pub alias: Option<String>,
    pub origin: Origin,
    /// The version of OpenGL ES, from 2.0 on, that first has it without an extension.
    pub version: Option<(u8, u8)>,
    /// The version of desktop OpenGL that first has it without an extension.
    pub desktop_version: Option<(u8, u8)>,
    /// Extensions of the API that have it, sorted.
    pub extensions: Vec<String>,
    /// The lowest version of a table that has the command's slot at the place of today.
    pub slot_since: Option<Version>,
    /// The function of a tracing layer that registers callbacks of the command.
    pub registration: Option<String>,
}

#[derive(Clone, Debug)]
pub struct Param {
    pub name: String,
    /// The type in terms of those that [`ctype`](crate::ctype) knows.
    pub ty: CType,
    /// The type as the header spells it.
    pub declared: CType,
    pub group: Option<String>,
    /// The kind of object that an integer names.
    pub class: Option<String>,
    pub len: Option<String>,
    /// The C struct that it points at, or is.
    pub layout: Option<Layout>,
    /// Whether the command reads or writes the memory that the parameter points at, if the registry says so.
    pub direction: Option<Direction>,
    /// How much memory the parameter points at.
    pub range: Option<Range>,
    /// The call ends the life of the object.
    pub is_released: bool,
}

/// A parameter's C struct.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    pub name: String,
    /// It is passed by value, though `ty` is a pointer to it.
    pub is_value: bool,
}

#[derive(Clone, Debug)]
pub struct Enumerant {
    pub name: String,
    pub value: u64,
    pub groups: Vec<String>,
    pub is_bit: bool,
}

/// The APIs, each with its registry, in the order of the list.
#[derive(Debug, Default)]
pub struct Registries(pub Vec<(Api, Registry)>);

impl Registries {
    /// The registry of the API of this name.
    pub fn of(&self, api: &str) -> Option<&Registry> {
        self.0.iter().find(|(known, _)| known.name == api).map(|(_, registry)| registry)
    }

    fn all(&self) -> impl Iterator<Item = &Registry> {
        self.0.iter().map(|(_, registry)| registry)
    }

    /// The command of this name.
    pub fn command(&self, name: &str) -> Option<&Command> {
        self.all().find_map(|registry| registry.commands.get(name))
    }

    /// The field of a struct, with the types that it is declared in terms of.
    pub fn field(&self, structure: &str, field: &str) -> Option<(&Types, &Field)> {
        let mut types = self.all().map(|registry| &registry.types);
        types.find_map(|types| Some((types, types.structure(structure)?.field(field)?)))
    }

    /// The enumerants of the APIs' versions and extensions, sorted by name.
    pub fn profile(&self) -> BTreeMap<String, u64> {
        self.all().flat_map(|registry| registry.profile.clone()).collect()
    }

    /// All commands with their APIs, in the order of the list, each API's sorted by name.
    pub fn commands(&self) -> impl Iterator<Item = (&Api, &Command)> {
        self.0.iter().flat_map(|(api, registry)| {
            registry.commands.values().map(move |command| (api, command))
        })
    }

    /// All structs with their APIs.
    pub fn structs(&self) -> impl Iterator<Item = (&Api, &Types, &Struct)> {
        self.0.iter().flat_map(|(api, registry)| {
            registry.types.structs.iter().map(move |found| (api, &registry.types, found))
        })
    }
}
