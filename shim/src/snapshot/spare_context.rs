//! A context that a replay makes for a moment, to make or delete objects of a share group.
//!
//! The thread that describes the group need not have a context of it, and nothing is bound in the spare one.

use gapii_commands::constants;
use gapii_recorder::observe;
use gapii_state::Process;

use super::egl;
use super::emit::Emitter;
use crate::generated::ids::*;

/// Handles of spare contexts are from here on. No driver gives out such a handle.
const FIRST: u64 = 0xF000_1000;
/// Number of the context that shares with none. A process has fewer share groups.
const ALONE: u64 = 0x1_0000;
const EGL_CONTEXT_MAJOR_VERSION: i32 = constants::EGL_CONTEXT_MAJOR_VERSION as i32;
const EGL_NONE: i32 = constants::EGL_NONE as i32;

/// A spare context.
pub struct SpareContext {
    display: u64,
    handle: u64,
    client_version: u32,
}

impl SpareContext {
    /// Makes a context that shares with the program's context `share` and has its attributes. Contexts that exist at the
    /// same time need different numbers. `None`: the program's context is not known.
    pub fn make(emitter: &mut Emitter, process: &Process, share: u64, number: u64) -> Option<Self> {
        let like = egl::Like::of(process, share)?;
        let handle = FIRST + number;
        emitter
            .command(EGL_CREATE_CONTEXT)
            .arg(like.display)
            .arg(like.config)
            .arg(share)
            .arg(like.attributes.as_ptr())
            .reads(observe::attributes_i32(like.attributes.as_ptr()))
            .returns(handle, []);
        Some(Self { display: like.display, handle, client_version: like.client_version })
    }

    /// Makes a context of OpenGL ES 3 that shares with none.
    pub fn alone(emitter: &mut Emitter, display: u64, config: u64) -> Self {
        let attributes = [EGL_CONTEXT_MAJOR_VERSION, 3, EGL_NONE];
        let handle = FIRST + ALONE;
        emitter
            .command(EGL_CREATE_CONTEXT)
            .arg(display)
            .arg(config)
            .arg(0_u64)
            .arg(attributes.as_ptr())
            .reads(observe::attributes_i32(attributes.as_ptr()))
            .returns(handle, []);
        Self { display, handle, client_version: 3 }
    }

    /// Makes it current on the describing thread with a surface.
    pub fn make_current_with(&self, emitter: &mut Emitter, surface: u64) {
        let command = emitter.command(EGL_MAKE_CURRENT).arg(self.display);
        command.arg(surface).arg(surface).arg(self.handle).returns(1_u32, []);
        emitter.in_spare_context(self.handle, self.client_version);
    }

    /// Makes it current on the describing thread, without a surface.
    pub fn make_current(&self, emitter: &mut Emitter) {
        self.make_current_with(emitter, 0);
    }

    /// Makes no context current on the describing thread.
    pub fn release(&self, emitter: &mut Emitter) {
        let command = emitter.command(EGL_MAKE_CURRENT).arg(self.display);
        command.arg(0_u64).arg(0_u64).arg(0_u64).returns(1_u32, []);
        emitter.in_own_context();
    }

    /// Destroys it. It is not current.
    pub fn destroy(self, emitter: &mut Emitter) {
        let command = emitter.command(EGL_DESTROY_CONTEXT).arg(self.display);
        command.arg(self.handle).returns(1_u32, []);
    }
}
