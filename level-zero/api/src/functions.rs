//! Functions: their ids, names and types, and the version of the API that has each.
//!
//! [`for_each_function!`](crate::for_each_function) lists them.

// Spelled as the API spells them.
#![allow(non_camel_case_types, non_snake_case)]

use core::ffi::{c_char, c_uint, c_void};

use crate::for_each_function;
use crate::types::*;

macro_rules! define {
    ($($constant:ident since $since:tt: $name:ident($($param:ident: $ty:ty),*) -> $result:ident,
       $registration:ident;)*) => {
        /// The ids, as an enum that counts them.
        enum Id {
            $($name),*
        }

        /// The number of functions; ids are below it.
        pub const COUNT: usize = [$(stringify!($name)),*].len();
        /// Names, by id.
        pub static NAMES: [&str; COUNT] = [$(stringify!($name)),*];
        /// By id, the lowest version of a table that has the function's slot, at its place in
        /// [`tables`](crate::tables).
        pub(crate) const SINCE: [ze_api_version_t; COUNT] = [$(packed $since),*];

        $(
            #[doc = concat!("The id of `", stringify!($name), "`.")]
            pub const $constant: usize = Id::$name as usize;
            #[doc = concat!("The type of `", stringify!($name), "`.")]
            pub type $name = unsafe extern "C" fn($($param: $ty),*) -> $result;
        )*
    };
}
for_each_function!(define);

/// Returns what `ZE_MAKE_VERSION` returns.
const fn packed(major: u32, minor: u32) -> ze_api_version_t {
    major << 16 | minor
}
