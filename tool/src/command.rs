//! `Command`: a command's name and types, as a type.

use std::ffi::CStr;

/// A command of EGL or OpenGL ES: [`commands`](crate::commands) has a type for each.
///
/// # Safety
/// The types are those that libgapii has for a command of that name. A type without a size stands for no
/// parameters, or no result.
pub unsafe trait Command: 'static {
    const NAME: &'static CStr;
    /// A structure with a field for each parameter, or `()`.
    type Params: Copy;
    /// The result, or `()`.
    type Result: Copy;
}
