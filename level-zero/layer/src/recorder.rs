//! The recorder, libgapii: if it is in the process, the functions that the loader offers are called through it; if not,
//! the callees stay as they are and nothing is recorded.

use std::ffi::{CString, c_char, c_void};
use std::mem;
use std::sync::OnceLock;

use gapii_ze_api::functions::NAMES;

/// libgapii's `gapii_intercept`.
type Intercept = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut c_void;

/// Returns the code to call in place of `callee`, which is the function with this number: the recorder's entry for
/// it, or `callee` itself. May wait for a capture to begin, as the process' first command does.
pub fn through(function: usize, callee: *mut ()) -> *mut () {
    let (Some(intercept), Ok(name)) = (recorder(), CString::new(NAMES[function])) else {
        return callee;
    };
    // SAFETY: a NUL-terminated name, and the function of that name.
    unsafe { intercept(name.as_ptr(), callee.cast()) }.cast()
}

/// Returns libgapii's `gapii_intercept`; `None` if libgapii is not in the process.
fn recorder() -> Option<Intercept> {
    static RECORDER: OnceLock<Option<Intercept>> = OnceLock::new();
    *RECORDER.get_or_init(|| {
        // SAFETY: a NUL-terminated string; searches the libraries that are loaded globally.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gapii_intercept".as_ptr()) };
        // SAFETY: libgapii exports a function of this type under this name.
        (!found.is_null()).then(|| unsafe { mem::transmute::<*mut c_void, Intercept>(found) })
    })
}
