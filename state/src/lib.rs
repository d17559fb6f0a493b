//! The state that a program has set up (objects, bindings, parameters), and the memory that its commands access.
//!
//! [`generated`] is generated from `apis/`: structs for every declared state and object, and for each
//! command its effects at enter and at leave. The other modules are the
//! runtime that the generated code calls. [`gl`], [`egl`], [`glx`] and [`level_zero`] have the hand-written
//! functions that the descriptions declare with `extern`.
//!
//! State is generic over a [`Scope`]: the shim keeps [`Tracked`] state, the tools [`Whole`] state, and both
//! run the same functions. [`Tracked`] is the default scope of all types.
//!
//! This crate reads the program's memory through [`Memory`] alone, reports what commands read and wrote to
//! an [`Observer`], and never calls a driver.
//!
//! ```
//! use std::sync::Arc;
//!
//! use gapii_commands::constants::GL_ARRAY_BUFFER;
//! use gapii_state::{Context, Group, Ignore, Nothing, Process, Thread, commands};
//!
//! // A thread with a current context of OpenGL ES 3.2, whose handle is 7.
//! let mut thread: Thread = Thread::new(Arc::new(Process::default()), 1);
//! thread.context = Some(Box::new(Context::new(7, Arc::new(Group::default()), (3, 2))));
//! // The program calls glBindBuffer. The command reads no memory.
//! commands::glBindBuffer::enter(&mut thread, &Nothing, &mut Ignore, GL_ARRAY_BUFFER, 5);
//! let context = thread.context.ok_or("it is current")?;
//! assert_eq!(context.array_buffer.name(), 5);
//! # Ok::<(), &str>(())
//! ```

#![forbid(unsafe_code)]

pub mod at;
mod cache;
pub mod changes;
mod context_api;
pub mod egl;
mod extensions;
mod few;
pub mod generated;
pub mod gl;
pub mod glx;
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
pub mod stored;
pub mod touched;
pub mod walk;

pub use at::At;
pub use cache::NameCache;
pub use context_api::{ContextApi, version_of};
pub use extensions::Extensions;
pub use few::Few;
pub use generated::commands;
pub use generated::fields::*;
pub use gl::{FormerAttachments, changed_maps};
pub use group::{Group, GroupOf, Shared};
pub use memory::{
    BoundRenderbuffer, ElementBuffer, Ignore, Memory, NO_PARAM, Nothing, Observer, Scalar, Values,
};
pub use objects::{Object, Objects};
pub use process::{Process, ProcessOf};
pub use reference::Ref;
pub use scope::{Scope, Scoped, Tracked, Whole};
