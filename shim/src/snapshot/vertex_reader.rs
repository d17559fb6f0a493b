//! Reads a buffer of which only the vertices of a vertex array are left, with a transform feedback: draws points in the
//! program's context, without rasterization, at most `VERTICES_MAX` (1,048,576) per draw. Does nothing while a query
//! counts primitives, while the program's own state could not be restored, without a complete framebuffer in
//! OpenGL ES 3.0, or before OpenGL ES 3.0. Everything that is set meanwhile is restored.
//!
//! The vertex shader takes four bytes of the binding point per vertex, and the transform feedback writes them into a
//! buffer of the sibling context. In the default vertex array, and in OpenGL ES 3.0, no command changes a format
//! without the binding of the buffer; there the shader takes the attribute as it is ([`super::vertex_values`]), and
//! bytes between the attribute's are not read: no draw of the program reads them.

use core::ffi::CStr;
use std::cell::OnceCell;

use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING, GL_FRAGMENT_SHADER, GL_FRAMEBUFFER_COMPLETE,
    GL_FRAMEBUFFER_DEFAULT_HEIGHT, GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_INTERLEAVED_ATTRIBS,
    GL_LINK_STATUS, GL_MAX_VERTEX_ATTRIB_BINDINGS, GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_POINTS,
    GL_PRIMITIVES_GENERATED, GL_RASTERIZER_DISCARD, GL_TRANSFORM_FEEDBACK,
    GL_TRANSFORM_FEEDBACK_ACTIVE, GL_TRANSFORM_FEEDBACK_BUFFER, GL_TRANSFORM_FEEDBACK_PAUSED,
    GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, GL_UNSIGNED_BYTE, GL_VERTEX_SHADER,
};
use gapii_state::{Buffer, Context, Ref, VertexArray, VertexArrays, VertexAttrib};

use super::identity;
use super::queries;
use super::sibling::Sibling;
use super::{gl, staging, vertex_values};

const VERTEX_SHADER: &str = "#version 310 es
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
/// Maximum number of vertices of one draw.
const VERTICES_MAX: usize = 1 << 20;

/// A binding point of a vertex array.
pub struct Vertices<'a> {
    array: Ref<VertexArray>,
    arrays: &'a VertexArrays,
    binding: u32,
    offset: usize,
    stride: usize,
    /// The attribute of this binding point, if its format cannot be changed.
    attrib: Option<&'a VertexAttrib>,
}

impl<'a> Vertices<'a> {
    /// `None` for a binding point that the driver does not have.
    pub fn of(context: &'a Context, array: Ref<VertexArray>, binding: u32) -> Option<Self> {
        let is_separate = array.is_some() && context.version >= (3, 1);
        let arrays = match array.is_none() {
            true => &context.default_arrays,
            false => &context.vertex_arrays.get(array)?.arrays,
        };
        let it = arrays.bindings.get(binding as usize)?;
        let (offset, stride) = (usize::try_from(it.offset).ok()?, usize::try_from(it.stride).ok()?);
        let points = match is_separate {
            true => gl::integer(GL_MAX_VERTEX_ATTRIB_BINDINGS),
            false => context.limits.vertex_attribs,
        };
        let attrib = if is_separate { None } else { arrays.attribs.get(binding as usize) };
        let is_point = i64::from(binding) < i64::from(points);
        is_point.then_some(Self { array, arrays, binding, offset, stride, attrib })
    }
}

/// Makes programs in the sibling context, and has a transform feedback of the program's context.
pub struct VertexReader {
    /// The program that reads binding points, once it is needed.
    program: OnceCell<Option<u32>>,
    feedback: u32,
}

impl VertexReader {
    /// `None` if the program's context cannot draw, or if it could not be restored.
    pub fn begin(context: &Context) -> Option<Self> {
        if context.version < (3, 0) || !can_restore(context) {
            return None;
        }
        let mut feedback = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_transform_feedbacks(1, &raw mut feedback) };
        Some(Self { program: OnceCell::new(), feedback })
    }

    /// Deletes what the reader has made.
    pub fn end(self, sibling: &Sibling) {
        // SAFETY: one name.
        unsafe { gl::delete_transform_feedbacks(1, &raw const self.feedback) };
        if let Some(Some(program)) = self.program.into_inner() {
            delete(sibling, program);
        }
    }

    /// Reads all bytes that the vertices lead to, to the same places of `out`, which has the buffer's size.
    pub fn read(
        &self,
        context: &Context,
        sibling: &Sibling,
        vertices: &Vertices<'_>,
        out: &mut [u8],
    ) -> Option<()> {
        if let Some(attrib) = vertices.attrib {
            return self.read_values(context, sibling, (vertices, attrib), out);
        }
        let linked = || sibling.ask(|_| link(VERTEX_SHADER, c"word"));
        let program = (*self.program.get_or_init(linked))?;
        let farthest = gl::integer(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET).max(0) as usize;
        for part in parts(out.len(), vertices.offset, vertices.stride, farthest) {
            let words = self.drawn(context, sibling, (vertices, program), part, WORD)?;
            for (word, vertex) in words.chunks_exact(WORD).zip(part.first..) {
                let at = vertices.offset + vertex * vertices.stride + part.column;
                let bytes = out.get_mut(at..at + part.bytes)?;
                bytes.copy_from_slice(word.get(..part.bytes)?);
            }
        }
        Some(())
    }

    /// Reads the bytes of an attribute whose format stays as it is.
    fn read_values(
        &self,
        context: &Context,
        sibling: &Sibling,
        (vertices, attrib): (&Vertices<'_>, &VertexAttrib),
        out: &mut [u8],
    ) -> Option<()> {
        let (size, shader) =
            (attrib.bytes() as usize, vertex_values::shader(vertices.binding, attrib));
        // A draw may read no vertex of which a part is outside of the buffer.
        let Some(rest) = out.len().checked_sub(vertices.offset + size) else { return Some(()) };
        let all = rest.checked_div(vertices.stride).unwrap_or(0) + 1;
        let program = sibling.ask(move |_| link(&shader, c"words"))?;
        let mut read = || {
            for first in (0..all).step_by(VERTICES_MAX) {
                let count = VERTICES_MAX.min(all - first);
                let part = Part { column: 0, bytes: size, first, count };
                let words = vertex_values::WORDS;
                let drawn = self.drawn(context, sibling, (vertices, program), part, words)?;
                for (words, vertex) in drawn.chunks_exact(words).zip(first..) {
                    let at = vertices.offset + vertex * vertices.stride;
                    let bytes = vertex_values::bytes(attrib, words)?;
                    out.get_mut(at..at + bytes.len())?.copy_from_slice(&bytes);
                }
            }
            Some(())
        };
        let done = read();
        delete(sibling, program);
        done
    }

    /// Returns what a draw of a part writes: `bytes` bytes per vertex.
    fn drawn(
        &self,
        context: &Context,
        sibling: &Sibling,
        (vertices, program): (&Vertices<'_>, u32),
        part: Part,
        bytes: usize,
    ) -> Option<Vec<u8>> {
        let bytes = part.count * bytes;
        let staging = sibling.ask(move |_| staging::make(bytes))?;
        let is_drawn = self.draw(context, (vertices, program), part, staging);
        let words = sibling.ask(move |_| {
            let mut words = Vec::new();
            let done = staging::append(staging, bytes, &mut words);
            staging::delete(staging);
            done.map(|()| words)
        });
        is_drawn?;
        words
    }

    fn draw(
        &self,
        context: &Context,
        (vertices, program): (&Vertices<'_>, u32),
        part: Part,
        staging: u32,
    ) -> Option<()> {
        let _set = Set::put(context, vertices)?;
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, self.feedback);
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, staging);
        gl::use_program(program);
        if vertices.attrib.is_none() {
            let (size, column) = (part.bytes as i32, part.column as u32);
            gl::vertex_attrib_i_format(ATTRIB, size, GL_UNSIGNED_BYTE, column);
        }
        gl::begin_transform_feedback(GL_POINTS);
        gl::draw_arrays(GL_POINTS, part.first as i32, part.count as i32);
        gl::end_transform_feedback();
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
        gl::finish_program();
        Some(())
    }
}

/// Makes a program that writes a varying, in the sibling context.
fn link(vertex_shader: &str, varying: &CStr) -> Option<u32> {
    let program = gl::create_program();
    // The versions of the two shaders must be the same.
    let version = vertex_shader.lines().next().unwrap_or_default();
    let fragment_shader = format!("{version}\nvoid main() {{}}\n");
    gl::attach_new_shader(program, GL_VERTEX_SHADER, vertex_shader, true);
    gl::attach_new_shader(program, GL_FRAGMENT_SHADER, &fragment_shader, true);
    let varying = varying.as_ptr();
    // SAFETY: one NUL-terminated string.
    unsafe {
        gl::transform_feedback_varyings(program, 1, &raw const varying, GL_INTERLEAVED_ATTRIBS);
    }
    if !gl::is_linked_now(program) {
        gl::delete_program(program);
        return None;
    }
    // The other context uses it from here on.
    gl::finish();
    Some(program)
}

fn delete(sibling: &Sibling, program: u32) {
    let _ = sibling.ask(move |_| {
        gl::delete_program(program);
        Some(())
    });
}

/// Whether the state that a draw needs can be restored.
fn can_restore(context: &Context) -> bool {
    let counts = queries::active(context).iter().any(|(target, _)| {
        [GL_PRIMITIVES_GENERATED, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN].contains(target)
    });
    let group = context.group.lock();
    let has_name =
        |buffer: Ref<Buffer>| buffer.is_none() || identity::has_name(&group.buffers, buffer);
    let is_bound_again = has_name(context.transform_feedback_buffer);
    let program_has_name = context.program.is_none()
        || !context.program_is_deleted && identity::has_name(&group.programs, context.program);
    drop(group);
    !counts && is_bound_again && program_has_name && is_linked(context.program.name() as u32)
}

/// A program that failed to link since it became current cannot be made current again.
fn is_linked(program: u32) -> bool {
    program == 0 || gl::program_integer(program, GL_LINK_STATUS) != 0
}

/// What is set for a draw; restored when this is dropped.
struct Set<'a> {
    context: &'a Context,
    arrays: &'a VertexArrays,
    binding: u32,
    /// Whether the format of the attribute with the number of the binding point is as before.
    keeps_format: bool,
    discards: bool,
    runs: bool,
    framebuffer: Framebuffer,
}

impl<'a> Set<'a> {
    /// `None`, with nothing changed, if no framebuffer is complete: a draw would be an error.
    fn put(context: &'a Context, vertices: &Vertices<'a>) -> Option<Self> {
        let framebuffer = Framebuffer::bind_complete(context)?;
        let runs = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0
            && gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) == 0;
        if runs {
            gl::pause_transform_feedback();
        }
        let discards = gl::is_enabled(GL_RASTERIZER_DISCARD) != 0;
        gl::enable(GL_RASTERIZER_DISCARD);
        gl::bind_vertex_array(vertices.array.name() as u32);
        let (arrays, binding) = (vertices.arrays, vertices.binding);
        let keeps_format = vertices.attrib.is_some();
        if keeps_format {
            // Other arrays may be in memory that the program does not have any more.
            enabled(arrays).for_each(gl::disable_vertex_attrib);
            gl::enable_vertex_attrib(binding);
            gl::vertex_attrib_divisor(binding, 0);
        } else {
            gl::enable_vertex_attrib(ATTRIB);
            gl::vertex_attrib_binding(ATTRIB, binding);
            gl::vertex_binding_divisor(binding, 0);
        }
        Some(Self { context, arrays, binding, keeps_format, discards, runs, framebuffer })
    }
}

/// The generic attributes that are enabled.
fn enabled(arrays: &VertexArrays) -> impl Iterator<Item = u32> {
    (0..32).zip(&arrays.attribs).filter(|(_, attrib)| attrib.enabled).map(|(index, _)| index)
}

impl Set<'_> {
    /// Restores the bound vertex array.
    fn put_back_array(&self) {
        let at = ATTRIB as usize;
        let binding = self.arrays.bindings.get(self.binding as usize);
        if self.keeps_format {
            gl::disable_vertex_attrib(self.binding);
            gl::vertex_attrib_divisor(self.binding, binding.map_or(0, |it| it.divisor));
            enabled(self.arrays).for_each(gl::enable_vertex_attrib);
        } else if let (Some(attrib), Some(binding)) = (self.arrays.attribs.get(at), binding) {
            gl::vertex_binding_divisor(self.binding, binding.divisor);
            gl::vertex_attrib_binding(ATTRIB, ATTRIB.wrapping_add_signed(attrib.binding_shift));
            let (size, kind, offset) = (attrib.size, attrib.kind, attrib.relative_offset);
            match attrib.integer {
                true => gl::vertex_attrib_i_format(ATTRIB, size, kind, offset),
                false => {
                    let normalized = attrib.normalized.into();
                    gl::vertex_attrib_format(ATTRIB, size, kind, normalized, offset);
                }
            }
            if !attrib.enabled {
                gl::disable_vertex_attrib(ATTRIB);
            }
        }
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        self.put_back_array();
        let context = self.context;
        gl::bind_vertex_array(context.vertex_array.name() as u32);
        gl::use_program(context.program.name() as u32);
        let feedback = context.transform_feedback.name() as u32;
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, feedback);
        let buffer = context.transform_feedback_buffer.name() as u32;
        gl::bind_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, buffer);
        if !self.discards {
            gl::disable(GL_RASTERIZER_DISCARD);
        }
        if self.runs {
            gl::resume_transform_feedback();
        }
        self.framebuffer.put_back();
    }
}

/// The framebuffer for drawing: a draw to one that is not complete is an error.
struct Framebuffer {
    /// The program's framebuffer, if another one is bound.
    program: Option<u32>,
    /// One of the shim's own; 0 for none.
    own: u32,
}

impl Framebuffer {
    /// Binds a framebuffer that is complete: the program's, else the surface's, else one without attachments. `None`, with
    /// nothing changed, if there is none.
    fn bind_complete(context: &Context) -> Option<Self> {
        let target = GL_DRAW_FRAMEBUFFER;
        let is_complete = || gl::check_framebuffer(target) == GL_FRAMEBUFFER_COMPLETE;
        if is_complete() {
            return Some(Self { program: None, own: 0 });
        }
        let mut it =
            Self { program: Some(gl::integer(GL_DRAW_FRAMEBUFFER_BINDING) as u32), own: 0 };
        gl::bind_framebuffer(target, 0);
        if !is_complete() && context.version >= (3, 1) {
            it.own = gl::new_framebuffer(target);
            for side in [GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_FRAMEBUFFER_DEFAULT_HEIGHT] {
                gl::framebuffer_parameter(target, side, 1);
            }
        }
        if !is_complete() {
            it.put_back();
            return None;
        }
        Some(it)
    }

    fn put_back(&self) {
        if let Some(program) = self.program {
            gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, program);
        }
        if self.own != 0 {
            gl::delete_framebuffer(self.own);
        }
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
            for first in (first..end).step_by(VERTICES_MAX) {
                let count = VERTICES_MAX.min(end - first);
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
