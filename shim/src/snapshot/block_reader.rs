//! Reads a buffer of which only an indexed binding point of uniform buffers is left, with a transform feedback
//! ([`super::feedback`]): a vertex shader has the buffer as a uniform block, and writes 16 bytes of it per vertex. No program
//! can have a larger block than GL_MAX_UNIFORM_BLOCK_SIZE, so what lies behind is not read.

use gapii_commands::constants::{
    GL_MAX_UNIFORM_BLOCK_SIZE, GL_MAX_UNIFORM_BUFFER_BINDINGS, GL_UNIFORM_BUFFER_BINDING,
    GL_UNIFORM_BUFFER_SIZE, GL_UNIFORM_BUFFER_START,
};
use gapii_state::{Buffer, Context, Ref};

use super::feedback::Feedback;
use super::found::{self, Found};
use super::held::Held;
use super::sibling::Sibling;
use super::{gl, glsl};

/// Bytes that one vertex reads.
const VECTOR: usize = 16;

/// An indexed binding point of uniform buffers.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Block {
    index: u32,
    /// The first byte of the buffer that it shows.
    start: usize,
    /// Bytes that it shows; 0 for all from `start` on.
    len: usize,
}

/// The binding points of the current context that hold nameless buffers, with the buffers.
pub fn nameless(context: &Context) -> Vec<(Ref<Buffer>, Block)> {
    let has_deleted = context.group.lock().buffers.deleted().next().is_some();
    if !context.has((3, 0), (3, 1)) || !has_deleted {
        return Vec::new();
    }
    let points = 0..gl::integer(GL_MAX_UNIFORM_BUFFER_BINDINGS).clamp(0, 128) as u32;
    let held = points.filter_map(|index| {
        let name = gl::integer_at(GL_UNIFORM_BUFFER_BINDING, index) as u32;
        let tracked = context.uniform_buffers.get(index as usize);
        let tracked = tracked.map(|it| it.buffer).unwrap_or_default();
        let held = Held::find(&context.group.lock().buffers, name, tracked);
        let Held::Nameless(buffer) = held else { return None };
        let [start, len] = [GL_UNIFORM_BUFFER_START, GL_UNIFORM_BUFFER_SIZE]
            .map(|what| usize::try_from(gl::wide_integer_at(what, index)).unwrap_or(0));
        Some((buffer, Block { index, start, len }))
    });
    held.collect()
}

impl Block {
    /// Reads what the binding point shows of its buffer, to the same places of `out`, which has the buffer's size. `None` if
    /// it cannot be read.
    pub fn read(&self, context: &Context, sibling: &Sibling, out: &mut Found) -> Option<()> {
        let shown = found::place(out.bytes.len(), self.start, self.len);
        let most = usize::try_from(gl::integer(GL_MAX_UNIFORM_BLOCK_SIZE)).unwrap_or(0);
        let vectors = shown.len().min(most) / VECTOR;
        if vectors == 0 {
            return Some(());
        }
        let feedback = Feedback::begin(context, sibling)?;
        let program = feedback.link(&shader(vectors), c"vector")?;
        gl::uniform_block_binding(program.name, 0, self.index);
        let bytes = feedback.draw(&program, 0..vectors, VECTOR, || ())?;
        out.put(shown.start, &bytes)
    }
}

/// Source of a vertex shader with a block of so many vectors of 16 bytes.
fn shader(vectors: usize) -> String {
    let version = glsl::version(300);
    format!(
        "{version}
precision highp int;
layout(std140) uniform Block {{ highp uvec4 vectors[{vectors}]; }};
flat out highp uvec4 vector;
void main() {{
    vector = vectors[gl_VertexID];
    gl_Position = vec4(0.0);
    gl_PointSize = 1.0;
}}
"
    )
}
