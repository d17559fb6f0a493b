//! Level Zero: the tracing layer hands the shim its functions, and calls them through the shim. A function whose name
//! this build does not know, or a process that `GAPII_PROCESS` excludes, gets its own function back, so that its calls
//! are not recorded.
//!
//! This library exports no `ze…` symbols: preloaded, they would come before those of Level Zero's loader. The layer
//! finds [`gapii_intercept`] in the process by name. If it does not find it, nothing is recorded.

use core::ffi::{CStr, c_char, c_void};

use gapii_abi::app::API_LEVEL_ZERO;
use gapii_commands::Api;

use crate::entry::ENTRY_POINTS;
use crate::environment;
use crate::generated::names::NAMES;
use crate::process;
use crate::set_up;
use crate::table;

/// Makes `callee` the driver's function for the Level Zero command `name`, and returns the entry point to call in its
/// place. Returns `callee` itself if the name is unknown, or if this process is not to be recorded.
///
/// May be called again for the same command; the last `callee` counts.
///
/// # Safety
/// `name` is null or a NUL-terminated string. `callee` is null or the command's function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gapii_intercept(name: *const c_char, callee: *mut c_void) -> *mut c_void {
    if name.is_null() || callee.is_null() {
        return callee;
    }
    // SAFETY: the caller's duty.
    let name = unsafe { CStr::from_ptr(name) };
    let first = usize::from(Api::LevelZero.ids().start);
    let Ok(at) = NAMES[first..].binary_search(&name) else { return callee };
    let entry = ENTRY_POINTS[first + at] as *mut c_void;
    process::note_api(API_LEVEL_ZERO);
    set_up::wake();
    if callee == entry || !environment::wanted() {
        return callee;
    }
    table::set_driver(first + at, callee.cast());
    entry
}
