//! Objects of a context that only newer versions have: pipelines of programs, and transform feedbacks.

use gapii_commands::constants::{
    GL_ACTIVE_PROGRAM, GL_COMPUTE_SHADER, GL_FRAGMENT_SHADER, GL_GEOMETRY_SHADER,
    GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS, GL_TESS_CONTROL_SHADER, GL_TESS_EVALUATION_SHADER,
    GL_TRANSFORM_FEEDBACK, GL_TRANSFORM_FEEDBACK_ACTIVE, GL_TRANSFORM_FEEDBACK_BINDING,
    GL_TRANSFORM_FEEDBACK_BUFFER, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, GL_TRANSFORM_FEEDBACK_BUFFER_START,
    GL_TRANSFORM_FEEDBACK_PAUSED, GL_VERTEX_SHADER,
};
use gapii_state::Context;

use super::context::Indexed;
use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;

/// A stage of a pipeline: what is asked for its program, and the bit that sets it.
const STAGES: [(u32, u32); 6] = [
    (GL_VERTEX_SHADER, 1),
    (GL_FRAGMENT_SHADER, 2),
    (GL_GEOMETRY_SHADER, 4),
    (GL_TESS_CONTROL_SHADER, 8),
    (GL_TESS_EVALUATION_SHADER, 0x10),
    (GL_COMPUTE_SHADER, 0x20),
];
/// Each transform feedback has its own.
const FEEDBACK_BUFFERS: Indexed = Indexed {
    target: GL_TRANSFORM_FEEDBACK_BUFFER,
    binding: GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    start: GL_TRANSFORM_FEEDBACK_BUFFER_START,
    size: GL_TRANSFORM_FEEDBACK_BUFFER_SIZE,
    count: GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
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
        let has = |what| {
            context.version >= (3, 2)
                || matches!(what, GL_VERTEX_SHADER | GL_FRAGMENT_SHADER | GL_COMPUTE_SHADER)
        };
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
