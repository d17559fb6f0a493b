//! Runs the code that is generated from `pass/`, on the runtime of `gapii_state` and `gapii_follow`.

/// State as values, and commands by name.
#[path = "follow/generated/mod.rs"]
pub mod described;
pub mod generated;
pub mod toy;

/// Items that the generated code of the tools imports.
pub mod state {
    pub use crate::generated::commands;
    pub use crate::generated::fields::*;
    pub use gapii_state::Whole;
}

/// The state in the scope of the tools.
pub mod whole {
    use gapii_state::Whole;

    pub type Context = crate::Context<Whole>;
    pub type Group = crate::Group<Whole>;
    pub type GroupState = crate::GroupState<Whole>;
    pub type Process = crate::Process<Whole>;
    pub type Thread = crate::Thread<Whole>;
}

mod buffers;
mod devices;
mod draws;
mod order;
mod procedures;
mod program;
mod values;

pub use gapii_follow::{dispatch, kinds, record, value};
pub use gapii_state::{
    At, ContextApi, Extensions, Few, FormerAttachments, GroupOf, Ignore, Memory, NO_PARAM,
    NameCache, Nothing, Object, Objects, Observer, ProcessOf, Ref, Scalar, Scope, Scoped, Shared,
    Tracked, Values, Whole, at, command_modules, memory, number, observe, set, state, stored_enum,
    walk,
};
pub use generated::fields::*;
pub use toy::changed_maps;

pub use generated::commands;

/// A share group of the toy.
pub type Group<S = Tracked> = GroupOf<GroupState<S>>;
/// A process of the toy, which has no table of contexts.
pub type Process<S = Tracked> = ProcessOf<ProcessState<S>, ()>;
