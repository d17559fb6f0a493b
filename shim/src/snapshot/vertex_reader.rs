//! Reads a buffer of which only the vertices of a vertex array are left, with a transform feedback ([`super::feedback`]),
//! at most `POINTS_MAX` (1,048,576) vertices per draw.
//!
//! The vertex shader takes four bytes of the binding point per vertex, and the transform feedback writes them into a
//! buffer of the sibling context. In the default vertex array, and in OpenGL ES 3.0, no command changes a format
//! without the binding of the buffer; there the shader takes the attribute as it is ([`super::vertex_values`]), and
//! bytes between the attribute's are not read: no draw of the program reads them.

use std::cell::OnceCell;

use gapii_commands::constants::{
    GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_MAX_VERTEX_ATTRIBS, GL_UNSIGNED_BYTE,
    GL_VERTEX_ATTRIB_ARRAY_DIVISOR, GL_VERTEX_ATTRIB_ARRAY_ENABLED, GL_VERTEX_ATTRIB_ARRAY_INTEGER,
    GL_VERTEX_ATTRIB_ARRAY_NORMALIZED, GL_VERTEX_ATTRIB_ARRAY_SIZE, GL_VERTEX_ATTRIB_ARRAY_TYPE,
    GL_VERTEX_ATTRIB_BINDING, GL_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_VERTEX_BINDING_DIVISOR,
};
use gapii_state::{Context, Ref, VertexArray, VertexAttrib};

use super::feedback::{Feedback, POINTS_MAX, Program};
use super::found::Found;
use super::sibling::Sibling;
use super::{gl, glsl, vertex_values};

/// A line with the version precedes it.
const VERTEX_SHADER: &str = "
layout(location = 0) in highp uvec4 bytes;
flat out highp uint word;
void main() {
    word = bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}
";
/// The attribute of the shader.
const ATTRIB: u32 = 0;
/// Bytes that one vertex reads.
const WORD: usize = 4;
/// A binding point of a vertex array.
pub struct Vertices<'a> {
    array: Ref<VertexArray>,
    binding: u32,
    offset: usize,
    stride: usize,
    /// The attribute of this binding point, if its format cannot be changed.
    attrib: Option<&'a VertexAttrib>,
}

impl<'a> Vertices<'a> {
    /// `None` for a binding point that the driver does not have.
    pub fn of(context: &'a Context, array: Ref<VertexArray>, binding: u32) -> Option<Self> {
        let is_separate = array.is_some() && context.has((3, 1), (4, 3));
        let arrays = match array.is_none() {
            true => &context.default_arrays,
            false => &context.vertex_arrays.get(array)?.arrays,
        };
        let it = arrays.bindings.get(binding as usize)?;
        let (offset, stride) = (usize::try_from(it.offset).ok()?, usize::try_from(it.stride).ok()?);
        let points = match is_separate {
            true => context.limits.vertex_bindings,
            false => context.limits.vertex_attribs,
        };
        let attrib = if is_separate { None } else { arrays.attribs.get(binding as usize) };
        let is_point = i64::from(binding) < i64::from(points);
        is_point.then_some(Self { array, binding, offset, stride, attrib })
    }
}

/// Reads vertices, with a transform feedback of the program's context.
pub struct VertexReader<'a> {
    feedback: Feedback<'a>,
    /// The program that reads binding points, once it is needed.
    program: OnceCell<Option<Program>>,
}

impl<'a> VertexReader<'a> {
    /// `None` if the program's context cannot draw, or if it could not be restored.
    pub fn begin(context: &'a Context, sibling: &'a Sibling) -> Option<Self> {
        let feedback = Feedback::begin(context, sibling)?;
        Some(Self { feedback, program: OnceCell::new() })
    }

    /// Reads all bytes that the vertices lead to, to the same places of `out`, which has the buffer's size.
    pub fn read(&self, vertices: &Vertices<'_>, out: &mut Found) -> Option<()> {
        if let Some(attrib) = vertices.attrib {
            return self.read_values((vertices, attrib), out);
        }
        let linked =
            || self.feedback.link(&format!("{}{VERTEX_SHADER}", glsl::version(310)), c"word");
        let program = self.program.get_or_init(linked).as_ref()?;
        let farthest = gl::integer(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET).max(0) as usize;
        for part in parts(out.bytes.len(), vertices.offset, vertices.stride, farthest) {
            let words = self.drawn((vertices, program), part, WORD)?;
            for (word, vertex) in words.chunks_exact(WORD).zip(part.first..) {
                let at = vertices.offset + vertex * vertices.stride + part.column;
                out.put(at, word.get(..part.bytes)?)?;
            }
        }
        Some(())
    }

    /// Reads the bytes of an attribute whose format stays as it is.
    fn read_values(
        &self,
        (vertices, attrib): (&Vertices<'_>, &VertexAttrib),
        out: &mut Found,
    ) -> Option<()> {
        let (size, shader) =
            (attrib.bytes() as usize, vertex_values::shader(vertices.binding, attrib));
        // A draw may read no vertex of which a part is outside of the buffer.
        let Some(rest) = out.bytes.len().checked_sub(vertices.offset + size) else {
            return Some(());
        };
        let all = rest.checked_div(vertices.stride).unwrap_or(0) + 1;
        let program = self.feedback.link(&shader, c"words")?;
        for first in (0..all).step_by(POINTS_MAX) {
            let count = POINTS_MAX.min(all - first);
            let part = Part { column: 0, bytes: size, first, count };
            let words = vertex_values::WORDS;
            let drawn = self.drawn((vertices, &program), part, words)?;
            for (words, vertex) in drawn.chunks_exact(words).zip(first..) {
                let at = vertices.offset + vertex * vertices.stride;
                let bytes = vertex_values::bytes(attrib, words)?;
                out.put(at, &bytes)?;
            }
        }
        Some(())
    }

    /// Returns what a draw of a part writes: `bytes` bytes per vertex.
    fn drawn(
        &self,
        (vertices, program): (&Vertices<'_>, &Program),
        part: Part,
        bytes: usize,
    ) -> Option<Vec<u8>> {
        let points = part.first..part.first + part.count;
        self.feedback.draw(program, points, bytes, || Set::put(vertices, part))
    }
}

/// The vertex array of a draw, which is bound; restored when this is dropped to what the driver has there.
struct Set {
    binding: u32,
    divisor: i32,
    /// The attributes that are enabled.
    enabled: Vec<u32>,
    /// The attribute of the shader; `None` if its format is as before.
    format: Option<Format>,
}

/// Format and binding point of an attribute.
struct Format {
    size: i32,
    kind: u32,
    is_normalized: bool,
    is_integer: bool,
    offset: u32,
    binding: u32,
}

impl Format {
    fn ask(attrib: u32) -> Self {
        let ask = |name| asked(attrib, name);
        Self {
            size: ask(GL_VERTEX_ATTRIB_ARRAY_SIZE),
            kind: ask(GL_VERTEX_ATTRIB_ARRAY_TYPE) as u32,
            is_normalized: ask(GL_VERTEX_ATTRIB_ARRAY_NORMALIZED) != 0,
            is_integer: ask(GL_VERTEX_ATTRIB_ARRAY_INTEGER) != 0,
            offset: ask(GL_VERTEX_ATTRIB_RELATIVE_OFFSET) as u32,
            binding: ask(GL_VERTEX_ATTRIB_BINDING) as u32,
        }
    }

    fn put_back(&self, attrib: u32) {
        gl::vertex_attrib_binding(attrib, self.binding);
        let (size, kind, offset) = (self.size, self.kind, self.offset);
        match self.is_integer {
            true => gl::vertex_attrib_i_format(attrib, size, kind, offset),
            false => {
                gl::vertex_attrib_format(attrib, size, kind, self.is_normalized.into(), offset);
            }
        }
    }
}

impl Set {
    fn put(vertices: &Vertices<'_>, part: Part) -> Self {
        gl::bind_vertex_array(vertices.array.name() as u32);
        let binding = vertices.binding;
        // Other arrays may be in memory that the program does not have any more, or in buffers that are mapped.
        let attribs = 0..gl::integer(GL_MAX_VERTEX_ATTRIBS).clamp(0, 32) as u32;
        let is_enabled = |attrib: &u32| asked(*attrib, GL_VERTEX_ATTRIB_ARRAY_ENABLED) != 0;
        let enabled: Vec<u32> = attribs.filter(is_enabled).collect();
        enabled.iter().copied().for_each(gl::disable_vertex_attrib);
        if vertices.attrib.is_some() {
            let divisor = asked(binding, GL_VERTEX_ATTRIB_ARRAY_DIVISOR);
            gl::enable_vertex_attrib(binding);
            gl::vertex_attrib_divisor(binding, 0);
            return Self { binding, divisor, enabled, format: None };
        }
        let divisor = gl::integer_at(GL_VERTEX_BINDING_DIVISOR, binding);
        let format = Format::ask(ATTRIB);
        gl::enable_vertex_attrib(ATTRIB);
        gl::vertex_attrib_binding(ATTRIB, binding);
        gl::vertex_binding_divisor(binding, 0);
        let (size, column) = (part.bytes as i32, part.column as u32);
        gl::vertex_attrib_i_format(ATTRIB, size, GL_UNSIGNED_BYTE, column);
        Self { binding, divisor, enabled, format: Some(format) }
    }
}

/// A number of an attribute of the bound vertex array.
fn asked(attrib: u32, name: u32) -> i32 {
    let mut value = 0;
    // SAFETY: the parameter has one value.
    unsafe { gl::get_attrib(attrib, name, &raw mut value) };
    value
}

impl Drop for Set {
    fn drop(&mut self) {
        let divisor = self.divisor as u32;
        match &self.format {
            None => {
                gl::disable_vertex_attrib(self.binding);
                gl::vertex_attrib_divisor(self.binding, divisor);
            }
            Some(format) => {
                gl::disable_vertex_attrib(ATTRIB);
                gl::vertex_binding_divisor(self.binding, divisor);
                format.put_back(ATTRIB);
            }
        }
        self.enabled.iter().copied().for_each(gl::enable_vertex_attrib);
    }
}

/// What one draw reads: `bytes` bytes at `column` of each of `count` vertices from `first` on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Part {
    column: usize,
    bytes: usize,
    first: usize,
    count: usize,
}

/// The draws that read every byte of a buffer of `size` bytes that vertices at `offset`, `stride` apart, lead to. No
/// draw reads past the end. With a stride of 0 all vertices are the same.
fn parts(size: usize, offset: usize, stride: usize, farthest: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let Some(len) = size.checked_sub(offset) else { return parts };
    // An attribute at the farthest relative offset has up to 16 bytes; the last word of them begins 12 bytes on, out
    // of reach of another format.
    let width = if stride == 0 { farthest + WORD } else { stride };
    for column in (0..width.min(len)).step_by(WORD).filter(|column| *column <= farthest) {
        let bytes = WORD.min(width - column);
        let mut add = |bytes: usize, first: usize, end: usize| {
            for first in (first..end).step_by(POINTS_MAX) {
                let count = POINTS_MAX.min(end - first);
                parts.push(Part { column, bytes, first, count });
            }
        };
        // Vertices whose bytes are all in the buffer.
        let whole = match (len - column).checked_sub(bytes) {
            None => 0,
            Some(_) if stride == 0 => 1,
            Some(rest) => rest / stride + 1,
        };
        add(bytes, 0, whole);
        let at = column + whole * stride;
        if at < len && (whole == 0 || stride != 0) {
            add((len - at).min(bytes), whole, whole + 1);
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that the parts read, as a mask.
    fn read(size: usize, offset: usize, stride: usize) -> Vec<bool> {
        let mut read = vec![false; size];
        for part in parts(size, offset, stride, 2047) {
            for vertex in part.first..part.first + part.count {
                let at = offset + vertex * stride + part.column;
                read[at..at + part.bytes].fill(true);
            }
        }
        read
    }

    #[test]
    fn every_byte_that_vertices_lead_to_is_read_and_none_past_the_end() {
        for (size, offset, stride) in
            [(64, 0, 16), (67, 3, 8), (10, 0, 3), (10, 9, 4), (7, 0, 12), (5, 5, 4), (100, 1, 1)]
        {
            let expected: Vec<bool> = (0..size).map(|at| at >= offset).collect();
            assert_eq!(read(size, offset, stride), expected, "{size} {offset} {stride}");
        }
    }

    #[test]
    fn vertices_without_a_stride_lead_to_the_relative_offsets_alone() {
        let read = read(4096, 16, 0);
        assert!(read[16..2064].iter().all(|is_read| *is_read));
        assert!(!read[15] && !read[2080]);
    }
}
