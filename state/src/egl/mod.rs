//! Functions that the descriptions of EGL name.

mod contexts;

pub use contexts::Contexts;
