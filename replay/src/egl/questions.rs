//! Queries of EGL. Their answers do not affect the replay and are not compared. The driver is asked nevertheless, so
//! that a recorded replay contains the program's commands. Not asked: queries that failed in the recording or name
//! unknown objects. Native pixmaps are left out of eglChooseConfig; windows become pbuffers there. At most 4,096
//! configurations are returned.

use std::ffi::CString;

use crate::call::Call;
use crate::skip::Outcome;
use gapii_commands::constants;
use gapii_commands::constants::EGL_OPENGL_ES_API;

use super::arguments::{attributes_of, succeeded};
use crate::driver::{EGL_SURFACE_TYPE, Handle, Real};

const EGL_PBUFFER_BIT: i32 = constants::EGL_PBUFFER_BIT as i32;
const EGL_PIXMAP_BIT: i32 = constants::EGL_PIXMAP_BIT as i32;
const EGL_WINDOW_BIT: i32 = constants::EGL_WINDOW_BIT as i32;
const EGL_MATCH_NATIVE_PIXMAP: i32 = constants::EGL_MATCH_NATIVE_PIXMAP as i32;
/// Largest number of configurations that a query returns.
const CONFIGS_MAX: usize = 4096;

fn real<'a>(call: &'a Call<'_, '_>) -> Option<&'a Real> {
    call.parts.egl.real.as_ref().filter(|_| succeeded(call))
}

/// eglGetProcAddress, including calls that returned null.
pub fn proc_address(call: &mut Call<'_, '_>) -> Outcome {
    let name = call.observed(0).map(|name| name.to_vec()).unwrap_or_default();
    if let (Some(real), Ok(name)) = (&call.parts.egl.real, CString::new(name)) {
        let entry = real.proc_address(&name);
        call.parts.driver.gave(name.as_bytes(), entry as *mut core::ffi::c_void);
    }
    Ok(())
}

/// eglGetError. The error that the driver returns here is the player's own and is not compared.
pub fn error(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = &call.parts.egl.real {
        real.ask_error();
    }
    Ok(())
}

/// eglBindAPI. Desktop OpenGL is bound only while a context of it is made (`objects/contexts.rs`): OpenGL ES stays bound, of
/// which replay makes contexts of its own.
pub fn bind_api(call: &mut Call<'_, '_>) -> Outcome {
    if let (Some(real), EGL_OPENGL_ES_API) = (real(call), call.u32(0)) {
        real.bind_api(EGL_OPENGL_ES_API);
    }
    Ok(())
}

/// eglQueryAPI.
pub fn api(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = real(call) {
        real.query_api();
    }
    Ok(())
}

/// eglGetCurrentContext, including calls that returned none.
pub fn current_context(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = &call.parts.egl.real {
        real.ask_current_context();
    }
    Ok(())
}

/// eglGetCurrentDisplay, including calls that returned none.
pub fn current_display(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = &call.parts.egl.real {
        real.ask_current_display();
    }
    Ok(())
}

/// eglGetCurrentSurface, including calls that returned none.
pub fn current_surface(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = &call.parts.egl.real {
        real.ask_current_surface(call.i32(0));
    }
    Ok(())
}

/// eglQueryString.
pub fn text(call: &mut Call<'_, '_>) -> Outcome {
    if let Some(real) = real(call) {
        real.ask_text(call.bits(0) != 0, call.i32(1));
    }
    Ok(())
}

/// eglChooseConfig.
pub fn choose_config(call: &mut Call<'_, '_>) -> Outcome {
    let mut attributes: Vec<_> = attributes_of(call, 1, 4)
        .into_iter()
        .map(|(name, value)| (name as i32, value as i32))
        .collect();
    attributes.retain(|(name, _)| *name != EGL_MATCH_NATIVE_PIXMAP);
    if !call.parts.window {
        with_pbuffers(&mut attributes);
    }
    let has_list = call.bits(1) != 0 || !attributes.is_empty();
    let list = Some(&*attributes).filter(|_| has_list);
    let room = room(call, 2, 3);
    let found = real(call).map(|real| real.choose_configs(list, room));
    note(call, 2, found);
    Ok(())
}

/// Replaces windows and pixmaps by pbuffers in a list for eglChooseConfig. Without EGL_SURFACE_TYPE
/// the default is windows (EGL 1.5, 3.4.1), so it is replaced too.
fn with_pbuffers(attributes: &mut Vec<(i32, i32)>) {
    let others = EGL_WINDOW_BIT | EGL_PIXMAP_BIT;
    let mut is_said = false;
    for (_, kinds) in attributes.iter_mut().filter(|(name, _)| *name == EGL_SURFACE_TYPE) {
        is_said = true;
        if *kinds & others != 0 {
            *kinds = *kinds & !others | EGL_PBUFFER_BIT;
        }
    }
    if !is_said {
        attributes.push((EGL_SURFACE_TYPE, EGL_PBUFFER_BIT));
    }
}

/// eglGetConfigs.
pub fn configs(call: &mut Call<'_, '_>) -> Outcome {
    let room = room(call, 1, 2);
    let found = real(call).map(|real| real.ask_configs(room));
    note(call, 1, found);
    Ok(())
}

/// Number of configurations for which the program passed room; `None` if it passed null.
fn room(call: &Call<'_, '_>, at: usize, size: usize) -> Option<usize> {
    let size = usize::try_from(call.i32(size)).unwrap_or(0).min(CONFIGS_MAX);
    (call.bits(at) != 0).then_some(size)
}

/// Pairs the configurations that the program was told with those that the driver returns now, in
/// the same order.
fn note(call: &mut Call<'_, '_>, index: usize, found: Option<Vec<Handle>>) {
    let Some(found) = found else { return };
    let told = call.observed(index).map(|bytes| bytes.to_vec()).unwrap_or_default();
    let told = told.as_chunks::<8>().0.iter().map(|handle| u64::from_le_bytes(*handle));
    for (told, found) in told.zip(found) {
        call.parts.egl.configs.told((call.command.process, told), found);
    }
}

/// eglGetConfigAttrib.
pub fn config_attribute(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if let Some(real) = real(call) {
        let config = call.parts.egl.configs.asked_about(key);
        real.ask_config_attribute(config, call.i32(2));
    }
    Ok(())
}

/// eglQuerySurface.
pub fn surface(call: &mut Call<'_, '_>) -> Outcome {
    let known = call.parts.egl.surfaces.get(&(call.command.process, call.u64(1)));
    if let (Some(real), Some(surface)) = (real(call), known) {
        real.ask_surface(surface.real, call.i32(2));
    }
    Ok(())
}

/// eglQueryContext.
pub fn context(call: &mut Call<'_, '_>) -> Outcome {
    let known = call.parts.egl.contexts.get(&(call.command.process, call.u64(1)));
    if let (Some(real), Some(context)) = (real(call), known) {
        real.ask_context(context.real, call.i32(2));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn configurations_of_windows_are_those_of_pbuffers() {
        let check = |before: &[(i32, i32)], after: &[(i32, i32)]| {
            let mut attributes = before.to_vec();
            with_pbuffers(&mut attributes);
            assert_eq!(attributes, after);
        };
        check(&[], &[(EGL_SURFACE_TYPE, 1)]);
        check(&[(EGL_SURFACE_TYPE, 4), (0x3024, 8)], &[(EGL_SURFACE_TYPE, 1), (0x3024, 8)]);
        check(&[(EGL_SURFACE_TYPE, 0x405)], &[(EGL_SURFACE_TYPE, 0x401)]);
        check(&[(EGL_SURFACE_TYPE, 0)], &[(EGL_SURFACE_TYPE, 0)]);
    }
}
