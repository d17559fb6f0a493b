//! Reads a buffer of which only the vertices of a vertex array are left, with a transform feedback: draws points in the
//! program's context, without rasterization, at most `VERTICES_MAX` (1,048,576) per draw. Does nothing while a query
//! counts primitives, while the program's own state could not be restored, if no framebuffer is complete, in the
//! default vertex array, or before OpenGL ES 3.1. Everything that is set meanwhile is restored.
//!
//! The vertex shader takes four bytes of the binding point per vertex, and the transform feedback writes them into a
//! buffer of the sibling context.

use gapii_commands::constants::{
    GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING, GL_FRAGMENT_SHADER, GL_FRAMEBUFFER_COMPLETE,
    GL_INTERLEAVED_ATTRIBS, GL_LINK_STATUS, GL_MAX_VERTEX_ATTRIB_BINDINGS,
    GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET, GL_POINTS, GL_PRIMITIVES_GENERATED,
    GL_RASTERIZER_DISCARD, GL_TRANSFORM_FEEDBACK, GL_TRANSFORM_FEEDBACK_ACTIVE,
    GL_TRANSFORM_FEEDBACK_BUFFER, GL_TRANSFORM_FEEDBACK_PAUSED,
    GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, GL_UNSIGNED_BYTE, GL_VERTEX_SHADER,
};
use gapii_state::{Buffer, Context, Ref, VertexArray, VertexArrays};

use super::identity;
use super::queries;
use super::sibling::Sibling;
use super::{gl, staging};

const VERTEX_SHADER: &str = "#version 310 es
layout(location = 0) in highp uvec4 bytes;
flat out highp uint word;
void main() {
    word = bytes.x | bytes.y << 8 | bytes.z << 16 | bytes.w << 24;
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}
";
const FRAGMENT_SHADER: &str = "#version 310 es
void main() {}
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
}

impl<'a> Vertices<'a> {
    /// `None` for the default vertex array, whose formats and binding points are not separate.
    pub fn of(context: &'a Context, array: Ref<VertexArray>, binding: u32) -> Option<Self> {
        let arrays = &context.vertex_arrays.get(array)?.arrays;
        let it = arrays.bindings.get(binding as usize)?;
        let (offset, stride) = (usize::try_from(it.offset).ok()?, usize::try_from(it.stride).ok()?);
        let is_point = binding < gl::integer(GL_MAX_VERTEX_ATTRIB_BINDINGS) as u32;
        is_point.then_some(Self { array, arrays, binding, offset, stride })
    }
}

/// A program that the sibling context has made, and a transform feedback of the program's context.
pub struct VertexReader {
    program: u32,
    feedback: u32,
}

impl VertexReader {
    /// `None` if the program's context cannot draw, or if it could not be restored.
    pub fn begin(context: &Context, sibling: &Sibling) -> Option<Self> {
        if context.version < (3, 1) || !can_restore(context) {
            return None;
        }
        let program = sibling.ask(|_| link())?;
        let mut feedback = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_transform_feedbacks(1, &raw mut feedback) };
        Some(Self { program, feedback })
    }

    /// Deletes what [`VertexReader::begin`] has made.
    pub fn end(self, sibling: &Sibling) {
        // SAFETY: one name.
        unsafe { gl::delete_transform_feedbacks(1, &raw const self.feedback) };
        let program = self.program;
        let _ = sibling.ask(move |_| {
            gl::delete_program(program);
            Some(())
        });
    }

    /// Reads all bytes that the vertices lead to, to the same places of `out`, which has the buffer's size.
    pub fn read(
        &self,
        context: &Context,
        sibling: &Sibling,
        vertices: &Vertices<'_>,
        out: &mut [u8],
    ) -> Option<()> {
        let farthest = gl::integer(GL_MAX_VERTEX_ATTRIB_RELATIVE_OFFSET).max(0) as usize;
        for part in parts(out.len(), vertices.offset, vertices.stride, farthest) {
            let staging = sibling.ask(move |_| staging::make(part.count * WORD))?;
            let is_drawn = self.draw(context, vertices, part, staging);
            let words = sibling.ask(move |_| {
                let mut words = Vec::new();
                let done = staging::append(staging, part.count * WORD, &mut words);
                staging::delete(staging);
                done.map(|()| words)
            });
            is_drawn?;
            for (word, vertex) in words?.chunks_exact(WORD).zip(part.first..) {
                let at = vertices.offset + vertex * vertices.stride + part.column;
                let bytes = out.get_mut(at..at + part.bytes)?;
                bytes.copy_from_slice(word.get(..part.bytes)?);
            }
        }
        Some(())
    }

    fn draw(
        &self,
        context: &Context,
        vertices: &Vertices<'_>,
        part: Part,
        staging: u32,
    ) -> Option<()> {
        let _set = Set::put(context, vertices)?;
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, self.feedback);
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, staging);
        gl::use_program(self.program);
        let (size, column) = (part.bytes as i32, part.column as u32);
        gl::vertex_attrib_i_format(ATTRIB, size, GL_UNSIGNED_BYTE, column);
        gl::begin_transform_feedback(GL_POINTS);
        gl::draw_arrays(GL_POINTS, part.first as i32, part.count as i32);
        gl::end_transform_feedback();
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
        gl::finish_program();
        Some(())
    }
}

/// Makes the program, in the sibling context.
fn link() -> Option<u32> {
    let program = gl::create_program();
    for (kind, source) in [(GL_VERTEX_SHADER, VERTEX_SHADER), (GL_FRAGMENT_SHADER, FRAGMENT_SHADER)]
    {
        gl::attach_new_shader(program, kind, source, true);
    }
    let varying = c"word".as_ptr();
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
    discards: bool,
    runs: bool,
    /// The framebuffer that is bound again, if another one is bound now.
    framebuffer: Option<u32>,
}

impl<'a> Set<'a> {
    /// `None`, with nothing changed, if no framebuffer is complete: a draw would be an error.
    fn put(context: &'a Context, vertices: &Vertices<'a>) -> Option<Self> {
        let is_complete = || gl::check_framebuffer(GL_DRAW_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        let mut framebuffer = None;
        if !is_complete() {
            let bound = gl::integer(GL_DRAW_FRAMEBUFFER_BINDING) as u32;
            gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, 0);
            if !is_complete() {
                gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, bound);
                return None;
            }
            framebuffer = Some(bound);
        }
        let runs = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0
            && gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) == 0;
        if runs {
            gl::pause_transform_feedback();
        }
        let discards = gl::is_enabled(GL_RASTERIZER_DISCARD) != 0;
        gl::enable(GL_RASTERIZER_DISCARD);
        gl::bind_vertex_array(vertices.array.name() as u32);
        gl::enable_vertex_attrib(ATTRIB);
        gl::vertex_attrib_binding(ATTRIB, vertices.binding);
        gl::vertex_binding_divisor(vertices.binding, 0);
        let (arrays, binding) = (vertices.arrays, vertices.binding);
        Some(Self { context, arrays, binding, discards, runs, framebuffer })
    }
}

impl Drop for Set<'_> {
    fn drop(&mut self) {
        let at = ATTRIB as usize;
        if let (Some(attrib), Some(binding)) =
            (self.arrays.attribs.get(at), self.arrays.bindings.get(self.binding as usize))
        {
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
        if let Some(framebuffer) = self.framebuffer {
            gl::bind_framebuffer(GL_DRAW_FRAMEBUFFER, framebuffer);
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
