//! Stands in for `dlopen`: a program that opens a driver library gets this library. The last part of the path decides
//! (`SONAMES`: libEGL, libGLESv2, libGLESv1_CM, with and without version). The name stays as it is if `GAPII_PROCESS`
//! excludes the process, if gapii is linked into the program itself, or if the program asks with `RTLD_NOLOAD` for a
//! library that it has not opened through the shim.
//!
//! It changes at most the name, and then *jumps* to the loader's own function. The loader judges a call by its return
//! address (search paths, namespaces, `RTLD_NEXT`), and that stays the program's.

use core::ffi::{CStr, c_char, c_int, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};

use gapii_recorder::ErrnoGuard;

use crate::environment;
use crate::module::Module;

/// File names in whose place a program that opens them gets the shim.
pub const SONAMES: [&CStr; 6] = [
    c"libEGL.so.1",
    c"libEGL.so",
    c"libGLESv2.so.2",
    c"libGLESv2.so",
    c"libGLESv1_CM.so.1",
    c"libGLESv1_CM.so",
];

/// The loader's `dlopen`; null until it is first needed.
static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
/// One bit for each of [`SONAMES`]: whether the program has opened it through the shim.
static OPENED: AtomicU32 = AtomicU32::new(0);

/// `dlopen` as the program calls it.
#[cfg_attr(not(test), unsafe(no_mangle))]
#[unsafe(naked)]
pub unsafe extern "C" fn dlopen() {
    #[cfg(target_arch = "x86_64")]
    core::arch::naked_asm!(
        "push rsi",
        "sub rsp, 16",
        "call {name}",
        "add rsp, 16",
        "pop rsi",
        "mov rdi, rax",
        "jmp qword ptr [rip + {real}]",
        name = sym name_to_open,
        real = sym REAL,
    );
    #[cfg(target_arch = "aarch64")]
    core::arch::naked_asm!(
        "stp x1, x30, [sp, #-16]!",
        "bl {name}",
        "ldp x1, x30, [sp], #16",
        "adrp x16, {real}",
        "ldr x16, [x16, :lo12:{real}]",
        "br x16",
        name = sym name_to_open,
        real = sym REAL,
    );
}

/// Calls the loader's own `dlopen`, for the shim's own needs.
pub fn real(path: &CStr, flags: c_int) -> *mut c_void {
    let code = real_code();
    if code.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: `code` is the loader's dlopen.
    let dlopen: unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void =
        unsafe { core::mem::transmute(code) };
    // SAFETY: a NUL-terminated path.
    unsafe { dlopen(path.as_ptr(), flags) }
}

fn real_code() -> *mut c_void {
    let known = REAL.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: asks the loader for the definition that follows this module's.
    let mut found = unsafe { libc::dlsym(libc::RTLD_NEXT, c"dlopen".as_ptr()) };
    if Module::of(found).is_some_and(|module| module.is_gapii()) {
        found = libc_code();
    }
    REAL.store(found, Relaxed);
    found
}

/// Returns the C library's own `dlopen`. Needed where another copy of this library follows in the search order.
fn libc_code() -> *mut c_void {
    let flags = libc::RTLD_NOLOAD | libc::RTLD_LAZY;
    // SAFETY: looks for a library that every process has; this library does not replace dlmopen.
    let libc = unsafe { libc::dlmopen(libc::LM_ID_BASE, c"libc.so.6".as_ptr(), flags) };
    if libc.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: a handle that stays open.
    unsafe { libc::dlsym(libc, c"dlopen".as_ptr()) }
}

/// Returns the name that the loader is to open: this library's file in place of a driver library, otherwise the
/// program's own name.
unsafe extern "C" fn name_to_open(name: *const c_char, flags: c_int) -> *const c_char {
    let _errno = ErrnoGuard::save();
    real_code();
    if name.is_null() {
        return name;
    }
    // SAFETY: the program passes a NUL-terminated name, or the loader would fault as well.
    let Some(soname) = soname_index(unsafe { CStr::from_ptr(name) }) else { return name };
    let bit = 1 << soname;
    // A program that asks whether a driver library is loaded must not find what only the shim has brought in.
    if flags & libc::RTLD_NOLOAD != 0 && OPENED.load(Relaxed) & bit == 0 {
        return name;
    }
    match Module::ours() {
        Some(ours) if !ours.is_program() && environment::wanted() => {
            OPENED.fetch_or(bit, Relaxed);
            ours.path()
        }
        _ => name,
    }
}

/// Returns which of [`SONAMES`] the last part of a path is.
fn soname_index(path: &CStr) -> Option<usize> {
    let file = path.to_bytes().rsplit(|&byte| byte == b'/').next()?;
    SONAMES.iter().position(|soname| soname.to_bytes() == file)
}
