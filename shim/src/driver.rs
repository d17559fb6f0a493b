//! Finds the real driver libraries, and never this library or another copy of it. The next definition in the program's
//! own search order (`RTLD_NEXT`) comes first, because the program would have had that one. Then come the libraries of
//! OpenGL ES, GLX and desktop OpenGL that the program has loaded; then libraries of EGL and OpenGL ES: by plain name, on
//! the library path, in the loader's cache, and in the system's folders (`loader/`). A library of GLX or desktop OpenGL is
//! never loaded here. A command that no library has leads to `stubs::absent`, which returns 0.

use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::ffi::CString;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::OnceLock;

use crate::code::Code;
use crate::dlopen;
use crate::loaders_dlsym;
use crate::module::{self, Module};

/// The libraries that the shim loads if the program calls their commands.
#[derive(Clone, Copy)]
enum Library {
    Egl,
    Gles2,
    Gles1,
}

/// Beginnings of the file names of the libraries of EGL and OpenGL ES. Their functions are taken if the process has loaded
/// them.
const EMBEDDED: [&[u8]; 3] = [b"libEGL.so.1", b"libGLESv2.so.2", b"libGLESv1_CM.so.1"];

/// Beginnings of the file names of the libraries of GLX and desktop OpenGL. Their functions are taken likewise.
const DESKTOP: [&[u8]; 3] = [b"libGL.so", b"libGLX.so", b"libOpenGL.so"];

/// A loaded driver library; null if the machine has none.
struct Handle(*mut c_void);

// SAFETY: a dlopen handle may be used from any thread, and is never closed.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

static HANDLES: [OnceLock<Handle>; 3] = [const { OnceLock::new() }; 3];

/// Returns the driver's definition of an exported command; null if no library has it. Loads a library if the command is
/// one of EGL, or one of OpenGL that no loaded library has.
pub fn symbol(name: &CStr) -> Code {
    let found = loaded_symbol(name);
    if !found.is_null() {
        return found;
    }
    let needed: &[Library] = match name.to_bytes() {
        bytes if bytes.starts_with(b"egl") => &[Library::Egl],
        bytes if bytes.starts_with(b"glX") => &[],
        _ => &[Library::Gles2, Library::Gles1],
    };
    let mut handles = needed.iter().map(|library| handle(*library));
    handles.find_map(|handle| definition(handle, name)).unwrap_or(core::ptr::null_mut())
}

/// Returns the definition of a command in a library that the process has loaded; null if none has it.
pub fn loaded_symbol(name: &CStr) -> Code {
    // SAFETY: asks the loader for the definition that follows this module's.
    let next = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) };
    if !next.is_null() && !is_ours(next) {
        return next.cast();
    }
    let mut handles = EMBEDDED.iter().chain(&DESKTOP).map(|file| loaded(file));
    handles.find_map(|handle| definition(handle, name)).unwrap_or(core::ptr::null_mut())
}

/// Whether the process has loaded a library of GLX or desktop OpenGL.
pub fn has_desktop_library() -> bool {
    DESKTOP.iter().any(|file| !loaded(file).is_null())
}

/// Whether a file is a library of GLX or desktop OpenGL, by its name.
pub fn is_desktop_library(path: &CStr) -> bool {
    DESKTOP.iter().any(|file| is_named(path, file))
}

/// Returns the definition of a command in a library that is not this one.
fn definition(handle: *mut c_void, name: &CStr) -> Option<Code> {
    if handle.is_null() {
        return None;
    }
    let found = loaders_dlsym::find(handle, name);
    (!found.is_null() && !is_ours(found)).then_some(found.cast())
}

/// Returns the library whose file's name begins with `file`, if the process has loaded it, else null. Opens no file: a
/// sandbox may end a process that does.
fn loaded(file: &[u8]) -> *mut c_void {
    let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY;
    module::loaded(|path| is_named(path, file))
        .map_or(core::ptr::null_mut(), |path| dlopen::real(&path, flags))
}

/// Whether the name of a file begins with `beginning`.
fn is_named(path: &CStr, beginning: &[u8]) -> bool {
    let name = path.to_bytes().rsplit(|byte| *byte == b'/').next();
    name.is_some_and(|name| name.starts_with(beginning))
}

/// Whether `address` is in this module or in another copy of this library.
pub fn is_ours(address: *const c_void) -> bool {
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
