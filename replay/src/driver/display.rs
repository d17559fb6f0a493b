//! EGL of this machine: the one display that a replay uses, behind functions that are safe to call. Without `--window`
//! the first that can be initialized is taken: Mesa's surfaceless platform, then the EGL devices (at most 16), then the
//! default display; with `--window` it is X11's. It is terminated only when the trace terminates its display for the
//! last time and no other replay of this process has one.
//!
//! Handles are numbers that the driver gave out. No function here takes a handle from a trace.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use gapii_commands::constants;

use gapii_state::version_of;

use super::egl_functions::{
    EGL_EXTENSIONS, EGL_FALSE, EGL_NONE, Functions, GL_EXTENSIONS, GL_NUM_EXTENSIONS, GL_VERSION,
    Handle, call, owned, some,
};
use super::functions::Driver;
use super::offer::Offer;
use gapii_commands::constants::{
    EGL_PLATFORM_DEVICE_EXT, EGL_PLATFORM_SURFACELESS_MESA, EGL_PLATFORM_X11_KHR,
};

/// The EGL function by which a program asks for its display.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DisplayBy {
    /// `eglGetDisplay`, which names no platform.
    Default,
    /// `eglGetPlatformDisplay`.
    Platform,
    /// `eglGetPlatformDisplayEXT`.
    Extension,
}

/// An initialized display of this machine.
///
/// It is terminated only when the trace terminates its own display for the last time and no other
/// replay of this process has a display.
#[derive(Clone)]
pub struct Real {
    /// Functions for commands of the trace; an interceptor sees these calls.
    pub(super) played: Functions,
    /// Functions for the player's own needs.
    pub(super) own: Functions,
    pub(super) display: Handle,
    /// Platform and native display with which the display was obtained; platform 0 is the default
    /// display.
    pub(super) platform: (u32, usize),
    extensions: String,
    version: (i32, i32),
}

impl Real {
    /// Opens and initializes a display: one that needs no window system, or, if `x11` is the
    /// address of an X11 display, one with windows.
    ///
    /// `by` is the function that the trace uses; it is preferred if the driver has it. The default
    /// display is used first if the trace asks for it and `EGL_PLATFORM` is `surfaceless`.
    ///
    /// The error is a sentence that names what the driver lacks.
    pub fn open(
        driver: &Arc<Driver>,
        x11: Option<usize>,
        by: Option<DisplayBy>,
    ) -> Result<Self, String> {
        let mut real = Self {
            played: Functions { driver: driver.clone(), is_own: false },
            own: Functions { driver: driver.clone(), is_own: true },
            display: 0,
            platform: (0, 0),
            extensions: String::new(),
            version: (0, 0),
        };
        if real.own.initialize().is_none() || real.own.make_current().is_none() {
            return Err("the driver has no EGL; install one (libegl1, libegl-mesa0)".to_owned());
        }
        let client_extensions = real.text(EGL_EXTENSIONS);
        let mut platforms = match x11 {
            Some(display) => vec![(EGL_PLATFORM_X11_KHR, display)],
            None => real.platforms_without_windows(&client_extensions),
        };
        if x11.is_none() && by == Some(DisplayBy::Default) && is_without_windows_by_default() {
            platforms.insert(0, (0, 0));
        }
        for (platform, native) in platforms {
            if real.initialize(platform, native, by) {
                *open_displays() += 1;
                real.extensions = real.text(EGL_EXTENSIONS);
                return Ok(real);
            }
        }
        Err(match x11 {
            Some(_) => "the driver has no display on X11; replay without --window".to_owned(),
            None => "the driver has no display without a window system (surfaceless, device), \
                     and none by default"
                .to_owned(),
        })
    }

    /// Notes that this replay no longer uses the display.
    pub fn close(&self) {
        let mut open = open_displays();
        *open = open.saturating_sub(1);
    }

    /// `eglTerminate`, unless another replay of this process has a display, which may be the same
    /// one.
    pub fn terminate(&self) {
        let open = open_displays();
        if *open == 1 {
            call!(self.played.terminate(self.display));
        }
    }

    /// Platforms to try for a display without windows, with their native displays, best first.
    fn platforms_without_windows(&self, client_extensions: &str) -> Vec<(u32, usize)> {
        let has = |name| client_extensions.split(' ').any(|extension| extension == name);
        let mut platforms = Vec::new();
        if has("EGL_MESA_platform_surfaceless") {
            platforms.push((EGL_PLATFORM_SURFACELESS_MESA, 0));
        }
        if has("EGL_EXT_platform_device") {
            let (mut devices, mut count) = ([0; 16], 0);
            call!(self.own.query_devices(
                devices.len() as i32,
                devices.as_mut_ptr(),
                &raw mut count
            ));
            let devices = devices.iter().take(usize::try_from(count).unwrap_or(0));
            platforms.extend(devices.map(|device| (EGL_PLATFORM_DEVICE_EXT, *device)));
        }
        platforms.push((0, 0));
        platforms
    }

    /// Gets the display of a platform (0: the default display) and initializes it; false if the
    /// driver refuses.
    fn initialize(&mut self, platform: u32, native: usize, by: Option<DisplayBy>) -> bool {
        let (wide, narrow) = ([EGL_NONE as isize], [EGL_NONE]);
        let core = || call!(self.own.get_platform_display(platform, native, wide.as_ptr()));
        let ext = || call!(self.own.get_platform_display_ext(platform, native, narrow.as_ptr()));
        self.display = match (platform, by) {
            (0, _) => call!(self.own.get_display(native)),
            (_, Some(DisplayBy::Extension)) => some(ext()).unwrap_or_else(core),
            _ => some(core()).unwrap_or_else(ext),
        };
        let (mut major, mut minor) = (0, 0);
        let initialized = self.display != 0
            && call!(self.own.initialize(self.display, &raw mut major, &raw mut minor))
                != EGL_FALSE;
        self.version = (major, minor);
        self.platform = (platform, native);
        initialized
    }

    /// `eglQueryString` as a string; empty if the driver has none.
    pub(super) fn text(&self, name: i32) -> String {
        let Some(query) = self.own.query_string() else { return String::new() };
        // SAFETY: the function's own signature, with a display of the driver or none.
        let text = unsafe { query(self.display, name) };
        // SAFETY: null, or a text of the driver.
        unsafe { owned(text) }
    }

    /// Version and extensions of the calling thread's context.
    pub fn offer(&self) -> Option<Offer> {
        let (is_es, (major, minor)) = version_of(&self.gl_text(GL_VERSION)?)?;
        let extensions = match is_es || major < 3 {
            true => self.gl_text(GL_EXTENSIONS)?,
            false => self.indexed_extensions(),
        };
        Some(Offer { is_es, version: (major.into(), minor.into()), extensions })
    }

    /// Names of the extensions in a context of desktop OpenGL 3.0 or later, separated by spaces. A core profile does not
    /// have them in one text.
    fn indexed_extensions(&self) -> String {
        let mut count = 0i32;
        call!(self.own.get_integer(GL_NUM_EXTENSIONS, &raw mut count));
        let name = |at| {
            let name = call!(self.own.get_string_at(GL_EXTENSIONS, at));
            // SAFETY: null, or a NUL-terminated string of the driver.
            unsafe { owned(name as *const core::ffi::c_char) }
        };
        (0..count.cast_unsigned()).map(name).collect::<Vec<_>>().join(" ")
    }

    /// `glGetString` in the calling thread's context. Every version of OpenGL ES has the `name`s
    /// used here.
    pub(super) fn gl_text(&self, name: u32) -> Option<String> {
        let get = self.own.get_string()?;
        // SAFETY: the function's own signature; any name may be asked for.
        let text = unsafe { get(name) };
        // SAFETY: null, or a NUL-terminated string of the driver.
        (!text.is_null()).then(|| unsafe { owned(text) })
    }

    /// The same display for the player's own needs: an interceptor does not see the calls.
    pub fn unheard(&self) -> Self {
        Self { played: self.own.clone(), ..self.clone() }
    }

    /// Whether an interceptor sees the commands of the trace.
    pub fn is_intercepted(&self) -> bool {
        self.played.driver.is_intercepted()
    }

    /// Major and minor version of EGL.
    pub fn version(&self) -> (i32, i32) {
        self.version
    }

    /// Whether the display has the extension `name`.
    pub fn has_extension(&self, name: &str) -> bool {
        self.extensions.split(' ').any(|extension| extension == name)
    }

    /// Whether contexts can be created by major and minor version.
    pub fn has_minor_versions(&self) -> bool {
        self.version >= (1, 5) || self.has_extension("EGL_KHR_create_context")
    }

    /// Name of the calling thread's last EGL error (`eglGetError`), or its number if it has no
    /// name.
    pub fn error(&self) -> String {
        let error = call!(self.own.get_error());
        const NAMES: [&str; 15] = [
            "EGL_SUCCESS",
            "EGL_NOT_INITIALIZED",
            "EGL_BAD_ACCESS",
            "EGL_BAD_ALLOC",
            "EGL_BAD_ATTRIBUTE",
            "EGL_BAD_CONFIG",
            "EGL_BAD_CONTEXT",
            "EGL_BAD_CURRENT_SURFACE",
            "EGL_BAD_DISPLAY",
            "EGL_BAD_MATCH",
            "EGL_BAD_NATIVE_PIXMAP",
            "EGL_BAD_NATIVE_WINDOW",
            "EGL_BAD_PARAMETER",
            "EGL_BAD_SURFACE",
            "EGL_CONTEXT_LOST",
        ];
        let at = usize::try_from(error - constants::EGL_SUCCESS as i32).ok();
        at.and_then(|at| NAMES.get(at)).map_or_else(|| format!("{error:#x}"), |&it| it.to_owned())
    }
}

/// Number of replays of this process that have a display.
fn open_displays() -> MutexGuard<'static, usize> {
    static OPEN: Mutex<usize> = Mutex::new(0);
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether the environment makes Mesa's surfaceless platform the default display.
fn is_without_windows_by_default() -> bool {
    std::env::var_os("EGL_PLATFORM").is_some_and(|platform| platform == "surfaceless")
}
