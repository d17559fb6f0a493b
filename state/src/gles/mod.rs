//! Functions that the descriptions of OpenGL ES name.

mod attribute_lists;
mod paths;

pub use attribute_lists::attributes_to_none;
pub use paths::{count_bits, path_names};
