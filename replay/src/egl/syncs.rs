//! Sync objects of EGL. Only a wait, or a query of the status, that succeeded in the recording waits here, for up to 10
//! s (`WAIT_NS`); if the sync is not signalled by then, the command is skipped. After 6 such waits (`VAIN_WAITS_MAX`)
//! replay does not wait any more. A native fence becomes a plain one; other kinds of syncs are skipped.

use crate::call::Call;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants;
use gapii_commands::constants::{
    EGL_SYNC_FENCE, EGL_SYNC_NATIVE_FENCE_ANDROID, EGL_SYNC_REUSABLE_KHR,
};

use super::arguments::succeeded;
use crate::driver::{Handle, Real};
use crate::objects::egl::{OBJECTS_MAX, Sync};

const EGL_SYNC_FLUSH_COMMANDS_BIT: i32 = constants::EGL_SYNC_FLUSH_COMMANDS_BIT as i32;
const EGL_SYNC_STATUS: i32 = constants::EGL_SYNC_STATUS as i32;
const EGL_SIGNALED: i32 = constants::EGL_SIGNALED as i32;
const EGL_CONDITION_SATISFIED: i32 = constants::EGL_CONDITION_SATISFIED as i32;

/// Longest wait for one sync, in nanoseconds.
const WAIT_NS: u64 = 10_000_000_000;
/// After this number of waits that timed out, replay waits no longer (0 ns).
const VAIN_WAITS_MAX: u32 = 6;

/// eglCreateSync.
pub fn create(call: &mut Call<'_, '_>) -> Outcome {
    create_of_kind(call, true)
}

/// eglCreateSyncKHR, eglCreateSync64KHR.
pub fn create_khr(call: &mut Call<'_, '_>) -> Outcome {
    create_of_kind(call, false)
}

fn create_of_kind(call: &mut Call<'_, '_>, is_core: bool) -> Outcome {
    let kind = match call.u32(1) {
        // A native fence becomes a plain one: its file descriptor belonged to the program.
        EGL_SYNC_FENCE | EGL_SYNC_NATIVE_FENCE_ANDROID => EGL_SYNC_FENCE,
        EGL_SYNC_REUSABLE_KHR => EGL_SYNC_REUSABLE_KHR,
        kind => return refuse(call, kind),
    };
    make(call, kind, is_core)
}

/// eglCreateFenceSyncNV.
pub fn create_fence(call: &mut Call<'_, '_>) -> Outcome {
    make(call, EGL_SYNC_FENCE, false)
}

fn refuse(call: &Call<'_, '_>, kind: u32) -> Outcome {
    match succeeded(call) {
        true => Err(format!("syncs of kind {kind:#x} are not played").into()),
        false => Ok(()),
    }
}

/// Creates a sync with the function of core EGL, or with that of an extension.
fn make(call: &mut Call<'_, '_>, kind: u32, is_core: bool) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let key = (call.command.process, handle);
    let display = call.u64(0);
    let has_list = call.bits(2) != 0;
    let egl = &mut call.parts.egl;
    let real = egl.real.as_ref().ok_or("there is no display")?;
    if let Some(old) = egl.syncs.remove(&key) {
        real.destroy_sync(old.real, is_core);
    }
    if egl.syncs.len() >= OBJECTS_MAX {
        return Err("the trace has more syncs than replay takes".into());
    }
    let made = real.create_sync(kind, is_core, has_list);
    let made = made.ok_or_else(|| format!("the driver made no sync: {}", real.error()))?;
    egl.syncs.insert(key, Sync { display, real: made });
    Ok(())
}

/// eglDestroySync.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    end(call, 1, true)
}

/// eglDestroySyncKHR.
pub fn destroy_khr(call: &mut Call<'_, '_>) -> Outcome {
    end(call, 1, false)
}

/// eglDestroySyncNV, which has no display parameter.
pub fn destroy_nv(call: &mut Call<'_, '_>) -> Outcome {
    end(call, 0, false)
}

fn end(call: &mut Call<'_, '_>, index: usize, is_core: bool) -> Outcome {
    let key = (call.command.process, call.u64(index));
    if succeeded(call)
        && let Some(sync) = call.parts.egl.syncs.remove(&key)
        && let Some(real) = &call.parts.egl.real
    {
        real.destroy_sync(sync.real, is_core);
    }
    Ok(())
}

/// eglClientWaitSync. Only a wait that succeeded in the recording is repeated.
pub fn client_wait(call: &mut Call<'_, '_>) -> Outcome {
    if call.recorded_result() != Some(EGL_CONDITION_SATISFIED as u64) {
        return Ok(());
    }
    wait_for(call, 1)
}

/// eglClientWaitSyncNV.
pub fn client_wait_nv(call: &mut Call<'_, '_>) -> Outcome {
    if call.recorded_result() != Some(EGL_CONDITION_SATISFIED as u64) {
        return Ok(());
    }
    wait_for(call, 0)
}

/// eglGetSyncAttrib. If the program was told that the sync is signalled, replay waits for it: the
/// program may rely on it.
pub fn ask(call: &mut Call<'_, '_>) -> Outcome {
    let value = call.observed(3);
    let value = value.as_deref().and_then(|value| value.first_chunk());
    let value = value.map(|value| i32::from_le_bytes(*value));
    match call.i32(2) == EGL_SYNC_STATUS && succeeded(call) && value == Some(EGL_SIGNALED) {
        true => wait_for(call, 1),
        false => Ok(()),
    }
}

fn wait_for(call: &mut Call<'_, '_>, index: usize) -> Outcome {
    let has_context = call.parts.egl.current(call.command.thread).is_some();
    let flags = if has_context { EGL_SYNC_FLUSH_COMMANDS_BIT } else { 0 };
    let patience = if call.parts.egl.vain_waits < VAIN_WAITS_MAX { WAIT_NS } else { 0 };
    let (real, sync) = found(call, index)?;
    match real.client_wait_sync(sync, flags, patience) {
        EGL_CONDITION_SATISFIED => Ok(()),
        0 => Err(format!("the driver refused: {}", real.error()).into()),
        _ => {
            call.parts.egl.vain_waits += 1;
            Err("the sync was not signalled within 10 s; after six such waits replay does not wait"
                .into())
        }
    }
}

/// eglWaitSync.
pub fn wait(call: &mut Call<'_, '_>) -> Outcome {
    wait_here(call, true)
}

/// eglWaitSyncKHR.
pub fn wait_khr(call: &mut Call<'_, '_>) -> Outcome {
    wait_here(call, false)
}

fn wait_here(call: &mut Call<'_, '_>, is_core: bool) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    let (real, sync) = found(call, 1)?;
    match real.wait_sync(sync, is_core) {
        true => Ok(()),
        false => Err(format!("the driver refused: {}", real.error()).into()),
    }
}

/// eglSignalSyncKHR.
pub fn signal(call: &mut Call<'_, '_>) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    let (real, sync) = found(call, 1)?;
    match real.signal_sync(sync, call.u32(2)) {
        true => Ok(()),
        false => Err(format!("the driver refused: {}", real.error()).into()),
    }
}

fn found<'a>(call: &'a Call<'_, '_>, index: usize) -> Result<(&'a Real, Handle), Skip> {
    let egl = &call.parts.egl;
    let sync = egl.syncs.get(&(call.command.process, call.u64(index)));
    let sync = sync.ok_or("its sync is not known")?;
    Ok((egl.real.as_ref().ok_or("there is no display")?, sync.real))
}
