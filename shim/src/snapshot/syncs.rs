//! Sync objects of OpenGL ES and of EGL. A snapshot inserts a new fence for each; it is signaled soon, as the program's
//! fence is or will be. An EGL fence is missing if the process has no context; syncs of EGL of other kinds than fences and
//! reusable syncs are missing, too.

use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_SYNC_FENCE, EGL_SYNC_NATIVE_FENCE_ANDROID, EGL_SYNC_REUSABLE_KHR,
    GL_SYNC_GPU_COMMANDS_COMPLETE,
};
use gapii_state::{Context, Process};

use super::emit::Emitter;
use super::gl;
use super::spare_context::SpareContext;
use crate::generated::ids::*;
use gapii_recorder::observe;

const EGL_SYNC_STATUS: i32 = constants::EGL_SYNC_STATUS as i32;
const EGL_SIGNALED: i32 = constants::EGL_SIGNALED as i32;
const EGL_NONE: i32 = constants::EGL_NONE as i32;

/// Describes the sync objects of the context's share group.
pub fn describe(emitter: &mut Emitter, context: &Context) {
    let id = if context.has((3, 0), (3, 2)) { GL_FENCE_SYNC } else { GL_FENCE_SYNC_APPLE };
    for handle in handles(context) {
        let command = emitter.command(id).arg(GL_SYNC_GPU_COMMANDS_COMPLETE).arg(0_u32);
        command.returns(handle, []);
    }
}

/// Returns the handles of the share group's sync objects.
pub fn handles(context: &Context) -> Vec<u64> {
    context.group.lock().syncs.named().map(|(object, _)| object.name()).collect()
}

/// Describes the sync objects of EGL. A fence needs a current context. If the thread has none, it is one that shares with the first
/// context of the process.
pub fn describe_egl(emitter: &mut Emitter, process: &Process, is_current: bool) {
    let known: Vec<(u64, u64, u32)> = {
        let state = process.lock();
        let syncs = state.egl_syncs.named();
        syncs.map(|(object, sync)| (object.name(), sync.display, sync.kind)).collect()
    };
    let is_fence = |kind| [EGL_SYNC_FENCE, EGL_SYNC_NATIVE_FENCE_ANDROID].contains(&kind);
    let needs_context = !is_current && known.iter().any(|(.., kind)| is_fence(*kind));
    let contexts = if needs_context { process.contexts().groups() } else { Vec::new() };
    let mut contexts = contexts.into_iter();
    let spare = contexts.find_map(|(it, _)| SpareContext::make(emitter, process, it, 0));
    if let Some(spare) = &spare {
        spare.make_current(emitter);
    }
    for (handle, display, kind) in known {
        let can_be_made = match kind {
            _ if is_fence(kind) => is_current || spare.is_some(),
            EGL_SYNC_REUSABLE_KHR => true,
            _ => false,
        };
        if !can_be_made {
            emitter.leave_out("a sync of EGL");
            continue;
        }
        let list = [EGL_NONE];
        let command = emitter.command(EGL_CREATE_SYNC_KHR).arg(display).arg(kind);
        let command = command.arg(list.as_ptr()).reads(observe::attributes_i32(list.as_ptr()));
        command.returns(handle, []);
        if kind == EGL_SYNC_REUSABLE_KHR && is_signaled(display, handle) {
            let command = emitter.command(EGL_SIGNAL_SYNC_KHR).arg(display).arg(handle);
            command.arg(EGL_SIGNALED).returns(1_u32, []);
        }
    }
    if let Some(spare) = spare {
        spare.release(emitter);
        spare.destroy(emitter);
    }
}

fn is_signaled(display: u64, sync: u64) -> bool {
    let mut status = 0;
    // SAFETY: `status` is writable, and the program has not destroyed the sync object.
    let done = unsafe { gl::egl_get_sync_attrib(display, sync, EGL_SYNC_STATUS, &raw mut status) };
    done != 0 && status == EGL_SIGNALED
}
