//! The API and the client version of the program's 256 newest contexts. A context that newer ones have pushed out
//! counts as OpenGL ES with client version 0. Also counts the contexts that EGL or GLX has not destroyed.

use core::sync::atomic::{AtomicU64, Ordering::Relaxed};

use gapii_commands::constants;

/// `EGL_OPENGL_ES_API`.
pub const OPENGL_ES_API: u32 = constants::EGL_OPENGL_ES_API;

/// A context that the program created: its handle, and its API and client version.
struct Context {
    handle: AtomicU64,
    /// API in the upper 32 bits, client version in the lower.
    kind: AtomicU64,
}

/// The 256 newest contexts. A context that newer ones have pushed out counts as an OpenGL ES context of client
/// version 0.
static CONTEXTS: [Context; 256] =
    [const { Context { handle: AtomicU64::new(0), kind: AtomicU64::new(0) } }; 256];
static CONTEXTS_MADE: AtomicU64 = AtomicU64::new(0);

/// Contexts that were created and not destroyed, through EGL and GLX.
static CONTEXTS_ALIVE: AtomicU64 = AtomicU64::new(0);

/// Returns how many contexts were created and not destroyed, through EGL and GLX.
pub fn alive() -> u64 {
    CONTEXTS_ALIVE.load(Relaxed)
}

/// Whether the process has ever created a context, through EGL or GLX.
pub fn has_any() -> bool {
    CONTEXTS_MADE.load(Relaxed) != 0
}

/// Notes a context that the program has created, its API and its client version.
pub fn remember(handle: u64, api: u32, version: u32) {
    CONTEXTS_ALIVE.fetch_add(1, Relaxed);
    let next = CONTEXTS_MADE.fetch_add(1, Relaxed) as usize % CONTEXTS.len();
    let known = CONTEXTS.iter().find(|context| context.handle.load(Relaxed) == handle);
    let Some(context) = known.or(CONTEXTS.get(next)) else { return };
    context.kind.store(u64::from(api) << 32 | u64::from(version), Relaxed);
    context.handle.store(handle, Relaxed);
}

/// Counts a context as destroyed.
pub fn forget_one() {
    CONTEXTS_ALIVE.fetch_sub(1, Relaxed);
}

/// Returns the API and client version of a context; (0, 0) for `EGL_NO_CONTEXT`.
pub fn kind_of(handle: u64) -> (u32, u32) {
    if handle == 0 {
        return (0, 0);
    }
    CONTEXTS
        .iter()
        .find(|context| context.handle.load(Relaxed) == handle)
        .map(|context| context.kind.load(Relaxed))
        .map_or((OPENGL_ES_API, 0), |kind| ((kind >> 32) as u32, kind as u32))
}
