//! Hand-written functions that the descriptions of GLX declare with `extern`.

mod lists;
mod visuals;

pub use lists::{count_pairs, visual_words};
pub use visuals::{visual_id, visual_screen};
