//! The driver of this system: libEGL, libGLESv2 and Level Zero's loader (libze_loader.so.1), each opened when the trace
//! first needs it. If libEGL is gapii's own, the driver is searched below it. A missing library ends the replay before
//! it begins, with the package to install.

use std::ffi::{CStr, CString, c_void};
use std::ptr::NonNull;
use std::sync::OnceLock;

use gapii_commands::Api;

use super::libraries::{Interceptor, Libraries, Library, LoadError, api_of};
use super::loader::Loader;

const LEVEL_ZERO: &CStr = c"libze_loader.so.1";

/// The libraries of this system. Each is opened at the first look-up of one of its functions.
#[derive(Default)]
pub struct SystemLoader {
    graphics: OnceLock<Result<Graphics, LoadError>>,
    level_zero: OnceLock<Result<Library, LoadError>>,
}

/// Libraries of EGL and OpenGL ES.
struct Graphics {
    driver: Libraries,
    interceptor: Option<Interceptor>,
}

impl SystemLoader {
    fn graphics(&self) -> Result<&Graphics, &LoadError> {
        self.graphics.get_or_init(Graphics::open).as_ref()
    }

    fn level_zero(&self) -> Result<&Library, &LoadError> {
        let open = || {
            let name = LEVEL_ZERO.to_str().unwrap_or_default();
            let (what, package) = ("Level Zero loader", "libze1");
            Library::open(LEVEL_ZERO).map_err(|why| LoadError::Open { name, why, what, package })
        };
        self.level_zero.get_or_init(open).as_ref()
    }
}

impl Graphics {
    /// Opens the libraries. They stay open, since drivers may crash when they are unloaded.
    fn open() -> Result<Self, LoadError> {
        let given = |name: &str| Library::open(&CString::new(name).unwrap_or_default());
        let shown = Libraries::open(given)?;
        if !shown.egl.is_interceptor() {
            return Ok(Self { driver: shown, interceptor: None });
        }
        let below = Libraries::open(|name| {
            let opened = gapii_loader::find(name).iter().find_map(|path| Library::at(path));
            opened.ok_or_else(|| "there is none below the interceptor".to_owned())
        })?;
        Ok(Self { driver: below, interceptor: Some(Interceptor(shown)) })
    }
}

// SAFETY: the libraries export the functions of their APIs under these names, callable from any
// thread; the libraries are never closed.
unsafe impl Loader for SystemLoader {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match api_of(name) {
            Some(Api::LevelZero) => self.level_zero().ok()?.find(name),
            _ => self.graphics().ok()?.driver.find(name),
        }
    }

    fn lacks(&self, api: Api) -> Option<String> {
        let lack = match api {
            Api::LevelZero => self.level_zero().err(),
            _ => self.graphics().err(),
        };
        lack.map(ToString::to_string)
    }

    /// The interceptor of EGL and OpenGL ES. For Level Zero there is none to bypass: its loader
    /// handles its own layers.
    fn interceptor(&self) -> Option<Interceptor> {
        self.graphics.get()?.as_ref().ok()?.interceptor
    }
}
