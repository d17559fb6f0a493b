//! `History`: the answer about a name, with the events of each object that had it. Decides nothing.

use std::collections::BTreeMap;

use gapii_trace::Untrusted;
use schemars::JsonSchema;
use serde::Serialize;

/// What a command does to an object; of several, the first in this order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Act {
    /// Makes it.
    Makes,
    /// Deletes its name.
    Deletes,
    /// Gives it contents, or a store for them.
    Fills,
    /// Draws to it, or clears it.
    DrawsTo,
    /// Changes its state, perhaps to the same values.
    Changes,
    /// Draws while it takes part.
    DrawsWith,
    /// Reads pixels of it, or of a framebuffer with it.
    Reads,
    /// Has its name as an argument.
    Names,
}

/// The objects that had a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct History {
    /// Kind of object, such as `Texture`.
    pub kind: &'static str,
    /// Its name, or its handle.
    pub name: u64,
    /// The objects, in the order in which they were made.
    pub objects: Vec<Life>,
    /// Objects that had the name and are left out, because there are too many.
    pub objects_left_out: u64,
}

/// What was done to one object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Life {
    /// Index of the process in the trace.
    pub process: u32,
    /// Handle of the context in which it was first used; null for an object that belongs to no context.
    pub context: Option<u64>,
    /// Number of the command that made it.
    pub made: Option<u64>,
    /// Number of the command that deleted its name; null if it has it at the end.
    pub deleted: Option<u64>,
    /// What was done, in order.
    pub events: Vec<Event>,
    /// Number of events of each sort, those that are left out included.
    pub counts: BTreeMap<Act, u64>,
    /// Of a program, the command that set each uniform last since the program was linked, up to the chosen command; in the
    /// order of their locations.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub uniforms: Vec<UniformSetter>,
    /// A number for what it belongs to.
    #[serde(skip)]
    pub(super) owner: u64,
    /// Distinguishes objects that had the same name.
    #[serde(skip)]
    pub(super) serial: u32,
}

/// The command that set a uniform last.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct UniformSetter {
    /// Location of the uniform.
    pub location: i32,
    /// Number of the command.
    pub seq: u64,
    /// Number of its frame.
    pub frame: u64,
    /// Name of the function.
    pub function: Untrusted,
}

/// A command that did something to an object.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Event {
    /// Number of the command.
    pub seq: u64,
    /// Number of its frame.
    pub frame: u64,
    /// Index of its thread in the trace.
    pub thread: u32,
    /// Thread id of the operating system.
    pub tid: u32,
    /// True for a command that sets up the state of a snapshot.
    pub is_setup: bool,
    /// Name of the function.
    pub function: Untrusted,
    /// What it did.
    pub act: Act,
}
