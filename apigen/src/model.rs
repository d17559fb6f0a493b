//! The input of the emitters: registry and descriptions joined, with the ids of commands and the offsets of arguments.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;

use crate::apis::Api;
use crate::ctype::{CType, Repr};
use crate::lang::typed::{Extent, MemoryUse, Program};
use crate::origin::Origin;
use crate::registry::{Table, ToolTable, Types, Version};

/// All commands, enum groups, structs and constants of all APIs.
#[derive(Debug)]
pub struct Model {
    /// Sorted by name; the index is the id.
    pub functions: Vec<Function>,
    /// Enum groups; the index is what [`Kind`] refers to.
    pub groups: Vec<Group>,
    /// Number of groups that hold all names of an API. They are the first groups.
    pub catch_alls: usize,
    pub sizes: Vec<SizeTable>,
    /// C structs; the index is what [`Kind`] refers to.
    pub layouts: Vec<Layout>,
    /// The enumerants of the APIs' versions and extensions, with their bits.
    pub constants: BTreeMap<String, u64>,
    /// What the headers of APIs with tables of functions declare.
    pub headers: Vec<Header>,
}

/// The C types and the tables of an API.
#[derive(Debug)]
pub struct Header {
    pub api: Api,
    pub types: Types,
    pub tables: Vec<Table>,
    /// Tables of functions that the registry does not declare.
    pub tool_tables: Vec<ToolTable>,
    /// Commands with a callback in the structure that registers callbacks of many commands, in its order.
    pub core_callbacks: Vec<String>,
}

/// A C struct.
#[derive(Debug)]
pub struct Layout {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// The value of the first field by which a chain identifies the struct.
    pub stype: Option<u32>,
    pub fields: Vec<LayoutField>,
}

#[derive(Debug)]
pub struct LayoutField {
    pub name: String,
    /// In bytes.
    pub offset: u64,
    pub ty: Type,
    /// Number of elements of an array; 0 for a single value.
    pub len: u64,
    /// Type of the elements behind a pointer.
    pub element: Option<Type>,
}

#[derive(Debug)]
pub struct Function {
    pub id: u16,
    /// Name of the id's constant.
    pub constant: String,
    pub name: String,
    pub api: Api,
    pub origin: Origin,
    /// The first version of OpenGL ES, from 2.0 on, whose core has the command.
    pub version: Option<(u8, u8)>,
    /// The first version of desktop OpenGL whose core or compatibility profile has the command.
    pub desktop_version: Option<(u8, u8)>,
    /// Extensions of the API that have the command, sorted.
    pub extensions: Vec<String>,
    pub params: Vec<Param>,
    /// `None` for a command without a result.
    pub result: Option<Value>,
    /// Length in bytes of the enter record's fixed part, unpadded.
    pub fixed_len: u16,
    pub effect: Effect,
    pub hook: Option<Hook>,
    /// For a command with `@frame`: the result with which it ends a frame.
    pub frame: Option<i64>,
    /// Parts that the state mutator runs in the shim; `None` if it has none.
    pub state: Option<StateParts>,
    /// The arguments to which `state` is restricted; `None` if it holds for all arguments.
    pub guard: Option<Guard>,
    /// Whether the driver may read buffers when it runs the command.
    pub consumes: bool,
    /// Whether one of the shim's libraries exports the command.
    pub exported: bool,
    /// The result's type as the header spells it.
    pub declared_result: CType,
    /// The lowest version of a table that has the command's slot at the place of today.
    pub slot_since: Option<Version>,
    /// The function of a tracing layer that registers callbacks of the command.
    pub registration: Option<String>,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    /// The Rust identifier.
    pub ident: String,
    pub value: Value,
    /// The type as the header spells it.
    pub declared: CType,
    /// Offset in bytes in the enter payload.
    pub offset: u16,
    pub observation: Option<Observation>,
    /// Type of the elements behind the pointer, if its memory is observed as ranges only.
    pub ranges_element: Option<Type>,
    /// Name of the C struct, if the parameter is a struct passed by value. The struct is then observed, and the
    /// argument in the record is null.
    pub by_value: Option<String>,
}

/// A parameter's or a result's type.
#[derive(Clone, Debug)]
pub struct Value {
    pub rust: TokenStream,
    pub ty: Type,
    pub is_pointer: bool,
}

/// Storage and meaning of a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Type {
    pub repr: Repr,
    pub kind: Kind,
}

/// Meaning of a value. The variants have the names of `gapii_commands::Kind`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Number,
    Bool,
    Enum(u16),
    Bitfield(u16),
    Handle,
    Pointer,
    String,
    Strings,
    Array,
    Attributes(u16),
    Struct(u16),
    Chain,
}

/// When a command takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Enter,
    Leave,
    Recorded,
}

/// Which hand-written functions a hooked command calls besides the hook itself.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Hook {
    pub enter_flags: bool,
    pub leave_flags: bool,
    /// The hook also runs a function before the command is recorded.
    pub before: bool,
}

/// Effects of a command's state mutator in the shim.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateParts {
    pub enter: bool,
    pub leave: bool,
    /// Changes state that the shim keeps whether or not it records.
    pub is_tracked: bool,
    /// Changes such state in its enter part.
    pub enter_changes: bool,
    /// May name memory that the command reads, in its enter part.
    pub reads_ranges: bool,
    /// May name such memory although no object exists, because the memory does not depend on state.
    pub reads_without_state: bool,
    /// May name memory that it wrote, in its leave part.
    pub writes_ranges: bool,
}

/// The values of a parameter for which the state mutator has an effect in the shim.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// Index of the parameter.
    pub param: usize,
    pub values: Vec<u32>,
}

/// Memory that is copied into a record.
#[derive(Clone, Debug)]
pub struct Observation {
    pub direction: Direction,
    /// Depends on arguments alone: has no variables and no calls.
    pub extent: Extent,
    /// Indices and names of the size tables that the extent uses.
    pub tables: BTreeMap<usize, String>,
    /// Type of the elements of an array.
    pub element: Option<Type>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    In,
    Out,
}

/// Names of the values of an enum or bitfield, sorted by value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Group {
    pub name: String,
    pub values: Vec<(u64, String)>,
    pub fallback: Option<u16>,
}

/// Number of elements by the value of an enum argument.
#[derive(Debug)]
pub struct SizeTable {
    pub name: String,
    pub default: i64,
    /// Number of elements, and the enumerants' values and names with that number, sorted.
    pub cases: Vec<(i64, Vec<(u64, String)>)>,
}

impl Function {
    /// Whether the leave record ends with the NUL-terminated string that the result points at.
    pub fn observes_result(&self) -> bool {
        self.result.as_ref().is_some_and(|result| result.ty.kind == Kind::String)
    }

    pub fn observed(&self, direction: Direction) -> impl Iterator<Item = (&Param, &Observation)> {
        self.params.iter().filter_map(move |param| {
            let observation = param.observation.as_ref()?;
            (observation.direction == direction).then_some((param, observation))
        })
    }

    /// Whether a leave record follows the enter record.
    pub fn leaves(&self) -> bool {
        self.result.is_some()
            || self.effect != Effect::Enter
            || self.hook.is_some()
            || self.observed(Direction::Out).next().is_some()
            || self.state.is_some_and(|state| state.writes_ranges)
    }

    /// Whether a tracker runs the command's state part while nothing is captured. A hooked command has none: its
    /// handler does it.
    pub fn has_tracker(&self) -> bool {
        self.hook.is_none() && self.state.is_some_and(|state| state.is_tracked)
    }
}

/// Statistics of the generated code.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Title and number of commands of each API.
    pub commands: Vec<(String, usize)>,
    pub exported: usize,
    pub groups: usize,
    /// Pointer parameters whose memory is in the trace. Handles do not count as pointers.
    pub observed: usize,
    /// Pointer parameters of which only the address matters.
    pub address_only: usize,
    /// Pointer parameters without an extent.
    pub undescribed: usize,
}

impl Model {
    pub fn summary(&self, program: &Program) -> Summary {
        let of_apis = self.functions.chunk_by(|a, b| a.api == b.api);
        let of_apis =
            of_apis.filter_map(|of_api| Some((of_api.first()?.api.title.clone(), of_api.len())));
        let pointers = |memory: &[MemoryUse]| {
            let params = program.commands.iter().flat_map(|command| &command.params);
            params.filter(|param| memory.contains(&param.memory)).count()
        };
        Summary {
            commands: of_apis.collect(),
            exported: self.functions.iter().filter(|function| function.exported).count(),
            groups: self.groups.len(),
            observed: pointers(&[MemoryUse::Declared, MemoryUse::Registry]),
            address_only: pointers(&[MemoryUse::Address]),
            undescribed: pointers(&[MemoryUse::Unknown]),
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let commands = self.commands.iter().map(|(title, count)| format!("{count} {title}"));
        writeln!(f, "commands: {}", commands.collect::<Vec<_>>().join(", "))?;
        writeln!(f, "exported: {}", self.exported)?;
        writeln!(f, "enum groups: {}", self.groups)?;
        write!(
            f,
            "pointer parameters: {} observed, {} address only, {} without an extent",
            self.observed, self.address_only, self.undescribed
        )
    }
}
