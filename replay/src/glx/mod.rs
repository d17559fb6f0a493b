//! Commands of GLX, played through EGL: contexts, windows, pbuffers and pixmaps of GLX become those of `egl`. A window of X
//! becomes a surface when it is first current. Questions are not asked, because EGL's answers would be others. What
//! only an X server does is skipped: pixmaps as textures, fonts, copies between contexts.
//!
//! `play` items of `apis/glx/replay.api` name the function that plays each command.

pub mod contexts;
pub mod current;
pub mod drawables;
pub mod procedures;
pub mod swaps;
pub mod unplayed;
