//! `Command`: a command's name and types, as a Rust type.

use std::ffi::CStr;

/// A command of EGL or OpenGL ES: [`commands`](crate::commands) has a type for each.
///
/// # Safety
/// The types are those that libgapii uses for the command of that name. A type without a size stands for no
/// parameters or for no result.
pub unsafe trait Command: 'static {
    const NAME: &'static CStr;
    /// A structure with one field per parameter, or `()`.
    type Params: Copy;
    /// The result, or `()`.
    type Result: Copy;
}
