//! A structure with the parameters of each command that has any, named like the command: `params::glClear`.
//!
//! A structure has the layout of the fixed part of the command's enter record. Its name in C is
//! `struct gapii_glClear_params`.

#![allow(non_snake_case)] // Commands are spelled as the API spells them.

use core::ffi::{c_char, c_void};

macro_rules! structures {
    ($($name:ident($($field:ident: $ty:ty $(=> $by_value:ident)?),*) $(-> $result:ty)?;)*) => {
        $(structure! { $name($($field: $ty),*) $(-> $result)? })*
    };
}

macro_rules! structure {
    ($name:ident() $(-> $result:ty)?) => {};
    ($name:ident($($field:ident: $ty:ty),+)) => {
        structure! { concat!("Parameters of `", stringify!($name), "`, which has no result."), $name, $($field: $ty),+ }
    };
    ($name:ident($($field:ident: $ty:ty),+) -> $result:ty) => {
        structure! {
            concat!("Parameters of `", stringify!($name), "`, whose result is a `", stringify!($result), "`."),
            $name, $($field: $ty),+
        }
    };
    ($doc:expr, $name:ident, $($field:ident: $ty:ty),+) => {
        #[doc = $doc]
        #[repr(C)]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $(pub $field: $ty),+
        }
    };
}

crate::for_each_command!(structures);
