//! Matrix stacks of OpenGL ES 1. Only the matrix on top can be asked for, so those on it are taken off
//! for a moment and put back.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_MODELVIEW, GL_MODELVIEW_MATRIX, GL_MODELVIEW_STACK_DEPTH, GL_PROJECTION,
    GL_PROJECTION_MATRIX, GL_PROJECTION_STACK_DEPTH, GL_TEXTURE, GL_TEXTURE_MATRIX,
    GL_TEXTURE_STACK_DEPTH,
};

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

const GL_MATRIX_MODE_NAME: u32 = constants::GL_MATRIX_MODE;

/// A stack: its mode, and what is asked for its depth and for the matrix on top.
struct Stack {
    mode: u32,
    depth: u32,
    top: u32,
}

const MODELVIEW: Stack =
    Stack { mode: GL_MODELVIEW, depth: GL_MODELVIEW_STACK_DEPTH, top: GL_MODELVIEW_MATRIX };
const PROJECTION: Stack =
    Stack { mode: GL_PROJECTION, depth: GL_PROJECTION_STACK_DEPTH, top: GL_PROJECTION_MATRIX };
/// Of the texture unit that is active.
const TEXTURE: Stack =
    Stack { mode: GL_TEXTURE, depth: GL_TEXTURE_STACK_DEPTH, top: GL_TEXTURE_MATRIX };

/// Those that a context has once, and which of all is meant.
pub fn describe(emitter: &mut Emitter) {
    let mode = gl::integer(GL_MATRIX_MODE_NAME) as u32;
    PROJECTION.describe(emitter);
    MODELVIEW.describe(emitter);
    gl::matrix_mode(mode);
    emitter.command(GL_MATRIX_MODE).arg(mode).done();
}

/// The stack of the texture unit that is active.
pub fn describe_of_unit(emitter: &mut Emitter) {
    let mode = gl::integer(GL_MATRIX_MODE_NAME) as u32;
    TEXTURE.describe(emitter);
    gl::matrix_mode(mode);
}

impl Stack {
    fn describe(&self, emitter: &mut Emitter) {
        emitter.command(GL_MATRIX_MODE).arg(self.mode).done();
        for (at, matrix) in self.matrices().iter().enumerate() {
            if at != 0 {
                emitter.command(GL_PUSH_MATRIX).done();
            }
            emitter.command(GL_LOAD_MATRIXF).numbers(matrix).done();
        }
    }

    /// The one on top is the last. The mode is the stack's afterwards.
    fn matrices(&self) -> Vec<[f32; 16]> {
        gl::matrix_mode(self.mode);
        let depth = gl::integer(self.depth).clamp(1, 64);
        let mut matrices = vec![gl::floats::<16>(self.top)];
        for _ in 1..depth {
            gl::pop_matrix();
            matrices.push(gl::floats::<16>(self.top));
        }
        matrices.reverse();
        for matrix in matrices.iter().skip(1) {
            gl::push_matrix();
            // SAFETY: sixteen numbers.
            unsafe { gl::load_matrix(matrix.as_ptr()) };
        }
        matrices
    }
}
