//! Libraries of this system, libEGL.so.1 and libGLESv2.so.2. They are never closed. A library counts as the interceptor
//! if its `eglGetProcAddress` lies in a file of gapii; functions that are not exported are asked for with
//! `eglGetProcAddress`.

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;

use gapii_commands::{Api, CommandId, NAMES};

/// A libEGL with its libGLESv2, if there is one.
#[derive(Clone, Copy)]
pub(super) struct Libraries {
    pub(super) egl: Library,
    gles: Option<Library>,
    get_proc_address: GetProcAddress,
}

/// The libraries that programs get in place of the driver's while they are recorded.
#[derive(Clone, Copy)]
pub struct Interceptor(pub(super) Libraries);

type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Why the system's libraries can't be used.
#[derive(Debug, thiserror::Error)]
pub(super) enum LoadError {
    #[error("can't open {name}: {why}; install the {what} of this system ({package})")]
    Open { name: &'static str, why: String, what: &'static str, package: &'static str },
    #[error("{name} has no eglGetProcAddress")]
    NotEgl { name: &'static str },
}

const EGL: &str = "libEGL.so.1";
const GLES: &str = "libGLESv2.so.2";

impl Libraries {
    pub(super) fn open(open: impl Fn(&str) -> Result<Library, String>) -> Result<Self, LoadError> {
        let (name, what, package) = (EGL, "EGL library", "libegl1");
        let egl = open(EGL).map_err(|why| LoadError::Open { name, why, what, package })?;
        let found = egl
            .find(NAMES[CommandId::EGL_GET_PROC_ADDRESS.index()])
            .ok_or(LoadError::NotEgl { name: EGL })?;
        // SAFETY: eglGetProcAddress of EGL 1.5 has this signature.
        let get_proc_address =
            unsafe { std::mem::transmute::<NonNull<c_void>, GetProcAddress>(found) };
        Ok(Self { egl, gles: open(GLES).ok(), get_proc_address })
    }

    pub(super) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let library = match api_of(name) {
            Some(Api::Egl) => Some(&self.egl),
            _ => self.gles.as_ref(),
        };
        library.and_then(|library| library.find(name)).or_else(|| {
            // SAFETY: the function of EGL 1.5, with a NUL-terminated string.
            NonNull::new(unsafe { (self.get_proc_address)(name.as_ptr()) })
        })
    }
}

impl Interceptor {
    /// The interceptor's function of that name which is no API's.
    pub(super) fn own(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.0.egl.find(name)
    }

    pub(super) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.0.find(name)
    }
}

/// A library that is never closed.
#[derive(Clone, Copy)]
pub(super) struct Library(NonNull<c_void>);

// SAFETY: a handle of the dynamic loader; any thread may look up names in it.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// Opens the library that a program gets for this name. The error is the dynamic loader's.
    pub(super) fn open(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name is NUL-terminated; the library's initializers run as in every program
        // that uses it.
        let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(opened).map(Self).ok_or_else(last_error)
    }

    /// Opens the library in this file, even where an interceptor replaces libraries by name: the
    /// interceptor does not replace `dlmopen`.
    pub(super) fn at(path: &Path) -> Option<Self> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
        // SAFETY: as in `open`.
        NonNull::new(unsafe { libc::dlmopen(libc::LM_ID_BASE, path.as_ptr(), flags) }).map(Self)
    }

    /// Whether this library is the interceptor: its `eglGetProcAddress` lies in a file of gapii.
    pub(super) fn is_interceptor(&self) -> bool {
        let Some(found) = self.find(NAMES[CommandId::EGL_GET_PROC_ADDRESS.index()]) else {
            return false;
        };
        let mut info = MaybeUninit::<libc::Dl_info>::uninit();
        // SAFETY: `info` is writable; any address may be asked about.
        if unsafe { libc::dladdr(found.as_ptr(), info.as_mut_ptr()) } == 0 {
            return false;
        }
        // SAFETY: dladdr filled it.
        let file = unsafe { info.assume_init() }.dli_fname;
        if file.is_null() {
            return false;
        }
        // SAFETY: the loader keeps the name as long as the library, which is never closed.
        let file = unsafe { CStr::from_ptr(file) };
        gapii_loader::is_gapii_file(Path::new(OsStr::from_bytes(file.to_bytes())))
    }

    pub(super) fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: a handle of a library that is never closed, and a NUL-terminated string.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

/// API of the function with this name; `None` for a name that no API has.
pub(super) fn api_of(name: &CStr) -> Option<Api> {
    CommandId::named(name.to_str().ok()?).map(CommandId::api)
}

fn last_error() -> String {
    // SAFETY: no arguments; returns null or a string that is valid until this thread's next call.
    let error = unsafe { libc::dlerror() };
    if error.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: not null and NUL-terminated, and no dl function is called before it is copied.
    unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
}
