//! Macros that define types and tables, each from one line of the generated files.

/// Defines handles. Handles of different names are different types.
macro_rules! handles {
    ($($handle:ident = *mut $object:ident;)*) => {
        $(
            #[repr(C)]
            pub struct $object {
                _opaque: [u8; 0],
            }
            pub type $handle = *mut $object;
        )*
    };
}
pub(crate) use handles;

/// Defines each enum as a number, because C may pass any value, and its enumerators as constants.
macro_rules! enums {
    ($($name:ident: $($constant:ident = $value:literal),*;)*) => {
        $(
            pub type $name = u32;
            $(pub const $constant: $name = $value;)*
        )*
    };
}
pub(crate) use enums;

/// Defines structs. The number in brackets is the size in C, in bytes.
macro_rules! structs {
    ($($name:ident[$size:literal]: $($field:ident: $ty:ty),*;)*) => {
        $(
            #[repr(C)]
            #[derive(Clone, Copy)]
            pub struct $name {
                $(pub $field: $ty),*
            }
            const _: () = assert!(size_of::<$name>() == $size);
        )*
    };
}
pub(crate) use structs;

/// Defines tables: `structure: NAME = functions`. The slots have the functions of these ids in this order.
macro_rules! tables {
    ($($structure:ident: $name:ident = $($function:ident),*;)*) => {
        $(
            #[doc = concat!("The slots of `", stringify!($structure), "`.")]
            pub static $name: &[Slot] =
                &[$(Slot { function: $function, since: SINCE[$function] }),*];
        )*
    };
}
pub(crate) use tables;

/// Defines the list of the functions that have a callback in `ze_callbacks_t`.
macro_rules! core_callbacks {
    ($($function:ident),*) => {
        /// The ids of the functions whose callbacks are in `ze_callbacks_t`, in its order.
        pub static CORE: [usize; [$($function),*].len()] = [$($function),*];
    };
}
pub(crate) use core_callbacks;
