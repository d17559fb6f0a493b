//! Commands as the generated code and the hand-written functions follow them together: what they
//! change, and which memory of the program they are seen to touch.

mod egl;
mod egl_objects;
mod es1;
mod es1_parameters;
mod program;
