//! The items that generated code refers to.

pub use gapii_state::Whole;
pub use gapii_state::commands;
pub use gapii_state::generated::fields::*;
