//! Objects of a context that only newer versions have: pipelines of programs, and transform feedbacks.

use gapii_state::Context;

use super::context::Indexed;
use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// A stage of a pipeline: what is asked for its program, and the bit that sets it.
const STAGES: [(u32, u32); 6] = [
    (0x8B31, 1),    // GL_VERTEX_SHADER
    (0x8B30, 2),    // GL_FRAGMENT_SHADER
    (0x8DD9, 4),    // GL_GEOMETRY_SHADER
    (0x8E88, 8),    // GL_TESS_CONTROL_SHADER
    (0x8E87, 0x10), // GL_TESS_EVALUATION_SHADER
    (0x91B9, 0x20), // GL_COMPUTE_SHADER
];
const GL_ACTIVE_PROGRAM: u32 = 0x8259;
const GL_TRANSFORM_FEEDBACK: u32 = 0x8E22;
const GL_TRANSFORM_FEEDBACK_BINDING: u32 = 0x8E25;
const GL_TRANSFORM_FEEDBACK_ACTIVE: u32 = 0x8E24;
const GL_TRANSFORM_FEEDBACK_PAUSED: u32 = 0x8E23;
/// Each transform feedback has its own.
const FEEDBACK_BUFFERS: Indexed = Indexed {
    target: 0x8C8E,
    binding: 0x8C8F,
    start: 0x8C84,
    size: 0x8C85,
    count: 0x8C8B,
    since: (3, 0),
};

pub fn describe(emitter: &mut Emitter, context: &Context) {
    if context.version >= (3, 1) {
        describe_pipelines(emitter, context);
    }
    if context.version >= (3, 0) {
        describe_feedbacks(emitter, context);
    }
}

fn describe_pipelines(emitter: &mut Emitter, context: &Context) {
    for (object, _) in context.pipelines.named() {
        let name = object.name() as u32;
        emitter.make(GL_GEN_PROGRAM_PIPELINES, name);
        if gl::is_program_pipeline(name) == 0 {
            continue;
        }
        let ask = |what| {
            let mut value = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_pipeline(name, what, &raw mut value) };
            value
        };
        let has = |what| context.version >= (3, 2) || matches!(what, 0x8B31 | 0x8B30 | 0x91B9);
        for (what, bit) in STAGES.iter().filter(|(what, _)| has(*what)) {
            let program = ask(*what);
            if program != 0 {
                emitter.command(GL_USE_PROGRAM_STAGES).arg(name).arg(*bit).arg(program).done();
            }
        }
        let active = ask(GL_ACTIVE_PROGRAM);
        if active != 0 {
            emitter.command(GL_ACTIVE_SHADER_PROGRAM).arg(name).arg(active).done();
        }
    }
    let bound = context.pipeline.name() as u32;
    emitter.command(GL_BIND_PROGRAM_PIPELINE).arg(bound).done();
}

/// The default one is the last, as it has no name to make.
fn describe_feedbacks(emitter: &mut Emitter, context: &Context) {
    let bound = gl::integer(GL_TRANSFORM_FEEDBACK_BINDING) as u32;
    // Another one can't be bound while this one takes what is drawn.
    let runs = gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0
        && gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) == 0;
    if runs {
        gl::pause_transform_feedback();
    }
    for (object, feedback) in context.transform_feedbacks.named() {
        let name = object.name() as u32;
        emitter.make(GL_GEN_TRANSFORM_FEEDBACKS, name);
        if gl::is_transform_feedback(name) == 0 {
            continue;
        }
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, name);
        let command = emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK);
        command.arg(name).done();
        FEEDBACK_BUFFERS.describe_points(emitter);
        if feedback.is_active && name != bound {
            emitter.leave_out_of("paused transform feedback", name);
        }
    }
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, 0);
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(0_u32).done();
    FEEDBACK_BUFFERS.describe_points(emitter);
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, bound);
    if runs {
        gl::resume_transform_feedback();
    }
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(bound).done();
    FEEDBACK_BUFFERS.describe_general(emitter);
}

/// The transform feedback that is bound begins anew, if it is active. Nothing is drawn after this.
pub fn describe_active_feedback(emitter: &mut Emitter, context: &Context) {
    if context.version < (3, 0) || gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) == 0 {
        return;
    }
    let feedback = context.transform_feedbacks.get(context.transform_feedback);
    let mode = feedback.map_or(context.default_feedback_mode, |feedback| feedback.mode);
    emitter.command(GL_BEGIN_TRANSFORM_FEEDBACK).arg(mode).done();
    if gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) != 0 {
        emitter.command(GL_PAUSE_TRANSFORM_FEEDBACK).done();
    }
    emitter.leave_out("how far a transform feedback has got: it begins anew");
}
