//! Matrix stacks of OpenGL ES 1.1: the current matrix, and the commands that multiply it. A stack has at most 64
//! matrices (`DEPTH_MAX`); a push beyond, and a pop of the last one, do nothing. A projection of an empty volume does
//! nothing, either.
//!
//! Matrices are column-major and multiplied from the right, as in OpenGL ES.

use gapii_commands::constants::{
    GL_COLOR, GL_DOUBLE, GL_FIXED, GL_MATRIX_PALETTE_OES, GL_PROJECTION, GL_TEXTURE, GL_TEXTURE0,
    GL_TEXTURE31,
};

use crate::{Context, Memory, Thread, Values, Whole};

/// A column-major matrix of 4 x 4 numbers.
pub type Matrix = [f32; 16];

const IDENTITY: Matrix = [1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1., 0., 0., 0., 0., 1.];

/// Maximum number of matrices on one stack.
const DEPTH_MAX: usize = 64;

/// Replaces the current matrix with the one at an address.
pub fn load_matrix<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    matrix: u64,
    ty: u32,
    transposed: bool,
) {
    let loaded = matrix_at(memory, matrix, ty, transposed);
    change(thread, |_| loaded);
}

/// Multiplies the current matrix by the one at an address.
pub fn multiply_matrix<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    memory: &M,
    matrix: u64,
    ty: u32,
    transposed: bool,
) {
    let right = matrix_at(memory, matrix, ty, transposed);
    change(thread, |current| product(current, &right));
}

/// Replaces the current matrix with the identity.
pub fn load_identity<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    change(thread, |_| IDENTITY);
}

/// Pushes a copy of the current matrix.
pub fn push_matrix<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    let Some(context) = &mut thread.context else { return };
    let stack = current_stack(context);
    let top = stack.last().copied().unwrap_or(IDENTITY);
    if stack.is_empty() {
        stack.push(top);
    }
    if stack.len() < DEPTH_MAX {
        stack.push(top);
    }
}

/// Removes the current matrix from its stack.
pub fn pop_matrix<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    let Some(context) = &mut thread.context else { return };
    let stack = current_stack(context);
    if stack.len() > 1 {
        stack.pop();
    }
}

/// Rotates the current matrix by `angle` degrees around an axis.
pub fn rotate_matrix<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    angle: f64,
    x: f64,
    y: f64,
    z: f64,
) {
    let right = rotation(angle, [x, y, z]);
    change(thread, |current| product(current, &right));
}

/// Scales the current matrix.
pub fn scale_matrix<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    x: f64,
    y: f64,
    z: f64,
) {
    let right = rows([[x, 0., 0., 0.], [0., y, 0., 0.], [0., 0., z, 0.], [0., 0., 0., 1.]]);
    change(thread, |current| product(current, &right));
}

/// Translates the current matrix.
pub fn translate_matrix<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    x: f64,
    y: f64,
    z: f64,
) {
    let right = rows([[1., 0., 0., x], [0., 1., 0., y], [0., 0., 1., z], [0., 0., 0., 1.]]);
    change(thread, |current| product(current, &right));
}

/// Multiplies the current matrix by a perspective projection. Does nothing if the volume is empty: OpenGL ES
/// generates GL_INVALID_VALUE then.
pub fn multiply_frustum<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
    near: f64,
    far: f64,
) {
    let (width, height, depth) = (right - left, top - bottom, far - near);
    if near <= 0. || far <= 0. || width == 0. || height == 0. || depth == 0. {
        return;
    }
    let perspective = rows([
        [2. * near / width, 0., (right + left) / width, 0.],
        [0., 2. * near / height, (top + bottom) / height, 0.],
        [0., 0., -(far + near) / depth, -2. * far * near / depth],
        [0., 0., -1., 0.],
    ]);
    change(thread, |current| product(current, &perspective));
}

/// Multiplies the current matrix by a parallel projection. Does nothing if the volume is empty: OpenGL ES generates
/// GL_INVALID_VALUE then.
pub fn multiply_ortho<M: Memory + ?Sized>(
    thread: &mut Thread<Whole>,
    _memory: &M,
    left: f64,
    right: f64,
    bottom: f64,
    top: f64,
    near: f64,
    far: f64,
) {
    let (width, height, depth) = (right - left, top - bottom, far - near);
    if width == 0. || height == 0. || depth == 0. {
        return;
    }
    let parallel = rows([
        [2. / width, 0., 0., -(right + left) / width],
        [0., 2. / height, 0., -(top + bottom) / height],
        [0., 0., -2. / depth, -(far + near) / depth],
        [0., 0., 0., 1.],
    ]);
    change(thread, |current| product(current, &parallel));
}

/// Copies the current model-view matrix to the current matrix of the palette.
pub fn load_palette_from_modelview<M: Memory + ?Sized>(thread: &mut Thread<Whole>, _memory: &M) {
    let Some(context) = &mut thread.context else { return };
    let top = context.modelview.matrices.last().copied().unwrap_or(IDENTITY);
    let index = context.palette_matrix;
    context.palette_matrices.entry(index).or_default().matrices = vec![top];
}

fn change(thread: &mut Thread<Whole>, make: impl FnOnce(&Matrix) -> Matrix) {
    let Some(context) = &mut thread.context else { return };
    let stack = current_stack(context);
    match stack.last_mut() {
        Some(top) => *top = make(top),
        None => stack.push(make(&IDENTITY)),
    }
}

/// Returns the stack that `glMatrixMode` chose.
fn current_stack(context: &mut Context<Whole>) -> &mut Vec<Matrix> {
    let stack = match context.matrix_mode {
        GL_PROJECTION => &mut context.projection,
        GL_COLOR => &mut context.color_matrices,
        GL_TEXTURE => context.texture_matrices.entry(context.active_texture).or_default(),
        unit @ GL_TEXTURE0..=GL_TEXTURE31 => {
            context.texture_matrices.entry(unit - GL_TEXTURE0).or_default()
        }
        GL_MATRIX_PALETTE_OES => {
            context.palette_matrices.entry(context.palette_matrix).or_default()
        }
        _ => &mut context.modelview,
    };
    &mut stack.matrices
}

fn matrix_at<M: Memory + ?Sized>(memory: &M, address: u64, ty: u32, transposed: bool) -> Matrix {
    std::array::from_fn(|at| {
        let at = if transposed { at % 4 * 4 + at / 4 } else { at } as i64;
        match ty {
            GL_FIXED => (f64::from(memory.element::<i32>(address, at)) / 65536.) as f32,
            GL_DOUBLE => memory.element::<f64>(address, at) as f32,
            _ => memory.element::<f32>(address, at),
        }
    })
}

fn rows(rows: [[f64; 4]; 4]) -> Matrix {
    std::array::from_fn(|at| rows[at % 4][at / 4] as f32)
}

fn product(left: &Matrix, right: &Matrix) -> Matrix {
    std::array::from_fn(|at| {
        let (row, column) = (at % 4, at / 4);
        (0..4).map(|k| left[row + 4 * k] * right[4 * column + k]).sum()
    })
}

/// Returns a rotation; the identity if the axis has no length.
fn rotation(degrees: f64, axis: [f64; 3]) -> Matrix {
    let length = axis.iter().map(|part| part * part).sum::<f64>().sqrt();
    if length == 0. {
        return IDENTITY;
    }
    let [x, y, z] = axis.map(|part| part / length);
    let (sine, cosine) = degrees.to_radians().sin_cos();
    let rest = 1. - cosine;
    rows([
        [x * x * rest + cosine, x * y * rest - z * sine, x * z * rest + y * sine, 0.],
        [y * x * rest + z * sine, y * y * rest + cosine, y * z * rest - x * sine, 0.],
        [x * z * rest - y * sine, y * z * rest + x * sine, z * z * rest + cosine, 0.],
        [0., 0., 0., 1.],
    ])
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::memory::tests::Bytes;
    use crate::{Group, Nothing, Process};
    use gapii_commands::constants::GL_FLOAT;

    fn thread() -> Thread<Whole> {
        let mut thread = Thread::new(Arc::<Process<Whole>>::default(), 1);
        thread.context = Some(Box::new(Context::new(1, Arc::<Group<Whole>>::default(), (1, 1))));
        thread
    }

    fn top(thread: &mut Thread<Whole>) -> Matrix {
        let stack = current_stack(thread.context.as_mut().unwrap());
        stack.last().copied().unwrap_or(IDENTITY)
    }

    /// Checks where a point is moved to.
    fn check(change: impl FnOnce(&mut Thread<Whole>), point: [f32; 4], expected: [f32; 4]) {
        let mut thread = thread();
        change(&mut thread);
        let matrix = top(&mut thread);
        let moved: [f32; 4] =
            std::array::from_fn(|row| (0..4).map(|k| matrix[row + 4 * k] * point[k]).sum());
        let is_near = moved.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(is_near, "{moved:?} is not {expected:?}");
    }

    #[test]
    fn point_is_transformed_as_in_opengl_es() {
        let point = [1., 2., 3., 1.];
        check(|_| (), point, point);
        check(|it| translate_matrix(it, &Nothing, 5., 6., 7.), point, [6., 8., 10., 1.]);
        check(|it| scale_matrix(it, &Nothing, 2., 3., 4.), point, [2., 6., 12., 1.]);
        check(|it| rotate_matrix(it, &Nothing, 90., 0., 0., 2.), point, [-2., 1., 3., 1.]);
        check(|it| rotate_matrix(it, &Nothing, 90., 1., 0., 0.), point, [1., -3., 2., 1.]);
        check(|it| rotate_matrix(it, &Nothing, 90., 0., 0., 0.), point, point);
        check(|it| multiply_ortho(it, &Nothing, 0., 2., 0., 4., -1., 1.), point, [0., 0., -3., 1.]);
        check(
            |it| multiply_frustum(it, &Nothing, -1., 1., -1., 1., 1., 3.),
            point,
            [1., 2., -9., -3.],
        );
        check(|it| multiply_frustum(it, &Nothing, -1., 1., -1., 1., 0., 3.), point, point);
        check(|it| multiply_ortho(it, &Nothing, 1., 1., 0., 4., -1., 1.), point, point);
    }

    #[test]
    fn last_change_is_applied_first() {
        let change = |thread: &mut Thread<Whole>| {
            translate_matrix(thread, &Nothing, 10., 0., 0.);
            scale_matrix(thread, &Nothing, 2., 2., 2.);
        };
        check(change, [1., 1., 1., 1.], [12., 2., 2., 1.]);
    }

    #[test]
    fn popped_matrix_is_the_one_that_was_pushed() {
        let mut thread = thread();
        translate_matrix(&mut thread, &Nothing, 1., 0., 0.);
        let before = top(&mut thread);
        push_matrix(&mut thread, &Nothing);
        load_identity(&mut thread, &Nothing);
        assert_eq!(top(&mut thread), IDENTITY);
        pop_matrix(&mut thread, &Nothing);
        assert_eq!(top(&mut thread), before);
        pop_matrix(&mut thread, &Nothing);
        assert_eq!(top(&mut thread), before);
        for _ in 0..2 * DEPTH_MAX {
            push_matrix(&mut thread, &Nothing);
        }
        assert_eq!(current_stack(thread.context.as_mut().unwrap()).len(), DEPTH_MAX);
    }

    #[test]
    fn each_mode_has_its_own_stack() {
        let mut thread = thread();
        scale_matrix(&mut thread, &Nothing, 2., 2., 2.);
        for mode in [GL_PROJECTION, GL_TEXTURE, GL_MATRIX_PALETTE_OES] {
            thread.context.as_mut().unwrap().matrix_mode = mode;
            assert_eq!(top(&mut thread), IDENTITY);
        }
        load_palette_from_modelview(&mut thread, &Nothing);
        assert_eq!(top(&mut thread)[0], 2.);
    }

    #[test]
    fn matrix_is_loaded_from_floats_doubles_and_fixed_point_numbers() {
        let floats = IDENTITY.iter().flat_map(|value| (value * 1.5).to_le_bytes()).collect();
        let fixed = IDENTITY.iter().flat_map(|value| ((value * 98304.) as i32).to_le_bytes());
        let doubles = IDENTITY.iter().flat_map(|value| (f64::from(*value) * 1.5).to_le_bytes());
        for (memory, ty) in [
            (Bytes(0x1000, floats), GL_FLOAT),
            (Bytes(0x1000, fixed.collect()), GL_FIXED),
            (Bytes(0x1000, doubles.collect()), GL_DOUBLE),
        ] {
            let mut thread = thread();
            load_matrix(&mut thread, &memory, 0x1000, ty, false);
            assert_eq!(top(&mut thread), IDENTITY.map(|value| value * 1.5));
            multiply_matrix(&mut thread, &memory, 0x1000, ty, true);
            assert_eq!(top(&mut thread)[0], 2.25);
        }
    }

    #[test]
    fn transposed_matrix_has_its_rows_in_memory() {
        let rows: Vec<u8> = (0..16_u8).flat_map(|at| f32::from(at).to_le_bytes()).collect();
        let mut thread = thread();
        load_matrix(&mut thread, &Bytes(0x1000, rows), 0x1000, GL_FLOAT, true);
        assert_eq!(top(&mut thread)[..5], [0., 4., 8., 12., 1.]);
    }

    #[test]
    fn thread_without_a_context_has_no_matrices() {
        let mut thread = Thread::new(Arc::<Process<Whole>>::default(), 1);
        load_identity(&mut thread, &Nothing);
        push_matrix(&mut thread, &Nothing);
        assert!(thread.context.is_none());
    }
}
