//! Stands in for `dlsym`: a program that takes functions from a library of GLX or desktop OpenGL gets this library's for the
//! commands that it knows, and the library's own for all others. The program has the library itself, by a handle of its own.
//!
//! Other calls *jump* to the loader's own function, which judges `RTLD_NEXT` and `RTLD_DEFAULT` by the return address.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;

use gapii_recorder::ErrnoGuard;

use crate::driver;
use crate::driver_functions;
use crate::entry::ENTRY_POINTS;
use crate::environment;
use crate::loaders_dlsym;
use crate::module::Module;

/// `dlsym` as the program calls it.
#[cfg_attr(not(test), unsafe(no_mangle))]
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
        real = sym loaders_dlsym::REAL,
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
        real = sym loaders_dlsym::REAL,
    );
}

/// Returns this library's entry point for a command; null if the loader is to answer.
unsafe extern "C" fn stand_in(handle: *mut c_void, name: *const c_char) -> *mut c_void {
    let _errno = ErrnoGuard::save();
    loaders_dlsym::code();
    let is_pseudo = handle == libc::RTLD_DEFAULT || handle == libc::RTLD_NEXT;
    if is_pseudo || name.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the program passes a NUL-terminated name, or the loader would fault as well.
    let name = unsafe { CStr::from_ptr(name) };
    let is_ours = |name: &&CStr| name.to_bytes().starts_with(b"gl");
    let Some(id) = Some(name).filter(is_ours).and_then(driver_functions::named) else {
        return ptr::null_mut();
    };
    let found = loaders_dlsym::find(handle, name);
    let module = if found.is_null() { None } else { Module::of(found) };
    let path = module.as_ref().and_then(Module::path_str);
    let is_desktop = path.is_some_and(driver::is_desktop_library);
    if !is_desktop || !environment::wanted() {
        return ptr::null_mut();
    }
    driver_functions::learn(id, found.cast());
    ENTRY_POINTS.get(usize::from(id)).map_or(ptr::null_mut(), |entry| *entry as *mut c_void)
}
