//! Commands of EGL: displays, configurations, surfaces and contexts of this machine.

use crate::call::Entry;
use crate::player::Parts;

/// How each command of EGL is played, by name.
pub static COMMANDS: [Entry; 0] = [];

/// What the player keeps of EGL.
#[derive(Default)]
pub struct Egl {}

impl Egl {
    /// The context that is current on a played thread: its handle in the trace.
    pub fn current(&self, _thread: u32) -> Option<u64> {
        None
    }
}

/// The calling thread, which played `thread`, is about to end: it lets go of what is current.
pub fn end_thread(_parts: &mut Parts, _thread: u32) {}
