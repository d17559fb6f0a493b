//! Handlers: for each function the code that runs prologues, the callee and epilogues.

/// Defines the handlers in a module of their own, because they have the names of the [entries](crate::entry).
///
/// A handler has its caller's duties: the arguments are those of a program that calls the function.
macro_rules! handlers {
    ($($constant:ident since $since:tt: $name:ident($($param:ident: $ty:ty),*) -> $result:ident,
       $registration:ident;)*) => {
        #[allow(
            clippy::multiple_unsafe_ops_per_block,
            clippy::too_many_arguments,
            clippy::undocumented_unsafe_blocks,
            non_snake_case, // Spelled as the API spells it.
            unsafe_op_in_unsafe_fn
        )]
        mod handlers {
            use core::ffi::{c_char, c_uint, c_void};

            use gapii_ze_api::functions::{self, *};
            use gapii_ze_api::types::*;

            use super::TRACERS;
            use crate::call::TracedCall;
            use crate::callee::callee;
            use crate::code::Code;
            use crate::handler::differs;

            $(
                unsafe extern "C" fn $name($(mut $param: $ty),*) -> $result {
                    let callee: functions::$name = callee!($constant);
                    let Some(mut call) = TracedCall::begin(&TRACERS, $constant) else {
                        return callee($($param),*);
                    };
                    #[repr(C)]
                    #[derive(Clone, Copy)]
                    struct Passed {
                        $($param: $ty),*
                    }
                    let passed = call.listener().map(|it| (it, Passed { $($param),* }));
                    let mut params = [$((&raw mut $param).cast::<c_void>()),*];
                    call.prologues::<$result>(params.as_mut_ptr());
                    if let Some((listener, passed)) = &passed
                        && (false $(|| differs(&passed.$param, &$param))*)
                    {
                        listener.note_changed($constant, passed);
                    }
                    let result = callee($($param),*);
                    call.epilogues(params.as_mut_ptr(), result);
                    result
                }
            )*

            /// The handlers, by id.
            pub static HANDLERS: [Code; COUNT] = [$(Code($name as *const ())),*];
        }
    };
}
pub(crate) use handlers;

/// Whether two parameters have different bytes. Parameters have no padding.
#[inline(always)]
pub fn differs<T>(a: &T, b: &T) -> bool {
    let [a, b] = [a, b].map(|it| std::ptr::from_ref(it).cast::<u8>());
    // SAFETY: the bytes of a parameter, none of which is padding.
    let a = unsafe { std::slice::from_raw_parts(a, size_of::<T>()) };
    // SAFETY: as above.
    let b = unsafe { std::slice::from_raw_parts(b, size_of::<T>()) };
    a != b
}
