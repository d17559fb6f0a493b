//! The survey: a first reading of the trace, for facts that replay needs before it plays the first
//! command.
//!
//! Calls no driver. The memory for facts is bounded.

mod facts;
mod lists;
mod look;
mod needs;
mod requirement;
mod surfaces;
mod surveyor;

pub use facts::{ConfigFacts, ContextFacts, Survey};
pub use lists::{
    EGL_CONTEXT_MAJOR_VERSION, EGL_CONTEXT_MINOR_VERSION, EGL_CONTEXT_OPENGL_NO_ERROR_KHR,
    OF_CONTEXTS, attributes, only,
};
pub use needs::{Needs, find as requirement_of};
pub use requirement::Requirement;
pub(crate) use requirement::{requirements, version};
