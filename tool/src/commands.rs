//! One type per command of EGL, GLX, OpenGL, OpenGL ES and Level Zero, named like the command; see [`Command`].

#![allow(non_camel_case_types)] // Commands are spelled as the API spells them.

use core::ffi::{CStr, c_char, c_void};

use gapii_tool_api::{for_each_command, params};

use crate::Command;

macro_rules! types {
    ($($name:ident($($field:ident: $ty:ty $(=> $by_value:ident)?),*) $(-> $result:ty)?;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        // SAFETY: libgapii's types come from the same list of commands.
        unsafe impl Command for $name {
            const NAME: &'static CStr = c_string(concat!(stringify!($name), "\0"));
            type Params = params_of!($name($($field)*));
            type Result = result_of!($($result)?);
        }
    )*};
}

macro_rules! params_of {
    ($name:ident()) => {
        ()
    };
    ($name:ident($($field:ident)+)) => {
        params::$name
    };
}

macro_rules! result_of {
    () => {
        ()
    };
    ($result:ty) => {
        $result
    };
}

/// Converts a string to a C string. `text` must end with its only NUL.
const fn c_string(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("a name without its NUL"),
    }
}

for_each_command!(types);
