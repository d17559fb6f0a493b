//! Displays of the trace, which all become one display here, and the end of a display's objects: eglTerminate destroys
//! them (with `EGL_TRACK_REFERENCES_KHR` only the last one does). The driver's display is terminated when none of the
//! trace's remains initialized and none will be, unless the trace has commands of GLX, which use it, too.

use gapii_commands::CommandId;
use gapii_commands::constants;

use super::arguments::{attributes_of, succeeded};
use crate::call::Call;
use crate::objects::egl::{Display, OBJECTS_MAX};
use crate::parts::Parts;
use crate::skip::Outcome;

const EGL_TRACK_REFERENCES_KHR: i64 = constants::EGL_TRACK_REFERENCES_KHR as i64;

/// eglGetDisplay, eglGetPlatformDisplayEXT. Replay ignores their attributes.
pub fn get(call: &mut Call<'_, '_>) -> Outcome {
    begin(call, None)
}

/// eglGetPlatformDisplay.
pub fn get_platform(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = attributes_of(call, 2, 8);
    let counted = attributes.iter().find(|(name, _)| *name == EGL_TRACK_REFERENCES_KHR);
    begin(call, counted.map(|(_, value)| *value != 0))
}

fn begin(call: &mut Call<'_, '_>, is_counted: Option<bool>) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let displays = &mut call.parts.egl.displays;
    if displays.len() >= OBJECTS_MAX {
        return Err("the trace has more displays than replay takes".into());
    }
    let display = displays.entry((call.command.process, handle)).or_default();
    display.is_counted = is_counted.unwrap_or(display.is_counted);
    let known = call.command.known();
    let is_default = known == Some(CommandId::EGL_GET_DISPLAY);
    let is_extension = known == Some(CommandId::EGL_GET_PLATFORM_DISPLAY_EXT);
    let has_list = call.bits(2) != 0;
    if let Some(real) = &call.parts.egl.real {
        real.get_display(is_default && call.bits(0) == 0, is_extension, has_list);
    }
    Ok(())
}

/// eglInitialize.
pub fn initialize(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(0));
    if succeeded(call)
        && let Some(display) = call.parts.egl.displays.get_mut(&key)
    {
        display.references += 1;
        if let Some(real) = &call.parts.egl.real {
            real.initialize_again([call.bits(1) != 0, call.bits(2) != 0]);
        }
    }
    Ok(())
}

/// eglTerminate. The display's objects are destroyed; a driver keeps a destroyed object that is
/// current until it is no longer current. The driver's display is terminated if no display of the
/// trace remains initialized and the trace initializes none later.
pub fn terminate(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(0));
    if !succeeded(call) {
        return Ok(());
    }
    let display = call.parts.egl.displays.entry(key).or_default();
    if is_last(display) {
        end(call.parts, key.0, key.1);
        let last = call.parts.survey.last_initialize;
        let egl = &mut call.parts.egl;
        let is_used = call.parts.survey.uses_glx()
            || egl.displays.values().any(|display| display.references > 0);
        if !is_used
            && call.command.seq > last
            && let Some(real) = &egl.real
        {
            real.terminate();
            egl.stand_in.clear();
        }
    }
    Ok(())
}

/// eglDestroyDisplayEXT.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let (process, display) = (call.command.process, call.u64(0));
    if succeeded(call) {
        end(call.parts, process, display);
        call.parts.egl.displays.remove(&(process, display));
    }
    Ok(())
}

/// Whether this eglTerminate ends the display. With `EGL_TRACK_REFERENCES_KHR` only the call that
/// releases the last reference does.
fn is_last(display: &mut Display) -> bool {
    if display.is_counted && display.references > 1 {
        display.references -= 1;
        return false;
    }
    display.references = 0;
    true
}

/// Destroys all objects of a display.
fn end(parts: &mut Parts, process: u32, display: u64) {
    let egl = &mut parts.egl;
    let Some(real) = egl.real.clone() else { return };
    let is_of_it = |key: &(u32, u64), of: u64| key.0 == process && of == display;
    for (_, image) in egl.images.extract_if(|key, image| is_of_it(key, image.display)) {
        real.destroy_image(image.real, false);
    }
    for (_, sync) in egl.syncs.extract_if(|key, sync| is_of_it(key, sync.display)) {
        real.destroy_sync(sync.real, false);
    }
    let surfaces = egl.surfaces.iter().filter(|(key, surface)| is_of_it(key, surface.display));
    for key in surfaces.map(|(key, _)| *key).collect::<Vec<_>>() {
        egl.destroy_surface(key);
    }
    egl.end_contexts(process, display, &parts.names);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counted_display_ends_with_its_last_reference() {
        let check = |is_counted, references, expected| {
            assert_eq!(is_last(&mut Display { is_counted, references }), expected);
        };
        check(false, 3, true);
        check(true, 3, false);
        check(true, 1, true);
        check(true, 0, true);
    }
}
