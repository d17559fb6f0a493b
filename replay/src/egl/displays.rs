//! Displays of the trace: which there are, and the end of all that is one's.

use std::collections::BTreeSet;

use crate::call::{Call, Outcome};
use crate::survey::Survey;

use super::objects::{Display, Egl, OBJECTS_MAX};
use super::real::Real;
use super::{attributes_of, succeeded};

const EGL_TRACK_REFERENCES_KHR: i64 = 0x3352;

/// Objects of displays that not every display has: what is done with one that was made, and the
/// extensions that have them where EGL is older than 1.5.
const OPTIONAL: [(&str, &[&str], &[&str]); 2] = [
    (
        "EGL syncs",
        &["eglDestroySync", "eglClientWaitSync", "eglWaitSync"],
        &["EGL_KHR_fence_sync", "EGL_KHR_reusable_sync"],
    ),
    ("EGL images", &["eglDestroyImage"], &["EGL_KHR_image_base", "EGL_KHR_image"]),
];

/// What a display has.
struct Offer<'a> {
    version: (i32, i32),
    has_extension: &'a dyn Fn(&str) -> bool,
}

/// What the trace does with objects that the display does not have, in sentences.
pub fn missing(real: &Real, survey: &Survey) -> Vec<String> {
    let has_extension = |name: &str| real.has_extension(name);
    lacks(&survey.functions, &Offer { version: real.version(), has_extension: &has_extension })
}

fn lacks(functions: &BTreeSet<String>, offer: &Offer<'_>) -> Vec<String> {
    let is_used = |stems: &[&str]| {
        stems.iter().any(|stem| functions.iter().any(|function| function.starts_with(stem)))
    };
    let is_there = |extensions: &[&str]| {
        offer.version >= (1, 5) || extensions.iter().any(|name| (offer.has_extension)(name))
    };
    let missing = OPTIONAL.iter().filter(|(_, used, by)| is_used(used) && !is_there(by));
    let sentence = |(what, _, extensions): &(&str, &[&str], &[&str])| {
        let (major, minor) = offer.version;
        let extensions = extensions.join(" or ");
        format!(
            "the trace has {what}, which take EGL 1.5 or {extensions}; the driver has {major}.{minor}"
        )
    };
    missing.map(sentence).collect()
}

/// eglGetDisplay, eglGetPlatformDisplayEXT: their attributes mean nothing here.
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
    let name = call.command.name();
    let (is_default, is_extension) = (name == "eglGetDisplay", name.ends_with("EXT"));
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

/// eglTerminate: the display's objects go; what is current stays until it no longer is, which is what
/// the driver does when the objects are destroyed. The driver's display ends if none is initialized
/// any more.
pub fn terminate(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(0));
    if !succeeded(call) {
        return Ok(());
    }
    let display = call.parts.egl.displays.entry(key).or_default();
    if is_last(display) {
        end(&mut call.parts.egl, key.0, key.1);
        let last = call.parts.survey.last_initialize;
        let egl = &mut call.parts.egl;
        let is_used = egl.displays.values().any(|display| display.references > 0);
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
        end(&mut call.parts.egl, process, display);
        call.parts.egl.displays.remove(&(process, display));
    }
    Ok(())
}

/// Whether this eglTerminate ends the display.
fn is_last(display: &mut Display) -> bool {
    if display.is_counted && display.references > 1 {
        display.references -= 1;
        return false;
    }
    display.references = 0;
    true
}

/// All objects of a display go.
fn end(egl: &mut Egl, process: u32, display: u64) {
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
    for (_, context) in egl.contexts.extract_if(|key, context| is_of_it(key, context.display)) {
        real.destroy_context(context.real);
    }
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

    fn check(functions: &[&str], version: (i32, i32), extension: &str, expected: &[&str]) {
        let functions = functions.iter().map(|name| (*name).to_owned()).collect();
        let has_extension = |name: &str| name == extension;
        assert_eq!(lacks(&functions, &Offer { version, has_extension: &has_extension }), expected);
    }

    #[test]
    fn objects_that_a_display_lacks_are_named() {
        let images = "the trace has EGL images, which take EGL 1.5 or EGL_KHR_image_base or \
                      EGL_KHR_image; the driver has 1.4";
        check(&["eglDestroyImageKHR"], (1, 4), "", &[images]);
        check(&["eglDestroyImageKHR"], (1, 4), "EGL_KHR_image_base", &[]);
        check(&["eglDestroyImageKHR"], (1, 5), "", &[]);
        // It may have been in vain.
        check(&["eglCreateImageKHR", "eglCreateSync"], (1, 4), "", &[]);
    }
}
