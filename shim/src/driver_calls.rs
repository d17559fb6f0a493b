//! The current surface and context of a thread, as the driver reports them, for observed frames and snapshots. A
//! surface is usable only if it is current for both drawing and reading and its color components are fixed-point; a
//! context only if it is one of OpenGL ES and the driver has the functions that a read-back needs.

use core::ffi::c_char;

use gapii_commands::constants;
use gapii_commands::constants::{
    GL_BACK, GL_DOUBLEBUFFER, GL_FRAMEBUFFER_COMPLETE, GL_FRONT, GL_READ_FRAMEBUFFER,
    GL_READ_FRAMEBUFFER_BINDING, GL_RGBA, GL_UNSIGNED_BYTE, GLX_HEIGHT, GLX_RENDER_TYPE,
    GLX_RGBA_TYPE, GLX_WIDTH,
};
use gapii_state::ContextApi;
use gapii_state::read_back::{Aside, Driver, NEVER};

use crate::driver_functions as driver;
use crate::generated::ids;
use crate::gl_identity::Identity;
use crate::tls::words;

const EGL_EXTENSIONS: i32 = constants::EGL_EXTENSIONS as i32;
const EGL_HEIGHT: i32 = constants::EGL_HEIGHT as i32;
const EGL_WIDTH: i32 = constants::EGL_WIDTH as i32;
const EGL_DRAW: i32 = constants::EGL_DRAW as i32;
const EGL_READ: i32 = constants::EGL_READ as i32;
const EGL_CONFIG_ID: i32 = constants::EGL_CONFIG_ID as i32;
const EGL_NONE: i32 = constants::EGL_NONE as i32;
const EGL_COLOR_COMPONENT_TYPE_EXT: i32 = constants::EGL_COLOR_COMPONENT_TYPE_EXT as i32;
const EGL_COLOR_COMPONENT_TYPE_FIXED_EXT: i32 =
    constants::EGL_COLOR_COMPONENT_TYPE_FIXED_EXT as i32;

/// The API to which a surface belongs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Of {
    Egl,
    Glx,
}

/// A surface of EGL, or a drawable of GLX, that this thread draws to and reads from.
pub struct Draw {
    of: Of,
    display: u64,
    surface: u64,
}

impl Draw {
    /// Returns the surface if it is this thread's current one for drawing and for reading, and its pixels are bytes.
    pub fn current(of: Of, display: u64, surface: u64) -> Option<Draw> {
        let ends = match of {
            Of::Egl => [EGL_DRAW, EGL_READ].map(driver::egl_get_current_surface),
            Of::Glx => {
                [driver::glx_get_current_drawable(), driver::glx_get_current_read_drawable()]
            }
        };
        if surface == 0 || ends != [surface; 2] {
            return None;
        }
        let draw = Draw { of, display, surface };
        draw.has_bytes().then_some(draw)
    }

    /// Returns width and height in pixels.
    pub fn size(&self) -> Option<[u32; 2]> {
        if self.of == Of::Glx {
            return Some([GLX_WIDTH, GLX_HEIGHT].map(|name| self.query_drawable(name)));
        }
        let [width, height] = [EGL_WIDTH, EGL_HEIGHT].map(|name| self.query(name));
        Some([u32::try_from(width?).ok()?, u32::try_from(height?).ok()?])
    }

    /// Returns an attribute of a drawable of GLX; 0 if the driver does not tell.
    fn query_drawable(&self, name: u32) -> u32 {
        let (mut value, name) = (0, name as i32);
        // SAFETY: `value` is writable, and the drawable is current.
        unsafe {
            driver::glx_query_drawable(self.display, self.surface, name, &raw mut value);
        }
        value
    }

    fn query(&self, name: i32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: `value` is writable; an invalid handle is an error.
        let done =
            unsafe { driver::egl_query_surface(self.display, self.surface, name, &raw mut value) };
        (done != 0).then_some(value)
    }

    /// Whether the components of its pixels are fixed-point numbers. Floating-point ones cannot be read as bytes.
    fn has_bytes(&self) -> bool {
        if self.of == Of::Glx {
            let (mut kind, name) = (0, GLX_RENDER_TYPE as i32);
            let context = driver::glx_get_current_context();
            // SAFETY: `kind` is writable, and the context is current.
            unsafe { driver::glx_query_context(self.display, context, name, &raw mut kind) };
            return kind as u32 == GLX_RGBA_TYPE;
        }
        if !self.display_has("EGL_EXT_pixel_format_float") {
            return true;
        }
        self.component_type() == Some(EGL_COLOR_COMPONENT_TYPE_FIXED_EXT)
    }

    fn display_has(&self, extension: &str) -> bool {
        // SAFETY: an invalid handle is an error.
        let known = unsafe { driver::egl_query_string(self.display, EGL_EXTENSIONS) };
        driver::has_word(known as *const c_char, extension)
    }

    fn component_type(&self) -> Option<i32> {
        let wanted = [EGL_CONFIG_ID, self.query(EGL_CONFIG_ID)?, EGL_NONE];
        let (mut config, mut count, mut value) = (0, 0, 0);
        let (display, outs) = (self.display, (&raw mut config, &raw mut count));
        // SAFETY: the list ends with EGL_NONE, and there is room for one configuration.
        let done =
            unsafe { driver::egl_choose_config(display, wanted.as_ptr(), outs.0, 1, outs.1) };
        if done == 0 || count != 1 {
            return None;
        }
        let name = EGL_COLOR_COMPONENT_TYPE_EXT;
        // SAFETY: the display has just given the configuration, and `value` is writable.
        let done = unsafe { driver::egl_get_config_attrib(display, config, name, &raw mut value) };
        (done != 0).then_some(value)
    }
}

/// The current context.
pub struct Gl {
    identity: Identity,
}

impl Gl {
    /// Returns the current context of the program. `None` if the thread has no such context, or if the driver lacks a
    /// function that every driver should have.
    pub fn current() -> Option<Gl> {
        if words().context_api.get() == 0 {
            return None;
        }
        Self::of_thread()
    }

    /// [`Gl::current`] on a thread that has a context which the shim made, so that the shim does not know it as the
    /// thread's current one.
    pub fn of_thread() -> Option<Gl> {
        let needed = [
            ids::GL_GET_INTEGERV,
            ids::GL_IS_ENABLED,
            ids::GL_ENABLE,
            ids::GL_DISABLE,
            ids::GL_PIXEL_STOREI,
            ids::GL_READ_PIXELS,
        ];
        if !needed.iter().all(|id| driver::has(*id)) {
            return None;
        }
        Some(Gl { identity: Identity::ask()? })
    }

    /// API and profile of the context.
    pub fn api(&self) -> ContextApi {
        self.identity.api
    }

    /// Version of the context's API: major, minor.
    pub fn version(&self) -> (u8, u8) {
        self.identity.version
    }

    /// Reads the lower left of the framebuffer as RGBA, one byte per component, while what the program has set for that is
    /// put aside.
    pub fn read_pixels(&self, _: &Aside<'_, Self>, width: u32, height: u32, out: *mut u8) {
        let (width, height) = (width as i32, height as i32);
        // SAFETY: the caller's memory has this size, and no pixel parameter that is set enlarges the image.
        unsafe {
            driver::pixels::read_pixels(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, out);
        };
    }
}

impl Driver for Gl {
    fn is_at_least(&self, es: (u8, u8), desktop: (u8, u8)) -> bool {
        let Identity { api, version, .. } = self.identity;
        api.is_es(version, es) || api.is_desktop(version, desktop)
    }

    fn has(&self, extension: &str) -> bool {
        self.identity.has(extension)
    }

    fn own_buffer(&self) -> Option<u32> {
        let is_desktop = self.identity.api != ContextApi::Es;
        is_desktop.then(|| if self.integer(GL_DOUBLEBUFFER) != 0 { GL_BACK } else { GL_FRONT })
    }

    fn has_pixel_transfer(&self) -> bool {
        self.identity.api == ContextApi::Compatibility
    }

    fn integer(&self, name: u32) -> u32 {
        let mut value = 0;
        // SAFETY: the variable has one value.
        unsafe { driver::get_integers(name, &raw mut value) };
        value as u32
    }

    fn float(&self, name: u32) -> f32 {
        let mut value = 0.0;
        // SAFETY: the variable has one value.
        unsafe { driver::get_floats(name, &raw mut value) };
        value
    }

    fn is_enabled(&self, capability: u32) -> bool {
        driver::is_enabled(capability) != 0
    }

    fn enable(&self, capability: u32, is_on: bool) {
        if is_on { driver::enable(capability) } else { driver::disable(capability) }
    }

    fn pixel_store(&self, name: u32, value: u32) {
        driver::pixel_store(name, value as i32);
    }

    fn pixel_transfer(&self, name: u32, value: f32) {
        driver::pixel_transfer(name, value);
    }

    /// glClearTexImage of Mesa 22.3 uses what the last draw or read has found. A read of no pixels is one, in a framebuffer that
    /// refuses none.
    fn settle_pixel_transfer(&self) {
        let can_read = self.is_at_least(NEVER, (3, 0))
            && self.integer(GL_READ_FRAMEBUFFER_BINDING) == 0
            && driver::check_framebuffer(GL_READ_FRAMEBUFFER) == GL_FRAMEBUFFER_COMPLETE;
        if can_read {
            let (format, kind, out) = (GL_RGBA, GL_UNSIGNED_BYTE, core::ptr::null_mut());
            // SAFETY: no pixels are written.
            unsafe { driver::pixels::read_pixels(0, 0, 0, 0, format, kind, out) };
        }
    }

    fn bind_buffer(&self, target: u32, buffer: u32) -> bool {
        driver::bind_buffer(target, buffer);
        driver::has(ids::GL_BIND_BUFFER)
    }

    fn is_buffer(&self, buffer: u32) -> bool {
        driver::is_buffer(buffer) != 0
    }

    fn bind_framebuffer(&self, target: u32, framebuffer: u32) -> bool {
        if !self.is_at_least((2, 0), (1, 0)) {
            driver::bind_framebuffer_oes(target, framebuffer);
            return driver::has(ids::GL_BIND_FRAMEBUFFER_OES);
        }
        driver::bind_framebuffer(target, framebuffer);
        driver::has(ids::GL_BIND_FRAMEBUFFER)
    }

    fn read_buffer(&self, buffer: u32) -> bool {
        if !self.is_at_least((3, 0), (1, 0)) {
            driver::read_buffer_nv(buffer);
            return driver::has(ids::GL_READ_BUFFER_NV);
        }
        driver::read_buffer(buffer);
        driver::has(ids::GL_READ_BUFFER)
    }
}
