//! The EGL error of the thread that describes: `KeptError`. The shim's own commands of EGL replace it, so it is asked for first, and made
//! again at the end by a command that fails with it and changes nothing. Lost are errors for which there is no such command, among them
//! EGL_BAD_ALLOC and EGL_BAD_ACCESS.

use gapii_commands::constants::{
    EGL_BAD_ATTRIBUTE, EGL_BAD_CONFIG, EGL_BAD_CONTEXT, EGL_BAD_DISPLAY, EGL_BAD_MATCH,
    EGL_BAD_PARAMETER, EGL_BAD_SURFACE, EGL_CONFIG_ID, EGL_CONTEXT_MAJOR_VERSION, EGL_NONE,
    EGL_RED_SIZE, EGL_SURFACE_TYPE, EGL_VENDOR, EGL_WIDTH,
};
use gapii_state::Thread;

use crate::driver_functions as driver;

/// Holds the error until it is dropped.
pub struct KeptError {
    display: u64,
    error: u32,
}

impl KeptError {
    /// `None` if the process has no display of EGL.
    pub fn begin(thread: &Thread) -> Option<Self> {
        let (display, _) = thread.process.lock().displays.named().next()?;
        let error = driver::egl_get_error().cast_unsigned();
        Some(Self { display: display.name(), error })
    }

    /// Calls a command that fails with the error. The driver refuses handles that are 0.
    fn make(&self) {
        let display = self.display;
        match self.error {
            EGL_BAD_DISPLAY => ask_text(0, EGL_VENDOR),
            EGL_BAD_PARAMETER => ask_text(display, 0),
            EGL_BAD_CONTEXT => ask_number(display, 0, EGL_CONFIG_ID, driver::egl_query_context),
            EGL_BAD_SURFACE => ask_number(display, 0, EGL_WIDTH, driver::egl_query_surface),
            EGL_BAD_CONFIG => ask_number(display, 0, EGL_RED_SIZE, driver::egl_get_config_attrib),
            EGL_BAD_ATTRIBUTE => {
                ask_number(display, any_config(display), 0, driver::egl_get_config_attrib);
            }
            EGL_BAD_MATCH => make_bad_match(display),
            _ => {}
        }
    }
}

fn ask_text(display: u64, name: u32) {
    // SAFETY: no memory is passed.
    unsafe { driver::egl_query_string(display, name.cast_signed()) };
}

fn ask_number(
    display: u64,
    handle: u64,
    name: u32,
    ask: unsafe fn(u64, u64, i32, *mut i32) -> u32,
) {
    let mut out = 0;
    // SAFETY: a name has at most one number.
    unsafe { ask(display, handle, name.cast_signed(), &raw mut out) };
}

impl Drop for KeptError {
    fn drop(&mut self) {
        driver::egl_get_error();
        self.make();
    }
}

/// Asks for a context of a version that no API has (EGL 1.5, 3.7.1).
fn make_bad_match(display: u64) {
    let attributes = [EGL_CONTEXT_MAJOR_VERSION, 99, EGL_NONE].map(u32::cast_signed);
    // SAFETY: a list with its end.
    let context =
        unsafe { driver::egl_create_context(display, any_config(display), 0, attributes.as_ptr()) };
    if context != 0 {
        driver::egl_destroy_context(display, context);
    }
}

/// A configuration of the display; 0 if there is none.
fn any_config(display: u64) -> u64 {
    let (mut config, mut count) = (0, 0);
    let (config_at, count_at) = (&raw mut config, &raw mut count);
    // By default it would have to draw to windows.
    let wanted = [EGL_SURFACE_TYPE, 0, EGL_NONE].map(u32::cast_signed);
    // SAFETY: a list with its end, and room for one configuration.
    unsafe { driver::egl_choose_config(display, wanted.as_ptr(), config_at, 1, count_at) };
    config
}
