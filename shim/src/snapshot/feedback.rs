//! Draws points in the program's context, without rasterization; a transform feedback writes what a vertex shader made
//! of each point. Does nothing while a query counts primitives, while the program's own state could not be restored, or
//! before OpenGL ES 3.0. Everything that is set meanwhile is restored to what the driver had: the driver may have refused
//! commands that the state has followed.
//!
//! The shaders are linked in the program's context, too. Mesa keeps what it compiled for a context with the shader, and
//! a context keeps the shader of its last draw: if the linking context were destroyed, as a sibling is, the next draw of
//! the program would free memory of a context that is gone.

use core::ffi::CStr;
use core::ops::Range;

use gapii_commands::constants::{
    GL_CURRENT_PROGRAM, GL_DELETE_STATUS, GL_FRAGMENT_SHADER, GL_INTERLEAVED_ATTRIBS, GL_LINES,
    GL_LINK_STATUS, GL_POINTS, GL_PRIMITIVES_GENERATED, GL_PROGRAM_PIPELINE_BINDING,
    GL_RASTERIZER_DISCARD, GL_TRANSFORM_FEEDBACK, GL_TRANSFORM_FEEDBACK_ACTIVE,
    GL_TRANSFORM_FEEDBACK_BINDING, GL_TRANSFORM_FEEDBACK_BUFFER,
    GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, GL_TRANSFORM_FEEDBACK_PAUSED,
    GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, GL_TRIANGLES, GL_VERTEX_ARRAY_BINDING,
    GL_VERTEX_SHADER,
};
use gapii_state::{Buffer, Context, Ref};

use super::bound_framebuffers::BoundFramebuffers;
use super::own_framebuffer::OwnFramebuffer;
use super::programs::was_linked_elsewhere;
use super::queries::Unconditional;
use super::sibling::Sibling;
use super::{gl, held, identity, queries, staging};

/// Maximum number of points of one draw.
pub const POINTS_MAX: usize = 1 << 20;

/// A transform feedback object of the program's context, and a vertex array in which nothing is enabled.
pub struct Feedback<'a> {
    context: &'a Context,
    sibling: &'a Sibling,
    name: u32,
    array: u32,
    framebuffer: OwnFramebuffer<'a>,
}

impl<'a> Feedback<'a> {
    /// `None` if the program's context cannot draw, or if it could not be restored.
    pub fn begin(context: &'a Context, sibling: &'a Sibling) -> Option<Self> {
        if !context.has((3, 0), (4, 0)) || !can_restore(context) {
            return None;
        }
        let framebuffer = OwnFramebuffer::with_colors(context, sibling)?;
        let (mut name, mut array) = (0, 0);
        // SAFETY: there is room for one name.
        unsafe { gl::gen_transform_feedbacks(1, &raw mut name) };
        // SAFETY: as above.
        unsafe { gl::gen_vertex_arrays(1, &raw mut array) };
        Some(Self { context, sibling, name, array, framebuffer })
    }

    /// Links a program of a vertex shader that writes a varying. `None` if the driver does not link it.
    pub fn link(&self, vertex_shader: &str, varying: &CStr) -> Option<Program> {
        let program = Program { name: gl::create_program() };
        // The versions of the two shaders must be the same.
        let version = vertex_shader.lines().next().unwrap_or_default();
        let fragment_shader = format!("{version}\nvoid main() {{}}\n");
        gl::attach_new_shader(program.name, GL_VERTEX_SHADER, vertex_shader, true);
        gl::attach_new_shader(program.name, GL_FRAGMENT_SHADER, &fragment_shader, true);
        let (name, varying) = (program.name, varying.as_ptr());
        // Mesa refuses varyings while the transform feedback object that is bound is active.
        let bound = Bound::replace(self.name);
        // SAFETY: one NUL-terminated string.
        unsafe {
            gl::transform_feedback_varyings(name, 1, &raw const varying, GL_INTERLEAVED_ATTRIBS);
        }
        drop(bound);
        gl::is_linked_now(name).then_some(program)
    }

    /// Returns what a draw of these points writes: `bytes` bytes per point. `set` sets what else the draw needs, while
    /// `program` is current and an empty vertex array is bound, and returns what restores it when it is dropped.
    pub fn draw<S>(
        &self,
        program: &Program,
        points: Range<usize>,
        bytes: usize,
        set: impl FnOnce() -> S,
    ) -> Option<Vec<u8>> {
        let bytes = points.len() * bytes;
        let staging = self.sibling.ask(move |_| staging::make(bytes))?;
        let is_drawn = self.draw_to(staging, program, points, set);
        let written = self.sibling.ask(move |_| {
            let mut written = Vec::new();
            let done = staging::append(staging, bytes, &mut written);
            staging::delete(staging);
            done.map(|()| written)
        });
        is_drawn?;
        written
    }

    fn draw_to<S>(
        &self,
        staging: u32,
        program: &Program,
        points: Range<usize>,
        set: impl FnOnce() -> S,
    ) -> Option<()> {
        let before = Before::put(self)?;
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, staging);
        gl::use_program(program.name);
        let own = set();
        gl::begin_transform_feedback(GL_POINTS);
        gl::draw_arrays(GL_POINTS, points.start as i32, points.len() as i32);
        gl::end_transform_feedback();
        if let Some(mode) = before.mode {
            // Mesa has one mode per context, which the last glBeginTransformFeedback sets, for any object.
            gl::begin_transform_feedback(mode);
            gl::end_transform_feedback();
        }
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, 0);
        gl::finish_program();
        drop(own);
        drop(before);
        Some(())
    }
}

impl Drop for Feedback<'_> {
    fn drop(&mut self) {
        // SAFETY: one name.
        unsafe { gl::delete_transform_feedbacks(1, &raw const self.name) };
        // SAFETY: as above.
        unsafe { gl::delete_vertex_arrays(1, &raw const self.array) };
    }
}

/// A program of a vertex shader that writes a varying.
pub struct Program {
    pub name: u32,
}

impl Drop for Program {
    fn drop(&mut self) {
        gl::delete_program(self.name);
    }
}

/// Whether the state that a draw needs can be restored.
fn can_restore(context: &Context) -> bool {
    let counts = queries::active(context).iter().any(|(target, _)| {
        [GL_PRIMITIVES_GENERATED, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN].contains(target)
    });
    let buffer = bound_buffer(context);
    let group = context.group.lock();
    let is_bound_again = buffer.is_none() || identity::has_name(&group.buffers, buffer);
    drop(group);
    !counts && is_bound_again && can_use_again(context, current_program())
}

/// The buffer at the generic binding point of transform feedback.
fn bound_buffer(context: &Context) -> Ref<Buffer> {
    let name = gl::integer(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING) as u32;
    held::object(&context.group.lock().buffers, name, context.transform_feedback_buffer)
}

/// Whether a program that is current can be made current again, with the executable that it has: not if it was linked
/// since, elsewhere or in vain.
fn can_use_again(context: &Context, program: u32) -> bool {
    if program == 0 {
        // Mesa binds the pipeline by its name when no program becomes current, also one that has lost its name. Below
        // OpenGL ES 3.1 it does not say which one is bound.
        let ask = || gl::integer(GL_PROGRAM_PIPELINE_BINDING) as u32;
        let pipeline = if context.has((3, 1), (4, 1)) { ask() } else { 0 };
        return pipeline == 0 || gl::is_program_pipeline(pipeline) != 0;
    }
    let group = context.group.lock();
    let is_newer = |object: Ref<_>| {
        let known = group.programs.get(object);
        known.is_some_and(|it| was_linked_elsewhere(context, it, context.program_used_at))
    };
    let all = [group.programs.find(u64::from(program)), context.program];
    let was_linked_elsewhere =
        all.into_iter().any(|it| it.name() == u64::from(program) && is_newer(it));
    drop(group);
    !was_linked_elsewhere && gl::program_integer(program, GL_LINK_STATUS) != 0
}

/// The name of the program that is current; the driver knows whether it refused a command of the program.
fn current_program() -> u32 {
    gl::integer(GL_CURRENT_PROGRAM) as u32
}

/// The program's transform feedback object while another one is bound. Dropping this binds it again, and resumes it; the
/// program with which it began is current then.
struct Bound {
    name: u32,
    runs: bool,
}

impl Bound {
    /// Binds the object `own`. An object that is active can be replaced while it is paused.
    fn replace(own: u32) -> Self {
        let runs = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0
            && gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) == 0;
        if runs {
            gl::pause_transform_feedback();
        }
        let name = gl::integer(GL_TRANSFORM_FEEDBACK_BINDING) as u32;
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, own);
        Self { name, runs }
    }
}

impl Drop for Bound {
    fn drop(&mut self) {
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, self.name);
        if self.runs {
            gl::resume_transform_feedback();
        }
    }
}

/// Primitive mode of the transform feedback of the context that is active, perhaps paused. One that is bound counts before
/// others.
fn active_mode(context: &Context) -> Option<u32> {
    let bound = gl::integer(GL_TRANSFORM_FEEDBACK_BINDING) as u32;
    let is_active = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0;
    let named = || context.transform_feedbacks.named();
    let of_bound = || match bound {
        0 => Some(context.default_feedback_mode),
        _ => named().find(|(it, _)| it.name() == u64::from(bound)).map(|(_, it)| it.mode),
    };
    let of_others = || {
        let is_default = context.default_feedback_is_active && bound != 0;
        let other =
            named().find(|(it, feedback)| feedback.is_active && it.name() != u64::from(bound));
        other.map(|(_, it)| it.mode).or(is_default.then_some(context.default_feedback_mode))
    };
    let mode = if is_active { of_bound() } else { of_others() };
    // The driver refuses other modes.
    mode.filter(|mode| [GL_POINTS, GL_LINES, GL_TRIANGLES].contains(mode))
}

/// What every draw sets; restored when this is dropped.
struct Before<'a> {
    sibling: &'a Sibling,
    program: u32,
    /// Whether the program is deleted when it is current nowhere. The sibling has it current meanwhile.
    is_held: bool,
    discards: bool,
    array: u32,
    /// Name of the buffer at the generic binding point of transform feedback.
    buffer: u32,
    /// Primitive mode of a transform feedback that is active.
    mode: Option<u32>,
    _framebuffers: BoundFramebuffers,
    _unconditional: Unconditional,
    /// Dropped when the program is current again.
    _bound: Bound,
}

impl<'a> Before<'a> {
    /// `None`, with nothing changed, if conditional rendering could not be begun again, or the program that is current
    /// could not be made current again.
    fn put(feedback: &Feedback<'a>) -> Option<Self> {
        let (context, sibling) = (feedback.context, feedback.sibling);
        let program = current_program();
        let is_held = program != 0 && gl::program_integer(program, GL_DELETE_STATUS) != 0;
        let unconditional = Unconditional::begin(context)?;
        if is_held && use_in(sibling, program).is_none() {
            return None;
        }
        let framebuffers = feedback.framebuffer.bind();
        let (mode, buffer) = (active_mode(context), bound_buffer(context).name() as u32);
        let bound = Bound::replace(feedback.name);
        let discards = gl::is_enabled(GL_RASTERIZER_DISCARD) != 0;
        gl::enable(GL_RASTERIZER_DISCARD);
        let array = gl::integer(GL_VERTEX_ARRAY_BINDING) as u32;
        gl::bind_vertex_array(feedback.array);
        Some(Self {
            sibling,
            program,
            is_held,
            discards,
            array,
            buffer,
            mode,
            _framebuffers: framebuffers,
            _unconditional: unconditional,
            _bound: bound,
        })
    }
}

/// Makes a program current in the sibling.
fn use_in(sibling: &Sibling, program: u32) -> Option<()> {
    sibling.ask(move |_| {
        gl::use_program(program);
        (current_program() == program).then_some(())
    })
}

impl Drop for Before<'_> {
    fn drop(&mut self) {
        gl::use_program(self.program);
        if self.is_held {
            // A sibling that does not answer any more holds the program for good.
            let _ = use_in(self.sibling, 0);
        }
        gl::bind_vertex_array(self.array);
        gl::bind_buffer(GL_TRANSFORM_FEEDBACK_BUFFER, self.buffer);
        if !self.discards {
            gl::disable(GL_RASTERIZER_DISCARD);
        }
    }
}
