//! What the driver of this machine says about itself: its vendor, version, renderer and extensions, from a display without
//! windows and a context of OpenGL ES 2.
//!
//! Draws nothing.

use std::sync::Arc;

use gapii_commands::Api;
use gapii_commands::constants::{
    EGL_CLIENT_APIS, EGL_CONTEXT_CLIENT_VERSION, EGL_HEIGHT, EGL_OPENGL_ES2_BIT, EGL_PBUFFER_BIT,
    EGL_RENDERABLE_TYPE, EGL_SURFACE_TYPE, EGL_VENDOR, EGL_VERSION, EGL_WIDTH, GL_EXTENSIONS,
    GL_RENDERER, GL_VENDOR, GL_VERSION,
};

use super::display::Real;
use super::egl_functions::EGL_EXTENSIONS;
use super::functions::Driver;
use super::loader::Loader;

/// Returns the names and values of the driver's texts.
///
/// # Errors
/// A sentence: the driver has no EGL, no display or no context.
pub fn driver_texts(loader: &dyn Loader) -> Result<Vec<(&'static str, String)>, String> {
    let driver = Arc::new(Driver::load(loader, &[Api::Egl, Api::Gl]));
    let real = Real::open(&driver, None, None)?;
    let of_display = [
        ("EGL_VENDOR", EGL_VENDOR as i32),
        ("EGL_VERSION", EGL_VERSION as i32),
        ("EGL_CLIENT_APIS", EGL_CLIENT_APIS as i32),
        ("EGL_EXTENSIONS", EGL_EXTENSIONS),
    ];
    let of_display = of_display.map(|(name, value)| (name, real.text(value)));
    make_current(&real).ok_or_else(|| format!("the driver has no context: {}", real.error()))?;
    let of_context = [
        ("GL_VENDOR", GL_VENDOR),
        ("GL_RENDERER", GL_RENDERER),
        ("GL_VERSION", GL_VERSION),
        ("GL_EXTENSIONS", GL_EXTENSIONS),
    ];
    let of_context =
        of_context.map(|(name, value)| (name, real.gl_text(value).unwrap_or_default()));
    real.make_current(0, 0, 0);
    real.close();
    Ok(of_display.into_iter().chain(of_context).collect())
}

/// Makes a context of OpenGL ES 2 with a small pbuffer current.
fn make_current(real: &Real) -> Option<()> {
    let has = |config, attribute: u32, bit: u32| {
        let value = real.config_attribute(config, attribute as i32).unwrap_or(0);
        value as u32 & bit != 0
    };
    let config = real.configs().into_iter().find(|config| {
        has(*config, EGL_RENDERABLE_TYPE, EGL_OPENGL_ES2_BIT)
            && has(*config, EGL_SURFACE_TYPE, EGL_PBUFFER_BIT)
    })?;
    let version = [(EGL_CONTEXT_CLIENT_VERSION as i32, 2)];
    let context = real.create_context(config, 0, Some(&version))?;
    let size = [(EGL_WIDTH as i32, 1), (EGL_HEIGHT as i32, 1)];
    let surface = real.create_pbuffer(config, &size)?;
    real.make_current(surface, surface, context).then_some(())
}
