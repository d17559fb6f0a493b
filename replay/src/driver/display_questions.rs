//! Queries of EGL that change nothing. The driver is asked what the trace asked.

use super::display::Real;
use super::egl_functions::{EGL_FALSE, EGL_NONE, Handle, call, ended};

/// Largest number of configurations that a query returns.
const CONFIGS_MAX: i32 = 4096;

impl Real {
    /// Asks for the display once more, by the function that the program called. `is_extension`
    /// selects `eglGetPlatformDisplayEXT` where a platform is named.
    pub fn get_display(&self, is_default: bool, is_extension: bool, has_list: bool) {
        let (platform, native) = self.platform;
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let wide = if has_list { wide.as_ptr() } else { std::ptr::null() };
        let narrow = if has_list { narrow.as_ptr() } else { std::ptr::null() };
        if platform == 0 || is_default && call!(self.own.get_display(0)) == self.display {
            call!(self.played.get_display(native));
        } else if is_extension && self.own.get_platform_display_ext().is_some() {
            call!(self.played.get_platform_display_ext(platform, native, narrow));
        } else {
            call!(self.played.get_platform_display(platform, native, wide));
        }
    }

    /// `eglInitialize` once more. `asks` says for major and minor whether the program passed room
    /// for them; the driver gets null where it did not.
    pub fn initialize_again(&self, asks: [bool; 2]) {
        let (mut major, mut minor) = (0, 0);
        let room =
            |asks: bool, at: &mut i32| if asks { &raw mut *at } else { std::ptr::null_mut() };
        let (major, minor) = (room(asks[0], &mut major), room(asks[1], &mut minor));
        call!(self.played.initialize(self.display, major, minor));
    }

    /// `eglBindAPI` on the calling thread; false if the driver refused.
    pub fn bind_api(&self, api: u32) -> bool {
        call!(self.played.bind_api(api)) != EGL_FALSE
    }

    /// `eglQueryAPI`.
    pub fn query_api(&self) {
        call!(self.played.query_api());
    }

    /// `eglGetError`.
    pub fn ask_error(&self) {
        call!(self.played.get_error());
    }

    /// `eglGetCurrentContext`.
    pub fn ask_current_context(&self) {
        call!(self.played.get_current_context());
    }

    /// `eglGetCurrentDisplay`.
    pub fn ask_current_display(&self) {
        call!(self.played.get_current_display());
    }

    /// `eglGetCurrentSurface`.
    pub fn ask_current_surface(&self, end: i32) {
        call!(self.played.get_current_surface(end));
    }

    /// Address that `eglGetProcAddress` returns for `name`; 0 for none.
    pub fn proc_address(&self, name: &std::ffi::CStr) -> usize {
        call!(self.played.get_proc_address(name.as_ptr()))
    }

    /// `eglChooseConfig`: matching configurations, at most `room`. With `room` `None` the driver is
    /// only asked for their number, and the result is empty.
    pub fn choose_configs(
        &self,
        attributes: Option<&[(i32, i32)]>,
        room: Option<usize>,
    ) -> Vec<Handle> {
        let list = attributes.map(ended);
        let list = list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let size = room.unwrap_or(0).min(CONFIGS_MAX as usize);
        let (mut found, mut count) = (vec![0; size], 0);
        let at = if room.is_some() { found.as_mut_ptr() } else { std::ptr::null_mut() };
        call!(self.played.choose_config(self.display, list, at, size as i32, &raw mut count));
        found.truncate(usize::try_from(count).unwrap_or(0));
        found
    }

    /// `eglGetConfigs`: configurations, with `room` as in [`Self::choose_configs`].
    pub fn ask_configs(&self, room: Option<usize>) -> Vec<Handle> {
        let size = room.unwrap_or(0).min(CONFIGS_MAX as usize);
        let (mut found, mut count) = (vec![0; size], 0);
        let at = if room.is_some() { found.as_mut_ptr() } else { std::ptr::null_mut() };
        call!(self.played.get_configs(self.display, at, size as i32, &raw mut count));
        found.truncate(usize::try_from(count).unwrap_or(0));
        found
    }

    /// `eglGetConfigAttrib`.
    pub fn ask_config_attribute(&self, config: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.get_config_attrib(self.display, config, attribute, &raw mut value));
    }

    /// `eglQuerySurface`.
    pub fn ask_surface(&self, surface: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.query_surface(self.display, surface, attribute, &raw mut value));
    }

    /// `eglQueryContext`.
    pub fn ask_context(&self, context: Handle, attribute: i32) {
        let mut value = 0;
        call!(self.played.query_context(self.display, context, attribute, &raw mut value));
    }

    /// `eglQueryString`, of the display or of `EGL_NO_DISPLAY`.
    pub fn ask_text(&self, has_display: bool, name: i32) {
        let display = if has_display { self.display } else { 0 };
        if let Some(query) = self.played.query_string() {
            // SAFETY: the function's own signature, with a display of the driver or none.
            unsafe { query(display, name) };
        }
    }
}
