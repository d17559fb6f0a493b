//! Stands in for `dlsym`: a program that takes OpenGL ES functions from the library of desktop OpenGL gets this library's.
//! Firefox does that. Only names of commands, only from a handle of `LIBRARIES`, only in a process that has opened or called
//! EGL through the shim, and only where a driver of OpenGL ES has the function, too. What OpenGL ES has in an extension is
//! found under desktop OpenGL's name: `glBufferStorage` is `glBufferStorageEXT`.
//!
//! Other calls *jump* to the loader's own function, which judges `RTLD_NEXT` and `RTLD_DEFAULT` by the return address.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use gapii_commands::Api;
use gapii_recorder::ErrnoGuard;

use crate::dlopen;
use crate::driver;
use crate::driver_functions;
use crate::entry::ENTRY_POINTS;
use crate::environment;
use crate::generated::names::{EXPORTED, NAMES};
use crate::module::Module;
use crate::process;

/// Beginnings of the file names of libraries that have OpenGL ES functions, and for which the shim does not stand in.
const LIBRARIES: [&[u8]; 2] = [b"libGL.so", b"libOpenGL.so"];

/// The version of the loader's `dlsym` in every C library of this machine's kind.
#[cfg(target_arch = "x86_64")]
const VERSION: &CStr = c"GLIBC_2.2.5";
#[cfg(target_arch = "aarch64")]
const VERSION: &CStr = c"GLIBC_2.17";

/// The loader's `dlsym`; null until it is first needed.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// `dlsym` as the program calls it.
#[unsafe(no_mangle)]
#[unsafe(naked)]
pub unsafe extern "C" fn dlsym() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "push rdi",
        "push rsi",
        "sub rsp, 8",
        "call {stand_in}",
        "add rsp, 8",
        "pop rsi",
        "pop rdi",
        "test rax, rax",
        "jne 2f",
        "jmp qword ptr [rip + {real}]",
        "2:",
        "ret",
        stand_in = sym stand_in,
        real = sym REAL,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "stp x0, x30, [sp, #-32]!",
        "str x1, [sp, #16]",
        "bl {stand_in}",
        "mov x16, x0",
        "ldr x1, [sp, #16]",
        "ldp x0, x30, [sp], #32",
        "cbnz x16, 2f",
        "adrp x16, {real}",
        "ldr x16, [x16, :lo12:{real}]",
        "br x16",
        "2:",
        "mov x0, x16",
        "ret",
        stand_in = sym stand_in,
        real = sym REAL,
    );
}

/// Returns this library's entry point for a command; null if the loader is to answer.
unsafe extern "C" fn stand_in(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let _errno = ErrnoGuard::save();
    let real = real();
    let is_pseudo = handle == libc::RTLD_DEFAULT || handle == libc::RTLD_NEXT;
    if is_pseudo || name.is_null() || !(dlopen::has_opened() || process::apis() != 0) {
        return ptr::null_mut();
    }
    // SAFETY: the program passes a NUL-terminated name, or the loader would fault as well.
    let name = unsafe { CStr::from_ptr(name) };
    let Some(command) = command(name) else { return ptr::null_mut() };
    // SAFETY: the loader's dlsym, which is there in every process that gets here.
    let real: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
        unsafe { core::mem::transmute(real) };
    // SAFETY: the program's own arguments.
    let found = unsafe { real(handle, name.as_ptr()) };
    let is_desktop =
        !found.is_null() && Module::of(found).is_some_and(|module| is_desktop(&module));
    if !is_desktop || !environment::wanted() {
        return ptr::null_mut();
    }
    let id = match command {
        Named::Exported(_) if driver::symbol(name).is_null() => return ptr::null_mut(),
        Named::Exported(id) => id,
        Named::Extension(id) => {
            driver_functions::learn(id as u16, found.cast());
            id
        }
    };
    ENTRY_POINTS.get(id).map_or(ptr::null_mut(), |entry| *entry as *mut c_void)
}

/// The id of a command of OpenGL ES.
enum Named {
    /// The library of OpenGL ES has a function of the very name.
    Exported(usize),
    /// `eglGetProcAddress` has it, perhaps under a longer name.
    Extension(usize),
}

/// Endings that functions of extensions have.
const ENDINGS: [&[u8]; 4] = [b"", b"EXT", b"OES", b"KHR"];

/// Returns the command that a function of desktop OpenGL is in OpenGL ES.
fn command(name: &CStr) -> Option<Named> {
    let name = name.to_bytes();
    if !name.starts_with(b"gl") {
        return None;
    }
    let known = &NAMES[..usize::from(Api::LevelZero.ids().start)];
    let is = |known: &CStr, ending: &[u8]| {
        known.to_bytes().strip_prefix(name).is_some_and(|rest| rest == ending)
    };
    let mut ids =
        ENDINGS.iter().filter_map(|ending| known.iter().position(|known| is(known, ending)));
    let id = ids.next()?;
    Some(match EXPORTED.get(id) {
        Some(true) => Named::Exported(id),
        _ => Named::Extension(id),
    })
}

/// Whether a module is a library of desktop OpenGL, by the name of its file.
fn is_desktop(module: &Module) -> bool {
    let path = module.path_str().map_or(&b""[..], CStr::to_bytes);
    let file = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    LIBRARIES.iter().any(|library| file.starts_with(library))
}

fn real() -> *mut c_void {
    let known = REAL.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: asks the loader for the definition that follows this module's.
    let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), VERSION.as_ptr()) };
    REAL.store(found, Relaxed);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn desktop_name_leads_to_the_command_of_opengl_es() {
        let check = |name: &CStr, expected: Option<&CStr>, is_exported: bool| {
            let found = command(name).map(|named| match named {
                Named::Exported(id) => (NAMES[id], true),
                Named::Extension(id) => (NAMES[id], false),
            });
            assert_eq!(found, expected.map(|name| (name, is_exported)), "{name:?}");
        };
        check(c"glClear", Some(c"glClear"), true);
        check(c"glBufferStorage", Some(c"glBufferStorageEXT"), false);
        check(c"glMapBuffer", Some(c"glMapBufferOES"), false);
        check(c"glBegin", None, false);
        check(c"eglSwapBuffers", None, false);
        check(c"gl", None, false);
    }
}
