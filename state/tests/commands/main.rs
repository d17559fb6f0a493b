//! Commands run through the generated code and the hand-written functions together: their effects on the state, and the
//! memory that they access.

mod desktop;
mod direct_state_access;
mod egl;
mod egl_objects;
mod es1;
mod es1_parameters;
mod program;
mod refused;
