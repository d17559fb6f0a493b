//! Objects of the trace that the player keeps, with this machine's objects for them.

pub(crate) mod allocations;
mod configs;
mod contexts;
mod displays;
pub(crate) mod egl;
pub(crate) mod imports;
mod lacks;
pub(crate) mod level_zero;
mod mappings;
mod pending_errors;
mod places;
pub(crate) mod rows;
pub(crate) mod shapes;

pub(crate) use contexts::{make as make_context, real_config};
pub use egl::Egl;
pub use level_zero::LevelZero;
pub use mappings::{Mapping, Mappings};
pub use pending_errors::PendingErrors;
pub use places::Places;
