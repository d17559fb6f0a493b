//! Query objects of a context. No command sets the result of a query: one that has ended is begun and ended again, so
//! that it has a result; an active one is begun again by the last setup commands, so that it counts none of them. Both
//! count only what the replay draws; what had been counted is listed as missing.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE, GL_CLIPPING_INPUT_PRIMITIVES,
    GL_CLIPPING_OUTPUT_PRIMITIVES, GL_COMPUTE_SHADER_INVOCATIONS, GL_CURRENT_QUERY,
    GL_FRAGMENT_SHADER_INVOCATIONS, GL_GEOMETRY_SHADER_INVOCATIONS,
    GL_GEOMETRY_SHADER_PRIMITIVES_EMITTED, GL_MAX_VERTEX_STREAMS, GL_PRIMITIVES_GENERATED,
    GL_PRIMITIVES_SUBMITTED, GL_SAMPLES_PASSED, GL_TESS_CONTROL_SHADER_PATCHES,
    GL_TESS_EVALUATION_SHADER_INVOCATIONS, GL_TIME_ELAPSED_EXT, GL_TRANSFORM_FEEDBACK_OVERFLOW,
    GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, GL_TRANSFORM_FEEDBACK_STREAM_OVERFLOW,
    GL_VERTEX_SHADER_INVOCATIONS, GL_VERTICES_SUBMITTED,
};
use gapii_state::read_back::{Driver, NEVER};
use gapii_state::{Context, ContextApi};

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TIMESTAMP: u32 = constants::GL_TIMESTAMP_EXT;
/// A target of queries, the versions of OpenGL ES and of OpenGL that have it, and the extension that has it in earlier
/// versions.
type Target = (u32, (u8, u8), (u8, u8), &'static str);
const TARGETS: [Target; 19] = [
    (GL_ANY_SAMPLES_PASSED, (3, 0), (3, 3), "GL_EXT_occlusion_query_boolean"),
    (GL_ANY_SAMPLES_PASSED_CONSERVATIVE, (3, 0), (4, 3), "GL_EXT_occlusion_query_boolean"),
    (GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, (3, 0), (3, 0), ""),
    (GL_PRIMITIVES_GENERATED, (3, 2), (3, 0), "GL_EXT_geometry_shader"),
    (GL_TIME_ELAPSED_EXT, NEVER, (3, 3), "GL_EXT_disjoint_timer_query"),
    (GL_SAMPLES_PASSED, NEVER, (1, 5), ""),
    (GL_TRANSFORM_FEEDBACK_OVERFLOW, NEVER, (4, 6), OVERFLOW),
    (GL_TRANSFORM_FEEDBACK_STREAM_OVERFLOW, NEVER, (4, 6), OVERFLOW),
    (GL_VERTICES_SUBMITTED, NEVER, (4, 6), STATISTICS),
    (GL_PRIMITIVES_SUBMITTED, NEVER, (4, 6), STATISTICS),
    (GL_VERTEX_SHADER_INVOCATIONS, NEVER, (4, 6), STATISTICS),
    (GL_TESS_CONTROL_SHADER_PATCHES, NEVER, (4, 6), STATISTICS),
    (GL_TESS_EVALUATION_SHADER_INVOCATIONS, NEVER, (4, 6), STATISTICS),
    (GL_GEOMETRY_SHADER_INVOCATIONS, NEVER, (4, 6), STATISTICS),
    (GL_GEOMETRY_SHADER_PRIMITIVES_EMITTED, NEVER, (4, 6), STATISTICS),
    (GL_FRAGMENT_SHADER_INVOCATIONS, NEVER, (4, 6), STATISTICS),
    (GL_COMPUTE_SHADER_INVOCATIONS, NEVER, (4, 6), STATISTICS),
    (GL_CLIPPING_INPUT_PRIMITIVES, NEVER, (4, 6), STATISTICS),
    (GL_CLIPPING_OUTPUT_PRIMITIVES, NEVER, (4, 6), STATISTICS),
];
const OVERFLOW: &str = "GL_ARB_transform_feedback_overflow_query";
const STATISTICS: &str = "GL_ARB_pipeline_statistics_query";

/// Describes the queries. Those that ended get a result.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let (is_es3, active) = (context.has((3, 0), (1, 5)), active(context));
    let [make, begin, end] = match is_es3 {
        true => [GL_GEN_QUERIES, GL_BEGIN_QUERY, GL_END_QUERY],
        false => [GL_GEN_QUERIES_EXT, GL_BEGIN_QUERY_EXT, GL_END_QUERY_EXT],
    };
    let of_streams = active_of_streams(context);
    let mut have_ended = false;
    for (object, query) in context.queries.named() {
        let (name, target) = (object.name() as u32, query.target);
        // The driver may have refused a name that the program chose.
        if target == GL_TIMESTAMP && gl::is_query(name) == 0 {
            continue;
        }
        emitter.make(make, name);
        let is_active =
            active.contains(&(target, name)) || of_streams.iter().any(|(.., it)| *it == name);
        if target == 0 || is_active {
            continue;
        }
        have_ended = true;
        if target == GL_TIMESTAMP {
            let id = if is_desktop(context) { GL_QUERY_COUNTER } else { GL_QUERY_COUNTER_EXT };
            emitter.command(id).arg(name).arg(target).done();
        } else {
            emitter.command(begin).arg(target).arg(name).done();
            emitter.command(end).arg(target).done();
        }
    }
    if have_ended {
        emitter.leave_out("what queries had counted that have ended");
    }
}

fn is_desktop(context: &Context) -> bool {
    context.api != ContextApi::Es
}

/// What decides whether draws have an effect (GL_NV_conditional_render).
enum Condition {
    None,
    Of {
        query: u32,
        mode: u32,
    },
    /// A query that has lost its name.
    OfNameless,
}

/// Returns what the draws of a context depend on.
fn condition(context: &Context) -> Condition {
    let (held, mode) = (context.condition, context.condition_mode);
    if held.is_none() {
        return Condition::None;
    }
    match context.queries.find(held.name()) == held {
        true => Condition::Of { query: held.name() as u32, mode },
        false => Condition::OfNameless,
    }
}

/// Ends conditional rendering in the program's context; dropping this begins it again. Draws have an effect meanwhile.
pub struct Unconditional {
    /// Query and mode; `None` if draws depended on nothing.
    condition: Option<(u32, u32)>,
    is_desktop: bool,
}

impl Unconditional {
    /// `None`, and nothing is changed, if draws depend on a query that has lost its name: no command could make them
    /// depend on it again.
    pub fn begin(context: &Context) -> Option<Self> {
        let condition = match condition(context) {
            Condition::None => None,
            Condition::Of { query, mode } => Some((query, mode)),
            Condition::OfNameless => return None,
        };
        let is_desktop = is_desktop(context);
        match condition {
            None => {}
            Some(_) if is_desktop => gl::end_conditional_render(),
            Some(_) => gl::end_conditional_render_nv(),
        }
        Some(Self { condition, is_desktop })
    }
}

impl Drop for Unconditional {
    fn drop(&mut self) {
        match self.condition {
            None => {}
            Some((query, mode)) if self.is_desktop => gl::begin_conditional_render(query, mode),
            Some((query, mode)) => gl::begin_conditional_render_nv(query, mode),
        }
    }
}

/// Begins conditional rendering again. To be called last, so that all setup commands have an effect.
pub fn describe_condition(emitter: &mut Emitter, context: &Context) {
    match condition(context) {
        Condition::None => {}
        Condition::Of { query, mode } => {
            let id = match is_desktop(context) {
                true => GL_BEGIN_CONDITIONAL_RENDER,
                false => GL_BEGIN_CONDITIONAL_RENDER_NV,
            };
            emitter.command(id).arg(query).arg(mode).done();
        }
        Condition::OfNameless => emitter.leave_out("a deleted query that draws depend on"),
    }
}

/// Begins the active queries again. To be called last, so that they count no setup command.
pub fn describe_active(emitter: &mut Emitter, context: &Context) {
    let begin = if context.has((3, 0), (1, 5)) { GL_BEGIN_QUERY } else { GL_BEGIN_QUERY_EXT };
    for (target, name) in active(context) {
        emitter.command(begin).arg(target).arg(name).done();
        emitter.leave_out_of("what has been counted so far by query", name);
    }
    for (target, stream, name) in active_of_streams(context) {
        let command = emitter.command(GL_BEGIN_QUERY_INDEXED).arg(target).arg(stream);
        command.arg(name).done();
        emitter.leave_out_of("what has been counted so far by query", name);
    }
}

/// Returns targets, vertex streams above 0 (OpenGL 4.0, 13.3), and names of active queries.
fn active_of_streams(context: &Context) -> Vec<(u32, u32, u32)> {
    const OF_STREAMS: [u32; 3] = [
        GL_PRIMITIVES_GENERATED,
        GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
        GL_TRANSFORM_FEEDBACK_STREAM_OVERFLOW,
    ];
    if !context.has(NEVER, (4, 0)) {
        return Vec::new();
    }
    let streams = gl::integer(GL_MAX_VERTEX_STREAMS).clamp(1, 16) as u32;
    let is_used = |target: u32| context.queries.named().any(|(_, query)| query.target == target);
    let mut all = Vec::new();
    for target in OF_STREAMS.into_iter().filter(|target| is_used(*target)) {
        for stream in 1..streams {
            let mut name = 0;
            // SAFETY: the name has one number.
            unsafe { gl::get_query_at(target, stream, GL_CURRENT_QUERY, &raw mut name) };
            if name != 0 {
                all.push((target, stream, name as u32));
            }
        }
    }
    all
}

/// Returns the targets and names of the active queries.
pub fn active(context: &Context) -> Vec<(u32, u32)> {
    let Some(driver) = Gl::current() else { return Vec::new() };
    let is_used = |target| context.queries.named().any(|(_, query)| query.target == target);
    let ask = |target| {
        let mut name = 0;
        match context.has((3, 0), (1, 5)) {
            // SAFETY: the name has one number.
            true => unsafe { gl::get_query(target, GL_CURRENT_QUERY, &raw mut name) },
            // SAFETY: as above.
            false => unsafe { gl::get_query_ext(target, GL_CURRENT_QUERY, &raw mut name) },
        }
        (target, name as u32)
    };
    TARGETS
        .iter()
        .filter(|(_, es, desktop, extension)| {
            driver.is_at_least(*es, *desktop) || driver.has(extension)
        })
        .filter(|(target, ..)| is_used(*target))
        .map(|(target, ..)| ask(*target))
        .filter(|(_, name)| *name != 0)
        .collect()
}
