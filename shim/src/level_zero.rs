//! Level Zero: its tracing layer hands us its functions, and calls them through us.
//!
//! This library exports no `ze…`: preloaded, it would come before Level Zero's loader. The layer finds
//! [`gapii_intercept`] in the process by name; where there is none nothing is recorded.

use core::ffi::{CStr, c_char, c_void};

use gapii_abi::app::API_LEVEL_ZERO;
use gapii_commands::Api;

use crate::entry::ENTRY_POINTS;
use crate::generated::names::NAMES;
use crate::process;
use crate::table;

/// Makes `callee` what the command `name` of Level Zero leads to, and returns what is to be called in its
/// place: an entry that jumps there, or to what records it. Of a name that is not known, and in a process that
/// is not to be recorded, that is `callee` itself.
///
/// May be asked again; then the last callee counts.
///
/// # Safety
/// `name` is null or a text; `callee` is null or the command's function.
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
    process::wake();
    if callee == entry || !process::wanted() {
        return callee;
    }
    table::set_driver(first + at, callee.cast());
    entry
}
