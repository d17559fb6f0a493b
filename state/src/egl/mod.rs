//! Hand-written functions that the descriptions of EGL declare with `extern`.

mod attributes;
mod contexts;
mod current;
mod displays;
mod dma_buf;

pub use attributes::count_attributes;
pub use contexts::Contexts;
pub use current::*;
pub use displays::terminate;
pub use dma_buf::{DmaBuf, FORMATS, Format, Plane, SIDE_MAX, Samples, Unknown};

pub use crate::gl::note_source_of_image;
