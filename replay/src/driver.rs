//! The driver's functions, by number.
//!
//! Of what a program of this machine gets for libEGL and libGLESv2: where a replay is itself
//! recorded, that is the interceptor. Who takes a function says its type; see [`Driver::get`].

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::NonNull;

use gapii_protocol::generated::functions::FUNCTIONS;

use crate::call::Skip;

/// Finds functions of EGL and OpenGL ES.
///
/// # Safety
///
/// Each function that is found has the signature that Khronos gives its name, may be called from
/// any thread, and stays for as long as the process does.
pub unsafe trait Loader {
    /// The function of that name, if there is one.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;
}

/// Number of a function: its id among the built-in descriptions. For use in constants, where a name
/// that there is not does not compile.
pub const fn function(name: &str) -> u16 {
    let (mut low, mut high) = (0, FUNCTIONS.len());
    while low < high {
        let middle = (low + high) / 2;
        match compare(name.as_bytes(), FUNCTIONS[middle].name.as_bytes()) {
            0 => return middle as u16,
            order if order < 0 => high = middle,
            _ => low = middle + 1,
        }
    }
    panic!("no function of that name is described")
}

const fn compare(a: &[u8], b: &[u8]) -> i32 {
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] as i32 - b[at] as i32;
        }
        at += 1;
    }
    a.len() as i32 - b.len() as i32
}

/// The functions that a driver has.
pub struct Driver {
    functions: Box<[Option<Address>]>,
}

/// Where a function is.
#[derive(Clone, Copy)]
#[repr(transparent)]
struct Address(NonNull<c_void>);

// SAFETY: an address of code, which by the contract of `Loader` any thread may call.
unsafe impl Send for Address {}
// SAFETY: as above.
unsafe impl Sync for Address {}

impl Driver {
    /// All described functions that `loader` finds.
    pub fn load(loader: &dyn Loader) -> Self {
        let find = |name: &str| loader.find(&CString::new(name).ok()?).map(Address);
        Self { functions: FUNCTIONS.iter().map(|function| find(function.name)).collect() }
    }

    /// Whether there is the function of that number.
    pub fn has(&self, function: u16) -> bool {
        self.functions.get(usize::from(function)).is_some_and(Option::is_some)
    }

    /// The function of that number.
    ///
    /// # Safety
    ///
    /// `F` is the type of that function: an `unsafe extern "C" fn` with its signature.
    pub unsafe fn get<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let found = self.functions.get(usize::from(function)).copied().flatten();
        let Some(Address(address)) = found else {
            let name = FUNCTIONS.get(usize::from(function)).map_or("", |known| known.name);
            return Err(Skip::from(format!("the driver has no {name}")));
        };
        // SAFETY: the caller's duty: `F` is a function pointer, and of the type of this function.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }
}

/// The libraries of this system.
pub struct SystemLoader {
    egl: Library,
    gles: Option<Library>,
    get_proc_address: GetProcAddress,
}

type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Why the system's libraries can't be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("can't open {name}: {why}; install the EGL library of this system (libegl1)")]
    Open { name: &'static str, why: String },
    #[error("{name} has no eglGetProcAddress")]
    NotEgl { name: &'static str },
}

const EGL: &CStr = c"libEGL.so.1";
const GLES: &CStr = c"libGLESv2.so.2";

impl SystemLoader {
    /// Opens them. They stay open: drivers do not like to be unloaded.
    pub fn open() -> Result<Self, LoadError> {
        let name = "libEGL.so.1";
        let egl = Library::open(EGL).map_err(|why| LoadError::Open { name, why })?;
        let found = egl.find(c"eglGetProcAddress").ok_or(LoadError::NotEgl { name })?;
        // SAFETY: eglGetProcAddress of EGL 1.5 has this signature.
        let get_proc_address =
            unsafe { std::mem::transmute::<NonNull<c_void>, GetProcAddress>(found) };
        Ok(Self { egl, gles: Library::open(GLES).ok(), get_proc_address })
    }
}

// SAFETY: both sources give the functions of EGL and OpenGL ES under their names, which are called
// from any thread; the libraries are never closed.
unsafe impl Loader for SystemLoader {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        let library = match name.to_bytes().starts_with(b"egl") {
            true => Some(&self.egl),
            false => self.gles.as_ref(),
        };
        library.and_then(|library| library.find(name)).or_else(|| {
            // SAFETY: the function of EGL 1.5, with a text that ends with zero.
            NonNull::new(unsafe { (self.get_proc_address)(name.as_ptr()) })
        })
    }
}

/// A library that is never closed.
struct Library(NonNull<c_void>);

impl Library {
    fn open(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name ends with zero; what the library does when it is loaded is what every
        // program that uses it has done.
        let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(opened).map(Self).ok_or_else(last_error)
    }

    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        // SAFETY: a handle of a library that is never closed, and a text that ends with zero.
        NonNull::new(unsafe { libc::dlsym(self.0.as_ptr(), name.as_ptr()) })
    }
}

fn last_error() -> String {
    // SAFETY: no arguments; gives null or a text that lives until this thread's next call.
    let error = unsafe { libc::dlerror() };
    if error.is_null() {
        return "no reason given".to_owned();
    }
    // SAFETY: not null, a text that ends with zero, and no dl function is called until it is copied.
    unsafe { CStr::from_ptr(error) }.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_by_its_name() {
        for (index, known) in FUNCTIONS.iter().enumerate() {
            assert_eq!(usize::from(function(known.name)), index);
        }
    }

    struct Nothing;

    // SAFETY: it finds nothing.
    unsafe impl Loader for Nothing {
        fn find(&self, _: &CStr) -> Option<NonNull<c_void>> {
            None
        }
    }

    #[test]
    fn function_that_the_driver_lacks_is_named() {
        const CLEAR: u16 = function("glClear");
        let driver = Driver::load(&Nothing);
        // SAFETY: the type of glClear; it is not called.
        let found = unsafe { driver.get::<unsafe extern "C" fn(u32)>(CLEAR) };
        assert_eq!(
            found.err().map(|skip| skip.to_string()).as_deref(),
            Some("the driver has no glClear")
        );
    }
}
