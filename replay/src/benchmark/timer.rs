//! `Timer`: the functions of `GL_EXT_disjoint_timer_query` in the current context. Causes no GL error.

use gapii_commands::constants::{
    GL_EXTENSIONS, GL_GPU_DISJOINT_EXT, GL_QUERY_COUNTER_BITS_EXT, GL_QUERY_RESULT,
    GL_QUERY_RESULT_AVAILABLE, GL_TIMESTAMP_EXT, GL_VERSION,
};
use gapii_commands::ids;
use gapii_state::version_of;

use crate::driver::Driver;
use crate::parts::Parts;

const EXTENSION: &str = "GL_EXT_disjoint_timer_query";

type GenQueries = unsafe extern "C" fn(i32, *mut u32);
type QueryCounter = unsafe extern "C" fn(u32, u32);
type Flush = unsafe extern "C" fn();
type GetQuery = unsafe extern "C" fn(u32, u32, *mut i32);
type GetObject = unsafe extern "C" fn(u32, u32, *mut u32);
type GetObject64 = unsafe extern "C" fn(u32, u32, *mut u64);

/// Timestamps in the context that is current on this thread.
pub(super) struct Timer<'p> {
    parts: &'p Parts,
    generate: GenQueries,
    stamp: QueryCounter,
    flush: Flush,
    object: GetObject,
    object_64: GetObject64,
}

impl<'p> Timer<'p> {
    /// Whether the current context has timestamps; false without a context.
    pub(super) fn exists(parts: &Parts) -> bool {
        let version = parts.driver_text(GL_VERSION);
        // The extension is one of OpenGL ES, and a core profile has no list of extensions in one text.
        if !version.is_some_and(|text| version_of(&text).is_some_and(|(is_es, _)| is_es)) {
            return false;
        }
        let extensions = parts.driver_text(GL_EXTENSIONS).unwrap_or_default();
        if !extensions.split(' ').any(|extension| extension == EXTENSION) {
            return false;
        }
        // SAFETY: the type of glGetQueryivEXT.
        let get_query = unsafe { parts.driver.own::<GetQuery>(ids::GL_GET_QUERYIV_EXT) };
        let Ok(get_query) = get_query else { return false };
        let mut bits = 0;
        // SAFETY: room for one number.
        unsafe { get_query(GL_TIMESTAMP_EXT, GL_QUERY_COUNTER_BITS_EXT, &raw mut bits) };
        bits > 0
    }

    /// The functions, in a context that has timestamps. `None` if the driver lacks one.
    pub(super) fn of(parts: &'p Parts) -> Option<Timer<'p>> {
        let driver: &Driver = &parts.driver;
        Some(Timer {
            parts,
            // SAFETY: the type of glGenQueriesEXT.
            generate: unsafe { driver.own(ids::GL_GEN_QUERIES_EXT) }.ok()?,
            // SAFETY: the type of glQueryCounterEXT.
            stamp: unsafe { driver.own(ids::GL_QUERY_COUNTER_EXT) }.ok()?,
            // SAFETY: the type of glFlush.
            flush: unsafe { driver.own(ids::GL_FLUSH) }.ok()?,
            // SAFETY: the type of glGetQueryObjectuivEXT.
            object: unsafe { driver.own(ids::GL_GET_QUERY_OBJECTUIV_EXT) }.ok()?,
            // SAFETY: the type of glGetQueryObjectui64vEXT.
            object_64: unsafe { driver.own(ids::GL_GET_QUERY_OBJECTUI64V_EXT) }.ok()?,
        })
    }

    /// The name of a new query.
    pub(super) fn new_query(&self) -> Option<u32> {
        let mut query = 0;
        // SAFETY: room for one name.
        unsafe { (self.generate)(1, &raw mut query) };
        (query != 0).then_some(query)
    }

    /// Asks for the time at which the GPU has finished all commands so far.
    pub(super) fn stamp(&self, query: u32) {
        // SAFETY: takes no pointer.
        unsafe { (self.stamp)(query, GL_TIMESTAMP_EXT) };
    }

    /// Lets the GPU begin with the commands so far. A driver that draws tile by tile asks for a timestamp in each tile, and
    /// keeps the last one; so a timestamp between two parts of a drawing needs a flush.
    pub(super) fn flush(&self) {
        // SAFETY: takes no pointer.
        unsafe { (self.flush)() };
    }

    /// Whether reading the result does not wait.
    pub(super) fn is_available(&self, query: u32) -> bool {
        let mut is_available = 0;
        // SAFETY: room for one number.
        unsafe { (self.object)(query, GL_QUERY_RESULT_AVAILABLE, &raw mut is_available) };
        is_available != 0
    }

    /// The time in nanoseconds; waits for it. `None` if the driver writes none.
    pub(super) fn result(&self, query: u32) -> Option<u64> {
        let mut time = 0;
        // SAFETY: room for one number.
        unsafe { (self.object_64)(query, GL_QUERY_RESULT, &raw mut time) };
        (time != 0).then_some(time)
    }

    /// Whether the GPU's clock was disturbed since this was asked for last: times are no good then.
    pub(super) fn was_disjoint(&self) -> bool {
        self.parts.integer(GL_GPU_DISJOINT_EXT) != 0
    }
}
