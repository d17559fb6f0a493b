//! The driver's functions, by number.
//!
//! Commands of the trace go to what a program of this machine gets for libEGL, libGLESv2 and Level Zero's
//! loader. Where a replay is itself recorded, that is the interceptor; what the player asks and sets for
//! itself goes past it, to the driver below. Who takes a function says its type; see [`Driver::get`].

use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::mem::MaybeUninit;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, Ordering};

use gapii_commands::{Api, COUNT, CommandId};

use crate::call::Skip;

/// Finds functions of the APIs.
///
/// # Safety
///
/// Each function that is found has the signature that its API gives its name, may be called from
/// any thread, and stays for as long as the process does.
pub unsafe trait Loader {
    /// The driver's function of that name, if there is one.
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>>;

    /// Why nothing of an API can be found here, if that is so.
    fn lacks(&self, api: Api) -> Option<String> {
        let _ = api;
        None
    }

    /// What stands before the driver and hears what programs call.
    fn interceptor(&self) -> Option<Interceptor> {
        None
    }
}

/// Number of a function: its id among the built-in descriptions. For use in constants, where a name
/// that there is not does not compile.
pub const fn function(name: &str) -> u16 {
    let (mut low, mut high) = (0, COUNT);
    while low < high {
        let middle = (low + high) / 2;
        let Some(known) = CommandId::new(middle as u16) else { break };
        match compare(name.as_bytes(), known.name().as_bytes()) {
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
    intercepted: Option<Intercepted>,
}

/// The interceptor's entry points, as far as they were needed; null until then.
struct Intercepted {
    interceptor: Interceptor,
    entries: Box<[AtomicPtr<c_void>]>,
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
    /// Functions of `apis` that `loader` finds.
    pub fn load(loader: &dyn Loader, apis: &[Api]) -> Self {
        let find = |name: &str| loader.find(&CString::new(name).ok()?).map(Address);
        let functions = CommandId::all().map(|command| {
            let is_wanted = apis.contains(&command.api());
            is_wanted.then(|| find(command.name())).flatten()
        });
        let functions = functions.collect();
        let intercepted = loader.interceptor().map(|interceptor| Intercepted {
            interceptor,
            entries: (0..COUNT).map(|_| AtomicPtr::default()).collect(),
        });
        Self { functions, intercepted }
    }

    /// Whether there is the function of that number.
    pub fn has(&self, function: u16) -> bool {
        self.functions.get(usize::from(function)).is_some_and(Option::is_some)
    }

    /// The function of that number, for commands of the trace: an interceptor hears of the call.
    ///
    /// # Safety
    ///
    /// `F` is the type of that function: an `unsafe extern "C" fn` with its signature.
    pub unsafe fn get<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let address = match &self.intercepted {
            None => self.address(function)?,
            Some(intercepted) => {
                let below = self.address(function)?;
                intercepted.entry(function).unwrap_or(below)
            }
        };
        // SAFETY: the caller's duty: `F` is a function pointer, and of the type of this function.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    /// The same for the player's own needs: nobody hears of it but the driver.
    ///
    /// # Safety
    ///
    /// As [`Self::get`].
    pub unsafe fn own<F: Copy>(&self, function: u16) -> Result<F, Skip> {
        const { assert!(size_of::<F>() == size_of::<Address>()) };
        let address = self.address(function)?;
        // SAFETY: the caller's duty, as above.
        Ok(unsafe { std::mem::transmute_copy(&address) })
    }

    /// What eglGetProcAddress gave a program that is played: the entry point of that name from now on.
    pub(crate) fn gave(&self, name: &[u8], entry: *mut c_void) {
        let found = std::str::from_utf8(name).ok().and_then(CommandId::named);
        if let (Some(function), Some(intercepted)) = (found, &self.intercepted)
            && self.functions[function.index()].is_some()
        {
            // Relaxed: an address of code that is there already.
            intercepted.entries[function.index()].store(entry, Ordering::Relaxed);
        }
    }

    fn address(&self, function: u16) -> Result<Address, Skip> {
        let found = self.functions.get(usize::from(function)).copied().flatten();
        found.ok_or_else(|| {
            let name = CommandId::new(function).map_or("", CommandId::name);
            Skip::from(format!("the driver has no {name}"))
        })
    }
}

impl Intercepted {
    fn entry(&self, function: u16) -> Option<Address> {
        let entry = self.entries.get(usize::from(function))?;
        // Relaxed: an address of code that is there already.
        if let Some(known) = NonNull::new(entry.load(Ordering::Relaxed)) {
            return Some(Address(known));
        }
        let name = CString::new(CommandId::new(function)?.name()).ok()?;
        let found = (!is_level_zero(&name)).then(|| self.interceptor.find(&name)).flatten()?;
        entry.store(found.as_ptr(), Ordering::Relaxed);
        Some(Address(found))
    }
}

/// The libraries of this system, opened when something is asked of them.
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

/// A libEGL and a libGLESv2.
#[derive(Clone, Copy)]
struct Libraries {
    egl: Library,
    gles: Option<Library>,
    get_proc_address: GetProcAddress,
}

/// What programs get in the place of the driver, while they are recorded.
#[derive(Clone, Copy)]
pub struct Interceptor(Libraries);

type GetProcAddress = unsafe extern "C" fn(*const c_char) -> *mut c_void;

/// Why the system's libraries can't be used.
#[derive(Debug, thiserror::Error)]
enum LoadError {
    #[error("can't open {name}: {why}; install the {what} of this system ({package})")]
    Open { name: &'static str, why: String, what: &'static str, package: &'static str },
    #[error("{name} has no eglGetProcAddress")]
    NotEgl { name: &'static str },
}

const EGL: &str = "libEGL.so.1";
const GLES: &str = "libGLESv2.so.2";
const LEVEL_ZERO: &CStr = c"libze_loader.so.1";

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
    /// They stay open: drivers do not like to be unloaded.
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

impl Libraries {
    fn open(open: impl Fn(&str) -> Result<Library, String>) -> Result<Self, LoadError> {
        let (name, what, package) = (EGL, "EGL library", "libegl1");
        let egl = open(EGL).map_err(|why| LoadError::Open { name, why, what, package })?;
        let found = egl.find(c"eglGetProcAddress").ok_or(LoadError::NotEgl { name: EGL })?;
        // SAFETY: eglGetProcAddress of EGL 1.5 has this signature.
        let get_proc_address =
            unsafe { std::mem::transmute::<NonNull<c_void>, GetProcAddress>(found) };
        Ok(Self { egl, gles: open(GLES).ok(), get_proc_address })
    }

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

impl Interceptor {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        self.0.find(name)
    }
}

// SAFETY: the sources give the functions of their APIs under their names, which are called from any
// thread; the libraries are never closed.
unsafe impl Loader for SystemLoader {
    fn find(&self, name: &CStr) -> Option<NonNull<c_void>> {
        match is_level_zero(name) {
            true => self.level_zero().ok()?.find(name),
            false => self.graphics().ok()?.driver.find(name),
        }
    }

    fn lacks(&self, api: Api) -> Option<String> {
        let lack = match api {
            Api::Egl | Api::Gles => self.graphics().err(),
            Api::LevelZero => self.level_zero().err(),
        };
        lack.map(ToString::to_string)
    }

    /// Level Zero's loader sees to its own layers.
    fn interceptor(&self) -> Option<Interceptor> {
        self.graphics.get()?.as_ref().ok()?.interceptor
    }
}

fn is_level_zero(name: &CStr) -> bool {
    name.to_bytes().starts_with(b"ze")
}

/// A library that is never closed.
#[derive(Clone, Copy)]
struct Library(NonNull<c_void>);

// SAFETY: a handle of the loader's, which any thread may look up names with.
unsafe impl Send for Library {}
// SAFETY: as above.
unsafe impl Sync for Library {}

impl Library {
    /// What a program gets that asks for this name.
    fn open(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name ends with zero; what the library does when it is loaded is what every
        // program that uses it has done.
        let opened = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        NonNull::new(opened).map(Self).ok_or_else(last_error)
    }

    /// The library in this file, whatever programs get for its name: nobody stands in for `dlmopen`.
    fn at(path: &Path) -> Option<Self> {
        let path = CString::new(path.as_os_str().as_bytes()).ok()?;
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
        // SAFETY: as in `open`.
        NonNull::new(unsafe { libc::dlmopen(libc::LM_ID_BASE, path.as_ptr(), flags) }).map(Self)
    }

    /// Whether what it gives for a name of EGL is in the file of the interceptor.
    fn is_interceptor(&self) -> bool {
        let Some(found) = self.find(c"eglGetProcAddress") else { return false };
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
        for command in CommandId::all() {
            assert_eq!(function(command.name()), command.number());
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
        let driver = Driver::load(&Nothing, &[Api::Gles]);
        // SAFETY: the type of glClear; it is not called.
        let found = unsafe { driver.get::<unsafe extern "C" fn(u32)>(CLEAR) };
        assert_eq!(
            found.err().map(|skip| skip.to_string()).as_deref(),
            Some("the driver has no glClear")
        );
    }
}
