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

/// Defines the type of a command.
macro_rules! command {
    ($name:ident, $text:literal, $params:ty, $result:ty) => {
        #[doc = concat!("`", stringify!($name), "`")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        // SAFETY: generated from the same description as libgapii's own types.
        unsafe impl crate::Command for $name {
            const NAME: &'static core::ffi::CStr = $text;
            type Params = $params;
            type Result = $result;
        }
    };
}
pub(crate) use command;
