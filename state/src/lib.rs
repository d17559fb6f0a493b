//! What a program has set up: objects, bindings, parameters, and which memory its commands touch.
//!
//! [`generated`] is written from `apis/`: structs for every declared state and object, and for each
//! command what it does at enter and at leave. The modules beside it are the small runtime that the
//! generated code calls, [`gles`] and [`egl`] the functions that descriptions name and Rust does.
//!
//! Pure: it reads the program's memory through [`Memory`] alone, tells what commands read and wrote
//! to an [`Observer`], and never calls a driver. The shim and the tools run the same code; what no
//! observation depends on exists under the feature `tools` only.

#![forbid(unsafe_code)]

pub mod at;
mod cache;
pub mod changes;
#[cfg(feature = "tools")]
mod dispatch;
pub mod egl;
mod extensions;
mod few;
#[cfg(feature = "tools")]
pub mod follow;
pub mod generated;
pub mod gles;
mod group;
pub mod level_zero;
mod memory;
pub mod number;
mod objects;
pub mod observe;
#[cfg(feature = "tools")]
mod observed;
mod process;
pub mod read_back;
mod reference;
#[cfg(feature = "tools")]
pub mod value;
pub mod walk;

pub use at::At;
pub use cache::NameCache;
#[cfg(feature = "tools")]
pub use dispatch::{CommandState, Part, command};
pub use extensions::Extensions;
pub use few::Few;
pub use generated::commands;
pub use generated::fields::*;
pub use gles::changed_maps;
pub use group::Group;
pub use memory::{Ignore, Memory, NO_PARAM, Nothing, Observer, Scalar, Values};
pub use objects::Objects;
pub use process::Process;
pub use reference::Ref;
