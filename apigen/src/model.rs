//! The API as the generated code knows it: registry and descriptions joined, ids and offsets given.

use std::collections::BTreeMap;

use proc_macro2::TokenStream;

use crate::apis::Api;
use crate::ctype::Repr;
use crate::lang::typed::{Extent, MemoryUse, Program};
use crate::origin::Origin;

/// Everything the emitters need.
#[derive(Debug)]
pub struct Model {
    /// Sorted by name; the index is the id.
    pub functions: Vec<Function>,
    /// Enum groups; the index is what [`Kind`] refers to.
    pub groups: Vec<Group>,
    /// How many of the groups, the first ones, hold all names of an API.
    pub catch_alls: usize,
    pub sizes: Vec<SizeTable>,
    /// C structs; the index is what [`Kind`] refers to.
    pub layouts: Vec<Layout>,
    /// The enumerants of the APIs' versions and extensions, with their bits.
    pub constants: BTreeMap<String, u64>,
}

/// A C struct.
#[derive(Debug)]
pub struct Layout {
    pub name: String,
    /// In bytes.
    pub size: u64,
    /// The value of the first field that tells it in a chain.
    pub stype: Option<u32>,
    pub fields: Vec<LayoutField>,
}

#[derive(Debug)]
pub struct LayoutField {
    pub name: String,
    /// In bytes.
    pub offset: u64,
    pub ty: Type,
    /// Of an array, the number of elements; 0 for one value.
    pub len: u64,
    /// Of the elements that a pointer points at.
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
    /// The version of OpenGL ES, from 2.0 on, that first has it without an extension.
    pub version: Option<(u8, u8)>,
    /// Extensions of the API that have it, sorted.
    pub extensions: Vec<String>,
    pub params: Vec<Param>,
    /// `None` for a command without a result.
    pub result: Option<Value>,
    /// Length in bytes of the enter record's fixed part, unpadded.
    pub fixed_len: u16,
    pub effect: Effect,
    pub hook: Option<Hook>,
    /// The result with which it ends a frame, where a generated hook counts frames.
    pub frame: Option<i64>,
    /// What the tracked state has to do with it; `None`: nothing.
    pub state: Option<StateParts>,
    /// Where what `state` says holds for certain arguments only.
    pub guard: Option<Guard>,
    /// Whether it may make the driver read buffers.
    pub consumes: bool,
    /// Whether a soname exports the command.
    pub exported: bool,
}

#[derive(Debug)]
pub struct Param {
    pub name: String,
    /// The Rust identifier.
    pub ident: String,
    pub value: Value,
    /// Offset in bytes in the enter payload.
    pub offset: u16,
    pub observation: Option<Observation>,
    /// What it points at, where its memory is observed as ranges only.
    pub ranges_element: Option<Type>,
    /// The C struct that it is, where it is passed by value; it is observed then, and its place holds null.
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

/// The names are those of `gapii_commands::Kind`.
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
    /// It looks at something before the command is recorded.
    pub before: bool,
}

/// What the state mutator does at a command, as far as the shim has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StateParts {
    pub enter: bool,
    pub leave: bool,
    /// Changes state that the shim keeps whether or not it records.
    pub is_tracked: bool,
    /// May name memory that the command reads, in its enter part.
    pub reads_ranges: bool,
    /// May name memory that it wrote, in its leave part.
    pub writes_ranges: bool,
}

/// The values of a parameter for which the state mutator does anything in the shim.
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
    /// Of arguments alone: without variables and calls.
    pub extent: Extent,
    /// Indices and names of the tables of sizes that it uses.
    pub tables: BTreeMap<usize, String>,
    /// Of the elements of an array.
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
    /// Number of elements, and the values that have it with their names, sorted.
    pub cases: Vec<(i64, Vec<(u64, String)>)>,
}

impl Function {
    /// Whether the leave record ends with the text that the result points at.
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

    /// Whether it is followed though no capture runs, by a tracker: a hook follows in its handler.
    pub fn has_tracker(&self) -> bool {
        self.hook.is_none() && self.state.is_some_and(|state| state.is_tracked)
    }
}

/// What was generated, in numbers.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    /// Titles of the APIs and how many commands each has.
    pub commands: Vec<(String, usize)>,
    pub exported: usize,
    pub groups: usize,
    /// Pointer parameters (handles are none) whose memory is in the trace.
    pub observed: usize,
    /// Pointer parameters that are only addresses by nature.
    pub address_only: usize,
    /// Pointer parameters of which nobody says anything.
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
