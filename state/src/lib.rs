//! The state that a program has set up (objects, bindings, parameters), and the memory that its commands access.
//!
//! [`generated`] is generated from `apis/`: structs for every declared state and object, and for each
//! command its effects at enter and at leave. The other modules are the
//! runtime that the generated code calls. [`gles`], [`egl`] and [`level_zero`] have the hand-written
//! functions that the descriptions declare with `extern`.
//!
//! State is generic over a [`Scope`]: the shim keeps [`Tracked`] state, the tools [`Whole`] state, and both
//! run the same functions. [`Tracked`] is the default scope of all types.
//!
//! This crate reads the program's memory through [`Memory`] alone, reports what commands read and wrote to
//! an [`Observer`], and never calls a driver.

#![forbid(unsafe_code)]

pub mod at;
mod cache;
pub mod changes;
pub mod egl;
mod extensions;
mod few;
pub mod generated;
pub mod gles;
mod group;
pub mod level_zero;
mod macros;
pub mod memory;
pub mod number;
mod objects;
pub mod observe;
mod process;
pub mod read_back;
mod reference;
mod scope;
pub mod walk;

pub use at::At;
pub use cache::NameCache;
pub use extensions::Extensions;
pub use few::Few;
pub use generated::commands;
pub use generated::fields::*;
pub use gles::changed_maps;
pub use group::{Group, GroupOf, Shared};
pub use memory::{Ignore, Memory, NO_PARAM, Nothing, Observer, Scalar, Values};
pub use objects::{Object, Objects};
pub use process::{Process, ProcessOf};
pub use reference::Ref;
pub use scope::{Scope, Scoped, Tracked, Whole};
