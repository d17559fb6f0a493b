//! Which context and surfaces are current on which thread. A context or surface that another thread still has is
//! released there first. If an eglMakeCurrent cannot be played, the thread has no current context, and its later GL
//! commands are skipped. Without a surface the driver gets a pbuffer of 1 by 1 if it has no
//! EGL_KHR_surfaceless_context.
//!
//! A trace has a context on one thread at a time. The recorded driver may have released a context
//! before the releasing thread returned from its call. So replay releases a context on the thread
//! that has it before another thread gets it. Threads of GLX may share a drawable, so what a thread lost with its drawable
//! alone becomes current again before its next command (`regain`).

use crate::call::Call;
use crate::parts::Parts;
use crate::skip::{Outcome, Skip};

use super::arguments::succeeded;
use crate::driver::{EGL_HEIGHT, EGL_WIDTH, Handle, Real};
use crate::objects::egl::{Current, Egl};

/// eglMakeCurrent.
pub fn make_current(call: &mut Call<'_, '_>) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    make(call, (call.u64(1), call.u64(2), call.u64(3)))
}

/// Makes a draw surface, a read surface and a context of the trace current on the calling thread; releases what is current
/// if there is no context.
pub(crate) fn make(call: &mut Call<'_, '_>, handles: (u64, u64, u64)) -> Outcome {
    let (thread, process) = (call.command.thread, call.command.process);
    call.parts.egl.taken.remove(&thread);
    if handles.2 == 0 {
        release(call.parts, thread);
        return Ok(());
    }
    let result = begin(call.parts, thread, process, handles);
    if result.is_err() {
        // Nothing may be drawn to the surface that was current before.
        release(call.parts, thread);
    }
    result
}

/// Makes current again what another thread has taken from the calling thread.
pub(crate) fn regain(parts: &mut Parts, thread: u32) -> Outcome {
    match parts.egl.taken.remove(&thread) {
        Some(it) => begin(parts, thread, it.process, (it.draw, it.read, it.context)),
        None => Ok(()),
    }
}

fn begin(parts: &mut Parts, thread: u32, process: u32, handles: (u64, u64, u64)) -> Outcome {
    let (draw, read, context) = handles;
    let wanted = wanted(&mut parts.egl, process, handles)?;
    let holds = |current: &Current| {
        let is_held = |handle: Handle| {
            handle != 0 && (handle == current.real_draw || handle == current.real_read)
        };
        current.real_context == wanted.2 || is_held(wanted.0) || is_held(wanted.1)
    };
    let others = parts.egl.currents.iter().filter(|(other, it)| **other != thread && holds(it));
    for (other, current) in others.map(|(other, it)| (*other, *it)).collect::<Vec<_>>() {
        take_from(parts, other);
        if current.real_context != wanted.2 {
            parts.egl.taken.insert(other, current);
        }
    }
    let made = parts.egl.contexts.get(&(process, context));
    let finds_no_errors = made.is_some_and(|context| context.finds_no_errors);
    let scopes = made.map(|context| context.scopes);
    let real = parts.egl.real.as_ref().ok_or("there is no display")?;
    let (real_draw, real_read, real_context) = wanted;
    if !real.make_current(real_draw, real_read, real_context) {
        return Err(format!("the driver refused: {}", real.error()).into());
    }
    let current = Current {
        process,
        context,
        group: scopes.map_or(0, |scopes| scopes.group),
        draw,
        read,
        finds_no_errors,
        real_context,
        real_draw,
        real_read,
    };
    parts.egl.currents.insert(thread, current);
    if let Some(scopes) = scopes {
        // Asked while no list is compiled: there, the question can be an error.
        parts.facts(scopes);
    }
    Ok(())
}

/// The driver's draw surface, read surface and context for those of the trace.
fn wanted(
    egl: &mut Egl,
    process: u32,
    (draw, read, context): (u64, u64, u64),
) -> Result<(Handle, Handle, Handle), Skip> {
    let real = egl.real.as_ref().ok_or("there is no display")?;
    let known = egl.contexts.get(&(process, context)).ok_or("its context is not known")?;
    let (context, config) = (known.real, known.config);
    let surface = |handle: u64| match handle {
        0 => Ok(0),
        _ => {
            let found = egl.surfaces.get(&(process, handle)).map(|surface| surface.real);
            found.ok_or(Skip::from("its surface is not known"))
        }
    };
    let (draw, read) = (surface(draw)?, surface(read)?);
    if draw != 0 || real.has_extension("EGL_KHR_surfaceless_context") {
        return Ok((draw, read, context));
    }
    let made = match egl.stand_in.get(&context) {
        Some(made) => *made,
        None => real
            .create_pbuffer(config, &[(EGL_WIDTH, 1), (EGL_HEIGHT, 1)])
            .ok_or("the driver has no contexts without surfaces, and made no small surface")?,
    };
    egl.stand_in.insert(context, made);
    Ok((made, made, context))
}

/// Releases what is current on another thread. That thread is between calls, or it has ended.
fn take_from(parts: &mut Parts, thread: u32) {
    parts.egl.currents.remove(&thread);
    if let Some(real) = parts.egl.real.clone() {
        parts.threads.run_on(thread, move || {
            real.make_current(0, 0, 0);
        });
    }
}

/// Releases what is current on the calling thread.
fn release(parts: &mut Parts, thread: u32) {
    parts.egl.currents.remove(&thread);
    if let Some(real) = &parts.egl.real {
        real.make_current(0, 0, 0);
    }
}

/// eglReleaseThread.
pub fn release_thread(call: &mut Call<'_, '_>) -> Outcome {
    if succeeded(call) {
        call.parts.egl.currents.remove(&call.command.thread);
        call.parts.egl.taken.remove(&call.command.thread);
        if let Some(real) = &call.parts.egl.real {
            real.release_thread();
        }
    }
    Ok(())
}

/// Releases what is current on `thread`, which has played its last command. `here` is the calling thread.
pub fn end_thread(parts: &mut Parts, here: u32, thread: u32) {
    parts.egl.currents.remove(&thread);
    parts.egl.taken.remove(&thread);
    if thread != here {
        let real = parts.egl.real.clone();
        parts.threads.run_on(thread, move || {
            if let Some(real) = real.as_ref().map(Real::unheard) {
                real.release_thread();
            }
        });
    } else if let Some(real) = parts.egl.real.as_ref().map(Real::unheard) {
        real.release_thread();
    }
}
