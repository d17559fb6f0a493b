//! Matrix stacks of OpenGL ES 1 and of the compatibility profile of OpenGL, up to 64 matrices deep, and those of programs in
//! assembly language (`GL_ARB_vertex_program`, 2.14.6). A query returns only the top matrix, so matrices are popped to read
//! those below, and pushed again.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_CURRENT_MATRIX_ARB, GL_CURRENT_MATRIX_STACK_DEPTH_ARB, GL_MATRIX0_ARB,
    GL_MAX_PROGRAM_MATRICES_ARB, GL_MODELVIEW, GL_MODELVIEW_MATRIX, GL_MODELVIEW_STACK_DEPTH,
    GL_PROJECTION, GL_PROJECTION_MATRIX, GL_PROJECTION_STACK_DEPTH, GL_TEXTURE, GL_TEXTURE_MATRIX,
    GL_TEXTURE_STACK_DEPTH,
};

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

const GL_MATRIX_MODE_NAME: u32 = constants::GL_MATRIX_MODE;

/// A matrix stack: its matrix mode, and the queries of its depth and of its top matrix.
struct Stack {
    mode: u32,
    depth: u32,
    top: u32,
}

const MODELVIEW: Stack =
    Stack { mode: GL_MODELVIEW, depth: GL_MODELVIEW_STACK_DEPTH, top: GL_MODELVIEW_MATRIX };
const PROJECTION: Stack =
    Stack { mode: GL_PROJECTION, depth: GL_PROJECTION_STACK_DEPTH, top: GL_PROJECTION_MATRIX };
/// The stack of the active texture unit.
const TEXTURE: Stack =
    Stack { mode: GL_TEXTURE, depth: GL_TEXTURE_STACK_DEPTH, top: GL_TEXTURE_MATRIX };

/// Describes the projection and modelview stacks, and the matrix mode.
pub fn describe(emitter: &mut Emitter) {
    let mode = gl::integer(GL_MATRIX_MODE_NAME) as u32;
    PROJECTION.describe(emitter);
    MODELVIEW.describe(emitter);
    gl::matrix_mode(mode);
    emitter.command(GL_MATRIX_MODE).arg(mode).done();
}

/// Describes the texture matrix stack of the active texture unit.
pub fn describe_of_unit(emitter: &mut Emitter) {
    let mode = gl::integer(GL_MATRIX_MODE_NAME) as u32;
    TEXTURE.describe(emitter);
    gl::matrix_mode(mode);
}

/// Describes the stacks of programs in assembly language that the program has used. Leaves the matrix mode.
pub fn describe_of_programs(emitter: &mut Emitter) {
    let mode = gl::integer(GL_MATRIX_MODE_NAME) as u32;
    let count = gl::integer(GL_MAX_PROGRAM_MATRICES_ARB).clamp(0, 32) as u32;
    for mode in (GL_MATRIX0_ARB..).take(count as usize) {
        let (depth, top) = (GL_CURRENT_MATRIX_STACK_DEPTH_ARB, GL_CURRENT_MATRIX_ARB);
        let matrices = Stack { mode, depth, top }.matrices();
        if matrices != [IDENTITY] {
            describe_stack(emitter, mode, &matrices);
        }
    }
    gl::matrix_mode(mode);
}

const IDENTITY: [f32; 16] =
    [1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0];

fn describe_stack(emitter: &mut Emitter, mode: u32, matrices: &[[f32; 16]]) {
    emitter.command(GL_MATRIX_MODE).arg(mode).done();
    for (at, matrix) in matrices.iter().enumerate() {
        if at != 0 {
            emitter.command(GL_PUSH_MATRIX).done();
        }
        emitter.command(GL_LOAD_MATRIXF).numbers(matrix).done();
    }
}

impl Stack {
    fn describe(&self, emitter: &mut Emitter) {
        describe_stack(emitter, self.mode, &self.matrices());
    }

    /// Returns the matrices, the top one last. Leaves the matrix mode of this stack.
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
            // SAFETY: a matrix has 16 components.
            unsafe { gl::load_matrix(matrix.as_ptr()) };
        }
        matrices
    }
}
