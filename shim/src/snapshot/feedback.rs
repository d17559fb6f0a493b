//! Draws points in the program's context, without rasterization; a transform feedback writes what a vertex shader made
//! of each point. Does nothing while a query counts primitives, while the program's own state could not be restored,
//! without a complete framebuffer in OpenGL ES 3.0, or before OpenGL ES 3.0. Everything that is set meanwhile is
//! restored.
//!
//! The shaders are linked in the program's context, too. Mesa keeps what it compiled for a context with the shader, and
//! a context keeps the shader of its last draw: if the linking context were destroyed, as a sibling is, the next draw of
//! the program would free memory of a context that is gone.

use core::ffi::CStr;
use core::ops::Range;

use gapii_commands::constants::{
    GL_CURRENT_PROGRAM, GL_DELETE_STATUS, GL_DRAW_FRAMEBUFFER, GL_DRAW_FRAMEBUFFER_BINDING,
    GL_FRAGMENT_SHADER, GL_FRAMEBUFFER_COMPLETE, GL_FRAMEBUFFER_DEFAULT_HEIGHT,
    GL_FRAMEBUFFER_DEFAULT_WIDTH, GL_INTERLEAVED_ATTRIBS, GL_LINK_STATUS, GL_POINTS,
    GL_PRIMITIVES_GENERATED, GL_RASTERIZER_DISCARD, GL_TRANSFORM_FEEDBACK,
    GL_TRANSFORM_FEEDBACK_ACTIVE, GL_TRANSFORM_FEEDBACK_BUFFER, GL_TRANSFORM_FEEDBACK_PAUSED,
    GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, GL_VERTEX_SHADER,
};
use gapii_state::{Buffer, Context, Ref};

use super::sibling::Sibling;
use super::{gl, identity, queries, staging};

/// Maximum number of points of one draw.
pub const POINTS_MAX: usize = 1 << 20;

/// A transform feedback object of the program's context.
pub struct Feedback<'a> {
    context: &'a Context,
    sibling: &'a Sibling,
    name: u32,
}

impl<'a> Feedback<'a> {
    /// `None` if the program's context cannot draw, or if it could not be restored.
    pub fn begin(context: &'a Context, sibling: &'a Sibling) -> Option<Self> {
        if context.version < (3, 0) || !can_restore(context) {
            return None;
        }
        let mut name = 0;
        // SAFETY: there is room for one name.
        unsafe { gl::gen_transform_feedbacks(1, &raw mut name) };
        Some(Self { context, sibling, name })
    }

    /// Returns what a draw of these points writes: `bytes` bytes per point. `set` sets what else the draw needs, while
    /// `program` is current, and returns what restores it when it is dropped.
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
        let before = Before::put(self.context, self.sibling)?;
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, self.name);
        gl::bind_buffer_base(GL_TRANSFORM_FEEDBACK_BUFFER, 0, staging);
        gl::use_program(program.name);
        let own = set();
        gl::begin_transform_feedback(GL_POINTS);
        gl::draw_arrays(GL_POINTS, points.start as i32, points.len() as i32);
        gl::end_transform_feedback();
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
    }
}

/// A program of a vertex shader that writes a varying.
pub struct Program {
    pub name: u32,
}

impl Program {
    /// `None` if the driver does not link it.
    pub fn link(vertex_shader: &str, varying: &CStr) -> Option<Self> {
        let program = Self { name: gl::create_program() };
        // The versions of the two shaders must be the same.
        let version = vertex_shader.lines().next().unwrap_or_default();
        let fragment_shader = format!("{version}\nvoid main() {{}}\n");
        gl::attach_new_shader(program.name, GL_VERTEX_SHADER, vertex_shader, true);
        gl::attach_new_shader(program.name, GL_FRAGMENT_SHADER, &fragment_shader, true);
        let (name, varying) = (program.name, varying.as_ptr());
        // SAFETY: one NUL-terminated string.
        unsafe {
            gl::transform_feedback_varyings(name, 1, &raw const varying, GL_INTERLEAVED_ATTRIBS);
        }
        gl::is_linked_now(name).then_some(program)
    }
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
    let group = context.group.lock();
    let has_name =
        |buffer: Ref<Buffer>| buffer.is_none() || identity::has_name(&group.buffers, buffer);
    let is_bound_again = has_name(context.transform_feedback_buffer);
    drop(group);
    !counts && is_bound_again && can_use_again(context, current_program())
}

/// Whether a program that is current can be made current again, with the executable that it has: not if it was linked
/// since, elsewhere or in vain.
fn can_use_again(context: &Context, program: u32) -> bool {
    if program == 0 {
        return true;
    }
    let group = context.group.lock();
    let is_newer = |object: Ref<_>| {
        let known = group.programs.get(object);
        known.is_some_and(|known| known.linked_at > context.program_used_at)
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

/// What every draw sets; restored when this is dropped.
struct Before<'a> {
    context: &'a Context,
    sibling: &'a Sibling,
    program: u32,
    /// Whether the program is deleted when it is current nowhere. The sibling has it current meanwhile.
    is_held: bool,
    discards: bool,
    runs: bool,
    framebuffer: Framebuffer,
}

impl<'a> Before<'a> {
    /// `None`, with nothing changed, if no framebuffer is complete: a draw would be an error.
    fn put(context: &'a Context, sibling: &'a Sibling) -> Option<Self> {
        let framebuffer = Framebuffer::bind_complete(context)?;
        let program = current_program();
        let is_held = program != 0 && gl::program_integer(program, GL_DELETE_STATUS) != 0;
        if is_held && use_in(sibling, program).is_none() {
            framebuffer.put_back();
            return None;
        }
        let runs = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0
            && gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) == 0;
        if runs {
            gl::pause_transform_feedback();
        }
        let discards = gl::is_enabled(GL_RASTERIZER_DISCARD) != 0;
        gl::enable(GL_RASTERIZER_DISCARD);
        Some(Self { context, sibling, program, is_held, discards, runs, framebuffer })
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
        let context = self.context;
        gl::use_program(self.program);
        if self.is_held {
            // A sibling that does not answer any more holds the program for good.
            let _ = use_in(self.sibling, 0);
        }
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
