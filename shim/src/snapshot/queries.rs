//! Query objects of a context. No command sets the result of a query: one that has ended is begun and ended again, so
//! that it has a result; an active one is begun again by the last setup commands, so that it counts none of them. Both
//! count only what the replay draws; what had been counted is listed as missing.

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_ANY_SAMPLES_PASSED, GL_ANY_SAMPLES_PASSED_CONSERVATIVE, GL_CURRENT_QUERY,
    GL_PRIMITIVES_GENERATED, GL_TIME_ELAPSED_EXT, GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
};
use gapii_state::Context;
use gapii_state::read_back::Driver;

use super::emit::Emitter;
use super::gl;
use crate::driver_calls::Gl;
use crate::generated::ids::*;

const GL_TIMESTAMP: u32 = constants::GL_TIMESTAMP_EXT;
/// Targets of queries, the version that has each, and the extension that has it in earlier versions.
const TARGETS: [(u32, (u8, u8), &str); 5] = [
    (GL_ANY_SAMPLES_PASSED, (3, 0), "GL_EXT_occlusion_query_boolean"),
    (GL_ANY_SAMPLES_PASSED_CONSERVATIVE, (3, 0), "GL_EXT_occlusion_query_boolean"),
    (GL_TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN, (3, 0), ""),
    (GL_PRIMITIVES_GENERATED, (3, 2), "GL_EXT_geometry_shader"),
    (GL_TIME_ELAPSED_EXT, (9, 9), "GL_EXT_disjoint_timer_query"),
];

/// Describes the queries. Those that ended get a result.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let (is_es3, active) = (context.version.0 >= 3, active(context));
    let [make, begin, end] = match is_es3 {
        true => [GL_GEN_QUERIES, GL_BEGIN_QUERY, GL_END_QUERY],
        false => [GL_GEN_QUERIES_EXT, GL_BEGIN_QUERY_EXT, GL_END_QUERY_EXT],
    };
    let mut have_ended = false;
    for (object, query) in context.queries.named() {
        let (name, target) = (object.name() as u32, query.target);
        emitter.make(make, name);
        if target == 0 || active.contains(&(target, name)) {
            continue;
        }
        have_ended = true;
        if target == GL_TIMESTAMP {
            emitter.command(GL_QUERY_COUNTER_EXT).arg(name).arg(target).done();
        } else {
            emitter.command(begin).arg(target).arg(name).done();
            emitter.command(end).arg(target).done();
        }
    }
    if have_ended {
        emitter.leave_out("what queries had counted that have ended");
    }
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
        if condition.is_some() {
            gl::end_conditional_render_nv();
        }
        Some(Self { condition })
    }
}

impl Drop for Unconditional {
    fn drop(&mut self) {
        if let Some((query, mode)) = self.condition {
            gl::begin_conditional_render_nv(query, mode);
        }
    }
}

/// Begins conditional rendering again. To be called last, so that all setup commands have an effect.
pub fn describe_condition(emitter: &mut Emitter, context: &Context) {
    match condition(context) {
        Condition::None => {}
        Condition::Of { query, mode } => {
            emitter.command(GL_BEGIN_CONDITIONAL_RENDER_NV).arg(query).arg(mode).done();
        }
        Condition::OfNameless => emitter.leave_out("a deleted query that draws depend on"),
    }
}

/// Begins the active queries again. To be called last, so that they count no setup command.
pub fn describe_active(emitter: &mut Emitter, context: &Context) {
    let begin = if context.version.0 >= 3 { GL_BEGIN_QUERY } else { GL_BEGIN_QUERY_EXT };
    for (target, name) in active(context) {
        emitter.command(begin).arg(target).arg(name).done();
        emitter.leave_out_of("what has been counted so far by query", name);
    }
}

/// Returns the targets and names of the active queries.
pub fn active(context: &Context) -> Vec<(u32, u32)> {
    let Some(driver) = Gl::current() else { return Vec::new() };
    let is_used = |target| context.queries.named().any(|(_, query)| query.target == target);
    let ask = |target| {
        let mut name = 0;
        match context.version.0 >= 3 {
            // SAFETY: the name has one number.
            true => unsafe { gl::get_query(target, GL_CURRENT_QUERY, &raw mut name) },
            // SAFETY: as above.
            false => unsafe { gl::get_query_ext(target, GL_CURRENT_QUERY, &raw mut name) },
        }
        (target, name as u32)
    };
    TARGETS
        .iter()
        .filter(|(_, since, extension)| context.version >= *since || driver.has(extension))
        .filter(|(target, ..)| is_used(*target))
        .map(|(target, ..)| ask(*target))
        .filter(|(_, name)| *name != 0)
        .collect()
}
