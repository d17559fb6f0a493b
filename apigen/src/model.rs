//! The API as the generated code knows it: registry and annotations joined, ids and offsets given.

use proc_macro2::TokenStream;

use crate::annotations::Hook;
use crate::ctype::Repr;
use crate::extent::Extent;
use crate::registry::Origin;

/// Everything the emitters need.
#[derive(Debug)]
pub struct Model {
    /// Sorted by name; the index is the id.
    pub functions: Vec<Function>,
    /// Enum groups; the index is what [`Kind`] refers to.
    pub groups: Vec<Group>,
    pub sizes: Vec<SizeTable>,
}

/// The API a command belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Api {
    Egl,
    Gles,
}

#[derive(Debug)]
pub struct Function {
    pub id: u16,
    /// Name of the id's constant.
    pub constant: String,
    pub name: String,
    pub api: Api,
    pub origin: Origin,
    pub params: Vec<Param>,
    /// `None` for a command without a result.
    pub result: Option<Value>,
    /// Length in bytes of the enter record's fixed part, unpadded.
    pub fixed_len: u16,
    pub effect: Effect,
    pub hook: Option<Hook>,
    /// What the tracked state has to do with it; `None`: nothing.
    pub state: Option<StateParts>,
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

/// The names are those of `gapii_protocol::desc::Kind`.
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
}

/// When a command takes effect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    Enter,
    Leave,
    Recorded,
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

/// Memory that is copied into a record.
#[derive(Clone, Debug)]
pub struct Observation {
    pub direction: Direction,
    pub extent: Extent,
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
    pub default: u16,
    /// Number of elements, and the values that have it with their names, sorted.
    pub cases: Vec<(u16, Vec<(u64, String)>)>,
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
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Summary {
    pub egl_commands: usize,
    pub gles_commands: usize,
    pub exported: usize,
    pub groups: usize,
    /// Pointer parameters (handles are none) whose memory is in the trace.
    pub observed: usize,
    /// Pointer parameters of which only the address is.
    pub address_only: usize,
}

impl Model {
    pub fn summary(&self) -> Summary {
        let count = |api| self.functions.iter().filter(|function| function.api == api).count();
        let pointers = || {
            let params = self.functions.iter().flat_map(|function| &function.params);
            params.filter(|param| param.value.is_pointer)
        };
        let observed = pointers().filter(|param| param.observation.is_some()).count();
        Summary {
            egl_commands: count(Api::Egl),
            gles_commands: count(Api::Gles),
            exported: self.functions.iter().filter(|function| function.exported).count(),
            groups: self.groups.len(),
            observed,
            address_only: pointers().count() - observed,
        }
    }
}

impl std::fmt::Display for Summary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "commands: {} EGL, {} OpenGL ES", self.egl_commands, self.gles_commands)?;
        writeln!(f, "exported: {}", self.exported)?;
        writeln!(f, "enum groups: {}", self.groups)?;
        write!(
            f,
            "pointer parameters: {} observed, {} address only",
            self.observed, self.address_only
        )
    }
}
