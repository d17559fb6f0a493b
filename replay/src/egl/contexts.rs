//! Contexts and share groups. A context that shares with an unknown context, and one that the
//! driver refuses are skipped; so are those beyond `OBJECTS_MAX` (16,384 alive at once). Attributes not in
//! `OF_CONTEXTS` are left out, `EGL_CONTEXT_OPENGL_NO_ERROR_KHR` among them. Swap intervals are clamped to 0 to 4. A context
//! of a snapshot is destroyed with the last context of its share group (`Egl::end_context`).

use super::arguments::{attributes_of, succeeded};
use crate::call::Call;
use crate::objects::egl::{Context, OBJECTS_MAX};
use crate::objects::{make_context, real_config};
use crate::skip::Outcome;
use crate::survey::{EGL_CONTEXT_OPENGL_NO_ERROR_KHR, OF_CONTEXTS, only};

/// eglCreateContext.
pub fn create(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = attributes_of(call, 3, 4);
    let list = (call.bits(3) != 0).then_some(&*attributes);
    make(call, call.u64(2), list)
}

/// Makes the context that the command made, which shares with another one of the trace, with these attributes. The display
/// is the command's first parameter.
pub(crate) fn make(call: &mut Call<'_, '_>, share: u64, list: Option<&[(i64, i64)]>) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let process = call.command.process;
    let display = call.u64(0);
    let facts = call.command.seq.and_then(|seq| call.parts.survey.context(seq));
    let config = facts.map_or(u64::MAX, |facts| facts.config);
    let is_desktop = facts.is_some_and(|facts| facts.is_desktop);
    let has_list = list.is_some();
    let attributes = list.unwrap_or_default();
    let finds_no_errors =
        attributes.iter().any(|it| *it == (i64::from(EGL_CONTEXT_OPENGL_NO_ERROR_KHR), 1));
    let attributes = only(attributes, &OF_CONTEXTS);
    let is_of_snapshot = call.command.is_setup;
    let egl = &mut call.parts.egl;
    egl.end_context((process, handle), &call.parts.names);
    let real = egl.real.as_ref().ok_or("there is no display")?;
    if egl.contexts.len() >= OBJECTS_MAX {
        return Err("the trace has more contexts than replay takes".into());
    }
    let shared = egl.contexts.get(&(process, share)).map(|shared| shared.real);
    if share != 0 && shared.is_none() {
        return Err("the context that it shares with is not known".into());
    }
    let config = real_config(real, &egl.configs, (process, config));
    let list = Some(&*attributes).filter(|_| has_list);
    let made = make_context(real, is_desktop, config, shared.unwrap_or(0), list)?;
    let scopes = call.parts.names.add_context(process, handle, (share != 0).then_some(share));
    let made = Context { display, real: made, config, finds_no_errors, scopes, is_of_snapshot };
    egl.contexts.insert((process, handle), made);
    Ok(())
}

/// eglDestroyContext. The driver keeps the context while it is current.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if call.command.result().is_none_or(|(value, _)| value.bits() != 0) {
        call.parts.egl.end_context(key, &call.parts.names);
    }
    Ok(())
}

/// eglSwapInterval. It delays swaps of windows only; the driver ignores it for pbuffers.
pub fn swap_interval(call: &mut Call<'_, '_>) -> Outcome {
    match succeeded(call) {
        true => set_swap_interval(call, call.i32(1)),
        false => Ok(()),
    }
}

/// Sets the swap interval of the surface that is current for drawing.
pub(crate) fn set_swap_interval(call: &mut Call<'_, '_>, interval: i32) -> Outcome {
    if let Some(real) = &call.parts.egl.real {
        real.set_swap_interval(interval.clamp(0, 4));
    }
    Ok(())
}
