//! The recorder, libgapii: where it is in the process, what the loader offers is called through it.

use std::ffi::{CString, c_char, c_void};
use std::mem;
use std::sync::OnceLock;

use gapii_ze_api::functions::NAMES;

/// libgapii's `gapii_intercept`.
type Intercept = unsafe extern "C" fn(*const c_char, *mut c_void) -> *mut c_void;

/// What to call in place of `callee`, the function of that number: the recorder's entry for it, or `callee`
/// itself. May wait for a capture to begin, as the process' first command does.
pub fn through(function: usize, callee: *mut ()) -> *mut () {
    let (Some(intercept), Ok(name)) = (recorder(), CString::new(NAMES[function])) else {
        return callee;
    };
    // SAFETY: a text, and the function of that name.
    unsafe { intercept(name.as_ptr(), callee.cast()) }.cast()
}

/// `None`: it is not in the process.
fn recorder() -> Option<Intercept> {
    static RECORDER: OnceLock<Option<Intercept>> = OnceLock::new();
    *RECORDER.get_or_init(|| {
        // SAFETY: a text; looks through the libraries that are loaded for everybody.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"gapii_intercept".as_ptr()) };
        // SAFETY: what libgapii exports under this name is of this type.
        (!found.is_null()).then(|| unsafe { mem::transmute::<*mut c_void, Intercept>(found) })
    })
}
