//! The loader's own `dlsym`, for the shim's own needs and for the program's calls that the shim passes on: this library
//! exports a `dlsym` in its place.

use core::ffi::{CStr, c_char, c_void};
use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering::Relaxed};

/// The version of the loader's `dlsym` in every C library of this machine's kind.
#[cfg(target_arch = "x86_64")]
const VERSION: &CStr = c"GLIBC_2.2.5";
#[cfg(target_arch = "aarch64")]
const VERSION: &CStr = c"GLIBC_2.17";

/// The loader's `dlsym`; null until [`code`] is first called.
pub static REAL: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// Returns the loader's `dlsym`.
pub fn code() -> *mut c_void {
    let known = REAL.load(Relaxed);
    if !known.is_null() {
        return known;
    }
    // SAFETY: asks the loader for the definition that follows this module's.
    let found = unsafe { libc::dlvsym(libc::RTLD_NEXT, c"dlsym".as_ptr(), VERSION.as_ptr()) };
    REAL.store(found, Relaxed);
    found
}

/// Returns the definition of `name` that a library has, of which `handle` is a handle; null without one.
pub fn find(handle: *mut c_void, name: &CStr) -> *mut c_void {
    let code = code();
    if code.is_null() {
        return ptr::null_mut();
    }
    // SAFETY: the loader's dlsym has this signature.
    let dlsym: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void =
        unsafe { core::mem::transmute(code) };
    // SAFETY: a handle of a library and a NUL-terminated name.
    unsafe { dlsym(handle, name.as_ptr()) }
}
