//! Commands of OpenGL ES: how arguments become a driver's, and the commands that take more than that.
//!
//! What is plain is generated; see `generated::table` for who plays which.

// A driver's function has the signature that the registry gives its name, and gets pointers into
// memory of the player alone.
#![allow(
    clippy::multiple_unsafe_ops_per_block,
    clippy::too_many_arguments,
    clippy::undocumented_unsafe_blocks,
    non_snake_case
)]

mod arguments;
mod blocks;
mod debug;
mod egl_images;
mod labels;
mod maps;
mod multi_draws;
mod pixels;
mod places;
mod programs;
mod syncs;

use crate::call::{Call, Outcome, Skip};

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
pub use maps::{glFlushMappedBufferRange, glMapBufferOES, glMapBufferRange, glUnmapBuffer};
pub use multi_draws::{glMultiDrawElementsBaseVertexEXT, glMultiDrawElementsEXT};
pub use pixels::{
    glReadPixels, glReadnPixels, glTexImage2D, glTexImage3D, glTexImage3DOES, glTexSubImage2D,
    glTexSubImage3D, glTexSubImage3DOES,
};
pub use places::{glGetProgramResourceLocation, glGetUniformLocation};
pub use programs::{glLinkProgram, glProgramBinary};
pub use syncs::{glClientWaitSync, glWaitSync};

/// What the player keeps of OpenGL ES besides names.
#[derive(Default)]
pub struct Gl {
    places: places::Places,
}

/// Plays a command that needs what only the program's own process had.
pub fn outside(_call: &mut Call<'_, '_>) -> Outcome {
    Err(Skip::from("it needs something outside of the program that a trace can't have"))
}
