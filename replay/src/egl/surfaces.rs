//! Surfaces of EGL. Windows and pixmaps become pbuffers, unless `--window` asks for windows. A window's size is that of
//! the survey; a surface whose size the trace does not tell is 256 by 256 pixels (`SIZE_UNKNOWN`). Skipped: surfaces
//! with a side over 16,384 pixels (`SIDE_MAX`), with more than 134,217,728 pixels together (`PIXELS_MAX`), and more
//! than 16,384 at once.

use crate::call::Call;
use crate::skip::{Outcome, Skip};
use gapii_commands::constants;

use super::arguments::{attributes_of, succeeded};
use crate::driver::Window;
use crate::driver::{EGL_HEIGHT, EGL_WIDTH, Handle, Real};
use crate::objects::egl::{Egl, Key, OBJECTS_MAX, PIXELS_MAX, Surface};
use crate::survey::only;

const EGL_MIPMAP_TEXTURE: i32 = constants::EGL_MIPMAP_TEXTURE as i32;
const EGL_TEXTURE_FORMAT: i32 = constants::EGL_TEXTURE_FORMAT as i32;
const EGL_TEXTURE_TARGET: i32 = constants::EGL_TEXTURE_TARGET as i32;
const EGL_MIPMAP_LEVEL: i32 = constants::EGL_MIPMAP_LEVEL as i32;
const EGL_MULTISAMPLE_RESOLVE: i32 = constants::EGL_MULTISAMPLE_RESOLVE as i32;
const EGL_GL_COLORSPACE: i32 = constants::EGL_GL_COLORSPACE as i32;

/// Attributes that the driver gets for windows and pixmaps.
const OF_ANY: [i32; 1] = [EGL_GL_COLORSPACE];
/// Attributes that the driver gets for pbuffers.
const OF_PBUFFERS: [i32; 6] = [
    EGL_GL_COLORSPACE,
    EGL_MIPMAP_TEXTURE,
    EGL_TEXTURE_FORMAT,
    EGL_TEXTURE_TARGET,
    EGL_WIDTH,
    EGL_HEIGHT,
];

/// Longest side of a surface, in pixels.
const SIDE_MAX: u32 = 16384;
/// Width and height of a surface whose size is not in the trace.
const SIZE_UNKNOWN: (u32, u32) = (256, 256);

/// eglCreateWindowSurface, eglCreatePlatformWindowSurfaceEXT.
pub fn create_window(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = only(&attributes_of(call, 3, 4), &OF_ANY);
    create(call, attributes, Sort::Window)
}

/// eglCreatePlatformWindowSurface.
pub fn create_window_wide(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = only(&attributes_of(call, 3, 8), &OF_ANY);
    create(call, attributes, Sort::Window)
}

/// eglCreatePixmapSurface and its variants. A pixmap becomes a pbuffer: only the program would see
/// the pixmap's content.
pub fn create_pixmap(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = only(&attributes_of(call, 3, 4), &OF_ANY);
    create(call, attributes, Sort::Pbuffer)
}

/// eglCreatePlatformPixmapSurface.
pub fn create_pixmap_wide(call: &mut Call<'_, '_>) -> Outcome {
    let attributes = only(&attributes_of(call, 3, 8), &OF_ANY);
    create(call, attributes, Sort::Pbuffer)
}

/// eglCreatePbufferSurface.
pub fn create_pbuffer(call: &mut Call<'_, '_>) -> Outcome {
    // The list keeps EGL_WIDTH and EGL_HEIGHT, so that they stay at the program's place in it.
    let attributes = only(&attributes_of(call, 2, 4), &OF_PBUFFERS);
    create(call, attributes, Sort::Pbuffer)
}

/// Kind of the driver's surface.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    Window,
    Pbuffer,
}

/// Makes the surface that the command made.
pub(crate) fn create(call: &mut Call<'_, '_>, attributes: Vec<(i32, i32)>, sort: Sort) -> Outcome {
    let Some(handle) = call.recorded_result().filter(|handle| *handle != 0) else { return Ok(()) };
    let facts = call.command.seq.and_then(|seq| call.parts.survey.surface(seq));
    create_as(call, handle, facts, attributes, sort)
}

/// Makes a surface for one of the trace, of which the survey has facts. Its display is the command's first parameter.
pub(crate) fn create_as(
    call: &mut Call<'_, '_>,
    handle: u64,
    facts: Option<usize>,
    attributes: Vec<(i32, i32)>,
    sort: Sort,
) -> Outcome {
    let (process, display) = (call.command.process, call.u64(0));
    let config = facts.map(|facts| call.parts.survey.surfaces[facts].config);
    let size = facts.and_then(|facts| call.parts.survey.surfaces[facts].size(0));
    let size = checked(size.unwrap_or(SIZE_UNKNOWN))?;
    let egl = &mut call.parts.egl;
    egl.destroy_surface((process, handle));
    if egl.surfaces.len() >= OBJECTS_MAX || egl.pixels + pixels(size) > PIXELS_MAX {
        return Err("the trace has more or larger surfaces than replay takes".into());
    }
    let real = egl.real.as_ref().ok_or("there is no display")?;
    let config = egl.configs.find((process, config.unwrap_or(0)));
    let window = match (&egl.windows, sort) {
        (Some(windows), Sort::Window) => Some(windows.create(real, config, size)?),
        _ => None,
    };
    let made = make(real, config, size, &attributes, window.as_ref())?;
    let surface =
        Surface { display, real: made, config, size, attributes, facts, swaps: 0, window };
    egl.pixels += pixels(size);
    egl.surfaces.insert((process, handle), surface);
    Ok(())
}

fn checked(size: (u32, u32)) -> Result<(u32, u32), Skip> {
    match (1..=SIDE_MAX).contains(&size.0) && (1..=SIDE_MAX).contains(&size.1) {
        true => Ok(size),
        false => Err(format!("a surface of {} by {} is not possible here", size.0, size.1).into()),
    }
}

fn pixels(size: (u32, u32)) -> u64 {
    u64::from(size.0) * u64::from(size.1)
}

/// Creates a surface of the driver: of `window` if it is given, else a pbuffer of `size` pixels.
fn make(
    real: &Real,
    config: Handle,
    size: (u32, u32),
    attributes: &[(i32, i32)],
    window: Option<&Window>,
) -> Result<Handle, Skip> {
    if let Some(window) = window {
        let made = real.create_window(config, window.id(), attributes);
        return made.ok_or_else(|| {
            format!("the driver made no surface of a window: {}", real.error()).into()
        });
    }
    let all = with_size(attributes, size);
    let made = real.create_pbuffer(config, &all);
    made.ok_or_else(|| {
        format!("the driver made no pbuffer of {} by {}: {}", size.0, size.1, real.error()).into()
    })
}

/// Attributes of a pbuffer, with its width and height set to `size`.
fn with_size(attributes: &[(i32, i32)], size: (u32, u32)) -> Vec<(i32, i32)> {
    let mut all = attributes.to_vec();
    for (name, value) in [(EGL_HEIGHT, size.1), (EGL_WIDTH, size.0)] {
        let mut known = false;
        for attribute in all.iter_mut().filter(|attribute| attribute.0 == name) {
            (attribute.1, known) = (value as i32, true);
        }
        if !known {
            all.insert(0, (name, value as i32));
        }
    }
    all
}

/// eglDestroySurface. The driver keeps the surface while it is current.
pub fn destroy(call: &mut Call<'_, '_>) -> Outcome {
    let key = (call.command.process, call.u64(1));
    if succeeded(call) {
        call.parts.egl.destroy_surface(key);
    }
    Ok(())
}

/// eglSurfaceAttrib.
pub fn set_attribute(call: &mut Call<'_, '_>) -> Outcome {
    let (attribute, value) = (call.i32(2), call.i32(3));
    if !succeeded(call) || ![EGL_MIPMAP_LEVEL, EGL_MULTISAMPLE_RESOLVE].contains(&attribute) {
        return Ok(());
    }
    let (real, surface) = found(call, 1)?;
    match real.set_surface_attribute(surface, attribute, value) {
        true => Ok(()),
        false => Err(format!("the driver refused: {}", real.error()).into()),
    }
}

/// eglBindTexImage.
pub fn bind_tex_image(call: &mut Call<'_, '_>) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    let (real, surface) = found(call, 1)?;
    match real.bind_tex_image(surface, call.i32(2)) {
        true => Ok(()),
        false => Err(format!("the driver refused: {}", real.error()).into()),
    }
}

/// eglReleaseTexImage.
pub fn release_tex_image(call: &mut Call<'_, '_>) -> Outcome {
    if !succeeded(call) {
        return Ok(());
    }
    let (real, surface) = found(call, 1)?;
    match real.release_tex_image(surface, call.i32(2)) {
        true => Ok(()),
        false => Err(format!("the driver refused: {}", real.error()).into()),
    }
}

fn found<'a>(call: &'a Call<'_, '_>, index: usize) -> Result<(&'a Real, Handle), Skip> {
    let egl = &call.parts.egl;
    let surface = egl.surfaces.get(&(call.command.process, call.u64(index)));
    let surface = surface.ok_or("its surface is not known")?;
    Ok((egl.real.as_ref().ok_or("there is no display")?, surface.real))
}

impl Egl {
    /// Forgets and destroys a surface. The driver keeps the surface while it is current.
    pub(crate) fn destroy_surface(&mut self, key: Key) {
        let (Some(surface), Some(real)) = (self.surfaces.remove(&key), &self.real) else { return };
        self.pixels -= pixels(surface.size);
        real.destroy_surface(surface.real);
        if let (Some(window), Some(windows)) = (surface.window, &self.windows) {
            windows.destroy(&window);
        }
    }

    /// Gives a surface another size in pixels. The surface is current on `thread`, which is the
    /// calling thread, or nowhere.
    pub(super) fn resize(&mut self, key: Key, size: (u32, u32), thread: u32) -> Outcome {
        let size = checked(size)?;
        let (Some(surface), Some(real)) = (self.surfaces.get_mut(&key), &self.real) else {
            return Ok(());
        };
        if surface.size == size {
            return Ok(());
        }
        if self.pixels - pixels(surface.size) + pixels(size) > PIXELS_MAX {
            return Err("the trace has larger surfaces than replay takes".into());
        }
        if let (Some(window), Some(windows)) = (&surface.window, &self.windows) {
            windows.resize(window, size);
        } else {
            let made = make(real, surface.config, size, &surface.attributes, None)?;
            let old = std::mem::replace(&mut surface.real, made);
            if let Some(current) = self.currents.get_mut(&thread) {
                let instead = |handle| if handle == old { made } else { handle };
                let (draw, read) = (instead(current.real_draw), instead(current.real_read));
                if (draw, read) != (current.real_draw, current.real_read)
                    && real.make_current(draw, read, current.real_context)
                {
                    (current.real_draw, current.real_read) = (draw, read);
                }
            }
            real.destroy_surface(old);
        }
        self.pixels = self.pixels - pixels(surface.size) + pixels(size);
        surface.size = size;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pbuffer_size_keeps_its_place_in_the_list() {
        let check = |attributes: &[(i32, i32)], expected: &[(i32, i32)]| {
            assert_eq!(with_size(attributes, (4, 3)), expected);
        };
        check(&[], &[(EGL_WIDTH, 4), (EGL_HEIGHT, 3)]);
        check(
            &[(EGL_HEIGHT, 9), (EGL_GL_COLORSPACE, 7), (EGL_WIDTH, 9)],
            &[(EGL_HEIGHT, 3), (EGL_GL_COLORSPACE, 7), (EGL_WIDTH, 4)],
        );
    }

    #[test]
    fn surface_without_area_or_of_any_size_is_refused() {
        assert!(checked((1, SIDE_MAX)).is_ok());
        for size in [(0, 1), (1, 0), (SIDE_MAX + 1, 1), (1, u32::MAX)] {
            assert!(checked(size).is_err(), "{size:?}");
        }
    }
}
