//! Objects of a context that only newer versions have: pipelines of programs, transform feedbacks, and
//! queries.

use gapii_state::Context;

use super::emit::Emitter;
use super::gl;
use crate::generated::ids::*;
use crate::observe;

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
const GL_TRANSFORM_FEEDBACK_BUFFER: u32 = 0x8C8E;
const GL_TRANSFORM_FEEDBACK_BUFFER_BINDING: u32 = 0x8C8F;
const GL_TRANSFORM_FEEDBACK_BUFFER_START: u32 = 0x8C84;
const GL_TRANSFORM_FEEDBACK_BUFFER_SIZE: u32 = 0x8C85;
const GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS: u32 = 0x8C8B;

pub fn describe(emitter: &mut Emitter, context: &Context) {
    if context.version >= (3, 1) {
        describe_pipelines(emitter, context);
    }
    if context.version >= (3, 0) {
        describe_feedbacks(emitter, context);
        for (object, _) in context.queries.named() {
            make(emitter, GL_GEN_QUERIES, object.name() as u32);
        }
    }
}

fn make(emitter: &mut Emitter, id: u16, name: u32) {
    let names = [name];
    let made = observe::array(names.as_ptr(), 1, 4);
    emitter.command(id).arg(1_i32).arg(names.as_ptr()).returns((), [made]);
}

fn describe_pipelines(emitter: &mut Emitter, context: &Context) {
    for (object, _) in context.pipelines.named() {
        let name = object.name() as u32;
        make(emitter, GL_GEN_PROGRAM_PIPELINES, name);
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
    if gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) != 0 {
        // Another one can't be bound now without pausing this one.
        emitter.leave_out("transform feedbacks: one is active");
        return;
    }
    for (object, _) in context.transform_feedbacks.named() {
        let name = object.name() as u32;
        make(emitter, GL_GEN_TRANSFORM_FEEDBACKS, name);
        if gl::is_transform_feedback(name) == 0 {
            continue;
        }
        gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, name);
        let command = emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK);
        command.arg(name).done();
        describe_buffers(emitter);
    }
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, 0);
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(0_u32).done();
    describe_buffers(emitter);
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, bound);
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(bound).done();
    let target = GL_TRANSFORM_FEEDBACK_BUFFER;
    let general = gl::integer(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING);
    emitter.command(GL_BIND_BUFFER).arg(target).arg(general).done();
}

fn describe_buffers(emitter: &mut Emitter) {
    let count = gl::integer(GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS).clamp(0, 16) as u32;
    for index in 0..count {
        let name = gl::integer_at(GL_TRANSFORM_FEEDBACK_BUFFER_BINDING, index);
        let [start, size] = [GL_TRANSFORM_FEEDBACK_BUFFER_START, GL_TRANSFORM_FEEDBACK_BUFFER_SIZE]
            .map(|what| gl::wide_integer_at(what, index));
        if name == 0 {
            continue;
        }
        let id = if size > 0 { GL_BIND_BUFFER_RANGE } else { GL_BIND_BUFFER_BASE };
        let command = emitter.command(id).arg(GL_TRANSFORM_FEEDBACK_BUFFER).arg(index).arg(name);
        if size > 0 { command.arg(start).arg(size).done() } else { command.done() }
    }
}
