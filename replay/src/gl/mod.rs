//! Commands of OpenGL ES: conversion of arguments, and commands that need more than that.
//!
//! Players of plain commands are generated. `generated::table` maps each command to its player.

// The registry gives each of the driver's functions its signature, and the pointers that they get
// lead only into memory of the player.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case
)]

mod arguments;
mod arrays;
mod blocks;
mod debug;
mod egl_images;
mod labels;
mod lists;
mod mappings;
mod maps;
mod multi_draws;
mod outside;
pub(crate) mod pending_errors;
mod pixels;
mod places;
mod play;
mod programs;
pub(crate) mod selection;
mod syncs;
pub mod unused;

pub use arrays::{array_pointer, set_client_arrays};
pub use blocks::{glGetProgramResourceIndex, glGetUniformBlockIndex};
pub use debug::glDebugMessageCallback;
pub use egl_images::{
    glEGLImageTargetRenderbufferStorageOES, glEGLImageTargetTexStorageEXT,
    glEGLImageTargetTexture2DOES, glEGLImageTargetTextureStorageEXT,
};
pub use labels::{
    glCopyImageSubData, glGetObjectLabel, glGetObjectLabelEXT, glGetObjectPtrLabel,
    glLabelObjectEXT, glObjectLabel, glObjectPtrLabel,
};
pub use lists::glGenLists;
pub(crate) use mappings::{mapped_bytes, update as update_mappings};
pub use maps::{
    glMapBufferOES, glMapBufferRange, glMapNamedBuffer, glMapNamedBufferEXT, glMapNamedBufferRange,
    glMapNamedBufferRangeEXT,
};
pub use multi_draws::{
    glMultiDrawElementsBaseVertexEXT, glMultiDrawElementsEXT, glMultiModeDrawElementsIBM,
};
pub use outside::outside;
pub use pixels::Need;
pub use places::{glGetProgramResourceLocation, glGetUniformLocation};
pub(crate) use play::play;
pub use programs::{glGenFragmentShadersATI, glLinkProgram, glProgramBinary};
pub use selection::{glFeedbackBuffer, glRenderMode, glSelectBuffer};
pub use syncs::{glClientWaitSync, glWaitSync};
