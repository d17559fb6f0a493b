//! `Command`: a Rust type for a command, with its name and types.

use std::ffi::CStr;

/// A command of EGL or OpenGL ES: [`commands`](crate::commands) has a type for each.
///
/// # Safety
/// The types are those that libgapii uses for the command of this name. A zero-sized type means that the command has no
/// parameters or no result.
pub unsafe trait Command: 'static {
    const NAME: &'static CStr;
    /// A structure with one field per parameter, or `()`.
    type Params: Copy;
    /// The result, or `()`.
    type Result: Copy;
}
