//! Hand-written functions that the descriptions of EGL declare with `extern`.

mod attributes;
mod contexts;
mod current;
mod displays;

pub use attributes::count_attributes;
pub use contexts::Contexts;
pub use current::*;
pub use displays::terminate;

pub use crate::gles::note_source_of_image;
