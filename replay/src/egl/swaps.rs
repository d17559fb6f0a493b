//! Swaps, each of which ends a frame. The frame's picture is taken just before. A swap that failed in the recording is
//! not played. After a swap the surface gets the size that the trace tells for the next frame. A pbuffer is flushed;
//! commands that show a part of a surface are a flush, too.

use crate::call::Call;
use crate::skip::Outcome;

use super::arguments::succeeded;

/// eglSwapBuffers, eglSwapBuffersWithDamage….
pub fn swap(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if !succeeded(call) {
        return Ok(());
    }
    let egl = &mut call.parts.egl;
    let real = egl.real.as_ref().ok_or("there is no display")?;
    let surface = egl.surfaces.get_mut(&key).ok_or("its surface is not known")?;
    surface.swaps += 1;
    if surface.window.is_none() {
        // A swap of a pbuffer does nothing, so the commands are flushed as a swap of a window would
        // do.
        real.flush();
        real.swap(surface.real);
    } else if !real.swap(surface.real) {
        return Err(format!("the driver refused: {}", real.error()).into());
    }
    let (facts, swaps) = (surface.facts, surface.swaps);
    let size = facts.and_then(|facts| call.parts.survey.surfaces.get(facts)?.size(swaps));
    match size {
        Some(size) => egl.resize(key, size, call.command.thread),
        None => Ok(()),
    }
}

/// eglPostSubBufferNV, eglCopyBuffers and similar commands, which show a part of a surface. They
/// are played as a flush.
pub fn show(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if !succeeded(call) {
        return Ok(());
    }
    let egl = &call.parts.egl;
    if let Some(real) = &egl.real
        && egl.surfaces.contains_key(&key)
    {
        real.flush();
    }
    Ok(())
}

/// eglWaitClient, eglWaitGL.
pub fn wait_client(call: &mut Call<'_, '_>) -> Outcome {
    if succeeded(call)
        && let Some(real) = &call.parts.egl.real
        && call.parts.egl.current(call.command.thread).is_some()
    {
        real.wait_client();
    }
    Ok(())
}
