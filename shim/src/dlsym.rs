//! Stands in for `dlsym`: a program that takes OpenGL ES functions from the library of desktop OpenGL gets this library's.
//! Firefox does that. Only names of commands, only from a handle of `LIBRARIES`, only in a process that has opened or called
//! EGL through the shim, and only where a driver of OpenGL ES has the function, too.
//!
//! Other calls *jump* to the loader's own function, which judges `RTLD_NEXT` and `RTLD_DEFAULT` by the return address.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

use gapii_commands::Api;
use gapii_recorder::ErrnoGuard;

use crate::dlopen;
use crate::driver;
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
    let Some(id) = command(name) else { return ptr::null_mut() };
    // SAFETY: the loader's dlsym, which is there in every process that gets here.
    let real: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
        unsafe { core::mem::transmute(real) };
    // SAFETY: the program's own arguments.
    let found = unsafe { real(handle, name.as_ptr()) };
    let is_desktop = !found.is_null() && Module::of(found).is_some_and(|module| is_desktop(&module));
    match ENTRY_POINTS.get(id) {
        Some(entry) if is_desktop && environment::wanted() && !driver::symbol(name).is_null() => {
            *entry as *mut c_void
        }
        _ => ptr::null_mut(),
    }
}

/// Returns the id of an exported command of OpenGL ES.
fn command(name: &CStr) -> Option<usize> {
    if !name.to_bytes().starts_with(b"gl") {
        return None;
    }
    let known = &NAMES[..usize::from(Api::LevelZero.ids().start)];
    let id = known.iter().position(|known| *known == name)?;
    EXPORTED.get(id).is_some_and(|is_exported| *is_exported).then_some(id)
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
