//! `Device`: the timer queries of the current context's driver. Asks for nothing that the context may not know, so that no GL
//! error is left for the program.

use gapii_abi::atom::GpuTimesKind;
use gapii_commands::constants::{
    GL_GPU_DISJOINT_EXT, GL_QUERY_COUNTER_BITS_EXT, GL_QUERY_RESULT_AVAILABLE_EXT,
    GL_QUERY_RESULT_EXT, GL_TIME_ELAPSED_EXT, GL_TIMESTAMP_EXT,
};
use gapii_recorder::clock_ns;

use super::timer::Gpu;
use crate::driver_functions as driver;
use crate::generated::ids;
use crate::gl_identity::Identity;
use crate::tracking;

/// The driver of the thread's current context.
pub struct Device;

/// The commands that a timer calls.
const NEEDED: [u16; 7] = [
    ids::GL_DELETE_QUERIES_EXT,
    ids::GL_GEN_QUERIES_EXT,
    ids::GL_GET_INTEGER64V_EXT,
    ids::GL_GET_QUERYIV_EXT,
    ids::GL_GET_QUERY_OBJECTUI64V_EXT,
    ids::GL_GET_QUERY_OBJECTUIV_EXT,
    ids::GL_QUERY_COUNTER_EXT,
];

impl Gpu for Device {
    fn counter_bits(&self) -> Result<u32, GpuTimesKind> {
        if !has_timer_queries() {
            return Err(GpuTimesKind::NoExtension);
        }
        if program_has_timer_queries() {
            return Err(GpuTimesKind::OwnQueries);
        }
        let mut bits = 0;
        // SAFETY: the context knows the target, and the answer is one number.
        unsafe {
            driver::get_query_ext(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &raw mut bits)
        };
        u32::try_from(bits).ok().filter(|bits| *bits != 0).ok_or(GpuTimesKind::NoCounter)
    }

    fn generate(&self, names: &mut [u32]) {
        // SAFETY: there is room for as many names.
        unsafe { driver::gen_queries_ext(names.len() as i32, names.as_mut_ptr()) };
    }

    fn delete(&self, names: &[u32]) {
        // SAFETY: there are as many names.
        unsafe { driver::delete_queries_ext(names.len() as i32, names.as_ptr()) };
    }

    fn count(&self, query: u32) {
        driver::query_counter_ext(query, GL_TIMESTAMP_EXT);
    }

    fn is_available(&self, query: u32) -> bool {
        let mut is_available = 0;
        let name = GL_QUERY_RESULT_AVAILABLE_EXT;
        // SAFETY: the answer is one number.
        unsafe { driver::get_query_object_ext(query, name, &raw mut is_available) };
        is_available != 0
    }

    fn result(&self, query: u32) -> u64 {
        let mut result = 0;
        // SAFETY: the answer is one number.
        unsafe { driver::get_query_object_64_ext(query, GL_QUERY_RESULT_EXT, &raw mut result) };
        result
    }

    fn is_disjoint(&self) -> bool {
        let mut is_disjoint = 0;
        // SAFETY: the variable has one value.
        unsafe { driver::get_integers(GL_GPU_DISJOINT_EXT, &raw mut is_disjoint) };
        is_disjoint != 0
    }

    fn now(&self) -> u64 {
        let mut now = 0;
        // SAFETY: the variable has one value.
        unsafe { driver::get_integers_64_ext(GL_TIMESTAMP_EXT, &raw mut now) };
        now as u64
    }

    fn clock_ns(&self) -> u64 {
        clock_ns()
    }
}

/// Whether the context has GL_EXT_disjoint_timer_query. It is an extension of OpenGL ES 2.0 and later.
fn has_timer_queries() -> bool {
    Identity::ask()
        .is_some_and(|it| it.api.is_es(it.version, (2, 0)) && it.has("GL_EXT_disjoint_timer_query"))
        && NEEDED.into_iter().all(driver::has)
}

/// Whether the program has used a timer query in the context, as far as its state is tracked.
fn program_has_timer_queries() -> bool {
    let is_timer = |target| target == GL_TIME_ELAPSED_EXT || target == GL_TIMESTAMP_EXT;
    let found = tracking::with_state(|state| {
        let context = state.context.as_deref();
        context.is_some_and(|it| it.queries.named().any(|(_, query)| is_timer(query.target)))
    });
    found == Some(true)
}
