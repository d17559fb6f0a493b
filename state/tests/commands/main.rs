//! Commands as the generated code and the hand-written functions follow them together: what they
//! change, and which memory of the program they are seen to touch.

mod egl;
#[cfg(feature = "tools")]
mod egl_objects;
mod es1;
#[cfg(feature = "tools")]
mod es1_parameters;
mod program;
