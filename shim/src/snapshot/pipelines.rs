//! Program pipelines and transform feedback objects of a context. Active transform feedback is begun anew, so how far
//! it had got is missing; a paused one that is not bound is missing altogether.
//!
//! Mesa does not unbind a program pipeline while a program is current, not even one that is deleted. So what is bound is
//! what the driver says, since OpenGL ES 3.1. A deleted one is made and bound, and deleted when the program is current.

use std::collections::BTreeSet;

use gapii_abi::spare_names;
use gapii_commands::constants::{
    GL_ACTIVE_PROGRAM, GL_COMPUTE_SHADER, GL_CURRENT_PROGRAM, GL_FRAGMENT_SHADER,
    GL_GEOMETRY_SHADER, GL_LINK_STATUS, GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
    GL_PROGRAM_PIPELINE_BINDING, GL_TESS_CONTROL_SHADER, GL_TESS_EVALUATION_SHADER,
    GL_TRANSFORM_FEEDBACK, GL_TRANSFORM_FEEDBACK_ACTIVE, GL_TRANSFORM_FEEDBACK_BINDING,
    GL_TRANSFORM_FEEDBACK_BUFFER, GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    GL_TRANSFORM_FEEDBACK_BUFFER_SIZE, GL_TRANSFORM_FEEDBACK_BUFFER_START,
    GL_TRANSFORM_FEEDBACK_PAUSED, GL_VALIDATE_STATUS, GL_VERTEX_SHADER,
};
use gapii_state::read_back::Driver as _;
use gapii_state::{Context, Process};

use super::context::Indexed;
use super::emit::Emitter;
use super::{gl, programs, spare};
use crate::driver_calls::Gl;
use crate::generated::ids::*;

/// Stages of a pipeline: the parameter of `glGetProgramPipelineiv`, and the bit of `glUseProgramStages`.
const STAGES: [(u32, u32); 6] = [
    (GL_VERTEX_SHADER, 1),
    (GL_FRAGMENT_SHADER, 2),
    (GL_GEOMETRY_SHADER, 4),
    (GL_TESS_CONTROL_SHADER, 8),
    (GL_TESS_EVALUATION_SHADER, 0x10),
    (GL_COMPUTE_SHADER, 0x20),
];
/// Binding points of each transform feedback object.
const FEEDBACK_BUFFERS: Indexed = Indexed {
    target: GL_TRANSFORM_FEEDBACK_BUFFER,
    binding: GL_TRANSFORM_FEEDBACK_BUFFER_BINDING,
    start: GL_TRANSFORM_FEEDBACK_BUFFER_START,
    size: GL_TRANSFORM_FEEDBACK_BUFFER_SIZE,
    count: GL_MAX_TRANSFORM_FEEDBACK_SEPARATE_ATTRIBS,
    since: ((3, 0), (3, 0)),
};

/// The functions of program pipelines, in OpenGL ES 3.1 or in an extension.
struct Pipelines {
    generate: u16,
    delete: u16,
    bind: u16,
    use_stages: u16,
    set_active: u16,
    validate: u16,
    is_pipeline: fn(u32) -> u8,
    get: unsafe fn(u32, u32, *mut i32),
    /// Whether the context has a stage.
    has_stage: fn(&Context, &Gl, u32) -> bool,
}

const CORE: Pipelines = Pipelines {
    generate: GL_GEN_PROGRAM_PIPELINES,
    delete: GL_DELETE_PROGRAM_PIPELINES,
    bind: GL_BIND_PROGRAM_PIPELINE,
    use_stages: GL_USE_PROGRAM_STAGES,
    set_active: GL_ACTIVE_SHADER_PROGRAM,
    validate: GL_VALIDATE_PROGRAM_PIPELINE,
    is_pipeline: gl::is_program_pipeline,
    get: gl::get_pipeline,
    has_stage: |context, driver, stage| match stage {
        GL_GEOMETRY_SHADER => {
            context.has((3, 2), (3, 2))
                || driver.has("GL_EXT_geometry_shader")
                || driver.has("GL_OES_geometry_shader")
        }
        GL_TESS_CONTROL_SHADER | GL_TESS_EVALUATION_SHADER => {
            context.has((3, 2), (4, 0))
                || driver.has("GL_EXT_tessellation_shader")
                || driver.has("GL_OES_tessellation_shader")
        }
        _ => true,
    },
};
const OF_EXTENSION: Pipelines = Pipelines {
    generate: GL_GEN_PROGRAM_PIPELINES_EXT,
    delete: GL_DELETE_PROGRAM_PIPELINES_EXT,
    bind: GL_BIND_PROGRAM_PIPELINE_EXT,
    use_stages: GL_USE_PROGRAM_STAGES_EXT,
    set_active: GL_ACTIVE_SHADER_PROGRAM_EXT,
    validate: GL_VALIDATE_PROGRAM_PIPELINE_EXT,
    is_pipeline: gl::is_program_pipeline_ext,
    get: gl::get_pipeline_ext,
    has_stage: |_, _, stage| matches!(stage, GL_VERTEX_SHADER | GL_FRAGMENT_SHADER),
};

/// Describes the program pipelines and the transform feedback objects of the context.
pub fn describe(emitter: &mut Emitter, process: &Process, context: &Context) {
    if let Some(pipelines) = Pipelines::of(context) {
        pipelines.describe(emitter, process, context);
    }
    if context.has((3, 0), (3, 0)) {
        describe_feedbacks(emitter, context);
    }
}

/// Where a pipeline has a program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A bit of `glUseProgramStages`.
    Stage(u32),
    /// The program that `glUniform*` changes.
    Active,
}

impl Pipelines {
    fn of(context: &Context) -> Option<&'static Self> {
        if context.has((3, 1), (4, 1)) {
            return Some(&CORE);
        }
        let driver = Gl::current()?;
        driver.has("GL_EXT_separate_shader_objects").then_some(&OF_EXTENSION)
    }

    fn describe(&self, emitter: &mut Emitter, process: &Process, context: &Context) {
        for name in context.pipelines.names() {
            emitter.make(self.generate, name);
            if (self.is_pipeline)(name) == 0 {
                continue;
            }
            let places = self.programs(context, name);
            self.describe_one(emitter, (process, context), name, &places);
            if self.ask(name, GL_VALIDATE_STATUS) != 0 {
                emitter.command(self.validate).arg(name).done();
            }
        }
        let bound = self.bound(context);
        if is_deleted(self, bound) {
            emitter.make(self.generate, bound);
            let places = places_of_deleted(context, bound);
            self.describe_one(emitter, (process, context), bound, &places);
        }
        emitter.command(self.bind).arg(bound).done();
    }

    /// The name of the pipeline that is bound. Mesa has no query of it below OpenGL ES 3.1.
    fn bound(&self, context: &Context) -> u32 {
        match context.has((3, 1), (4, 1)) {
            true => gl::integer(GL_PROGRAM_PIPELINE_BINDING) as u32,
            false => context.pipeline.name() as u32,
        }
    }

    /// Binds a pipeline that has a name, and gives it its programs.
    fn describe_one(
        &self,
        emitter: &mut Emitter,
        (process, context): (&Process, &Context),
        name: u32,
        places: &[(Place, u32)],
    ) {
        // A name becomes an object when it is bound first.
        emitter.command(self.bind).arg(name).done();
        let programs: BTreeSet<u32> = places.iter().map(|(_, program)| *program).collect();
        for program in programs {
            let take = |emitter: &mut Emitter| {
                for (place, _) in places.iter().filter(|(_, it)| *it == program) {
                    match place {
                        Place::Stage(bit) => {
                            let command = emitter.command(self.use_stages).arg(name);
                            command.arg(*bit).arg(program).done();
                        }
                        Place::Active => {
                            emitter.command(self.set_active).arg(name).arg(program).done();
                        }
                    }
                }
            };
            let as_stage =
                places.iter().any(|(place, it)| *it == program && matches!(place, Place::Stage(_)));
            let place = (process, context);
            let used_at = used_at(context, name, program);
            programs::take_into_use(emitter, place, (program, used_at), as_stage, &take);
        }
    }

    /// Returns the programs of a pipeline, each with its place.
    fn programs(&self, context: &Context, name: u32) -> Vec<(Place, u32)> {
        let Some(driver) = Gl::current() else { return Vec::new() };
        let has = |stage| (self.has_stage)(context, &driver, stage);
        let stages = STAGES.iter().filter(|(stage, _)| has(*stage));
        let stages = stages.map(|(stage, bit)| (Place::Stage(*bit), self.ask(name, *stage)));
        let active = (Place::Active, self.ask(name, GL_ACTIVE_PROGRAM));
        let all = stages.chain([active]).map(|(place, program)| (place, program as u32));
        all.filter(|(_, program)| *program != 0).collect()
    }

    fn ask(&self, pipeline: u32, name: u32) -> i32 {
        let mut value = 0;
        // SAFETY: the parameter has one value.
        unsafe { (self.get)(pipeline, name, &raw mut value) };
        value
    }
}

/// Returns the stages of the pipeline that is bound, each with its program. None of one that has lost its name: no program was
/// current when it did, or the driver has unbound it.
pub fn bound_stages(context: &Context) -> Vec<(u32, u32)> {
    let Some(pipelines) = Pipelines::of(context) else { return Vec::new() };
    let bound = pipelines.bound(context);
    if bound == 0 || is_deleted(pipelines, bound) {
        return Vec::new();
    }
    let places = pipelines.programs(context, bound).into_iter();
    places
        .filter_map(|(place, program)| match place {
            Place::Stage(bit) => Some((STAGES.iter().find(|(_, it)| *it == bit)?.0, program)),
            Place::Active => None,
        })
        .collect()
}

/// Whether a pipeline that is bound has lost its name.
fn is_deleted(pipelines: &Pipelines, bound: u32) -> bool {
    bound != 0 && (pipelines.is_pipeline)(bound) == 0
}

/// Deletes the name of the pipeline that is bound, if the program did that. The context's program is current, or a spare one
/// is made current meanwhile: without one, the driver would unbind the pipeline.
pub fn delete_bound(emitter: &mut Emitter, context: &Context) {
    let Some(pipelines) = Pipelines::of(context) else { return };
    let bound = pipelines.bound(context);
    if !is_deleted(pipelines, bound) {
        return;
    }
    let delete = |emitter: &mut Emitter| spare::delete(emitter, pipelines.delete, &[bound]);
    match gl::integer(GL_CURRENT_PROGRAM) {
        0 => {
            with_spare_program(emitter, delete);
            // Mesa binds the pipeline by its name again when no program becomes current, which is an error, as it was in the
            // program.
            emitter.command(GL_GET_ERROR).done();
        }
        _ => delete(emitter),
    }
}

/// Writes commands for which a program must be current, where none is.
fn with_spare_program(emitter: &mut Emitter, commands: impl FnOnce(&mut Emitter)) {
    const PROGRAM: u32 = spare_names::FIRST + 2;
    const STAGES: [(u32, &str); 2] = [
        (GL_VERTEX_SHADER, "void main() { gl_Position = vec4(0.0); }\n"),
        (GL_FRAGMENT_SHADER, "void main() {}\n"),
    ];
    spare::make_program(emitter, PROGRAM, spare_names::FIRST, &STAGES);
    emitter.command(GL_LINK_PROGRAM).arg(PROGRAM).done();
    emitter.command(GL_USE_PROGRAM).arg(PROGRAM).done();
    commands(emitter);
    emitter.command(GL_USE_PROGRAM).arg(0_u32).done();
    emitter.command(GL_DELETE_PROGRAM).arg(PROGRAM).done();
}

/// Returns the programs of a pipeline that has lost its name, as the state has them: the driver answers for names only.
fn places_of_deleted(context: &Context, name: u32) -> Vec<(Place, u32)> {
    let mut deleted = context.pipelines.deleted();
    let had_name = deleted.by_ref().filter(|(object, _)| object.name() == u64::from(name)).last();
    let Some((_, pipeline)) = had_name else { return Vec::new() };
    let stages = pipeline.stages.iter().map(|(bit, program)| (Place::Stage(*bit), *program));
    let all = stages.chain([(Place::Active, pipeline.active_program)]);
    let all = all.map(|(place, program)| (place, program.name() as u32));
    all.filter(|(_, program)| *program != 0 && programs::may_be_in_use(context, *program)).collect()
}

/// Returns the number of links when the first of a pipeline's stages took the executable of a program into use.
fn used_at(context: &Context, pipeline: u32, program: u32) -> u64 {
    let named = context.pipelines.find(u64::from(pipeline));
    let mut deleted = context.pipelines.deleted().map(|(object, _)| object);
    let found = match named.is_some() {
        true => Some(named),
        false => deleted.by_ref().filter(|it| it.name() == u64::from(pipeline)).last(),
    };
    let found = found.and_then(|found| context.pipelines.get(found));
    let Some(pipeline) = found else { return u64::MAX };
    let bits = pipeline.stages.iter().filter(|(_, it)| it.name() == u64::from(program));
    let used_at = bits.filter_map(|(bit, _)| pipeline.stages_used_at.get(bit).copied());
    used_at.min().unwrap_or(u64::MAX)
}

/// Describes the transform feedback objects; the default one is the last.
fn describe_feedbacks(emitter: &mut Emitter, context: &Context) {
    let bound = gl::integer(GL_TRANSFORM_FEEDBACK_BINDING) as u32;
    // The binding can't change while transform feedback is active and not paused.
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
        FEEDBACK_BUFFERS.describe_points(emitter, context, &feedback.buffers);
        if feedback.is_active && name != bound {
            emitter.leave_out_of("paused transform feedback", name);
        }
    }
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, 0);
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(0_u32).done();
    FEEDBACK_BUFFERS.describe_points(emitter, context, &context.default_feedback_buffers);
    gl::bind_transform_feedback(GL_TRANSFORM_FEEDBACK, bound);
    if runs {
        gl::resume_transform_feedback();
    }
    emitter.command(GL_BIND_TRANSFORM_FEEDBACK).arg(GL_TRANSFORM_FEEDBACK).arg(bound).done();
}

/// Begins the bound transform feedback if it is active. No draws of the snapshot may follow.
pub fn describe_active_feedback(emitter: &mut Emitter, context: &Context) {
    if !context.has((3, 0), (4, 0)) || gl::integer(GL_TRANSFORM_FEEDBACK_ACTIVE) == 0 {
        return;
    }
    let feedback = context.transform_feedbacks.get(context.transform_feedback);
    let (mode, program) = match feedback {
        Some(feedback) => (feedback.mode, feedback.program),
        None => (context.default_feedback_mode, context.default_feedback_program),
    };
    let (began_with, current) = (program.name() as u32, gl::integer(GL_CURRENT_PROGRAM) as u32);
    // While transform feedback is paused, the program can use another program. The driver may have refused it.
    let is_paused = gl::integer(GL_TRANSFORM_FEEDBACK_PAUSED) != 0;
    let is_usable =
        |name| gl::is_program(name) != 0 && gl::program_integer(name, GL_LINK_STATUS) != 0;
    let is_other = is_paused && began_with != current && is_usable(began_with);
    if is_other {
        emitter.command(GL_USE_PROGRAM).arg(began_with).done();
    }
    emitter.command(GL_BEGIN_TRANSFORM_FEEDBACK).arg(mode).done();
    if is_paused {
        emitter.command(GL_PAUSE_TRANSFORM_FEEDBACK).done();
    }
    if is_other {
        emitter.command(GL_USE_PROGRAM).arg(current).done();
    }
    emitter.leave_out("how far a transform feedback has got: it begins anew");
}
