//! Commands run through the generated code and the hand-written functions together: what they change, and which
//! memory of the program they touch.

mod egl;
mod egl_objects;
mod es1;
mod es1_parameters;
mod program;
