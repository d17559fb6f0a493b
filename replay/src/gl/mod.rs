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
mod mappings;
mod maps;
mod multi_draws;
mod outside;
mod pixels;
mod places;
mod play;
mod programs;
mod syncs;

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
pub(crate) use mappings::update as update_mappings;
pub use maps::{glFlushMappedBufferRange, glMapBufferOES, glMapBufferRange, glUnmapBuffer};
pub use multi_draws::{glMultiDrawElementsBaseVertexEXT, glMultiDrawElementsEXT};
pub use outside::outside;
pub use pixels::{
    glReadPixels, glReadnPixels, glTexImage2D, glTexImage3D, glTexImage3DOES, glTexSubImage2D,
    glTexSubImage3D, glTexSubImage3DOES,
};
pub use places::{glGetProgramResourceLocation, glGetUniformLocation};
pub(crate) use play::play;
pub use programs::{glLinkProgram, glProgramBinary};
pub use syncs::{glClientWaitSync, glWaitSync};
