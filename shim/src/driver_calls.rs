//! The driver's own functions, for what the shim asks it by itself: surfaces and their pixels.
//!
//! Never through the table: nothing of it is recorded. Each is called with a context of OpenGL ES
//! current, and with what that context knows.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use gapii_state::read_back::Driver;

use crate::generated::ids;
use crate::limits::parse_version;
use crate::table::{self, Code};
use crate::thread::OPENGL_ES_API;
use crate::tls::words;

const EGL_EXTENSIONS: i32 = 0x3055;
const EGL_HEIGHT: i32 = 0x3056;
const EGL_WIDTH: i32 = 0x3057;
const EGL_DRAW: i32 = 0x3059;
const EGL_READ: i32 = 0x305A;
const EGL_CONFIG_ID: i32 = 0x3028;
const EGL_NONE: i32 = 0x3038;
const EGL_COLOR_COMPONENT_TYPE_EXT: i32 = 0x3339;
const EGL_COLOR_COMPONENT_TYPE_FIXED_EXT: i32 = 0x333A;
const GL_VERSION: u32 = 0x1F02;
const GL_EXTENSIONS: u32 = 0x1F03;
const GL_UNSIGNED_BYTE: u32 = 0x1401;
const GL_RGBA: u32 = 0x1908;

type Handle = *mut c_void;

/// Declares a function that finds the driver's, of that signature.
macro_rules! driver_functions {
    ($($name:ident, $id:ident: fn($($param:ty),*) $(-> $result:ty)?;)*) => {$(
        fn $name() -> Option<unsafe extern "C" fn($($param),*) $(-> $result)?> {
            let code = table::driver(ids::$id);
            // SAFETY: the driver's function for the command has the command's signature.
            (!code.is_null()).then(|| unsafe { core::mem::transmute::<Code, _>(code) })
        }
    )*};
}

driver_functions! {
    egl_get_current_surface, EGL_GET_CURRENT_SURFACE: fn(i32) -> Handle;
    egl_query_surface, EGL_QUERY_SURFACE: fn(Handle, Handle, i32, *mut i32) -> u32;
    egl_query_string, EGL_QUERY_STRING: fn(Handle, i32) -> *const c_char;
    egl_choose_config, EGL_CHOOSE_CONFIG: fn(Handle, *const i32, *mut Handle, i32, *mut i32) -> u32;
    egl_get_config_attrib, EGL_GET_CONFIG_ATTRIB: fn(Handle, Handle, i32, *mut i32) -> u32;
    gl_get_string, GL_GET_STRING: fn(u32) -> *const c_char;
    gl_get_integer, GL_GET_INTEGERV: fn(u32, *mut i32);
    gl_is_enabled, GL_IS_ENABLED: fn(u32) -> u8;
    gl_enable, GL_ENABLE: fn(u32);
    gl_disable, GL_DISABLE: fn(u32);
    gl_pixel_store, GL_PIXEL_STOREI: fn(u32, i32);
    gl_is_buffer, GL_IS_BUFFER: fn(u32) -> u8;
    gl_bind_buffer, GL_BIND_BUFFER: fn(u32, u32);
    gl_bind_framebuffer, GL_BIND_FRAMEBUFFER: fn(u32, u32);
    gl_bind_framebuffer_oes, GL_BIND_FRAMEBUFFER_OES: fn(u32, u32);
    gl_read_buffer, GL_READ_BUFFER: fn(u32);
    gl_read_buffer_nv, GL_READ_BUFFER_NV: fn(u32);
    gl_read_pixels, GL_READ_PIXELS: fn(i32, i32, i32, i32, u32, u32, *mut u8);
}

/// A surface that this thread draws to and reads from.
pub struct Draw {
    display: Handle,
    surface: Handle,
}

impl Draw {
    /// `None`: the surface is not current here, for reading too, or has pixels that are not bytes.
    pub fn current(display: Handle, surface: Handle) -> Option<Draw> {
        let current = egl_get_current_surface()?;
        for end in [EGL_DRAW, EGL_READ] {
            // SAFETY: has no duties.
            if surface.is_null() || unsafe { current(end) } != surface {
                return None;
            }
        }
        let draw = Draw { display, surface };
        draw.has_bytes().then_some(draw)
    }

    /// Width and height in pixels.
    pub fn size(&self) -> Option<[u32; 2]> {
        let [width, height] = [EGL_WIDTH, EGL_HEIGHT].map(|name| self.query(name));
        Some([u32::try_from(width?).ok()?, u32::try_from(height?).ok()?])
    }

    fn query(&self, name: i32) -> Option<i32> {
        let mut value = 0;
        // SAFETY: `value` is writable; a handle that is none is an error.
        let done =
            unsafe { egl_query_surface()?(self.display, self.surface, name, &raw mut value) };
        (done != 0).then_some(value)
    }

    /// Whether its pixels are fixed-point numbers, which alone are read as bytes.
    fn has_bytes(&self) -> bool {
        if !self.display_has("EGL_EXT_pixel_format_float") {
            return true;
        }
        self.component_type() == Some(EGL_COLOR_COMPONENT_TYPE_FIXED_EXT)
    }

    fn display_has(&self, extension: &str) -> bool {
        let Some(ask) = egl_query_string() else { return false };
        // SAFETY: a handle that is none is an error.
        has_word(unsafe { ask(self.display, EGL_EXTENSIONS) }, extension)
    }

    fn component_type(&self) -> Option<i32> {
        let wanted = [EGL_CONFIG_ID, self.query(EGL_CONFIG_ID)?, EGL_NONE];
        let (mut config, mut count, mut value) = (ptr::null_mut(), 0, 0);
        let choose = egl_choose_config()?;
        let (display, outs) = (self.display, (&raw mut config, &raw mut count));
        // SAFETY: the list ends with EGL_NONE, and there is room for one configuration.
        let done = unsafe { choose(display, wanted.as_ptr(), outs.0, 1, outs.1) };
        if done == 0 || count != 1 {
            return None;
        }
        let ask = egl_get_config_attrib()?;
        // SAFETY: the display has just given the configuration, and `value` is writable.
        let done = unsafe { ask(display, config, EGL_COLOR_COMPONENT_TYPE_EXT, &raw mut value) };
        (done != 0).then_some(value)
    }
}

/// The context of OpenGL ES that is current.
pub struct Gl {
    version: (u8, u8),
    extensions: *const c_char,
}

impl Gl {
    /// `None`: there is none, or the driver lacks what every one has.
    pub fn current() -> Option<Gl> {
        // SAFETY: this thread's own words.
        if unsafe { (*words()).context_api } != OPENGL_ES_API {
            return None;
        }
        let needed = [
            ids::GL_GET_INTEGERV,
            ids::GL_IS_ENABLED,
            ids::GL_ENABLE,
            ids::GL_DISABLE,
            ids::GL_PIXEL_STOREI,
            ids::GL_READ_PIXELS,
        ];
        if needed.iter().any(|id| table::driver(*id).is_null()) {
            return None;
        }
        let text = gl_get_string()?;
        // SAFETY: a context is current.
        let version = unsafe { text(GL_VERSION) };
        if version.is_null() {
            return None;
        }
        // SAFETY: the driver gives zero-terminated text that stays.
        let version = parse_version(unsafe { CStr::from_ptr(version) }.to_str().ok()?)?;
        // SAFETY: a context is current.
        Some(Gl { version, extensions: unsafe { text(GL_EXTENSIONS) } })
    }

    /// Reads the lower left of the framebuffer as RGBA, a byte for each.
    pub fn read_pixels(&self, width: u32, height: u32, out: *mut u8) {
        let Some(read) = gl_read_pixels() else { return };
        let (width, height) = (width as i32, height as i32);
        // SAFETY: the caller's memory is as large, and nothing that is set makes more of it.
        unsafe { read(0, 0, width, height, GL_RGBA, GL_UNSIGNED_BYTE, out) };
    }
}

impl Driver for Gl {
    fn version(&self) -> (u8, u8) {
        self.version
    }

    fn has(&self, extension: &str) -> bool {
        has_word(self.extensions, extension)
    }

    fn integer(&self, name: u32) -> u32 {
        let mut value = 0;
        if let Some(get) = gl_get_integer() {
            // SAFETY: a context is current, and the name is of one number.
            unsafe { get(name, &raw mut value) };
        }
        value as u32
    }

    fn is_enabled(&self, capability: u32) -> bool {
        // SAFETY: a context is current.
        gl_is_enabled().is_some_and(|ask| unsafe { ask(capability) } != 0)
    }

    fn enable(&self, capability: u32, is_on: bool) {
        if let Some(set) = if is_on { gl_enable() } else { gl_disable() } {
            // SAFETY: a context is current.
            unsafe { set(capability) };
        }
    }

    fn pixel_store(&self, name: u32, value: u32) {
        if let Some(set) = gl_pixel_store() {
            // SAFETY: a context is current.
            unsafe { set(name, value as i32) };
        }
    }

    fn bind_buffer(&self, target: u32, buffer: u32) -> bool {
        // SAFETY: a context is current.
        gl_bind_buffer().map(|bind| unsafe { bind(target, buffer) }).is_some()
    }

    fn is_buffer(&self, buffer: u32) -> bool {
        // SAFETY: a context is current.
        gl_is_buffer().is_some_and(|ask| unsafe { ask(buffer) } != 0)
    }

    fn bind_framebuffer(&self, target: u32, framebuffer: u32) -> bool {
        let bind =
            if self.version.0 < 2 { gl_bind_framebuffer_oes() } else { gl_bind_framebuffer() };
        // SAFETY: a context is current.
        bind.map(|bind| unsafe { bind(target, framebuffer) }).is_some()
    }

    fn read_buffer(&self, buffer: u32) -> bool {
        let set = if self.version.0 < 3 { gl_read_buffer_nv() } else { gl_read_buffer() };
        // SAFETY: a context is current.
        set.map(|set| unsafe { set(buffer) }).is_some()
    }
}

/// Whether a word is in the driver's text of words; null has none.
fn has_word(text: *const c_char, word: &str) -> bool {
    if text.is_null() {
        return false;
    }
    // SAFETY: the driver gives zero-terminated text that stays.
    let text = unsafe { CStr::from_ptr(text) }.to_bytes();
    text.split(|byte| *byte == b' ').any(|known| known == word.as_bytes())
}
