//! Finds the real driver libraries, and never this library or another copy of it. The next definition in the program's
//! own search order (`RTLD_NEXT`) comes first, because the program would have had that one; then the library of the
//! same name: by plain name, then on the library path, in the loader's cache, and in the system's folders (`loader/`).
//! A command that no library has leads to `stubs::absent`, which returns 0.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use crate::code::Code;
use crate::dlopen;
use crate::module::Module;

/// The libraries that the shim stands in for.
#[derive(Clone, Copy)]
enum Library {
    Egl,
    Gles2,
    Gles1,
}

/// A loaded driver library; null if the machine has none.
struct Handle(*mut c_void);

// SAFETY: a dlopen handle may be used from any thread, and is never closed.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

static HANDLES: [OnceLock<Handle>; 3] = [const { OnceLock::new() }; 3];

/// Returns the driver's definition of an exported command; null if the driver has none.
pub fn symbol(name: &CStr) -> Code {
    // SAFETY: asks the loader for the definition that follows this module's.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() && !is_ours(next) {
        return next.cast();
    }
    let libraries: &[Library] = match name.to_bytes().starts_with(b"egl") {
        true => &[Library::Egl],
        false => &[Library::Gles2, Library::Gles1],
    };
    for handle in libraries.iter().map(|library| handle(*library)) {
        if handle.is_null() {
            continue;
        }
        // SAFETY: the handle stays open.
        let found = unsafe { libc::dlsym(handle, name.as_ptr()) };
        if !found.is_null() && !is_ours(found) {
            return found.cast();
        }
    }
    core::ptr::null_mut()
}

/// Whether `address` is in this module or in another copy of this library.
fn is_ours(address: *const c_void) -> bool {
    static OURS: OnceLock<usize> = OnceLock::new();
    static KNOWN_DRIVER: AtomicUsize = AtomicUsize::new(0);
    let Some(module) = Module::of(address) else { return false };
    if module.base() == KNOWN_DRIVER.load(Relaxed) {
        return false;
    }
    let ours = *OURS.get_or_init(|| Module::ours().map_or(0, |module| module.base()));
    let is_ours = module.base() == ours || module.is_gapii();
    if !is_ours {
        KNOWN_DRIVER.store(module.base(), Relaxed);
    }
    is_ours
}

fn handle(library: Library) -> *mut c_void {
    let (soname, probe, slot) = match library {
        Library::Egl => (c"libEGL.so.1", c"eglGetError", 0),
        Library::Gles2 => (c"libGLESv2.so.2", c"glGetError", 1),
        Library::Gles1 => (c"libGLESv1_CM.so.1", c"glGetError", 2),
    };
    HANDLES[slot].get_or_init(|| Handle(open(soname, probe))).0
}

/// Loads the first library of that name that is not this one.
///
/// The plain name is opened first, even if it leads to this very file. Then the loader knows this library by that
/// name, and a library that is loaded later and needs the name gets the shim, not the driver.
fn open(soname: &CStr, probe: &CStr) -> *mut c_void {
    let flags = libc::RTLD_NOW | libc::RTLD_LOCAL;
    let by_name = dlopen::real(soname, flags);
    if !by_name.is_null() {
        // SAFETY: the handle was just opened and stays open.
        let found = unsafe { libc::dlsym(by_name, probe.as_ptr()) };
        if !found.is_null() && !is_ours(found) {
            return by_name;
        }
    }
    let files = gapii_loader::find(&soname.to_string_lossy());
    for path in files.into_iter().filter(|path| !is_us(path)) {
        let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { continue };
        let handle = dlopen::real(&path, flags);
        if !handle.is_null() {
            return handle;
        }
    }
    core::ptr::null_mut()
}

/// Whether a path leads to this library's file, whatever its name.
fn is_us(path: &Path) -> bool {
    file_id(path) == our_file()
}

fn our_file() -> Option<(u64, u64)> {
    let module = Module::ours()?;
    let path = module.path_str()?;
    file_id(Path::new(std::ffi::OsStr::from_bytes(path.to_bytes())))
}

/// Returns device and inode of the file behind `path`.
fn file_id(path: &Path) -> Option<(u64, u64)> {
    std::fs::metadata(path).ok().map(|file| (file.dev(), file.ino()))
}

/// The driver's function for a command, with the function type that the context asks for.
macro_rules! driver {
    ($id:ident) => {
        core::mem::transmute::<$crate::code::Code, _>($crate::table::driver(
            $crate::generated::ids::$id,
        ))
    };
}
pub(crate) use driver;
