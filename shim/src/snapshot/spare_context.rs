//! A context that a replay makes for a moment, to make or delete objects of a share group.
//!
//! The thread that describes the group need not have a context of it, and nothing is bound in the spare one.

use gapii_state::Process;

use super::emit::Emitter;
use super::like::{Like, System};

/// Handles of spare contexts are from here on. No driver gives out such a handle.
const FIRST: u64 = 0xF000_1000;
/// Number of the context that shares with none. A process has fewer share groups.
const ALONE: u64 = 0x1_0000;

/// A spare context.
pub struct SpareContext {
    system: System,
    display: u64,
    handle: u64,
    api: u32,
    client_version: u32,
}

impl SpareContext {
    /// Makes a context that shares with the program's context `share` and has its attributes. Contexts that exist at the
    /// same time need different numbers. `None`: the program's context is not known.
    pub fn make(emitter: &mut Emitter, process: &Process, share: u64, number: u64) -> Option<Self> {
        Some(Self::of(emitter, &Like::of(process, share)?, share, FIRST + number))
    }

    /// Makes a context with these attributes that shares with none.
    pub fn alone(emitter: &mut Emitter, like: &Like) -> Self {
        Self::of(emitter, like, 0, FIRST + ALONE)
    }

    fn of(emitter: &mut Emitter, like: &Like, share: u64, handle: u64) -> Self {
        like.make(emitter, share, handle);
        let &Like { system, display, api, client_version, .. } = like;
        Self { system, display, handle, api, client_version }
    }

    /// Makes it current on the describing thread with a surface.
    pub fn make_current_with(&self, emitter: &mut Emitter, surface: u64) {
        self.system.make_current(emitter, self.display, [surface; 2], self.handle);
        emitter.in_spare_context(self.handle, self.api, self.client_version);
    }

    /// Makes it current on the describing thread, without a surface.
    pub fn make_current(&self, emitter: &mut Emitter) {
        self.make_current_with(emitter, 0);
    }

    /// Makes no context current on the describing thread.
    pub fn release(&self, emitter: &mut Emitter) {
        self.system.make_current(emitter, self.display, [0; 2], 0);
        emitter.in_own_context();
    }

    /// Destroys it. It is not current.
    pub fn destroy(self, emitter: &mut Emitter) {
        self.system.destroy_context(emitter, self.display, self.handle);
    }
}
