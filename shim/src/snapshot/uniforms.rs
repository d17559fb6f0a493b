//! Uniforms of a linked program: locations, values, and binding points of uniform blocks. `Sort::of` says how values of
//! each GLSL type are asked and set; a type that it does not list is set as one integer. Images and atomic counters are
//! not set. Names may have up to `NAME_BYTES_MAX` (64 KiB).

#![allow(non_upper_case_globals, reason = "the registry spells GL_FLOAT_MAT2x3")]

use std::collections::BTreeMap;
use std::ffi::CString;

use gapii_commands::constants::{
    GL_ACTIVE_UNIFORM_BLOCKS, GL_ACTIVE_UNIFORM_MAX_LENGTH, GL_ACTIVE_UNIFORMS, GL_BOOL_VEC2,
    GL_BOOL_VEC3, GL_BOOL_VEC4, GL_DOUBLE, GL_DOUBLE_MAT2, GL_DOUBLE_MAT2x3, GL_DOUBLE_MAT2x4,
    GL_DOUBLE_MAT3, GL_DOUBLE_MAT3x2, GL_DOUBLE_MAT3x4, GL_DOUBLE_MAT4, GL_DOUBLE_MAT4x2,
    GL_DOUBLE_MAT4x3, GL_DOUBLE_VEC2, GL_DOUBLE_VEC3, GL_DOUBLE_VEC4, GL_FLOAT, GL_FLOAT_MAT2,
    GL_FLOAT_MAT2x3, GL_FLOAT_MAT2x4, GL_FLOAT_MAT3, GL_FLOAT_MAT3x2, GL_FLOAT_MAT3x4,
    GL_FLOAT_MAT4, GL_FLOAT_MAT4x2, GL_FLOAT_MAT4x3, GL_FLOAT_VEC2, GL_FLOAT_VEC3, GL_FLOAT_VEC4,
    GL_IMAGE_1D, GL_INT_VEC2, GL_INT_VEC3, GL_INT_VEC4, GL_UNIFORM_BLOCK_BINDING, GL_UNSIGNED_INT,
    GL_UNSIGNED_INT_ATOMIC_COUNTER, GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY,
    GL_UNSIGNED_INT_VEC2, GL_UNSIGNED_INT_VEC3, GL_UNSIGNED_INT_VEC4,
};
use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use super::gl::NAME_BYTES;
use crate::generated::ids::{
    self, GL_GET_UNIFORM_BLOCK_INDEX, GL_GET_UNIFORM_LOCATION, GL_UNIFORM_MATRIX2DV,
    GL_UNIFORM_MATRIX2FV, GL_UNIFORM_MATRIX2X3DV, GL_UNIFORM_MATRIX2X3FV, GL_UNIFORM_MATRIX2X4DV,
    GL_UNIFORM_MATRIX2X4FV, GL_UNIFORM_MATRIX3DV, GL_UNIFORM_MATRIX3FV, GL_UNIFORM_MATRIX3X2DV,
    GL_UNIFORM_MATRIX3X2FV, GL_UNIFORM_MATRIX3X4DV, GL_UNIFORM_MATRIX3X4FV, GL_UNIFORM_MATRIX4DV,
    GL_UNIFORM_MATRIX4FV, GL_UNIFORM_MATRIX4X2DV, GL_UNIFORM_MATRIX4X2FV, GL_UNIFORM_MATRIX4X3DV,
    GL_UNIFORM_MATRIX4X3FV, GL_UNIFORM1DV, GL_UNIFORM1FV, GL_UNIFORM1IV, GL_UNIFORM1UIV,
    GL_UNIFORM2DV, GL_UNIFORM2FV, GL_UNIFORM2IV, GL_UNIFORM2UIV, GL_UNIFORM3DV, GL_UNIFORM3FV,
    GL_UNIFORM3IV, GL_UNIFORM3UIV, GL_UNIFORM4DV, GL_UNIFORM4FV, GL_UNIFORM4IV, GL_UNIFORM4UIV,
    GL_USE_PROGRAM,
};
use gapii_recorder::observe;

/// Longest name of a uniform that is described, in bytes.
const NAME_BYTES_MAX: usize = 1 << 16;

/// How values of a type are queried and set: the `glUniform*` command, and the number of components.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    Floats(u16, usize),
    Integers(u16, usize),
    Unsigned(u16, usize),
    /// These commands have the argument `transpose`.
    Matrix(u16, usize),
    Doubles(u16, usize),
    DoubleMatrix(u16, usize),
}

impl Sort {
    /// `None` if no command sets uniforms of the type.
    fn of(kind: u32) -> Option<Self> {
        Some(match kind {
            // Images and atomic counters have their binding from the shader.
            GL_IMAGE_1D..=GL_UNSIGNED_INT_IMAGE_2D_MULTISAMPLE_ARRAY
            | GL_UNSIGNED_INT_ATOMIC_COUNTER => return None,
            GL_FLOAT => Self::Floats(GL_UNIFORM1FV, 1),
            GL_FLOAT_VEC2 => Self::Floats(GL_UNIFORM2FV, 2),
            GL_FLOAT_VEC3 => Self::Floats(GL_UNIFORM3FV, 3),
            GL_FLOAT_VEC4 => Self::Floats(GL_UNIFORM4FV, 4),
            GL_INT_VEC2 | GL_BOOL_VEC2 => Self::Integers(GL_UNIFORM2IV, 2),
            GL_INT_VEC3 | GL_BOOL_VEC3 => Self::Integers(GL_UNIFORM3IV, 3),
            GL_INT_VEC4 | GL_BOOL_VEC4 => Self::Integers(GL_UNIFORM4IV, 4),
            GL_UNSIGNED_INT => Self::Unsigned(GL_UNIFORM1UIV, 1),
            GL_UNSIGNED_INT_VEC2 => Self::Unsigned(GL_UNIFORM2UIV, 2),
            GL_UNSIGNED_INT_VEC3 => Self::Unsigned(GL_UNIFORM3UIV, 3),
            GL_UNSIGNED_INT_VEC4 => Self::Unsigned(GL_UNIFORM4UIV, 4),
            GL_FLOAT_MAT2 => Self::Matrix(GL_UNIFORM_MATRIX2FV, 4),
            GL_FLOAT_MAT3 => Self::Matrix(GL_UNIFORM_MATRIX3FV, 9),
            GL_FLOAT_MAT4 => Self::Matrix(GL_UNIFORM_MATRIX4FV, 16),
            GL_FLOAT_MAT2x3 => Self::Matrix(GL_UNIFORM_MATRIX2X3FV, 6),
            GL_FLOAT_MAT2x4 => Self::Matrix(GL_UNIFORM_MATRIX2X4FV, 8),
            GL_FLOAT_MAT3x2 => Self::Matrix(GL_UNIFORM_MATRIX3X2FV, 6),
            GL_FLOAT_MAT3x4 => Self::Matrix(GL_UNIFORM_MATRIX3X4FV, 12),
            GL_FLOAT_MAT4x2 => Self::Matrix(GL_UNIFORM_MATRIX4X2FV, 8),
            GL_FLOAT_MAT4x3 => Self::Matrix(GL_UNIFORM_MATRIX4X3FV, 12),
            GL_DOUBLE => Self::Doubles(GL_UNIFORM1DV, 1),
            GL_DOUBLE_VEC2 => Self::Doubles(GL_UNIFORM2DV, 2),
            GL_DOUBLE_VEC3 => Self::Doubles(GL_UNIFORM3DV, 3),
            GL_DOUBLE_VEC4 => Self::Doubles(GL_UNIFORM4DV, 4),
            GL_DOUBLE_MAT2 => Self::DoubleMatrix(GL_UNIFORM_MATRIX2DV, 4),
            GL_DOUBLE_MAT3 => Self::DoubleMatrix(GL_UNIFORM_MATRIX3DV, 9),
            GL_DOUBLE_MAT4 => Self::DoubleMatrix(GL_UNIFORM_MATRIX4DV, 16),
            GL_DOUBLE_MAT2x3 => Self::DoubleMatrix(GL_UNIFORM_MATRIX2X3DV, 6),
            GL_DOUBLE_MAT2x4 => Self::DoubleMatrix(GL_UNIFORM_MATRIX2X4DV, 8),
            GL_DOUBLE_MAT3x2 => Self::DoubleMatrix(GL_UNIFORM_MATRIX3X2DV, 6),
            GL_DOUBLE_MAT3x4 => Self::DoubleMatrix(GL_UNIFORM_MATRIX3X4DV, 12),
            GL_DOUBLE_MAT4x2 => Self::DoubleMatrix(GL_UNIFORM_MATRIX4X2DV, 8),
            GL_DOUBLE_MAT4x3 => Self::DoubleMatrix(GL_UNIFORM_MATRIX4X3DV, 12),
            // Integers, Booleans and samplers.
            _ => Self::Integers(GL_UNIFORM1IV, 1),
        })
    }
}

/// Describes the locations of all active uniforms and of those that the program queried (`asked`), their values, and the binding
/// points of uniform blocks. The program must be linked. No program is current afterwards: while one is, Mesa
/// ignores a command that binds no program pipeline.
pub fn describe(emitter: &mut Emitter, context: &Context, program: u32, asked: &[(i32, String)]) {
    let mut told: BTreeMap<i32, u32> = BTreeMap::new();
    let name_bytes = gl::program_integer(program, GL_ACTIVE_UNIFORM_MAX_LENGTH);
    for index in 0..gl::program_integer(program, GL_ACTIVE_UNIFORMS) {
        let Some(uniform) = active_uniform(program, index as u32, name_bytes) else { continue };
        let gl::Active { name, size, kind } = uniform;
        let Ok(name) = name.to_str() else { continue };
        let first = name.strip_suffix("[0]");
        for element in 0..size.max(1) {
            let name = match first {
                Some(array) => format!("{array}[{element}]"),
                None => name.to_owned(),
            };
            tell(emitter, program, &name, kind, &mut told);
        }
    }
    for (_, name) in asked {
        tell(emitter, program, name, 0, &mut told);
    }
    let has_values = told.values().any(|kind| *kind != 0);
    if has_values {
        emitter.command(GL_USE_PROGRAM).arg(program).done();
    }
    for (location, kind) in told.iter().filter(|(_, kind)| **kind != 0) {
        if let Some(sort) = Sort::of(*kind) {
            describe_value(emitter, program, *location, sort);
        }
    }
    if has_values {
        emitter.command(GL_USE_PROGRAM).arg(0_u32).done();
    }
    if context.has((3, 0), (3, 1)) {
        describe_blocks(emitter, program);
    }
}

/// Returns an active uniform. `name_bytes` is the length of the longest name, with its NUL.
fn active_uniform(program: u32, index: u32, name_bytes: i32) -> Option<gl::Active> {
    let room = usize::try_from(name_bytes).ok()?.clamp(1, NAME_BYTES_MAX);
    let mut name = vec![0_u8; room];
    let (mut len, mut size, mut kind) = (0, 0, 0);
    let out = (&raw mut len, &raw mut size, &raw mut kind, name.as_mut_ptr().cast());
    // SAFETY: the driver writes at most `room` bytes.
    unsafe { gl::get_active_uniform(program, index, room as i32, out.0, out.1, out.2, out.3) };
    Some(gl::Active { name: gl::text(&name)?.to_owned(), size, kind })
}

/// Notes the location of a uniform, unless it has none.
fn tell(emitter: &mut Emitter, program: u32, name: &str, kind: u32, told: &mut BTreeMap<i32, u32>) {
    if name.starts_with("gl_") {
        return;
    }
    let Ok(text) = CString::new(name) else { return };
    // SAFETY: a NUL-terminated string.
    let location = unsafe { gl::get_uniform_location(program, text.as_ptr()) };
    if location < 0 {
        return;
    }
    emitter
        .command(GL_GET_UNIFORM_LOCATION)
        .arg(program)
        .arg(text.as_ptr())
        .reads(observe::c_string(text.as_ptr()))
        .returns(location, []);
    told.entry(location).or_insert(kind);
}

fn describe_value(emitter: &mut Emitter, program: u32, location: i32, sort: Sort) {
    let mut floats = [0.0_f32; 16];
    let mut doubles = [0.0_f64; 16];
    let mut integers = [0_i32; 4];
    let mut unsigned = [0_u32; 4];
    match sort {
        Sort::Floats(..) | Sort::Matrix(..) => {
            // SAFETY: no type has more components.
            unsafe { gl::get_uniform_floats(program, location, floats.as_mut_ptr()) };
        }
        Sort::Doubles(..) | Sort::DoubleMatrix(..) => {
            // SAFETY: as above.
            unsafe { gl::get_uniform_doubles(program, location, doubles.as_mut_ptr()) };
        }
        Sort::Integers(..) => {
            // SAFETY: as above.
            unsafe { gl::get_uniform_integers(program, location, integers.as_mut_ptr()) };
        }
        Sort::Unsigned(..) => {
            // SAFETY: as above.
            unsafe { gl::get_uniform_unsigned(program, location, unsigned.as_mut_ptr()) };
        }
    }
    let (id, at, count) = match sort {
        Sort::Floats(id, count) | Sort::Matrix(id, count) => (id, floats.as_ptr().cast(), count),
        Sort::Doubles(id, count) | Sort::DoubleMatrix(id, count) => {
            (id, doubles.as_ptr().cast(), count)
        }
        Sort::Integers(id, count) => (id, integers.as_ptr().cast(), count),
        Sort::Unsigned(id, count) => (id, unsigned.as_ptr().cast::<u8>(), count),
    };
    let mut command = emitter.command(id).arg(location).arg(1_i32);
    if matches!(sort, Sort::Matrix(..) | Sort::DoubleMatrix(..)) {
        command = command.arg(0_u8);
    }
    let bytes = if matches!(sort, Sort::Doubles(..) | Sort::DoubleMatrix(..)) { 8 } else { 4 };
    command.arg(at).reads(observe::array(at, count as i64, bytes)).done();
}

fn describe_blocks(emitter: &mut Emitter, program: u32) {
    for index in 0..gl::program_integer(program, GL_ACTIVE_UNIFORM_BLOCKS) {
        let mut name = [0_u8; NAME_BYTES];
        let (mut len, mut binding) = (0, 0);
        let room = name.len() as i32;
        let text = name.as_mut_ptr().cast();
        // SAFETY: the driver writes at most `room` bytes.
        unsafe { gl::get_block_name(program, index as u32, room, &raw mut len, text) };
        // SAFETY: the parameter has one value.
        unsafe { gl::get_block(program, index as u32, GL_UNIFORM_BLOCK_BINDING, &raw mut binding) };
        let Some(text) = gl::text(&name) else { continue };
        emitter
            .command(GL_GET_UNIFORM_BLOCK_INDEX)
            .arg(program)
            .arg(text.as_ptr())
            .reads(observe::c_string(text.as_ptr()))
            .returns(index, []);
        emitter.command(ids::GL_UNIFORM_BLOCK_BINDING).arg(program).arg(index).arg(binding).done();
    }
}
