//! The toy API at work: what is generated from `pass/` runs here, on the runtime of `state`.
//!
//! The runtime is compiled into this test, around the toy's generated code instead of its own.

#[path = "../../../../state/src/at.rs"]
pub mod at;
#[path = "../../../../state/src/cache.rs"]
mod cache;
#[path = "../../../../state/src/changes.rs"]
pub mod changes;
#[path = "../../../../state/src/dispatch.rs"]
pub mod dispatch;
#[path = "../../../../state/src/extensions.rs"]
mod extensions;
#[path = "../../../../state/src/few.rs"]
mod few;
pub mod generated;
#[path = "../../../../state/src/group.rs"]
mod group;
#[path = "../../../../state/src/memory.rs"]
mod memory;
#[path = "../../../../state/src/number.rs"]
pub mod number;
#[path = "../../../../state/src/objects.rs"]
mod objects;
#[path = "../../../../state/src/observe.rs"]
pub mod observe;
#[path = "../../../../state/src/process.rs"]
mod process;
#[path = "../../../../state/src/reference.rs"]
mod reference;
#[path = "../../../../state/src/value.rs"]
pub mod value;
#[path = "../../../../state/src/walk.rs"]
pub mod walk;

pub mod toy;

/// The toy has no table of contexts.
pub mod egl {
    pub type Contexts = ();
}

mod buffers;
mod devices;
mod draws;
mod order;
mod program;
mod values;

pub use at::At;
pub use cache::NameCache;
pub use extensions::Extensions;
pub use few::Few;
pub use generated::commands;
pub use generated::fields::*;
pub use group::Group;
pub use memory::{Ignore, Memory, NO_PARAM, Nothing, Observer, Scalar, Values};
pub use objects::Objects;
pub use process::Process;
pub use reference::Ref;
pub use toy::changed_maps;
