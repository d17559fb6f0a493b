//! Objects of the display: configurations (at most 4,096 are looked at), surfaces, contexts, syncs and images of the
//! driver. Syncs and images are made by the function that the trace used, else by its core or KHR form.

use super::display::Real;
use super::egl_functions::{EGL_FALSE, EGL_NONE, Handle, call, ended, some};

/// Largest number of configurations that replay looks at.
const CONFIGS_MAX: i32 = 4096;

impl Real {
    /// Configurations of the display in the order of `eglGetConfigs`, at most 4096.
    pub fn configs(&self) -> Vec<Handle> {
        let mut configs = vec![0; CONFIGS_MAX as usize];
        let mut count = 0;
        call!(self.own.get_configs(
            self.display,
            configs.as_mut_ptr(),
            CONFIGS_MAX,
            &raw mut count
        ));
        configs.truncate(usize::try_from(count).unwrap_or(0));
        configs
    }

    /// An attribute of a configuration; `None` if the driver does not know the attribute.
    pub fn config_attribute(&self, config: Handle, attribute: i32) -> Option<i32> {
        let mut value = 0;
        let done =
            call!(self.own.get_config_attrib(self.display, config, attribute, &raw mut value));
        (done != EGL_FALSE).then_some(value)
    }

    /// `eglCreatePbufferSurface`; `None` if the driver refused. `attributes` are pairs without the
    /// final `EGL_NONE`.
    pub fn create_pbuffer(&self, config: Handle, attributes: &[(i32, i32)]) -> Option<Handle> {
        let list = ended(attributes);
        some(call!(self.played.create_pbuffer(self.display, config, list.as_ptr())))
    }

    /// `eglCreateWindowSurface` for an X11 window; `None` if the driver refused.
    pub fn create_window(
        &self,
        config: Handle,
        window: usize,
        attributes: &[(i32, i32)],
    ) -> Option<Handle> {
        let list = ended(attributes);
        some(call!(self.played.create_window(self.display, config, window, list.as_ptr())))
    }

    /// `eglDestroySurface`. The driver keeps the surface while it is current.
    pub fn destroy_surface(&self, surface: Handle) {
        call!(self.played.destroy_surface(self.display, surface));
    }

    /// `eglSurfaceAttrib`; false if the driver refused.
    pub fn set_surface_attribute(&self, surface: Handle, attribute: i32, value: i32) -> bool {
        call!(self.played.surface_attrib(self.display, surface, attribute, value)) != EGL_FALSE
    }

    /// `eglBindTexImage`; false if the driver refused.
    pub fn bind_tex_image(&self, surface: Handle, buffer: i32) -> bool {
        call!(self.played.bind_tex_image(self.display, surface, buffer)) != EGL_FALSE
    }

    /// `eglReleaseTexImage`; false if the driver refused.
    pub fn release_tex_image(&self, surface: Handle, buffer: i32) -> bool {
        call!(self.played.release_tex_image(self.display, surface, buffer)) != EGL_FALSE
    }

    /// `eglCreateContext`; `None` if the driver refused. `config` and `share` may be 0. Without
    /// `attributes` the driver gets a null list.
    pub fn create_context(
        &self,
        config: Handle,
        share: Handle,
        attributes: Option<&[(i32, i32)]>,
    ) -> Option<Handle> {
        let list = attributes.map(ended);
        let list = list.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        some(call!(self.played.create_context(self.display, config, share, list)))
    }

    /// `eglDestroyContext`. The driver keeps the context while it is current.
    pub fn destroy_context(&self, context: Handle) {
        call!(self.played.destroy_context(self.display, context));
    }

    /// `eglMakeCurrent` on the calling thread; false if the driver refused. Three zeros release the
    /// current context.
    pub fn make_current(&self, draw: Handle, read: Handle, context: Handle) -> bool {
        call!(self.played.make_current(self.display, draw, read, context)) != EGL_FALSE
    }

    /// `eglReleaseThread` on the calling thread.
    pub fn release_thread(&self) {
        call!(self.played.release_thread());
    }

    /// `eglSwapBuffers`; false if the driver refused.
    pub fn swap(&self, surface: Handle) -> bool {
        call!(self.played.swap_buffers(self.display, surface)) != EGL_FALSE
    }

    /// `eglSwapInterval` for the surface that is current for drawing.
    pub fn set_swap_interval(&self, interval: i32) {
        call!(self.played.swap_interval(self.display, interval));
    }

    /// `glFlush` in the calling thread's context.
    pub fn flush(&self) {
        call!(self.own.flush());
    }

    /// `eglWaitClient`; false if the driver refused.
    pub fn wait_client(&self) -> bool {
        call!(self.played.wait_client()) != EGL_FALSE
    }

    /// Creates a sync; `None` if the driver refused. Uses `eglCreateSyncKHR`, or `eglCreateSync`
    /// (EGL 1.5) if `is_core` or if the driver lacks the former.
    pub fn create_sync(&self, kind: u32, is_core: bool, has_list: bool) -> Option<Handle> {
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let wide = if has_list { wide.as_ptr() } else { std::ptr::null() };
        let narrow = if has_list { narrow.as_ptr() } else { std::ptr::null() };
        let core = || some(call!(self.played.create_sync(self.display, kind, wide)));
        let khr = || some(call!(self.played.create_sync_khr(self.display, kind, narrow)));
        if is_core { core().or_else(khr) } else { khr().or_else(core) }
    }

    /// Destroys a sync. Uses `eglDestroySyncKHR`, or `eglDestroySync` (EGL 1.5) if `is_core` or if
    /// the driver lacks the former.
    pub fn destroy_sync(&self, sync: Handle, is_core: bool) {
        match self.played.destroy_sync_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.destroy_sync_khr(self.display, sync)),
            None => call!(self.played.destroy_sync(self.display, sync)),
        };
    }

    /// Result of `eglClientWaitSync` with a timeout in nanoseconds; 0 for an error.
    pub fn client_wait_sync(&self, sync: Handle, flags: i32, timeout_ns: u64) -> i32 {
        match self.played.client_wait_sync_khr() {
            Some(_) => call!(self.own.client_wait_sync_khr(self.display, sync, flags, timeout_ns)),
            None => call!(self.own.client_wait_sync(self.display, sync, flags, timeout_ns)),
        }
    }

    /// `eglWaitSync`: the driver waits for the sync before it executes later commands. False if it
    /// refused.
    pub fn wait_sync(&self, sync: Handle, is_core: bool) -> bool {
        let done = match self.played.wait_sync_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.wait_sync_khr(self.display, sync, 0)),
            None => call!(self.played.wait_sync(self.display, sync, 0)),
        };
        done != 0
    }

    /// `eglSignalSyncKHR`; false if the driver refused.
    pub fn signal_sync(&self, sync: Handle, mode: u32) -> bool {
        call!(self.played.signal_sync(self.display, sync, mode)) != EGL_FALSE
    }

    /// Creates an image of an object of `context`, which `buffer` names; `None` if the driver
    /// refused. Uses `eglCreateImageKHR`, or `eglCreateImage` (EGL 1.5) if `is_core` or if the
    /// driver lacks the former.
    pub fn create_image(
        &self,
        context: Handle,
        target: u32,
        buffer: u32,
        attributes: Option<&[(i32, i32)]>,
        is_core: bool,
    ) -> Option<Handle> {
        let narrow = attributes.map(ended);
        let wide: Option<Vec<isize>> =
            narrow.as_ref().map(|list| list.iter().map(|word| *word as isize).collect());
        let narrow = narrow.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let wide = wide.as_ref().map_or(std::ptr::null(), |list| list.as_ptr());
        let (display, buffer) = (self.display, buffer as usize);
        let core = || some(call!(self.played.create_image(display, context, target, buffer, wide)));
        let khr =
            || some(call!(self.played.create_image_khr(display, context, target, buffer, narrow)));
        if is_core { core().or_else(khr) } else { khr().or_else(core) }
    }

    /// Destroys an image. Uses `eglDestroyImageKHR`, or `eglDestroyImage` (EGL 1.5) if `is_core` or
    /// if the driver lacks the former.
    pub fn destroy_image(&self, image: Handle, is_core: bool) {
        match self.played.destroy_image_khr().filter(|_| !is_core) {
            Some(_) => call!(self.played.destroy_image_khr(self.display, image)),
            None => call!(self.played.destroy_image(self.display, image)),
        };
    }
}
